import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from instances import copies, in_threads, references_left

import hurray

INVALID = hurray.InvalidDescriptorError
U32_MAX, U64_MAX = 2**32 - 1, 2**64 - 1
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


def nested_tiles(levels):
    """A tiled layout of `levels` levels, each halving the tile of the one outside."""
    layout = hurray.TiledLayout([2])
    for level in range(2, levels + 1):
        layout = hurray.TiledLayout([2**level], inner_layout="tiled", inner_tiled=layout)
    return layout


# repr: how to make it, tag, name, buffer_count, is_dense, a shape that it describes
LAYOUTS = {
    "RowMajorLayout()": (lambda: hurray.RowMajorLayout(), 0x01, "row_major", 1, True, [2, 3]),
    "ColMajorLayout()": (lambda: hurray.ColMajorLayout(), 0x02, "col_major", 1, True, [2, 3]),
    "StridedLayout(strides=(4, 1))": (
        lambda: hurray.StridedLayout([4, 1]),
        0x03,
        "strided",
        1,
        True,
        [3, 4],
    ),
    "TiledLayout(tile_shape=(4, 4), outer_layout='row_major', inner_layout='col_major')": (
        lambda: hurray.TiledLayout([4, 4], inner_layout="col_major"),
        0x04,
        "tiled",
        1,
        True,
        [6, 6],
    ),
    "MortonLayout(morton_bits=(3, 3))": (
        lambda: hurray.MortonLayout([3, 3]),
        0x05,
        "morton",
        1,
        True,
        [8, 5],
    ),
    "HilbertLayout(hilbert_order=3, hilbert_rank=2)": (
        lambda: hurray.HilbertLayout(3, 2),
        0x40,
        "hilbert",
        1,
        True,
        [8, 8],
    ),
    "CooLayout(nnz=2, is_sorted=False)": (
        lambda: hurray.CooLayout(2),
        0x06,
        "coo",
        2,
        False,
        [3, 3],
    ),
    "CsrLayout(nnz=4)": (lambda: hurray.CsrLayout(4), 0x07, "csr", 3, False, [3, 3]),
    "CscLayout(nnz=4)": (lambda: hurray.CscLayout(4), 0x08, "csc", 3, False, [3, 3]),
    "CsfLayout(nnz=5, mode_order=(0, 1, 2))": (
        lambda: hurray.CsfLayout(5, [0, 1, 2]),
        0x09,
        "csf",
        7,
        False,
        [2, 3, 4],
    ),
    "BlockPagedLayout(page_size=16, num_pages=64, paged_axis=0, num_seqs=2, kv_role='key', "
    "layer_index=None, block_table_index_type='uint32')": (
        lambda: hurray.BlockPagedLayout(16, 64, 0, 2),
        0x0A,
        "block_paged",
        3,
        False,
        [64, 2, 8],
    ),
    "CompositeLayout(composition_rule='group', member_count=2)": (
        lambda: hurray.CompositeLayout("group", 2),
        0x0B,
        "composite",
        0,
        False,
        [3, None],
    ),
    "PrivateExtensionLayout(tag=0xF0, extension_layout_id=7, extension_data=1 bytes)": (
        lambda: hurray.PrivateExtensionLayout(0xF0, 7, b"\x01"),
        0xF0,
        "extension",
        None,
        False,
        [],
    ),
    "UnknownLayout(tag=0x0C, raw_bytes=0 bytes)": (
        lambda: hurray.UnknownLayout(0x0C),
        0x0C,
        "extension",
        None,
        False,
        [1],
    ),
}
MAKERS = {text: row[0] for text, row in LAYOUTS.items()}
IDS = [text.partition("(")[0] for text in LAYOUTS]
every_layout = pytest.mark.parametrize("make", MAKERS.values(), ids=IDS)
CLASSES = [getattr(hurray, name) for name in IDS]


# ---- what all have in common


@pytest.mark.parametrize(
    ("text", "make", "tag", "name", "buffer_count", "is_dense"),
    [(text, *row[:5]) for text, row in LAYOUTS.items()],
    ids=IDS,
)
def test_common_members(text, make, tag, name, buffer_count, is_dense):
    layout = make()
    assert isinstance(layout, hurray.Layout)
    assert layout.tag == tag
    assert layout.name == name
    assert layout.buffer_count == buffer_count
    assert layout.is_dense is is_dense
    assert layout.is_virtual is (name == "composite")
    assert repr(layout) == text
    assert str(layout) == text


def test_the_concrete_classes_are_the_14():
    assert {cls.__name__ for cls in hurray.Layout.__subclasses__()} == set(IDS)
    assert all(cls.__base__ is hurray.Layout for cls in CLASSES)


def test_the_base_is_not_constructible():
    with pytest.raises(TypeError):
        hurray.Layout()
    with pytest.raises(TypeError):
        hurray.Layout(0x01)


def test_the_base_can_be_subclassed_but_not_filled():
    class Mine(hurray.Layout):
        def __new__(cls):
            return object.__new__(cls)

    class Other(hurray.Layout):
        pass

    for cls in (Mine, Other):
        with pytest.raises(TypeError):
            cls()


@pytest.mark.parametrize("text", [t for t in LAYOUTS if "bytes" not in t])
def test_repr_evaluates_to_an_equal_object(text):
    assert eval(text, vars(hurray)) == MAKERS[text]()


