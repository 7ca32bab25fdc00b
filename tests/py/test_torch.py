"""PyTorch in both directions."""

import gc
import sys
import weakref

import numpy as np
import pytest
from arrays import array_at
from subprocesses import run_python

import hurray

torch = pytest.importorskip("torch")

TYPES = {
    hurray.float16: torch.float16,
    hurray.bfloat16: torch.bfloat16,
    hurray.float32: torch.float32,
    hurray.float64: torch.float64,
    hurray.int8: torch.int8,
    hurray.uint8: torch.uint8,
    hurray.int16: torch.int16,
    hurray.int32: torch.int32,
    hurray.int64: torch.int64,
    hurray.dtype.complex64: torch.complex64,
    hurray.dtype.complex128: torch.complex128,
    hurray.dtype.float8_e4m3: torch.float8_e4m3fn,
    hurray.dtype.float8_e5m2: torch.float8_e5m2,
}


def bytes_of(tensor):
    return tensor.contiguous().view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("copy", [None, True])
def test_every_type_comes_in(dtype, copy):
    source = torch.arange(8).to(TYPES[dtype])
    tensor = hurray.from_torch(source, copy=copy)
    assert tensor.dtype is dtype
    assert tensor.shape == (8,)
    assert np.asarray(tensor.buffer(0)).tobytes() == bytes_of(source)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3)], ids=str)
def test_every_type_goes_out_sharing_memory(dtype, shape):
    count = int(np.prod(shape))
    tensor = hurray.Tensor(
        bytes(range(1, 1 + count * 16))[: count * dtype.bit_width // 8], dtype, shape
    )
    out = tensor.to_torch()
    assert out.dtype is TYPES[dtype]
    assert tuple(out.shape) == shape
    if count:
        assert out.data_ptr() == np.asarray(tensor.buffer(0)).ctypes.data


def test_memory_is_shared_both_ways():
    source = torch.zeros(64)
    assert source.data_ptr() % 64 == 0
    tensor = hurray.from_torch(source, copy=False)
    source[3] = 7
    assert np.asarray(tensor)[3] == 7
    tensor.to_torch()[4] = 8
    assert source[4] == 8


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.bool, torch.complex128])
@pytest.mark.parametrize(
    "reorder",
    [
        pytest.param(lambda t: t.T, id="transposed"),
        pytest.param(lambda t: t[:, ::2], id="strided"),
        pytest.param(lambda t: t[:1].expand(3, 4), id="broadcast"),
    ],
)
def test_asarray_copies_another_order(dtype, reorder):
    source = reorder(torch.arange(12).reshape(3, 4).to(dtype))
    tensor = hurray.asarray(source)
    assert tensor.layout == "row_major"
    assert tensor.shape == tuple(source.shape)
    assert tensor.owns_data
    assert torch.equal(tensor.to_torch(), source)
    with pytest.raises(hurray.CopyRequiredError):
        hurray.asarray(source, copy=False)
    for refuse in (hurray.from_torch, hurray.from_dlpack):
        with pytest.raises(hurray.UnsupportedError, match="contiguous"):
            refuse(source)


def test_asarray_casts_another_order():
    tensor = hurray.asarray(torch.arange(6).reshape(3, 2).T, dtype=hurray.float32)
    assert np.asarray(tensor).tolist() == [[0, 2, 4], [1, 3, 5]]


def test_asarray_does_not_take_the_bytes_of_a_negative_view():
    source = torch.tensor([1 + 2j, 3 - 4j]).conj().imag
    assert source.is_neg()
    with pytest.raises(BufferError, match="resolve_neg"):
        hurray.asarray(source)


def test_another_order_is_saved():
    source = torch.arange(6.0).reshape(3, 2).T
    assert torch.equal(hurray.loads(hurray.dumps({"w": source}))["w"].to_torch(), source)


def test_bools_are_packed_and_unpacked():
    source = torch.tensor([True, False, True, True, False, False, False, False, True])
    tensor = hurray.from_torch(source)
    assert tensor.dtype is hurray.bool
    assert tensor.buffer_handles[0].byte_size == 2
    assert torch.equal(tensor.to_torch(), source)
    with pytest.raises(hurray.CopyRequiredError):
        hurray.from_torch(source, copy=False)


@pytest.mark.parametrize(
    "layout",
    [hurray.ColMajorLayout(), hurray.StridedLayout([1, 2])],
    ids=lambda layout: layout.name,
)
def test_bools_of_other_orders_are_unpacked_in_theirs(layout):
    tensor = hurray.Tensor(bytes([0b001101]), hurray.bool, [2, 3], layout=layout)
    expected = [[True, True, False], [False, True, False]]
    assert tensor.to_torch().tolist() == expected
    assert np.asarray(tensor).tolist() == expected


def test_column_major_keeps_its_strides():
    tensor = hurray.Tensor(np.arange(6.0), hurray.float64, [2, 3], layout=hurray.ColMajorLayout())
    out = tensor.to_torch()
    assert out.stride() == (1, 2)
    assert out.tolist() == [[0, 2, 4], [1, 3, 5]]


