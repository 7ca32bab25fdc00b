"""Files in which one field lies. The index has its right checksum, unless that is the lie."""

import wire
from wire import KV_ARRAY, KV_BOOL, KV_BYTES, KV_INT64, KV_STRING, Container, kv_entry, kv_section

from hostile import ACCEPTED, Input

INPUTS = []


def refused(name, attacks, data):
    INPUTS.append(Input(name, attacks, data, ("FileError", "InvalidDescriptorError")))


def accepted(name, attacks, data):
    INPUTS.append(Input(name, attacks, data, (ACCEPTED,)))


ONE = wire.tensor("float32", (2, 2), bytes(range(16)))
TWO = wire.tensor("int8", (3,), b"abc")
MAX = 2**64 - 1


def container(kv=None, **options):
    return Container({"weights": ONE, "bias": TWO}, kv, **options)


WHOLE = container({"producer": "a test", "count": 2})
DATA = WHOLE.encode()


def header(name, attacks, /, **fields):
    refused(name, attacks, container(header=fields).encode())


def trailer(name, attacks, **fields):
    file = container({"a": 1}, checksum="crc" in fields, trailer=fields)
    refused(name, attacks, file.encode())


def entry(name, attacks, /, **fields):
    """The index entry of `weights`, changed."""
    file = container()
    for field, value in fields.items():
        setattr(file.index[0], field, value)
    refused(name, attacks, file.encode())


# ---- the size of the file

refused("empty", "a header of nothing", b"")
for size in (7, 8, 63, 64, 103):
    refused(f"size_{size}", "a trailer that overlaps the header", DATA[:size])
refused("cut_by_one", "a trailer at another place", DATA[:-1])
refused("one_more", "a trailer at another place", DATA + b"\0")
refused("trailer_alone", "everything before the trailer", DATA[-40:])
refused("zeros", "a header of zeros", bytes(8192))
refused("stream", "a reader of any descriptor", wire.stream(ONE, TWO))
NAMES = dict.fromkeys(("../../w", "/etc/w", "a\x00b", "\n", "\u202e", "w" * 65535), TWO)
accepted("names_of_paths", "names taken for paths", Container(NAMES).encode())
accepted("no_tensors", "a reader that wants one", Container({}).encode())

# ---- header

header("magic", "a reader of anything that is there", magic=b"HRRYFILX")
header("major_0", "a check for larger versions only", major=0)
header("major_2", "a reader of the future's files", major=2)
header("reserved", "a field of the future", reserved=1)
header("reserved_end", "a field of the future", reserved_end=bytes(27) + b"\1")
header("flag_3", "a flag of the future", flags=4 | 8)
header("flag_31", "a flag of the future", flags=4 | 2**31)
header("flag_3_of_a_newer_minor", "a flag of the future, excused", minor=1, flags=4 | 8)
NEWER = {"minor": 1, "reserved": 7, "reserved_end": bytes([7] * 28)}
accepted("newer_minor", "a reader without mercy", container(header=NEWER).encode())
for alignment in (0, 1, 64, 2048, 4097, 2**22, 2**31, 2**32 - 1):
    header(
        f"alignment_{alignment}", "a division by the alignment, a mask of it", alignment=alignment
    )
for first in (0, 8, 63, 65, MAX):
    header(f"first_descriptor_{first}", "descriptors inside of the header", first=first)
accepted("hint_0", "memory for a claimed count", container(header={"hint": 0}).encode())
accepted("hint_billions", "memory for a claimed count", container(header={"hint": 2**40}).encode())
header("kv_flag_without_kv", "a section that is not there", flags=4 | 1)
header("sorted_flag_of_an_unsorted_index", "a binary search", flags=4 | 2)

# ---- trailer

trailer("trailer_magic", "a reader of any last bytes", magic=b"HRRX")
trailer("trailer_reserved", "a field of the future", reserved=1)
for offset in (0, 8, 63, 2**63, MAX, MAX - 39):
    trailer(f"index_offset_{offset}", "an index in the header, or outside", index_offset=offset)
for length in (0, 7, 2**32, 2**63, MAX):
    trailer(f"index_length_{length}", "memory for a claimed index", index_length=length)
trailer("index_wraps", "offset plus length", index_offset=MAX - 7, index_length=16)
trailer(
    "index_one_byte_short",
    "an entry cut off",
    index_length=len(b"".join(e.encode() for e in container().index)) + 8 - 1,
)
trailer("kv_offset_without_length", "half of a section", kv_length=0)
trailer("kv_length_without_offset", "half of a section", kv_offset=0)
for offset in (1, 63, 2**63, MAX):
    trailer(f"kv_offset_{offset}", "metadata in the header, or outside", kv_offset=offset)
