"""Which names of the API this version has: it grows issue by issue."""

import pytest

import hurray


def needs(*names):
    """Skips a test of names that are still to come."""
    missing = [name for name in names if not hasattr(hurray, name)]
    return pytest.mark.skipif(bool(missing), reason=f"not built yet: {', '.join(missing)}")
