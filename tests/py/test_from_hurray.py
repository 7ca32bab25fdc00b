"""The __hurray__ protocol from Python: what comes back, and who keeps what alive."""

import gc
import sys
import weakref

import numpy as np
import pytest
from subprocesses import run_python

import hurray


class Relay:
    def __init__(self, tensor):
        self.tensor = tensor

    def __hurray__(self, stream=None):
        return self.tensor.__hurray__()


def quantized():
    return hurray.Tensor(
        bytes(8),
        hurray.dtype.int4,
        [4, 4],
        aux_buffers=[np.ones(4, np.float32)],
        quantization=hurray.PerChannelAffine.symmetric(0, 1),
        statistics=hurray.Statistics(nnz=3),
        shard=hurray.Shard([8, 4], [4, 0]),
    )


TENSORS = {
    "dense": lambda: hurray.arange(10),
    "scalar": lambda: hurray.full([], 1.5),
    "empty": lambda: hurray.zeros([0, 3]),
    "bool": lambda: hurray.full([9], True),
    "dynamic": lambda: hurray.Tensor(bytes(16), hurray.float32, [None, 2]),
    "strided": lambda: hurray.Tensor(
        bytes(24), hurray.int8, [2, 3], layout=hurray.StridedLayout([3, 1])
    ),
    "coo": lambda: hurray.sparse_coo(np.ones(2), np.zeros((2, 1), np.uint64), [4]),
    "sections": quantized,
    "private-type": lambda: hurray.Tensor(
        bytes(12), hurray.Dtype.from_tag(0xF2), [4], extension_type=hurray.ExtensionType(24)
    ),
    "private-layout": lambda: hurray.Tensor(
        bytes(12), hurray.int8, [4], layout=hurray.PrivateExtensionLayout(0xF0, 7, b"abc")
    ),
    "unknown-layout": lambda: hurray.Tensor(
        bytes(12), hurray.int8, [4], layout=hurray.UnknownLayout(0x0C, b"abcd")
    ),
}


@pytest.mark.parametrize("kind", TENSORS)
def test_every_section_and_buffer_comes_back(kind):
    tensor = TENSORS[kind]()
    taken = hurray.from_hurray(tensor)
    assert taken.descriptor == tensor.descriptor
    for i in range(tensor.buffer_count):
        original, shared = np.asarray(tensor.buffer(i)), np.asarray(taken.buffer(i))
        assert shared.tobytes() == original.tobytes()
        if original.size:
            assert np.shares_memory(original, shared)


def test_writes_are_seen_both_ways():
    tensor = hurray.zeros([4])
    taken = hurray.from_hurray(tensor)
    np.asarray(taken)[2] = 7
    assert np.asarray(tensor).tolist() == [0, 0, 7, 0]


def test_the_memory_outlives_source_and_relay():
    relay = Relay(hurray.arange(5))
    source = weakref.ref(relay.tensor)
    taken = hurray.from_hurray(relay)
    del relay
    gc.collect()
    assert source() is not None
    assert np.asarray(taken).tolist() == [0, 1, 2, 3, 4]
    del taken
    gc.collect()
    assert source() is None


def test_a_capsule_is_consumed_once():
    class Once:
        capsule = hurray.ones([2]).__hurray__()

        def __hurray__(self):
            return self.capsule

    hurray.from_hurray(Once())
    with pytest.raises(hurray.BufferError, match="already consumed"):
        hurray.from_hurray(Once())


def test_an_unconsumed_capsule_lets_go():
    tensor = hurray.ones([2])
    before = sys.getrefcount(tensor)
    capsules = [tensor.__hurray__() for _ in range(10)]
    held = sys.getrefcount(tensor)
    del capsules
    after = sys.getrefcount(tensor)
    assert held == before + 10
    assert after == before


@pytest.mark.parametrize("value", [None, 3, "x", np.ones(2), object()], ids=repr)
def test_objects_without_the_method_are_refused(value):
    with pytest.raises(TypeError, match="__hurray__"):
        hurray.from_hurray(value)


@pytest.mark.parametrize(
    "value", [None, 3, b"", [], hurray.ones([2])], ids=lambda v: type(v).__name__
)
def test_results_that_are_no_capsule_are_refused(value):
    class Wrong:
        def __hurray__(self):
            return value

    with pytest.raises(hurray.BufferError, match="capsule"):
        hurray.from_hurray(Wrong())


def test_what_the_producer_raises_goes_on():
    class Failing:
        def __hurray__(self):
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        hurray.from_hurray(Failing())


def test_stream_is_accepted_and_nothing_else():
    hurray.ones([2]).__hurray__(stream=3)
    hurray.ones([2]).__hurray__(None)
    with pytest.raises(TypeError):
        hurray.ones([2]).__hurray__(other=1)


def test_capsules_may_be_left_over_at_exit():
    run_python(
        """
        import builtins, hurray
        builtins.kept = [hurray.ones([100]).__hurray__() for _ in range(10)]
        """
    )


def test_a_thousand_rounds_leave_no_reference():
    tensor = quantized()
    before = sys.getrefcount(tensor)
    for _ in range(1000):
        hurray.from_hurray(tensor)
    after = sys.getrefcount(tensor)
    assert after == before
