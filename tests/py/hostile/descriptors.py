"""Descriptors that break one rule each, in the order in which the rules come in the format."""

from dataclasses import replace

import wire
from model import (
    BlockPaged,
    ColMajor,
    CompositeHead,
    Compressed,
    Coo,
    Csf,
    Hilbert,
    Morton,
    Private,
    Strided,
    Tiled,
)
from wire import Descriptor, Handle

from hostile import ACCEPTED, Input

INPUTS = []


def refused(name, attacks, data):
    INPUTS.append(Input(name, attacks, data, ("InvalidDescriptorError",)))


def accepted(name, attacks, data):
    INPUTS.append(Input(name, attacks, data, (ACCEPTED,)))


PLAIN = Descriptor("float32", (2, 2), handles=(Handle(16),))
HUGE = 2**63
MAX = 2**64 - 2


def plain(**fields):
    return replace(PLAIN, **fields).encode()


def with_handle(*, size=16, **fields):
    return plain(handles=(Handle(size, **fields),))


# ---- header

refused("magic", "a reader of anything that is there", PLAIN.encode(magic=b"HRRX"))
refused("major_0", "a check for larger versions only", PLAIN.encode(major=0))
refused("major_2", "a reader of the future's bytes", PLAIN.encode(major=2))
for length in (0, 9, 10, 19):
    refused(f"length_{length}", "a length shorter than the header", PLAIN.encode(length=length))
refused("length_20", "a body outside of the length", PLAIN.encode(length=20))
refused("length_one_short", "the last byte read past the length", PLAIN.encode(length=60))
refused("length_one_long", "a byte behind the input", PLAIN.encode(length=62))
refused("length_max", "memory for a claimed length", PLAIN.encode(length=2**32 - 1))
refused("leftover_bytes", "a length longer than the sections", plain(tail=bytes(4)))
accepted("leftover_bytes_of_a_newer_minor", "a reader without mercy", plain(minor=1, tail=bytes(4)))
for bit in (5, 16, 31):
    refused(f"flag_{bit}", "an unknown section taken for none", PLAIN.encode(flags=1 << bit))
refused("flag_5_of_a_newer_minor", "the same, excused", replace(PLAIN, minor=9).encode(flags=32))
for tag in (0x00, 0x17 + 1, 0x30, 0x47, 0x4C, 0x52, 0x80, 0xEF, 0xFF):
    refused(f"type_{tag:02x}", "a look-up of the type's width", plain(dtype=tag))
for tag in (0x00, 0x0C, 0x3F, 0x41, 0x7F, 0x80, 0xEF, 0xFF):
    refused(f"layout_{tag:02x}", "a look-up of the layout", PLAIN.encode(layout_tag=tag))
refused("rank_65", "arrays of 64 dimensions", plain(shape=(1,) * 65, handles=(Handle(4),)))
refused("rank_more_than_bytes", "dimensions read past the end", PLAIN.encode(rank=64))
refused("rank_max", "8 times the rank, in 32 bits", PLAIN.encode(rank=2**32 - 1))
refused("rank_times_8_wraps", "8 times the rank, in 32 bits", PLAIN.encode(rank=0x20000001))
refused("extension_flag_without_private_type", "20 bytes that are not there", PLAIN.encode(flags=4))
refused("private_type_without_section", "a type without a width", plain(dtype=0xF0))
refused(
    "extension_section_of_a_named_type",
    "two widths for one type",
    plain(extension=wire.extension_type(24)),
)

# ---- shape and sizes

