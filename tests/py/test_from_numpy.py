import sys

import numpy as np
import pytest
from arrays import (
    SAME_MEMORY_TYPES,
    address_of,
    array_at,
    dtype_id,
    empty_at,
    packed,
    random_array,
)

import hurray

SHAPES = [(), (1,), (5,), (2, 3), (2, 3, 4), (1, 1, 1, 1, 1, 1, 1, 1, 2)]


# ---- what comes out


@pytest.mark.parametrize("dtype", SAME_MEMORY_TYPES, ids=dtype_id)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("copy", [None, False, True])
def test_every_type_keeps_its_bits(dtype, shape, copy):
    array = array_at(64, random_array(SAME_MEMORY_TYPES[dtype], shape))
    tensor = hurray.from_numpy(array, copy=copy)
    assert tensor.dtype is dtype
    assert tensor.shape == shape
    assert tensor.layout == hurray.RowMajorLayout()
    assert tensor.device is hurray.device.cpu
    assert tensor.buffer_count == 1
    assert tensor.nbytes == array.nbytes
    assert np.asarray(tensor.buffer(0)).tobytes() == array.tobytes()
    assert np.asarray(tensor).dtype == array.dtype


def test_the_example_of_the_requirement_holds():
    tensor = hurray.from_numpy(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=np.float32))
    assert tensor.shape == (2, 3)
    assert tensor.dtype == hurray.float32
    assert tensor.device.kind == "cpu"
    assert tensor.buffer_handles[0].alignment >= hurray.MIN_BUFFER_ALIGNMENT


def test_types_with_another_c_name_are_the_same():
    for name in ("l", "q", "L", "Q", "i", "I", "d", "p"):
        array = np.zeros(3, name)
        assert hurray.from_numpy(array).dtype.name == array.dtype.name


# ---- copy


@pytest.mark.parametrize(
    ("alignment", "copy", "shared"),
    [
        pytest.param(64, None, True, id="aligned-as-needed"),
        pytest.param(64, False, True, id="aligned-share"),
        pytest.param(64, True, False, id="aligned-copy"),
        pytest.param(4096, None, True, id="page-as-needed"),
        pytest.param(32, None, False, id="misaligned-as-needed"),
        pytest.param(32, True, False, id="misaligned-copy"),
        pytest.param(8, None, False, id="far-misaligned-as-needed"),
    ],
)
def test_copy_decides_whether_memory_is_shared(alignment, copy, shared):
    array = array_at(alignment, np.arange(16, dtype=np.float64))
    tensor = hurray.from_numpy(array, copy=copy)
    array[3] = 99
    assert np.asarray(tensor)[3] == (99 if shared else 3)
    np.asarray(tensor)[4] = 77
    assert array[4] == (77 if shared else 4)
    assert tensor.owns_data is not shared
    assert (address_of(np.asarray(tensor)) == address_of(array)) is shared


@pytest.mark.parametrize("alignment", [64, 128, 1024, 2048, 4096, 8192])
def test_a_shared_handle_measures_the_address_up_to_a_page(alignment):
    tensor = hurray.from_numpy(array_at(alignment, np.zeros(4)), copy=False)
    assert tensor.buffer_handles[0].alignment == min(alignment, 4096)


@pytest.mark.parametrize("alignment", [8, 4096])
def test_a_copy_is_aligned_to_64_at_least(alignment):
    tensor = hurray.from_numpy(array_at(alignment, np.zeros(4)), copy=True)
    assert tensor.buffer_handles[0].alignment >= 64
    assert address_of(np.asarray(tensor)) % 64 == 0


@pytest.mark.parametrize("alignment", [1, 2, 4, 8, 16, 32])
def test_a_refused_copy_names_the_alignment(alignment):
    array = array_at(alignment, np.zeros(4, np.uint8))
    with pytest.raises(
        hurray.CopyRequiredError, match=f"array.*{alignment}-byte aligned"
    ) as caught:
        hurray.from_numpy(array, copy=False)
    assert "64" in str(caught.value)
    assert isinstance(caught.value, hurray.BufferError)


@pytest.mark.parametrize("copy", [None, False, True])
@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 2**40)], ids=str)
@pytest.mark.parametrize("alignment", [8, 64])
def test_empty_arrays_are_never_in_the_way(copy, shape, alignment):
    array = empty_at(alignment, (0,), np.float64).reshape(shape)
    tensor = hurray.from_numpy(array, copy=copy)
    assert tensor.shape == shape
    assert tensor.nbytes == 0
    assert tensor.buffer_handles[0].alignment == 1
    assert np.asarray(tensor).shape == shape


@pytest.mark.parametrize("copy", [0, 1, "always", 0.0], ids=repr)
def test_copy_takes_nothing_but_true_false_and_none(copy):
    with pytest.raises(TypeError):
        hurray.from_numpy(np.zeros(4), copy=copy)


def test_copy_may_be_a_numpy_bool():
    array = array_at(64, np.zeros(4))
    assert not hurray.from_numpy(array, copy=np.False_).owns_data
    assert hurray.from_numpy(array, copy=np.True_).owns_data


