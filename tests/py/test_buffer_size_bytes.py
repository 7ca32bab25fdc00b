import pytest
from dtype_table import TABLE
from hypothesis import given
from hypothesis import strategies as st

import hurray

NAMED = [getattr(hurray.dtype, row[0]) for row in TABLE]
U64_MAX = 2**64 - 1


@pytest.mark.parametrize(
    ("dtype", "count", "size"),
    [
        (hurray.float32, 100, 400),
        (hurray.dtype.int4, 7, 4),
        (hurray.bool, 9, 2),
        (hurray.dtype.float6_e2m3, 100, 75),
        (hurray.float32, 0, 0),
        (hurray.dtype.complex128, 3, 48),
        (hurray.dtype.float128, 1, 16),
        (hurray.dtype.uint2, 5, 2),
        (hurray.dtype.float4_e2m1, 3, 2),
    ],
)
def test_worked_sizes(dtype, count, size):
    assert hurray.buffer_size_bytes(dtype, count) == size


@pytest.mark.parametrize(
    ("count", "size"), [(0, 0), (1, 3), (2, 3), (3, 3), (4, 3), (5, 6), (8, 6), (9, 9)]
)
def test_six_bit_types_come_in_groups_of_four(count, size):
    assert hurray.buffer_size_bytes(hurray.dtype.float6_e3m2, count) == size


def expected(bits, count):
    if bits >= 8:
        return count * (bits // 8)
    if bits == 6:
        return -(-count // 4) * 3
    return -(-count // (8 // bits))


@given(dtype=st.sampled_from(NAMED), count=st.integers(0, U64_MAX))
def test_sizes_follow_the_packing_or_overflow(dtype, count):
    size = expected(dtype.bit_width, count)
    if size <= U64_MAX:
        assert hurray.buffer_size_bytes(dtype, count) == size
    else:
        with pytest.raises(OverflowError):
            hurray.buffer_size_bytes(dtype, count)


@pytest.mark.parametrize("dtype", NAMED, ids=str)
def test_the_largest_count_never_wraps(dtype):
    size = expected(dtype.bit_width, U64_MAX)
    if size <= U64_MAX:
        assert hurray.buffer_size_bytes(dtype, U64_MAX) == size
    else:
        with pytest.raises(OverflowError):
            hurray.buffer_size_bytes(dtype, U64_MAX)


def test_a_private_type_points_at_its_description():
    with pytest.raises(hurray.InvalidDescriptorError, match=r"ExtensionType\.buffer_size_bytes"):
        hurray.buffer_size_bytes(hurray.Dtype.from_tag(0xF2), 10)


@pytest.mark.parametrize("count", [-1, -(2**70), 2**64, 2**70])
def test_counts_beyond_64_bits_overflow(count):
    with pytest.raises(OverflowError):
        hurray.buffer_size_bytes(hurray.int8, count)


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (2**64, "is 18446744073709551616, it"),
        (-(2**70), "is -1180591620717411303424, it"),
        (10**60, r"is about 1e\+60, it"),
        (10**5000, r"is above 10\^308, it"),
        (-(10**5000), r"is below -10\^308, it"),
    ],
    ids=["2**64", "-2**70", "10**60", "10**5000", "-10**5000"],
)
def test_the_message_shows_the_count(count, shown):
    with pytest.raises(OverflowError, match=shown):
        hurray.buffer_size_bytes(hurray.int8, count)


@pytest.mark.parametrize("count", [1.0, "1", None, [1]])
def test_counts_are_integers(count):
    with pytest.raises(TypeError):
        hurray.buffer_size_bytes(hurray.int8, count)


@pytest.mark.parametrize("dtype", ["float32", None, 3])
def test_the_type_is_a_dtype(dtype):
    with pytest.raises(TypeError):
        hurray.buffer_size_bytes(dtype, 1)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((), {}),
        ((hurray.int8,), {}),
        ((hurray.int8, 1, 1), {}),
        ((hurray.int8, 1), {"count": 1}),
        ((hurray.int8, 1), {"n": 1}),
    ],
    ids=["none", "one", "three", "twice", "unknown"],
)
def test_the_arguments_are_two(args, kwargs):
    with pytest.raises(TypeError):
        hurray.buffer_size_bytes(*args, **kwargs)


def test_arguments_have_names():
    assert hurray.buffer_size_bytes(count=4, dtype=hurray.int32) == 16
