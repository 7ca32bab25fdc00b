import builtins
import gc
import sys

import numpy as np
import pytest
from arrays import (
    NUMPY_1,
    NUMPY_TYPES,
    OTHER_TYPES,
    SAME_MEMORY_TYPES,
    address_of,
    array_at,
    dtype_id,
    packed,
    random_array,
)
from subprocesses import run_python

import hurray


@pytest.fixture
def matrix():
    """float32, [2, 3], the numbers from 0 to 5."""
    return hurray.Tensor(np.arange(6, dtype=np.float32), hurray.float32, [2, 3])


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("dtype", SAME_MEMORY_TYPES, ids=dtype_id)
@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 3), (4, 0, 2), (2, 3, 4)], ids=str)
def test_the_array_is_the_memory(dtype, shape):
    source = random_array(SAME_MEMORY_TYPES[dtype], shape)
    tensor = hurray.Tensor(source, dtype, shape)
    array = tensor.__array__()
    assert type(array) is np.ndarray
    assert same_bits(array, source)
    assert array.flags.writeable
    assert array.flags.aligned
    assert array.dtype.isnative
    if array.size:
        assert np.shares_memory(array, tensor.__array__())


@pytest.mark.parametrize("convert", [np.asarray, lambda t: t.numpy(), lambda t: t.__array__()])
def test_writes_are_seen_by_the_tensor(matrix, convert):
    convert(matrix)[0, 0] = 99
    assert np.asarray(matrix)[0, 0] == 99


@pytest.mark.parametrize("dtype", SAME_MEMORY_TYPES, ids=dtype_id)
def test_column_major_tensors_export_strides(dtype):
    source = random_array(SAME_MEMORY_TYPES[dtype], (3, 2))
    tensor = hurray.Tensor(source, dtype, [2, 3], layout=hurray.ColMajorLayout())
    array = tensor.__array__()
    assert same_bits(array, source.T)
    assert array.flags.f_contiguous
    assert array.strides == source.T.strides


@pytest.mark.parametrize(
    ("shape", "strides"), [([2, 3], [10, 3]), ([4, 3], [0, 1]), ([3, 2], [1, 1]), ([2], [0])]
)
def test_strided_tensors_export_strides(shape, strides):
    source = np.arange(20, dtype=np.int16)
    tensor = hurray.Tensor(source, hurray.int16, shape, layout=hurray.StridedLayout(strides))
    array = tensor.__array__()
    steps = [2 * stride for stride in strides]
    assert same_bits(array, np.lib.stride_tricks.as_strided(source, shape, steps))
    assert array.strides == tuple(steps)


def test_strides_may_be_negative():
    encoded = bytes.fromhex(
        "48525259 01 00 3d000000 00000000 14 03 01000000"
        "0300000000000000 0800000000000000 ffffffffffffffff"  # shape, byte offset, stride
        "01 0c00000000000000 40000000 00 00 00 00"
    )
    reader = hurray.StreamReader(encoded + np.array([1, 2, 3], "<i4").tobytes())
    tensor = next(reader)
    assert tensor.__array__().tolist() == [3, 2, 1]
    assert tensor.__array__().strides == (-4,)
    assert tensor.element_offset([2]) == -2
    assert repr(tensor) == "hurray.Tensor([3 2 1], dtype=int32)"


def test_bytes_beyond_the_elements_are_left_out():
    tensor = hurray.Tensor(bytes(range(100)), hurray.uint8, [2, 2])
    assert tensor.__array__().tolist() == [[0, 1], [2, 3]]


def test_the_array_keeps_the_tensor_alive():
    array = hurray.Tensor(b"\1\2\3\4" * 16, hurray.uint8, [64]).__array__()
    scribble = [bytes([255]) * 64 for _ in range(1000)]
    assert array.tolist() == [1, 2, 3, 4] * 16
    del scribble


def test_memory_borrowed_read_only_gives_a_read_only_array():
    source = array_at(64, np.zeros(4, np.float32))
    source.flags.writeable = False
    tensor = hurray.from_numpy(source, copy=False)
    array = tensor.__array__()
    assert not array.flags.writeable
    assert address_of(array) == address_of(source)
    assert tensor.__array__(copy=True).flags.writeable