refused("byte_offset_past_the_end", "memory behind the buffer", plain(byte_offset=17))
refused("byte_offset_leaves_too_little", "memory behind the buffer", plain(byte_offset=4))
refused("byte_offset_max", "offset plus size, wrapped", plain(byte_offset=2**64 - 1))
refused("byte_offset_wraps_to_fit", "offset plus size, wrapped", plain(byte_offset=2**64 - 16))
refused("buffer_one_byte_short", "memory behind the buffer", with_handle(size=15))
refused("count_wraps_to_0", "the product of the shape", plain(shape=(2**32, 2**32)))
refused("count_wraps_to_4", "the product of the shape", plain(shape=(HUGE + 2, 2)))
refused("count_times_width_wraps", "count times four bytes", plain(shape=(2**62,)))
refused("rank_64_of_2_63", "a product of 64 huge sizes", plain(shape=(HUGE,) * 64))
accepted(
    "zero_beside_huge", "a product taken before the zero is seen", plain(shape=(HUGE, HUGE, 0))
)
accepted("zero_behind_an_overflow", "a product of 64 huge sizes", plain(shape=(HUGE,) * 63 + (0,)))
accepted("dynamic", "arithmetic with an unknown size", plain(shape=(None, 2)))
refused("sub_byte_one_short", "a size rounded down", plain(dtype="int4", shape=(33,)))
refused("six_bit_two_thirds", "a size of whole bytes", plain(dtype="float6_e2m3", shape=(21,)))

# ---- buffer handles

for alignment in (0, 3, 96, 2**32 - 1):
    refused(
        f"alignment_{alignment}",
        "a division by the alignment, a mask of it",
        with_handle(alignment=alignment),
    )
for alignment in (1, 32):
    refused(f"alignment_{alignment}", "aligned loads", with_handle(alignment=alignment))
refused(
    "alignment_0_of_nothing",
    "a division by the alignment",
    plain(shape=(0,), handles=(Handle(0, alignment=0),)),
)
for device in (0x09, 0xEF, 0xFF):
    refused(f"device_{device:02x}", "a look-up of the device", with_handle(device=device))
refused("sync_mode_3", "a look-up of the mode", with_handle(device=1, sync_mode=3))
for mode in (1, 2):
    refused(f"sync_mode_{mode}_on_the_cpu", "a wait without an event", with_handle(sync_mode=mode))
refused(
    "sync_mode_1_of_nothing_on_the_cpu",
    "the same, for an empty buffer",
    plain(shape=(0,), handles=(Handle(0, sync_mode=1),)),
)
for memory_class in (0x04, 0xEF, 0xFF):
    refused(
        f"memory_class_{memory_class:02x}",
        "a look-up of the class",
        with_handle(memory_class=memory_class),
    )
refused("handle_reserved", "a field of the future", with_handle(reserved=1))
for device, memory_class in ((0, 3), (5, 1), (5, 2), (3, 3), (6, 3), (8, 3), (0xF0, 1), (1, 0xF0)):
    refused(
        f"device_{device:02x}_class_{memory_class:02x}",
        "memory that the device does not have",
        with_handle(device=device, memory_class=memory_class),
    )
refused(
    "colocation_device",
    "host bytes beside device bytes",
    plain(handles=(Handle(16), Handle(16, device=1))),
)
refused(
    "colocation_class",
    "two kinds of memory in one tensor",
    plain(handles=(Handle(16), Handle(16, memory_class=1))),
)
refused("no_buffer", "the first of no buffers", plain(handles=()))
refused("count_255_truncated", "handles read past the end", PLAIN.encode(buffer_count=255))
accepted("surplus_buffer", "a reader that counts", plain(handles=(Handle(16), Handle(8))))

# ---- column-major and strided

refused("strided_scalar", "strides of no dimension", plain(shape=(), layout=Strided(())))


def strided(shape, strides, size=64, **fields):
    return plain(shape=shape, layout=Strided(strides), handles=(Handle(size),), **fields)


refused("strides_past_the_end", "memory behind the buffer", strided((3, 4), (8, 1)))
refused("strides_below_the_start", "memory before the buffer", strided((3, 4), (-4, 1)))
refused(
    "strides_below_the_start_by_a_byte",
    "memory before the buffer",
    strided((3, 4), (-4, 1), byte_offset=31),
)
refused("stride_times_size_wraps", "64-bit products", strided((3,), (2**63 - 1,)))
refused("stride_times_size_wraps_to_0", "64-bit products", strided((5,), (2**62,)))
refused("strides_that_cancel", "a sum that hides both ends", strided((3, 3), (2**62, -(2**62))))
refused("stride_min", "the negation of the smallest number", strided((2,), (-(2**63),)))
refused("stride_of_a_huge_dimension", "a size cast to a signed number", strided((HUGE,), (1,)))
accepted("stride_0_of_a_huge_dimension", "a size cast to a signed number", strided((MAX,), (0,)))
accepted("stride_min_of_one_element", "a stride that is never taken", strided((1,), (-(2**63),)))
accepted("strides_of_nothing", "strides that are never taken", strided((0, 9), (2**62, 2**62)))
refused(
    "strides_cut",
    "strides read past the end",
    PLAIN.encode(layout_tag=3, payload=bytes(8), buffer_count=0),
)
accepted("col_major_scalar", "a reader that insists", plain(shape=(), layout=ColMajor()))

