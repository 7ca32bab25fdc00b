"""Where elements lie: the model against the numbers of the format, hurray against the model."""

import itertools
import math

import model
import pytest
from from_model import hurray_layout
from model import (
    BlockPaged,
    ColMajor,
    Compressed,
    Coo,
    Csf,
    Hilbert,
    Morton,
    RowMajor,
    Strided,
    Tiled,
    pack,
)

import hurray

# ---- packing (format, section 2.1)


@pytest.mark.parametrize(
    ("bits", "codes", "data"),
    [
        pytest.param(1, [1, 0, 1, 1, 0], "0D", id="bool"),
        pytest.param(2, [3, 1, 2], "27", id="uint2"),
        pytest.param(2, [2, 1, 3, 0, 1], "36 01", id="int2"),
        pytest.param(4, [5, 12, 3], "C5 03", id="uint4"),
        pytest.param(4, [8, 7, 15], "78 0F", id="int4"),
        pytest.param(6, [0x3F, 0, 0x15, 0x2A, 7], "3F 50 A9 07 00 00", id="6-bit"),
        pytest.param(6, [1, 2, 4, 8], "81 40 20", id="6-bit-group"),
        pytest.param(16, [0x1234, 1], "34 12 01 00", id="16-bit"),
    ],
)
def test_elements_are_packed_as_in_the_text(bits, codes, data):
    packed = pack(codes, bits)
    assert packed == bytes.fromhex(data)
    assert [model.code_at(packed, bits, o) for o in range(len(codes))] == codes
    assert len(packed) == model.packed_size(bits, len(codes))


# ---- addresses (format, section 5)

STORED_CSF = {(0, 1, 1): 5, (2, 0, 1): 6, (2, 1, 1): 7, (1, 0, 3): 8}
NESTED = Tiled((4, 4), "row_major", "tiled", inner_tiled=Tiled((2, 2), "col_major", "row_major"))

CURVE = {
    (int(cell[0]), int(cell[1])): h
    for h, cell in enumerate("00 10 11 01 02 03 13 12 22 23 33 32 31 21 20 30".split())
}

WORKED = [
    pytest.param(RowMajor(), (3, 4), {(1, 2): 6}, id="row_major"),
    pytest.param(ColMajor(), (3, 4), {(1, 2): 7}, id="col_major"),
    pytest.param(Strided((-4, 1)), (3, 4), {(2, 0): -8, (0, 3): 3, (0, 0): 0}, id="strided"),
    pytest.param(Tiled((2, 4)), (6, 8), {(3, 5): 29}, id="tiled"),
    pytest.param(NESTED, (8, 8), {(5, 6): 58}, id="tiled-nested"),
    pytest.param(Tiled((2, 3), "col_major", "col_major"), (4, 6), {(3, 4): 21}, id="tiled-columns"),
    pytest.param(Morton((2, 2)), (4, 4), {(2, 3): 14}, id="morton"),
    pytest.param(Morton((2, 2, 2)), (4, 4, 4), {(2, 1, 3): 46}, id="morton-3"),
    pytest.param(Morton((1, 3)), (2, 8), {(1, 7): 43, (1, 2): 9, (1, 3): 11}, id="morton-uneven"),
    pytest.param(
        Hilbert(2, 2),
        (4, 4),
        CURVE,
        id="hilbert",
    ),
    pytest.param(
        Hilbert(2, 3),
        (4, 4, 4),
        {
            (0, 1, 0): 1,
            (1, 1, 0): 2,
            (0, 0, 1): 7,
            (0, 0, 2): 8,
            (1, 3, 1): 27,
            (3, 0, 0): 63,
            (2, 1, 3): 50,
        },
        id="hilbert-3",
    ),
    pytest.param(Hilbert(3, 2), (8, 8), {(5, 2): 55}, id="hilbert-order-3"),
]


@pytest.mark.parametrize(("layout", "shape", "worked"), WORKED)
def test_the_model_gives_the_worked_numbers(layout, shape, worked):
    addresses = layout.addresses(shape)
    assert {index: addresses[index] for index in worked} == worked


@pytest.mark.parametrize(
    ("order", "rank"), [(1, 2), (2, 2), (3, 2), (4, 2), (1, 3), (2, 3), (2, 4)]
)
def test_neighbours_on_a_hilbert_curve_differ_by_one_step(order, rank):
    curve = Hilbert(order, rank)
    cells = [curve.cell(h) for h in range(1 << (order * rank))]
    assert len(set(cells)) == len(cells)
    for a, b in itertools.pairwise(cells):
        assert sum(abs(x - y) for x, y in zip(a, b, strict=True)) == 1