def test_the_argument_list_is_checked():
    array = np.zeros(4)
    assert hurray.from_numpy(array=array).shape == (4,)
    for args, kwargs in [
        ((), {}),
        ((array, None), {}),
        ((array,), {"array": array}),
        ((array,), {"dtype": None}),
    ]:
        with pytest.raises(TypeError):
            hurray.from_numpy(*args, **kwargs)


def test_a_copy_of_a_read_only_array_is_writable():
    array = array_at(64, np.zeros(4))
    array.flags.writeable = False
    shared, copied = hurray.from_numpy(array), hurray.from_numpy(array, copy=True)
    assert not shared.is_writable
    assert copied.is_writable
    assert not np.asarray(shared).flags.writeable
    assert np.asarray(copied).flags.writeable


# ---- bool


@pytest.mark.parametrize("shape", [(), (1,), (8,), (9,), (3, 3), (5, 7, 2)], ids=str)
@pytest.mark.parametrize("copy", [None, True])
def test_bool_is_packed(shape, copy):
    array = array_at(64, random_array(np.bool_, shape))
    tensor = hurray.from_numpy(array, copy=copy)
    assert tensor.dtype is hurray.bool
    assert tensor.shape == shape
    assert tensor.nbytes == hurray.buffer_size_bytes(hurray.bool, array.size)
    assert np.asarray(tensor.buffer(0)).tobytes() == packed(array)
    assert np.array_equal(np.asarray(tensor), array)
    assert tensor.owns_data


def test_padding_bits_are_zero():
    tensor = hurray.from_numpy(np.ones(9, np.bool_))
    assert np.asarray(tensor.buffer(0)).tolist() == [0xFF, 0x01]


def test_any_nonzero_byte_is_true():
    array = np.array([0, 1, 2, 255, 128], np.uint8).view(np.bool_)
    tensor = hurray.from_numpy(array)
    assert np.asarray(tensor.buffer(0)).tolist() == [0b11110]


@pytest.mark.parametrize("count", [0, 64])
def test_bool_without_a_copy_is_refused(count):
    with pytest.raises(hurray.CopyRequiredError):
        hurray.from_numpy(array_at(64, np.zeros(count, np.bool_)), copy=False)


# ---- what is refused


@pytest.mark.parametrize(
    "array",
    [
        pytest.param(np.zeros((2, 3)).T, id="transposed"),
        pytest.param(np.asfortranarray(np.zeros((2, 3))), id="fortran"),
        pytest.param(np.zeros(8)[::2], id="every-second"),
        pytest.param(np.zeros(8)[::-1], id="reversed"),
        pytest.param(np.zeros((4, 4))[:, 1:], id="columns"),
        pytest.param(np.broadcast_to(np.zeros(3), (2, 3)), id="broadcast"),
        pytest.param(np.zeros((2, 3), np.bool_).T, id="bool"),
    ],
)
@pytest.mark.parametrize("copy", [None, False, True])
def test_arrays_that_are_not_c_contiguous_are_refused(array, copy):
    with pytest.raises(hurray.UnsupportedError, match=r"(?i)contiguous"):
        hurray.from_numpy(array, copy=copy)


def test_strides_of_short_dimensions_do_not_matter():
    array = np.zeros((4, 4))[1:2]
    assert hurray.from_numpy(array).shape == (1, 4)
    assert hurray.from_numpy(np.zeros((3, 0, 2), order="F")).shape == (3, 0, 2)


@pytest.mark.parametrize(
    "array",
    [
        pytest.param(np.array([None, 1]), id="object"),
        pytest.param(np.array(["a"]), id="str"),
        pytest.param(np.array([b"a"]), id="bytes"),
        pytest.param(np.array(["2020-01-01"], "M8[D]"), id="datetime"),
        pytest.param(np.zeros(2, "m8[s]"), id="timedelta"),
        pytest.param(np.zeros(2, [("x", "f4"), ("y", "i4")]), id="structured"),
        pytest.param(np.zeros(2, "V8"), id="void"),
        pytest.param(np.zeros(2, np.longdouble), id="longdouble"),
        pytest.param(np.zeros(2, np.clongdouble), id="clongdouble"),
    ],
)
def test_types_without_an_equivalent_are_refused(array):
    if array.dtype in (np.dtype(np.float64), np.dtype(np.complex128)):
        pytest.skip("this platform's long double is a double")
    with pytest.raises(hurray.UnsupportedError):
        hurray.from_numpy(array)


@pytest.mark.parametrize(
    "name", ["f2", "f4", "f8", "i2", "i4", "i8", "u2", "u4", "u8", "c8", "c16"]
)
def test_the_other_byte_order_is_refused(name):
    swapped = ">" if sys.byteorder == "little" else "<"
    with pytest.raises(hurray.UnsupportedError, match="endian"):
        hurray.from_numpy(np.zeros(2, swapped + name))


