import math
import mmap
import struct
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from arrays import NUMERIC_TYPES, NUMPY_TYPES, OTHER_TYPES, dtype_id
from subprocesses import run_python

import hurray

IDE = hurray.InvalidDescriptorError
FLOAT_TYPES = [hurray.float16, hurray.float32, hurray.float64]
COMPLEX_TYPES = [hurray.dtype.complex64, hurray.dtype.complex128]
INTEGER_TYPES = [dtype for dtype in NUMPY_TYPES if dtype.is_integer]
REFUSED_TYPES = [*OTHER_TYPES, hurray.Dtype.from_tag(0xF2)]


@pytest.fixture
def source():
    """A tensor to be like: int16, [2, 3], column-major, in pinned memory."""
    return hurray.Tensor(
        bytes(12),
        hurray.int16,
        [2, 3],
        hurray.Device("cpu", 2, "host_pinned"),
        layout=hurray.ColMajorLayout(),
    )


def raw(tensor):
    return np.asarray(tensor.buffer(0)).tobytes()


def values(tensor):
    return np.asarray(tensor).tolist()


def bfloat16_values(tensor):
    """The elements of a bfloat16 tensor, widened to float32."""
    halves = np.frombuffer(raw(tensor), "<u2").astype("<u4")
    return (halves << 16).view("<f4").tolist()


# ---- what all have in common

CREATORS = {
    "zeros": lambda **options: hurray.zeros([2, 3], **options),
    "ones": lambda **options: hurray.ones([2, 3], **options),
    "empty": lambda **options: hurray.empty([2, 3], **options),
    "full": lambda **options: hurray.full([2, 3], True, **options),
    "arange": lambda **options: hurray.arange(6, **options),
    "linspace": lambda **options: hurray.linspace(0, 5, 6, **options),
    "eye": lambda **options: hurray.eye(2, 3, **options),
    "zeros_like": lambda **options: hurray.zeros_like(hurray.zeros([2, 3]), **options),
    "ones_like": lambda **options: hurray.ones_like(hurray.zeros([2, 3]), **options),
    "empty_like": lambda **options: hurray.empty_like(hurray.zeros([2, 3]), **options),
    "full_like": lambda **options: hurray.full_like(hurray.zeros([2, 3]), True, **options),
}
REFUSES_BOOL = {"arange", "linspace"}
TAKES_A_BOOL_VALUE = {"full", "full_like"}
every_creator = pytest.mark.parametrize("create", CREATORS)


@every_creator
@pytest.mark.parametrize("dtype", NUMERIC_TYPES, ids=dtype_id)
def test_results_own_aligned_memory(create, dtype):
    if dtype is hurray.bool and create in REFUSES_BOOL:
        pytest.skip("refused, see below")
    tensor = CREATORS[create](dtype=dtype)
    assert type(tensor) is hurray.Tensor
    assert tensor.dtype is dtype
    assert tensor.layout == hurray.RowMajorLayout()
    assert tensor.device is hurray.device.cpu
    assert tensor.size == 6
    assert tensor.nbytes == hurray.buffer_size_bytes(dtype, 6)
    assert tensor.owns_data
    assert tensor.is_writable
    (handle,) = tensor.buffer_handles
    assert handle.alignment >= hurray.MIN_BUFFER_ALIGNMENT
    assert handle.sync_mode == "producer_synced"
    assert tensor.quantization is tensor.statistics is tensor.shard is None


@every_creator
@pytest.mark.parametrize("dtype", REFUSED_TYPES, ids=dtype_id)
def test_other_types_are_unsupported(create, dtype):
    with pytest.raises(hurray.UnsupportedError, match=dtype.name):
        CREATORS[create](dtype=dtype)


@every_creator
@pytest.mark.parametrize("dtype", ["float32", np.float32, np.dtype("f4"), 3, float], ids=repr)
def test_a_dtype_of_somebody_else_is_invalid(create, dtype):
    with pytest.raises(IDE):
        CREATORS[create](dtype=dtype)


@every_creator
def test_a_spelling_of_a_dtype_is_answered_with_ours(create):
    with pytest.raises(IDE, match=r"hurray\.float32"):
        CREATORS[create](dtype="float32")


@every_creator
@pytest.mark.parametrize("device", ["cpu", 0, hurray.Device], ids=repr)
def test_a_device_of_somebody_else_is_invalid(create, device):
    with pytest.raises(IDE):
        CREATORS[create](device=device)


@every_creator
def test_the_device_is_recorded(create):
    for device in [hurray.Device("cuda", 1), hurray.Device("cpu", 0, "unified")]:
        assert CREATORS[create](device=device).device is device


@every_creator
def test_a_device_that_cannot_exist_is_invalid(create):
    with pytest.raises(IDE):
        CREATORS[create](device=hurray.Device("webgpu", 0, "peer"))


@every_creator
def test_none_means_the_default(create):
    assert CREATORS[create](dtype=None, device=None).descriptor == CREATORS[create]().descriptor


