"""Every element type in every form through every route, in and out: what is shared, what is copied,
what is refused, and that the bytes are the same."""

import numpy as np
import pytest
from arrays import array_at

import hurray

ml_dtypes = pytest.importorskip("ml_dtypes")
torch = pytest.importorskip("torch")

NUMPY = {
    name: np.dtype(name)
    for name in (
        "float16 float32 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64 "
        "complex64 complex128 bool"
    ).split()
}
WHOLE_ML = {
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float8_e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
    "float8_e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "float8_e8m0": np.dtype(ml_dtypes.float8_e8m0fnu),
}
NARROW_ML = {
    "int4": np.dtype(ml_dtypes.int4),
    "uint4": np.dtype(ml_dtypes.uint4),
    "int2": np.dtype(ml_dtypes.int2),
    "uint2": np.dtype(ml_dtypes.uint2),
    "float4_e2m1": np.dtype(ml_dtypes.float4_e2m1fn),
    "float6_e2m3": np.dtype(ml_dtypes.float6_e2m3fn),
    "float6_e3m2": np.dtype(ml_dtypes.float6_e3m2fn),
}
ARRAY_TYPES = {**NUMPY, **WHOLE_ML, **NARROW_ML}
UNPACKED = {"bool", *NARROW_ML}
TORCH_LACKS = {"float8_e8m0"} - {"float8_e8m0" if hasattr(torch, "float8_e8m0fnu") else ""}

FORMS = ["0-d", "empty", "1-d", "c", "f", "negative", "broadcast", "misaligned", "read-only"]
NOT_C = {"f", "negative", "broadcast"}


