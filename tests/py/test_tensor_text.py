import struct

import numpy as np
import pytest
from arrays import NUMPY_TYPES, OTHER_TYPES, dtype_id, packed, random_array
from subprocesses import run_python

import hurray

CPU = "hurray.Device(kind='cpu', device_id=0, memory_class='standard')"


def tensor_of(array, **options):
    """A tensor with the array's shape and its elements in row-major order."""
    data = packed(array) if array.dtype == np.bool_ else array.tobytes()
    dtype = hurray.Dtype.from_name(array.dtype.name)
    return hurray.Tensor(data, dtype, array.shape, **options)


def test_a_vector_reads_as_in_numpy():
    tensor = hurray.Tensor(struct.pack("<2f", 1, 2), hurray.float32, [2])
    assert repr(tensor) == "hurray.Tensor([1. 2.], dtype=float32)"
    assert str(tensor) == "[1. 2.]"
    assert f"{tensor}" == "[1. 2.]"


@pytest.mark.parametrize("dtype", NUMPY_TYPES, ids=dtype_id)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (9,), (2, 3), (2, 0), (2, 3, 4)], ids=str)
def test_the_body_is_what_numpy_prints(dtype, shape):
    array = random_array(NUMPY_TYPES[dtype], shape)
    tensor = tensor_of(array)
    body = np.array2string(array)
    assert str(tensor) == body
    assert repr(tensor) == f"hurray.Tensor({body}, dtype={dtype.name})"


def test_many_elements_are_summarized_as_numpy_does():
    array = np.arange(100_000, dtype=np.int16).reshape(100, 1000)
    assert str(tensor_of(array)) == np.array2string(array)
    assert "..." in str(tensor_of(array))


def test_options_of_numpy_apply():
    array = np.array([1 / 3, 2 / 3])
    with np.printoptions(precision=2, sign="+"):
        assert str(tensor_of(array)) == "[+0.33 +0.67]"


@pytest.mark.parametrize("dtype", NUMPY_TYPES, ids=dtype_id)
@pytest.mark.parametrize("shape", [(2, 3), (3, 1, 5)], ids=str)
def test_elements_appear_in_logical_order(dtype, shape):
    array = random_array(NUMPY_TYPES[dtype], shape)
    stored = np.ascontiguousarray(array.T)
    tensor = hurray.Tensor(
        packed(stored) if dtype is hurray.bool else stored.tobytes(),
        dtype,
        shape,
        layout=hurray.ColMajorLayout(),
    )
    assert str(tensor) == np.array2string(array)


def test_strided_elements_appear_in_logical_order():
    data = np.arange(20, dtype=np.int32)
    for shape, strides in [([2, 3], [10, 3]), ([2, 3], [0, 1]), ([3, 2], [1, 1]), ([4], [0])]:
        tensor = hurray.Tensor(data, hurray.int32, shape, layout=hurray.StridedLayout(strides))
        expected = np.lib.stride_tricks.as_strided(data, shape, [4 * step for step in strides])
        assert str(tensor) == np.array2string(expected)


def test_strided_bits_appear_in_logical_order():
    bits = np.array([1, 0, 0, 1, 1, 1, 0, 1, 0, 1, 1], np.bool_)
    layout = hurray.StridedLayout([4, 3])
    tensor = hurray.Tensor(packed(bits), hurray.bool, [2, 3], layout=layout)
    assert str(tensor) == np.array2string(bits[[[0, 3, 6], [4, 7, 10]]])


@pytest.mark.parametrize("dtype", [hurray.float32, hurray.bool], ids=dtype_id)
def test_bytes_beyond_the_elements_are_not_shown(dtype):
    array = random_array(NUMPY_TYPES[dtype], (2, 3))
    data = packed(array) if dtype is hurray.bool else array.tobytes()
    for layout in [None, hurray.RowMajorLayout()]:
        tensor = hurray.Tensor(data + b"\xff" * 1000, dtype, [2, 3], layout=layout)
        assert str(tensor) == np.array2string(array)


@pytest.mark.parametrize("dtype", [*OTHER_TYPES, hurray.bfloat16], ids=dtype_id)
def test_types_that_numpy_lacks_show_metadata(dtype):
    tensor = hurray.Tensor(bytes(96), dtype, [2, 3])
    assert repr(tensor) == f"hurray.Tensor(shape=(2, 3), dtype={dtype.name}, device={CPU})"
    assert str(tensor) == repr(tensor)


def test_a_private_type_shows_metadata():
    section = hurray.ExtensionType(bit_width=24)
    tensor = hurray.Tensor(bytes(12), hurray.Dtype.from_tag(0xF2), [4], extension_type=section)
    assert repr(tensor) == f"hurray.Tensor(shape=(4,), dtype=extension, device={CPU})"


def test_another_device_shows_metadata():
    device = hurray.Device("cuda", 1, "unified")
    tensor = hurray.Tensor(bytes(4), hurray.float32, [1], device)
    assert repr(tensor) == f"hurray.Tensor(shape=(1,), dtype=float32, device={device!r})"
    assert str(tensor) == repr(tensor)


@pytest.mark.parametrize("memory_class", ["host_pinned", "unified"])
def test_memory_of_the_cpu_shows_its_elements(memory_class):
    device = hurray.Device("cpu", 0, memory_class)
    tensor = hurray.Tensor(b"\7", hurray.uint8, [1], device)
    assert repr(tensor) == "hurray.Tensor([7], dtype=uint8)"