@pytest.mark.parametrize(
    ("layout", "shape", "bits", "offset", "size"),
    [
        pytest.param(Strided((-4, 1)), (3, 4), 32, 32, 48, id="strided"),
        pytest.param(Strided((-4, 1)), (3, 4), 32, 31, None, id="strided-below"),
        pytest.param(Strided((-4, 1)), (2, 3), 32, 16, 28, id="strided-small"),
        pytest.param(Tiled((4, 4)), (5, 5), 8, 0, 64, id="tiled-padding"),
        pytest.param(Morton((1, 3)), (2, 8), 8, 0, 44, id="morton-uneven"),
        pytest.param(Morton((2, 1)), (4, 2), 8, 0, 8, id="morton-decreasing"),
        pytest.param(Morton((3, 3)), (2, 2), 8, 0, 64, id="morton-all-codes"),
        pytest.param(Morton((3, 3)), (0, 2), 8, 5, 5, id="nothing"),
    ],
)
def test_the_model_gives_the_worked_sizes(layout, shape, bits, offset, size):
    assert model.data_size(layout, shape, bits, offset) == size


def test_the_model_gives_the_worked_sparse_tensors():
    rows = {(0, 1): 7, (2, 0): 8, (2, 3): 9}
    values, columns, pointers = Compressed.buffers(rows, (3, 4), 8)
    assert list(values) == [7, 8, 9]
    assert model.read_u64s(columns) == [1, 0, 3]
    assert model.read_u64s(pointers) == [0, 1, 1, 3]
    values, indices, pointers = Compressed.buffers(rows, (3, 4), 8, major=1)
    assert list(values) == [8, 7, 9]
    assert model.read_u64s(indices) == [2, 0, 2]
    assert model.read_u64s(pointers) == [0, 1, 2, 2, 3]

    buffers = Csf.buffers(STORED_CSF, (3, 2, 4), 8, (2, 0, 1))
    assert list(buffers[0]) == [5, 6, 7, 8]
    assert [model.read_u64s(b) for b in buffers[1::2]] == [[0, 2], [0, 2, 3], [0, 1, 3, 4]]
    assert [model.read_u64s(b) for b in buffers[2::2]] == [[1, 3], [0, 2, 1], [1, 0, 1, 0]]
    positions = Csf(4, (2, 0, 1)).positions(buffers, (3, 2, 4))
    assert positions[2, 1, 1] == 2
    assert (0, 0, 1) not in positions


def test_the_model_gives_the_worked_pages():
    pages = BlockPaged(page_size=4, num_pages=6, num_seqs=2)
    index = pages.index_buffers([3, 0, 3, 5], [0, 3, 4])
    assert pages.address(0, 6, 1, 2, (11, 2, 3), *index) == 17
    assert pages.address(1, 1, 0, 1, (11, 2, 3), *index) == 127


# ---- hurray


DENSE = [
    (RowMajor(), (3, 4, 5)),
    (RowMajor(), ()),
    (RowMajor(), (2, 0, 3)),
    (ColMajor(), (3, 4, 5)),
    (Strided((5, 1)), (3, 4)),
    (Strided((1, 0, 7)), (3, 2, 2)),
    (Strided((1, 3, 12)), (3, 4, 5)),
    (Tiled((2, 4)), (6, 8)),
    (Tiled((2, 3)), (5, 7)),
    (Tiled((2, 3), "col_major", "col_major"), (4, 7)),
    (Tiled((2, 3), "strided", "col_major", outer_strides=(4, 1)), (5, 7)),
    (Tiled((2, 2), "row_major", "strided", inner_strides=(1, 3)), (3, 4)),
    (NESTED, (8, 8)),
    (NESTED, (5, 9)),
    (Tiled((9, 1, 2)), (4, 3, 2)),
    (Morton((2, 2)), (4, 4)),
    (Morton((3, 3)), (5, 6)),
    (Morton((1, 3)), (2, 8)),
    (Morton((3, 1, 2)), (7, 2, 3)),
    (Hilbert(1, 2), (2, 2)),
    (Hilbert(3, 2), (8, 8)),
    (Hilbert(2, 3), (4, 4, 4)),
    (Hilbert(1, 5), (2,) * 5),
]


@pytest.mark.parametrize(
    ("layout", "shape"),
    [pytest.param(*row, id=f"{row[0].name}-{i}") for i, row in enumerate(DENSE)],
)
def test_dense_elements_lie_where_the_model_says(layout, shape):
    data = bytes(model.data_size(layout, shape, 8))
    tensor = hurray.Tensor(data, hurray.int8, shape, layout=hurray_layout(layout))
    addresses = layout.addresses(shape) if 0 not in shape else {}
    for index in model.indices(shape):
        assert tensor.element_offset(index) == addresses[index], index


SPARSE_SHAPE = (3, 4)
STORED = {(2, 3): 4, (0, 1): 1, (2, 0): 2, (1, 3): 3}


def sparse_tensor(layout, buffers, shape):
    first, *others = buffers
    return hurray.Tensor(
        first, hurray.int8, shape, aux_buffers=others, layout=hurray_layout(layout)
    )


