"""What the format says about elements, in plain Python, written from its text alone.

Nothing here is quick: storage orders come from walking every element in the order in which it is
stored, sparse tensors are read into a dict. It shares no line with the C++ it is compared with. Its
own tests are the worked numbers of the format's text, in test_element_offset_model.py.
"""

import itertools
import math
import struct
from dataclasses import dataclass

# ---- element types

# name: (tag, bits)
DTYPES = {
    "float16": (0x01, 16),
    "bfloat16": (0x02, 16),
    "float32": (0x03, 32),
    "float64": (0x04, 64),
    "int8": (0x10, 8),
    "uint8": (0x11, 8),
    "int16": (0x12, 16),
    "uint16": (0x13, 16),
    "int32": (0x14, 32),
    "uint32": (0x15, 32),
    "int64": (0x16, 64),
    "uint64": (0x17, 64),
    "bool": (0x20, 1),
    "float8_e4m3": (0x40, 8),
    "float8_e5m2": (0x41, 8),
    "float8_e8m0": (0x42, 8),
    "float4_e2m1": (0x43, 4),
    "float6_e2m3": (0x44, 6),
    "float6_e3m2": (0x45, 6),
    "float128": (0x46, 128),
    "int4": (0x48, 4),
    "uint4": (0x49, 4),
    "int2": (0x4A, 2),
    "uint2": (0x4B, 2),
    "complex64": (0x50, 64),
    "complex128": (0x51, 128),
}
BITS = {name: bits for name, (_, bits) in DTYPES.items()}


