"""Streams whose frames are in order one by one, or claim what does not follow."""

import math
import struct
from dataclasses import replace

import wire
from model import BITS, BlockPaged, CompositeHead, Compressed, Coo, Csf, RowMajor, packed_size, u64s
from wire import Descriptor, Handle

from hostile import ACCEPTED, Input

INPUTS = []


def refused(name, attacks, data):
    INPUTS.append(Input(name, attacks, data, ("StreamError", "InvalidDescriptorError")))


def accepted(name, attacks, data):
    INPUTS.append(Input(name, attacks, data, (ACCEPTED,)))


ONE = wire.tensor("float32", (2, 2), bytes(range(16)))
FRAME = wire.frame(ONE)
D = ONE.descriptor


# ---- frames

accepted("nothing", "a reader that wants a frame", b"")
refused("a_byte", "a prefix of ten bytes", b"H")
refused("nine_bytes", "a prefix of ten bytes", FRAME[:9])
refused("a_file", "a reader that skips what it does not know", wire.container({"w": ONE}))
refused("text", "a length out of letters", b"HRRY is not what follows, a text is.")
refused("second_frame_cut", "an end inside of a frame", FRAME + FRAME[:-1])
refused("second_frame_of_one_byte", "an end inside of a frame", FRAME + b"H")
refused("bytes_between_frames", "padding taken for nothing", FRAME + bytes(4) + FRAME)
refused("length_16_mib", "memory for a claimed length", D.encode(length=16 << 20) + bytes(64))
refused("length_over_the_cap", "the cap on lengths", D.encode(length=(16 << 20) + 1) + bytes(64))
refused("length_max", "memory for a claimed length", D.encode(length=2**32 - 1) + bytes(64))
for size in (1 << 30, 3 << 30, 8 << 30, 1 << 40, 2**63, 2**64 - 1):
    refused(
        f"buffer_of_{size}",
        "memory for a claimed buffer, zeroed ahead of its bytes",
        replace(D, handles=(Handle(size),)).encode() + bytes(100),
    )
refused(
    "buffers_whose_sum_wraps",
    "the sum of the buffers",
    replace(D, handles=(Handle(16), Handle(2**64 - 8))).encode() + bytes(100),
)
refused(
    "buffers_255_of_a_gib",
    "memory for claimed buffers, one by one",
    replace(D, handles=(Handle(1 << 30),) * 255).encode() + bytes(100),
)
refused(
    "alignment_2_31",
    "memory at a huge alignment",
    replace(D, handles=(Handle(16, alignment=2**31),)).encode() + bytes(8),
)
accepted(
    "alignment_2_31_whole",
    "memory at a huge alignment",
    replace(D, handles=(Handle(16, alignment=2**31),)).encode() + bytes(16),
)
accepted(
    "alignment_of_nothing_2_31",
    "memory at a huge alignment",
    Descriptor("int8", (0,), RowMajor(), (Handle(0, alignment=2**31),)).encode(),
)

# ---- composites

SHARD_SHAPE = (2, 4)


def part(offset, shape=SHARD_SHAPE, parent=(4, 4), dtype="float32", **fields):
    count = 4 * shape[0] * shape[1]
    section = wire.shard(parent, offset)
    return wire.tensor(dtype, shape, bytes(count), shard=section, **fields)


TOP, LOW = part((0, 0)), part((2, 0))


def partition(*members, shape=(4, 4), **fields):
    return wire.stream(wire.composite("partition", "float32", shape, *members, **fields))


def overlay(*members, **fields):
    options = {"combine_op": "add", **fields}
    return wire.stream(wire.composite("overlay", "float32", (4, 4), *members, **options))


def group(*members, **fields):
    return wire.stream(wire.composite("group", "float32", (), *members, **fields))


def composite(name, attacks, data):
    refused(f"composite_{name}", attacks, data)