def test_negative_strides_are_copied():
    # A reversed view needs a byte offset, which only a descriptor can carry.
    encoded = bytearray(
        hurray.Tensor(
            np.arange(4.0), hurray.float64, [4], layout=hurray.StridedLayout([1])
        ).descriptor.encode()
    )
    encoded[28:36] = (24).to_bytes(8, "little")
    encoded[36:44] = (-1).to_bytes(8, "little", signed=True)
    reversed_tensor = next(iter(hurray.StreamReader(bytes(encoded) + np.arange(4.0).tobytes())))
    assert np.asarray(reversed_tensor).tolist() == [3, 2, 1, 0]
    assert reversed_tensor.to_torch().tolist() == [3, 2, 1, 0]


def test_read_only_memory_goes_out_as_a_copy():
    memory = array_at(64, np.zeros(4))
    tensor = hurray.Tensor(memory.data.toreadonly(), hurray.float64, [4], copy=False)
    out = tensor.to_torch()
    out[0] = 5
    assert memory[0] == 0


@pytest.mark.parametrize(
    ("source", "error", "match"),
    [
        pytest.param(
            lambda: torch.ones(2, requires_grad=True), BufferError, "detach", id="requires-grad"
        ),
        pytest.param(
            lambda: torch.nn.Parameter(torch.ones(2)), BufferError, "detach", id="parameter"
        ),
        pytest.param(
            lambda: torch.ones(2, 3).t(), hurray.UnsupportedError, "contiguous", id="transposed"
        ),
        pytest.param(
            lambda: torch.tensor([1 + 2j]).conj(), BufferError, "conj", id="conjugate-view"
        ),
        pytest.param(
            lambda: torch.tensor([1 + 2j]).conj().imag, BufferError, "negative", id="negative-view"
        ),
        pytest.param(
            lambda: torch.tensor(1 + 2j).conj().imag, BufferError, "negative", id="negative-scalar"
        ),
        pytest.param(lambda: torch.eye(2).to_sparse(), BufferError, "layout", id="sparse"),
        pytest.param(lambda: torch.ones(2, device="meta"), BufferError, "meta", id="meta"),
        pytest.param(lambda: np, TypeError, "__dlpack__", id="module"),
    ],
)
@pytest.mark.parametrize("ingest", [hurray.from_torch, hurray.from_dlpack])
def test_what_cannot_come_in_is_refused(ingest, source, error, match):
    with pytest.raises(error, match=match):
        ingest(source())


def test_under_aligned_memory_is_copied_or_refused():
    source = torch.arange(64.0)[1:]
    assert hurray.from_torch(source).owns_data
    with pytest.raises(hurray.CopyRequiredError, match="4-byte aligned"):
        hurray.from_torch(source, copy=False)


def test_the_source_lives_as_long_as_the_tensor():
    source = torch.arange(64.0)
    tensor = hurray.from_torch(source, copy=False)
    del source
    gc.collect()
    assert np.asarray(tensor)[10] == 10


def test_the_tensor_lives_as_long_as_what_torch_has():
    tensor = hurray.arange(5)
    alive = weakref.ref(tensor)
    out = tensor.to_torch()
    del tensor
    gc.collect()
    assert out.tolist() == [0, 1, 2, 3, 4]
    assert alive() is not None
    del out
    gc.collect()
    assert alive() is None


def test_saving_takes_torch_tensors(tmp_path):
    path = tmp_path / "t.hrry"
    hurray.save(path, {"t": torch.arange(6.0).reshape(2, 3), "b": torch.tensor([True, False])})
    loaded = hurray.load(path)
    assert loaded["t"].to_torch().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert loaded["b"].to_torch().tolist() == [True, False]


def test_rounds_leave_no_reference():
    tensor, source = hurray.ones([4]), torch.zeros(64)
    before = sys.getrefcount(tensor), sys.getrefcount(source)
    for _ in range(10_000):
        tensor.to_torch()
        torch.from_dlpack(tensor)
        hurray.from_torch(source)
    after = sys.getrefcount(tensor), sys.getrefcount(source)
    assert after == before


@pytest.mark.parametrize("use", ["hurray.from_torch(3)", "hurray.ones([2]).to_torch()"])
def test_an_absent_torch_is_an_import_error(use):
    run_python(
        f"""
        import sys
        sys.modules["torch"] = None
        import hurray
        try:
            {use}
        except ImportError as error:
            assert "torch" in str(error)
        else:
            raise SystemExit("no error")
        """
    )


@pytest.mark.parametrize(
    ("shape", "strides"),
    [([2**62 + 2, 1], [0, -1]), ([2**62, 2**62, 1], [0, 0, -1]), ([2**61], [0])],
    ids=str,
)
def test_more_bytes_than_an_address_space_are_refused(shape, strides):
    layout = hurray.StridedLayout(strides)
    tensor = hurray.Tensor(bytes(4), hurray.float32, shape, layout=layout)
    with pytest.raises(BufferError, match="more bytes"):
        tensor.to_torch()


@pytest.mark.parametrize("shape", [[2**62 + 2, 1], [2**62, 2**62]], ids=str)
def test_bools_that_no_memory_holds_are_a_memory_error(shape):
    layout = hurray.StridedLayout([0, 0])
    with pytest.raises(MemoryError):
        hurray.Tensor(bytes(1), hurray.bool, shape, layout=layout).to_torch()


def test_copies_that_no_memory_holds_are_a_memory_error():
    layout = hurray.StridedLayout([0, -1])
    with pytest.raises(MemoryError):
        hurray.Tensor(bytes(4), hurray.float32, [2**50, 1], layout=layout).to_torch()
