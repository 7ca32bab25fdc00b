import itertools
import math
import mmap
import pickle
import random
import struct
import weakref
from collections.abc import Hashable

import numpy as np
import pytest
import wire
from arrays import NUMPY_TYPES, array_at, dtype_id, packed

import hurray


@pytest.fixture
def matrix():
    """float32, [2, 3], the numbers from 1 to 6."""
    return hurray.Tensor(struct.pack("<6f", 1, 2, 3, 4, 5, 6), hurray.float32, [2, 3])


@pytest.fixture
def vector():
    """int32, [4], the numbers from 1 to 4."""
    return hurray.Tensor(struct.pack("<4i", 1, 2, 3, 4), hurray.int32, [4])


@pytest.fixture
def waiting():
    """A float32 tensor that was read with the sync mode "event"."""
    written = hurray.Tensor(bytes(16), hurray.float32, [4], hurray.Device("cuda"))
    encoded = bytearray(written.descriptor.encode())
    assert encoded[37:45] == (16).to_bytes(8, "little")  # the row of the buffer table
    encoded[37 + 13] = 1
    return next(hurray.StreamReader(bytes(encoded) + bytes(16)))


def floats(count):
    return struct.pack(f"<{count}f", *range(count))


def strided(strides):
    return hurray.StridedLayout(strides)


# ---- constructor


def test_the_example_of_the_requirement_holds(matrix):
    assert matrix.shape == (2, 3)
    assert matrix.ndim == 2
    assert matrix.size == 6
    assert matrix.dtype == hurray.float32
    assert matrix.device.kind == "cpu"


def test_parameters_have_names():
    tensor = hurray.Tensor(buffer=bytes(4), dtype=hurray.int8, shape=[4], device=hurray.device.cpu)
    assert tensor.shape == (4,)


@pytest.mark.parametrize(
    "keyword",
    ["aux_buffers", "layout", "quantization", "statistics", "shard", "extension_type"],
)
def test_none_leaves_an_option_out(keyword):
    tensor = hurray.Tensor(bytes(4), hurray.int8, [4], None, **{keyword: None})
    assert tensor.layout == hurray.RowMajorLayout()
    assert tensor.buffer_count == 1


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        pytest.param((), {}, id="nothing"),
        pytest.param((bytes(4), hurray.int8), {}, id="no-shape"),
        pytest.param((bytes(4), hurray.int8, [4], None, None), {}, id="fifth-positional"),
        pytest.param((bytes(4), hurray.int8, [4]), {"shape": [4]}, id="shape-twice"),
        pytest.param((bytes(4), hurray.int8, [4]), {"colour": 1}, id="unknown"),
        pytest.param((bytes(4), hurray.int8, [4]), {"sync_mode": "event"}, id="sync_mode"),
        pytest.param((bytes(4), hurray.int8, [4]), {"alignment": 64}, id="alignment"),
        pytest.param((bytes(4), hurray.int8, [4]), {"byte_offset": 0}, id="byte_offset"),
    ],
)
def test_wrong_argument_lists_are_type_errors(args, kwargs):
    with pytest.raises(TypeError):
        hurray.Tensor(*args, **kwargs)


def a_mapping():
    mapping = mmap.mmap(-1, 4)
    mapping[:] = b"\1\2\3\4"
    return mapping


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(b"\1\2\3\4", id="bytes"),
        pytest.param(bytearray(b"\1\2\3\4"), id="bytearray"),
        pytest.param(memoryview(b"\0\1\2\3\4")[1:], id="memoryview"),
        pytest.param(np.array([1, 2, 3, 4], np.uint8), id="array"),
        pytest.param(np.array([[0x04030201]], "<u4"), id="array-of-another-type"),
        pytest.param(np.array(0x04030201, "<u4"), id="array-of-rank-0"),
        pytest.param(a_mapping(), id="mmap"),
    ],
)
def test_any_contiguous_buffer_is_copied(source):
    tensor = hurray.Tensor(source, hurray.uint8, [4])
    assert np.asarray(tensor).tolist() == [1, 2, 3, 4]
    assert tensor.owns_data
    assert tensor.is_writable
    assert tensor.buffer_handles[0].alignment >= hurray.MIN_BUFFER_ALIGNMENT


def test_later_changes_of_the_source_are_not_seen():
    source = bytearray(4)
    tensor = hurray.Tensor(source, hurray.uint8, [4])
    source[0] = 99
    source.extend(b"not locked")
    assert np.asarray(tensor).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("alignment", "copy", "shared"),
    [
        pytest.param(64, True, False, id="aligned-copy"),
        pytest.param(64, None, True, id="aligned-as-needed"),
        pytest.param(64, False, True, id="aligned-share"),
        pytest.param(4096, False, True, id="page-share"),
        pytest.param(16, True, False, id="misaligned-copy"),
        pytest.param(16, None, False, id="misaligned-as-needed"),
    ],
)
def test_copy_decides_whether_memory_is_shared(alignment, copy, shared):
    source = array_at(alignment, np.arange(16, dtype=np.float32))
    tensor = hurray.Tensor(source, hurray.float32, [16], copy=copy)
    source[3] = 99
    assert np.asarray(tensor)[3] == (99 if shared else 3)
    assert tensor.owns_data is not shared
    assert tensor.is_writable
    assert tensor.buffer_handles[0].alignment == (alignment if shared else 64)


