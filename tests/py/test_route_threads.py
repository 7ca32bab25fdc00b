"""Every route from eight threads at once: the same results, and nothing left behind."""

import contextlib
import ctypes
import gc
import pickle
import sys
import tracemalloc

import numpy as np
import pytest
from arrays import array_at
from instances import in_threads

import hurray

TENSOR = hurray.arange(64, dtype=hurray.float32)
ARRAY = array_at(64, np.arange(64, dtype=np.float32))
INDICES = array_at(64, np.arange(64, dtype=np.uint64).reshape(64, 1))
STREAM = hurray.StreamWriter()
STREAM.write(TENSOR)
ENCODED = STREAM.getvalue()

ROUTES = {
    "from_numpy": lambda: hurray.from_numpy(ARRAY),
    "from_dlpack": lambda: hurray.from_dlpack(ARRAY),
    "dlpack-of-ours": lambda: hurray.from_dlpack(TENSOR),
    "from_hurray": lambda: hurray.from_hurray(TENSOR),
    "asarray-list": lambda: hurray.asarray(list(range(64)), dtype=hurray.float32),
    "pickle": lambda: pickle.loads(pickle.dumps(TENSOR, 5)),
    "stream": lambda: next(iter(hurray.StreamReader(ENCODED))),
    "memoryview": lambda: hurray.Tensor(memoryview(TENSOR), hurray.float32, [64], copy=None),
    "numpy": lambda: hurray.from_numpy(np.asarray(TENSOR)),
    "sparse": lambda: hurray.sparse_coo(ARRAY, INDICES, [64]).values,
    "view": lambda: hurray.Tensor(TENSOR.buffer(0), hurray.float32, [64], copy=None),
    "copy": lambda: hurray.asarray(TENSOR, copy=True),
}


@pytest.mark.parametrize("route", ROUTES)
def test_a_route_serves_many_threads(route):
    make = ROUTES[route]

    def work():
        tensor = make()
        assert tensor.shape == (64,)
        assert np.asarray(tensor)[63] == 63

    before = sys.getrefcount(TENSOR), sys.getrefcount(ARRAY)
    in_threads(work, threads=8, rounds=200)
    after = sys.getrefcount(TENSOR), sys.getrefcount(ARRAY)
    assert after == before


# What is handed out and dropped.
EXPORTS = {
    "array": lambda: np.asarray(TENSOR),
    "buffer": lambda: memoryview(TENSOR),
    "legacy-capsule": lambda: TENSOR.__dlpack__(),
    "versioned-capsule": lambda: TENSOR.__dlpack__(max_version=(1, 0)),
    "two-capsules": lambda: [TENSOR.__dlpack__(max_version=(1, 0)) for _ in range(2)],
    "copied-capsule": lambda: TENSOR.__dlpack__(max_version=(1, 0), copy=True),
    "hurray-capsule": lambda: TENSOR.__hurray__(),
    "descriptor": lambda: hurray.Descriptor.decode(TENSOR.descriptor.encode()),
}
with contextlib.suppress(ImportError):
    import torch

    TORCH = torch.from_numpy(ARRAY)
    EXPORTS["to_torch"] = lambda: TENSOR.to_torch()
    EXPORTS["from_torch"] = lambda: hurray.from_torch(TORCH)


class Mallinfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks".split()
    ] + [("keepcost", ctypes.c_size_t)]


def bytes_in_use():
    """By Python's own allocators, by malloc (0 where it does not tell), and by our buffers."""
    malloc = 0
    with contextlib.suppress(AttributeError):
        mallinfo = ctypes.CDLL(None).mallinfo2
        mallinfo.restype = Mallinfo
        malloc = mallinfo().uordblks
    return (
        tracemalloc.get_traced_memory()[0],
        malloc,
        hurray.allocator_stats()["bytes_in_use"],
    )


@pytest.mark.parametrize("route", [*ROUTES, *EXPORTS])
def test_ten_thousand_rounds_leave_nothing_behind(route):
    make = {**ROUTES, **EXPORTS}[route]

    def repeat(rounds):
        for _ in range(rounds):
            make()
        gc.collect()
        return bytes_in_use()

    tracemalloc.start(1)
    try:
        repeat(100)
        references = sys.getrefcount(TENSOR), sys.getrefcount(ARRAY)
        uses = [repeat(1), repeat(10_000), repeat(10_000)]
    finally:
        tracemalloc.stop()
    assert (sys.getrefcount(TENSOR), sys.getrefcount(ARRAY)) == references
    # The smallest block that may be lost each time is of 16 bytes. What grows once is not lost.
    growths = [min(b - a, c - b) for a, b, c in zip(*uses, strict=True)]
    assert [growth for growth in growths if growth >= 10_000 * 8] == []


def test_one_object_is_described_first_by_many_threads():
    for _ in range(50):
        tensor = hurray.zeros([3, 4])

        def work(tensor=tensor):
            assert tensor.shape == (3, 4)
            assert tensor.descriptor.shape == (3, 4)
            assert memoryview(tensor).shape == (3, 4)
            assert np.from_dlpack(tensor).shape == (3, 4)

        in_threads(work, threads=8, rounds=1)
