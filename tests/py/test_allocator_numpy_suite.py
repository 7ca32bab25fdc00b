"""NumPy's own tests give the same results with our memory handler as without it."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numpy_core import CORE

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
PARTS = [
    f"{CORE}.tests.test_multiarray",
    f"{CORE}.tests.test_umath",
    f"{CORE}.tests.test_mem_policy",
    f"{CORE}.tests.test_indexing",
    "numpy.lib",
]


def path_of(name):
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec.submodule_search_locations else Path(spec.origin)


def run(part, folder, block):
    """What became of each test, and the allocator's statistics at the end."""
    report = folder / f"outcomes-{block}.json"
    environment = {
        **os.environ,
        "PYTHONPATH": str(HERE),
        "HURRAY_BLOCK": str(int(block)),
        "HURRAY_OUTCOMES": str(report),
        # Tests that need more would be killed on a small machine, and take long on a large one.
        "NPY_AVAILABLE_MEM": "2 GB",
    }
    command = [sys.executable, "-m", "pytest", "-p", "numpy_suite_plugin", "-q", "--tb=short"]
    command += ["-m", "not slow", "-p", "no:cacheprovider", "--rootdir", str(path_of("numpy"))]
    command += ["-c", os.devnull, "-W", "ignore", str(path_of(part))]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    # 0: all passed, 1: some failed. Anything else, a crash above all, is no result.
    assert done.returncode in (0, 1), done.stdout[-5000:] + done.stderr[-5000:]
    return json.loads(report.read_text()), done.stdout


@pytest.mark.parametrize("part", PARTS)
def test_results_are_the_same(part, tmp_path):
    without, _ = run(part, tmp_path, block=False)
    within, text = run(part, tmp_path, block=True)
    assert len(without["outcomes"]) > 5
    changed = {
        name: (without["outcomes"].get(name), outcome)
        for name, outcome in within["outcomes"].items()
        if outcome != without["outcomes"].get(name)
    }
    assert not changed, text[-5000:]
    assert within["outcomes"].keys() == without["outcomes"].keys()
    # And arrays of the second run were ours.
    assert within["stats"]["small"]["misses"] > without["stats"]["small"]["misses"]