def test_equality_is_by_value_and_hashes_agree():
    for (i, make_a), (j, make_b) in itertools.product(enumerate(MAKERS.values()), repeat=2):
        a, b = make_a(), make_b()
        assert (a == b) is (i == j)
        assert (a != b) is (i != j)
        if i == j:
            assert hash(a) == hash(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (hurray.StridedLayout([4, 1]), hurray.StridedLayout([1, 4])),
        (hurray.StridedLayout([4, 1]), hurray.StridedLayout([4])),
        (hurray.TiledLayout([4]), hurray.TiledLayout([2])),
        (hurray.TiledLayout([4]), hurray.TiledLayout([4], "col_major")),
        (hurray.TiledLayout([4]), hurray.TiledLayout([4], inner_layout="col_major")),
        (
            hurray.TiledLayout([4], "strided", outer_strides=[1]),
            hurray.TiledLayout([4], "strided", outer_strides=[2]),
        ),
        (nested_tiles(3), nested_tiles(2)),
        (
            hurray.TiledLayout([4], inner_layout="tiled", inner_tiled=hurray.TiledLayout([2])),
            hurray.TiledLayout(
                [4], inner_layout="tiled", inner_tiled=hurray.TiledLayout([2], "col_major")
            ),
        ),
        (hurray.MortonLayout([3]), hurray.MortonLayout([2])),
        (hurray.HilbertLayout(3, 2), hurray.HilbertLayout(2, 2)),
        (hurray.HilbertLayout(3, 2), hurray.HilbertLayout(3, 3)),
        (hurray.CooLayout(1), hurray.CooLayout(2)),
        (hurray.CooLayout(1), hurray.CooLayout(1, True)),
        (hurray.CsrLayout(1), hurray.CsrLayout(2)),
        (hurray.CsrLayout(1), hurray.CscLayout(1)),
        (hurray.CsfLayout(1, [0, 1, 2]), hurray.CsfLayout(1, [0, 2, 1])),
        (hurray.BlockPagedLayout(1, 1, 0, 1), hurray.BlockPagedLayout(2, 1, 0, 1)),
        (hurray.BlockPagedLayout(1, 1, 0, 1), hurray.BlockPagedLayout(1, 1, 0, 1, "value")),
        (
            hurray.BlockPagedLayout(1, 1, 0, 1, layer_index=0),
            hurray.BlockPagedLayout(1, 1, 0, 1, layer_index=None),
        ),
        (
            hurray.BlockPagedLayout(1, 1, 0, 1),
            hurray.BlockPagedLayout(1, 1, 0, 1, block_table_index_type="uint64"),
        ),
        (hurray.CompositeLayout("group", 1), hurray.CompositeLayout("partition", 1)),
        (
            hurray.CompositeLayout("overlay", 1, "add"),
            hurray.CompositeLayout("overlay", 1, "replace"),
        ),
        (hurray.PrivateExtensionLayout(0xF0, 7), hurray.PrivateExtensionLayout(0xF1, 7)),
        (hurray.PrivateExtensionLayout(0xF0, 7), hurray.PrivateExtensionLayout(0xF0, 8)),
        (hurray.PrivateExtensionLayout(0xF0, 7), hurray.PrivateExtensionLayout(0xF0, 7, b"\0")),
        (hurray.UnknownLayout(0x0C), hurray.UnknownLayout(0x0D)),
        (hurray.UnknownLayout(0x0C), hurray.UnknownLayout(0x0C, b"\0")),
    ],
    ids=repr,
)
def test_every_parameter_counts_in_equality(a, b):
    assert a != b
    assert b != a
    assert not a == b


@every_layout
def test_a_layout_equals_its_name(make):
    layout = make()
    name = layout.name
    assert layout == name
    assert name == layout
    assert not layout != name
    assert not name != layout
    assert hash(layout) == hash(name)


@every_layout
@pytest.mark.parametrize(
    "change",
    [str.upper, str.title, lambda name: name + " ", lambda name: name[:-1], lambda name: "", repr],
    ids=["upper", "title", "longer", "shorter", "empty", "quoted"],
)
def test_a_layout_equals_no_other_text(make, change):
    layout = make()
    other = change(layout.name)
    assert layout != other
    assert other != layout
    assert not layout == other
    assert not other == layout


def test_a_subclass_of_str_is_text_too():
    class Name(str):
        pass

    assert hurray.CooLayout(2) == Name("coo")
    assert Name("coo") == hurray.CooLayout(2)
    assert hurray.CooLayout(2) != Name("csr")


@every_layout
@pytest.mark.parametrize("other", [None, 1, b"coo", ("coo",), object()], ids=repr)
def test_a_layout_equals_no_other_kind_of_object(make, other):
    layout = make()
    assert layout != other
    assert layout.__eq__(other) is NotImplemented
    assert layout.__ne__(other) is NotImplemented


@every_layout
@pytest.mark.parametrize(
    "compare",
    [lambda a, b: a < b, lambda a, b: a <= b, lambda a, b: a > b, lambda a, b: a >= b],
    ids=["<", "<=", ">", ">="],
)
def test_layouts_have_no_order(make, compare):
    with pytest.raises(TypeError):
        compare(make(), make())
    with pytest.raises(TypeError):
        compare(make(), make().name)


@every_layout
def test_copies_are_equal(make):
    for twin in copies(make()):
        assert twin == make()
        assert type(twin) is type(make())


def test_copies_of_nested_tiles_are_equal():
    layout = nested_tiles(8)
    for twin in copies(layout):
        assert twin == layout


@every_layout
def test_unknown_arguments_are_type_errors(make):
    with pytest.raises(TypeError):
        type(make())(unknown=1)


def test_a_tensor_makes_its_layout_anew():
    tensor = hurray.Tensor(bytes(16), hurray.float32, [4], layout=hurray.StridedLayout([1]))
    assert tensor.layout == tensor.layout
    assert tensor.layout is not tensor.layout
    assert isinstance(tensor.layout, hurray.StridedLayout)
    assert tensor.layout == "strided"


# ---- strided


def test_strides_are_any_64_bit_integers():
    strides = (INT64_MIN, -1, 0, 1, INT64_MAX)
    layout = hurray.StridedLayout(strides)
    assert layout.strides == strides
    assert hurray.StridedLayout(strides=range(3)).strides == (0, 1, 2)
    assert hurray.StridedLayout([]).strides == ()


@pytest.mark.parametrize("stride", [INT64_MIN - 1, INT64_MAX + 1, 2**80])
def test_strides_beyond_64_bits_overflow(stride):
    with pytest.raises(OverflowError):
        hurray.StridedLayout([stride])


