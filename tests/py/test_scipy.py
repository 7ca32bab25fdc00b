"""SciPy's sparse matrices in both directions, and sparse_coo."""

import sys

import numpy as np
import pytest
from arrays import SAME_MEMORY_TYPES, array_at
from subprocesses import run_python

import hurray

sparse = pytest.importorskip("scipy.sparse")

DENSE = np.array([[0, 7, 0, 0], [0, 0, 0, 0], [8, 0, 0, 9]], dtype=np.float32)


def with_uint64(matrix):
    matrix.indices = matrix.indices.astype(np.uint64)
    matrix.indptr = matrix.indptr.astype(np.uint64)
    return matrix


KINDS = [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.csc_array]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("dtype", SAME_MEMORY_TYPES, ids=str)
def test_matrices_go_in_and_out(kind, dtype):
    if SAME_MEMORY_TYPES[dtype] == np.float16:
        pytest.skip("SciPy has no float16 matrices")
    matrix = with_uint64(kind(DENSE.astype(SAME_MEMORY_TYPES[dtype])))
    tensor = hurray.from_scipy(matrix)
    assert tensor.layout == matrix.format
    assert tensor.nnz == 3
    assert tensor.shape == (3, 4)
    assert tensor.dtype is dtype
    back = tensor.to_scipy()
    assert back.format == matrix.format
    assert np.array_equal(back.toarray(), DENSE.astype(SAME_MEMORY_TYPES[dtype]))
    assert (back @ np.ones(4)).tolist() == [7, 0, 17]


def test_values_are_shared_with_scipy():
    tensor = hurray.from_scipy(with_uint64(sparse.csr_matrix(DENSE)))
    back = tensor.to_scipy()
    assert np.shares_memory(back.data, np.asarray(tensor.values))


def test_components_are_shared_where_aligned():
    matrix = with_uint64(sparse.csr_matrix(DENSE))
    matrix.data = array_at(64, matrix.data)
    matrix.indices = array_at(8, matrix.indices)
    matrix.indptr = array_at(64, matrix.indptr)
    tensor = hurray.from_scipy(matrix)
    assert np.shares_memory(np.asarray(tensor.values), matrix.data)
    assert not np.shares_memory(np.asarray(tensor.col_indices), matrix.indices)
    assert np.shares_memory(np.asarray(tensor.row_ptr), matrix.indptr)
    with pytest.raises(hurray.CopyRequiredError, match=r"matrix\.indices.*8-byte aligned"):
        hurray.from_scipy(matrix, copy=False)
    assert hurray.from_scipy(matrix, copy=True).owns_data


@pytest.mark.parametrize(
    ("matrix", "error", "match"),
    [
        pytest.param(sparse.coo_matrix(DENSE), hurray.UnsupportedError, "sparse_coo", id="coo"),
        pytest.param(sparse.bsr_matrix(DENSE), hurray.UnsupportedError, "bsr", id="bsr"),
        pytest.param(sparse.dia_matrix(DENSE), hurray.UnsupportedError, "dia", id="dia"),
        pytest.param(sparse.lil_matrix(DENSE), hurray.UnsupportedError, "lil", id="lil"),
        pytest.param(sparse.dok_matrix(DENSE), hurray.UnsupportedError, "dok", id="dok"),
        pytest.param(
            sparse.csr_matrix(DENSE), hurray.UnsupportedError, "astype", id="int32-indices"
        ),
        pytest.param(DENSE, TypeError, "scipy.sparse", id="array"),
        pytest.param(None, TypeError, "scipy.sparse", id="none"),
    ],
)
def test_other_things_are_refused(matrix, error, match):
    with pytest.raises(error, match=match):
        hurray.from_scipy(matrix)


def test_inconsistent_components_are_refused():
    short = with_uint64(sparse.csr_matrix(DENSE))
    short.indices = short.indices[:2]
    with pytest.raises(hurray.InvalidDescriptorError, match=r"matrix\.indices has 2"):
        hurray.from_scipy(short)
    far = with_uint64(sparse.csr_matrix(DENSE))
    far.indptr = np.array([0, 1, 1, 99], dtype=np.uint64)
    with pytest.raises(hurray.InvalidDescriptorError, match="99"):
        hurray.from_scipy(far)
    rows = with_uint64(sparse.csr_matrix(DENSE))
    rows.indptr = rows.indptr[:-1]
    with pytest.raises(hurray.InvalidDescriptorError, match=r"matrix\.indptr has 3"):
        hurray.from_scipy(rows)


def test_unpruned_room_behind_the_entries_is_left_out():
    matrix = with_uint64(sparse.csr_matrix(DENSE))
    matrix.data = np.append(matrix.data, np.float32(99))
    matrix.indices = np.append(matrix.indices, np.uint64(0))
    tensor = hurray.from_scipy(matrix)
    assert tensor.nnz == 3
    tensor.validate_contents()
    assert np.array_equal(tensor.to_scipy().toarray(), DENSE)


def csr(values, columns, pointers, shape=(2, 2), **options):
    return hurray.Tensor(
        np.array(values, np.float32),
        hurray.float32,
        list(shape),
        aux_buffers=[np.array(columns, np.uint64), np.array(pointers, np.uint64)],
        layout=hurray.CsrLayout(len(values)),
        **options,
    )


