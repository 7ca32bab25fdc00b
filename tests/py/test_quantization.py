import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import copies, in_threads, references_left

import hurray

NO_BUFFER = 0xFFFFFFFF
INVALID = hurray.InvalidDescriptorError
SCALE_TYPES = {hurray.float16: 1, hurray.bfloat16: 2, hurray.float32: 3}


def as_float32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def reads_as(text, scale):
    try:
        return as_float32(float(text)) == scale
    except OverflowError:  # rounded up, beyond the largest float32
        return False


# ---- strategies: a scheme with the bytes that the format gives it

axes = st.integers(0, 63)
indices = st.integers(0, NO_BUFFER - 1)
scales = st.floats(width=32, allow_nan=False, allow_infinity=False).filter(lambda scale: scale != 0)


def powers_of_two(least, most):
    return st.integers(least, most).map(lambda exponent: 2**exponent)


@st.composite
def per_tensor(draw):
    scale, zero_point = draw(scales), draw(st.integers(-(2**31), 2**31 - 1))
    encoded = struct.pack("<BBHfi4x", 1, 1, 0, scale, zero_point)
    return hurray.PerTensorAffine(scale, zero_point), encoded


@st.composite
def per_channel(draw):
    axis, scale = draw(axes), draw(indices)
    if draw(st.booleans()):
        encoded = struct.pack("<BBHIIIB3x", 2, 1, 1, axis, scale, NO_BUFFER, 3)
        return hurray.PerChannelAffine.symmetric(axis, scale), encoded
    zero_point = draw(indices)
    encoded = struct.pack("<BBHIIIB3x", 2, 1, 0, axis, scale, zero_point, 3)
    return hurray.PerChannelAffine.asymmetric(axis, scale, zero_point), encoded


@st.composite
def per_block(draw):
    axis, block, scale = draw(axes), draw(powers_of_two(1, 31)), draw(indices)
    dtype, tag = draw(st.sampled_from(list(SCALE_TYPES.items())))
    if draw(st.booleans()):
        encoded = struct.pack("<BBHIIIIB3x", 3, 1, 1, axis, block, scale, NO_BUFFER, tag)
        return hurray.PerBlockAffine.symmetric(axis, block, scale, dtype), encoded
    zero_point = draw(indices)
    encoded = struct.pack("<BBHIIIIB3x", 3, 1, 0, axis, block, scale, zero_point, tag)
    return hurray.PerBlockAffine.asymmetric(axis, block, scale, zero_point, dtype), encoded


@st.composite
def nf4(draw):
    axis, block, scale = draw(axes), draw(powers_of_two(3, 31)), draw(indices)
    return hurray.NF4(axis, block, scale), struct.pack("<BBHIII", 4, 1, 0, axis, block, scale)


@st.composite
def mxfp(draw):
    axis, block, scale = draw(axes), draw(powers_of_two(4, 11)), draw(indices)
    return hurray.MXFP(axis, block, scale), struct.pack("<BBHIII", 5, 1, 0, axis, block, scale)


schemes = per_tensor() | per_channel() | per_block() | nf4() | mxfp()

EXAMPLES = {
    "PerTensorAffine(scale=0.5, zero_point=3)": lambda: hurray.PerTensorAffine(0.5, 3),
    "PerChannelAffine.symmetric(axis=0, scale_buffer_index=1)": (
        lambda: hurray.PerChannelAffine.symmetric(0, 1)
    ),
    "PerChannelAffine.asymmetric(axis=0, scale_buffer_index=1, zero_point_buffer_index=2)": (
        lambda: hurray.PerChannelAffine.asymmetric(0, 1, 2)
    ),
    "PerBlockAffine.symmetric(axis=1, block_size=64, scale_buffer_index=1, "
    "scale_type=hurray.float32)": (
        lambda: hurray.PerBlockAffine.symmetric(1, 64, 1, hurray.float32)
    ),
    "PerBlockAffine.asymmetric(axis=1, block_size=64, scale_buffer_index=1, "
    "zero_point_buffer_index=2, scale_type=hurray.float32)": (
        lambda: hurray.PerBlockAffine.asymmetric(1, 64, 1, 2, hurray.float32)
    ),
    "NF4(axis=1, block_size=64, scale_buffer_index=1)": lambda: hurray.NF4(1, 64, 1),
    "MXFP(axis=1, block_size=32, scale_buffer_index=1)": lambda: hurray.MXFP(1, 32, 1),
}
every_example = pytest.mark.parametrize("make", EXAMPLES.values(), ids=EXAMPLES)