NOT_INTEGER_SEQUENCES = pytest.mark.parametrize(
    "wrong",
    [4, "41", b"41", {4}, iter([4]), None, [4.0], [None], ["4"], {4: 1}],
    ids=[
        "int",
        "str",
        "bytes",
        "set",
        "iterator",
        "None",
        "float",
        "None-entry",
        "str-entry",
        "dict",
    ],
)


@NOT_INTEGER_SEQUENCES
def test_sequences_are_sequences_of_integers(wrong):
    for make in (
        hurray.StridedLayout,
        hurray.TiledLayout,
        hurray.MortonLayout,
        lambda value: hurray.CsfLayout(1, value),
    ):
        with pytest.raises(TypeError):
            make(wrong)
    if wrong is not None:
        with pytest.raises(TypeError):
            hurray.TiledLayout([4], "strided", outer_strides=wrong)
        with pytest.raises(TypeError):
            hurray.TiledLayout([4], inner_layout="strided", inner_strides=wrong)


def test_numpy_arrays_are_sequences():
    numpy = pytest.importorskip("numpy")
    assert hurray.StridedLayout(numpy.array([4, -1])) == hurray.StridedLayout([4, -1])
    assert hurray.TiledLayout(numpy.array([4, 2], numpy.uint64)) == hurray.TiledLayout([4, 2])
    with pytest.raises(TypeError):
        hurray.StridedLayout(numpy.array([4.0]))


# ---- tiled


def test_the_defaults_of_tiles():
    layout = hurray.TiledLayout([4, 2])
    assert layout.tile_shape == (4, 2)
    assert (layout.outer_layout, layout.inner_layout) == ("row_major", "row_major")
    assert (layout.outer_strides, layout.inner_strides, layout.inner_tiled) == (None, None, None)


def test_tiles_may_have_strides():
    layout = hurray.TiledLayout(
        [4, 2], "strided", "strided", outer_strides=[3, 1], inner_strides=(-1, 0)
    )
    assert layout.outer_strides == (3, 1)
    assert layout.inner_strides == (-1, 0)
    assert layout.inner_tiled is None


def test_tiles_may_be_nested():
    inner = hurray.TiledLayout([2, 2], "col_major")
    layout = hurray.TiledLayout([4, 4], inner_layout="tiled", inner_tiled=inner)
    assert layout.inner_layout == "tiled"
    assert layout.inner_tiled == inner
    assert isinstance(layout.inner_tiled, hurray.TiledLayout)


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        (
            hurray.TiledLayout([4], "strided", outer_strides=[2]),
            "TiledLayout(tile_shape=(4,), outer_layout='strided', inner_layout='row_major', "
            "outer_strides=(2,))",
        ),
        (
            hurray.TiledLayout([4], "strided", "strided", [2], [-1]),
            "TiledLayout(tile_shape=(4,), outer_layout='strided', inner_layout='strided', "
            "outer_strides=(2,), inner_strides=(-1,))",
        ),
        (
            nested_tiles(2),
            "TiledLayout(tile_shape=(4,), outer_layout='row_major', inner_layout='tiled', "
            "inner_tiled=TiledLayout(tile_shape=(2,), outer_layout='row_major', "
            "inner_layout='row_major'))",
        ),
    ],
    ids=["outer-strides", "both-strides", "nested"],
)
def test_the_repr_of_tiles_shows_what_is_there(layout, text):
    assert repr(layout) == text
    assert eval(text, vars(hurray)) == layout


def test_the_repr_of_tiles_ends_below_four_levels():
    assert repr(nested_tiles(4)).count("TiledLayout(") == 4
    assert "inner_tiled=..." not in repr(nested_tiles(4))
    assert eval(repr(nested_tiles(4)), vars(hurray)) == nested_tiles(4)
    for levels in (5, 8):
        text = repr(nested_tiles(levels))
        assert text.count("TiledLayout(") == 4
        assert text.endswith("inner_layout='tiled', inner_tiled=...))))")


@pytest.mark.parametrize("name", ["", "ROW_MAJOR", "morton", "c", "tiled "])
def test_unknown_orders_are_value_errors(name):
    with pytest.raises(ValueError, match="row_major"):
        hurray.TiledLayout([4], name)
    with pytest.raises(ValueError, match="row_major"):
        hurray.TiledLayout([4], inner_layout=name)


@pytest.mark.parametrize("wrong", [None, 1, b"row_major", hurray.RowMajorLayout()], ids=repr)
def test_orders_are_text(wrong):
    with pytest.raises(TypeError):
        hurray.TiledLayout([4], wrong)
    with pytest.raises(TypeError):
        hurray.TiledLayout([4], inner_layout=wrong)


@pytest.mark.parametrize("wrong", [1, "tiled", [2], hurray.RowMajorLayout()], ids=repr)
def test_an_inner_tile_is_a_tiled_layout(wrong):
    with pytest.raises(TypeError, match="inner_tiled"):
        hurray.TiledLayout([4], inner_layout="tiled", inner_tiled=wrong)


@pytest.mark.parametrize(
    "kwargs",
    [
        pytest.param({"tile_shape": []}, id="empty"),
        pytest.param({"tile_shape": [0]}, id="zero"),
        pytest.param({"tile_shape": [4, 0, 4]}, id="one-zero"),
        pytest.param(
            {"tile_shape": [4], "outer_layout": "tiled", "inner_tiled": hurray.TiledLayout([2])},
            id="outer-tiled",
        ),
        pytest.param({"tile_shape": [4], "outer_layout": "strided"}, id="no-outer-strides"),
        pytest.param({"tile_shape": [4], "outer_strides": [1]}, id="needless-outer-strides"),
        pytest.param({"tile_shape": [4], "inner_layout": "strided"}, id="no-inner-strides"),
        pytest.param({"tile_shape": [4], "inner_strides": [1]}, id="needless-inner-strides"),
        pytest.param({"tile_shape": [4], "inner_layout": "tiled"}, id="no-inner-tile"),
        pytest.param(
            {"tile_shape": [4], "inner_tiled": hurray.TiledLayout([2])}, id="needless-inner-tile"
        ),
        pytest.param(
            {"tile_shape": [4], "outer_layout": "strided", "outer_strides": [1, 1]},
            id="outer-strides-too-long",
        ),
        pytest.param(
            {"tile_shape": [4, 4], "inner_layout": "strided", "inner_strides": [1]},
            id="inner-strides-too-short",
        ),
        pytest.param(
            {"tile_shape": [4], "outer_layout": "strided", "outer_strides": []},
            id="outer-strides-empty",
        ),
        pytest.param(
            {"tile_shape": [6], "inner_layout": "tiled", "inner_tiled": hurray.TiledLayout([4])},
            id="inner-tile-does-not-divide",
        ),
        pytest.param(
            {"tile_shape": [8], "inner_layout": "tiled", "inner_tiled": nested_tiles(8)},
            id="nine-levels",
        ),
    ],
)
def test_contradictory_tiles_are_rejected(kwargs):
    with pytest.raises(INVALID):
        hurray.TiledLayout(**kwargs)