@every_creator
def test_unknown_options_are_type_errors(create):
    with pytest.raises(TypeError):
        CREATORS[create](order="C")


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda: hurray.zeros(), id="zeros"),
        pytest.param(lambda: hurray.zeros([2], hurray.float32), id="zeros-dtype"),
        pytest.param(lambda: hurray.full([2]), id="full"),
        pytest.param(lambda: hurray.full([2], 1, hurray.float32), id="full-dtype"),
        pytest.param(lambda: hurray.zeros_like(), id="zeros_like"),
        pytest.param(lambda: hurray.full_like(hurray.zeros([2])), id="full_like"),
        pytest.param(lambda: hurray.arange(), id="arange"),
        pytest.param(lambda: hurray.arange(1, 2, 3, hurray.float32), id="arange-dtype"),
        pytest.param(lambda: hurray.linspace(0, 1), id="linspace"),
        pytest.param(lambda: hurray.linspace(0, 1, 5, hurray.float32), id="linspace-dtype"),
        pytest.param(lambda: hurray.eye(), id="eye"),
        pytest.param(lambda: hurray.eye(2, 3, 1), id="eye-k"),
    ],
)
def test_wrong_argument_lists_are_type_errors(call):
    with pytest.raises(TypeError):
        call()


# ---- shapes

SHAPED = {
    "zeros": hurray.zeros,
    "ones": hurray.ones,
    "empty": hurray.empty,
    "full": lambda shape, **options: hurray.full(shape, 1, **options),
}
every_shaped = pytest.mark.parametrize("name", SHAPED)


@every_shaped
@pytest.mark.parametrize(
    "shape", [[], [0], [3], [2, 3], (2, 0, 3), range(2, 5), np.array([2, 3]), [1] * 64], ids=str
)
def test_shapes_are_any_sequence_of_integers(name, shape):
    tensor = SHAPED[name](shape)
    assert tensor.shape == tuple(int(extent) for extent in shape)
    assert tensor.size == math.prod(tensor.shape)


@every_shaped
def test_a_lone_integer_is_answered_with_a_list(name):
    with pytest.raises(TypeError, match=r"\[3\]"):
        SHAPED[name](3)


@every_shaped
@pytest.mark.parametrize(
    "shape",
    ["3", b"3", {3}, pytest.param(iter([3]), id="iterator"), [3.0], ["3"], None],
    ids=repr,
)
def test_other_shapes_are_type_errors(name, shape):
    with pytest.raises(TypeError):
        SHAPED[name](shape)


@every_shaped
@pytest.mark.parametrize(
    ("shape", "match"),
    [
        pytest.param([2, -1], "negative", id="negative"),
        pytest.param([None, 2], "index 0", id="dynamic"),
        pytest.param([2, None], "index 1", id="dynamic-last"),
        pytest.param([1] * 65, "64", id="rank-65"),
        pytest.param([2**32, 2**32], "elements", id="count-that-wraps-to-zero"),
        pytest.param([2**63, 2**63, 2**63], "elements", id="count-that-wraps-twice"),
        pytest.param([2**64 - 1], "reserved", id="reserved"),
    ],
)
def test_invalid_shapes_are_refused(name, shape, match):
    with pytest.raises(IDE, match=match) as caught:
        SHAPED[name](shape)
    if None in shape:
        assert f"hurray.{name}()" in str(caught.value)


@every_shaped
@pytest.mark.parametrize("count", [2**61, 2**61 - 1, 2**60, 2**63 - 1, 2**64 - 2])
def test_too_large_an_allocation_is_a_memory_error(name, count):
    with pytest.raises(MemoryError):
        SHAPED[name]([count])


@every_shaped
def test_a_zero_extent_makes_any_shape_possible(name):
    tensor = SHAPED[name]([2**63, 0, 2**63])
    assert tensor.size == 0
    assert tensor.nbytes == 0


@pytest.mark.parametrize("create", [hurray.zeros, hurray.empty])
def test_zeros_cost_no_memory_until_they_are_touched(create):
    def resident_bytes():
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE

    before = resident_bytes()
    tensor = create([1 << 30], dtype=hurray.uint8)
    assert resident_bytes() - before < 256 << 20  # a sanitizer marks an eighth
    assert np.asarray(tensor)[[0, 12345678, -1]].tolist() == [0, 0, 0]


# ---- zeros, ones, empty, full


@pytest.mark.parametrize("create", [hurray.zeros, hurray.ones, hurray.empty])
def test_float64_is_the_default(create):
    assert create([2]).dtype is hurray.float64
    assert create(shape=[2]).dtype is hurray.float64


@pytest.mark.parametrize("dtype", NUMERIC_TYPES, ids=dtype_id)
def test_zeros_are_zero_bytes(dtype):
    assert raw(hurray.zeros([3, 3], dtype=dtype)) == bytes(hurray.buffer_size_bytes(dtype, 9))
    assert raw(hurray.empty([3, 3], dtype=dtype)) == bytes(hurray.buffer_size_bytes(dtype, 9))