# ---- tiled


def tiled(name, attacks, *tile_fields, shape=(4, 4), size=64, payload=None, check=refused):
    layout = tile_fields[0] if isinstance(tile_fields[0], Tiled) else Tiled(*tile_fields)
    base = Descriptor("float32", shape, layout, (Handle(size),))
    check(name, attacks, base.encode(payload=payload))


def tile_bytes(outer=1, inner=1, reserved=0, tile=2):
    return tile.to_bytes(8, "little") * 2 + bytes([outer, inner, reserved, 0])


TILE = Tiled((2, 2))
tiled("tile_0", "a division by the tile", (0, 2))
for outer in (0, 4, 5, 255):
    tiled(f"tile_outer_{outer}", "a look-up of the order", TILE, payload=tile_bytes(outer=outer))
for inner in (0, 5, 255):
    tiled(f"tile_inner_{inner}", "a look-up of the order", TILE, payload=tile_bytes(inner=inner))
tiled("tile_reserved", "a field of the future", TILE, payload=tile_bytes(reserved=1))
tiled("tile_strides_missing", "strides read past the end", TILE, payload=tile_bytes(outer=3))
tiled("tile_nested_missing", "a record read past the end", TILE, payload=tile_bytes(inner=4))
tiled(
    "tile_nested_reserved",
    "a field of the future, below",
    TILE,
    payload=tile_bytes(inner=4) + tile_bytes(reserved=1, tile=1),
)
for depth in (9, 1000, 100_000):
    tiled(
        f"tile_depth_{depth}",
        "the stack, by one call per level",
        TILE,
        payload=tile_bytes(inner=4) * (depth - 1) + tile_bytes(),
    )
tiled(
    "tile_depth_8",
    "a reader that gives up early",
    TILE,
    payload=tile_bytes(inner=4) * 7 + tile_bytes(),
    check=accepted,
)
tiled(
    "tile_not_dividing",
    "elements that share an address",
    (4, 4),
    "row_major",
    "tiled",
    None,
    None,
    Tiled((3, 3)),
    shape=(4, 4),
)
tiled("tile_volume_wraps", "the product of the tile", (2**32, 2**32))
tiled("tile_padded_size_wraps", "tiles times volume", (2**61 + 1, 2), shape=(2**61, 2))
tiled("tile_round_up_wraps", "size plus tile minus one", (2**63 + 5, 1), shape=(2**63 + 9, 1))
tiled("tile_padding_missing", "cells behind the buffer", (3, 3), shape=(4, 4), size=64)
tiled(
    "tile_outer_strides_wrap",
    "stride times volume",
    (2, 2),
    "strided",
    "row_major",
    (2**62, 1),
)
tiled(
    "tile_inner_strides_negative",
    "memory before the buffer",
    (2, 2),
    "row_major",
    "strided",
    None,
    (-2, 1),
)
tiled("tile_of_nothing", "sizes that are never taken", (2**63, 2**63), shape=(0, 4), check=accepted)

# ---- Morton and Hilbert


def morton(name, attacks, bits, shape=(4, 4), size=64, check=refused):
    base = Descriptor("float32", shape, Morton(bits), (Handle(size),))
    check(name, attacks, base.encode())