def test_eight_levels_are_the_most():
    assert nested_tiles(8).tile_shape == (256,)
    with pytest.raises(INVALID, match="8"):
        hurray.TiledLayout([512], inner_layout="tiled", inner_tiled=nested_tiles(8))


@pytest.mark.parametrize("size", [-1, U64_MAX + 1])
def test_tile_sizes_beyond_64_bits_overflow(size):
    with pytest.raises(OverflowError):
        hurray.TiledLayout([size])


# ---- Morton, Hilbert


@pytest.mark.parametrize(
    "bits", [[], [0], [3, 0], [32, 32], [64], [U32_MAX, 2], [1] * 64, [U32_MAX] * 2], ids=str
)
def test_impossible_morton_bits_are_rejected(bits):
    with pytest.raises(INVALID, match="morton"):
        hurray.MortonLayout(bits)


@pytest.mark.parametrize("bits", [[1], [63], [1, 62], [21, 21, 21], [1] * 63], ids=str)
def test_morton_bits_sum_up_to_63(bits):
    assert hurray.MortonLayout(morton_bits=bits).morton_bits == tuple(bits)


@pytest.mark.parametrize("bits", [-1, U32_MAX + 1])
def test_morton_bits_are_32_bit(bits):
    with pytest.raises(OverflowError):
        hurray.MortonLayout([bits])


@pytest.mark.parametrize(
    ("order", "rank"),
    [(0, 2), (3, 0), (3, 1), (32, 2), (2, 32), (U32_MAX, U32_MAX), (2**31, 2), (1, 64)],
)
def test_impossible_hilbert_curves_are_rejected(order, rank):
    with pytest.raises(INVALID, match="hilbert"):
        hurray.HilbertLayout(order, rank)


@pytest.mark.parametrize(("order", "rank"), [(1, 2), (31, 2), (1, 63), (21, 3)])
def test_hilbert_curves_have_up_to_63_bits(order, rank):
    layout = hurray.HilbertLayout(hilbert_order=order, hilbert_rank=rank)
    assert (layout.hilbert_order, layout.hilbert_rank) == (order, rank)


@pytest.mark.parametrize("wrong", [-1, U32_MAX + 1])
def test_hilbert_parameters_are_32_bit(wrong):
    with pytest.raises(OverflowError):
        hurray.HilbertLayout(wrong, 2)
    with pytest.raises(OverflowError):
        hurray.HilbertLayout(1, wrong)


# ---- sparse


@pytest.mark.parametrize(
    "make",
    [
        hurray.CooLayout,
        hurray.CsrLayout,
        hurray.CscLayout,
        lambda nnz: hurray.CsfLayout(nnz, [0, 1, 2]),
    ],
    ids=["coo", "csr", "csc", "csf"],
)
def test_nnz_is_a_64_bit_count(make):
    for nnz in (0, 1, U64_MAX):
        assert make(nnz).nnz == nnz
    for nnz in (-1, U64_MAX + 1):
        with pytest.raises(OverflowError):
            make(nnz)
    for nnz in (1.0, "1", None):
        with pytest.raises(TypeError):
            make(nnz)


def test_coo_may_be_sorted():
    layout = hurray.CooLayout(nnz=2, is_sorted=True)
    assert layout.is_sorted is True
    assert hurray.CooLayout(2).is_sorted is False
    assert repr(layout) == "CooLayout(nnz=2, is_sorted=True)"
    for wrong in (1, 0, None, "yes"):
        with pytest.raises(TypeError):
            hurray.CooLayout(2, wrong)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [], [0], [5, 5, 5], [0] * 64], ids=str)
def test_mode_orders_are_checked_against_a_shape_alone(order):
    layout = hurray.CsfLayout(5, order)
    assert layout.mode_order == tuple(order)
    assert layout.buffer_count == 2 * len(order) + 1


@pytest.mark.parametrize("mode", [-1, U32_MAX + 1])
def test_modes_are_32_bit(mode):
    with pytest.raises(OverflowError):
        hurray.CsfLayout(5, [mode, 1, 2])


# ---- block-paged


@pytest.fixture
def paged():
    return hurray.BlockPagedLayout(page_size=4, num_pages=6, paged_axis=0, num_seqs=2)


def test_the_defaults_of_pages(paged):
    assert (paged.page_size, paged.num_pages, paged.paged_axis, paged.num_seqs) == (4, 6, 0, 2)
    assert paged.kv_role == "key"
    assert paged.layer_index is None
    assert paged.block_table_index_type == "uint32"


@pytest.mark.parametrize("role", ["key", "value", "fused"])
@pytest.mark.parametrize("index_type", ["uint32", "uint64"])
@pytest.mark.parametrize("layer", [None, 0, 7, U32_MAX - 1])
def test_pages_keep_what_they_are_given(role, index_type, layer):
    layout = hurray.BlockPagedLayout(U32_MAX, U64_MAX, U32_MAX, U32_MAX, role, layer, index_type)
    assert (layout.kv_role, layout.layer_index) == (role, layer)
    assert layout.block_table_index_type == index_type
    assert (layout.page_size, layout.num_pages) == (U32_MAX, U64_MAX)
    assert (layout.paged_axis, layout.num_seqs) == (U32_MAX, U32_MAX)
    assert eval(repr(layout), vars(hurray)) == layout