@pytest.mark.parametrize("dtype", NUMPY_TYPES, ids=dtype_id)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (9,), (3, 5), (300, 300)], ids=str)
def test_ones_are_those_of_numpy(dtype, shape):
    array = np.asarray(hurray.ones(shape, dtype=dtype))
    assert array.dtype == NUMPY_TYPES[dtype]
    assert np.array_equal(array, np.ones(shape, NUMPY_TYPES[dtype]))


def test_padding_bits_are_zero():
    assert raw(hurray.ones([9], dtype=hurray.bool)) == b"\xff\x01"
    assert raw(hurray.ones([8], dtype=hurray.bool)) == b"\xff"
    assert raw(hurray.full([3], True)) == b"\7"
    assert raw(hurray.eye(3, dtype=hurray.bool)) == b"\x11\1"


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, "bool"),
        (False, "bool"),
        (7, "int64"),
        (-(2**63), "int64"),
        (0.5, "float64"),
        (math.nan, "float64"),
        (1 + 2j, "complex128"),
    ],
    ids=repr,
)
def test_full_takes_its_dtype_from_the_value(value, dtype):
    tensor = hurray.full([3], value)
    assert tensor.dtype.name == dtype
    assert np.array_equal(np.asarray(tensor), np.full(3, value), equal_nan=dtype == "float64")


def test_numpy_scalars_that_are_python_numbers_have_a_dtype():
    assert hurray.full([1], np.float64(0.5)).dtype is hurray.float64
    assert hurray.full([1], np.complex128(1j)).dtype is hurray.dtype.complex128


@pytest.mark.parametrize(
    "value",
    [
        *["1", b"1", None, [1], np.float32(1), np.int64(1), np.bool_(True), np.array(1.0)],
        pytest.param(object(), id="object"),
    ],
    ids=repr,
)
def test_other_values_have_no_dtype(value):
    with pytest.raises(IDE):
        hurray.full([2], value)


@pytest.mark.parametrize("dtype", NUMPY_TYPES, ids=dtype_id)
def test_full_with_a_dtype_stores_the_value_as_numpy_does(dtype):
    for value in [0, 1, 7] if dtype is not hurray.bool else [True, False]:
        expected = np.full((3, 5), value, NUMPY_TYPES[dtype])
        tensor = hurray.full([3, 5], value, dtype=dtype)
        assert np.array_equal(np.asarray(tensor), expected)
    if not dtype.is_integer and dtype is not hurray.bool:
        tensor = hurray.full([2], -2.5, dtype=dtype)
        assert values(tensor) == [-2.5, -2.5]


@pytest.mark.parametrize("dtype", INTEGER_TYPES, ids=dtype_id)
def test_integers_fill_their_whole_range_and_no_more(dtype):
    limits = np.iinfo(NUMPY_TYPES[dtype])
    low, high = int(limits.min), int(limits.max)
    for value in (low, high):
        assert values(hurray.full([3], value, dtype=dtype)) == [value] * 3
    for value in (low - 1, high + 1, 10**30, -(10**30)):
        with pytest.raises(OverflowError):
            hurray.full([3], value, dtype=dtype)


def test_an_inferred_integer_has_the_range_of_int64():
    with pytest.raises(OverflowError):
        hurray.full([2], 2**63)


@pytest.mark.parametrize("dtype", [*FLOAT_TYPES, *COMPLEX_TYPES, hurray.bfloat16], ids=dtype_id)
def test_a_number_beyond_a_float_is_infinite(dtype):
    for value, expected in [(10**400, math.inf), (-(10**400), -math.inf), (math.inf, math.inf)]:
        tensor = hurray.full([1], value, dtype=dtype)
        found = bfloat16_values(tensor) if dtype is hurray.bfloat16 else values(tensor)
        assert found == [expected]


@pytest.mark.parametrize(
    ("dtype", "value"),
    [(hurray.float16, 65520.0), (hurray.float32, 3.5e38), (hurray.dtype.complex64, 1e300)],
    ids=str,
)
def test_a_double_beyond_a_narrow_float_is_infinite(dtype, value):
    assert values(hurray.full([1], value, dtype=dtype)) == [math.inf]
    assert values(hurray.full([1], -value, dtype=dtype)) == [-math.inf]


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        pytest.param(hurray.int32, 1.0, id="float-for-int"),
        pytest.param(hurray.int32, math.nan, id="nan-for-int"),
        pytest.param(hurray.int32, 1j, id="complex-for-int"),
        pytest.param(hurray.float32, 1j, id="complex-for-float"),
        pytest.param(hurray.bfloat16, 1j, id="complex-for-bfloat16"),
        pytest.param(hurray.bool, 1, id="int-for-bool"),
        pytest.param(hurray.bool, 0.0, id="float-for-bool"),
        pytest.param(hurray.float32, "1", id="str-for-float"),
        pytest.param(hurray.int8, "1", id="str-for-int"),
        pytest.param(hurray.dtype.complex64, "1", id="str-for-complex"),
        pytest.param(hurray.bool, "True", id="str-for-bool"),
        pytest.param(hurray.float32, None, id="None"),
        pytest.param(hurray.int32, [1], id="list"),
    ],
)
def test_a_value_of_another_kind_is_a_type_error(dtype, value):
    with pytest.raises(TypeError):
        hurray.full([2], value, dtype=dtype)
    with pytest.raises(TypeError):
        hurray.full_like(hurray.zeros([2], dtype=dtype), value)


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        (hurray.int8, True, 1),
        (hurray.float32, True, 1.0),
        (hurray.int8, np.int64(5), 5),
        (hurray.float32, np.float32(0.5), 0.5),
        (hurray.float16, np.int8(-3), -3.0),
        (hurray.dtype.complex64, np.complex64(1 - 2j), 1 - 2j),
        (hurray.bool, np.bool_(True), True),
    ],
    ids=repr,
)
def test_values_of_numpy_are_taken_with_a_dtype(dtype, value, expected):
    assert values(hurray.full([2], value, dtype=dtype)) == [expected] * 2