morton("morton_bits_0", "a dimension without bits", (0, 2))
morton("morton_sum_64", "a shift by 64", (32, 32))
morton("morton_sum_wraps", "a sum of bits in 32 bits", (2**32 - 1, 3), shape=(1, 1))
morton("morton_bits_max", "a shift by billions", (2**32 - 1, 2**32 - 1), shape=(1, 1))
morton("morton_dim_too_big", "an index that the code cannot hold", (1, 2))
morton("morton_buffer_small", "cells behind the buffer", (2, 2), size=60)
morton("morton_uneven_needs_more", "a code beyond two to the sum", (1, 3), (2, 8), size=64)
morton("morton_of_nothing", "sizes that are never taken", (2, 2), (0, 4), 0, check=accepted)


def hilbert(name, attacks, order, rank, shape, size=64, check=refused):
    base = Descriptor("float32", shape, Hilbert(order, rank), (Handle(size),))
    check(name, attacks, base.encode())


hilbert("hilbert_order_0", "a curve of one cell", 0, 2, (1, 1))
hilbert("hilbert_order_32", "a shift by 64", 32, 2, (2**32, 2**32))
hilbert("hilbert_order_wraps", "rank times order in 32 bits", 2**31, 2, (1, 1))
hilbert("hilbert_order_max", "a shift by billions", 2**32 - 1, 2, (1, 1))
hilbert("hilbert_rank_1", "a curve in one dimension", 2, 1, (4,))
hilbert("hilbert_rank_differs", "coordinates that are not there", 2, 3, (4, 4))
hilbert("hilbert_not_a_power", "a cell outside of the curve", 2, 2, (4, 3))
hilbert("hilbert_buffer_small", "cells behind the buffer", 2, 2, (4, 4), size=60)

# ---- sparse


def sparse(name, attacks, layout, sizes, shape=(3, 3), payload=None, check=refused, **fields):
    base = Descriptor("float32", shape, layout, tuple(map(Handle, sizes)), **fields)
    check(name, attacks, base.encode(payload=payload))


COO, COO_SIZES = Coo(2), (8, 32)
sparse("coo_scalar", "coordinates of no dimension", COO, (8, 8), shape=())
sparse("coo_byte_offset", "values at another place", COO, COO_SIZES, byte_offset=4)
sparse("coo_reserved", "a field of the future", COO, COO_SIZES, payload=COO.payload()[:-1] + b"\1")
sparse(
    "coo_is_sorted_2",
    "a byte taken for a bool",
    COO,
    COO_SIZES,
    payload=b"\2" + bytes(7) + b"\2" + bytes(7),
)
sparse("coo_nnz_max", "nnz times rank times 8", Coo(2**64 - 1), COO_SIZES)
sparse("coo_nnz_wraps_to_0", "nnz times rank times 8", Coo(2**60), (2**62, 32))
sparse("coo_values_small", "values behind the buffer", COO, (7, 32))
sparse("coo_indices_small", "coordinates behind the buffer", COO, (8, 31))
sparse("coo_one_buffer", "the second of one buffer", COO, (8,))
for layout, name in ((Compressed(2), "csr"), (Compressed(2, 1), "csc")):
    sizes = (8, 16, 32)
    sparse(f"{name}_rank_1", "a second dimension", layout, sizes, shape=(3,))
    sparse(f"{name}_rank_3", "a matrix that is none", layout, sizes, shape=(3, 3, 3))
    sparse(f"{name}_reserved", "a field of the future", layout, sizes, payload=bytes(15) + b"\1")
    sparse(f"{name}_byte_offset", "values at another place", layout, sizes, byte_offset=4)
    sparse(f"{name}_two_buffers", "the third of two buffers", layout, sizes[:2])
    sparse(f"{name}_values_small", "values behind the buffer", layout, (7, 16, 32))
    sparse(f"{name}_indices_small", "indices behind the buffer", layout, (8, 15, 32))
    sparse(f"{name}_pointers_small", "pointers behind the buffer", layout, (8, 16, 31))
    sparse(f"{name}_nnz_max", "nnz times 8", Compressed(2**64 - 1, layout.major), (8, 16, 32))
    sparse(f"{name}_rows_max", "rows plus one", layout, sizes, shape=(MAX, MAX))