@pytest.mark.parametrize("role", ["", "Key", "keys", "k"])
def test_unknown_roles_are_value_errors(role):
    with pytest.raises(ValueError, match="fused"):
        hurray.BlockPagedLayout(4, 6, 0, 2, role)


@pytest.mark.parametrize("index_type", ["", "int32", "UINT32", "u32"])
def test_unknown_index_types_are_value_errors(index_type):
    with pytest.raises(ValueError, match="uint64"):
        hurray.BlockPagedLayout(4, 6, 0, 2, block_table_index_type=index_type)


@pytest.mark.parametrize("wrong", [None, 1, b"key", hurray.uint32], ids=repr)
def test_roles_and_index_types_are_text(wrong):
    with pytest.raises(TypeError):
        hurray.BlockPagedLayout(4, 6, 0, 2, wrong)
    with pytest.raises(TypeError):
        hurray.BlockPagedLayout(4, 6, 0, 2, block_table_index_type=wrong)


def test_the_reserved_layer_index_is_rejected():
    with pytest.raises(INVALID, match="layer_index"):
        hurray.BlockPagedLayout(4, 6, 0, 2, layer_index=U32_MAX)


@pytest.mark.parametrize(
    ("name", "largest"),
    [
        ("page_size", U32_MAX),
        ("num_pages", U64_MAX),
        ("paged_axis", U32_MAX),
        ("num_seqs", U32_MAX),
        ("layer_index", U32_MAX),
    ],
)
def test_page_parameters_have_their_range(name, largest):
    arguments = {"page_size": 4, "num_pages": 6, "paged_axis": 0, "num_seqs": 2}
    for value in (-1, largest + 1):
        with pytest.raises(OverflowError):
            hurray.BlockPagedLayout(**{**arguments, name: value})
    with pytest.raises(TypeError):
        hurray.BlockPagedLayout(**{**arguments, name: 1.0})


@pytest.mark.parametrize(
    ("seq_ptr", "block_table"),
    [([0, 3, 4], [3, 0, 3, 5]), ([0, 0, 0], []), ((0, 0, 2), range(2)), ([0, 1, 1], (5,))],
    ids=["shared-pages", "empty", "first-empty", "last-empty"],
)
@pytest.mark.parametrize("index_type", ["uint32", "uint64"])
def test_sound_index_buffers_are_accepted(seq_ptr, block_table, index_type):
    layout = hurray.BlockPagedLayout(4, 6, 0, 2, block_table_index_type=index_type)
    assert layout.validate_index_buffers(seq_ptr, block_table) is None
    assert layout.validate_index_buffers(block_table=block_table, seq_ptr=seq_ptr) is None


def test_no_sequences_need_one_pointer():
    layout = hurray.BlockPagedLayout(4, 6, 0, 0)
    assert layout.validate_index_buffers([0], []) is None


@pytest.mark.parametrize(
    ("seq_ptr", "block_table", "message"),
    [
        pytest.param([], [], "seq_ptr", id="no-pointers"),
        pytest.param([0, 4], [0, 1, 2, 3], "seq_ptr", id="too-few-pointers"),
        pytest.param([0, 1, 2, 3], [0, 1, 2], "seq_ptr", id="too-many-pointers"),
        pytest.param([1, 2, 3], [0, 1, 2], "seq_ptr", id="first-not-0"),
        pytest.param([0, 3, 2], [0, 1], "seq_ptr", id="decreasing"),
        pytest.param([0, 1, 2], [0, 1, 2], "block_table", id="last-too-small"),
        pytest.param([0, 1, 3], [0, 1], "block_table", id="last-too-large"),
        pytest.param([0, 1, 2], [0, 6], "block_table", id="page-out-of-range"),
        pytest.param([0, 1, 2], [U32_MAX, 0], "block_table", id="page-far-out-of-range"),
        pytest.param([0, U64_MAX, 0], [], "seq_ptr", id="wrapping"),
    ],
)
def test_unsound_index_buffers_are_rejected(paged, seq_ptr, block_table, message):
    with pytest.raises(INVALID, match=message):
        paged.validate_index_buffers(seq_ptr, block_table)


@NOT_INTEGER_SEQUENCES
def test_index_buffers_are_sequences_of_integers(paged, wrong):
    with pytest.raises(TypeError):
        paged.validate_index_buffers(wrong, [])
    with pytest.raises(TypeError):
        paged.validate_index_buffers([0, 0, 0], wrong)


@pytest.mark.parametrize("entry", [-1, U64_MAX + 1])
def test_index_buffers_hold_unsigned_integers(paged, entry):
    with pytest.raises(OverflowError):
        paged.validate_index_buffers([0, 1, entry], [0])
    with pytest.raises(OverflowError):
        paged.validate_index_buffers([0, 1, 1], [entry])


@pytest.mark.parametrize(
    "scheme",
    [
        hurray.PerTensorAffine(0.5, 0),
        hurray.PerChannelAffine.symmetric(1, 3),
        hurray.PerChannelAffine.asymmetric(2, 3, 4),
        hurray.PerBlockAffine.symmetric(0, 4, 3, hurray.float32),
        hurray.NF4(0, 64, 3),
        hurray.NF4(1, 8, 3),
        hurray.MXFP(2, 32, 3),
    ],
    ids=repr,
)
def test_compatible_schemes_are_accepted(paged, scheme):
    assert paged.validate_quantization_compatibility(scheme) is None
    assert paged.validate_quantization_compatibility(scheme=scheme) is None


@pytest.mark.parametrize(
    "scheme",
    [
        hurray.PerChannelAffine.symmetric(0, 3),
        hurray.PerChannelAffine.asymmetric(0, 3, 4),
        hurray.PerBlockAffine.symmetric(1, 4, 3, hurray.float32),
        hurray.PerBlockAffine.symmetric(0, 8, 3, hurray.float32),
        hurray.PerBlockAffine.asymmetric(0, 2, 3, 4, hurray.float16),
    ],
    ids=repr,
)
def test_incompatible_schemes_are_rejected(paged, scheme):
    with pytest.raises(INVALID, match="block_paged"):
        paged.validate_quantization_compatibility(scheme)