# Ties go to even, and a double is rounded once, not by way of float32.
HALF_WAY = [
    0.1,
    1 + 2**-11,
    1 + 3 * 2**-11,
    1 + 2**-11 + 2**-40,
    1 + 2**-11 - 2**-40,
    2048 + 1,
    2048 + 3,
    65504,
    65519.999,
    2**-24,
    2**-25,
    2**-25 + 2**-50,
    3 * 2**-25,
    2**-14 - 2**-25,
    1e-300,
    5e-324,
    -0.0,
    -(2**-25),
    math.inf,
    math.nan,
]


@pytest.mark.parametrize("value", HALF_WAY, ids=repr)
def test_float16_is_rounded_to_the_nearest(value):
    expected = np.array(value, np.float64).astype("<f2").tobytes()
    found = raw(hurray.full([1], float(value), dtype=hurray.float16))
    if math.isnan(value):
        assert math.isnan(struct.unpack("<e", found)[0])
    else:
        assert found == expected


@pytest.mark.parametrize(
    ("value", "bits"),
    [
        (1.0, 0x3F80),
        (-2.0, 0xC000),
        (1 + 2**-8, 0x3F80),  # a tie, to even
        (1 + 3 * 2**-8, 0x3F82),  # a tie, to even
        (1 + 2**-8 + 2**-40, 0x3F81),  # by way of float32 it would be a tie
        (1 + 3 * 2**-8 - 2**-40, 0x3F81),
        (0.1, 0x3DCD),
        (3.3895313892515355e38, 0x7F7F),  # the largest
        ((2 - 2**-8) * 2.0**127, 0x7F80),  # half way to the next
        (math.nextafter((2 - 2**-8) * 2.0**127, 0), 0x7F7F),
        (2**-133, 0x0001),
        (2**-134, 0x0000),
        (3 * 2**-134, 0x0002),
        (-(2**-134), 0x8000),
        (5e-324, 0x0000),
        (0.0, 0x0000),
        (-0.0, 0x8000),
        (math.inf, 0x7F80),
        (-math.inf, 0xFF80),
    ],
    ids=repr,
)
def test_bfloat16_is_rounded_to_the_nearest(value, bits):
    assert raw(hurray.full([1], value, dtype=hurray.bfloat16)) == struct.pack("<H", bits)


def test_bfloat16_keeps_nan():
    assert math.isnan(bfloat16_values(hurray.full([1], math.nan, dtype=hurray.bfloat16))[0])


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        (hurray.float32, 2**24 + 1, 2.0**24),
        (hurray.float32, 2**53 + 2**29 + 1, 2.0**53 + 2.0**30),  # 2**29 is a tie, 1 breaks it
        (hurray.float64, 2**53 + 1, 2.0**53),
        (hurray.float16, 2049, 2048.0),
    ],
    ids=str,
)
def test_integers_are_rounded_once(dtype, value, expected):
    assert values(hurray.full([1], value, dtype=dtype)) == [expected]


def test_a_huge_integer_is_the_nearest_double():
    assert values(hurray.full([1], 10**300, dtype=hurray.float64)) == [1e300]


@pytest.mark.parametrize("dtype", COMPLEX_TYPES, ids=dtype_id)
def test_complex_values_keep_both_parts(dtype):
    assert values(hurray.full([2], 1.5 - 2.5j, dtype=dtype)) == [1.5 - 2.5j] * 2
    assert values(hurray.ones([2], dtype=dtype)) == [1, 1]


@pytest.mark.parametrize("count", [8, 1 << 20])
def test_large_fills_are_complete(count):
    for dtype, value in [(hurray.uint8, 7), (hurray.float32, 0.5), (hurray.bool, True)]:
        array = np.asarray(hurray.full([count + 1], value, dtype=dtype))
        assert array.size == count + 1
        assert (array == value).all()
    array = np.asarray(hurray.full([count], 1 - 1j))
    assert (array == 1 - 1j).all()