@pytest.mark.parametrize("dtype", SAME_MEMORY_TYPES, ids=dtype_id)
def test_the_same_dtype_costs_no_copy(dtype):
    tensor = hurray.Tensor(bytes(64), dtype, [2])
    for request in (None, SAME_MEMORY_TYPES[dtype], SAME_MEMORY_TYPES[dtype].name):
        for copy in (None, False):
            array = tensor.__array__(request, copy=copy)
            assert address_of(array) == address_of(tensor.__array__())


def test_copy_true_is_always_private(matrix):
    array = matrix.__array__(copy=True)
    array[...] = 99
    assert np.asarray(matrix).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert array.flags.owndata


def test_another_dtype_is_a_cast(matrix):
    array = matrix.__array__(np.float64)
    assert array.dtype == np.float64
    assert array.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert not np.shares_memory(array, np.asarray(matrix))
    assert np.asarray(matrix, dtype="i2").dtype == np.int16
    assert np.array(matrix, np.complex64)[1, 2] == 5


def test_another_byte_order_is_a_cast(matrix):
    array = matrix.__array__(">f4")
    assert array.tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(hurray.CopyRequiredError):
        matrix.__array__(">f4", copy=False)


@pytest.mark.parametrize("dtype", [np.float64, "int8", ">f4"], ids=str)
def test_a_cast_without_a_copy_is_refused(matrix, dtype):
    with pytest.raises(hurray.CopyRequiredError) as caught:
        matrix.__array__(dtype, copy=False)
    assert isinstance(caught.value, ValueError)


@pytest.mark.skipif(NUMPY_1, reason="copy=False is newer")
def test_numpy_refuses_the_same_with_a_value_error(matrix):
    with pytest.raises(ValueError, match=r"(?i)copy"):
        np.asarray(matrix, np.float64, copy=False)


def test_arguments_have_names_and_positions(matrix):
    assert matrix.__array__(dtype=np.float64, copy=None).dtype == np.float64
    assert matrix.__array__(np.float64, True).dtype == np.float64


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        pytest.param((object(),), {}, id="no-dtype"),
        (("no such type",), {}),
        ((None, "yes"), {}),
        ((None, 1), {}),
        ((None, None, None), {}),
        ((), {"order": "C"}),
    ],
    ids=str,
)
def test_wrong_arguments_are_type_errors(matrix, args, kwargs):
    with pytest.raises(TypeError):
        matrix.__array__(*args, **kwargs)


# ---- bool


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 64, 1000])
def test_bits_are_unpacked(count):
    bits = random_array(np.bool_, (count,))
    tensor = hurray.Tensor(packed(bits), hurray.bool, [count])
    for array in (tensor.__array__(), np.asarray(tensor), tensor.__array__(copy=True)):
        assert same_bits(array, bits)
        assert array.flags.writeable


def test_bits_are_unpacked_in_logical_order():
    bits = random_array(np.bool_, (3, 5))
    col = hurray.Tensor(packed(bits), hurray.bool, [5, 3], layout=hurray.ColMajorLayout())
    assert np.array_equal(np.asarray(col), bits.T)
    layout = hurray.StridedLayout([7, 2])
    gaps = hurray.Tensor(packed(bits), hurray.bool, [2, 3], layout=layout)
    assert np.array_equal(np.asarray(gaps), bits.reshape(-1).take([[0, 2, 4], [7, 9, 11]]))


def test_bits_behind_the_last_element_do_not_matter():
    tensor = hurray.Tensor(b"\xfe\xff", hurray.bool, [9])
    assert np.asarray(tensor).tolist() == [False] + 8 * [True]


def test_bits_are_cast_on_request():
    tensor = hurray.Tensor(b"\5", hurray.bool, [3])
    assert tensor.__array__(np.int8).tolist() == [1, 0, 1]


@pytest.mark.parametrize("dtype", [None, np.bool_, np.int8], ids=str)
@pytest.mark.parametrize("count", [0, 3])
def test_bits_without_a_copy_are_refused(dtype, count):
    tensor = hurray.Tensor(b"\5", hurray.bool, [count])
    with pytest.raises(hurray.CopyRequiredError):
        tensor.__array__(dtype, copy=False)