# ---- what they are


@pytest.mark.parametrize(("text", "make"), EXAMPLES.items(), ids=EXAMPLES)
def test_repr_shows_how_it_was_made(text, make):
    assert repr(make()) == text


@given(schemes)
def test_repr_evaluates_to_an_equal_object(scheme_and_bytes):
    scheme, _ = scheme_and_bytes
    assert eval(repr(scheme), {**vars(hurray), "hurray": hurray}) == scheme


@given(schemes)
def test_encode_gives_the_section_of_the_format(scheme_and_bytes):
    scheme, encoded = scheme_and_bytes
    assert scheme.encode() == encoded


@given(schemes)
def test_decode_is_the_inverse_of_encode(scheme_and_bytes):
    scheme, encoded = scheme_and_bytes
    twin = hurray.decode_quantization(encoded)
    assert type(twin) is type(scheme)
    assert twin == scheme


@given(schemes, schemes)
def test_equality_is_by_value(a, b):
    assert (a[0] == b[0]) is (a[1] == b[1])
    assert (a[0] != b[0]) is (a[1] != b[1])
    assert a[0] == hurray.decode_quantization(a[1])


@given(schemes)
def test_all_but_per_tensor_are_hashable(scheme_and_bytes):
    scheme, encoded = scheme_and_bytes
    if isinstance(scheme, hurray.PerTensorAffine):
        with pytest.raises(TypeError, match="unhashable"):
            hash(scheme)
    else:
        assert hash(scheme) == hash(hurray.decode_quantization(encoded))


def test_the_properties_of_per_tensor():
    scheme = hurray.PerTensorAffine(0.5, -3)
    assert (scheme.scale, scheme.zero_point) == (0.5, -3)
    assert hurray.PerTensorAffine(zero_point=-3, scale=0.5) == scheme


def test_the_properties_of_per_channel():
    scheme = hurray.PerChannelAffine.symmetric(0, 1)
    assert (scheme.axis, scheme.scale_buffer_index, scheme.zero_point_buffer_index) == (0, 1, None)
    scheme = hurray.PerChannelAffine.asymmetric(
        axis=2, scale_buffer_index=3, zero_point_buffer_index=4
    )
    assert (scheme.axis, scheme.scale_buffer_index, scheme.zero_point_buffer_index) == (2, 3, 4)


def test_the_properties_of_per_block():
    scheme = hurray.PerBlockAffine.symmetric(1, 64, 2, hurray.bfloat16)
    assert (scheme.axis, scheme.block_size, scheme.scale_buffer_index) == (1, 64, 2)
    assert scheme.zero_point_buffer_index is None
    assert scheme.scale_type is hurray.bfloat16
    scheme = hurray.PerBlockAffine.asymmetric(
        axis=1,
        block_size=2,
        scale_buffer_index=2,
        zero_point_buffer_index=2,
        scale_type=hurray.float16,
    )
    assert scheme.zero_point_buffer_index == 2
    assert scheme.scale_type is hurray.float16


@pytest.mark.parametrize("cls", [hurray.NF4, hurray.MXFP])
def test_the_properties_of_the_block_scaled_schemes(cls):
    scheme = cls(axis=1, block_size=32, scale_buffer_index=2)
    assert (scheme.axis, scheme.block_size, scheme.scale_buffer_index) == (1, 32, 2)
    assert not hasattr(scheme, "zero_point_buffer_index")


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=1e-37, max_value=3e38))
def test_the_scale_is_the_stored_float32(scale):
    stored = hurray.PerTensorAffine(scale, 0).scale
    assert type(stored) is float
    assert stored == as_float32(scale)


@given(scales)
def test_the_scale_is_shown_as_the_shortest_text_that_round_trips(scale):
    text = repr(hurray.PerTensorAffine(scale, 0))
    shown = text.removeprefix("PerTensorAffine(scale=").removesuffix(", zero_point=0)")
    assert reads_as(shown, scale)
    digits = shown.lstrip("-").partition("e")[0].replace(".", "").strip("0")
    shortest = next(text for text in (f"{scale:.{n}e}" for n in range(9)) if reads_as(text, scale))
    fewest = shortest.lstrip("-").partition("e")[0].replace(".", "").strip("0")
    assert len(digits) == len(fewest)


