"""What goes in comes out, for any dtype and shape that hypothesis can think of."""

import math

import numpy as np
import pytest
from arrays import NUMPY_TYPES, OTHER_TYPES, array_at, dtype_id, packed
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import hurray

shapes = npst.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=5)
named_types = st.sampled_from([*NUMPY_TYPES, hurray.bfloat16, *OTHER_TYPES])
private_types = st.builds(
    lambda tag, bits: (hurray.Dtype.from_tag(tag), hurray.ExtensionType(bits)),
    st.integers(0xF0, 0xFE),
    st.sampled_from([1, 2, 4, 8, 12, 24, 128]),
)


def bits(array):
    """What makes two arrays the same, NaNs and zeros' signs included."""
    return array.dtype, array.shape, array.tobytes()


def arrays(dtype):
    """Arrays of any bits, as NumPy has them in memory."""
    if dtype == np.bool_:
        return npst.arrays(dtype, shapes)
    return shapes.flatmap(
        lambda shape: st.binary(
            min_size=math.prod(shape) * dtype.itemsize, max_size=math.prod(shape) * dtype.itemsize
        ).map(lambda data: np.frombuffer(data, dtype).reshape(shape))
    )


every_numpy_type = pytest.mark.parametrize("dtype", NUMPY_TYPES, ids=dtype_id)


@every_numpy_type
@given(data=st.data(), alignment=st.sampled_from([1, 16, 64, 4096]))
def test_arrays_survive_from_numpy_and_asarray(dtype, data, alignment):
    array = array_at(alignment, data.draw(arrays(NUMPY_TYPES[dtype])))
    tensor = hurray.from_numpy(array)
    assert tensor.dtype is dtype
    assert bits(np.asarray(tensor)) == bits(array)
    assert bits(hurray.from_numpy(np.asarray(tensor)).numpy()) == bits(array)


@every_numpy_type
@given(data=st.data())
def test_arrays_survive_the_constructor_in_any_order(dtype, data):
    array = data.draw(arrays(NUMPY_TYPES[dtype]))
    for layout, stored in [
        (hurray.RowMajorLayout(), array),
        (hurray.ColMajorLayout(), np.ascontiguousarray(array.T)),
    ]:
        contents = packed(stored) if dtype is hurray.bool else stored.tobytes()
        tensor = hurray.Tensor(contents, dtype, array.shape, layout=layout)
        assert bits(np.asarray(tensor)) == bits(array)
        assert str(tensor) == np.array2string(array)


@given(
    dtype=st.sampled_from(list(NUMPY_TYPES)),
    sides=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), min_size=1, max_size=4),
    seed=st.integers(0, 2**32 - 1),
)
def test_elements_are_where_element_offset_says(dtype, sides, seed):
    shape, strides = [side[0] for side in sides], [side[1] for side in sides]
    values = np.random.default_rng(seed).integers(0, 2, 256).astype(NUMPY_TYPES[dtype])
    contents = packed(values) if dtype is hurray.bool else values.tobytes()
    layout = hurray.StridedLayout(strides)
    tensor = hurray.Tensor(contents, dtype, shape, layout=layout)
    array = np.asarray(tensor)
    for index in np.ndindex(*shape):
        offset = sum(i * stride for i, stride in zip(index, strides, strict=True))
        assert tensor.element_offset(index) == offset
        assert array[index] == values[offset]


@st.composite
def dense_tensors(draw):
    """A dense tensor of any type, layout, device and number of surplus buffers."""
    if draw(st.booleans()):
        dtype, section = draw(named_types), None
        size = hurray.buffer_size_bytes
    else:
        dtype, section = draw(private_types)
        size = lambda dtype, count: section.buffer_size_bytes(count)  # noqa: E731
    shape = list(draw(shapes))
    needed = size(dtype, math.prod(shape))
    kind = draw(st.sampled_from(["row", "col", "strided"] if shape else ["row", "col"]))
    if kind == "strided":
        strides = [draw(st.integers(0, 10)) for _ in shape]
        layout = hurray.StridedLayout(strides)
        if 0 not in shape:
            reach = sum(stride * (side - 1) for stride, side in zip(strides, shape, strict=True))
            needed = size(dtype, reach + 1)
    else:
        layout = hurray.RowMajorLayout() if kind == "row" else hurray.ColMajorLayout()
    if shape and draw(st.booleans()):
        shape[draw(st.integers(0, len(shape) - 1))] = None
    return hurray.Tensor(
        bytes(needed + draw(st.integers(0, 3))),
        dtype,
        shape,
        draw(st.sampled_from([None, *(getattr(hurray.device, n) for n in ("cpu", "cuda"))])),
        layout=layout,
        aux_buffers=[bytes(n) for n in draw(st.lists(st.integers(0, 9), max_size=3))],
        extension_type=section,
    )


@given(tensor=dense_tensors())
def test_descriptors_survive_encode_and_decode(tensor):
    descriptor = tensor.descriptor
    encoded = descriptor.encode()
    decoded = hurray.Descriptor.decode(encoded)
    assert decoded == descriptor
    assert decoded.encode() == encoded
    assert len(encoded) == descriptor.encoded_len
    for name in ("dtype", "shape", "layout", "buffer_handles", "extension_type", "device"):
        assert getattr(decoded, name) == getattr(descriptor, name)


@given(tensor=dense_tensors())
def test_tensors_survive_a_stream(tensor):
    writer = hurray.StreamWriter()
    writer.write(tensor)
    (read,) = hurray.StreamReader(writer.getvalue())
    assert read.descriptor == tensor.descriptor
    again = hurray.StreamWriter()
    again.write(read)
    assert again.getvalue() == writer.getvalue()


@given(tensor=dense_tensors(), data=st.data())
def test_any_cut_of_a_descriptor_is_refused(tensor, data):
    encoded = tensor.descriptor.encode()
    length = data.draw(st.integers(0, len(encoded) - 1))
    with pytest.raises(hurray.InvalidDescriptorError):
        hurray.Descriptor.decode(encoded[:length])


@given(data=st.binary(max_size=200))
def test_arbitrary_bytes_are_refused_or_encoded_again(data):
    data = b"HRRY\1\0" + data
    try:
        decoded = hurray.Descriptor.decode(data)
    except hurray.InvalidDescriptorError:
        return
    assert decoded.encode() == data[: decoded.encoded_len]