@pytest.mark.parametrize("wrong", [None, 1, "NF4", hurray.NF4, hurray.RowMajorLayout()], ids=repr)
def test_what_is_no_scheme_is_rejected(paged, wrong):
    with pytest.raises(INVALID) as caught:
        paged.validate_quantization_compatibility(wrong)
    for name in ("PerTensorAffine", "PerChannelAffine", "PerBlockAffine", "NF4", "MXFP"):
        assert name in str(caught.value)


# ---- composite heads


@pytest.mark.parametrize("rule", ["partition", "group"])
def test_composites_without_an_operation(rule):
    layout = hurray.CompositeLayout(composition_rule=rule, member_count=2)
    assert (layout.composition_rule, layout.member_count, layout.combine_op) == (rule, 2, None)
    assert hurray.CompositeLayout(rule, 2, None) == layout
    with pytest.raises(ValueError, match="combine_op"):
        hurray.CompositeLayout(rule, 2, "add")


@pytest.mark.parametrize("op", ["replace", "add"])
def test_overlays_have_an_operation(op):
    layout = hurray.CompositeLayout("overlay", 3, combine_op=op)
    assert layout.combine_op == op
    text = f"CompositeLayout(composition_rule='overlay', member_count=3, combine_op='{op}')"
    assert repr(layout) == text
    assert eval(text, vars(hurray)) == layout


@pytest.mark.parametrize(
    ("rule", "op", "message"),
    [
        ("", None, "partition"),
        ("Group", None, "partition"),
        ("union", "add", "partition"),
        ("overlay", None, "combine_op"),
        ("overlay", "multiply", "replace"),
        ("overlay", "", "replace"),
        ("group", "replace", "combine_op"),
        ("group", "multiply", "replace|combine_op"),
    ],
)
def test_unknown_rules_and_operations_are_value_errors(rule, op, message):
    with pytest.raises(ValueError, match=message):
        hurray.CompositeLayout(rule, 2, op)


@pytest.mark.parametrize("wrong", [1, b"group"], ids=repr)
def test_rules_and_operations_are_text(wrong):
    with pytest.raises(TypeError):
        hurray.CompositeLayout(wrong, 2)
    with pytest.raises(TypeError):
        hurray.CompositeLayout("overlay", 2, wrong)


def test_member_counts_are_32_bit_and_the_last_is_reserved():
    assert hurray.CompositeLayout("group", U32_MAX - 1).member_count == U32_MAX - 1
    assert hurray.CompositeLayout("group", 0).member_count == 0
    with pytest.raises(INVALID, match="member_count"):
        hurray.CompositeLayout("group", U32_MAX)
    for count in (-1, U32_MAX + 1):
        with pytest.raises(OverflowError):
            hurray.CompositeLayout("group", count)


def test_a_tensor_cannot_be_a_composite_head():
    with pytest.raises(hurray.UnsupportedError, match=r"owns no buffers.*hurray\.Composite"):
        hurray.Tensor(bytes(4), hurray.float32, [1], layout=hurray.CompositeLayout("group", 0))


# ---- private and unknown layouts


@pytest.mark.parametrize("tag", range(0xF0, 0xFF), ids=hex)
def test_private_layouts_carry_an_id_and_bytes(tag):
    layout = hurray.PrivateExtensionLayout(tag, extension_layout_id=U64_MAX, extension_data=b"\0\1")
    assert (layout.tag, layout.extension_layout_id, layout.extension_data) == (
        tag,
        U64_MAX,
        b"\0\1",
    )
    assert repr(layout) == (
        f"PrivateExtensionLayout(tag=0x{tag:02X}, extension_layout_id={U64_MAX}, "
        "extension_data=2 bytes)"
    )
    assert hurray.PrivateExtensionLayout(tag, 7).extension_data == b""
    assert hurray.PrivateExtensionLayout(tag, 7, None) == hurray.PrivateExtensionLayout(tag, 7, b"")


@pytest.mark.parametrize("tag", [*range(0xF0), 0xFF], ids=hex)
def test_private_layouts_have_private_tags(tag):
    with pytest.raises(INVALID, match="0xF0"):
        hurray.PrivateExtensionLayout(tag, 7)


def test_private_parameters_have_their_range():
    for tag in (-1, 256):
        with pytest.raises(OverflowError):
            hurray.PrivateExtensionLayout(tag, 7)
    for layout_id in (-1, U64_MAX + 1):
        with pytest.raises(OverflowError):
            hurray.PrivateExtensionLayout(0xF0, layout_id)


RESERVED_TAGS = [*range(0x0C, 0x40), *range(0x41, 0xF0)]


@pytest.mark.parametrize("tag", RESERVED_TAGS, ids=hex)
def test_unknown_layouts_carry_a_reserved_tag_and_bytes(tag):
    layout = hurray.UnknownLayout(tag, raw_bytes=b"\0\1\2")
    assert (layout.tag, layout.raw_bytes, layout.name) == (tag, b"\0\1\2", "extension")
    assert repr(layout) == f"UnknownLayout(tag=0x{tag:02X}, raw_bytes=3 bytes)"
    assert hurray.UnknownLayout(tag).raw_bytes == b""
    assert hurray.UnknownLayout(tag, None) == hurray.UnknownLayout(tag, b"")


@pytest.mark.parametrize(
    ("tag", "cls"),
    [
        (row[1], text.partition("(")[0])
        for text, row in LAYOUTS.items()
        if row[1] not in (0xF0, 0x0C)
    ]
    + [(tag, "PrivateExtensionLayout") for tag in range(0xF0, 0xFF)],
)
def test_a_tag_with_a_class_is_not_unknown(tag, cls):
    with pytest.raises(ValueError, match=cls):
        hurray.UnknownLayout(tag)