def test_values_that_pretend_are_asked_once():
    class Number:
        calls = 0

        def __index__(self):
            Number.calls += 1
            return 5

    assert values(hurray.full([4], Number(), dtype=hurray.int8)) == [5, 5, 5, 5]
    assert Number.calls == 1


def test_what_a_value_raises_passes_through():
    class Number:
        def __index__(self):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        hurray.full([4], Number(), dtype=hurray.int8)


# ---- *_like

LIKE = {
    "zeros_like": hurray.zeros_like,
    "ones_like": hurray.ones_like,
    "empty_like": hurray.empty_like,
    "full_like": lambda x, **options: hurray.full_like(x, 1, **options),
}
every_like = pytest.mark.parametrize("name", LIKE)


@every_like
def test_shape_dtype_and_device_are_those_of_the_source(name, source):
    tensor = LIKE[name](source)
    assert tensor.shape == source.shape
    assert tensor.dtype is source.dtype
    assert tensor.device is source.device
    assert tensor.layout == hurray.RowMajorLayout()
    assert LIKE[name](x=source).shape == source.shape


@every_like
def test_dtype_and_device_can_be_overridden(name, source):
    device = hurray.Device("cuda")
    tensor = LIKE[name](source, dtype=hurray.float16, device=device)
    assert tensor.dtype is hurray.float16
    assert tensor.device is device
    assert tensor.shape == source.shape


@every_like
def test_the_content_is_as_the_name_says(name, source):
    tensor = LIKE[name](source, device=hurray.device.cpu)
    value = 0 if name in ("zeros_like", "empty_like") else 1
    assert values(tensor) == [[value] * 3] * 2


@every_like
@pytest.mark.parametrize("x", [[1, 2], np.zeros(3), None, 7], ids=["list", "array", "None", "int"])
def test_only_tensors_can_be_imitated(name, x):
    with pytest.raises(TypeError):
        LIKE[name](x)


@every_like
@pytest.mark.parametrize("dtype", OTHER_TYPES, ids=dtype_id)
def test_a_source_of_another_type_needs_a_dtype(name, dtype):
    source = hurray.Tensor(bytes(96), dtype, [2, 3])
    with pytest.raises(hurray.UnsupportedError, match=dtype.name):
        LIKE[name](source)
    assert LIKE[name](source, dtype=hurray.int8).shape == (2, 3)


@every_like
def test_a_dynamic_source_is_refused(name):
    source = hurray.Tensor(b"", hurray.float32, [2, None])
    with pytest.raises(IDE, match="index 1") as caught:
        LIKE[name](source)
    assert f"hurray.{name}()" in str(caught.value)


def test_a_sparse_source_gives_a_dense_tensor():
    source = hurray.Tensor(
        b"", hurray.float32, [2, 3], layout=hurray.CsrLayout(0), aux_buffers=[b"", bytes(24)]
    )
    assert values(hurray.zeros_like(source)) == [[0, 0, 0], [0, 0, 0]]


def test_a_source_that_is_lazily_huge_can_be_imitated():
    source = hurray.Tensor(bytes(4), hurray.float32, [1 << 62], layout=hurray.StridedLayout([0]))
    with pytest.raises(MemoryError):
        hurray.zeros_like(source)


# ---- arange


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((5,), [0, 1, 2, 3, 4]),
        ((2, 5), [2, 3, 4]),
        ((2, None), [0, 1]),
        ((5, None, None), [0, 1, 2, 3, 4]),
        ((0, 10, 3), [0, 3, 6, 9]),
        ((0, 9, 3), [0, 3, 6]),
        ((10, 0, -3), [10, 7, 4, 1]),
        ((0,), []),
        ((-3,), []),
        ((5, 2), []),
        ((2, 5, -1), []),
        ((True, 3), [1, 2]),
        ((2**62, 2**62 + 3), [2**62, 2**62 + 1, 2**62 + 2]),
        ((-(2**63), -(2**63) + 2), [-(2**63), -(2**63) + 1]),
        ((2**63 - 2, 2**63), [2**63 - 2, 2**63 - 1]),
        ((2**53, 2**53 + 3), [2**53, 2**53 + 1, 2**53 + 2]),
        ((-(2**63), 2**63, 2**62), [-(2**63), -(2**62), 0, 2**62]),
        ((0, 2**80, 2**79), None),
        ((0, 2**80, 2**81), [0]),
        ((2**80, 0, 2**90), []),
    ],
    ids=str,
)
def test_integers_count_exactly(args, expected):
    if expected is None:
        with pytest.raises(OverflowError):
            hurray.arange(*args)
    else:
        tensor = hurray.arange(*args)
        assert tensor.dtype is hurray.int64
        assert values(tensor) == expected
        assert tensor.shape == (len(expected),)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((0.0, 1.0, 0.25), [0.0, 0.25, 0.5, 0.75]),
        ((3.0,), [0.0, 1.0, 2.0]),
        ((2.5,), [0.0, 1.0, 2.0]),
        ((0, 1, 0.5), [0.0, 0.5]),
        ((1, 0, -0.5), [1.0, 0.5]),
        ((0, 0.3, 0.1), [0.0, 0.1, 0.2]),
        ((1, 1.3, 0.1), [1.0, 1.1, 1.2, 1.3]),  # ceil(3.0000000000000004): as in NumPy
        ((np.float32(2),), [0.0, 1.0]),
        ((1.0, 0.0), []),
        ((0.0, -0.0), []),
        ((5e-324, 1.5e-323, 5e-324), [5e-324, 1e-323]),
    ],
    ids=str,
)
def test_floats_count_as_in_numpy(args, expected):
    tensor = hurray.arange(*args)
    assert tensor.dtype is hurray.float64
    assert values(tensor) == pytest.approx(expected)
    assert tensor.shape == (len(expected),)