@pytest.mark.parametrize("name", [">i1", ">u1", ">b1"])
def test_single_bytes_have_no_order(name):
    assert hurray.from_numpy(np.zeros(2, name)).shape == (2,)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param([1.0, 2.0], id="list"),
        pytest.param(3.0, id="float"),
        pytest.param(np.float64(3.0), id="numpy-scalar"),
        pytest.param(None, id="None"),
        pytest.param(bytes(8), id="bytes"),
        pytest.param(memoryview(bytes(8)), id="memoryview"),
        pytest.param(np.ndarray, id="class"),
        pytest.param(hurray.Tensor(bytes(4), hurray.int8, [4]), id="tensor"),
    ],
)
def test_what_is_no_array_is_refused(value):
    with pytest.raises(hurray.BufferError):
        hurray.from_numpy(value)


def test_masked_arrays_are_refused():
    with pytest.raises(hurray.UnsupportedError, match="mask"):
        hurray.from_numpy(np.ma.array([1, 2], mask=[True, False]))


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_other_subclasses_are_taken_as_their_base():
    class Mine(np.ndarray):
        def __array_finalize__(self, other):
            pass

    array = array_at(64, np.arange(4.0)).view(Mine)
    tensor = hurray.from_numpy(array, copy=False)
    assert type(np.asarray(tensor)) is np.ndarray
    assert np.shares_memory(np.asarray(tensor), array)
    assert hurray.from_numpy(np.matrix([[1, 2]])).shape == (1, 2)


def test_memory_mapped_arrays_are_shared(tmp_path):
    mapped = np.memmap(tmp_path / "array", np.float32, "w+", shape=(16,))
    tensor = hurray.from_numpy(mapped, copy=False)
    np.asarray(tensor)[0] = 99
    assert mapped[0] == 99


def test_a_borrowed_array_cannot_be_resized():
    # NumPy's own memory is aligned to 64 bytes only by chance.
    array = next(a for a in (np.zeros(8 * n) for n in range(1, 1000)) if address_of(a) % 64 == 0)
    tensor = hurray.from_numpy(array, copy=False)
    with pytest.raises(ValueError, match="referenc"):
        array.resize(1 << 20)
    assert tensor.shape == array.shape


# ---- ml_dtypes


SAME_MEMORY = {
    "bfloat16": hurray.bfloat16,
    "float8_e4m3fn": hurray.dtype.float8_e4m3,
    "float8_e5m2": hurray.dtype.float8_e5m2,
    "float8_e8m0fnu": hurray.dtype.float8_e8m0,
}
ONE_BYTE_EACH = {
    "int4": hurray.dtype.int4,
    "uint4": hurray.dtype.uint4,
    "int2": hurray.dtype.int2,
    "uint2": hurray.dtype.uint2,
    "float4_e2m1fn": hurray.dtype.float4_e2m1,
    "float6_e2m3fn": hurray.dtype.float6_e2m3,
    "float6_e3m2fn": hurray.dtype.float6_e3m2,
}


@pytest.mark.parametrize("name", SAME_MEMORY)
def test_small_floats_of_ml_dtypes_are_shared(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = np.dtype(getattr(ml_dtypes, name))
    array = array_at(64, np.arange(64, 64 + 8 * dtype.itemsize, dtype=np.uint8)).view(dtype)
    tensor = hurray.from_numpy(array, copy=False)
    assert tensor.dtype is SAME_MEMORY[name]
    assert np.shares_memory(np.asarray(tensor), array)
    assert np.asarray(tensor).dtype == dtype


@pytest.mark.parametrize("name", ONE_BYTE_EACH)
@pytest.mark.parametrize("count", [0, 1, 3, 4, 9])
def test_sub_byte_types_of_ml_dtypes_are_packed(name, count):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    if not hasattr(ml_dtypes, name):
        pytest.skip(f"this ml_dtypes has no {name}")
    dtype = ONE_BYTE_EACH[name]
    width = dtype.bit_width
    codes = [(7 * i + 1) % 2**width for i in range(count)]
    # Their unused high bits may hold anything, such as the sign.
    array = array_at(64, np.array(codes, np.uint8)).view(getattr(ml_dtypes, name))
    tensor = hurray.from_numpy(array)
    assert tensor.dtype is dtype
    assert tensor.owns_data
    group = 24 if width == 6 else 8
    bits = sum(code << (width * i) for i, code in enumerate(codes))
    size = -(-count * width // group) * group // 8
    assert np.asarray(tensor.buffer(0)).tobytes() == bits.to_bytes(size, "little")
    with pytest.raises(hurray.CopyRequiredError):
        hurray.from_numpy(array, copy=False)


def test_types_of_ml_dtypes_without_an_equivalent_are_refused():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for name in ("float8_e4m3b11fnuz", "float8_e5m2fnuz", "float8_e4m3fnuz"):
        with pytest.raises(hurray.UnsupportedError):
            hurray.from_numpy(np.zeros(2, getattr(ml_dtypes, name)))