def packed(codes, bits):
    """Elements of a byte each in the format's packed form, by the text of section 2.1."""
    total = 0
    for i, code in enumerate(codes):
        total |= (int(code) & ((1 << bits) - 1)) << (i * bits)
    groups = -(-len(codes) // 4) * 3 if bits == 6 else -(-len(codes) * bits // 8)
    return total.to_bytes(groups, "little")


def storage(array, name):
    """The bytes of the array's elements as the format stores them."""
    if name in UNPACKED:
        codes = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        return packed(codes, getattr(hurray.dtype, name).bit_width)
    return np.ascontiguousarray(array).tobytes()


def make_array(name, form):
    dtype = ARRAY_TYPES[name]
    # Small values that every type has, of which no two neighbours are equal.
    values = np.array([1, 0, 1, 1, 0, 1], np.float32).astype(dtype)
    if form == "0-d":
        return array_at(64, values[:1]).reshape(())
    if form == "empty":
        return np.zeros((0, 3), dtype)
    if form == "1-d":
        return array_at(64, values)
    if form == "c":
        return array_at(64, values).reshape(2, 3)
    if form == "f":
        return array_at(64, values).reshape(3, 2).T
    if form == "negative":
        return array_at(64, values)[::-1]
    if form == "broadcast":
        return np.broadcast_to(array_at(64, values)[:3], (2, 3))
    if form == "misaligned":
        return array_at(64, np.concatenate([values[:1], values]))[1:]
    array = array_at(64, values)
    array.flags.writeable = False
    return array


def outcome_in(name, form, route, copy):
    """'shared', 'copied' or the exception."""
    if route == "from_torch" and form == "negative":
        return "absent"  # torch has no such tensors
    converts = name in UNPACKED
    if form in NOT_C and form != "empty":
        if route != "asarray":
            return hurray.UnsupportedError
        converts = True
    if converts or (form == "misaligned"):
        return hurray.CopyRequiredError if copy is False else "copied"
    return "copied" if copy is True else "shared"


def ingest(route, array, name, copy):
    if route == "from_numpy":
        return hurray.from_numpy(array, copy=copy)
    if route == "asarray":
        return hurray.asarray(array, copy=copy)
    return hurray.from_dlpack(array, copy=copy)


@pytest.mark.parametrize("copy", [None, False, True])
@pytest.mark.parametrize("route", ["from_numpy", "asarray", "from_dlpack"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ARRAY_TYPES)
def test_arrays_come_in(name, form, route, copy):
    array = make_array(name, form)
    expected = outcome_in(name, form, route, copy)
    if route == "from_dlpack" and form in NOT_C:
        # NumPy itself is asked, and exports what it can: not the types of ml_dtypes.
        expected = (hurray.UnsupportedError, BufferError, RuntimeError)
    if not isinstance(expected, str):
        with pytest.raises(expected):
            ingest(route, array, name, copy)
        return
    tensor = ingest(route, array, name, copy)
    assert tensor.dtype is getattr(hurray.dtype, name)
    assert tensor.shape == array.shape
    assert np.asarray(tensor.buffer(0)).tobytes() == storage(array, name)
    if array.size == 0:
        return
    is_shared = np.shares_memory(np.asarray(tensor.buffer(0)), array)
    assert is_shared is (expected == "shared")
    assert tensor.owns_data is not is_shared
    assert tensor.is_writable is (form != "read-only" or not is_shared)
    tensor.validate_contents()


TORCH_TYPES = {
    name: getattr(
        torch, {"float8_e4m3": "float8_e4m3fn", "float8_e8m0": "float8_e8m0fnu"}.get(name, name)
    )
    for name in [*NUMPY, *WHOLE_ML]
    if name not in TORCH_LACKS
}


@pytest.mark.parametrize("copy", [None, False, True])
@pytest.mark.parametrize("route", [hurray.from_torch, hurray.from_dlpack, hurray.asarray])
@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("negative", "read-only")])
@pytest.mark.parametrize("name", TORCH_TYPES)
def test_torch_tensors_come_in(name, form, route, copy):
    array = make_array(name, form)
    raw = torch.from_numpy(np.ascontiguousarray(array).reshape(-1).view(np.uint8).copy())
    if form == "empty":
        source = torch.empty((0, 3), dtype=TORCH_TYPES[name])
    else:
        source = raw.view(TORCH_TYPES[name]).reshape(array.shape)
    if form == "f":
        source = source.t().contiguous().t()
    if form == "broadcast":
        source = source[:1].expand(2, 3)
    if form == "misaligned":
        source = torch.cat([source[:1], source])[1:] if name not in WHOLE_ML else source[1:]
    converts = name == "bool" or (source.numel() and source.data_ptr() % 64 != 0)
    if not source.is_contiguous() and route is not hurray.asarray:
        expected = hurray.UnsupportedError
    elif converts or not source.is_contiguous():
        expected = hurray.CopyRequiredError if copy is False else "copied"
    else:
        expected = "copied" if copy is True else "shared"
    if not isinstance(expected, str):
        with pytest.raises(expected):
            route(source, copy=copy)
        return
    tensor = route(source, copy=copy)
    assert tensor.dtype is getattr(hurray.dtype, name)
    assert tensor.shape == tuple(source.shape)
    if not source.numel():
        return
    codes = source.reshape(-1).view(torch.uint8).numpy()
    expected_bytes = packed(codes, 1) if name == "bool" else codes.tobytes()
    assert np.asarray(tensor.buffer(0)).tobytes() == expected_bytes
    address = np.asarray(tensor.buffer(0)).ctypes.data
    assert (address == source.data_ptr()) is (expected == "shared")


# ---- out


def make_tensor(name, form):
    """A tensor and its elements as NumPy would show them, in rows of stored bytes."""
    array = make_array(name, {"f": "c", "negative": "1-d", "broadcast": "1-d"}.get(form, form))
    dtype = getattr(hurray.dtype, name)
    content = storage(array, name)
    if form == "f":
        layout = hurray.ColMajorLayout()
        return hurray.Tensor(content, dtype, [2, 3], layout=layout), array.reshape(3, 2).T
    if form == "broadcast":
        layout = hurray.StridedLayout([0, 1])
        shown = np.broadcast_to(array[:3], (2, 3))
        return hurray.Tensor(content, dtype, [2, 3], layout=layout), shown
    if form == "negative":
        # Only a descriptor can carry the byte offset that a reversed view needs.
        width = dtype.bit_width // 8
        plain = hurray.Tensor(content, dtype, [6], layout=hurray.StridedLayout([1]))
        encoded = bytearray(plain.descriptor.encode())
        encoded[28:36] = (5 * width).to_bytes(8, "little")
        encoded[36:44] = (-1).to_bytes(8, "little", signed=True)
        return next(iter(hurray.StreamReader(bytes(encoded) + content))), array[::-1]
    if form == "read-only":
        memory = array_at(64, np.frombuffer(content, np.uint8)).data.toreadonly()
        return hurray.Tensor(memory, dtype, [6], copy=False), array
    return hurray.Tensor(content, dtype, array.shape), array


