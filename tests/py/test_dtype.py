import inspect
import pickle
import sys

import pytest
from dtype_table import TABLE
from instances import copies, in_threads, references_left

import hurray

NAMES = [row[0] for row in TABLE]
NAMED_TAGS = {row[1] for row in TABLE}
PRIVATE_TAGS = range(0xF0, 0xFF)


def named(name):
    return getattr(hurray.dtype, name)


every_dtype = pytest.mark.parametrize("dtype", [named(name) for name in NAMES], ids=NAMES)
every_private_tag = pytest.mark.parametrize("tag", PRIVATE_TAGS, ids=hex)


@pytest.mark.parametrize(
    ("name", "tag", "tier", "bits", "is_float", "is_integer", "is_signed", "is_sub_byte", "align"),
    TABLE,
    ids=NAMES,
)
def test_each_type_is_as_in_the_table(
    name, tag, tier, bits, is_float, is_integer, is_signed, is_sub_byte, align
):
    dtype = named(name)
    assert dtype.name == name
    assert dtype.tag == tag
    assert dtype.tier == tier
    assert dtype.bit_width == bits
    assert dtype.is_float is is_float
    assert dtype.is_integer is is_integer
    assert dtype.is_signed is is_signed
    assert dtype.is_sub_byte is is_sub_byte
    assert dtype.is_array_api is (tier == 1)
    assert dtype.element_alignment == align


def test_the_submodule_holds_the_named_types_and_nothing_else():
    held = {n for n, value in vars(hurray.dtype).items() if isinstance(value, hurray.Dtype)}
    assert held == set(NAMES)
    public = {n for n in vars(hurray.dtype) if not n.startswith("_")}
    assert public == set(NAMES)


def test_the_submodule_is_a_module():
    assert inspect.ismodule(hurray.dtype)
    assert sys.modules["hurray.dtype"] is hurray.dtype
    from hurray.dtype import int4

    assert int4 is hurray.dtype.int4


@pytest.mark.parametrize(
    ("name", "tier"), [(row[0], row[2]) for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_tier_1_alone_is_at_the_top_level(name, tier):
    assert hasattr(hurray, name) is (tier == 1)
    if tier == 1:
        assert getattr(hurray, name) is named(name)


# ---- from_name, from_tag


@every_dtype
def test_types_are_singletons(dtype):
    assert hurray.Dtype.from_name(dtype.name) is dtype
    assert hurray.Dtype.from_tag(dtype.tag) is dtype


@pytest.mark.parametrize(
    "name", ["", "extension", "Float32", "FLOAT32", "float32 ", "f4", "int3", "float32\0", "\ud800"]
)
def test_unknown_names_are_rejected(name):
    with pytest.raises(hurray.InvalidDescriptorError):
        hurray.Dtype.from_name(name)


@pytest.mark.parametrize("name", [None, 3, b"float32", hurray.float32, ["float32"]])
def test_names_are_text(name):
    with pytest.raises(TypeError):
        hurray.Dtype.from_name(name)


@pytest.mark.parametrize("tag", sorted(set(range(256)) - NAMED_TAGS - set(PRIVATE_TAGS)), ids=hex)
def test_tags_without_a_type_are_rejected(tag):
    with pytest.raises(hurray.InvalidDescriptorError):
        hurray.Dtype.from_tag(tag)


@pytest.mark.parametrize("tag", [-1, 256, 2**64, -(2**64)])
def test_tags_beyond_a_byte_overflow(tag):
    with pytest.raises(OverflowError):
        hurray.Dtype.from_tag(tag)


@pytest.mark.parametrize("tag", [3.0, "3", None, b"\x03"])
def test_tags_are_integers(tag):
    with pytest.raises(TypeError):
        hurray.Dtype.from_tag(tag)


def test_a_tag_may_be_anything_with_an_index():
    class Three:
        def __index__(self):
            return 3

    assert hurray.Dtype.from_tag(Three()) is hurray.float32
    assert hurray.Dtype.from_tag(True) is hurray.float16


@pytest.mark.parametrize("function", [hurray.Dtype.from_name, hurray.Dtype.from_tag])
@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), ((3, 3), {}), ((3,), {"more": 1})],
    ids=["none", "two", "unknown"],
)
def test_the_lookups_take_one_argument(function, args, kwargs):
    with pytest.raises(TypeError):
        function(*args, **kwargs)


def test_the_lookups_take_their_argument_by_name():
    assert hurray.Dtype.from_name(name="int4") is hurray.dtype.int4
    assert hurray.Dtype.from_tag(tag=0x48) is hurray.dtype.int4


# ---- private types


