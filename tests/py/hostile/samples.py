"""Inputs that are in order, to be cut and changed byte by byte."""

import wire
from model import (
    BlockPaged,
    Coo,
    Csf,
    Hilbert,
    Morton,
    Private,
    Strided,
    Tiled,
    u64s,
)

# What full_item() takes.
FULL = (
    "Composite",
    "CooLayout",
    "CsfLayout",
    "TiledLayout",
    "MortonLayout",
    "HilbertLayout",
    "BlockPagedLayout",
    "PrivateExtensionLayout",
    "PerBlockAffine",
    "Statistics",
)


def small_stream():
    return wire.stream(
        wire.tensor("float32", (2, 2), bytes(range(16))), wire.tensor("int8", (3,), b"abc")
    )


def small_file(**options):
    """As small as a file can be, with an entry of every kind of metadata."""
    kv = {"s": "x", "i": 1, "u": 2**63, "f": 0.5, "b": True, "y": b"\0", "a": ["p", "q"]}
    return wire.container({"w": wire.tensor("int8", (2,), b"ab")}, kv, **options)


def full_item():
    """A composite in which nearly every kind of payload and section occurs."""
    stored = {(0, 0, 1): 1, (1, 0, 0): 2}
    zeros = wire.statistics(
        nnz=0,
        sparsity_ratio=0.0,
        value_range=(0.0, 0.0, 0.0),
        mean_and_deviation=(0.0, 0.0),
        n_of_m=(0, 0),
        nan_and_inf=(0, 0),
    )
    pages = BlockPaged(page_size=2, num_pages=2, num_seqs=1)
    nested = Tiled((4, 2), "col_major", "tiled", inner_tiled=Tiled((2, 2)))
    blocks = wire.tensor(
        "int8",
        (4, 4),
        bytes(16),
        bytes(32),
        quantization=wire.per_block(1, 2, 1),
        shard=wire.shard((4, 4), (0, 0)),
        statistics=zeros,
    )
    return wire.composite(
        "group",
        "int8",
        (),
        wire.tensor("int8", (2, 2), bytes(4), layout=Strided((-2, 1)), byte_offset=2),
        wire.tensor(
            "int8",
            (2, 2, 2),
            *Csf.buffers(stored, (2, 2, 2), 8, (0, 2, 1)),
            layout=Csf(2, (0, 2, 1)),
        ),
        wire.tensor("uint8", (2, 2), b"ab", u64s([0, 0, 1, 1]), layout=Coo(2, True)),
        wire.tensor(0xF2, (3,), bytes(9), extension=wire.extension_type(24, is_signed=1)),
        wire.tensor("int4", (4, 4), bytes(8), layout=nested),
        wire.tensor("int2", (2, 2), bytes(1), layout=Morton((1, 1))),
        wire.tensor("bool", (2, 2), bytes(1), layout=Hilbert(1, 2)),
        wire.tensor(
            "int8", (3, 1, 1), bytes(4), *pages.index_buffers([1, 0], [0, 2]), layout=pages
        ),
        wire.tensor("int8", (2,), bytes(2), layout=Private(0xF1, 7, b"xyz")),
        wire.composite("partition", "float32", (4, 4), blocks),
    )
