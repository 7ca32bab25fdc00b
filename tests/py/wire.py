"""The bytes of descriptors, streams and files, written from the format's text; broken ones, too.

Every encoder takes the fields that a test wants to be wrong as overrides; all else stays right, a
file's checksum included. Element addresses and packing are in model.py.
"""

import struct
from dataclasses import dataclass, field, replace

import model
from model import DTYPES

DYNAMIC = 2**64 - 1
MINIMUM_ALIGNMENT = 64
DATA_ALIGNMENT = 4096
NO_BUFFER = 0xFFFFFFFF

HAS_QUANTIZATION, HAS_SHARD, HAS_EXTENSION, HAS_STATISTICS, HAS_MEMBER = 1, 2, 4, 8, 16


# ---- the descriptor


@dataclass(frozen=True)
class Handle:
    byte_size: int
    alignment: int = MINIMUM_ALIGNMENT
    device: int = 0
    sync_mode: int = 0
    memory_class: int = 0
    reserved: int = 0

    def encode(self):
        return struct.pack(
            "<QIBBBB",
            self.byte_size,
            self.alignment,
            self.device,
            self.sync_mode,
            self.memory_class,
            self.reserved,
        )


def handle_for(data, **fields):
    """As a writer declares a buffer on the CPU."""
    return Handle(len(data), **{"alignment": MINIMUM_ALIGNMENT if data else 1, **fields})


@dataclass(frozen=True)
class Descriptor:
    """`dtype` is a name or a tag, `shape` has None where dynamic, sections are their bytes."""

    dtype: object
    shape: tuple
    layout: object = model.RowMajor()
    handles: tuple = ()
    byte_offset: int = 0
    quantization: bytes = None
    shard: bytes = None
    statistics: bytes = None
    extension: bytes = None
    member: bytes = None
    minor: int = 0
    tail: bytes = b""

    def encode(
        self,
        *,
        magic=b"HRRY",
        major=1,
        length=None,
        flags=None,
        layout_tag=None,
        rank=None,
        payload=None,
        buffer_count=None,
    ):
        tag = DTYPES[self.dtype][0] if isinstance(self.dtype, str) else self.dtype
        sections = (self.quantization, self.shard, self.extension, self.statistics, self.member)
        if flags is None:
            flags = sum(1 << bit for bit, section in enumerate(sections) if section is not None)
        dims = [DYNAMIC if size is None else size for size in self.shape]
        body = struct.pack(f"<{len(dims)}QQ", *dims, self.byte_offset)
        body += self.layout.payload() if payload is None else payload
        body += bytes([len(self.handles) if buffer_count is None else buffer_count])
        body += b"".join(handle.encode() for handle in self.handles)
        # In the order of the wire, in which statistics come before the extension type.
        if self.quantization is not None:
            body += struct.pack("<I", len(self.quantization)) + self.quantization
        for section in (self.shard, self.statistics, self.extension, self.member):
            body += section or b""
        body += self.tail
        header = magic + struct.pack(
            "<BBIIBBI",
            major,
            self.minor,
            20 + len(body) if length is None else length,
            flags,
            tag,
            self.layout.tag if layout_tag is None else layout_tag,
            len(dims) if rank is None else rank,
        )
        return header + body


# ---- the sections


def per_tensor(scale, zero_point, *, tag=1, version=1, flags=0, reserved=bytes(4)):
    return struct.pack("<BBHfi", tag, version, flags, scale, zero_point) + reserved


def per_channel(axis, scale_buffer, zero_point_buffer=None, *, version=1, flags=None, scale_type=3):
    symmetric = zero_point_buffer is None
    return struct.pack(
        "<BBHIIIB3x",
        2,
        version,
        symmetric if flags is None else flags,
        axis,
        scale_buffer,
        NO_BUFFER if symmetric else zero_point_buffer,
        scale_type,
    )


def per_block(axis, block_size, scale_buffer, zero_point_buffer=None, *, scale_type=3, flags=None):
    symmetric = zero_point_buffer is None
    return struct.pack(
        "<BBHIIIIB3x",
        3,
        1,
        symmetric if flags is None else flags,
        axis,
        block_size,
        scale_buffer,
        NO_BUFFER if symmetric else zero_point_buffer,
        scale_type,
    )


def nf4(axis, block_size, scale_buffer):
    return struct.pack("<BBHIII", 4, 1, 0, axis, block_size, scale_buffer)


def mxfp(axis, block_size, scale_buffer):
    return struct.pack("<BBHIII", 5, 1, 0, axis, block_size, scale_buffer)


