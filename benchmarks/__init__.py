"""Benchmarks: each case runs interleaved with its peers, and is reported as a ratio to them.

python -m benchmarks --list        the cases
python -m benchmarks               all of them
python -m benchmarks C1 D7         some

Each party works in a process of its own, which sees the installed package and never the sources.
pyhurray has the same import name, so it and the other peers live in an environment of their own,
which is made on first use in build/benchmarks; HURRAY_PEERS names the folder of another one.
"""