CSF_SIZES = (8, 16, 8, 16, 8, 16, 16)
CUBE = (3, 3, 3)
sparse("csf_rank_2", "a matrix", Csf(2, (0, 1)), (8, 16, 8, 16, 16), shape=(3, 3))
sparse("csf_mode_repeated", "a dimension used twice", Csf(2, (0, 1, 1)), CSF_SIZES, shape=CUBE)
sparse("csf_mode_range", "a dimension that is not there", Csf(2, (0, 1, 3)), CSF_SIZES, shape=CUBE)
sparse("csf_mode_64", "a shift by 64", Csf(2, (0, 1, 64)), CSF_SIZES, shape=CUBE)
sparse("csf_mode_max", "a shift by billions", Csf(2, (0, 1, 2**32 - 1)), CSF_SIZES, shape=CUBE)
sparse(
    "csf_reserved",
    "a field of the future",
    Csf(2, (0, 1, 2)),
    CSF_SIZES,
    shape=CUBE,
    payload=Csf(2, (0, 1, 2)).payload()[:-1] + b"\1",
)
sparse(
    "csf_shard",
    "a box of a tree",
    Csf(2, (0, 1, 2)),
    CSF_SIZES,
    shape=CUBE,
    shard=wire.shard((9, 9, 9), (0, 0, 0)),
)
sparse(
    "csf_six_buffers", "the seventh of six buffers", Csf(2, (0, 1, 2)), CSF_SIZES[:-1], shape=CUBE
)
sparse(
    "csf_leaf_small",
    "leaves behind the buffer",
    Csf(2, (0, 1, 2)),
    (8, 16, 8, 16, 8, 16, 15),
    shape=CUBE,
)
sparse(
    "csf_root_small",
    "the root behind the buffer",
    Csf(2, (0, 1, 2)),
    (8, 15, 8, 16, 8, 16, 16),
    shape=CUBE,
)

# ---- block-paged

PAGES = BlockPaged(page_size=4, num_pages=6, num_seqs=2)
PAGED = Descriptor(
    "float32", (11, 2, 3), PAGES, (Handle(576), Handle(16), Handle(12)), quantization=None
)


def paged(name, attacks, *, pages=None, payload=None, **fields):
    layout = replace(PAGES, **(pages or {}))
    data = replace(PAGED, layout=layout, **fields).encode(payload=payload)
    refused(name, attacks, data)


def paged_payload(position, value):
    payload = bytearray(PAGES.payload())
    payload[position] = value
    return bytes(payload)


paged("paged_page_size_0", "a division by the page", pages={"page_size": 0})
paged("paged_axis_1", "pages of another dimension", pages={"paged_axis": 1})
paged("paged_role_3", "a look-up of the role", payload=paged_payload(20, 3))
paged("paged_index_type_2", "a look-up of the type", payload=paged_payload(25, 2))
paged("paged_reserved", "a field of the future", payload=paged_payload(31, 1))
paged("paged_rank_4", "a fourth dimension", shape=(11, 2, 3, 1))
paged("paged_pool_wraps", "pages times size", pages={"num_pages": 2**62, "page_size": 4})
paged("paged_pool_small", "pages behind the buffer", pages={"num_pages": 7})
paged("paged_sequences_small", "pointers behind the buffer", pages={"num_seqs": 3})
paged("paged_sequences_max", "sequences plus one", pages={"num_seqs": 2**32 - 1})
paged("paged_shard", "a box of pages", shard=wire.shard((11, 2, 3), (0, 0, 0)))
paged("paged_byte_offset", "pages at another place", byte_offset=4)
paged(
    "paged_per_channel_axis_0",
    "a scale for each token",
    dtype="int8",
    handles=(*PAGED.handles, Handle(44)),
    quantization=wire.per_channel(0, 3),
)
paged(
    "paged_per_block_size",
    "scales that do not match pages",
    dtype="int8",
    handles=(*PAGED.handles, Handle(96)),
    quantization=wire.per_block(0, 8, 3),
)

# ---- private layouts and composite heads

refused(
    "private_layout_length",
    "data read past the end",
    replace(PLAIN, layout=Private(0xF0, 1)).encode(payload=bytes(8) + b"\xff" * 4),
)

HEAD = Descriptor("float32", (8, 8), CompositeHead("partition", 2))


def head(name, attacks, *, payload=None, **fields):
    refused(name, attacks, replace(HEAD, **fields).encode(payload=payload))