def shard(parent_shape, offset):
    rank = len(parent_shape)
    return struct.pack(f"<{2 * rank}Q", *parent_shape, *offset)


def statistics(
    *,
    nnz=None,
    sparsity_ratio=None,
    value_range=None,
    mean_and_deviation=None,
    n_of_m=None,
    nan_and_inf=None,
    mask=None,
    reserved=0,
    reserved_end=bytes(4),
):
    groups = (nnz, sparsity_ratio, value_range, mean_and_deviation, n_of_m, nan_and_inf)
    return (
        struct.pack(
            "<IIQ6d4B",
            sum(1 << bit for bit, group in enumerate(groups) if group is not None)
            if mask is None
            else mask,
            reserved,
            nnz or 0,
            0.0 if sparsity_ratio is None else sparsity_ratio,  # -0.0 is another number
            *(value_range or (0.0, 0.0, 0.0)),
            *(mean_and_deviation or (0.0, 0.0)),
            *(n_of_m or (0, 0)),
            *(nan_and_inf or (0, 0)),
        )
        + reserved_end
    )


def extension_type(
    bit_width,
    *,
    packing_factor=None,
    is_float=0,
    is_signed=0,
    sign_bits=0,
    exponent_bits=0,
    mantissa_bits=0,
    reserved=0,
    exponent_bias=0,
    has_nan=0,
    has_inf=0,
    reserved_end=0,
):
    if packing_factor is None:
        packing_factor = 1 if bit_width >= 8 else 8 // bit_width
    return struct.pack(
        "<I6BHIBBH",
        bit_width,
        packing_factor,
        is_float,
        is_signed,
        sign_bits,
        exponent_bits,
        mantissa_bits,
        reserved,
        exponent_bias,
        has_nan,
        has_inf,
        reserved_end,
    )


def member(role, reserved=bytes(15)):
    return bytes([role]) + reserved


BASE, CORRECTION = member(1), member(0)


# ---- tensors and composites


@dataclass(frozen=True)
class Tensor:
    descriptor: Descriptor
    buffers: tuple

    def with_fields(self, **fields):
        return replace(self, descriptor=replace(self.descriptor, **fields))


@dataclass(frozen=True)
class Composite:
    descriptor: Descriptor
    members: tuple


def tensor(dtype, shape, *buffers, layout=None, alignment=None, **fields):
    """A tensor on the CPU whose handles declare what the buffers are."""
    extra = {} if alignment is None else {"alignment": alignment}
    handles = tuple(handle_for(data, **extra) for data in buffers)
    layout = layout or model.RowMajor()
    return Tensor(Descriptor(dtype, tuple(shape), layout, handles, **fields), tuple(buffers))


def composite(rule, dtype, shape, *members, combine_op=None, count=None, **fields):
    head = model.CompositeHead(rule, len(members) if count is None else count, combine_op)
    return Composite(Descriptor(dtype, tuple(shape), head, **fields), tuple(members))


def walk(item, name=None):
    """An item, then the members of a head: (name, descriptor, buffers), in the wire's order."""
    if isinstance(item, Tensor):
        yield name, item.descriptor, item.buffers
        return
    yield name, item.descriptor, ()
    for i, below in enumerate(item.members):
        yield from walk(below, None if name is None else f"{name}.{i}")


def frame(item):
    return b"".join(d.encode() + b"".join(buffers) for _, d, buffers in walk(item))


def stream(*items):
    return b"".join(map(frame, items))


# ---- files