def test_a_copy_that_was_forbidden_names_the_alignment():
    source = array_at(16, np.zeros(4, np.float32))
    with pytest.raises(hurray.CopyRequiredError, match=r"16-byte aligned") as caught:
        hurray.Tensor(source, hurray.float32, [4], copy=False)
    assert "64" in str(caught.value)
    assert isinstance(caught.value, hurray.BufferError)


def test_each_buffer_is_shared_or_copied_on_its_own():
    first, second = array_at(64, np.zeros(4, np.uint8)), array_at(8, np.zeros(4, np.uint8))
    tensor = hurray.Tensor(first, hurray.uint8, [4], aux_buffers=[second], copy=None)
    first[0] = second[0] = 99
    assert np.asarray(tensor.buffer(0))[0] == 99
    assert np.asarray(tensor.buffer(1))[0] == 0
    with pytest.raises(hurray.CopyRequiredError, match=r"aux_buffers\[0\]"):
        hurray.Tensor(first, hurray.uint8, [4], aux_buffers=[second], copy=False)


def test_a_shared_source_stays_locked_while_the_tensor_lives():
    mapping = mmap.mmap(-1, 4096)
    tensor = hurray.Tensor(mapping, hurray.uint8, [4096], copy=False)
    with pytest.raises(BufferError):
        mapping.close()
    del tensor
    mapping.close()


def test_shared_memory_that_is_read_only_stays_so():
    source = array_at(64, np.zeros(4, np.float32))
    source.flags.writeable = False
    tensor = hurray.Tensor(source, hurray.float32, [4], copy=False)
    assert not tensor.is_writable
    assert not np.asarray(tensor).flags.writeable


@pytest.mark.parametrize("copy", [0, 1, "yes", 1.0], ids=repr)
def test_copy_takes_nothing_but_true_false_and_none(copy):
    with pytest.raises(TypeError):
        hurray.Tensor(bytes(4), hurray.uint8, [4], copy=copy)


def test_copy_may_be_a_numpy_bool():
    assert hurray.Tensor(bytes(4), hurray.uint8, [4], copy=np.True_).owns_data


@pytest.mark.parametrize(
    "shape",
    [
        [2, 3],
        (2, 3),
        pytest.param(range(2, 4), id="range"),
        pytest.param(np.array([2, 3]), id="array"),
        pytest.param([np.int16(2), np.uint64(3)], id="numpy-integers"),
    ],
)
def test_shape_is_any_sequence_of_integers(shape):
    tensor = hurray.Tensor(bytes(6), hurray.uint8, shape)
    assert tensor.shape == (2, 3)
    assert all(type(extent) is int for extent in tensor.shape)


def test_a_scalar_has_one_element():
    tensor = hurray.Tensor(struct.pack("<d", 2.5), hurray.float64, [])
    assert (tensor.shape, tensor.ndim, tensor.size) == ((), 0, 1)
    assert np.asarray(tensor)[()] == 2.5


def test_rank_64_is_allowed():
    assert hurray.Tensor(b"\1", hurray.uint8, [1] * 64).ndim == 64


def test_255_buffers_are_allowed():
    tensor = hurray.Tensor(b"", hurray.uint8, [0], aux_buffers=[bytes(i) for i in range(254)])
    assert tensor.buffer_count == 255
    assert [handle.byte_size for handle in tensor.buffer_handles] == [0, *range(254)]


# ---- argument errors


@pytest.mark.parametrize(
    "buffer",
    [
        pytest.param("text", id="str"),
        pytest.param(None, id="None"),
        pytest.param(7, id="int"),
        pytest.param([1, 2, 3, 4], id="list"),
        pytest.param(memoryview(bytes(8))[::2], id="every-second-byte"),
        pytest.param(np.zeros((4, 4))[::2], id="array-with-gaps"),
        pytest.param(np.asfortranarray(np.zeros((2, 2))), id="fortran-order"),
    ],
)
def test_what_is_no_contiguous_buffer_is_refused(buffer):
    with pytest.raises(hurray.BufferError):
        hurray.Tensor(buffer, hurray.uint8, [4])
    with pytest.raises(hurray.BufferError, match=r"aux_buffers\[1\]"):
        hurray.Tensor(bytes(4), hurray.uint8, [4], aux_buffers=[b"", buffer])


@pytest.mark.parametrize("dtype", ["float32", np.float32, np.dtype("f4"), None, 3], ids=repr)
def test_dtype_is_a_dtype(dtype):
    with pytest.raises(TypeError):
        hurray.Tensor(bytes(4), dtype, [1])


@pytest.mark.parametrize("dtype", ["float32", np.float32, np.dtype("f4")], ids=repr)
def test_a_dtype_of_somebody_else_is_answered_with_ours(dtype):
    with pytest.raises(TypeError, match=r"hurray\.float32"):
        hurray.Tensor(bytes(4), dtype, [1])


