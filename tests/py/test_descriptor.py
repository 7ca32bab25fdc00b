import struct
import weakref

import numpy as np
import pytest
from arrays import array_at

import hurray

# float32 [3, 4], row-major, one buffer of 48 bytes on the CPU: header, shape, byte offset, number
# of buffers, and the one row of the buffer table.
ROW_MAJOR_3X4 = bytes.fromhex(
    "48525259 01 00 3d000000 00000000 03 01 02000000"
    "0300000000000000 0400000000000000"
    "0000000000000000"
    "01"
    "3000000000000000 40000000 00 00 00 00"
)
# The same with strides [-4, 1] and a byte offset of 32.
STRIDED_3X4 = bytes.fromhex(
    "48525259 01 00 4d000000 00000000 03 03 02000000"
    "0300000000000000 0400000000000000"
    "2000000000000000"
    "fcffffffffffffff 0100000000000000"
    "01"
    "3000000000000000 40000000 00 00 00 00"
)


@pytest.fixture
def descriptor():
    """Of a float32 tensor, [3, 4], one CPU buffer."""
    return hurray.Tensor(bytes(48), hurray.float32, [3, 4]).descriptor


def every_section():
    sections = {
        "statistics": hurray.Statistics(nnz=3),
        "shard": hurray.Shard([8, 4], [0, 0]),
        "quantization": hurray.PerTensorAffine(0.5, 3),
    }
    return hurray.Tensor(bytes(12), hurray.int8, [3, 4], **sections).descriptor


def test_every_part_can_be_read(descriptor):
    assert descriptor.dtype is hurray.float32
    assert descriptor.shape == (3, 4)
    assert descriptor.ndim == 2
    assert descriptor.size == 12
    assert descriptor.layout == hurray.RowMajorLayout()
    assert descriptor.buffer_count == 1
    assert descriptor.device == hurray.device.cpu
    assert descriptor.byte_offset == 0
    assert descriptor.version == (1, 0)
    assert descriptor.encoded_len == 61
    assert descriptor.quantization is None
    assert descriptor.shard is None
    assert descriptor.statistics is None
    assert descriptor.extension_type is None
    (handle,) = descriptor.buffer_handles
    assert (handle.byte_size, handle.alignment) == (48, 64)
    assert (handle.sync_mode, handle.device) == ("producer_synced", hurray.device.cpu)


def test_the_bytes_are_those_of_the_format(descriptor):
    assert descriptor.encode() == ROW_MAJOR_3X4
    assert len(ROW_MAJOR_3X4) == descriptor.encoded_len


def test_decode_is_the_inverse_of_encode(descriptor):
    assert hurray.Descriptor.decode(descriptor.encode()) == descriptor


def test_what_no_constructor_makes_is_decoded_and_encoded_too():
    decoded = hurray.Descriptor.decode(STRIDED_3X4)
    assert decoded.byte_offset == 32
    assert decoded.layout == hurray.StridedLayout([-4, 1])
    assert decoded.encode() == STRIDED_3X4


def test_sections_survive_the_round_trip():
    described = every_section()
    decoded = hurray.Descriptor.decode(described.encode())
    assert decoded == described
    assert decoded.statistics == hurray.Statistics(nnz=3)
    assert decoded.shard == hurray.Shard([8, 4], [0, 0])
    assert decoded.quantization == hurray.PerTensorAffine(0.5, 3)


def test_a_private_type_travels_with_its_description():
    section = hurray.ExtensionType(bit_width=24, is_signed=True)
    tensor = hurray.Tensor(bytes(12), hurray.Dtype.from_tag(0xF2), [4], extension_type=section)
    decoded = hurray.Descriptor.decode(tensor.descriptor.encode())
    assert decoded.dtype is hurray.Dtype.from_tag(0xF2)
    assert decoded.extension_type == section
    assert decoded.encoded_len == 53 + 20


def test_dynamic_extents_survive_the_round_trip():
    tensor = hurray.Tensor(b"", hurray.float32, [None, 4])
    decoded = hurray.Descriptor.decode(tensor.descriptor.encode())
    assert decoded.shape == (None, 4)
    assert decoded.size is None