@pytest.mark.parametrize("tag", [0x00, 0xFF], ids=hex)
def test_invalid_tags_are_not_unknown(tag):
    with pytest.raises(INVALID):
        hurray.UnknownLayout(tag)


def test_unknown_tags_are_bytes():
    for tag in (-1, 256):
        with pytest.raises(OverflowError):
            hurray.UnknownLayout(tag)


@pytest.mark.parametrize("wrong", ["text", 3, [1]], ids=repr)
def test_payloads_are_bytes(wrong):
    with pytest.raises(TypeError):
        hurray.UnknownLayout(0x0C, wrong)
    with pytest.raises(TypeError):
        hurray.PrivateExtensionLayout(0xF0, 7, wrong)


@pytest.mark.parametrize("kind", [bytearray, memoryview], ids=lambda kind: kind.__name__)
def test_payloads_are_copied(kind):
    source = bytearray(b"\1\2")
    unknown = hurray.UnknownLayout(0x0C, kind(source))
    private = hurray.PrivateExtensionLayout(0xF0, 7, kind(source))
    source[0] = 9
    assert unknown.raw_bytes == private.extension_data == b"\1\2"


# ---- validate_against_shape


@pytest.mark.parametrize(("make", "shape"), [(row[0], row[5]) for row in LAYOUTS.values()], ids=IDS)
def test_a_fitting_shape_is_accepted(make, shape):
    assert make().validate_against_shape(shape) is None
    assert make().validate_against_shape(shape=tuple(shape)) is None


@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        (hurray.RowMajorLayout(), []),
        (hurray.RowMajorLayout(), [None] * 64),
        (hurray.ColMajorLayout(), []),
        (hurray.StridedLayout([0, -1]), [None, 0]),
        (hurray.TiledLayout([4, 4]), [None, 3]),
        (hurray.TiledLayout([4, 4]), [0, U64_MAX - 1]),
        (nested_tiles(8), [1]),
        (hurray.MortonLayout([3, 1]), [8, 2]),
        (hurray.MortonLayout([3, 1]), [None, 0]),
        (hurray.MortonLayout([63]), [2**63]),
        (hurray.HilbertLayout(2, 3), [4, None, 4]),
        (hurray.CooLayout(2), [None]),
        (hurray.CooLayout(2), [1] * 64),
        (hurray.CsrLayout(2), [None, None]),
        (hurray.CscLayout(2), [0, 0]),
        (hurray.CsfLayout(2, [2, 0, 1]), [2, None, 4]),
        (hurray.BlockPagedLayout(1, 0, 0, 0), [0, 0, 0]),
        (hurray.BlockPagedLayout(16, 64, 0, 2), [None, 2, 8]),
        (hurray.CompositeLayout("partition", 2), []),
        (hurray.CompositeLayout("overlay", 2, "add"), [4]),
        (hurray.PrivateExtensionLayout(0xF0, 7), [None, 0]),
        (hurray.UnknownLayout(0x0C), [None]),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_shapes_at_the_edge_are_accepted(layout, shape):
    assert layout.validate_against_shape(shape) is None


@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        (hurray.StridedLayout([]), []),
        (hurray.StridedLayout([4, 1]), [4]),
        (hurray.StridedLayout([4, 1]), [4, 4, 4]),
        (hurray.TiledLayout([4, 4]), [4]),
        (hurray.TiledLayout([4, 4]), []),
        (hurray.TiledLayout([4, 4]), [4, 4, None]),
        (hurray.MortonLayout([3, 3]), [8]),
        (hurray.MortonLayout([3, 3]), [9, 8]),
        (hurray.MortonLayout([3, 3]), [None, 9]),
        (hurray.MortonLayout([63]), [2**63 + 1]),
        (hurray.HilbertLayout(3, 2), [8]),
        (hurray.HilbertLayout(3, 2), [8, 8, 8]),
        (hurray.HilbertLayout(3, 2), [8, 7]),
        (hurray.HilbertLayout(3, 2), [None, 9]),
        (hurray.HilbertLayout(3, 2), [0, 8]),
        (hurray.CooLayout(2), []),
        (hurray.CsrLayout(2), [3]),
        (hurray.CsrLayout(2), [3, 3, 3]),
        (hurray.CscLayout(2), [3]),
        (hurray.CscLayout(2), []),
        (hurray.CsfLayout(2, [0, 1]), [2, 3]),
        (hurray.CsfLayout(2, [0, 1, 2]), [2, 3]),
        (hurray.CsfLayout(2, [0, 1, 2]), [2, 3, 4, 5]),
        (hurray.CsfLayout(2, [0, 1, 1]), [2, 3, 4]),
        (hurray.CsfLayout(2, [1, 2, 3]), [2, 3, 4]),
        (hurray.CsfLayout(2, [0, 1, U32_MAX]), [2, 3, 4]),
        (hurray.BlockPagedLayout(16, 64, 0, 2), [64, 2]),
        (hurray.BlockPagedLayout(16, 64, 0, 2), [64, 2, 8, 1]),
        (hurray.BlockPagedLayout(16, 64, 1, 2), [64, 2, 8]),
        (hurray.BlockPagedLayout(0, 64, 0, 2), [64, 2, 8]),
        (hurray.CompositeLayout("partition", 2), [None]),
        (hurray.CompositeLayout("overlay", 2, "add"), [4, None]),
        (hurray.UnknownLayout(0x0C), []),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_a_shape_that_does_not_fit_is_rejected(layout, shape):
    with pytest.raises(INVALID, match=layout.name):
        layout.validate_against_shape(shape)
    if not layout.is_virtual:
        with pytest.raises(INVALID, match=layout.name):
            hurray.Tensor(bytes(64), hurray.int8, shape, layout=layout)