def test_a_device_name_is_answered_with_the_constant():
    with pytest.raises(TypeError, match=r"hurray\.device\.cpu"):
        hurray.Tensor(bytes(4), hurray.float32, [1], "cpu")


@pytest.mark.parametrize("device", [0, (1, 0), hurray.Device], ids=repr)
def test_device_is_a_device(device):
    with pytest.raises(TypeError):
        hurray.Tensor(bytes(4), hurray.float32, [1], device)


@pytest.mark.parametrize(
    "layout", ["row_major", 1, hurray.RowMajorLayout], ids=["str", "int", "class"]
)
def test_layout_is_a_layout(layout):
    with pytest.raises(TypeError, match=r"hurray\.Layout"):
        hurray.Tensor(bytes(4), hurray.float32, [1], layout=layout)


def test_a_composite_layout_owns_no_buffers():
    layout = hurray.CompositeLayout("group", 2)
    with pytest.raises(hurray.UnsupportedError, match="owns no buffers") as caught:
        hurray.Tensor(bytes(4), hurray.float32, [1], layout=layout)
    assert "hurray.Composite" in str(caught.value)


@pytest.mark.parametrize("value", ["per_tensor", 0.5, {}], ids=repr)
def test_quantization_is_a_scheme(value):
    with pytest.raises(hurray.InvalidDescriptorError):
        hurray.Tensor(bytes(4), hurray.int8, [4], quantization=value)


@pytest.mark.parametrize("keyword", ["statistics", "shard", "extension_type"])
@pytest.mark.parametrize("value", [{}, "x", 1, hurray.float32], ids=repr)
def test_a_section_of_another_class_is_a_type_error(keyword, value):
    with pytest.raises(TypeError):
        hurray.Tensor(bytes(4), hurray.int8, [4], **{keyword: value})


@pytest.mark.parametrize("value", [7, {bytes(1)}, iter([b""])], ids=["int", "set", "iterator"])
def test_aux_buffers_is_a_sequence(value):
    with pytest.raises(TypeError):
        hurray.Tensor(bytes(4), hurray.int8, [4], aux_buffers=value)


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(4, id="int"),
        pytest.param(None, id="None"),
        pytest.param("4", id="str"),
        pytest.param(b"\4", id="bytes"),
        pytest.param({4}, id="set"),
        pytest.param({4: 0}, id="dict"),
        pytest.param(iter([4]), id="iterator"),
        pytest.param([4.0], id="float-extent"),
        pytest.param(["4"], id="str-extent"),
        pytest.param([[4]], id="nested"),
        pytest.param(np.array([4.0]), id="float-array"),
    ],
)
def test_shape_is_a_sequence_of_int_or_none(shape):
    with pytest.raises(TypeError):
        hurray.Tensor(bytes(4), hurray.int8, shape)


def test_a_negative_extent_is_answered_with_none():
    with pytest.raises(hurray.InvalidDescriptorError, match="None"):
        hurray.Tensor(bytes(4), hurray.int8, [4, -1])


@pytest.mark.parametrize(
    ("extent", "error"),
    [
        pytest.param(-(2**70), hurray.InvalidDescriptorError, id="far-below-zero"),
        pytest.param(2**64 - 1, hurray.InvalidDescriptorError, id="reserved"),
        pytest.param(2**64, OverflowError, id="one-more"),
        pytest.param(2**70, OverflowError, id="far-more"),
        pytest.param(2**64 - 2, hurray.BufferError, id="largest"),
    ],
)
def test_extents_are_limited(extent, error):
    with pytest.raises(error):
        hurray.Tensor(bytes(4), hurray.int8, [extent])


def test_rank_65_is_refused():
    with pytest.raises(hurray.InvalidDescriptorError, match="64"):
        hurray.Tensor(b"\1", hurray.uint8, [1] * 65)


def test_256_buffers_are_refused():
    with pytest.raises(hurray.InvalidDescriptorError, match="255"):
        hurray.Tensor(b"", hurray.uint8, [0], aux_buffers=[b""] * 255)


def test_a_private_type_must_describe_itself():
    with pytest.raises(hurray.InvalidDescriptorError, match="must describe itself"):
        hurray.Tensor(bytes(12), hurray.Dtype.from_tag(0xF2), [4])


def test_an_ordinary_type_does_not_describe_itself():
    section = hurray.ExtensionType(bit_width=24)
    with pytest.raises(hurray.InvalidDescriptorError, match="not a private extension"):
        hurray.Tensor(bytes(16), hurray.float32, [4], extension_type=section)


def test_a_private_type_gives_the_minimum_size():
    section = hurray.ExtensionType(bit_width=24)
    dtype = hurray.Dtype.from_tag(0xF2)
    tensor = hurray.Tensor(bytes(12), dtype, [4], extension_type=section)
    assert tensor.extension_type == section
    assert tensor.dtype is dtype
    with pytest.raises(hurray.BufferError, match="need at least 12 bytes"):
        hurray.Tensor(bytes(11), dtype, [4], extension_type=section)