def test_dynamic_extents_print_as_none():
    tensor = hurray.Tensor(bytes(4), hurray.float32, [None, 2])
    assert repr(tensor) == f"hurray.Tensor(shape=(None, 2), dtype=float32, device={CPU})"


def test_quantized_tensors_show_their_storage():
    scheme = hurray.PerTensorAffine(0.5, 3)
    tensor = hurray.Tensor(b"\1\2", hurray.int8, [2], quantization=scheme)
    assert repr(tensor) == "hurray.Tensor([1 2], dtype=int8)"


@pytest.mark.parametrize("name", ["morton", "tiled", "hilbert"])
def test_curves_and_tiles_show_metadata(name):
    layout = {
        "morton": lambda: hurray.MortonLayout([1, 1]),
        "tiled": lambda: hurray.TiledLayout([2, 2]),
        "hilbert": lambda: hurray.HilbertLayout(1, 2),
    }[name]()
    tensor = hurray.Tensor(bytes(16), hurray.float32, [2, 2], layout=layout)
    assert repr(tensor) == f"hurray.Tensor(shape=(2, 2), dtype=float32, device={CPU})"
    assert str(tensor) == repr(tensor)


@pytest.mark.parametrize("tag", [0xF0, 0x0C])
def test_opaque_layouts_show_metadata(tag):
    layout = (
        hurray.PrivateExtensionLayout(tag, 7) if tag >= 0xF0 else hurray.UnknownLayout(tag, b"x")
    )
    tensor = hurray.Tensor(b"", hurray.float32, [2, 2], layout=layout)
    assert repr(tensor) == f"hurray.Tensor(shape=(2, 2), dtype=float32, device={CPU})"


# ---- when NumPy does not help


@pytest.mark.parametrize("error", [RuntimeError, MemoryError, RecursionError])
def test_repr_survives_a_numpy_that_raises(monkeypatch, error):
    def fail(*args, **kwargs):
        raise error("not today")

    tensor = hurray.Tensor(bytes(4), hurray.float32, [1])
    with np.printoptions(formatter={"float": fail}):
        assert repr(tensor) == f"hurray.Tensor(shape=(1,), dtype=float32, device={CPU})"
        assert str(tensor) == repr(tensor)
    monkeypatch.setattr(np, "array2string", fail)
    assert repr(tensor) == f"hurray.Tensor(shape=(1,), dtype=float32, device={CPU})"


def test_repr_survives_a_numpy_without_the_function(monkeypatch):
    monkeypatch.delattr(np, "array2string")
    assert "shape=(1,)" in repr(hurray.Tensor(bytes(4), hurray.float32, [1]))


def test_repr_survives_a_numpy_that_returns_no_text(monkeypatch):
    monkeypatch.setattr(np, "array2string", lambda *args, **kwargs: 7)
    assert "shape=(1,)" in repr(hurray.Tensor(bytes(4), hurray.float32, [1]))


def test_an_interrupt_is_not_swallowed(monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "array2string", interrupt)
    with pytest.raises(KeyboardInterrupt):
        repr(hurray.Tensor(bytes(4), hurray.float32, [1]))


def test_repr_does_not_need_numpy():
    printed = run_python(
        """
        import sys
        sys.modules["numpy"] = None
        import hurray
        tensor = hurray.Tensor(bytes(8), hurray.float32, [2])
        print(repr(tensor), str(tensor), sep="\\n")
        """
    )
    assert (
        printed.splitlines()
        == [
            f"hurray.Tensor(shape=(2,), dtype=float32, device={CPU})",
        ]
        * 2
    )


# ---- sparse tensors


def sparse_tensor(kind):
    """[3, 4] with the entries (0, 1) = 7, (2, 0) = 8 and (2, 3) = 9."""
    layout, data, *indices = {
        "coo": lambda: (hurray.CooLayout(3), [7, 8, 9], [0, 1, 2, 0, 2, 3]),
        "csr": lambda: (hurray.CsrLayout(3), [7, 8, 9], [1, 0, 3], [0, 1, 1, 3]),
        "csc": lambda: (hurray.CscLayout(3), [8, 7, 9], [2, 0, 2], [0, 1, 2, 2, 3]),
    }[kind]()
    return hurray.Tensor(
        np.array(data, np.float32),
        hurray.float32,
        [3, 4],
        layout=layout,
        aux_buffers=[np.array(buffer, np.uint64) for buffer in indices],
    )


COMPONENTS = {
    "coo": ["indices", "values"],
    "csr": ["values", "col_indices", "row_ptr"],
    "csc": ["values", "row_indices", "col_ptr"],
}


@pytest.mark.parametrize("kind", COMPONENTS)
def test_sparse_tensors_show_metadata_by_default(kind):
    tensor = sparse_tensor(kind)
    expected = f"hurray.Tensor(layout='{kind}', shape=(3, 4), nnz=3, dtype=float32)"
    assert repr(tensor) == str(tensor) == expected


@pytest.mark.parametrize("kind", COMPONENTS)
def test_sparse_tensors_show_their_components_on_request(kind):
    tensor = sparse_tensor(kind)
    components = ", ".join(f"{name}={getattr(tensor, name)!s}" for name in COMPONENTS[kind])
    with hurray.print_options(sparse_display="content"):
        assert (
            repr(tensor)
            == str(tensor)
            == (f"hurray.Tensor(layout='{kind}', shape=(3, 4), nnz=3, dtype=float32, {components})")
        )
    assert "7." in components
