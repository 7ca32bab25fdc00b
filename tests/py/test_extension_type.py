import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import copies, in_threads, references_left

import hurray

DEFAULTS = {
    "is_float": False,
    "is_signed": False,
    "sign_bits": 0,
    "exponent_bits": 0,
    "mantissa_bits": 0,
    "exponent_bias": 0,
    "has_nan": False,
    "has_inf": False,
}
FLOAT = {
    "is_float": True,
    "sign_bits": 1,
    "exponent_bits": 5,
    "mantissa_bits": 10,
    "exponent_bias": 15,
    "has_nan": True,
    "has_inf": True,
}


@pytest.fixture
def signed_24():
    return hurray.ExtensionType(bit_width=24, is_signed=True)


widths = st.sampled_from([1, 2, 4, 8, 12, 16, 24, 2**32 - 1])
integers = st.fixed_dictionaries({"bit_width": widths, "is_signed": st.booleans()})
floats = st.fixed_dictionaries(
    {
        "bit_width": widths,
        "is_float": st.just(True),
        "sign_bits": st.integers(0, 1),
        "exponent_bits": st.integers(0, 255),
        "mantissa_bits": st.integers(0, 255),
        "exponent_bias": st.integers(0, 2**32 - 1),
        "has_nan": st.booleans(),
        "has_inf": st.booleans(),
    }
)
fields = integers | floats


@given(fields)
def test_each_field_is_a_property(given_fields):
    extension = hurray.ExtensionType(**given_fields)
    for name, value in {**DEFAULTS, **given_fields}.items():
        assert getattr(extension, name) == value
        assert type(getattr(extension, name)) is type(value)


@given(fields)
def test_repr_evaluates_to_an_equal_object(given_fields):
    extension = hurray.ExtensionType(**given_fields)
    twin = eval(repr(extension), vars(hurray))
    assert twin == extension
    assert hash(twin) == hash(extension)


@given(fields, fields)
def test_equality_is_by_value(a, b):
    same = {**DEFAULTS, **a} == {**DEFAULTS, **b}
    assert (hurray.ExtensionType(**a) == hurray.ExtensionType(**b)) is same
    assert (hurray.ExtensionType(**a) != hurray.ExtensionType(**b)) is not same


@pytest.mark.parametrize(
    ("kwargs", "text"),
    [
        ({"bit_width": 24}, "ExtensionType(bit_width=24)"),
        ({"bit_width": 24, "is_signed": True}, "ExtensionType(bit_width=24, is_signed=True)"),
        (
            {"bit_width": 16, **FLOAT},
            "ExtensionType(bit_width=16, is_float=True, sign_bits=1, exponent_bits=5, "
            "mantissa_bits=10, exponent_bias=15, has_nan=True, has_inf=True)",
        ),
    ],
    ids=["width-alone", "signed", "float"],
)
def test_repr_shows_what_is_not_the_default(kwargs, text):
    assert repr(hurray.ExtensionType(**kwargs)) == text


@pytest.mark.parametrize(
    ("bit_width", "factor"), [(1, 8), (2, 4), (4, 2), (8, 1), (9, 1), (24, 1), (2**32 - 1, 1)]
)
def test_packing_factor_follows_the_width(bit_width, factor):
    assert hurray.ExtensionType(bit_width).packing_factor == factor


# ---- buffer_size_bytes


@pytest.mark.parametrize(
    ("bit_width", "count", "size"),
    [(24, 10, 30), (12, 3, 6), (1, 9, 2), (2, 5, 2), (4, 7, 4), (8, 7, 7), (4, 0, 0), (128, 2, 32)],
)
def test_buffer_size_bytes(bit_width, count, size):
    assert hurray.ExtensionType(bit_width).buffer_size_bytes(count) == size
    assert hurray.ExtensionType(bit_width).buffer_size_bytes(element_count=count) == size


@pytest.mark.parametrize("count", [-1, 2**64, 2**63])
def test_sizes_beyond_64_bits_overflow(signed_24, count):
    with pytest.raises(OverflowError):
        signed_24.buffer_size_bytes(count)


@pytest.mark.parametrize("count", [1.0, "1", None])
def test_the_element_count_is_an_integer(signed_24, count):
    with pytest.raises(TypeError):
        signed_24.buffer_size_bytes(count)


def test_buffer_size_bytes_takes_one_argument(signed_24):
    with pytest.raises(TypeError):
        signed_24.buffer_size_bytes()
    with pytest.raises(TypeError):
        signed_24.buffer_size_bytes(1, 2)


