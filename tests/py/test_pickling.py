"""Pickle, copy and deepcopy of what holds memory."""

import copy
import multiprocessing
import pickle
import sys

import numpy as np
import pytest
from arrays import address_of, array_at
from instances import copies

import hurray


def sharded(offset):
    return hurray.Tensor(bytes(32), hurray.float32, [2, 4], shard=hurray.Shard([4, 4], [offset, 0]))


TENSORS = {
    "dense": lambda: hurray.arange(10),
    "empty": lambda: hurray.zeros([0, 2]),
    "bool": lambda: hurray.full([9], True),
    "int4": lambda: hurray.Tensor(bytes(4), hurray.dtype.int4, [8]),
    "device": lambda: hurray.Tensor(bytes(4), hurray.int8, [4], hurray.Device("cuda", 3)),
    "dynamic": lambda: hurray.Tensor(bytes(16), hurray.float32, [None]),
    "sparse": lambda: hurray.sparse_coo(np.ones(2), np.zeros((2, 1), np.uint64), [4]),
    "sections": lambda: hurray.Tensor(
        bytes(8),
        hurray.dtype.int4,
        [4, 4],
        aux_buffers=[np.ones(4, np.float32)],
        quantization=hurray.PerChannelAffine.symmetric(0, 1),
        statistics=hurray.Statistics(nnz=3),
        shard=hurray.Shard([8, 4], [4, 0]),
    ),
    "private": lambda: hurray.Tensor(
        bytes(12), hurray.Dtype.from_tag(0xF2), [4], extension_type=hurray.ExtensionType(24)
    ),
    "unknown-layout": lambda: hurray.Tensor(
        bytes(12), hurray.int8, [4], layout=hurray.UnknownLayout(0x0C, b"abcd")
    ),
}


def contents(tensor):
    """The bytes of all buffers, on whatever device they are declared to be."""
    return tensor.__reduce_ex__(4)[1][2]


def same(a, b):
    assert a.descriptor == b.descriptor
    assert a.device == b.device
    assert contents(a) == contents(b)


@pytest.mark.parametrize("kind", TENSORS)
def test_tensors_come_back_from_every_protocol(kind):
    tensor = TENSORS[kind]()
    for twin in copies(tensor):
        assert type(twin) is hurray.Tensor
        same(tensor, twin)


def test_copy_shares_and_deepcopy_does_not():
    tensor = hurray.zeros([4])
    shallow, deep = copy.copy(tensor), copy.deepcopy(tensor)
    np.asarray(tensor)[1] = 5
    assert np.asarray(shallow)[1] == 5
    assert np.asarray(deep)[1] == 0
    assert deep.owns_data


@pytest.mark.parametrize("kind", TENSORS)
def test_buffers_go_out_of_band_without_a_copy(kind):
    tensor = TENSORS[kind]()
    buffers = []
    data = pickle.dumps(tensor, 5, buffer_callback=buffers.append)
    assert len(buffers) == (tensor.buffer_count if tensor.device.kind == "cpu" else 0)
    for i, buffer in enumerate(buffers):
        if tensor.buffer_handles[i].byte_size:
            assert address_of(np.frombuffer(buffer, np.uint8)) == address_of(
                np.asarray(tensor.buffer(i))
            )
    same(tensor, pickle.loads(data, buffers=buffers))


def test_received_buffers_are_shared_where_aligned():
    tensor = hurray.arange(8)
    data = pickle.dumps(tensor, 5, buffer_callback=lambda _: None)
    content = np.arange(8)
    aligned, shifted = array_at(64, content), array_at(8, content)
    shared = pickle.loads(data, buffers=[aligned])
    assert np.shares_memory(np.asarray(shared), aligned)
    assert not shared.owns_data
    copied = pickle.loads(data, buffers=[shifted])
    assert not np.shares_memory(np.asarray(copied), shifted)
    assert copied.owns_data
    aligned.flags.writeable = False
    assert not pickle.loads(data, buffers=[aligned]).is_writable


@pytest.mark.parametrize("buffers", [[], [bytes(7)], [None], [3]], ids=str)
def test_wrong_buffers_are_refused(buffers):
    data = pickle.dumps(hurray.arange(8), 5, buffer_callback=lambda _: None)
    with pytest.raises((hurray.BufferError, pickle.UnpicklingError)):
        pickle.loads(data, buffers=buffers)


def test_the_rebuilding_function_checks_what_it_gets():
    rebuild, arguments = hurray.arange(4).__reduce_ex__(4)
    descriptor, device, buffers = arguments
    with pytest.raises(hurray.InvalidDescriptorError):
        rebuild(descriptor[:-1], device, buffers)
    with pytest.raises(hurray.BufferError):
        rebuild(descriptor, device, ())
    with pytest.raises(hurray.BufferError):
        rebuild(descriptor, device, (*buffers, *buffers, b""))
    with pytest.raises(TypeError):
        rebuild(descriptor, "cpu", buffers)


def test_a_composite_is_not_rebuilt_from_a_head_that_is_none():
    tensor = hurray.zeros([2])
    composite = hurray.Composite("group", shape=[], dtype=hurray.int8, members=[tensor])
    rebuild, (head, members) = composite.__reduce_ex__(4)
    assert rebuild(head, members).members == composite.members
    with pytest.raises(hurray.InvalidDescriptorError, match="row_major"):
        rebuild(tensor.descriptor.encode(), members)


