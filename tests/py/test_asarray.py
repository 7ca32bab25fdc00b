"""asarray: every kind of source, and the truth about copies."""

import numpy as np
import pytest
from arrays import NUMPY_TYPES, array_at
from subprocesses import run_python

import hurray

ml_dtypes = pytest.importorskip("ml_dtypes")


@pytest.mark.parametrize(
    "make",
    [
        lambda: hurray.ones([2, 3]),
        lambda: hurray.Tensor(bytes(4), hurray.dtype.int4, [8]),
        lambda: hurray.sparse_coo(np.ones(1), np.zeros((1, 1), np.uint64), [2]),
    ],
)
def test_a_tensor_is_returned_as_it_is(make):
    tensor = make()
    assert hurray.asarray(tensor) is tensor
    assert hurray.asarray(tensor, copy=False) is tensor
    assert hurray.asarray(tensor, device=hurray.device.cpu) is tensor
    copied = hurray.asarray(tensor, copy=True)
    assert copied.descriptor == tensor.descriptor
    assert copied.owns_data
    for i in range(tensor.buffer_count):
        ours, theirs = np.asarray(tensor.buffer(i)), np.asarray(copied.buffer(i))
        assert not np.shares_memory(ours, theirs)
        assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("dtype", NUMPY_TYPES, ids=str)
def test_a_tensor_is_cast_through_numpy(dtype):
    if dtype is hurray.int32:
        return
    tensor = hurray.asarray([0, 1, 2], dtype=hurray.int32)
    cast = hurray.asarray(tensor, dtype=dtype)
    assert cast.dtype is dtype
    assert np.array_equal(np.asarray(cast), np.array([0, 1, 2]).astype(NUMPY_TYPES[dtype]))
    with pytest.raises(hurray.CopyRequiredError):
        hurray.asarray(tensor, dtype=dtype, copy=False)


def test_arrays_are_shared_where_they_can_be():
    aligned = array_at(64, np.arange(4.0))
    assert np.shares_memory(np.asarray(hurray.asarray(aligned, copy=False)), aligned)
    assert not np.shares_memory(np.asarray(hurray.asarray(aligned, copy=True)), aligned)
    shifted = array_at(16, np.arange(4.0))
    assert hurray.asarray(shifted).owns_data
    with pytest.raises(hurray.CopyRequiredError, match="16-byte aligned"):
        hurray.asarray(shifted, copy=False)


@pytest.mark.parametrize(
    "array",
    [
        pytest.param(np.arange(6).reshape(2, 3).T, id="transposed"),
        pytest.param(np.asfortranarray(np.arange(6).reshape(2, 3)), id="fortran"),
        pytest.param(np.arange(10)[::2], id="strided"),
        pytest.param(np.arange(4)[::-1], id="reversed"),
        pytest.param(np.arange(4, dtype=">i4"), id="big-endian"),
        pytest.param(np.broadcast_to(np.int16(3), (2, 2)), id="broadcast"),
        pytest.param(np.array([True, False]), id="bool"),
    ],
)
def test_arrays_in_another_form_are_converted(array):
    tensor = hurray.asarray(array)
    assert np.array_equal(np.asarray(tensor), array)
    assert tensor.layout == "row_major"
    with pytest.raises(hurray.CopyRequiredError):
        hurray.asarray(array, copy=False)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ([1.0, 2.0, 3.0], hurray.float64),
        ([[1, 2], [3, 4]], hurray.int64),
        ((True, False), hurray.bool),
        (3, hurray.int64),
        (2.5, hurray.float64),
        (1j, hurray.dtype.complex128),
        ([], hurray.float64),
        (np.float32(3), hurray.float32),
        (range(4), hurray.int64),
        (memoryview(b"abc"), hurray.uint8),
    ],
    ids=str,
)
def test_anything_numpy_takes_is_converted(value, dtype):
    tensor = hurray.asarray(value)
    assert tensor.dtype is dtype
    assert np.array_equal(np.asarray(tensor), np.asarray(value))


@pytest.mark.parametrize("value", [[1.0], 3, (1, 2)], ids=repr)
def test_conversions_are_copies(value):
    with pytest.raises(hurray.CopyRequiredError):
        hurray.asarray(value, copy=False)
    with pytest.raises(hurray.UnsupportedError):
        hurray.asarray(value, copy=False)


def test_hurray_comes_before_dlpack():
    class Both:
        def __hurray__(self):
            return hurray.full([4], True).__hurray__()

        def __dlpack__(self):
            raise AssertionError("not asked")

    assert hurray.asarray(Both()).dtype is hurray.bool


