"""Metadata of files: what goes in comes back as the same type."""

import math

import numpy as np
import pytest
import wire
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hurray


@pytest.fixture
def path(tmp_path):
    return tmp_path / "metadata.hrry"


def round_trip(path, kv):
    hurray.save(path, {}, kv=kv)
    return hurray.load_kv(path)


VALUES = {
    "true": True,
    "false": False,
    "zero": 0,
    "one": 1,
    "int64-min": -(2**63),
    "int64-max": 2**63 - 1,
    "uint64-min": 2**63,
    "uint64-max": 2**64 - 1,
    "float": 0.1,
    "float-zero": -0.0,
    "float-inf": -math.inf,
    "float-tiny": 5e-324,
    "text": "héllo \U0001f41f",
    "text-empty": "",
    "text-nul": "a\0b",
    "text-long": "x" * 100_000,
    "bytes": bytes(range(256)),
    "bytes-empty": b"",
    "bools": [True, False, True],
    "ints": [0, -1, 2**63 - 1],
    "uints": [2**63, 2**64 - 1],
    "floats": [0.5, -0.0, math.inf],
    "texts": ["", "a", "é"],
    "blobs": [b"", b"\0", b"ab"],
    "one-of-each": [7],
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_values_come_back_as_they_were(path, value):
    (back,) = round_trip(path, {"key": value}).values()
    assert back == value
    assert type(back) is type(value)
    if isinstance(value, list):
        assert [type(v) for v in back] == [type(v) for v in value]
    if value == 0.0 and isinstance(value, float):
        assert math.copysign(1, back) == math.copysign(1, value)


def test_nan_comes_back_as_nan(path):
    back = round_trip(path, {"alone": math.nan, "listed": [math.nan]})
    assert math.isnan(back["alone"])
    assert math.isnan(back["listed"][0])


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_the_bytes_are_those_of_the_format(path, value):
    hurray.save(path, {}, kv={"key": value})
    assert path.read_bytes() == wire.container({}, {"key": value})


def test_all_values_together_keep_their_order(path):
    back = round_trip(path, VALUES)
    assert back == VALUES
    assert list(back) == list(VALUES)


def test_metadata_is_beside_the_tensors(path):
    hurray.save(path, {"w": hurray.Tensor(b"abcd", hurray.int8, [4])}, kv={"k": 1})
    assert hurray.load_kv(path) == {"k": 1}
    assert list(hurray.load(path)) == ["w"]


@pytest.mark.parametrize("kv", [None, {}], ids=repr)
def test_no_metadata_is_an_empty_dict(path, kv):
    assert round_trip(path, kv) == {}


def test_a_list_of_small_and_large_ints_comes_back(path):
    assert round_trip(path, {"k": [1, 2**63]}) == {"k": [1, 2**63]}


@pytest.mark.parametrize("key", ["k", "é", "a.b/c", "\n", "k" * 65535], ids=lambda k: repr(k[:9]))
def test_any_text_is_a_key(path, key):
    assert round_trip(path, {key: 1}) == {key: 1}


@pytest.mark.parametrize("kv", [[], [("k", 1)], "k", 1], ids=repr)
def test_metadata_is_a_dict(path, kv):
    with pytest.raises(TypeError):
        hurray.save(path, {}, kv=kv)
    assert not path.exists()


@pytest.mark.parametrize("key", [1, b"k", None, ("k",)], ids=repr)
def test_keys_are_str(path, key):
    with pytest.raises(TypeError):
        hurray.save(path, {}, kv={key: 1})
    assert not path.exists()


@pytest.mark.parametrize("key", ["", "k" * 65536, "é" * 32768], ids=["empty", "long", "long-bytes"])
def test_keys_have_a_length(path, key):
    with pytest.raises(hurray.FileError):
        hurray.save(path, {}, kv={key: 1})
    assert not path.exists()


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(None, id="none"),
        pytest.param({}, id="dict"),
        pytest.param({1}, id="set"),
        pytest.param(1j, id="complex"),
        pytest.param(object(), id="object"),
        pytest.param([], id="empty"),
        pytest.param([1, "a"], id="mixed"),
        pytest.param([1, 1.0], id="int-and-float"),
        pytest.param([True, 1], id="bool-and-int"),
        pytest.param([0, False], id="int-and-bool"),
        pytest.param(["a", b"a"], id="text-and-bytes"),
        pytest.param([[1]], id="nested"),
        pytest.param([None], id="list-of-none"),
        pytest.param([1, [2]], id="nested-later"),
    ],
)
def test_other_values_are_refused(path, value):
    with pytest.raises(hurray.FileError, match="key"):
        hurray.save(path, {}, kv={"good": 1, "the key": value})
    assert not path.exists()


@pytest.mark.parametrize(
    "value", [2**64, -(2**63) - 1, 10**100, [2**64], [1, -(2**63) - 1]], ids=repr
)
def test_ints_beyond_64_bits_are_refused(path, value):
    with pytest.raises(OverflowError):
        hurray.save(path, {}, kv={"k": value})
    assert not path.exists()


def test_negative_and_very_large_ints_share_no_list(path):
    with pytest.raises((OverflowError, hurray.FileError)):
        hurray.save(path, {}, kv={"k": [-1, 2**63]})
    assert not path.exists()


@pytest.mark.parametrize("text", ["\ud800", ["a", "\udfff"]], ids=["alone", "listed"])
def test_texts_are_utf_8(path, text):
    with pytest.raises(hurray.FileError, match="UTF-8"):
        hurray.save(path, {}, kv={"k": text})
    assert not path.exists()


def test_a_list_that_changes_while_it_is_read_does_no_harm(path):
    class Treacherous(int):
        def __index__(self):
            values.clear()
            return 1

    values = [Treacherous(1), 2, 3]
    try:
        hurray.save(path, {}, kv={"k": values})
    except (hurray.FileError, TypeError, RuntimeError):
        return
    assert "k" in hurray.load_kv(path)


scalars = [
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False),
    st.text(),
    st.binary(),
]
values = st.one_of(
    *scalars,
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1),
    *(st.lists(s, min_size=1) for i, s in enumerate(scalars) if i != 1),
)
keys = st.text(min_size=1, max_size=30)


# The folder is not emptied between examples, and need not be: save replaces.
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(keys, values))
def test_any_metadata_comes_back(path, kv):
    back = round_trip(path, kv)
    assert back == kv
    assert list(back) == list(kv)
    assert path.read_bytes() == wire.container({}, kv)


def test_open_files_have_it_too(path):
    hurray.save(path, {}, kv=VALUES)
    with hurray.open(path) as file:
        assert file.kv == VALUES


def test_files_in_memory_have_it_too(path):
    hurray.save(path, {}, kv=VALUES)
    assert hurray.dumps({}, kv=VALUES) == path.read_bytes()


@pytest.mark.parametrize(
    ("value", "back"),
    [(np.float64(0.5), 0.5), (np.int16(-1), -1), (np.uint64(2**64 - 1), 2**64 - 1)],
    ids=repr,
)
def test_numbers_of_numpy_come_back_as_those_of_python(path, value, back):
    found = round_trip(path, {"k": value})["k"]
    assert found == back
    assert type(found) is type(back)


def test_arrays_are_no_metadata(path):
    with pytest.raises(hurray.FileError):
        hurray.save(path, {}, kv={"k": np.array([1])})