for rule in (0x00, 0x04, 0xEF, 0xF0, 0xFF):
    head(
        f"head_rule_{rule:02x}", "a look-up of the rule", payload=bytes([rule, 0, 0, 0, 2, 0, 0, 0])
    )
for rule, operation in ((1, 1), (2, 0), (2, 3), (3, 2)):
    head(
        f"head_rule_{rule}_operation_{operation}",
        "a look-up of the operation",
        payload=bytes([rule, operation, 0, 0, 2, 0, 0, 0]),
    )
head("head_reserved", "a field of the future", payload=bytes([1, 0, 1, 0, 2, 0, 0, 0]))
head("head_count_max", "a number that means nothing", payload=bytes([1, 0, 0, 0]) + b"\xff" * 4)
head("head_buffer", "bytes of a head", handles=(Handle(256),))
head("head_byte_offset", "an offset into nothing", byte_offset=64)
head("head_quantization", "numbers of a head", dtype="int8", quantization=wire.per_tensor(1.0, 0))
head("head_member_section", "a head that corrects", member=wire.BASE)
head("head_dynamic", "a cover of an unknown size", shape=(None, 8))

# ---- sections


def section(name, attacks, **fields):
    refused(name, attacks, plain(**fields))


INT8 = {"dtype": "int8", "handles": (Handle(16), Handle(16), Handle(16))}


def quantized(name, attacks, data, check=refused, length=None):
    body = replace(PLAIN, **INT8, quantization=data).encode()
    if length is not None:
        at = len(body) - len(data) - 4
        body = body[:at] + length.to_bytes(4, "little") + body[at + 4 :]
    check(f"quantization_{name}", attacks, body)


quantized("length_max", "memory for a claimed length", wire.per_tensor(1.0, 0), length=2**32 - 1)
quantized("length_one_long", "a byte behind the input", wire.per_tensor(1.0, 0), length=17)
quantized("length_0", "the header of nothing", wire.per_tensor(1.0, 0), length=0)
quantized("empty", "the header of nothing", b"")
quantized("short", "fields read past the section", wire.per_tensor(1.0, 0)[:12])
for tag in (0x00, 0x06, 0x60, 0x80, 0xEF, 0xF0, 0xFF):
    quantized(f"tag_{tag:02x}", "a look-up of the scheme", wire.per_tensor(1.0, 0, tag=tag))
for version in (0, 2):
    quantized(f"version_{version}", "another form", wire.per_tensor(1.0, 0, version=version))
for flag in (1, 2, 0x8000):
    quantized(f"flags_{flag:x}", "a flag of the future", wire.per_tensor(1.0, 0, flags=flag))
quantized("reserved", "a field of the future", wire.per_tensor(1.0, 0, reserved=b"\0\0\0\1"))
for name, scale in (("0", 0.0), ("nan", float("nan")), ("inf", float("inf"))):
    quantized(f"scale_{name}", "a division by the scale", wire.per_tensor(scale, 0))
quantized("scale_buffer_missing", "a buffer that is not there", wire.per_channel(0, 3))
quantized("scale_buffer_max", "a buffer that is not there", wire.per_channel(0, 2**32 - 1))
quantized("scale_buffer_0", "data taken for scales", wire.per_channel(0, 0))
quantized("zero_point_buffer_missing", "a buffer that is not there", wire.per_channel(0, 1, 9))
quantized("symmetric_with_zero_points", "both at once", wire.per_channel(0, 1, 2, flags=1))
quantized("asymmetric_without_zero_points", "neither", wire.per_channel(0, 1, flags=0))
quantized("channel_scale_type", "a look-up of the type", wire.per_channel(0, 1, scale_type=4))
quantized("axis_64", "a dimension that cannot be", wire.per_channel(64, 1))
for size in (0, 1, 3, 2**32 - 1):
    quantized(f"block_{size}", "a division by the block", wire.per_block(0, size, 1))
quantized("block_scale_type", "a look-up of the type", wire.per_block(0, 2, 1, scale_type=4))
quantized("nf4_block_4", "a block below the least", wire.nf4(0, 4, 1))
for size in (0, 8, 48, 4096):
    quantized(f"mxfp_block_{size}", "a block out of range", wire.mxfp(0, size, 1))