composite("torn_after_the_head", "members that do not come", partition(count=2))
composite("torn_after_a_member", "a member that does not come", partition(TOP, count=2))
composite("torn_inside_a_member", "half of a member", partition(TOP, LOW)[:-1])
composite(
    "nested_torn", "a member of a member", group(ONE, wire.composite("group", "int8", (), count=3))
)
composite("count_billions", "memory for claimed members", group(ONE, count=2**32 - 2))
composite("partition_gap", "elements that no member has", partition(TOP))
composite("partition_gap_of_equal_volume", "a sum of volumes", partition(TOP, TOP))
composite("partition_overlap", "elements that two members have", partition(TOP, part((1, 0)), LOW))
composite("partition_of_nothing", "a head that none covers", partition())
composite("partition_no_shard", "a member without a place", partition(TOP, ONE))
composite(
    "partition_other_parent", "a member of another", partition(TOP, part((2, 0), parent=(4, 5)))
)
composite("partition_type", "a member of another type", partition(TOP, part((2, 0), dtype="int32")))
composite(
    "partition_rank",
    "a member with fewer dimensions",
    partition(TOP, wire.tensor("float32", (2,), bytes(8), shard=wire.shard((4,), (2,)))),
)
composite(
    "partition_role", "a member that corrects", partition(TOP, part((2, 0), member=wire.BASE))
)
composite(
    "partition_volume_wraps",
    "the volume of the head",
    partition(
        part((0, 0), shape=(2, 2), parent=(2**32, 2**32)),
        shape=(2**32, 2**32),
    ),
)
composite("overlay_of_nothing", "a base that is not there", overlay())
composite("overlay_no_section", "a member without a role", overlay(part((0, 0), shape=(4, 4))))
BASE = part((0, 0), shape=(4, 4), member=wire.BASE)
composite("overlay_base_twice", "a second base", overlay(BASE, BASE))
composite(
    "overlay_base_missing", "corrections of nothing", overlay(part((0, 0), member=wire.CORRECTION))
)
composite(
    "overlay_base_small", "elements that the base lacks", overlay(part((0, 0), member=wire.BASE))
)
composite(
    "overlay_no_shard",
    "a member without a place",
    overlay(BASE, ONE.with_fields(member=wire.CORRECTION)),
)
composite("group_role", "a member that corrects", group(ONE.with_fields(member=wire.BASE)))


def nested(depth):
    """Heads of one member each; what the last one holds is missing."""
    head = Descriptor("int8", (), CompositeHead("group", 1)).encode()
    return head * depth


for depth in (9, 64, 65, 2000, 20_000, 200_000):
    composite(f"depth_{depth}", "the stack, by one call per level", nested(depth) + FRAME)
accepted("composite_depth_8", "a reader that gives up early", nested(8) + FRAME)


def slices(count, last_offset=None):
    """A partition into `count` rows, whose last one may lie elsewhere."""
    offsets = [*range(count)]
    if last_offset is not None:
        offsets[-1] = last_offset
    parent = (count, 1)
    rows = [
        wire.tensor("int8", (1, 1), b"\0", shard=wire.shard(parent, (row, 0))) for row in offsets
    ]
    return wire.stream(wire.composite("partition", "int8", parent, *rows))


accepted("composite_of_5000", "time by the square of the members", slices(5000))
composite("overlap_among_5000", "time by the square of the members", slices(5000, 17))

# ---- what a tensor's own bytes claim; only validate_contents() looks


def contents(name, attacks, item):
    verdicts = ("accepted, contents: InvalidDescriptorError",)
    data = wire.stream(item)
    INPUTS.append(Input(f"contents_{name}", attacks, data, verdicts))


def coo(coordinates, is_sorted=False):
    layout = Coo(len(coordinates), is_sorted)
    flat = u64s(i for c in coordinates for i in c)
    return wire.tensor("float32", (3, 3), bytes(4 * len(coordinates)), flat, layout=layout)


contents("coo_out_of_range", "a coordinate outside", coo([(0, 0), (3, 0)]))
contents("coo_max", "a coordinate cast to a signed number", coo([(0, 0), (0, 2**64 - 1)]))
contents("coo_duplicate", "an element with two values", coo([(1, 1), (1, 1)]))
contents("coo_not_sorted", "a binary search", coo([(1, 1), (0, 1)], is_sorted=True))


def csr(pointers, columns, major=0):
    layout = Compressed(len(columns), major)
    buffers = (bytes(4 * len(columns)), u64s(columns), u64s(pointers))
    return wire.tensor("float32", (3, 3), *buffers, layout=layout)


for major, name in ((0, "csr"), (1, "csc")):
    contents(f"{name}_first_pointer", "values before the first", csr([1, 1, 2, 2], [0, 1], major))
    contents(f"{name}_last_pointer", "values behind the last", csr([0, 1, 2, 3], [0, 1], major))
    contents(f"{name}_short", "values that no row has", csr([0, 1, 1, 1], [0, 1], major))
    contents(f"{name}_backwards", "rows of a negative length", csr([0, 2, 1, 2], [0, 1], major))
    contents(f"{name}_pointer_max", "pointers added up", csr([0, 2**64 - 1, 2, 2], [0, 1], major))
    contents(f"{name}_column_range", "a column outside", csr([0, 1, 2, 2], [0, 3], major))
    contents(
        f"{name}_column_repeated", "an element with two values", csr([0, 2, 2, 2], [1, 1], major)
    )
    contents(f"{name}_column_order", "a binary search", csr([0, 2, 2, 2], [1, 0], major))