@pytest.mark.parametrize("convert", [bytes, bytearray, memoryview, np.frombuffer])
def test_any_bytes_are_decoded(convert):
    source = (
        np.frombuffer(ROW_MAJOR_3X4, np.uint8)
        if convert is np.frombuffer
        else convert(ROW_MAJOR_3X4)
    )
    assert hurray.Descriptor.decode(source).shape == (3, 4)


@pytest.mark.parametrize("source", ["text", None, 61, [72, 82]], ids=repr)
def test_what_is_not_bytes_is_a_type_error(source):
    with pytest.raises(TypeError):
        hurray.Descriptor.decode(source)


def test_bytes_behind_the_descriptor_are_ignored(descriptor):
    assert hurray.Descriptor.decode(ROW_MAJOR_3X4 + b"and more") == descriptor


@pytest.mark.parametrize("encoded", [ROW_MAJOR_3X4, STRIDED_3X4], ids=["row_major", "strided"])
def test_every_shorter_input_is_refused(encoded):
    for length in range(len(encoded)):
        with pytest.raises(hurray.InvalidDescriptorError):
            hurray.Descriptor.decode(encoded[:length])


@pytest.mark.parametrize("encoded", [ROW_MAJOR_3X4, STRIDED_3X4], ids=["row_major", "strided"])
def test_every_changed_byte_is_refused_or_encoded_again(encoded):
    for position in range(len(encoded)):
        for value in range(256):
            changed = bytearray(encoded)
            changed[position] = value
            try:
                decoded = hurray.Descriptor.decode(bytes(changed))
            except hurray.InvalidDescriptorError:
                continue
            assert decoded.encode() == changed[: decoded.encoded_len]


@pytest.mark.parametrize(
    ("position", "value", "match"),
    [
        pytest.param(0, b"hrry", "magic", id="magic"),
        pytest.param(4, b"\2", "version", id="major-version"),
        pytest.param(4, b"\0", "version", id="major-version-0"),
        pytest.param(6, struct.pack("<I", 60), "truncated", id="too-short"),
        pytest.param(6, struct.pack("<I", 62), "62", id="too-long"),
        pytest.param(6, struct.pack("<I", 19), "19", id="shorter-than-the-header"),
        pytest.param(10, struct.pack("<I", 1 << 5), "flag", id="unknown-flag"),
        pytest.param(14, b"\x47", "0x47", id="reserved-type"),
        pytest.param(14, b"\0", "0x00", id="type-0"),
        pytest.param(15, b"\x0c", "0x0C", id="reserved-layout"),
        pytest.param(15, b"\xff", "0xFF", id="layout-255"),
        pytest.param(16, struct.pack("<I", 65), "65", id="rank"),
        pytest.param(16, struct.pack("<I", 2**32 - 1), "4294967295", id="rank-of-billions"),
        pytest.param(36, struct.pack("<Q", 49), "49", id="byte-offset-behind-the-buffer"),
        pytest.param(36, struct.pack("<Q", 1), "49", id="byte-offset-that-pushes-out"),
        pytest.param(44, b"\0", "descriptor_length", id="no-buffer"),
        pytest.param(44, b"\2", "buffer", id="more-buffers-than-there-are"),
        pytest.param(45, struct.pack("<Q", 47), "47", id="buffer-too-small"),
        pytest.param(53, struct.pack("<I", 0), "alignment", id="alignment-0"),
        pytest.param(53, struct.pack("<I", 96), "96", id="alignment-not-a-power-of-two"),
        pytest.param(53, struct.pack("<I", 32), "32", id="alignment-too-low"),
        pytest.param(57, b"\x09", "device", id="device"),
        pytest.param(58, b"\1", "sync", id="cpu-not-synced"),
        pytest.param(58, b"\3", "sync", id="sync-mode"),
        pytest.param(59, b"\3", "peer", id="cpu-peer"),
        pytest.param(60, b"\1", "reserved", id="reserved-byte"),
    ],
)
def test_broken_rules_are_named(position, value, match):
    changed = bytearray(ROW_MAJOR_3X4)
    changed[position : position + len(value)] = value
    with pytest.raises(hurray.InvalidDescriptorError, match=f"(?i){match}"):
        hurray.Descriptor.decode(changed)