def packed_size(bits, count):
    """Bytes that `count` elements fill."""
    if bits == 6:
        return (count + 3) // 4 * 3
    if bits < 8:
        return (count * bits + 7) // 8
    return count * ((bits + 7) // 8)


def pack(codes, bits):
    """Elements one after the other, each given as the unsigned number that its bits make."""
    if bits >= 8:
        return b"".join(code.to_bytes((bits + 7) // 8, "little") for code in codes)
    stream = sum(code << (bits * position) for position, code in enumerate(codes))
    return stream.to_bytes(packed_size(bits, len(codes)), "little")


def byte_range(bits, offset):
    """First byte of the element at a linear offset, and how many bytes hold it."""
    if bits == 6:
        return offset // 4 * 3, 3
    if bits < 8:
        return offset // (8 // bits), 1
    return offset * ((bits + 7) // 8), (bits + 7) // 8


def code_at(data, bits, offset, byte_offset=0):
    """The element at a linear offset; IndexError where it does not lie inside `data`."""
    start, length = byte_range(bits, offset)
    start += byte_offset
    if start < 0 or start + length > len(data):
        raise IndexError(f"bytes {start} to {start + length} of {len(data)}")
    number = int.from_bytes(data[start : start + length], "little")
    if bits >= 8:
        return number
    per_group = 4 if bits == 6 else 8 // bits
    return (number >> (offset % per_group * bits)) & ((1 << bits) - 1)


# ---- dense layouts


def indices(shape):
    """All indices, the last dimension running fastest."""
    return itertools.product(*map(range, shape))


def number_cells(order, extents, strides=None):
    """Cell to number, for one of the orders that a tiled layout names."""
    if order == "strided":
        return {c: sum(map(int.__mul__, c, strides)) for c in indices(extents)}
    if order == "col_major":
        return {c[::-1]: n for n, c in enumerate(indices(extents[::-1]))}
    return {c: n for n, c in enumerate(indices(extents))}


@dataclass(frozen=True)
class RowMajor:
    tag, name = 0x01, "row_major"

    def addresses(self, shape):
        return number_cells("row_major", shape)

    def payload(self):
        return b""


@dataclass(frozen=True)
class ColMajor:
    tag, name = 0x02, "col_major"

    def addresses(self, shape):
        return number_cells("col_major", shape)

    def payload(self):
        return b""


@dataclass(frozen=True)
class Strided:
    strides: tuple
    tag, name = 0x03, "strided"

    def addresses(self, shape):
        return number_cells("strided", shape, self.strides)

    def payload(self):
        return struct.pack(f"<{len(self.strides)}q", *self.strides)


TILE_ORDERS = {"row_major": 1, "col_major": 2, "strided": 3, "tiled": 4}


@dataclass(frozen=True)
class Tiled:
    tile_shape: tuple
    outer_layout: str = "row_major"
    inner_layout: str = "row_major"
    outer_strides: tuple = None
    inner_strides: tuple = None
    inner_tiled: "Tiled" = None
    tag, name = 0x04, "tiled"

    def addresses(self, shape):
        """Every cell of whole tiles, so padding that no index names is there too."""
        grid = tuple(-(-size // tile) for size, tile in zip(shape, self.tile_shape, strict=True))
        if self.inner_layout == "tiled":
            inside = self.inner_tiled.addresses(self.tile_shape)
        else:
            inside = number_cells(self.inner_layout, self.tile_shape, self.inner_strides)
        volume = math.prod(self.tile_shape)
        return {
            tuple(q * t + m for q, t, m in zip(tile, self.tile_shape, cell, strict=True)): (
                volume * number + address
            )
            for tile, number in number_cells(self.outer_layout, grid, self.outer_strides).items()
            for cell, address in inside.items()
        }

    def payload(self):
        rank = len(self.tile_shape)
        wire = struct.pack(f"<{rank}Q", *self.tile_shape)
        wire += bytes([TILE_ORDERS[self.outer_layout], TILE_ORDERS[self.inner_layout], 0, 0])
        for strides in (self.outer_strides, self.inner_strides):
            wire += struct.pack(f"<{rank}q", *strides) if strides is not None else b""
        return wire + (self.inner_tiled.payload() if self.inner_tiled else b"")


@dataclass(frozen=True)
class Morton:
    morton_bits: tuple
    tag, name = 0x05, "morton"

    def code(self, index):
        rank = len(index)
        return sum(
            ((i >> b) & 1) << (b * rank + k)
            for k, (i, bits) in enumerate(zip(index, self.morton_bits, strict=True))
            for b in range(bits)
        )

    def addresses(self, shape):
        return {index: self.code(index) for index in indices(shape)}

    def payload(self):
        return struct.pack(f"<{len(self.morton_bits)}I", *self.morton_bits)


@dataclass(frozen=True)
class Hilbert:
    hilbert_order: int
    hilbert_rank: int
    tag, name = 0x40, "hilbert"

    def cell(self, position):
        """The cell at a position on the curve: the format's decoding, read off its text."""
        rank, order = self.hilbert_rank, self.hilbert_order
        c = [
            sum(((position >> (b * rank + rank - 1 - d)) & 1) << b for b in range(order))
            for d in range(rank)
        ]
        t = c[rank - 1] >> 1
        for d in range(rank - 1, 0, -1):
            c[d] ^= c[d - 1]
        c[0] ^= t
        for level in range(1, order):
            low = (1 << level) - 1
            for d in range(rank - 1, -1, -1):
                if c[d] >> level & 1:
                    c[0] ^= low
                else:
                    difference = (c[0] ^ c[d]) & low
                    c[0] ^= difference
                    c[d] ^= difference
        return tuple(c)

    def addresses(self, shape):
        return {self.cell(h): h for h in range(1 << (self.hilbert_order * self.hilbert_rank))}

    def payload(self):
        return struct.pack("<II", self.hilbert_order, self.hilbert_rank)


def data_size(layout, shape, bits, byte_offset=0):
    """The least size of a dense tensor's buffer; None if an element lies below its start."""
    if 0 in shape:
        return byte_offset
    addresses = layout.addresses(shape).values()
    if isinstance(layout, Morton):
        addresses = [*addresses, (1 << sum(layout.morton_bits)) - 1]
    # The numbers of a strided order are not filled without gaps, and may start below zero.
    if byte_offset + byte_range(bits, min(addresses))[0] < 0:
        return None
    start, length = byte_range(bits, max(addresses))
    return byte_offset + start + length


# ---- sparse layouts: `stored` is a dict, index to code, in the order in which it is stored


def u64s(values):
    values = list(values)
    return struct.pack(f"<{len(values)}Q", *values)


def read_u64s(data, count=None):
    count = len(data) // 8 if count is None else count
    return list(struct.unpack_from(f"<{count}Q", data))


@dataclass(frozen=True)
class Coo:
    nnz: int
    is_sorted: bool = False
    tag, name = 0x06, "coo"

    def payload(self):
        return struct.pack("<QB7x", self.nnz, self.is_sorted)

    @staticmethod
    def buffers(stored, shape, bits):
        return [pack(stored.values(), bits), u64s(i for index in stored for i in index)]

    def positions(self, buffers, shape):
        """Index to position of its value, for every coordinate that is stored."""
        rank = len(shape)
        flat = read_u64s(buffers[1], self.nnz * rank)
        return {tuple(flat[j * rank : (j + 1) * rank]): j for j in range(self.nnz)}


@dataclass(frozen=True)
class Compressed:
    """CSR with `major` 0, CSC with `major` 1."""

    nnz: int
    major: int = 0

    @property
    def tag(self):
        return 0x08 if self.major else 0x07

    @property
    def name(self):
        return "csc" if self.major else "csr"

    def payload(self):
        return struct.pack("<Q8x", self.nnz)

    @staticmethod
    def buffers(stored, shape, bits, major=0):
        ordered = sorted(stored, key=lambda index: (index[major], index[1 - major]))
        pointers = [sum(i[major] < a for i in ordered) for a in range(shape[major] + 1)]
        return [
            pack([stored[i] for i in ordered], bits),
            u64s(i[1 - major] for i in ordered),
            u64s(pointers),
        ]

    def positions(self, buffers, shape):
        minors = read_u64s(buffers[1], self.nnz)
        pointers = read_u64s(buffers[2], shape[self.major] + 1)
        return {
            (a, minors[p]) if self.major == 0 else (minors[p], a): p
            for a in range(shape[self.major])
            for p in range(pointers[a], pointers[a + 1])
        }


@dataclass(frozen=True)
class Csf:
    nnz: int
    mode_order: tuple
    tag, name = 0x09, "csf"

    def payload(self):
        order = self.mode_order
        return struct.pack(f"<Q{len(order)}I8x", self.nnz, *order)

    @staticmethod
    def buffers(stored, shape, bits, mode_order):
        """Level by level: each distinct prefix of the reordered coordinates is one node."""
        by_key = {tuple(index[mode] for mode in mode_order): code for index, code in stored.items()}
        keys = sorted(by_key)
        out = [pack([by_key[key] for key in keys], bits)]
        parents = [()]
        for level in range(len(mode_order)):
            nodes = sorted({key[: level + 1] for key in keys})
            children = [sum(node[:level] == parent for node in nodes) for parent in parents]
            out += [u64s([0, *itertools.accumulate(children)]), u64s(node[-1] for node in nodes)]
            parents = nodes
        return out

    def positions(self, buffers, shape):
        nodes = [((), 0)]
        for level in range(len(self.mode_order)):
            pos, crd = (read_u64s(buffers[2 * level + k]) for k in (1, 2))
            nodes = [
                ((*key, crd[p]), p) for key, node in nodes for p in range(pos[node], pos[node + 1])
            ]
        return {
            tuple(key[self.mode_order.index(d)] for d in range(len(key))): p for key, p in nodes
        }


@dataclass(frozen=True)
class BlockPaged:
    page_size: int
    num_pages: int
    num_seqs: int
    paged_axis: int = 0
    kv_role: str = "key"
    layer_index: int = None
    block_table_index_type: str = "uint32"
    tag, name = 0x0A, "block_paged"

    def payload(self):
        return struct.pack(
            "<IQIIBIB6x",
            self.page_size,
            self.num_pages,
            self.paged_axis,
            self.num_seqs,
            ("key", "value", "fused").index(self.kv_role),
            0xFFFFFFFF if self.layer_index is None else self.layer_index,
            self.block_table_index_type == "uint64",
        )

    def index_buffers(self, block_table, sequence_pointers):
        letter = "Q" if self.block_table_index_type == "uint64" else "I"
        return [
            struct.pack(f"<{len(values)}{letter}", *values)
            for values in (block_table, sequence_pointers)
        ]

    def pool_elements(self, shape):
        return self.num_pages * self.page_size * shape[1] * shape[2]

    def address(self, sequence, token, head, dim, shape, block_table, sequence_pointers):
        """Element offset in the page pool; both index buffers are bytes."""
        letter, width = ("Q", 8) if self.block_table_index_type == "uint64" else ("I", 4)
        first = struct.unpack_from(f"<{letter}", sequence_pointers, sequence * width)[0]
        page = struct.unpack_from(
            f"<{letter}", block_table, (first + token // self.page_size) * width
        )[0]
        slot = page * self.page_size + token % self.page_size
        return (slot * shape[1] + head) * shape[2] + dim


# ---- layouts without elements of their own


@dataclass(frozen=True)
class CompositeHead:
    composition_rule: str
    member_count: int
    combine_op: str = None
    tag, name = 0x0B, "composite"

    def payload(self):
        rule = {"partition": 1, "overlay": 2, "group": 3}[self.composition_rule]
        operation = {None: 0, "replace": 1, "add": 2}[self.combine_op]
        return struct.pack("<BB2xI", rule, operation, self.member_count)


@dataclass(frozen=True)
class Private:
    tag: int
    extension_layout_id: int
    extension_data: bytes = b""
    name = "extension"

    def payload(self):
        data = self.extension_data
        return struct.pack("<QI", self.extension_layout_id, len(data)) + data


@dataclass(frozen=True)
class Unknown:
    tag: int
    raw_bytes: bytes = b""
    name = "extension"

    def payload(self):
        return self.raw_bytes


DENSE = (RowMajor, ColMajor, Strided, Tiled, Morton, Hilbert)
SPARSE = (Coo, Compressed, Csf)