@pytest.mark.parametrize(
    "device",
    [
        ("cpu", 0, "peer"),
        ("cpu", 0, 0xF1),
        ("cuda", 0, 0xF1),
        ("metal", 0, "peer"),
        ("webgpu", 0, "unified"),
        ("webgpu", 0, "host_pinned"),
        (0xF3, 0, "unified"),
    ],
    ids=str,
)
def test_device_and_memory_class_must_go_together(device):
    with pytest.raises(hurray.InvalidDescriptorError):
        hurray.Tensor(bytes(4), hurray.float32, [1], hurray.Device(*device))


@pytest.mark.parametrize(
    "device",
    [
        ("cpu", 0, "host_pinned"),
        ("cuda", 3, "peer"),
        ("vulkan", 0, "unified"),
        ("opencl", 0, "unified"),
        (0xF3, 0, "standard"),
        (0xF3, 0, 0xF1),
    ],
    ids=str,
)
def test_every_allowed_device_is_kept(device):
    device = hurray.Device(*device)
    tensor = hurray.Tensor(bytes(4), hurray.float32, [1], device)
    assert tensor.device is device
    assert tensor.buffer_handles[0].device is device


# ---- validation


@pytest.mark.parametrize("layout", [None, hurray.RowMajorLayout(), hurray.ColMajorLayout()])
@pytest.mark.parametrize(
    ("name", "shape", "needed"),
    [
        ("float64", [], 8),
        ("float32", [2, 3], 24),
        ("float128", [3], 48),
        ("complex64", [2], 16),
        ("int8", [0, 5], 0),
        ("bool", [9], 2),
        ("bool", [3, 3], 2),
        ("int4", [7], 4),
        ("uint2", [5], 2),
        ("float4_e2m1", [3], 2),
        ("float6_e2m3", [5], 6),
        ("float6_e3m2", [4], 3),
    ],
)
def test_a_buffer_holds_all_packed_elements(layout, name, shape, needed):
    dtype = getattr(hurray.dtype, name)
    tensor = hurray.Tensor(bytes(needed), dtype, shape, layout=layout)
    assert tensor.buffer_handles[0].byte_size == needed
    if needed:
        with pytest.raises(hurray.BufferError, match=r"buffer 0 .*data") as caught:
            hurray.Tensor(bytes(needed - 1), dtype, shape, layout=layout)
        assert tensor.layout.name in str(caught.value)


def test_a_larger_buffer_is_kept_whole():
    tensor = hurray.Tensor(bytes(100), hurray.float32, [2])
    assert tensor.buffer_handles[0].byte_size == 100
    assert tensor.nbytes == 100
    assert tensor.size == 2


@pytest.mark.parametrize(
    ("shape", "strides", "needed"),
    [
        pytest.param([2, 3], [3, 1], 24, id="row-major"),
        pytest.param([2, 3], [1, 2], 24, id="column-major"),
        pytest.param([2, 3], [0, 1], 12, id="broadcast-rows"),
        pytest.param([1000, 1000], [0, 0], 4, id="one-element"),
        pytest.param([2, 3], [10, 2], 60, id="gaps"),
        pytest.param([1, 3], [-5, 1], 12, id="unused-negative-stride"),
        pytest.param([3, 2], [1, 1], 16, id="overlap"),
        pytest.param([0, 3], [-5, 2**62], 0, id="empty"),
        pytest.param([2, 2**64 - 2, 0], [-1, -1, -1], 0, id="empty-and-huge"),
    ],
)
def test_a_strided_buffer_holds_the_range_of_addresses(shape, strides, needed):
    tensor = hurray.Tensor(bytes(needed), hurray.float32, shape, layout=strided(strides))
    assert tensor.layout.strides == tuple(strides)
    if needed:
        with pytest.raises(hurray.BufferError, match="strided"):
            hurray.Tensor(bytes(needed - 1), hurray.float32, shape, layout=strided(strides))


@pytest.mark.parametrize(
    ("name", "shape", "strides", "needed"),
    [
        ("int4", [2], [3], 2),
        ("int4", [2], [4], 3),
        ("bool", [2, 2], [8, 1], 2),
        ("uint2", [3], [0], 1),
        ("float6_e2m3", [2], [4], 6),
    ],
)
def test_strides_of_packed_elements_count_elements(name, shape, strides, needed):
    dtype = getattr(hurray.dtype, name)
    hurray.Tensor(bytes(needed), dtype, shape, layout=strided(strides))
    with pytest.raises(hurray.BufferError):
        hurray.Tensor(bytes(needed - 1), dtype, shape, layout=strided(strides))


@pytest.mark.parametrize(
    ("shape", "strides"),
    [
        pytest.param([3], [-1], id="reversed"),
        pytest.param([2, 3], [3, -1], id="second-row-does-not-help"),
        pytest.param([2], [-(2**63)], id="lowest-stride"),
        pytest.param([2], [2**63 - 1], id="highest-stride"),
        pytest.param([2**63, 2], [2**62, 2**62], id="sum-that-wraps"),
        pytest.param([2**33, 2**33], [2**33, 2**33], id="product-that-wraps"),
    ],
)
def test_strides_that_leave_the_buffer_are_refused(shape, strides):
    with pytest.raises(hurray.BufferError):
        hurray.Tensor(bytes(4096), hurray.float32, shape, layout=strided(strides))