@pytest.mark.parametrize(
    ("scale", "text"),
    [(0.02, "0.02"), (1, "1.0"), (-0.1, "-0.1"), (128.0, "128.0"), (1e20, "1e+20")],
)
def test_the_scale_is_shown_as_python_shows_a_float(scale, text):
    assert repr(hurray.PerTensorAffine(scale, 0)) == f"PerTensorAffine(scale={text}, zero_point=0)"


def test_different_classes_are_unequal():
    assert hurray.NF4(1, 64, 1) != hurray.MXFP(1, 64, 1)
    assert hurray.NF4(1, 64, 1).__eq__(hurray.MXFP(1, 64, 1)) is NotImplemented


@every_example
def test_they_equal_no_other_kind_of_object(make):
    assert make() != 1
    assert make().__eq__("PerTensorAffine") is NotImplemented


@every_example
def test_they_have_no_order(make):
    with pytest.raises(TypeError):
        make() < make()


@every_example
def test_copies_are_equal(make):
    for twin in copies(make()):
        assert twin == make()


# ---- rejections by the constructors


@pytest.mark.parametrize(
    "scale", [0.0, -0.0, math.nan, math.inf, -math.inf, 1e39, -1e300, 1e-60], ids=repr
)
def test_scales_are_finite_and_not_0_as_float32(scale):
    with pytest.raises(INVALID, match="scale"):
        hurray.PerTensorAffine(scale, 0)


@pytest.mark.parametrize("zero_point", [2**31, -(2**31) - 1, 2**70])
def test_zero_points_are_int32(zero_point):
    with pytest.raises(OverflowError):
        hurray.PerTensorAffine(1.0, zero_point)


AXIS_FIRST = {
    "per-channel-symmetric": lambda axis: hurray.PerChannelAffine.symmetric(axis, 1),
    "per-channel-asymmetric": lambda axis: hurray.PerChannelAffine.asymmetric(axis, 1, 2),
    "per-block-symmetric": lambda axis: hurray.PerBlockAffine.symmetric(
        axis, 64, 1, hurray.float32
    ),
    "per-block-asymmetric": (
        lambda axis: hurray.PerBlockAffine.asymmetric(axis, 64, 1, 2, hurray.float32)
    ),
    "nf4": lambda axis: hurray.NF4(axis, 64, 1),
    "mxfp": lambda axis: hurray.MXFP(axis, 32, 1),
}


@pytest.mark.parametrize("make", AXIS_FIRST.values(), ids=AXIS_FIRST)
def test_axes_are_below_the_largest_rank(make):
    assert make(63).axis == 63
    for axis in (64, 2**32 - 1):
        with pytest.raises(INVALID, match="axis"):
            make(axis)
    for axis in (-1, 2**32):
        with pytest.raises(OverflowError):
            make(axis)
    for axis in (1.0, "1", None):
        with pytest.raises(TypeError):
            make(axis)


BUFFER_INDEX = {
    "per-channel-symmetric": lambda i: hurray.PerChannelAffine.symmetric(0, i),
    "per-channel-asymmetric": lambda i: hurray.PerChannelAffine.asymmetric(0, i, 2),
    "per-channel-zero-point": lambda i: hurray.PerChannelAffine.asymmetric(0, 1, i),
    "per-block-symmetric": lambda i: hurray.PerBlockAffine.symmetric(0, 2, i, hurray.float32),
    "per-block-asymmetric": lambda i: hurray.PerBlockAffine.asymmetric(0, 2, i, 2, hurray.float32),
    "per-block-zero-point": lambda i: hurray.PerBlockAffine.asymmetric(0, 2, 1, i, hurray.float32),
    "nf4": lambda i: hurray.NF4(0, 64, i),
    "mxfp": lambda i: hurray.MXFP(0, 32, i),
}


@pytest.mark.parametrize("make", BUFFER_INDEX.values(), ids=BUFFER_INDEX)
def test_the_mark_of_no_buffer_is_no_index(make):
    make(NO_BUFFER - 1)
    with pytest.raises(INVALID, match="buffer_index"):
        make(NO_BUFFER)
    for index in (-1, 2**32):
        with pytest.raises(OverflowError):
            make(index)


BLOCK_SIZES = {
    "per-block": (
        lambda size: hurray.PerBlockAffine.symmetric(0, size, 1, hurray.float32),
        [2, 64, 2**31],
        [0, 1, 3, 48, 2**31 + 1],
    ),
    "nf4": (lambda size: hurray.NF4(0, size, 1), [8, 64, 2**31], [0, 1, 2, 4, 7, 9, 96]),
    "mxfp": (lambda size: hurray.MXFP(0, size, 1), [16, 32, 2048], [0, 1, 8, 17, 48, 4096]),
}