@every_private_tag
def test_private_types_say_nothing_about_themselves(tag):
    dtype = hurray.Dtype.from_tag(tag)
    assert dtype.tag == tag
    assert dtype.name == "extension"
    assert dtype.bit_width == 0
    assert dtype.tier == 2
    assert dtype.element_alignment == 1
    for predicate in ("is_float", "is_integer", "is_signed", "is_sub_byte", "is_array_api"):
        assert getattr(dtype, predicate) is False, predicate


@every_private_tag
def test_private_types_are_singletons(tag):
    assert hurray.Dtype.from_tag(tag) is hurray.Dtype.from_tag(tag)


def test_private_types_differ_by_tag():
    assert len({hurray.Dtype.from_tag(tag) for tag in PRIVATE_TAGS}) == len(PRIVATE_TAGS)


# ---- text, equality, hash


@every_dtype
def test_str_is_the_name(dtype):
    assert str(dtype) == dtype.name


@pytest.mark.parametrize(
    ("dtype", "text"),
    [
        (hurray.float32, "hurray.float32"),
        (hurray.bool, "hurray.bool"),
        (hurray.dtype.int4, "hurray.dtype.int4"),
        (hurray.dtype.complex64, "hurray.dtype.complex64"),
        (hurray.Dtype.from_tag(0xF2), "hurray.Dtype.from_tag(0xF2)"),
    ],
)
def test_repr_tells_where_to_find_it(dtype, text):
    assert repr(dtype) == text


@pytest.mark.parametrize(
    "dtype", [named(n) for n in NAMES] + [hurray.Dtype.from_tag(t) for t in PRIVATE_TAGS], ids=repr
)
def test_repr_evaluates_to_the_type(dtype):
    assert eval(repr(dtype), {"hurray": hurray}) is dtype


def test_types_equal_themselves_alone():
    every = [named(name) for name in NAMES] + [hurray.Dtype.from_tag(t) for t in PRIVATE_TAGS]
    for i, a in enumerate(every):
        for j, b in enumerate(every):
            assert (a == b) is (i == j)
            assert (a != b) is (i != j)


@every_dtype
@pytest.mark.parametrize(
    "make", [lambda d: d.name, lambda d: d.tag, lambda d: None], ids=["name", "tag", "None"]
)
def test_types_equal_no_other_kind_of_object(dtype, make):
    other = make(dtype)
    assert not (dtype == other)
    assert not (other == dtype)
    assert dtype != other


def test_types_are_dictionary_keys():
    widths = {named(name): name for name in NAMES}
    assert len(widths) == len(NAMES)
    assert widths[hurray.Dtype.from_name("int4")] == "int4"
    assert hash(hurray.float32) == hash(hurray.Dtype.from_tag(0x03))


@pytest.mark.parametrize(
    "compare",
    [lambda a, b: a < b, lambda a, b: a <= b, lambda a, b: a > b, lambda a, b: a >= b],
    ids=["<", "<=", ">", ">="],
)
def test_types_have_no_order(compare):
    with pytest.raises(TypeError):
        compare(hurray.float32, hurray.float64)
    with pytest.raises(TypeError):
        compare(hurray.float32, hurray.float32)


def test_types_are_not_constructible():
    with pytest.raises(TypeError):
        hurray.Dtype()
    with pytest.raises(TypeError):
        hurray.Dtype("float32")


@pytest.mark.parametrize(
    "dtype",
    [hurray.float32, hurray.bool, hurray.dtype.int4, hurray.Dtype.from_tag(0xF3)],
    ids=repr,
)
def test_copies_are_the_same_object(dtype):
    for twin in copies(dtype):
        assert twin is dtype


@pytest.mark.parametrize("wrong", ["float32", None, 3, float])
def test_other_objects_are_no_types(wrong):
    with pytest.raises(TypeError):
        hurray.buffer_size_bytes(wrong, 1)


def test_a_numpy_spelling_is_answered_with_the_right_one():
    numpy = pytest.importorskip("numpy")
    with pytest.raises(TypeError, match=r"hurray\.float32"):
        hurray.buffer_size_bytes(numpy.float32, 1)
    with pytest.raises(TypeError, match=r"hurray\.float32"):
        hurray.buffer_size_bytes("float32", 1)


# ---- references, threads


def test_lookups_leave_no_references():
    left = references_left(hurray.Dtype, lambda: hurray.Dtype.from_tag(0xF2))
    assert left == 0
    left = references_left(hurray.Dtype, lambda: hurray.Dtype.from_name("int4"))
    assert left == 0


def test_threads_share_types():
    def work():
        for name in NAMES:
            assert pickle.loads(pickle.dumps(named(name))) is hurray.Dtype.from_name(name)
        for tag in PRIVATE_TAGS:
            assert hurray.Dtype.from_tag(tag) is hurray.Dtype.from_tag(tag)

    in_threads(work, rounds=20)