@pytest.mark.parametrize(
    ("shape", "strides"), [([], []), ([2], []), ([2], [1, 1]), ([2, 3], [1])], ids=str
)
def test_strides_must_match_the_rank(shape, strides):
    with pytest.raises(hurray.InvalidDescriptorError, match="strided"):
        hurray.Tensor(bytes(64), hurray.float32, shape, layout=strided(strides))


@pytest.mark.parametrize(
    "layout", [None, hurray.ColMajorLayout(), strided([1, 1])], ids=["row", "col", "strided"]
)
def test_a_dynamic_shape_skips_the_size(layout):
    tensor = hurray.Tensor(b"", hurray.float32, [None, 4], layout=layout)
    assert tensor.shape == (None, 4)
    assert tensor.size is None
    assert tensor.buffer_handles[0].is_empty


@pytest.mark.parametrize("layout", [None, hurray.ColMajorLayout()], ids=["row", "col"])
@pytest.mark.parametrize(
    ("dtype", "shape"),
    [
        pytest.param(hurray.int8, [2**32, 2**32], id="elements-wrap-to-zero"),
        pytest.param(hurray.float64, [2**61], id="bytes-wrap-to-zero"),
        pytest.param(hurray.float64, [2**61 + 1], id="bytes-wrap-to-eight"),
        pytest.param(hurray.bool, [2**63, 3], id="elements-wrap-to-half"),
    ],
)
def test_sizes_beyond_64_bits_are_never_satisfied(layout, dtype, shape):
    with pytest.raises(hurray.BufferError):
        hurray.Tensor(bytes(4096), dtype, shape, layout=layout)


@pytest.mark.parametrize("layout", [None, hurray.ColMajorLayout()], ids=["row", "col"])
def test_a_zero_extent_needs_no_bytes_whatever_the_others_are(layout):
    shape = [2**63, 0, 2**63]
    tensor = hurray.Tensor(b"", hurray.float64, shape, layout=layout)
    assert tensor.shape == tuple(shape)
    assert tensor.size == 0


def test_the_shape_is_checked_before_the_size():
    with pytest.raises(hurray.InvalidDescriptorError):
        hurray.Tensor(b"", hurray.float32, [2, 3], layout=strided([1]))


def test_surplus_buffers_are_allowed(vector):
    tensor = hurray.Tensor(bytes(16), hurray.int32, [4], aux_buffers=[b"12", bytearray(3)])
    assert tensor.buffer_count == 3
    assert tensor.nbytes == 21
    assert bytes(np.asarray(tensor.buffer(1))) == b"12"


@pytest.mark.parametrize("index", [0, 1, 7])
def test_quantization_parameters_lie_behind_the_data(index):
    scheme = hurray.PerChannelAffine.symmetric(axis=0, scale_buffer_index=index)
    arguments = {"aux_buffers": [bytes(16)], "quantization": scheme}
    if index == 1:
        assert hurray.Tensor(bytes(4), hurray.int8, [4], **arguments).quantization == scheme
    else:
        with pytest.raises(hurray.InvalidDescriptorError, match=f"{index}"):
            hurray.Tensor(bytes(4), hurray.int8, [4], **arguments)


@pytest.mark.parametrize(
    ("shape", "parent_shape", "shard_offset"),
    [
        pytest.param([2, 2], [8], [0], id="rank-differs"),
        pytest.param([None, 2], [8, 8], [0, 0], id="dynamic"),
        pytest.param([2, 2], [8, 8], [0, 7], id="outside"),
        pytest.param([2, 2], [8, 8], [2**64 - 2, 0], id="sum-that-wraps"),
        pytest.param([9, 0], [8, 8], [0, 0], id="larger-than-the-parent"),
    ],
)
def test_a_shard_lies_inside_its_parent(shape, parent_shape, shard_offset):
    with pytest.raises(hurray.InvalidDescriptorError):
        hurray.Tensor(bytes(64), hurray.int8, shape, shard=hurray.Shard(parent_shape, shard_offset))


def test_a_shard_may_touch_every_edge():
    shard = hurray.Shard([8, 2], [6, 0])
    assert hurray.Tensor(bytes(4), hurray.int8, [2, 2], shard=shard).shard == shard


# ---- properties


@pytest.mark.parametrize("dtype", [*NUMPY_TYPES, hurray.dtype.int4], ids=dtype_id)
def test_dtype_is_the_singleton(dtype):
    assert hurray.Tensor(bytes(64), dtype, [4]).dtype is dtype


@pytest.mark.parametrize(
    ("shape", "size"),
    [([], 1), ([0], 0), ([5], 5), ([2, 3, 4], 24), ([None], None), ([None, 0], None)],
    ids=str,
)
def test_shape_ndim_and_size_agree(shape, size):
    tensor = hurray.Tensor(bytes(24), hurray.int8, shape)
    assert tensor.shape == tuple(shape)
    assert tensor.ndim == len(shape)
    assert tensor.size == size


def test_size_does_not_overflow():
    tensor = hurray.Tensor(bytes(4), hurray.float32, [2**62, 2**62], layout=strided([0, 0]))
    assert tensor.size == 2**124