@pytest.mark.parametrize(
    ("columns", "pointers"),
    [
        pytest.param([5, 0], [0, 1, 2], id="column-outside"),
        pytest.param([0, 0], [1, 1, 2], id="first-pointer"),
        pytest.param([0, 1], [0, 2, 1], id="decreasing"),
        pytest.param([0, 1], [0, 1, 2**63], id="far-pointer"),
    ],
)
def test_broken_indices_never_reach_scipy(columns, pointers):
    with pytest.raises(hurray.InvalidDescriptorError):
        csr([1, 2], columns, pointers).to_scipy()


@pytest.mark.parametrize(
    ("tensor", "match"),
    [
        pytest.param(hurray.ones([2, 2]), "row_major", id="dense"),
        pytest.param(
            hurray.sparse_coo(np.ones(1), np.zeros((1, 2), np.uint64), [2, 2]), "coo", id="coo"
        ),
        pytest.param(csr([1], [0], [0, 1, 1], (None, 2)), "dynamic", id="dynamic"),
        pytest.param(
            csr([1], [0], [0, 1, 1], quantization=hurray.PerTensorAffine(1.0, 0)),
            "quantized",
            id="quantized",
        ),
        pytest.param(csr([1], [0], [0, 1, 1], (2, 2**63)), "extent", id="extent"),
    ],
)
def test_what_scipy_cannot_hold_is_refused(tensor, match):
    with pytest.raises(hurray.UnsupportedError, match=match):
        tensor.to_scipy()


# ---- sparse_coo


def test_components_make_a_coo_tensor():
    values = array_at(64, np.array([5.0, 7.0], np.float32))
    indices = array_at(64, np.array([[0, 0], [1, 1]], np.uint64))
    tensor = hurray.sparse_coo(values, indices, [2, 2], copy=False)
    assert tensor.layout == hurray.CooLayout(2, is_sorted=False)
    assert np.shares_memory(np.asarray(tensor.values), values)
    assert np.shares_memory(np.asarray(tensor.indices), indices)
    assert tensor.element_offset((1, 1)) == 1
    assert tensor.element_offset((0, 1)) is None


GOOD = np.array([[0, 0], [1, 1]], np.uint64)


@pytest.mark.parametrize(
    ("values", "indices", "shape", "error", "match"),
    [
        pytest.param(
            np.ones(2), GOOD[0], [2, 2], hurray.InvalidDescriptorError, "indices", id="1-d"
        ),
        pytest.param(np.ones(2), GOOD, [2], hurray.InvalidDescriptorError, "rank", id="rank"),
        pytest.param(np.ones(3), GOOD, [2, 2], hurray.InvalidDescriptorError, "values", id="count"),
        pytest.param(
            np.ones((2, 1)), GOOD, [2, 2], hurray.InvalidDescriptorError, "values", id="2-d"
        ),
        pytest.param(
            np.ones(2), GOOD, [2, -1], hurray.InvalidDescriptorError, "negative", id="negative"
        ),
        pytest.param(
            np.ones(2),
            GOOD,
            [2, None],
            hurray.InvalidDescriptorError,
            r"hurray\.sparse_coo\(\)",
            id="dynamic",
        ),
        pytest.param(
            np.ones(2),
            np.zeros((2, 0), np.uint64),
            [],
            hurray.InvalidDescriptorError,
            "rank",
            id="scalar",
        ),
        pytest.param(
            np.ones(2), GOOD.astype(int), [2, 2], hurray.UnsupportedError, "uint64", id="int64"
        ),
        pytest.param(
            np.ones(4)[::2], GOOD, [2, 2], hurray.UnsupportedError, "values", id="strided"
        ),
        pytest.param(
            np.ones(2), GOOD.T, [2, 2], hurray.UnsupportedError, "indices", id="transposed"
        ),
        pytest.param(
            np.array(["a", "b"]), GOOD, [2, 2], hurray.UnsupportedError, "values", id="text"
        ),
        pytest.param([1.0, 2.0], GOOD, [2, 2], hurray.BufferError, "values", id="list"),
        pytest.param(
            np.ones(2), [[0, 0], [1, 1]], [2, 2], hurray.BufferError, "indices", id="lists"
        ),
    ],
)
def test_components_that_do_not_fit_are_refused(values, indices, shape, error, match):
    with pytest.raises(error, match=match):
        hurray.sparse_coo(values, indices, shape)


@pytest.mark.parametrize("name", ["values", "indices"])
def test_under_aligned_components_are_refused_by_name(name):
    parts = {"values": array_at(64, np.ones(2)), "indices": array_at(64, GOOD)}
    parts[name] = array_at(8, parts[name])
    with pytest.raises(hurray.CopyRequiredError, match=f"{name}.*8-byte aligned.*64"):
        hurray.sparse_coo(**parts, shape=[2, 2], copy=False)


def test_rounds_leave_no_reference():
    values, indices = array_at(64, np.ones(2)), array_at(64, GOOD)
    matrix = with_uint64(sparse.csr_matrix(DENSE))
    before = sys.getrefcount(values), sys.getrefcount(indices), sys.getrefcount(matrix)
    for _ in range(1000):
        hurray.sparse_coo(values, indices, [2, 2])
        hurray.from_scipy(matrix)
    after = sys.getrefcount(values), sys.getrefcount(indices), sys.getrefcount(matrix)
    assert after == before


def test_an_absent_scipy_is_an_import_error():
    run_python(
        """
        import sys
        sys.modules["scipy"] = None
        sys.modules["scipy.sparse"] = None
        import hurray
        try:
            hurray.from_scipy(3)
        except ImportError as error:
            assert "scipy" in str(error)
        else:
            raise SystemExit("no error")
        """
    )