@pytest.mark.parametrize(("make", "allowed", "refused"), BLOCK_SIZES.values(), ids=BLOCK_SIZES)
def test_block_sizes_are_powers_of_two_in_range(make, allowed, refused):
    for size in allowed:
        assert make(size).block_size == size
    for size in refused:
        with pytest.raises(INVALID, match="block_size"):
            make(size)
    for size in (-1, 2**32):
        with pytest.raises(OverflowError):
            make(size)


@pytest.mark.parametrize("dtype", [hurray.float64, hurray.int8, hurray.dtype.float8_e8m0], ids=str)
def test_scale_types_are_floats_of_at_most_32_bits(dtype):
    with pytest.raises(INVALID, match="scale_type"):
        hurray.PerBlockAffine.symmetric(0, 2, 1, dtype)


@pytest.mark.parametrize("wrong", ["float32", 3, None, float], ids=repr)
def test_scale_types_are_dtypes(wrong):
    with pytest.raises(TypeError):
        hurray.PerBlockAffine.symmetric(0, 2, 1, wrong)
    with pytest.raises(TypeError):
        hurray.PerBlockAffine.asymmetric(0, 2, 1, 2, wrong)


@pytest.mark.parametrize("cls", [hurray.PerChannelAffine, hurray.PerBlockAffine])
@pytest.mark.parametrize("args", [(), (0, 1), (0, 2, 1, hurray.float32)], ids=len)
def test_two_faced_schemes_are_made_by_their_class_methods(cls, args):
    with pytest.raises(TypeError):
        cls(*args)


@pytest.mark.parametrize(
    ("call", "count"),
    [
        (hurray.PerTensorAffine, 2),
        (hurray.PerChannelAffine.symmetric, 2),
        (hurray.PerChannelAffine.asymmetric, 3),
        (hurray.PerBlockAffine.symmetric, 4),
        (hurray.PerBlockAffine.asymmetric, 5),
        (hurray.NF4, 3),
        (hurray.MXFP, 3),
    ],
)
def test_every_argument_is_required(call, count):
    args = (1, 64, 1, 2, hurray.float32)
    for n in (*range(count), 6):
        with pytest.raises(TypeError):
            call(*(args * 2)[:n])
    with pytest.raises(TypeError):
        call(*args[:count], unknown=1)


@pytest.mark.parametrize("scale", ["0.5", None, b"1", 1j], ids=repr)
def test_scales_are_real_numbers(scale):
    with pytest.raises(TypeError):
        hurray.PerTensorAffine(scale, 0)


def test_zero_points_are_integers():
    with pytest.raises(TypeError):
        hurray.PerTensorAffine(1.0, 0.0)


# ---- decode_quantization


@given(schemes, st.binary(min_size=1, max_size=40))
def test_trailing_bytes_are_ignored(scheme_and_bytes, trailing):
    scheme, encoded = scheme_and_bytes
    assert hurray.decode_quantization(encoded + trailing) == scheme


@given(schemes)
def test_every_shorter_input_is_rejected(scheme_and_bytes):
    _, encoded = scheme_and_bytes
    for length in range(len(encoded)):
        with pytest.raises(INVALID):
            hurray.decode_quantization(encoded[:length])


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview], ids=lambda kind: kind.__name__)
def test_any_bytes_are_decoded(kind):
    scheme = hurray.NF4(1, 64, 1)
    assert hurray.decode_quantization(kind(scheme.encode())) == scheme
    assert hurray.decode_quantization(data=kind(scheme.encode())) == scheme


@pytest.mark.parametrize("wrong", ["text", None, 3, [1, 1, 0, 0]], ids=repr)
def test_other_objects_are_not_decoded(wrong):
    with pytest.raises(TypeError):
        hurray.decode_quantization(wrong)


@pytest.mark.parametrize("tag", [0, *range(6, 256)], ids=hex)
def test_unknown_tags_are_rejected(tag):
    with pytest.raises(INVALID, match=f"0x{tag:02X}"):
        hurray.decode_quantization(bytes([tag, 1]) + bytes(22))


@every_example
@pytest.mark.parametrize("version", [0, 2, 255])
def test_unknown_versions_are_rejected(make, version):
    encoded = bytearray(make().encode())
    encoded[1] = version
    with pytest.raises(INVALID, match="version"):
        hurray.decode_quantization(encoded)