def test_device_is_the_object_passed():
    device = hurray.Device("cpu", 3)
    tensor = hurray.Tensor(bytes(4), hurray.float32, [1], device)
    assert tensor.device is device
    assert tensor.device is tensor.device
    assert tensor.buffer(0).device is device


def test_device_is_the_cpu_constant_by_default(matrix):
    assert matrix.device is hurray.device.cpu
    assert hurray.Tensor(bytes(4), hurray.float32, [1], None).device is hurray.device.cpu


def test_layout_is_made_anew_for_each_access(matrix):
    assert matrix.layout == matrix.layout
    assert matrix.layout is not matrix.layout
    assert matrix.layout == hurray.RowMajorLayout()
    assert matrix.layout == "row_major"
    assert isinstance(matrix.layout, hurray.RowMajorLayout)


@pytest.mark.parametrize(
    "layout", [hurray.RowMajorLayout(), hurray.ColMajorLayout(), strided([7, 2])]
)
def test_layout_is_equal_to_what_was_given(layout):
    assert hurray.Tensor(bytes(64), hurray.float32, [2, 3], layout=layout).layout == layout


def test_there_is_one_handle_for_each_buffer():
    tensor = hurray.Tensor(bytes(16), hurray.float32, [4], aux_buffers=[b"", bytes(100)])
    sizes = [handle.byte_size for handle in tensor.buffer_handles]
    assert sizes == [16, 0, 100]
    assert isinstance(tensor.buffer_handles, tuple)
    assert tensor.nbytes == 116
    for handle in tensor.buffer_handles:
        assert handle.device is tensor.device
        assert handle.sync_mode == "producer_synced"
        assert handle.alignment == (1 if handle.is_empty else 64)


@pytest.mark.parametrize("declared", [64, 4096, 1 << 21, 1 << 31], ids=hex)
def test_a_handle_claims_no_more_alignment_than_the_memory_has(declared):
    data = wire.stream(wire.tensor("int8", (3,), b"abc", alignment=declared))
    (read,) = hurray.StreamReader(data)
    memory = array_at(64, np.frombuffer(b"abc", np.uint8))
    rebuilt = pickle.loads(
        pickle.dumps(read, 5, buffer_callback=lambda buffer: None), buffers=[memory]
    )
    for tensor in (read, hurray.from_hurray(read), rebuilt, hurray.asarray(read, copy=True)):
        (handle,) = tensor.buffer_handles
        assert tensor.descriptor.buffer_handles[0].alignment == declared
        assert np.asarray(tensor.buffer(0)).ctypes.data % handle.alignment == 0
        assert handle.alignment >= min(declared, 1 << 21)


def test_a_large_buffer_is_aligned_to_pages():
    tensor = hurray.zeros([8 << 20], dtype=hurray.uint8)
    assert tensor.buffer_handles[0].alignment == hurray.PAGE_ALIGNMENT


@pytest.mark.parametrize(
    "name",
    ["nnz", "values", "indices", "col_indices", "row_ptr", "row_indices", "col_ptr"],
)
def test_an_accessor_of_another_layout_does_not_exist(matrix, name):
    assert not hasattr(matrix, name)
    with pytest.raises(
        AttributeError, match=f"'Tensor' object has no attribute '{name}'"
    ) as caught:
        getattr(matrix, name)
    assert "row_major" in str(caught.value)


@pytest.mark.parametrize("name", ["quantization", "statistics", "shard", "extension_type"])
def test_an_absent_section_reads_none(matrix, name):
    assert getattr(matrix, name) is None


def test_sections_come_back_equal():
    sections = {
        "quantization": hurray.PerTensorAffine(0.5, 3),
        "statistics": hurray.Statistics(nnz=3),
        "shard": hurray.Shard([8], [4]),
    }
    tensor = hurray.Tensor(bytes(4), hurray.int8, [4], **sections)
    for name, section in sections.items():
        assert getattr(tensor, name) == section


@pytest.mark.parametrize("name", ["dtype", "shape", "layout", "nbytes", "T", "buffer", "colour"])
def test_attributes_cannot_be_set_or_deleted(matrix, name):
    with pytest.raises(AttributeError):
        setattr(matrix, name, None)
    with pytest.raises(AttributeError):
        delattr(matrix, name)


def test_the_class_is_final_and_immutable():
    with pytest.raises(TypeError):
        type("Mine", (hurray.Tensor,), {})
    with pytest.raises(TypeError):
        hurray.Tensor.shape = None
    assert hurray.Tensor.__module__ == "hurray"
    assert hurray.Tensor.__name__ == hurray.Tensor.__qualname__ == "Tensor"


def test_tensors_can_be_weakly_referenced(matrix):
    assert weakref.ref(matrix)() is matrix


# ---- buffer


def test_buffer_is_a_view_of_the_declared_bytes(vector):
    view = vector.buffer(0)
    assert (view.dtype, view.shape, view.layout) == (hurray.uint8, (16,), "row_major")
    assert bytes(np.asarray(view)) == struct.pack("<4i", 1, 2, 3, 4)
    np.asarray(view)[0] = 99
    assert np.asarray(vector).tolist() == [99, 2, 3, 4]