@pytest.mark.parametrize(
    ("layout", "buffers"),
    [
        pytest.param(Coo(4), Coo.buffers(STORED, SPARSE_SHAPE, 8), id="coo"),
        pytest.param(
            Coo(4, True),
            Coo.buffers(dict(sorted(STORED.items())), SPARSE_SHAPE, 8),
            id="coo-sorted",
        ),
        pytest.param(
            Compressed(4),
            Compressed.buffers(STORED, SPARSE_SHAPE, 8),
            id="csr",
        ),
        pytest.param(
            Compressed(4, 1),
            Compressed.buffers(STORED, SPARSE_SHAPE, 8, 1),
            id="csc",
        ),
    ],
)
def test_sparse_elements_lie_where_the_model_says(layout, buffers):
    tensor = sparse_tensor(layout, buffers, SPARSE_SHAPE)
    tensor.validate_contents()
    positions = layout.positions(buffers, SPARSE_SHAPE)
    assert positions.keys() == STORED.keys()
    for index in model.indices(SPARSE_SHAPE):
        offset = tensor.element_offset(index)
        assert offset == positions.get(index), index
        if offset is not None:
            assert model.code_at(buffers[0], 8, offset) == STORED[index]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 0, 2), (2, 1, 0)], ids=str)
def test_fibers_lie_where_the_model_says(order):
    shape, layout = (3, 2, 4), Csf(4, order)
    buffers = Csf.buffers(STORED_CSF, shape, 8, order)
    tensor = sparse_tensor(layout, buffers, shape)
    tensor.validate_contents()
    for index in model.indices(shape):
        offset = tensor.element_offset(index)
        code = None if offset is None else model.code_at(buffers[0], 8, offset)
        assert code == STORED_CSF.get(index), index


def test_an_empty_tree_stores_nothing():
    buffers = Csf.buffers({}, (3, 2, 4), 8, (2, 0, 1))
    assert [model.read_u64s(b) for b in buffers[1::2]] == [[0, 0], [0], [0]]
    tensor = sparse_tensor(Csf(0, (2, 0, 1)), buffers, (3, 2, 4))
    tensor.validate_contents()
    assert tensor.element_offset((0, 0, 0)) is None


def row_major(shape):
    return hurray.Tensor(bytes(math.prod(s or 1 for s in shape)), hurray.int8, shape)


@pytest.mark.parametrize(
    "index", [(3, 0), (0, 4), (-1, 0), (0, -1), (2**63, 0), (9**30, 0)], ids=str
)
def test_an_index_outside_is_an_index_error(index):
    with pytest.raises(IndexError):
        row_major((3, 4)).element_offset(index)


def test_nothing_can_be_indexed_in_an_empty_tensor():
    with pytest.raises(IndexError):
        row_major((0, 4)).element_offset((0, 0))


@pytest.mark.parametrize("index", [(), (0,), (0, 0, 0), 0, None, (0, "1"), (0, 1.0)], ids=str)
def test_an_index_has_one_int_for_each_dimension(index):
    with pytest.raises(TypeError):
        row_major((3, 4)).element_offset(index)


def test_a_scalar_has_one_element():
    assert row_major(()).element_offset(()) == 0


@pytest.mark.parametrize("shape", [(None, 4), (4, None)], ids=str)
def test_dynamic_shapes_have_no_addresses(shape):
    with pytest.raises(hurray.UnsupportedError):
        row_major(shape).element_offset((0, 0))


def test_pages_have_no_addresses_by_index():
    pages = BlockPaged(page_size=4, num_pages=6, num_seqs=2)
    tensor = hurray.Tensor(
        bytes(6 * 4 * 6),
        hurray.int8,
        (11, 2, 3),
        aux_buffers=pages.index_buffers([3, 0, 3, 5], [0, 3, 4]),
        layout=hurray_layout(pages),
    )
    with pytest.raises(hurray.UnsupportedError):
        tensor.element_offset((0, 0, 0))


def test_private_layouts_have_no_addresses():
    layout = hurray.PrivateExtensionLayout(0xF0, 7)
    tensor = hurray.Tensor(bytes(4), hurray.int8, (4,), layout=layout)
    with pytest.raises(hurray.UnsupportedError):
        tensor.element_offset((0,))


@pytest.mark.parametrize(
    ("pointers", "columns"),
    [
        pytest.param([0, 2**64 - 1, 2, 2], [0, 1], id="max"),
        pytest.param([0, 100, 2, 2], [0, 1], id="outside"),
        pytest.param([2, 0, 1, 2], [0, 1], id="backwards"),
        pytest.param([2**63, 2**63 + 1, 2, 2], [0, 1], id="far"),
    ],
)
def test_wild_pointers_are_not_followed(pointers, columns):
    layout = Compressed(2)
    buffers = [b"ab", model.u64s(columns), model.u64s(pointers)]
    tensor = sparse_tensor(layout, buffers, (3, 3))
    for index in model.indices((3, 3)):
        try:
            offset = tensor.element_offset(index)
        except hurray.InvalidDescriptorError:
            continue
        assert offset is None or 0 <= offset < 2