def align_up(offset, alignment):
    return -(-offset // alignment) * alignment if alignment else offset


def crc32c(data):
    """Bit by bit, as the polynomial says."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


KV_STRING, KV_INT64, KV_UINT64, KV_FLOAT64, KV_BOOL, KV_BYTES, KV_ARRAY = range(1, 8)


def text_bytes(text):
    return text if isinstance(text, bytes) else text.encode()


def kv_kind(value):
    if isinstance(value, bool):
        return KV_BOOL
    if isinstance(value, int):
        return KV_INT64 if value < 2**63 else KV_UINT64
    return {float: KV_FLOAT64, str: KV_STRING, bytes: KV_BYTES, list: KV_ARRAY}[type(value)]


def kv_payload(value, kind):
    if kind == KV_ARRAY:
        element = max(map(kv_kind, value), default=KV_INT64)
        return struct.pack("<BI", element, len(value)) + b"".join(
            kv_payload(one, element) for one in value
        )
    if kind in (KV_STRING, KV_BYTES):
        data = text_bytes(value)
        return struct.pack("<I", len(data)) + data
    return struct.pack(
        {KV_INT64: "<q", KV_UINT64: "<Q", KV_FLOAT64: "<d", KV_BOOL: "<?"}[kind], value
    )


def kv_entry(key, value=None, *, tag=None, payload=None, key_length=None):
    key = text_bytes(key)
    tag = kv_kind(value) if tag is None else tag
    payload = kv_payload(value, tag) if payload is None else payload
    length = len(key) if key_length is None else key_length
    return struct.pack("<H", length) + key + bytes([tag]) + payload


def kv_section(entries, *, count=None):
    """`entries` are encoded entries, or a dict of metadata."""
    if isinstance(entries, dict):
        entries = [kv_entry(key, value) for key, value in entries.items()]
    return struct.pack("<I", len(entries) if count is None else count) + b"".join(entries)


@dataclass
class Entry:
    """One row of the index."""

    name: object
    descriptor_offset: int
    descriptor_length: int
    data_offset: int
    data_length: int
    flags: int = 0
    name_length: int = None

    def encode(self):
        name = text_bytes(self.name)
        length = len(name) if self.name_length is None else self.name_length
        return (
            struct.pack("<H", length)
            + name
            + struct.pack(
                "<QIQQI",
                self.descriptor_offset,
                self.descriptor_length,
                self.data_offset,
                self.data_length,
                self.flags,
            )
        )


@dataclass
class Container:
    """A file, laid out when it is made; its parts may be changed before encode() joins them.

    What the dicts `header` and `trailer` hold is written instead of the truth.
    """

    items: dict
    kv: object = None
    alignment: int = DATA_ALIGNMENT
    first_descriptor_offset: int = 64
    pad_heads: bool = False
    header: dict = field(default_factory=dict)
    trailer: dict = field(default_factory=dict)
    sorted_index: bool = False
    checksum: bool = True

    def __post_init__(self):
        self.tensors = bytearray()
        self.index = []
        for top, item in self.items.items():
            for name, descriptor, buffers in walk(item, top):
                self._add(name, descriptor, buffers)
        if self.sorted_index:
            self.index.sort(key=lambda entry: text_bytes(entry.name))
        self.index_count = None
        self.index_tail = b""
        self.kv_bytes = (
            kv_section(self.kv) if isinstance(self.kv, dict) and self.kv else self.kv or b""
        )
        self.end = b""

    @property
    def position(self):
        return self.first_descriptor_offset + len(self.tensors)

    def _pad(self, alignment):
        self.tensors += bytes(align_up(self.position, alignment) - self.position)

    def _add(self, name, descriptor, buffers):
        self._pad(8)
        wire = descriptor if isinstance(descriptor, bytes) else descriptor.encode()
        start = self.position
        self.tensors += wire
        if buffers or self.pad_heads:
            self._pad(self.alignment)
        data_offset = self.position
        for data in buffers:
            self._pad(self.alignment)
            self.tensors += data
        entry = Entry(name, start, len(wire), data_offset, self.position - data_offset)
        self.index.append(entry)

    def encode(self):
        self._pad(8)
        flags = (2 if self.sorted_index else 0) | (4 if self.checksum else 0)
        header = {
            "magic": b"HRRYFILE",
            "major": 1,
            "minor": 0,
            "reserved": 0,
            "flags": flags,
            "alignment": self.alignment,
            "first": self.first_descriptor_offset,
            "hint": DYNAMIC,
            "reserved_end": bytes(28),
            **self.header,
        }
        out = bytearray(
            header["magic"]
            + struct.pack(
                "<BBHIIQQ",
                *(header[k] for k in ("major", "minor", "reserved", "flags", "alignment")),
                header["first"],
                header["hint"],
            )
            + header["reserved_end"]
        )
        out += bytes(self.first_descriptor_offset - len(out)) + self.tensors
        kv_offset = len(out) if self.kv_bytes else 0
        out += self.kv_bytes
        out += bytes(-len(out) % 8)
        count = len(self.index) if self.index_count is None else self.index_count
        index = (
            struct.pack("<Q", count) + b"".join(e.encode() for e in self.index) + self.index_tail
        )
        trailer = {
            "index_offset": len(out),
            "index_length": len(index),
            "kv_offset": kv_offset,
            "kv_length": len(self.kv_bytes),
            "crc": crc32c(index) if self.checksum else 0,
            "reserved": 0,
            "magic": b"HRRY",
            **self.trailer,
        }
        out += index
        out += struct.pack(
            "<QQQIII",
            *(trailer[k] for k in ("index_offset", "index_length", "kv_offset", "kv_length")),
            trailer["crc"],
            trailer["reserved"],
        )
        return bytes(out + trailer["magic"] + self.end)


def container(items, kv=None, **options):
    return Container(items, kv, **options).encode()
