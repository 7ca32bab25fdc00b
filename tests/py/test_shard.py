import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import copies, in_threads, references_left

import hurray

U64_MAX = 2**64 - 1


@pytest.fixture
def right_half():
    return hurray.Shard([8, 8], [0, 4])


def test_properties_are_tuples(right_half):
    assert right_half.parent_shape == (8, 8)
    assert right_half.shard_offset == (0, 4)
    assert type(right_half.parent_shape) is tuple


def test_repr_shows_both_fields_as_lists(right_half):
    assert repr(right_half) == "Shard(parent_shape=[8, 8], shard_offset=[0, 4])"


def test_a_scalar_has_a_shard_of_rank_0():
    assert hurray.Shard([], []).parent_shape == ()


def test_arguments_have_names(right_half):
    assert hurray.Shard(shard_offset=[0, 4], parent_shape=[8, 8]) == right_half


@pytest.mark.parametrize(
    "sequence", [list, tuple, lambda pair: range(*pair)], ids=["list", "tuple", "range"]
)
def test_any_sequence_of_integers_is_taken(sequence):
    assert hurray.Shard(sequence([3, 5]), [0, 1]).parent_shape == tuple(sequence([3, 5]))


def test_numpy_arrays_are_taken(right_half):
    numpy = pytest.importorskip("numpy")
    assert hurray.Shard(numpy.array([8, 8]), numpy.array([0, 4], numpy.uint64)) == right_half


entries = st.lists(st.tuples(*[st.integers(0, U64_MAX - 1)] * 2), max_size=64)


@given(entries)
def test_repr_evaluates_to_an_equal_object(pairs):
    shard = hurray.Shard([p for p, _ in pairs], [o for _, o in pairs])
    twin = eval(repr(shard), vars(hurray))
    assert twin == shard
    assert hash(twin) == hash(shard)
    assert shard.parent_shape == tuple(p for p, _ in pairs)
    assert shard.shard_offset == tuple(o for _, o in pairs)


@pytest.mark.parametrize(
    ("parent_shape", "shard_offset", "message"),
    [
        pytest.param([8], [0, 4], "parent_shape", id="lengths-differ"),
        pytest.param([-1], [0], "parent_shape", id="negative-extent"),
        pytest.param([8], [-1], "shard_offset", id="negative-offset"),
        pytest.param([None], [0], "parent_shape", id="dynamic-extent"),
        pytest.param([8], [None], "shard_offset", id="dynamic-offset"),
        pytest.param([U64_MAX], [0], "parent_shape", id="reserved-extent"),
        pytest.param([8], [U64_MAX], "shard_offset", id="reserved-offset"),
        pytest.param([1] * 65, [0] * 65, "64", id="rank-65"),
    ],
)
def test_invalid_shards_are_rejected(parent_shape, shard_offset, message):
    with pytest.raises(hurray.InvalidDescriptorError, match=message):
        hurray.Shard(parent_shape, shard_offset)


@pytest.mark.parametrize("entry", [U64_MAX + 1, 2**80])
def test_entries_beyond_64_bits_overflow(entry):
    with pytest.raises(OverflowError):
        hurray.Shard([entry], [0])
    with pytest.raises(OverflowError):
        hurray.Shard([8], [entry])


@pytest.mark.parametrize(
    "wrong",
    [8, "8", b"8", {8}, iter([8]), None, [8.0], ["8"]],
    ids=["int", "str", "bytes", "set", "iterator", "None", "float-entry", "str-entry"],
)
def test_fields_are_sequences_of_integers(wrong):
    with pytest.raises(TypeError):
        hurray.Shard(wrong, [0])
    with pytest.raises(TypeError):
        hurray.Shard([8], wrong)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        (([8],), {}),
        (([8], [0], 1), {}),
        (([8], [0]), {"offset": [0]}),
        (([8], [0]), {"parent_shape": [8]}),
    ],
    ids=["one", "three", "unknown", "twice"],
)
def test_wrong_argument_lists_are_type_errors(args, kwargs):
    with pytest.raises(TypeError):
        hurray.Shard(*args, **kwargs)


def test_equality_is_by_value(right_half):
    assert right_half == hurray.Shard((8, 8), (0, 4))
    assert hash(right_half) == hash(hurray.Shard((8, 8), (0, 4)))
    assert right_half != hurray.Shard([8, 8], [4, 0])
    assert right_half != hurray.Shard([8, 9], [0, 4])
    assert right_half != ((8, 8), (0, 4))
    assert right_half.__eq__(1) is NotImplemented


def test_it_has_no_order(right_half):
    with pytest.raises(TypeError):
        right_half < right_half


def test_copies_are_equal(right_half):
    for twin in copies(right_half):
        assert twin == right_half


def test_instances_leave_no_references():
    left = references_left(hurray.Shard, lambda: hurray.Shard([8, 8], [0, 4]))
    assert left == 0


def test_rejected_instances_leave_no_references():
    def make():
        with pytest.raises(hurray.InvalidDescriptorError):
            hurray.Shard([8], [0, 4])

    left = references_left(hurray.Shard, make)
    assert left == 0


def test_threads_share_instances(right_half):
    def work():
        assert right_half == hurray.Shard([8, 8], [0, 4])
        assert right_half.parent_shape == (8, 8)
        assert repr(right_half) == "Shard(parent_shape=[8, 8], shard_offset=[0, 4])"

    in_threads(work)