# ---- what has no array


def test_sparse_tensors_are_refused():
    layout = hurray.CooLayout(0)
    tensor = hurray.Tensor(b"", hurray.float32, [2, 2], layout=layout, aux_buffers=[b""])
    with pytest.raises(hurray.UnsupportedError, match="coo"):
        tensor.__array__()


@pytest.mark.parametrize("name", ["morton", "tiled", "hilbert"])
def test_curves_and_tiles_are_refused(name):
    layout = {
        "morton": lambda: hurray.MortonLayout([1, 1]),
        "tiled": lambda: hurray.TiledLayout([2, 2]),
        "hilbert": lambda: hurray.HilbertLayout(1, 2),
    }[name]()
    tensor = hurray.Tensor(bytes(16), hurray.float32, [2, 2], layout=layout)
    with pytest.raises(hurray.UnsupportedError, match=name):
        tensor.__array__()


@pytest.mark.parametrize("device", [("cuda",), ("metal", 0, "unified"), (0xF3,)], ids=str)
def test_memory_of_another_device_is_refused(device):
    tensor = hurray.Tensor(bytes(4), hurray.float32, [1], hurray.Device(*device))
    with pytest.raises(hurray.UnsupportedError):
        tensor.__array__()


@pytest.mark.parametrize("memory_class", ["host_pinned", "unified"])
def test_every_memory_class_of_the_cpu_is_exported(memory_class):
    tensor = hurray.Tensor(b"\7", hurray.uint8, [1], hurray.Device("cpu", 0, memory_class))
    assert np.asarray(tensor).tolist() == [7]


ML_DTYPES = {
    hurray.bfloat16: "bfloat16",
    hurray.dtype.float8_e4m3: "float8_e4m3fn",
    hurray.dtype.float8_e5m2: "float8_e5m2",
    hurray.dtype.float8_e8m0: "float8_e8m0fnu",
}