# ---- rejections


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        pytest.param({"bit_width": 0}, "greater than 0", id="no-width"),
        pytest.param({"bit_width": 3}, "1, 2 or 4", id="width-3"),
        pytest.param({"bit_width": 5}, "1, 2 or 4", id="width-5"),
        pytest.param({"bit_width": 6}, "1, 2 or 4", id="width-6"),
        pytest.param({"bit_width": 7}, "1, 2 or 4", id="width-7"),
        pytest.param(
            {"bit_width": 8, "is_float": True, "is_signed": True}, "is_signed", id="signed-float"
        ),
        pytest.param(
            {"bit_width": 8, "is_float": True, "sign_bits": 2}, "sign_bits", id="two-sign-bits"
        ),
        pytest.param({"bit_width": 8, "sign_bits": 1}, "sign_bits", id="integer-sign-bits"),
        pytest.param({"bit_width": 8, "exponent_bits": 1}, "exponent_bits", id="integer-exponent"),
        pytest.param({"bit_width": 8, "mantissa_bits": 1}, "mantissa_bits", id="integer-mantissa"),
        pytest.param({"bit_width": 8, "exponent_bias": 1}, "exponent_bias", id="integer-bias"),
        pytest.param({"bit_width": 8, "has_nan": True}, "has_nan", id="integer-nan"),
        pytest.param({"bit_width": 8, "has_inf": True}, "has_inf", id="integer-inf"),
    ],
)
def test_contradictions_are_rejected(kwargs, message):
    with pytest.raises(hurray.InvalidDescriptorError, match=message):
        hurray.ExtensionType(**kwargs)


@pytest.mark.parametrize(
    ("name", "largest"),
    [
        ("bit_width", 2**32 - 1),
        ("sign_bits", 255),
        ("exponent_bits", 255),
        ("mantissa_bits", 255),
        ("exponent_bias", 2**32 - 1),
    ],
)
def test_fields_have_their_range(name, largest):
    for value in (-1, largest + 1, 2**70):
        with pytest.raises(OverflowError):
            hurray.ExtensionType(**{"bit_width": 8, "is_float": True, name: value})


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        pytest.param((), {}, id="nothing"),
        pytest.param((8, True), {}, id="flags-by-position"),
        pytest.param((8,), {"packing_factor": 1}, id="packing-factor"),
        pytest.param((8,), {"bit_width": 8}, id="twice"),
        pytest.param((8.0,), {}, id="float-width"),
        pytest.param(("8",), {}, id="text-width"),
        pytest.param((8,), {"is_signed": 1}, id="int-for-bool"),
        pytest.param((8,), {"is_signed": None}, id="none-for-bool"),
        pytest.param((8,), {"is_float": True, "sign_bits": 1.0}, id="float-for-int"),
    ],
)
def test_wrong_arguments_are_type_errors(args, kwargs):
    with pytest.raises(TypeError):
        hurray.ExtensionType(*args, **kwargs)


def test_numpy_numbers_are_accepted():
    numpy = pytest.importorskip("numpy")
    extension = hurray.ExtensionType(numpy.uint8(24), is_signed=numpy.bool_(True))
    assert extension == hurray.ExtensionType(24, is_signed=True)


def test_it_equals_no_other_kind_of_object(signed_24):
    assert signed_24 != 24
    assert signed_24 != "ExtensionType(bit_width=24, is_signed=True)"
    assert signed_24.__eq__(24) is NotImplemented


def test_it_has_no_order(signed_24):
    with pytest.raises(TypeError):
        signed_24 < signed_24


def test_copies_are_equal(signed_24):
    for twin in copies(signed_24):
        assert twin == signed_24
    for twin in copies(hurray.ExtensionType(16, **FLOAT)):
        assert twin == hurray.ExtensionType(16, **FLOAT)


# ---- references, threads


def test_instances_leave_no_references():
    left = references_left(hurray.ExtensionType, lambda: hurray.ExtensionType(24, is_signed=True))
    assert left == 0


def test_rejected_instances_leave_no_references():
    def make():
        with pytest.raises(hurray.InvalidDescriptorError):
            hurray.ExtensionType(3)

    left = references_left(hurray.ExtensionType, make)
    assert left == 0


def test_threads_share_instances(signed_24):
    def work():
        assert signed_24.buffer_size_bytes(10) == 30
        assert signed_24 == hurray.ExtensionType(24, is_signed=True)
        assert hash(signed_24) == hash(hurray.ExtensionType(24, is_signed=True))
        assert repr(signed_24) == "ExtensionType(bit_width=24, is_signed=True)"

    in_threads(work)