for length in (1, 3, 2**31, 2**32 - 1):
    trailer(f"kv_length_{length}", "memory for claimed metadata", kv_length=length)


def overlapping_kv():
    file = container({"a": 1})
    whole = file.encode()
    file.trailer = {"kv_offset": int.from_bytes(whole[-40:-32], "little"), "kv_length": 16}
    return file.encode()


refused("kv_over_the_index", "one section read as another", overlapping_kv())

# ---- checksum

trailer("crc_wrong", "a checksum that none looks at", crc=0x12345678)
trailer("crc_0", "a checksum left out", crc=0)
refused(
    "crc_without_flag",
    "a checksum that none looks at",
    container(checksum=False, trailer={"crc": 1}).encode(),
)
accepted("no_crc", "a reader that wants one", container(checksum=False).encode())

# ---- index

for count in (0, 1, 3, 1000, 2**56, MAX):
    file = container()
    file.index_count = count
    refused(f"index_count_{count}", "memory for claimed entries", file.encode())
file = container()
file.index_tail = b"\0"
refused("index_leftover", "bytes between index and trailer", file.encode())
entry("name_empty", "a name of nothing", name="")
entry("name_utf8", "text that is none", name=b"weight\xff")
entry("name_surrogate", "text that is none", name=b"w\xed\xa0\x80")
entry("name_overlong", "a slash written in two bytes", name=b"w\xc0\xaf")
entry("name_longer_than_the_index", "a name read past the index", name_length=65535)
entry("name_twice", "a dict with two of a name", name="bias")
entry("entry_flags", "a flag of the future", flags=1)
for offset in (0, 8, 65, 2**63, MAX - 7):
    entry(f"descriptor_offset_{offset}", "a descriptor elsewhere", descriptor_offset=offset)
entry(
    "descriptor_offset_in_the_trailer",
    "a descriptor elsewhere",
    descriptor_offset=len(container().encode()) // 8 * 8 - 8,
)
for length in (0, 19, 60, 62, 2**32 - 1):
    entry(f"descriptor_length_{length}", "a descriptor of another length", descriptor_length=length)
for offset in (0, 64, 4097, 2**63, MAX - 4095):
    entry(f"data_offset_{offset}", "data elsewhere, or not aligned", data_offset=offset)
for length in (0, 15, 17, 2**32, 2**63, MAX):
    entry(f"data_length_{length}", "data of another length", data_length=length)
entry("data_wraps", "offset plus length", data_offset=2**64 - 4096, data_length=8192)


file = container()
file.index[1].data_offset = file.index[0].data_offset
refused("data_shared", "two tensors over the same bytes", file.encode())
file = container()
file.index[1].descriptor_offset = file.index[0].descriptor_offset
file.index[1].descriptor_length = file.index[0].descriptor_length
refused("descriptor_shared", "two tensors of one descriptor", file.encode())
file = container()
longer = wire.Descriptor("float32", (2, 2), handles=(wire.Handle(64),)).encode()
file.tensors[: len(longer)] = longer
file.index[0].data_length = 64
refused("data_over_a_descriptor", "bytes read as two things", file.encode())


def data_in_the_index():
    file = Container({"w": wire.tensor("int8", (1,), b"x")})
    file.tensors += bytes(4096 - file.position % 4096)
    file.index[0].data_offset = file.position
    return file.encode()


refused("data_in_the_index", "the index read as data", data_in_the_index())

# ---- descriptors


def descriptor(name, attacks, data):
    """The first descriptor replaced by one of the same length."""
    file = container()
    assert len(data) == file.index[0].descriptor_length
    file.tensors[: len(data)] = data
    refused(f"descriptor_{name}", attacks, file.encode())


D = ONE.descriptor
descriptor("magic", "a reader of anything that is there", D.encode(magic=b"HRRX"))
descriptor("length_differs", "a length that the index gives, too", D.encode(length=60))
descriptor("length_max", "memory for a claimed length", D.encode(length=2**32 - 1))
descriptor("flags", "a section of the future", D.encode(flags=32))
descriptor("rank_max", "8 times the rank", D.encode(rank=2**32 - 1))
for size in (15, 17, 8192, 1 << 40, 2**63, MAX):
    descriptor(
        f"buffer_of_{size}",
        "data of another length than the index gives",
        wire.Descriptor("float32", (2, 2), handles=(wire.Handle(size),)).encode(),
    )