def test_tensors_that_may_not_be_touched_are_refused():
    encoded = bytearray(
        hurray.Tensor(bytes(4), hurray.int8, [4], hurray.device.cuda).descriptor.encode()
    )
    encoded[50] = 1
    tensor = next(iter(hurray.StreamReader(bytes(encoded) + bytes(4))))
    assert tensor.descriptor.buffer_handles[0].sync_mode == "event"
    with pytest.raises(hurray.UnsupportedError, match="event"):
        pickle.dumps(tensor)
    with pytest.raises(hurray.UnsupportedError, match="event"):
        copy.deepcopy(tensor)


def test_composites_come_back():
    inner = hurray.Composite("group", shape=[], dtype=hurray.int8, members=[hurray.ones([2])])
    for composite in (
        hurray.Composite(
            "partition", shape=[4, 4], dtype=hurray.float32, members=[sharded(0), sharded(2)]
        ),
        hurray.Composite("group", shape=[], dtype=hurray.int8, members=[inner, hurray.zeros([3])]),
    ):
        for twin in copies(composite):
            assert twin == composite
            assert twin.descriptor == composite.descriptor
    assert copy.copy(composite).members[1] is composite.members[1]
    assert copy.deepcopy(composite).members[1] is not composite.members[1]


@pytest.mark.parametrize(
    "value",
    [
        hurray.float32,
        hurray.dtype.int4,
        hurray.Dtype.from_tag(0xF3),
        *(getattr(hurray.device, name) for name in hurray.device.__all__),
    ],
    ids=repr,
)
def test_singletons_stay_singletons(value):
    for twin in copies(value):
        assert twin is value


@pytest.mark.parametrize(
    "value",
    [
        hurray.Device("cuda", 2, "unified"),
        hurray.Device(0xF2, 0, 0xF3),
        hurray.arange(3).buffer_handles[0],
        hurray.arange(3).descriptor,
        hurray.Tensor(bytes(4), hurray.int8, [4], hurray.Device("cuda", 3)).descriptor,
        hurray.TiledLayout([4, 4], inner_layout="strided", inner_strides=[1, 4]),
        hurray.PerTensorAffine(0.25, 3),
        hurray.PerChannelAffine.asymmetric(0, 1, 2),
        hurray.MXFP(0, 32, 1),
        hurray.ExtensionType(16, is_float=True, exponent_bits=5, mantissa_bits=10, sign_bits=1),
        hurray.Statistics(nnz=3, has_nan=True, has_inf=False),
        hurray.Shard([4], [2]),
    ],
    ids=repr,
)
def test_values_come_back_equal(value):
    for twin in copies(value):
        assert twin == value
        assert type(twin) is type(value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: hurray.StreamReader(b""),
        lambda: hurray.StreamWriter(),
        lambda: hurray.aligned_allocator(),
        lambda: hurray.print_options(),
    ],
)
@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_what_has_a_position_or_a_place_is_refused(make, duplicate):
    with pytest.raises(TypeError):
        duplicate(make())


def test_open_files_are_refused(tmp_path):
    hurray.save(tmp_path / "a.hrry", {"a": hurray.ones([2])})
    with hurray.open(tmp_path / "a.hrry") as file, pytest.raises(TypeError):
        pickle.dumps(file)


def test_exceptions_keep_their_attributes(tmp_path):
    with pytest.raises(hurray.FileError) as caught:
        hurray.load(tmp_path / "absent.hrry")
    twin = pickle.loads(pickle.dumps(caught.value))
    assert type(twin) is type(caught.value)
    assert (twin.errno, twin.filename) == (caught.value.errno, caught.value.filename)
    assert isinstance(twin, FileNotFoundError)
    for error in (hurray.CopyRequiredError("why"), hurray.StreamError("why")):
        assert pickle.loads(pickle.dumps(error)).args == ("why",)


def double(tensor):
    np.asarray(tensor)[...] *= 2
    return tensor


def test_a_pool_of_processes_passes_tensors():
    tensors = [hurray.arange(n, dtype=hurray.float64) for n in (0, 1, 100_000)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        results = pool.map(double, tensors)
    for tensor, result in zip(tensors, results, strict=True):
        assert np.array_equal(np.asarray(result), 2 * np.asarray(tensor))


@pytest.mark.slow
def test_a_dask_cluster_passes_tensors():
    distributed = pytest.importorskip("distributed")
    tensor = hurray.arange(100_000, dtype=hurray.float64)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        first, second = client.scheduler_info()["workers"]
        there = client.submit(copy.deepcopy, tensor, workers=[first], pure=False)
        passed_on = client.submit(copy.deepcopy, there, workers=[second], pure=False)
        assert np.array_equal(np.asarray(passed_on.result()), np.arange(100_000.0))


def test_rounds_leave_no_reference():
    tensor = hurray.arange(4)
    before = sys.getrefcount(tensor)
    for _ in range(1000):
        pickle.loads(pickle.dumps(tensor, 5))
        copy.copy(tensor)
        copy.deepcopy(tensor)
    after = sys.getrefcount(tensor)
    assert after == before