@every_example
@pytest.mark.parametrize("bit", range(16))
def test_unknown_flags_are_rejected(make, bit):
    scheme = make()
    may_be_symmetric = isinstance(scheme, (hurray.PerChannelAffine, hurray.PerBlockAffine))
    if bit == 0 and may_be_symmetric:
        return  # the one flag that there is
    encoded = bytearray(scheme.encode())
    encoded[2 + bit // 8] |= 1 << bit % 8
    with pytest.raises(INVALID, match="flags"):
        hurray.decode_quantization(encoded)


@pytest.mark.parametrize(
    ("make", "reserved"),
    [
        (lambda: hurray.PerTensorAffine(1.0, 0), range(12, 16)),
        (lambda: hurray.PerChannelAffine.symmetric(0, 1), range(17, 20)),
        (lambda: hurray.PerBlockAffine.symmetric(0, 2, 1, hurray.float32), range(21, 24)),
    ],
    ids=["per-tensor", "per-channel", "per-block"],
)
def test_reserved_bytes_are_zero(make, reserved):
    for position in reserved:
        encoded = bytearray(make().encode())
        encoded[position] = 1
        with pytest.raises(INVALID, match="reserved"):
            hurray.decode_quantization(encoded)


@pytest.mark.parametrize(
    "encoded",
    [
        pytest.param(struct.pack("<BBHfi4x", 1, 1, 0, 0.0, 0), id="scale-0"),
        pytest.param(struct.pack("<BBHfi4x", 1, 1, 0, math.nan, 0), id="scale-nan"),
        pytest.param(struct.pack("<BBHfi4x", 1, 1, 0, math.inf, 0), id="scale-inf"),
        pytest.param(struct.pack("<BBHIIIB3x", 2, 1, 1, 64, 1, NO_BUFFER, 3), id="axis"),
        pytest.param(
            struct.pack("<BBHIIIB3x", 2, 1, 1, 0, NO_BUFFER, NO_BUFFER, 3), id="no-scales"
        ),
        pytest.param(struct.pack("<BBHIIIB3x", 2, 1, 1, 0, 1, 2, 3), id="symmetric-zero-points"),
        pytest.param(struct.pack("<BBHIIIB3x", 2, 1, 0, 0, 1, NO_BUFFER, 3), id="no-zero-points"),
        pytest.param(struct.pack("<BBHIIIB3x", 2, 1, 1, 0, 1, NO_BUFFER, 1), id="float16-channels"),
        pytest.param(struct.pack("<BBHIIIIB3x", 3, 1, 1, 0, 3, 1, NO_BUFFER, 3), id="block-size-3"),
        pytest.param(
            struct.pack("<BBHIIIIB3x", 3, 1, 1, 0, 2, 1, NO_BUFFER, 4), id="float64-scales"
        ),
        pytest.param(struct.pack("<BBHIIIIB3x", 3, 1, 1, 0, 2, 1, NO_BUFFER, 0), id="scale-type-0"),
        pytest.param(struct.pack("<BBHIII", 4, 1, 0, 0, 4, 1), id="nf4-block-size"),
        pytest.param(struct.pack("<BBHIII", 5, 1, 0, 0, 4096, 1), id="mxfp-block-size"),
        pytest.param(struct.pack("<BBHIII", 5, 1, 0, 0, 32, NO_BUFFER), id="mxfp-no-scales"),
        pytest.param(b"", id="empty"),
    ],
)
def test_bad_values_are_rejected(encoded):
    with pytest.raises(INVALID):
        hurray.decode_quantization(encoded)


@given(st.binary(max_size=32))
def test_any_bytes_decode_or_are_rejected(data):
    try:
        scheme = hurray.decode_quantization(data)
    except INVALID:
        return
    assert data.startswith(scheme.encode())


# ---- references, threads


@every_example
def test_instances_leave_no_references(make):
    left = references_left(type(make()), make)
    assert left == 0


@every_example
def test_decoding_leaves_no_references(make):
    encoded = make().encode()
    left = references_left(type(make()), lambda: hurray.decode_quantization(encoded))
    assert left == 0


def test_scale_types_keep_their_references():
    left = references_left(hurray.Dtype, EXAMPLES[next(k for k in EXAMPLES if "Block" in k)])
    assert left == 0


def test_threads_share_instances():
    shared = {text: make() for text, make in EXAMPLES.items()}

    def work():
        for text, scheme in shared.items():
            assert repr(scheme) == text
            assert hurray.decode_quantization(scheme.encode()) == scheme

    in_threads(work, rounds=50)