def test_parameters_have_names():
    assert values(hurray.arange(start=1, stop=7, step=2)) == [1, 3, 5]
    assert values(hurray.arange(3, step=2)) == [0, 2]
    assert values(hurray.arange(start=3)) == [0, 1, 2]


@pytest.mark.parametrize("dtype", NUMERIC_TYPES, ids=dtype_id)
def test_every_dtype_but_bool_can_be_asked_for(dtype):
    if dtype is hurray.bool:
        with pytest.raises(hurray.UnsupportedError):
            hurray.arange(2, dtype=dtype)
        with pytest.raises(hurray.UnsupportedError):
            hurray.arange(0, dtype=dtype)
        return
    for tensor in (hurray.arange(5, dtype=dtype), hurray.arange(5.0, dtype=dtype)):
        found = bfloat16_values(tensor) if dtype is hurray.bfloat16 else values(tensor)
        assert tensor.dtype is dtype
        assert found == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("dtype", INTEGER_TYPES, ids=dtype_id)
def test_integers_reach_the_ends_of_their_type(dtype):
    limits = np.iinfo(NUMPY_TYPES[dtype])
    low, high = int(limits.min), int(limits.max)
    assert values(hurray.arange(high - 1, high + 1, dtype=dtype)) == [high - 1, high]
    assert values(hurray.arange(low, low + 2, dtype=dtype)) == [low, low + 1]
    assert values(hurray.arange(low + 1, low - 1, -1, dtype=dtype)) == [low + 1, low]
    with pytest.raises(OverflowError):
        hurray.arange(high, high + 2, dtype=dtype)
    with pytest.raises(OverflowError):
        hurray.arange(low, low - 2, -1, dtype=dtype)


def test_floats_in_an_integer_type_lose_their_fraction():
    assert values(hurray.arange(-2.0, 2.0, 0.5, dtype=hurray.int8)) == [-2, -1, -1, 0, 0, 0, 1, 1]
    assert values(hurray.arange(-0.75, 1, 0.5, dtype=hurray.uint8)) == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("args", "dtype"),
    [
        ((127.0, 129.0), hurray.int8),
        ((-1.0, 1.0), hurray.uint8),
        ((250.0, 260.0, 0.5), hurray.uint8),
        ((2.0**63, 2.0**63 + 4096, 2048.0), hurray.int64),
        ((2.0**64, 2.0**64 + 8192, 4096.0), hurray.uint64),
        ((-(2.0**63) - 4096, -(2.0**63), 2048.0), hurray.int64),
        ((1e300, 2e300, 1e299), hurray.int64),
    ],
    ids=str,
)
def test_floats_beyond_an_integer_type_overflow(args, dtype):
    with pytest.raises(OverflowError):
        hurray.arange(*args, dtype=dtype)


def test_integers_in_a_float_type_stay_exact_until_they_are_stored():
    tensor = hurray.arange(2**60, 2**60 + 512, 256, dtype=hurray.float64)
    assert values(tensor) == [2.0**60, 2.0**60 + 256]
    assert values(hurray.arange(2049, 2053, dtype=hurray.float16)) == [2048, 2050, 2052, 2052]


@pytest.mark.parametrize("step", [0, 0.0, -0.0, False], ids=repr)
def test_a_step_of_zero_is_invalid(step):
    with pytest.raises(IDE, match="step"):
        hurray.arange(0, 5, step)
    with pytest.raises(IDE, match="step"):
        hurray.arange(0, 0, step)


@pytest.mark.parametrize(
    "bad", ["1", [1], 1j, b"1", object()], ids=["str", "list", "complex", "bytes", "object"]
)
@pytest.mark.parametrize("position", [0, 1, 2])
def test_what_is_no_number_is_a_type_error(bad, position):
    args = [0, 5, 1]
    args[position] = bad
    with pytest.raises(TypeError):
        hurray.arange(*args)


def test_no_bound_at_all_is_a_type_error():
    with pytest.raises(TypeError):
        hurray.arange(None)
    with pytest.raises(TypeError):
        hurray.arange(None, 5)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf], ids=repr)