def csf(level, which, position, value):
    stored = {(0, 1, 1): 5, (2, 0, 1): 6, (2, 1, 1): 7, (1, 0, 3): 8}
    buffers = Csf.buffers(stored, (3, 2, 4), 32, (2, 0, 1))
    at = 2 * level + which
    words = [buffers[at][i : i + 8] for i in range(0, len(buffers[at]), 8)]
    words[position] = value.to_bytes(8, "little")
    buffers[at] = b"".join(words)
    return wire.tensor("float32", (3, 2, 4), *buffers, layout=Csf(4, (2, 0, 1)))


contents("csf_first_position", "nodes before the first", csf(0, 1, 0, 1))
contents("csf_root_max", "a root of billions", csf(0, 1, 1, 2**64 - 1))
contents("csf_middle_max", "children of billions", csf(1, 1, 1, 2**63))
contents("csf_backwards", "children of a negative number", csf(2, 1, 2, 0))
contents("csf_coordinate_range", "a coordinate outside", csf(1, 2, 0, 3))
contents("csf_coordinate_order", "a binary search", csf(1, 2, 1, 0))


PAGES = BlockPaged(page_size=4, num_pages=6, num_seqs=2)


def paged(table, pointers):
    return wire.tensor(
        "int8", (11, 2, 3), bytes(144), *PAGES.index_buffers(table, pointers), layout=PAGES
    )


contents("paged_page_range", "a page that is not there", paged([3, 0, 6, 5], [0, 3, 4]))
contents("paged_page_max", "a page times its size", paged([3, 0, 2**32 - 1, 5], [0, 3, 4]))
contents("paged_first_pointer", "pages before the first", paged([3, 0, 3, 5], [1, 3, 4]))
contents("paged_last_pointer", "pages behind the last", paged([3, 0, 3, 5], [0, 3, 5]))
contents("paged_pointer_max", "pages of billions", paged([3, 0, 3, 5], [0, 2**32 - 1, 4]))
contents("paged_backwards", "a sequence of a negative length", paged([3, 0, 3, 5], [0, 4, 3]))


def quantized(name, attacks, section, *parameters, dtype="int8", shape=(2, 4)):
    data = bytes(packed_size(BITS[dtype], shape[0] * shape[1]))
    item = wire.tensor(dtype, shape, data, *parameters, quantization=section)
    contents(f"quantization_{name}", attacks, item)


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


SYMMETRIC = wire.per_channel(0, 1)
quantized("scale_0", "a division by the scale", SYMMETRIC, floats(1, 0))
quantized("scale_nan", "a scale that is none", SYMMETRIC, floats(1, math.nan))
quantized("scale_inf", "a scale that is none", SYMMETRIC, floats(-math.inf, 1))
quantized("scales_few", "scales behind the buffer", SYMMETRIC, floats(1))
quantized("scales_none", "scales behind the buffer", SYMMETRIC, b"")
quantized("scales_many", "scales of something else", SYMMETRIC, floats(1, 1, 1))
quantized("axis_2", "a dimension that is not there", wire.per_channel(2, 1), floats(1, 1))
quantized("of_floats", "floats taken for integers", SYMMETRIC, floats(1, 1), dtype="float32")
quantized(
    "zero_point_range",
    "a zero point beyond the type",
    wire.per_channel(0, 1, 2),
    floats(1, 1),
    struct.pack("<2i", 0, 128),
)
quantized("block_over_the_axis", "a block of more", wire.per_block(1, 8, 1), floats(1, 1))
quantized(
    "nf4_negative",
    "an absolute value below 0",
    wire.nf4(0, 8, 1),
    floats(-1),
    dtype="uint4",
    shape=(8, 1),
)
for scale in (0x00, 0xFF):
    quantized(
        f"mxfp_scale_{scale:02x}",
        "a scale that is reserved",
        wire.mxfp(1, 16, 1),
        bytes([scale]),
        dtype="float4_e2m1",
        shape=(1, 16),
    )
quantized(
    "mxfp_part_of_a_block",
    "a block that is not whole",
    wire.mxfp(1, 16, 1),
    bytes([127, 127]),
    dtype="float4_e2m1",
    shape=(1, 24),
)
