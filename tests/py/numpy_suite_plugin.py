"""A pytest plugin for NumPy's own tests: each in an aligned_allocator block, and the outcomes kept.

The environment says: HURRAY_OUTCOMES is the file to write, HURRAY_BLOCK=1 asks for the blocks.
"""

import contextlib
import json
import os
from pathlib import Path

import pytest
from numpy_core import get_handler_name

import hurray

outcomes = {}
blocks = os.environ["HURRAY_BLOCK"] == "1"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol():
    with hurray.aligned_allocator() if blocks else contextlib.nullcontext():
        assert get_handler_name() == ("hurray_aligned" if blocks else "default_allocator")
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_collection():
    # Some tests make their arrays when they are imported.
    with hurray.aligned_allocator() if blocks else contextlib.nullcontext():
        yield


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        outcomes[report.nodeid] = report.outcome


def pytest_sessionfinish():
    report = {"outcomes": outcomes, "stats": hurray.allocator_stats()}
    Path(os.environ["HURRAY_OUTCOMES"]).write_text(json.dumps(report))