quantized("longer", "a reader without mercy", wire.per_tensor(1.0, 0) + bytes(5), check=accepted)
refused(
    "quantization_of_the_layout_s_own_buffer",
    "pointers taken for scales",
    Descriptor(
        "int8",
        (3, 3),
        Compressed(2),
        tuple(map(Handle, (2, 16, 32))),
        quantization=wire.per_channel(0, 2),
    ).encode(),
)


def sharded(name, attacks, parent, offset, check=refused, **fields):
    check(f"shard_{name}", attacks, plain(shard=wire.shard(parent, offset), **fields))


sharded("past_the_parent", "a box outside of the parent", (4, 4), (0, 3))
sharded("offset_wraps", "offset plus size", (4, 4), (0, 2**64 - 2))
sharded("offset_dynamic", "arithmetic with an unknown size", (4, 4), (0, 2**64 - 1))
sharded("parent_dynamic", "a parent of an unknown size", (4, 2**64 - 1), (0, 0))
sharded("of_a_dynamic_shape", "a box of an unknown size", (4, 4), (0, 0), shape=(None, 2))
sharded("cut", "a parent read past the end", (4,), (0,))
sharded("at_the_edge", "a reader that counts from 1", (4, 4), (2, 2), check=accepted)


def with_statistics(name, attacks, check=refused, **fields):
    check(f"statistics_{name}", attacks, plain(statistics=wire.statistics(**fields)))


with_statistics("mask_6", "a group of the future", mask=64)
with_statistics("mask_31", "a group of the future", mask=2**31)
with_statistics("reserved", "a field of the future", reserved=1)
with_statistics("reserved_end", "a field of the future", reserved_end=b"\0\0\0\1")
with_statistics("has_nan_2", "a byte taken for a bool", nan_and_inf=(2, 0))
with_statistics("has_inf_255", "a byte taken for a bool", nan_and_inf=(0, 255))
with_statistics("backwards", "claims believed", check=accepted, value_range=(9.0, -9.0, 0.0))
section("statistics_cut", "fields read past the end", statistics=bytes(71))


def extended(name, attacks, check=refused, size=64, **fields):
    data = plain(dtype=0xF2, handles=(Handle(size),), extension=wire.extension_type(**fields))
    check(f"extension_{name}", attacks, data)


for width in (0, 3, 5, 6, 7):
    extended(f"width_{width}", "a division by the width", bit_width=width, packing_factor=1)
extended("width_max", "width times count", bit_width=2**32 - 1)
extended("packing_0", "a division by the factor", bit_width=4, packing_factor=0)
extended("packing_of_a_byte", "a factor that packs nothing", bit_width=8, packing_factor=2)
extended("packing_of_4_bits", "a factor that packs too much", bit_width=4, packing_factor=8)
extended("buffer_small", "memory behind the buffer", bit_width=136)
extended("is_float_2", "a byte taken for a bool", bit_width=8, is_float=2)
extended("is_signed_2", "a byte taken for a bool", bit_width=8, is_signed=2)
extended("signed_float", "two kinds at once", bit_width=8, is_float=1, is_signed=1)
extended("sign_bits_2", "two signs", bit_width=8, is_float=1, sign_bits=2)
extended("mantissa_of_an_integer", "a float's field", bit_width=8, mantissa_bits=3)
extended("bias_of_an_integer", "a float's field", bit_width=8, exponent_bias=1)
extended("nan_of_an_integer", "a float's field", bit_width=8, has_nan=1)
extended("has_inf_2", "a byte taken for a bool", bit_width=8, is_float=1, has_inf=2)
extended("reserved", "a field of the future", bit_width=8, reserved=1)
extended("reserved_end", "a field of the future", bit_width=8, reserved_end=1)
extended("width_12", "a reader of whole bytes", bit_width=12, check=accepted)
section("member_role_2", "a look-up of the role", member=wire.member(2))
section("member_reserved", "a field of the future", member=wire.member(1, bytes(14) + b"\1"))
section("member_cut", "a section read past the end", member=b"\1")