def test_a_newer_minor_version_keeps_its_tail():
    newer = bytearray(ROW_MAJOR_3X4 + b"tail")
    newer[5] = 7
    newer[6:10] = struct.pack("<I", len(newer))
    decoded = hurray.Descriptor.decode(newer)
    assert decoded.version == (1, 7)
    assert decoded.encode() == newer


# ---- what is declared


@pytest.mark.parametrize("alignment", [64, 256, 4096])
def test_the_declared_alignment_does_not_depend_on_the_address(alignment):
    array = array_at(alignment, np.zeros(4, np.float32))
    tensor = hurray.from_numpy(array, copy=False)
    assert tensor.buffer_handles[0].alignment == alignment
    assert tensor.descriptor.buffer_handles[0].alignment == 64


def test_an_empty_buffer_declares_an_alignment_of_1():
    descriptor = hurray.Tensor(b"", hurray.float32, [0]).descriptor
    assert descriptor.buffer_handles[0].alignment == 1
    assert descriptor.buffer_handles[0].is_empty


def test_a_large_buffer_declares_64():
    descriptor = hurray.zeros([8 << 20], dtype=hurray.uint8).descriptor
    assert descriptor.buffer_handles[0].alignment == 64


def test_the_device_is_that_of_the_tensor_without_its_number():
    tensor = hurray.Tensor(bytes(4), hurray.float32, [1], hurray.Device("cuda", 3, "unified"))
    decoded = hurray.Descriptor.decode(tensor.descriptor.encode())
    assert decoded.device == hurray.Device("cuda", 0, "unified")


# ---- the object


def test_it_is_not_constructible():
    with pytest.raises(TypeError):
        hurray.Descriptor()
    with pytest.raises(TypeError):
        hurray.Descriptor.__new__(hurray.Descriptor)
    with pytest.raises(TypeError):
        type("Mine", (hurray.Descriptor,), {})


@pytest.mark.parametrize("name", ["dtype", "shape", "colour"])
def test_it_is_immutable(descriptor, name):
    with pytest.raises(AttributeError):
        setattr(descriptor, name, None)


def test_equality_covers_every_field(descriptor):
    others = {
        "dtype": hurray.Tensor(bytes(48), hurray.int32, [3, 4]),
        "shape": hurray.Tensor(bytes(48), hurray.float32, [4, 3]),
        "layout": hurray.Tensor(bytes(48), hurray.float32, [3, 4], layout=hurray.ColMajorLayout()),
        "size": hurray.Tensor(bytes(49), hurray.float32, [3, 4]),
        "count": hurray.Tensor(bytes(48), hurray.float32, [3, 4], aux_buffers=[b""]),
        "device": hurray.Tensor(bytes(48), hurray.float32, [3, 4], hurray.Device("cuda")),
    }
    for name, other in others.items():
        assert descriptor != other.descriptor, name
    assert descriptor == hurray.Tensor(bytes(48), hurray.float32, [3, 4]).descriptor
    assert (descriptor == 3) is False
    assert (descriptor == ROW_MAJOR_3X4) is False


def test_equality_covers_the_declared_alignment(descriptor):
    changed = bytearray(ROW_MAJOR_3X4)
    changed[53:57] = struct.pack("<I", 128)
    decoded = hurray.Descriptor.decode(changed)
    assert decoded != descriptor
    assert decoded.buffer_handles[0].alignment == 128
    assert decoded.encode() == changed


def test_it_is_unhashable_and_unordered(descriptor):
    with pytest.raises(TypeError, match="unhashable"):
        hash(descriptor)
    with pytest.raises(TypeError):
        descriptor < descriptor


def test_it_can_be_weakly_referenced(descriptor):
    assert weakref.ref(descriptor)() is descriptor


def test_repr_shows_the_main_parts():
    tensor = hurray.Tensor(bytes(16), hurray.float32, [4])
    assert repr(tensor.descriptor) == (
        "hurray.Descriptor(dtype=float32, shape=(4,), layout='row_major', buffers=1)"
    )
    assert str(tensor.descriptor) == repr(tensor.descriptor)


def test_repr_shows_dynamic_extents_as_none():
    tensor = hurray.Tensor(b"", hurray.dtype.int4, [None, 2], layout=hurray.ColMajorLayout())
    assert repr(tensor.descriptor) == (
        "hurray.Descriptor(dtype=int4, shape=(None, 2), layout='col_major', buffers=1)"
    )
