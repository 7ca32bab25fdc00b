import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import copies, in_threads, references_left

import hurray

# Fields that are claimed together, with the bit of `computed_mask` that says so.
GROUPS = {
    ("nnz",): 1,
    ("sparsity_ratio",): 2,
    ("value_min", "value_max", "value_abs_max"): 4,
    ("value_mean", "value_stddev"): 8,
    ("nm_n", "nm_m"): 16,
    ("has_nan", "has_inf"): 32,
}
EXAMPLE = {
    "nnz": 1024,
    "sparsity_ratio": 0.25,
    "value_min": -1.0,
    "value_max": 0.5,
    "value_abs_max": 1.0,
    "value_mean": 0.0,
    "value_stddev": 0.125,
    "nm_n": 2,
    "nm_m": 4,
    "has_nan": True,
    "has_inf": False,
}

doubles = st.floats(allow_nan=True, allow_infinity=True)
claims = st.tuples(
    st.fixed_dictionaries(
        {}, optional={"nnz": st.integers(0, 2**64 - 1), "sparsity_ratio": doubles}
    ),
    st.none()
    | st.fixed_dictionaries({"value_min": doubles, "value_max": doubles, "value_abs_max": doubles}),
    st.none() | st.fixed_dictionaries({"value_mean": doubles, "value_stddev": doubles}),
    st.none() | st.fixed_dictionaries({"nm_n": st.integers(0, 255), "nm_m": st.integers(0, 255)}),
    st.none() | st.fixed_dictionaries({"has_nan": st.booleans(), "has_inf": st.booleans()}),
).map(lambda parts: {name: value for part in parts if part for name, value in part.items()})


def same(a, b):
    """Equal, where a float equals one of the same bits alone."""
    if type(a) is float and type(b) is float:
        return struct.pack("d", a) == struct.pack("d", b)
    return type(a) is type(b) and a == b


@given(claims)
def test_each_claim_is_a_property_and_the_others_are_none(given_claims):
    statistics = hurray.Statistics(**given_claims)
    for name in EXAMPLE:
        assert same(getattr(statistics, name), given_claims.get(name)), name
    assert statistics.computed_mask == sum(
        bit for names, bit in GROUPS.items() if names[0] in given_claims
    )


@given(claims)
def test_repr_evaluates_to_the_same_claims(given_claims):
    statistics = hurray.Statistics(**given_claims)
    twin = eval(repr(statistics), {"Statistics": hurray.Statistics, "float": float})
    for name in EXAMPLE:
        a, b = getattr(statistics, name), getattr(twin, name)
        both_nan = type(a) is float and type(b) is float and math.isnan(a) and math.isnan(b)
        assert both_nan or same(a, b), name


@given(claims, claims)
def test_equality_is_by_value(a, b):
    equal = a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    assert (hurray.Statistics(**a) == hurray.Statistics(**b)) is equal
    assert (hurray.Statistics(**a) != hurray.Statistics(**b)) is not equal
    assert hurray.Statistics(**a) == hurray.Statistics(**a)


@pytest.mark.parametrize(
    ("names", "bit"), GROUPS.items(), ids=lambda v: "-".join(v) if type(v) is tuple else None
)
def test_each_group_has_a_bit(names, bit):
    assert hurray.Statistics(**{name: EXAMPLE[name] for name in names}).computed_mask == bit


def test_no_claims_are_allowed():
    statistics = hurray.Statistics()
    assert statistics.computed_mask == 0
    assert repr(statistics) == "Statistics()"
    assert hurray.Statistics(nnz=None, value_min=None) == statistics


@pytest.mark.parametrize(
    ("kwargs", "text"),
    [
        (
            {"nnz": 1024, "value_min": -1.0, "value_max": 1.0, "value_abs_max": 1.0},
            "Statistics(nnz=1024, value_min=-1.0, value_max=1.0, value_abs_max=1.0)",
        ),
        ({"sparsity_ratio": math.nan}, "Statistics(sparsity_ratio=float('nan'))"),
        (
            {"value_mean": math.inf, "value_stddev": -math.inf},
            "Statistics(value_mean=float('inf'), value_stddev=float('-inf'))",
        ),
        ({"has_inf": False, "has_nan": True}, "Statistics(has_nan=True, has_inf=False)"),
        ({"nm_m": 4, "nm_n": 2}, "Statistics(nm_n=2, nm_m=4)"),
        (
            {"value_mean": 0.1, "value_stddev": 1e300},
            "Statistics(value_mean=0.1, value_stddev=1e+300)",
        ),
    ],
    ids=["range", "nan", "inf", "specials", "n-of-m", "floats"],
)
def test_repr_lists_the_claims_in_signature_order(kwargs, text):
    assert repr(hurray.Statistics(**kwargs)) == text


