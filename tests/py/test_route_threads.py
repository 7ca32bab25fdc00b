"""Every route from eight threads at once: the same results, and nothing left behind."""

import pickle
import sys

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


def test_one_object_is_described_first_by_many_threads():
    for _ in range(50):
        tensor = hurray.zeros([3, 4])

        def work(tensor=tensor):
            assert tensor.shape == (3, 4)
            assert tensor.descriptor.shape == (3, 4)
            assert memoryview(tensor).shape == (3, 4)
            assert np.from_dlpack(tensor).shape == (3, 4)

        in_threads(work, threads=8, rounds=1)