@pytest.mark.parametrize("dtype", ML_DTYPES, ids=dtype_id)
def test_small_floats_are_arrays_of_ml_dtypes(dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    expected = np.dtype(getattr(ml_dtypes, ML_DTYPES[dtype]))
    tensor = hurray.Tensor(bytes(range(64, 72)), dtype, [4])
    array = tensor.__array__()
    assert array.dtype == expected
    assert array.tobytes() == bytes(range(64, 72))[: array.nbytes]
    assert np.shares_memory(array, tensor.__array__(copy=False))
    assert np.asarray(tensor).dtype == expected
    assert np.asarray(tensor, np.float32).dtype == np.float32


@pytest.mark.parametrize("dtype", ML_DTYPES, ids=dtype_id)
def test_small_floats_need_ml_dtypes(dtype):
    run_python(
        """
        import sys
        sys.modules["ml_dtypes"] = None
        import hurray
        dtype = getattr(hurray.dtype, sys.argv[1])
        try:
            hurray.Tensor(bytes(8), dtype, [4]).__array__()
        except hurray.UnsupportedError as error:
            for word in (dtype.name, "ml_dtypes", "to_torch"):
                assert word in str(error), error
        else:
            raise AssertionError("exported")
        """,
        dtype.name,
    )


@pytest.mark.parametrize(
    "dtype", [dtype for dtype in OTHER_TYPES if dtype not in ML_DTYPES], ids=dtype_id
)
def test_types_without_an_array_type_are_refused(dtype):
    with pytest.raises(hurray.UnsupportedError, match=dtype.name):
        hurray.Tensor(bytes(64), dtype, [4]).__array__()


def test_private_types_are_refused():
    section = hurray.ExtensionType(bit_width=32)
    tensor = hurray.Tensor(bytes(16), hurray.Dtype.from_tag(0xF2), [4], extension_type=section)
    with pytest.raises(hurray.UnsupportedError, match="extension"):
        tensor.__array__()


def test_dynamic_shapes_are_refused():
    with pytest.raises(hurray.UnsupportedError):
        hurray.Tensor(bytes(16), hurray.float32, [None]).__array__()


def test_more_dimensions_than_numpy_has_are_refused():
    limit = 32 if NUMPY_1 else 64
    assert hurray.Tensor(bytes(4), hurray.float32, [1] * limit).__array__().ndim == limit
    if limit < 64:
        for rank in (33, 64):
            tensor = hurray.Tensor(bytes(4), hurray.float32, [1] * rank)
            with pytest.raises(hurray.UnsupportedError, match=f"rank {rank}"):
                tensor.__array__()
            # NumPy asks for a buffer or a capsule first, and refuses in its own words.
            # from_dlpack came with 1.23.
            for function in (np.asarray, getattr(np, "from_dlpack", np.asarray)):
                with pytest.raises(RuntimeError, match=r"(?i)maxdims"):
                    function(tensor)


@pytest.mark.parametrize("shape", [[2**63, 0], [0, 2**40, 2**40]], ids=str)
def test_empty_tensors_that_numpy_cannot_hold_are_refused(shape):
    with pytest.raises((hurray.UnsupportedError, ValueError)):
        hurray.Tensor(b"", hurray.float32, shape).__array__()


def test_quantized_tensors_export_their_storage():
    scheme = hurray.PerTensorAffine(0.5, 3)
    tensor = hurray.Tensor(b"\1\2", hurray.int8, [2], quantization=scheme)
    assert np.asarray(tensor).tolist() == [1, 2]
    assert np.asarray(tensor).dtype == np.int8


def test_a_missing_numpy_is_named():
    run_python(
        """
        import sys
        sys.modules["numpy"] = None
        import hurray
        try:
            hurray.Tensor(bytes(8), hurray.float32, [2]).__array__()
        except ImportError as error:
            assert "numpy" in str(error).lower()
        else:
            raise AssertionError("exported")
        """
    )


@pytest.mark.parametrize("dtype", NUMPY_TYPES, ids=dtype_id)
def test_a_thousand_arrays_leave_nothing_behind(dtype):
    tensor = hurray.Tensor(bytes(64), dtype, [3])

    def work():
        for _ in range(1000):
            tensor.__array__()
            tensor.__array__(np.complex128)

    work()
    gc.collect()
    before = sys.getrefcount(tensor), sys.getrefcount(np.dtype(np.complex128))
    work()
    gc.collect()
    after = sys.getrefcount(tensor), sys.getrefcount(np.dtype(np.complex128))
    assert after == before


# ---- strides of 0, by which a few bytes are more than an address space


@pytest.mark.parametrize(
    ("shape", "strides"),
    [
        ([2**62 + 2], [0]),  # the number of bytes wraps to 8
        ([2**61], [0]),  # it is 2**63
        ([2**62, 2**62], [0, 0]),  # the number of elements wraps
        ([2**62 + 2, 1], [0, -1]),
    ],
    ids=str,
)
def test_more_bytes_than_an_address_space_are_not_handed_out(shape, strides):
    layout = hurray.StridedLayout(strides)
    tensor = hurray.Tensor(bytes(4), hurray.float32, shape, layout=layout)
    for export in (memoryview, bytes, bytearray, lambda t: t.__dlpack__(max_version=(1, 0))):
        with pytest.raises(builtins.BufferError, match="more bytes"):
            export(tensor)
    with pytest.raises(hurray.UnsupportedError, match="more bytes"):
        np.asarray(tensor)
    # The format has them all the same.
    back = hurray.loads(hurray.dumps({"t": tensor}))["t"]
    assert back.descriptor == tensor.descriptor


def test_more_elements_than_an_address_space_are_no_array_of_bools():
    layout = hurray.StridedLayout([0, 0])
    tensor = hurray.Tensor(bytes(1), hurray.bool, [2**62, 2**62], layout=layout)
    with pytest.raises(hurray.UnsupportedError, match="more bytes"):
        np.asarray(tensor)


def test_no_elements_may_have_any_extent():
    layout = hurray.StridedLayout([0, 0, 0])
    tensor = hurray.Tensor(b"", hurray.float32, [2**62, 0, 2**62], layout=layout)
    assert memoryview(tensor).nbytes == 0
