"""The published golden vectors of the reference implementation. Format: section 13."""

from pathlib import Path

import model
import numpy as np
import pytest
import wire
from wire import Descriptor, Handle

import hurray

VECTORS = Path(__file__).parents[1] / "data" / "vectors"


# name: what it describes, the layout's name, names of the API that it takes
DESCRIPTORS = {
    "row_major_f32_3x4": (Descriptor("float32", (3, 4), handles=(Handle(48),)), "row_major"),
    "row_major_int8_5": (Descriptor("int8", (5,), handles=(Handle(5),)), "row_major"),
    "row_major_f16_2x2": (Descriptor("float16", (2, 2), handles=(Handle(8),)), "row_major"),
    "bool_packed_10": (Descriptor("bool", (10,), handles=(Handle(2),)), "row_major"),
    "strided_f32_3x4": (
        Descriptor("float32", (3, 4), model.Strided((4, 1)), (Handle(48),)),
        "strided",
    ),
    "morton_f32_4x4": (
        Descriptor("float32", (4, 4), model.Morton((2, 2)), (Handle(64),)),
        "morton",
    ),
    "empty_f32_0x4": (Descriptor("float32", (0, 4), handles=(Handle(0),)), "row_major"),
    "sharded_f32_8x4": (
        Descriptor("float32", (8, 4), handles=(Handle(128),), shard=wire.shard((8, 8), (0, 4))),
        "row_major",
    ),
    "csr_f32_3x3": (
        Descriptor("float32", (3, 3), model.Compressed(2), (Handle(8), Handle(16), Handle(32))),
        "csr",
    ),
    "composite_head_partition": (
        Descriptor("float32", (8, 8), model.CompositeHead("partition", 2)),
        "composite",
    ),
    "quant_per_block_int4_128x128": (
        Descriptor(
            "int4",
            (128, 128),
            handles=(Handle(8192), Handle(256)),
            quantization=wire.per_block(1, 128, 1, scale_type=1),
        ),
        "row_major",
    ),
}

params = pytest.mark.parametrize(
    ("name", "expected", "layout"),
    [
        pytest.param(name, expected, layout, id=name)
        for name, (expected, layout) in DESCRIPTORS.items()
    ],
)


def vector(name):
    return (VECTORS / name).read_bytes()


def test_all_twelve_are_here():
    files = {path.name for path in VECTORS.iterdir()} - {"NOTICE"}
    assert files == {f"{name}.bin" for name in DESCRIPTORS} | {"basic.hrry"}


@params
def test_vectors_are_what_the_model_writes(name, expected, layout):
    assert expected.encode() == vector(f"{name}.bin")


@params
def test_vectors_decode_to_what_they_describe(name, expected, layout):
    descriptor = hurray.Descriptor.decode(vector(f"{name}.bin"))
    assert descriptor.version == (1, 0)
    assert descriptor.dtype is getattr(hurray.dtype, expected.dtype)
    assert descriptor.shape == expected.shape
    assert descriptor.byte_offset == 0
    assert descriptor.layout.name == layout
    assert [h.byte_size for h in descriptor.buffer_handles] == [
        h.byte_size for h in expected.handles
    ]
    for handle in descriptor.buffer_handles:
        assert handle.alignment == 64
        assert handle.sync_mode == "producer_synced"
        assert handle.device == hurray.device.cpu


@params
def test_vectors_are_encoded_again_byte_for_byte(name, expected, layout):
    data = vector(f"{name}.bin")
    descriptor = hurray.Descriptor.decode(data)
    assert descriptor.encode() == data
    assert descriptor.encoded_len == len(data)


@params
def test_vectors_are_built_from_their_parts(name, expected, layout):
    """Where a constructor can: the same descriptor comes from the values alone."""
    decoded = hurray.Descriptor.decode(vector(f"{name}.bin"))
    if layout == "composite":
        pytest.skip("a head cannot be built alone")
    first, *others = (bytes(handle.byte_size) for handle in expected.handles)
    tensor = hurray.Tensor(
        first,
        decoded.dtype,
        decoded.shape,
        aux_buffers=others or None,
        layout=decoded.layout,
        quantization=decoded.quantization,
        shard=decoded.shard,
    )
    # An empty buffer is declared with alignment 1 here, with 64 in the vector.
    if any(handle.byte_size == 0 for handle in expected.handles):
        assert tensor.shape == decoded.shape
    else:
        assert tensor.descriptor.encode() == vector(f"{name}.bin")


def test_the_parameters_of_layouts_are_those_of_the_manifest():
    def layout(name):
        return hurray.Descriptor.decode(vector(f"{name}.bin")).layout

    assert layout("strided_f32_3x4").strides == (4, 1)
    if hasattr(hurray, "MortonLayout"):
        assert layout("morton_f32_4x4") == hurray.MortonLayout([2, 2])
    if hasattr(hurray, "CsrLayout"):
        assert layout("csr_f32_3x3") == hurray.CsrLayout(2)
    if hasattr(hurray, "CompositeLayout"):
        assert layout("composite_head_partition") == hurray.CompositeLayout("partition", 2)


def test_the_quantization_is_that_of_the_manifest():
    scheme = hurray.Descriptor.decode(vector("quant_per_block_int4_128x128.bin")).quantization
    assert scheme == hurray.PerBlockAffine.symmetric(1, 128, 1, hurray.float16)


def test_the_shard_is_that_of_the_manifest():
    shard = hurray.Descriptor.decode(vector("sharded_f32_8x4.bin")).shard
    assert shard == hurray.Shard([8, 8], [0, 4])


@pytest.mark.parametrize("mapped", [True, False], ids=["mapped", "in-memory"])
def test_the_file_is_read_and_written_again_byte_for_byte(tmp_path, mapped):
    path = VECTORS / "basic.hrry"
    loaded = hurray.load(path, mmap=mapped)
    kv = hurray.load_kv(path)
    assert list(loaded) == ["weights", "bias"]
    assert np.asarray(loaded["weights"]).dtype == np.float32
    assert np.asarray(loaded["weights"]).tolist() == [[0, 0], [0, 0]]
    assert np.asarray(loaded["bias"]).dtype == np.int8
    assert np.asarray(loaded["bias"]).tolist() == [0, 0, 0]
    assert kv == {"producer": "hurray-conformance", "tensor_count": 2}
    hurray.save(tmp_path / "again.hrry", loaded, kv=kv)
    assert (tmp_path / "again.hrry").read_bytes() == path.read_bytes()


def test_the_file_is_what_the_model_writes():
    items = {
        "weights": wire.tensor("float32", (2, 2), bytes(16)),
        "bias": wire.tensor("int8", (3,), bytes(3)),
    }
    kv = {"producer": "hurray-conformance", "tensor_count": 2}
    assert wire.container(items, kv) == vector("basic.hrry")