# ---- rejections


@pytest.mark.parametrize(
    "names", [names for names in GROUPS if len(names) > 1], ids=lambda names: "-".join(names)
)
def test_groups_are_claimed_whole_or_not_at_all(names):
    for missing in names:
        kwargs = {name: EXAMPLE[name] for name in names if name != missing}
        with pytest.raises(hurray.InvalidDescriptorError, match=missing):
            hurray.Statistics(**kwargs)


@pytest.mark.parametrize(("name", "largest"), [("nnz", 2**64 - 1), ("nm_n", 255), ("nm_m", 255)])
def test_integers_have_their_range(name, largest):
    kwargs = {"nm_n": 2, "nm_m": 4, name: largest}
    assert getattr(hurray.Statistics(**kwargs), name) == largest
    for value in (-1, largest + 1):
        with pytest.raises(OverflowError):
            hurray.Statistics(**{**kwargs, name: value})


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("nnz", 1.0),
        ("nnz", "1"),
        ("nm_n", 2.0),
        ("sparsity_ratio", "0.5"),
        ("value_min", b"0"),
        ("value_mean", [0.0]),
        ("value_mean", 1j),
        ("has_nan", 1),
        ("has_inf", 0),
        ("has_nan", "yes"),
    ],
)
def test_wrong_types_are_type_errors(name, wrong):
    with pytest.raises(TypeError):
        hurray.Statistics(**{**EXAMPLE, name: wrong})


def test_everything_is_by_keyword():
    with pytest.raises(TypeError):
        hurray.Statistics(1024)
    with pytest.raises(TypeError):
        hurray.Statistics(computed_mask=1)


def test_integers_are_real_numbers_too():
    assert hurray.Statistics(sparsity_ratio=1).sparsity_ratio == 1.0
    assert type(hurray.Statistics(sparsity_ratio=1).sparsity_ratio) is float


def test_numpy_numbers_are_accepted():
    numpy = pytest.importorskip("numpy")
    statistics = hurray.Statistics(
        nnz=numpy.int32(3),
        sparsity_ratio=numpy.float32(0.5),
        has_nan=numpy.bool_(True),
        has_inf=numpy.bool_(False),
    )
    assert statistics == hurray.Statistics(nnz=3, sparsity_ratio=0.5, has_nan=True, has_inf=False)


def test_it_is_unhashable():
    with pytest.raises(TypeError, match="unhashable"):
        hash(hurray.Statistics(nnz=1))


def test_it_equals_no_other_kind_of_object():
    assert hurray.Statistics(nnz=1) != 1
    assert hurray.Statistics(nnz=1).__eq__(1) is NotImplemented


def test_copies_are_equal():
    for twin in copies(hurray.Statistics(**EXAMPLE)):
        assert twin == hurray.Statistics(**EXAMPLE)
    for twin in copies(hurray.Statistics()):
        assert twin == hurray.Statistics()


# ---- references, threads


def test_instances_leave_no_references():
    left = references_left(hurray.Statistics, lambda: hurray.Statistics(**EXAMPLE))
    assert left == 0


def test_rejected_instances_leave_no_references():
    def make():
        with pytest.raises(hurray.InvalidDescriptorError):
            hurray.Statistics(nm_n=2)

    left = references_left(hurray.Statistics, make)
    assert left == 0


def test_threads_share_instances():
    shared = hurray.Statistics(**EXAMPLE)
    text = repr(shared)

    def work():
        assert shared == hurray.Statistics(**EXAMPLE)
        assert repr(shared) == text
        assert shared.value_stddev == 0.125

    in_threads(work)
