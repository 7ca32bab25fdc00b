"""The text that a run prints."""

import datetime
import math
import os
import platform
import statistics
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def version_of(package):
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"no {package}"


def compiler():
    name = sysconfig.get_config_var("CXX") or "c++"
    try:
        text = subprocess.run([*name.split(), "--version"], capture_output=True, text=True).stdout
    except OSError:
        return name
    return text.splitlines()[0] if text else name


def header(rounds, scale):
    uname = platform.uname()
    memory = next(
        int(line.split()[1])
        for line in Path("/proc/meminfo").read_text().splitlines()
        if line.startswith("MemTotal")
    )
    packages = ", ".join(map(version_of, ("hurray-tensor", "numpy")))
    print(
        f"machine   {processor()}, {len(os.sched_getaffinity(0))} CPUs, {memory / 2**20:.0f} GiB",
        f"system    {uname.system} {uname.release}, Python {platform.python_version()}, {packages}",
        f"compiler  {compiler()}",
        f"command   python -m benchmarks {' '.join(sys.argv[1:])}".rstrip(),
        f"date      {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC",
        f"rounds    {rounds}, parties interleaved; sizes of files times {scale:g}",
        "",
        "A time is the median of the rounds and, in brackets, the shortest; a round of what is",
        "quicker than 20 ms is the shortest of several loops. A ratio is our time by theirs, the",
        "median of the rounds' own ratios; goals are the ratio that must be, and the one aimed at.",
        sep="\n",
    )


def duration(nanoseconds):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def case(case, times, absent):
    """`times` maps the names of parties to their rounds, `absent` to why they are not there."""
    print(f"\n{case.id}  {case.what}")
    ours = times.get("hurray")
    for party in case.parties:
        if party.name in absent:
            print(f"    {party.name:<12} absent: {absent[party.name]:.90}")
            continue
        rounds = times[party.name]
        row = f"    {party.name:<12} {duration(statistics.median(rounds)):>9}"
        row += f"  ({duration(min(rounds))})"
        if ours is not None and party.name != "hurray":
            ratio = statistics.median(a / b for a, b in zip(ours, rounds, strict=True))
            row = f"{row:<42} ratio {ratio:<6.3g}"
            if party.name in case.goals:
                must, aim = case.goals[party.name]
                verdict = "reached" if ratio <= aim else "good" if ratio <= must else "MISSED"
                goal = f"aim {aim:.3g}" if must == math.inf else f"must {must:.3g}, aim {aim:.3g}"
                row += f"  {goal}: {verdict}"
        print(row, flush=True)