@pytest.mark.parametrize("position", [0, 1, 2])
def test_bounds_are_finite(bad, position):
    args = [0.0, 5.0, 1.0]
    args[position] = bad
    with pytest.raises(IDE):
        hurray.arange(*args)
    with pytest.raises(IDE):
        hurray.arange(*args, dtype=hurray.int32)


@pytest.mark.parametrize(
    "args",
    [(2**62,), (2**63 - 1,), (-(2**63), 2**63 - 2), (1e18,), (0.0, 1.0, 1e-18)],
    ids=str,
)
def test_too_many_elements_are_a_memory_error(args):
    with pytest.raises(MemoryError):
        hurray.arange(*args)


@pytest.mark.parametrize(
    "args",
    [
        (1e300,),
        (0.0, 1.0, 5e-324),
        (-1.7e308, 1.7e308),
        (-(2**63), 2**63 - 1),
        (0, 2**300),
        (0, -(2**70), -1),
    ],
    ids=str,
)
def test_more_elements_than_can_be_counted_are_refused(args):
    with pytest.raises(IDE):
        hurray.arange(*args)


def test_a_long_range_is_complete():
    assert np.array_equal(np.asarray(hurray.arange(200_000)), np.arange(200_000))
    assert np.array_equal(np.asarray(hurray.arange(0, 100, 0.001)), np.arange(0, 100, 0.001))


# ---- linspace


@pytest.mark.parametrize(
    ("start", "stop", "num", "endpoint"),
    [
        (0.0, 1.0, 5, True),
        (0.0, 1.0, 5, False),
        (0, 10, 11, True),
        (5, -5, 7, True),
        (5, -5, 7, False),
        (0.1, 0.7, 1000, True),
        (3, 3, 4, True),
        (-1e308, 1e308, 3, True),
        (0.0, 5e-324, 2, True),
        (1, 2, 1, True),
        (1, 2, 1, False),
        (1, 2, 0, True),
        (1, 2, 2, True),
    ],
    ids=str,
)
def test_values_are_evenly_spaced(start, stop, num, endpoint):
    tensor = hurray.linspace(start, stop, num, endpoint=endpoint)
    assert tensor.dtype is hurray.float64
    assert tensor.shape == (num,)
    intervals = num - 1 if endpoint else num
    distance = Fraction(stop) - Fraction(start)
    expected = [float(Fraction(start) + distance * i / max(intervals, 1)) for i in range(num)]
    assert values(tensor) == pytest.approx(expected, rel=1e-14, abs=1e-300)
    if num:
        assert values(tensor)[0] == start
    if endpoint and num > 1:
        assert values(tensor)[-1] == stop


def test_the_last_value_is_exactly_stop():
    for num in range(2, 300):
        assert values(hurray.linspace(0.1, 0.7, num))[-1] == 0.7


@pytest.mark.parametrize(
    ("start", "stop", "num", "dtype", "expected"),
    [
        pytest.param(0, 2**53 + 1, 3, "int64", [0, 2**52, 2**53 + 1], id="odd"),
        pytest.param(2**53 + 1, 0, 1, "int64", [2**53 + 1], id="one"),
        pytest.param(2**63 - 1, -(2**63), 2, "int64", [2**63 - 1, -(2**63)], id="all-of-int64"),
        pytest.param(0, 2**64 - 1, 4, "uint64", [k * (2**64 - 1) // 3 for k in range(4)], id="u64"),
        pytest.param(2**63 - 1, 2**63 - 1, 3, "int64", [2**63 - 1] * 3, id="same"),
        pytest.param(-7, 7, 4, "int8", [-7, -2, 2, 7], id="toward-zero"),
    ],
)
def test_linspace_between_integers_is_exact(start, stop, num, dtype, expected):
    tensor = hurray.linspace(start, stop, num, dtype=hurray.Dtype.from_name(dtype))
    assert values(tensor) == expected


def test_linspace_leaves_out_a_stop_that_does_not_fit():
    tensor = hurray.linspace(0, 256, 4, dtype=hurray.uint8, endpoint=False)
    assert values(tensor) == [0, 64, 128, 192]
    assert values(hurray.linspace(0, 2**64, 2, dtype=hurray.uint64, endpoint=False)) == [0, 2**63]
    with pytest.raises(OverflowError):
        hurray.linspace(0, 2**63, 2, dtype=hurray.int64)


@pytest.mark.parametrize("shape", [[2**32, 2**32], [2**63, 3]], ids=str)
def test_too_many_elements_are_counted_right(shape):
    with pytest.raises(hurray.InvalidDescriptorError, match=r"has 2\^64 elements or more"):
        hurray.zeros(shape)


def test_linspace_parameters_have_names():
    tensor = hurray.linspace(start=0, stop=1, num=3, endpoint=True, dtype=hurray.float32)
    assert values(tensor) == [0, 0.5, 1]


@pytest.mark.parametrize("dtype", NUMERIC_TYPES, ids=dtype_id)
def test_linspace_takes_every_dtype_but_bool(dtype):
    if dtype is hurray.bool:
        for num in (0, 2):
            with pytest.raises(hurray.UnsupportedError):
                hurray.linspace(0, 1, num, dtype=dtype)
        return
    tensor = hurray.linspace(0, 4, 5, dtype=dtype)
    found = bfloat16_values(tensor) if dtype is hurray.bfloat16 else values(tensor)
    assert found == [0, 1, 2, 3, 4]


def test_linspace_in_an_integer_type_loses_its_fraction():
    assert values(hurray.linspace(-1, 1, 5, dtype=hurray.int8)) == [-1, 0, 0, 0, 1]
    with pytest.raises(OverflowError):
        hurray.linspace(0, 300, 4, dtype=hurray.uint8)
    with pytest.raises(OverflowError):
        hurray.linspace(-1, 1, 3, dtype=hurray.uint8)


def test_linspace_beyond_a_narrow_float_is_infinite():
    assert values(hurray.linspace(0, 1e6, 2, dtype=hurray.float16)) == [0, math.inf]


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ((0, 1, -1), IDE),
        ((0, 1, -(2**70)), IDE),
        ((0, 1, 2.0), TypeError),
        ((0, 1, "2"), TypeError),
        ((0, 1, None), TypeError),
        (("0", 1, 2), TypeError),
        ((0, 1j, 2), TypeError),
        ((None, 1, 2), TypeError),
        ((0, 1, 2**61 - 1), MemoryError),
    ],
    ids=str,
)
def test_bad_linspace_arguments_are_refused(args, error):
    with pytest.raises(error):
        hurray.linspace(*args)