def test_buffer_takes_a_name_and_any_integer(vector):
    assert vector.buffer(index=0).shape == (16,)
    assert vector.buffer(np.int8(0)).shape == (16,)


def test_buffer_shows_all_of_a_larger_one():
    tensor = hurray.Tensor(bytes(range(10)), hurray.uint8, [2], aux_buffers=[b"\7\7\7", b""])
    assert np.asarray(tensor.buffer(0)).tolist() == list(range(10))
    assert np.asarray(tensor.buffer(1)).tolist() == [7, 7, 7]
    assert tensor.buffer(2).shape == (0,)


def test_buffer_works_for_types_without_a_number():
    tensor = hurray.Tensor(b"\xc5\x03", hurray.dtype.uint4, [3])
    assert np.asarray(tensor.buffer(0)).tolist() == [0xC5, 0x03]


@pytest.mark.parametrize(
    ("index", "error"),
    [(1, IndexError), (2**40, IndexError), (-1, OverflowError), (0.0, TypeError), ("0", TypeError)],
    ids=str,
)
def test_buffer_index_is_checked(vector, index, error):
    with pytest.raises(error):
        vector.buffer(index)


def test_a_view_carries_no_sections_and_measures_its_alignment():
    source = array_at(256, np.zeros(64, np.uint8))
    section = hurray.ExtensionType(bit_width=24)
    tensor = hurray.Tensor(
        source, hurray.Dtype.from_tag(0xF0), [21], extension_type=section, copy=False
    )
    view = tensor.buffer(0)
    assert view.buffer_handles[0].alignment == 256
    assert view.extension_type is None
    assert view.quantization is view.statistics is view.shard is None


def test_a_view_keeps_the_memory_alive(matrix):
    view = matrix.T.buffer(0)
    expected = bytes(np.asarray(view))
    del matrix
    scribble = [bytes([255]) * 24 for _ in range(1000)]
    assert bytes(np.asarray(view)) == expected
    del scribble


# ---- T


@pytest.mark.parametrize(
    ("layout", "transposed"),
    [
        (hurray.RowMajorLayout(), hurray.ColMajorLayout()),
        (hurray.ColMajorLayout(), hurray.RowMajorLayout()),
        (strided([10, 3]), strided([3, 10])),
        (strided([0, 1]), strided([1, 0])),
    ],
    ids=str,
)
def test_t_is_a_transposed_view(layout, transposed):
    tensor = hurray.Tensor(floats(20), hurray.float32, [2, 3], layout=layout)
    view = tensor.T
    assert view.layout == transposed
    assert view.shape == (3, 2)
    assert view.dtype is tensor.dtype
    assert view.device is tensor.device
    assert np.array_equal(np.asarray(view), np.asarray(tensor).T)
    np.asarray(view)[2, 1] = 99
    assert np.asarray(tensor)[1, 2] == 99
    assert view.T.descriptor == tensor.descriptor


@pytest.mark.parametrize("shape", [[], [6], [1, 2, 3]], ids=str)
def test_t_needs_rank_2(shape):
    with pytest.raises(ValueError, match="2"):
        _ = hurray.Tensor(floats(6), hurray.float32, shape).T


def test_t_works_for_every_dtype():
    for dtype in [hurray.bool, hurray.dtype.int4, hurray.dtype.float128]:
        tensor = hurray.Tensor(bytes(96), dtype, [2, 3])
        assert tensor.T.layout == "col_major"
        assert tensor.T.dtype is dtype
    section = hurray.ExtensionType(bit_width=24)
    private = hurray.Tensor(bytes(18), hurray.Dtype.from_tag(0xF2), [2, 3], extension_type=section)
    assert private.T.extension_type == section


def test_t_of_a_dynamic_shape_is_dynamic():
    tensor = hurray.Tensor(bytes(24), hurray.float32, [None, 3])
    assert tensor.T.shape == (3, None)


@pytest.mark.parametrize("section", ["quantization", "shard"])
def test_t_refuses_what_it_would_have_to_rewrite(section):
    value = {
        "quantization": lambda: hurray.PerTensorAffine(0.5, 3),
        "shard": lambda: hurray.Shard([4, 6], [0, 0]),
    }[section]()
    tensor = hurray.Tensor(bytes(6), hurray.int8, [2, 3], **{section: value})
    with pytest.raises(hurray.UnsupportedError, match=section[:5]):
        _ = tensor.T


def test_t_drops_statistics():
    tensor = hurray.Tensor(bytes(6), hurray.int8, [2, 3], statistics=hurray.Statistics(nnz=0))
    assert tensor.T.statistics is None


# ---- element_offset


def offsets_by_brute_force(shape, strides):
    """Every index with its offset, written out from the definition."""
    for index in itertools.product(*map(range, shape)):
        yield index, sum(i * stride for i, stride in zip(index, strides, strict=True))


def row_major_strides(shape):
    return [math.prod(shape[k + 1 :]) for k in range(len(shape))]


def col_major_strides(shape):
    return [math.prod(shape[:k]) for k in range(len(shape))]