OUT_FORMS = ["0-d", "empty", "1-d", "c", "f", "negative", "broadcast", "read-only"]
NO_NUMPY = {*NARROW_ML, "float128"}


def same_elements(out, shown):
    assert out.shape == shown.shape
    assert np.ascontiguousarray(out).tobytes() == np.ascontiguousarray(shown).tobytes()


def parametrize_out(test):
    test = pytest.mark.parametrize("form", OUT_FORMS)(test)
    return pytest.mark.parametrize("name", ARRAY_TYPES)(test)


def skip_packed_reversal(name, form):
    if form == "negative" and name in UNPACKED:
        pytest.skip("a byte offset cannot point into a byte")


def shares(out, tensor):
    return np.shares_memory(
        np.asarray(out).reshape(-1).view(np.uint8), np.asarray(tensor.buffer(0))
    )


@parametrize_out
def test_arrays_go_out(name, form):
    skip_packed_reversal(name, form)
    tensor, shown = make_tensor(name, form)
    if name in NARROW_ML:
        with pytest.raises(hurray.UnsupportedError):
            tensor.__array__()
        return
    out = tensor.__array__()
    assert out.dtype == ARRAY_TYPES[name]
    same_elements(out, shown)
    if shown.size:
        view = out if form != "broadcast" else out[:1]
        assert np.shares_memory(view, np.asarray(tensor.buffer(0))) is (name != "bool")
    assert out.flags.writeable is (form != "read-only" or name == "bool")
    copied = tensor.__array__(copy=True)
    same_elements(copied, shown)
    assert not np.shares_memory(copied, np.asarray(tensor.buffer(0)))
    if name == "bool":
        with pytest.raises(hurray.CopyRequiredError):
            tensor.__array__(copy=False)


@parametrize_out
def test_memoryviews_go_out(name, form):
    skip_packed_reversal(name, form)
    tensor, shown = make_tensor(name, form)
    if name in UNPACKED or name in WHOLE_ML:
        with pytest.raises(BufferError, match=name):
            memoryview(tensor)
        return
    out = memoryview(tensor)
    assert out.readonly is (form == "read-only")
    assert out.itemsize == shown.itemsize
    same_elements(np.asarray(out), shown)


@parametrize_out
def test_dlpack_goes_out(name, form):
    skip_packed_reversal(name, form)
    tensor, shown = make_tensor(name, form)
    if name in UNPACKED:
        with pytest.raises(BufferError, match=name):
            tensor.__dlpack__(max_version=(1, 3))
        return
    if name in WHOLE_ML:
        tensor.__dlpack__(max_version=(1, 3))  # NumPy cannot read it; torch does, below
        return
    out = np.from_dlpack(tensor)
    same_elements(out, shown)
    assert out.flags.writeable is (form != "read-only")


@parametrize_out
def test_torch_tensors_go_out(name, form):
    skip_packed_reversal(name, form)
    tensor, shown = make_tensor(name, form)
    if name in NARROW_ML:
        with pytest.raises(BufferError, match=name):
            tensor.to_torch()
        return
    if name not in TORCH_TYPES:
        pytest.skip("this torch lacks the type")
    out = tensor.to_torch()
    assert out.dtype is TORCH_TYPES[name]
    assert tuple(out.shape) == shown.shape
    raw = out.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if out.numel() else b""
    assert raw == np.ascontiguousarray(shown).tobytes()
    if shown.size:
        is_shared = np.asarray(tensor.buffer(0)).ctypes.data == out.data_ptr()
        assert is_shared is (name != "bool" and form not in ("negative", "read-only"))


@parametrize_out
def test_hurray_hands_everything_over(name, form):
    skip_packed_reversal(name, form)
    tensor, _ = make_tensor(name, form)
    taken = hurray.from_hurray(tensor)
    assert taken.descriptor == tensor.descriptor
    assert taken.is_writable is tensor.is_writable
    assert np.asarray(taken.buffer(0)).tobytes() == np.asarray(tensor.buffer(0)).tobytes()
    if tensor.nbytes:
        assert shares(taken.buffer(0), tensor)