@pytest.mark.parametrize("endpoint", [0, 1, None, "yes"], ids=repr)
def test_endpoint_is_a_bool(endpoint):
    with pytest.raises(TypeError):
        hurray.linspace(0, 1, 2, endpoint=endpoint)


def test_endpoint_may_be_a_numpy_bool():
    assert values(hurray.linspace(0, 1, 2, endpoint=np.False_)) == [0, 0.5]


# ---- eye


@pytest.mark.parametrize("dtype", NUMPY_TYPES, ids=dtype_id)
@pytest.mark.parametrize(
    "shape", [(3, None), (3, 3), (2, 5), (5, 2), (0, 4), (4, 0), (1, 9)], ids=str
)
@pytest.mark.parametrize("k", [0, 1, -1, 4, -4, 100, -100])
def test_ones_lie_on_the_diagonal(dtype, shape, k):
    tensor = hurray.eye(*shape, k=k, dtype=dtype)
    expected = np.eye(*shape, k=k, dtype=NUMPY_TYPES[dtype])
    assert tensor.shape == expected.shape
    assert np.array_equal(np.asarray(tensor), expected)


def test_eye_of_bfloat16():
    assert bfloat16_values(hurray.eye(2, dtype=hurray.bfloat16)) == [1, 0, 0, 1]


def test_eye_has_its_defaults():
    tensor = hurray.eye(3)
    assert tensor.shape == (3, 3)
    assert tensor.dtype is hurray.float64
    assert hurray.eye(n_rows=2, n_cols=3, k=1).shape == (2, 3)


@pytest.mark.parametrize("k", [2**63 - 1, -(2**63)], ids=str)
def test_the_farthest_diagonals_are_empty(k):
    assert values(hurray.eye(2, k=k)) == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("args", "kwargs", "error"),
    [
        ((-1,), {}, IDE),
        ((2, -1), {}, IDE),
        ((2.0,), {}, TypeError),
        ((2, 2.0), {}, TypeError),
        ((None,), {}, TypeError),
        (("2",), {}, TypeError),
        (([2],), {}, TypeError),
        ((2,), {"k": 1.0}, TypeError),
        ((2,), {"k": None}, TypeError),
        ((2,), {"k": 2**63}, OverflowError),
        ((2**64,), {}, OverflowError),
        ((2**32, 2**32), {}, IDE),
        ((2**31, 2**30), {}, MemoryError),
    ],
    ids=str,
)
def test_bad_eye_arguments_are_refused(args, kwargs, error):
    with pytest.raises(error):
        hurray.eye(*args, **kwargs)


# ---- without NumPy


def test_creation_needs_no_numpy():
    run_python(
        """
        import sys
        sys.modules["numpy"] = None
        import hurray
        for dtype in (hurray.float16, hurray.bfloat16, hurray.bool, hurray.dtype.complex64):
            hurray.zeros([2], dtype=dtype), hurray.ones([2], dtype=dtype)
            hurray.empty([2], dtype=dtype), hurray.eye(2, dtype=dtype)
            like = hurray.full([2], True, dtype=dtype)
            hurray.zeros_like(like), hurray.full_like(like, True)
        assert hurray.full([2], 0.5).dtype is hurray.float64
        assert hurray.arange(5).shape == hurray.linspace(0, 1, 5).shape == (5,)
        """
    )
