"""The marker `slow` and the settings of hypothesis.

HURRAY_SLOW=1 also runs the tests marked `slow` and draws more examples; HURRAY_SHORT=1 draws few.
"""

import os

import hypothesis
import pytest

SLOW = os.environ.get("HURRAY_SLOW", "0") not in ("", "0")
SHORT = os.environ.get("HURRAY_SHORT", "0") not in ("", "0")

# No deadline: a machine that is busy is no fault of the code under test.
hypothesis.settings.register_profile("short", max_examples=15, deadline=None)
hypothesis.settings.register_profile("default", max_examples=100, deadline=None)
hypothesis.settings.register_profile("slow", max_examples=3000, deadline=None)
hypothesis.settings.load_profile("slow" if SLOW else "short" if SHORT else "default")


def pytest_collection_modifyitems(items):
    if SLOW:
        return
    skip = pytest.mark.skip(reason="slow: runs with HURRAY_SLOW=1")
    for item in items:
        if item.get_closest_marker("slow") is not None:
            item.add_marker(skip)