@every_layout
def test_what_is_no_shape_is_rejected(make):
    layout = make()
    for wrong in (4, "44", b"44", {4}, iter([4]), None, [4.0], ["4"]):
        with pytest.raises(TypeError):
            layout.validate_against_shape(wrong)
    for invalid in ([-1], [U64_MAX], [1] * 65):
        with pytest.raises(INVALID):
            layout.validate_against_shape(invalid)
    with pytest.raises(OverflowError):
        layout.validate_against_shape([U64_MAX + 1])
    with pytest.raises(TypeError):
        layout.validate_against_shape()


# ---- layout_tag_kind


@pytest.mark.parametrize(
    ("kind", "tags"),
    [
        ("named", [*range(0x01, 0x0C), 0x40]),
        ("reserved", RESERVED_TAGS),
        ("private", range(0xF0, 0xFF)),
        ("invalid", [0x00, 0xFF]),
    ],
)
def test_every_tag_has_a_kind(kind, tags):
    assert {hurray.layout_tag_kind(tag) for tag in tags} == {kind}
    assert hurray.layout_tag_kind(tag=tags[0]) == kind


@pytest.mark.parametrize("tag", [-1, 256, 2**64, -(2**64)])
def test_tags_beyond_a_byte_overflow(tag):
    with pytest.raises(OverflowError):
        hurray.layout_tag_kind(tag)


@pytest.mark.parametrize("args", [(), (1.0,), ("1",), (None,), (1, 1)], ids=repr)
def test_tags_are_single_integers(args):
    with pytest.raises(TypeError):
        hurray.layout_tag_kind(*args)


# ---- any layout

u32s, u64s = st.integers(0, U32_MAX), st.integers(0, U64_MAX)
i64s = st.integers(INT64_MIN, INT64_MAX)


@st.composite
def tiles(draw, levels):
    """A tiled layout of at most that many levels, whose inner tiles divide the outer ones."""
    kwargs = {}
    if levels > 1 and draw(st.booleans()):
        kwargs["inner_layout"] = "tiled"
        kwargs["inner_tiled"] = draw(tiles(levels - 1))
        shape = [size * draw(st.integers(1, 4)) for size in kwargs["inner_tiled"].tile_shape]
    else:
        kwargs["inner_layout"] = draw(st.sampled_from(["row_major", "col_major", "strided"]))
        shape = draw(st.lists(st.integers(1, 2**50), min_size=1, max_size=12))
    kwargs["outer_layout"] = draw(st.sampled_from(["row_major", "col_major", "strided"]))
    for side in ("outer", "inner"):
        if kwargs[f"{side}_layout"] == "strided":
            strides = st.lists(i64s, min_size=len(shape), max_size=len(shape))
            kwargs[f"{side}_strides"] = draw(strides)
    return hurray.TiledLayout(shape, **kwargs)


layouts = st.one_of(
    st.builds(hurray.RowMajorLayout),
    st.builds(hurray.ColMajorLayout),
    st.builds(hurray.StridedLayout, st.lists(i64s, max_size=12)),
    tiles(levels=4),
    st.builds(hurray.MortonLayout, st.lists(st.integers(1, 5), min_size=1, max_size=12)),
    st.builds(hurray.HilbertLayout, st.integers(1, 8), st.integers(2, 7)),
    st.builds(hurray.CooLayout, u64s, st.booleans()),
    st.builds(hurray.CsrLayout, u64s),
    st.builds(hurray.CscLayout, u64s),
    st.builds(hurray.CsfLayout, u64s, st.lists(u32s, max_size=12)),
    st.builds(
        hurray.BlockPagedLayout,
        u32s,
        u64s,
        u32s,
        u32s,
        st.sampled_from(["key", "value", "fused"]),
        st.none() | st.integers(0, U32_MAX - 1),
        st.sampled_from(["uint32", "uint64"]),
    ),
    st.builds(
        hurray.CompositeLayout, st.sampled_from(["partition", "group"]), st.integers(0, U32_MAX - 1)
    ),
    st.builds(
        hurray.CompositeLayout,
        st.just("overlay"),
        st.integers(0, U32_MAX - 1),
        st.sampled_from(["add", "replace"]),
    ),
)


@given(layouts)
def test_any_repr_evaluates_to_an_equal_object(layout):
    twin = eval(repr(layout), vars(hurray))
    assert twin == layout
    assert hash(twin) == hash(layout) == hash(layout.name)


@given(layouts, layouts)
def test_equal_layouts_are_shown_alike(a, b):
    assert (a == b) is (repr(a) == repr(b))


# ---- references, threads


@every_layout
def test_instances_leave_no_references(make):
    left = references_left(type(make()), make)
    assert left == 0


REJECTED = {
    "TiledLayout": lambda: hurray.TiledLayout([0]),
    "MortonLayout": lambda: hurray.MortonLayout([]),
    "HilbertLayout": lambda: hurray.HilbertLayout(0, 2),
    "CooLayout": lambda: hurray.CooLayout(-1),
    "CsrLayout": lambda: hurray.CsrLayout("1"),
    "BlockPagedLayout": lambda: hurray.BlockPagedLayout(4, 6, 0, 2, "keys"),
    "CompositeLayout": lambda: hurray.CompositeLayout("union", 2),
    "PrivateExtensionLayout": lambda: hurray.PrivateExtensionLayout(1, 7),
    "UnknownLayout": lambda: hurray.UnknownLayout(1),
}


@pytest.mark.parametrize(("name", "make"), REJECTED.items(), ids=REJECTED)
def test_rejected_instances_leave_no_references(name, make):
    def attempt():
        with pytest.raises((ValueError, TypeError, OverflowError)):
            make()

    left = references_left(getattr(hurray, name), attempt)
    assert left == 0


def test_nested_tiles_leave_no_references():
    left = references_left(hurray.TiledLayout, lambda: nested_tiles(8).inner_tiled.inner_tiled)
    assert left == 0


def test_threads_share_instances():
    shared = {text: make() for text, make in MAKERS.items()}
    shared[repr(nested_tiles(8))] = nested_tiles(8)

    def work():
        for text, layout in shared.items():
            assert repr(layout) == text
            assert layout == layout.name
            assert hash(layout) == hash(layout.name)
            assert layout != hurray.CsrLayout(5)

    in_threads(work, rounds=50)
