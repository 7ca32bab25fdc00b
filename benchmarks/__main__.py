"""The command line of the benchmarks."""

import argparse
import tempfile

from benchmarks import allocator, calls, files, probes, report
from benchmarks.peers import Unavailable, Worker

CASES = [*allocator.CASES, *calls.CASES, *files.CASES]


def chosen(ids):
    wanted = {name.upper() for name in ids}
    unknown = wanted - {case.id for case in CASES}
    if unknown:
        raise SystemExit(f"no such case: {', '.join(sorted(unknown))}; see --list")
    return [case for case in CASES if not wanted or case.id in wanted]


def run(case, rounds, variables):
    """Times all parties of a case in turn, round by round, beginning with another each time."""
    workers, absent = [], {}
    times = {}
    try:
        for party in case.parties:
            try:
                workers.append(Worker(party, variables))
            except Unavailable as problem:
                absent[party.name] = str(problem)
        for number in range(rounds):
            first = number % max(len(workers), 1)
            for worker in workers[first:] + workers[:first]:
                if worker.party.name in absent:
                    continue
                try:
                    times.setdefault(worker.party.name, []).append(worker.nanoseconds())
                except Unavailable as problem:
                    absent[worker.party.name] = str(problem)
                    times.pop(worker.party.name, None)
    finally:
        for worker in workers:
            worker.close()
    report.case(case, times, absent)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("cases", nargs="*", help="ids of cases, such as C1; all if there are none")
    parser.add_argument("--list", action="store_true", help="print the cases and end")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--scale", type=float, default=1.0, help="factor for the sizes of files")
    options = parser.parse_args()
    cases = chosen(options.cases)
    if options.list:
        for case in cases:
            print(f"{case.id:<4} {case.what}")
        return
    report.header(options.rounds, options.scale)
    with tempfile.TemporaryDirectory(prefix="hurray-benchmarks-") as folder:
        variables = {"folder": folder, "scale": options.scale, "probes_folder": probes.build()}
        for case in cases:
            run(case, options.rounds, variables)


if __name__ == "__main__":
    main()