def test_dlpack_is_spoken():
    class Spoken:
        def __init__(self):
            self.tensor = hurray.arange(4)

        def __dlpack__(self, **keywords):
            return self.tensor.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return (1, 0)

    source = Spoken()
    tensor = hurray.asarray(source)
    assert np.shares_memory(np.asarray(tensor), np.asarray(source.tensor))
    assert hurray.asarray(source, dtype=hurray.float32).dtype is hurray.float32
    assert hurray.asarray(source, copy=True).owns_data
    with pytest.raises(hurray.CopyRequiredError):
        hurray.asarray(source, dtype=hurray.float32, copy=False)


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        pytest.param(
            {"dtype": hurray.bfloat16}, hurray.UnsupportedError, "bfloat16", id="bfloat16"
        ),
        pytest.param({"dtype": hurray.dtype.int4}, hurray.UnsupportedError, "int4", id="int4"),
        pytest.param(
            {"dtype": np.float32},
            hurray.InvalidDescriptorError,
            r"hurray\.float32",
            id="numpy-dtype",
        ),
        pytest.param(
            {"dtype": "float32"}, hurray.InvalidDescriptorError, r"hurray\.float32", id="text-dtype"
        ),
        pytest.param({"device": hurray.device.cuda}, hurray.UnsupportedError, "cuda", id="cuda"),
        pytest.param(
            {"device": "cpu"},
            hurray.InvalidDescriptorError,
            r"hurray\.device\.cpu",
            id="text-device",
        ),
        pytest.param({"copy": 1}, TypeError, "copy", id="copy"),
    ],
)
@pytest.mark.parametrize(
    "source", [[1.0], np.ones(2), hurray.ones([2])], ids=["list", "array", "tensor"]
)
def test_wrong_arguments_are_refused_whatever_the_source(source, arguments, error, match):
    with pytest.raises(error, match=match):
        hurray.asarray(source, **arguments)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(np.array([object()]), id="objects"),
        pytest.param(np.array(["a"]), id="text"),
        pytest.param(np.array(["2020-01-01"], dtype="M8[D]"), id="dates"),
        pytest.param(np.zeros(2, dtype=[("a", "i4")]), id="records"),
        pytest.param(np.zeros(2, dtype=np.longdouble), id="longdouble"),
        pytest.param(object(), id="object"),
        pytest.param("text", id="str"),
        pytest.param(None, id="none"),
        pytest.param({"a": 1}, id="dict"),
    ],
)
def test_what_has_no_equivalent_is_unsupported(value):
    with pytest.raises(hurray.UnsupportedError):
        hurray.asarray(value)


@pytest.mark.parametrize(
    ("value", "dtype", "cause"),
    [
        pytest.param([[1], [2, 3]], None, ValueError, id="ragged"),
        pytest.param(["a"], hurray.float32, ValueError, id="text"),
        pytest.param([1j], hurray.float32, TypeError, id="complex"),
        pytest.param([2**70], hurray.int8, OverflowError, id="large"),
        pytest.param(np.array(["a"]), hurray.float32, ValueError, id="array-of-text"),
        pytest.param(np.array([object()]), hurray.int8, TypeError, id="array-of-objects"),
    ],
)
def test_what_numpy_refuses_is_unsupported_for_its_reason(value, dtype, cause):
    with pytest.raises(hurray.UnsupportedError, match="NumPy") as caught:
        hurray.asarray(value, dtype=dtype)
    assert isinstance(caught.value.__cause__, cause)


def test_what_an_object_raises_itself_passes():
    class Broken:
        def __array__(self, *args, **kwargs):
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        hurray.asarray(Broken())


# ---- ml_dtypes


SAME = {
    "bfloat16": hurray.bfloat16,
    "float8_e4m3fn": hurray.dtype.float8_e4m3,
    "float8_e5m2": hurray.dtype.float8_e5m2,
    "float8_e8m0fnu": hurray.dtype.float8_e8m0,
}
PACKED = {
    "int4": hurray.dtype.int4,
    "uint4": hurray.dtype.uint4,
    "int2": hurray.dtype.int2,
    "uint2": hurray.dtype.uint2,
    "float4_e2m1fn": hurray.dtype.float4_e2m1,
    "float6_e2m3fn": hurray.dtype.float6_e2m3,
    "float6_e3m2fn": hurray.dtype.float6_e3m2,
}


@pytest.mark.parametrize("name", SAME)
def test_ml_dtypes_of_whole_bytes_are_shared(name):
    array = array_at(64, np.arange(1, 5).astype(getattr(ml_dtypes, name)))
    tensor = hurray.from_numpy(array, copy=False)
    assert tensor.dtype is SAME[name]
    back = tensor.__array__()
    assert back.dtype == array.dtype
    assert np.shares_memory(back, array)


@pytest.mark.parametrize(
    ("name", "values", "packed"),
    [
        ("int4", [-8, 7, -1], "780f"),
        ("uint4", [5, 12, 3], "c503"),
        ("int2", [-2, 1, -1, 0, 1], "3601"),
        ("uint2", [3, 1, 2], "27"),
        ("float4_e2m1fn", [0.5, 6.0, -1.0], "710a"),
        ("float6_e2m3fn", [0.125, 0.25, 0.5, 1.0], "814020"),
        ("float6_e3m2fn", [0.0625], "010000"),
    ],
)
def test_narrow_ml_dtypes_are_packed(name, values, packed):
    array = np.array(values, dtype=getattr(ml_dtypes, name))
    tensor = hurray.from_numpy(array)
    assert tensor.dtype is PACKED[name]
    assert np.asarray(tensor.buffer(0)).tobytes().hex() == packed
    with pytest.raises(hurray.CopyRequiredError):
        hurray.from_numpy(array, copy=False)


def test_without_ml_dtypes_the_error_names_it():
    run_python(
        """
        import sys
        sys.modules["ml_dtypes"] = None
        import hurray
        try:
            hurray.Tensor(bytes(4), hurray.bfloat16, [2]).__array__()
        except hurray.UnsupportedError as error:
            for word in ("ml_dtypes", "bfloat16", "to_torch"):
                assert word in str(error)
        else:
            raise SystemExit("no error")
        """
    )