CLAIMED = wire.Descriptor("int8", (1,), handles=(wire.Handle(1), wire.Handle(MAX)))
refused(
    "buffers_whose_sum_wraps",
    "the sum of the buffers",
    Container({"w": wire.Tensor(CLAIMED, (b"a", b"b"))}).encode(),
)
refused(
    "two_buffers_at_alignment_0",
    "padding between buffers, by a division",
    Container({"w": wire.tensor("int8", (1,), b"a", b"b")}, header={"alignment": 0}).encode(),
)

# ---- composites

PART = wire.tensor("float32", (1, 2), bytes(8), shard=wire.shard((2, 2), (0, 0)))


def composite(name, attacks, *members, count=None, rule="partition"):
    item = wire.composite(rule, "float32", (2, 2), *members, count=count)
    refused(f"composite_{name}", attacks, Container({"w": item}).encode())


composite("gap", "elements that no member has", PART)
composite("head_only", "members that are not there", count=2)
composite("count_billions", "memory for claimed members", ONE, count=2**32 - 2, rule="group")


def deep(levels):
    item = ONE
    for _ in range(levels):
        item = wire.composite("group", "float32", (), item)
    return Container({"w": item}).encode()


for depth in (9, 200):
    refused(f"composite_depth_{depth}", "the stack", deep(depth))
accepted("composite_depth_8", "a reader that gives up early", deep(8))

# ---- metadata


def kv(name, attacks, *entries, count=None):
    refused(f"kv_{name}", attacks, container(kv_section(list(entries), count=count)).encode())


def array(element, count, payload=b""):
    head = bytes([element]) + count.to_bytes(4, "little")
    return kv_entry("a", tag=KV_ARRAY, payload=head + payload)


INT = kv_entry("a", 1)
kv("count_2", "an entry read past the section", INT, count=2)
kv("count_0", "bytes behind the last entry", INT, count=0)
kv("count_max", "memory for claimed entries", INT, count=2**32 - 1)
kv("key_empty", "a key of nothing", kv_entry("", 1))
kv("key_length", "a key read past the section", kv_entry("a", 1, key_length=65535))
kv("key_utf8", "text that is none", kv_entry(b"\xff", 1))
kv("key_twice", "a dict with two of a key", INT, INT)
for tag in (0x00, 0x08, 0x80, 0xFF):
    kv(f"tag_{tag:02x}", "a look-up of the tag", kv_entry("a", tag=tag, payload=bytes(8)))
kv("int_cut", "a number read past the section", kv_entry("a", tag=KV_INT64, payload=bytes(7)))
kv("bool_2", "a byte taken for a bool", kv_entry("a", tag=KV_BOOL, payload=b"\2"))
kv("text_utf8", "text that is none", kv_entry("a", b"\xff", tag=KV_STRING))
LENGTH_MAX = b"\xff\xff\xff\xff"
kv("text_length_max", "memory for a claimed text", kv_entry("a", tag=KV_STRING, payload=LENGTH_MAX))
kv("bytes_length_max", "memory for claimed bytes", kv_entry("a", tag=KV_BYTES, payload=LENGTH_MAX))
kv(
    "bytes_length_one_more",
    "a byte of the index",
    kv_entry("a", tag=KV_BYTES, payload=b"\2\0\0\0a"),
)
for tag in (0x00, KV_ARRAY, 0x08, 0xFF):
    kv(f"array_of_{tag:02x}", "a look-up of the tag; arrays in arrays", array(tag, 1, bytes(8)))
kv("array_count_max", "memory for claimed elements", array(KV_INT64, 2**32 - 1, bytes(8)))
kv("array_count_10m", "memory for claimed elements", array(KV_BOOL, 10_000_000, bytes(8)))
kv("array_of_texts_max", "memory for claimed texts", array(KV_STRING, 2**32 - 1, bytes(8)))
kv("array_bool_2", "a byte taken for a bool", array(KV_BOOL, 2, b"\1\2"))
kv("array_text_utf8", "text that is none", array(KV_STRING, 1, b"\1\0\0\0\xff"))
accepted(
    "kv_array_empty", "a reader without mercy", container(kv_section([array(KV_INT64, 0)])).encode()
)
accepted("kv_behind_a_clear_flag", "the flag, not the trailer", DATA)