SHAPES = [[], [1], [7], [2, 3], [3, 1, 4], [2, 0, 3], [2, 3, 2, 2], [1] * 64]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_element_offset_agrees_with_brute_force(shape):
    random.seed(str(shape))
    strides = [random.randrange(12) for _ in shape]
    cases = [
        (hurray.RowMajorLayout(), row_major_strides(shape)),
        (hurray.ColMajorLayout(), col_major_strides(shape)),
    ]
    if shape:
        cases.append((strided(strides), strides))
    for layout, steps in cases:
        tensor = hurray.Tensor(bytes(1024), hurray.uint8, shape, layout=layout)
        for index, offset in offsets_by_brute_force(shape, steps):
            assert tensor.element_offset(index) == offset


def test_element_offset_follows_the_worked_example():
    row = hurray.Tensor(bytes(12), hurray.int8, [3, 4])
    col = hurray.Tensor(bytes(12), hurray.int8, [3, 4], layout=hurray.ColMajorLayout())
    assert row.element_offset([1, 2]) == 6
    assert col.element_offset((1, 2)) == 7
    assert row.T.element_offset(np.array([2, 1])) == 6
    assert type(row.element_offset(index=[1, 2])) is int


@pytest.mark.parametrize("index", [(2, 0), (0, 3), (2**63, 0), (2**64 - 1, 0)], ids=str)
def test_element_offset_out_of_range_is_an_index_error(matrix, index):
    with pytest.raises(IndexError):
        matrix.element_offset(index)


@pytest.mark.parametrize(
    "index",
    [
        *[(), (0,), (0, 0, 0), 0, "00", b"\0\0", (0.0, 0), (None, 0), {0, 1}],
        pytest.param(iter([0, 0]), id="iterator"),
    ],
    ids=repr,
)
def test_element_offset_needs_one_integer_for_each_dimension(matrix, index):
    with pytest.raises(TypeError):
        matrix.element_offset(index)


def test_element_offset_of_an_empty_tensor_is_out_of_range():
    with pytest.raises(IndexError):
        hurray.Tensor(b"", hurray.int8, [0]).element_offset([0])


def test_element_offset_is_undefined_for_dynamic_shapes():
    with pytest.raises(hurray.UnsupportedError):
        hurray.Tensor(bytes(4), hurray.int8, [None]).element_offset([0])


# ---- validate_contents


@pytest.mark.parametrize(
    "layout", [None, hurray.ColMajorLayout(), strided([0, 1])], ids=["row", "col", "strided"]
)
def test_contents_of_dense_tensors_are_always_valid(layout):
    tensor = hurray.Tensor(b"\xff" * 99, hurray.float32, [2, 3], layout=layout, aux_buffers=[b"x"])
    assert tensor.validate_contents() is None


# ---- memory that is not ready


def test_a_sync_mode_forbids_touching_the_bytes(waiting):
    assert waiting.buffer_handles[0].sync_mode == "event"
    with pytest.raises(hurray.UnsupportedError, match="event"):
        waiting.buffer(0)
    with pytest.raises(hurray.UnsupportedError, match="event"):
        waiting.__array__()
    with pytest.raises(hurray.UnsupportedError, match="event"):
        _ = waiting.T  # before the rank is looked at


def test_a_sync_mode_does_not_hinder_a_relay(waiting):
    writer = hurray.StreamWriter()
    writer.write(waiting)
    again = next(hurray.StreamReader(writer.getvalue()))
    assert again.descriptor == waiting.descriptor


def test_a_sync_mode_shows_in_the_text_without_harm(waiting):
    assert repr(waiting).startswith("hurray.Tensor(shape=(4,), dtype=float32, device=")


# ---- equality, and what is absent


def test_tensors_are_equal_only_to_themselves(matrix):
    same_content = hurray.Tensor(struct.pack("<6f", 1, 2, 3, 4, 5, 6), hurray.float32, [2, 3])
    assert matrix == matrix
    assert matrix != same_content
    assert (matrix == 3) is False


def test_tensors_are_unhashable(matrix):
    assert not isinstance(matrix, Hashable)
    with pytest.raises(TypeError, match="unhashable type: 'Tensor'"):
        hash(matrix)


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(len, id="len"),
        pytest.param(iter, id="iter"),
        pytest.param(lambda t: t[0], id="getitem"),
        pytest.param(lambda t: t.__setitem__(0, 1), id="setitem"),
        pytest.param(lambda t: t + t, id="add"),
        pytest.param(lambda t: -t, id="neg"),
        pytest.param(lambda t: t @ t, id="matmul"),
        pytest.param(lambda t: t < t, id="less"),
        pytest.param(lambda t: 1 in t, id="contains"),
        pytest.param(lambda t: t.__array_namespace__, id="array_namespace"),
        pytest.param(lambda t: t.__array_interface__, id="array_interface"),
    ],
)
def test_tensors_do_not_compute(matrix, use):
    with pytest.raises((TypeError, AttributeError)):
        use(matrix)


def test_tensors_are_true(matrix):
    assert bool(matrix) is True
    assert bool(hurray.Tensor(b"", hurray.int8, [0])) is True


def test_bool_elements_are_bits():
    bits = [True, False, True, True, False, False, False, True, True]
    tensor = hurray.Tensor(packed(bits), hurray.bool, [9])
    assert np.asarray(tensor).tolist() == bits
