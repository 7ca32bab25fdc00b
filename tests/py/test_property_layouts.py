"""Any valid tensor or composite of any layout, type and section, against the model of its bytes."""

import random
from dataclasses import dataclass, field

import hypothesis
import model
import numpy as np
import pytest
import wire
from from_model import hurray_layout
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from model import (
    BlockPaged,
    ColMajor,
    Compressed,
    Coo,
    Csf,
    Hilbert,
    Morton,
    Private,
    RowMajor,
    Strided,
    Tiled,
)

import hurray

LARGEST = 4096  # elements that a test's tensor may take, padding included


@dataclass
class Case:
    """A tensor of the model, and what makes the same one in Python."""

    tensor: wire.Tensor
    options: dict = field(default_factory=dict)
    # The elements of a sparse tensor.
    stored: dict = None

    @property
    def bits(self):
        extension = self.options.get("extension_type")
        return extension.bit_width if extension else model.BITS[self.tensor.descriptor.dtype]

    @property
    def constructible(self):
        """Whether the constructor can make it: nothing is declared but what a buffer has."""
        d = self.tensor.descriptor
        usual = tuple(wire.handle_for(data) for data in self.tensor.buffers)
        return d.byte_offset == 0 and d.handles == usual

    def construct(self):
        d = self.tensor.descriptor
        first, *others = self.tensor.buffers
        return hurray.Tensor(
            first,
            dtype_of(d.dtype),
            d.shape,
            aux_buffers=others or None,
            layout=hurray_layout(d.layout),
            **self.options,
        )


def dtype_of(dtype):
    if isinstance(dtype, int):
        return hurray.Dtype.from_tag(dtype)
    return getattr(hurray.dtype, dtype)


# ---- layouts and shapes


def sides(most=6, least=0):
    return st.integers(least, most)


def shapes(ranks, most=6):
    return st.lists(sides(most), min_size=ranks[0], max_size=ranks[1]).map(tuple)


@st.composite
def strided(draw):
    shape = draw(shapes((1, 4), 5))
    strides = draw(st.tuples(*[st.integers(-9, 30)] * len(shape)))
    return Strided(strides), shape


@st.composite
def tile_orders(draw, extents, name):
    """An ordering and, where it needs them, strides at which no two cells meet."""
    order = draw(st.sampled_from(["row_major", "col_major", "strided"]))
    if order != "strided":
        return {f"{name}_layout": order}
    strides, step = [0] * len(extents), 1
    for dimension in draw(st.permutations(range(len(extents)))):
        strides[dimension] = step * draw(st.sampled_from([1, 1, 1, -1]))
        step *= max(extents[dimension], 1)
    return {f"{name}_layout": order, f"{name}_strides": tuple(strides)}


def divisors(number):
    return [d for d in range(1, number + 1) if number % d == 0]


@st.composite
def tile(draw, extents, depth, inside=False):
    """A record for cells of the given extents, which are a tile's own if it is inside of one."""
    sizes = tuple(
        draw(st.sampled_from(divisors(extent))) if inside else draw(sides(4, 1))
        for extent in extents
    )
    grid = tuple(-(-extent // size) for extent, size in zip(extents, sizes, strict=True))
    fields = draw(tile_orders(grid, "outer"))
    if depth and draw(st.booleans()):
        below = draw(tile(sizes, depth - 1, inside=True))
        fields |= {"inner_layout": "tiled", "inner_tiled": below}
    else:
        fields |= draw(tile_orders(sizes, "inner"))
    return Tiled(sizes, **fields)


@st.composite
def tiled(draw):
    shape = draw(shapes((1, 3)))
    return draw(tile(shape, draw(st.integers(0, 3)))), shape


@st.composite
def morton(draw):
    bits = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple))
    return Morton(bits), tuple(draw(st.integers(0, 1 << b)) for b in bits)


@st.composite
def hilbert(draw):
    order, rank = draw(st.sampled_from([(1, 2), (2, 2), (3, 2), (1, 3), (2, 3), (1, 4)]))
    return Hilbert(order, rank), (1 << order,) * rank


def of_any_shape(layout, ranks):
    return shapes(ranks).map(lambda shape: (layout, shape))


DENSE = {
    "row_major": of_any_shape(RowMajor(), (0, 5)),
    "col_major": of_any_shape(ColMajor(), (1, 5)),
    "strided": strided(),
    "tiled": tiled(),
    "morton": morton(),
    "hilbert": hilbert(),
}

# ---- types and sections


@st.composite
def types(draw):
    """A name, or a private tag with its section; and the bits of an element."""
    if draw(st.integers(0, 9)) or not hasattr(hurray, "ExtensionType"):
        name = draw(st.sampled_from(sorted(model.DTYPES)))
        return name, model.BITS[name], {}
    bits = draw(st.sampled_from([1, 2, 4, 8, 16, 24, 136]))
    form = draw(
        st.sampled_from(
            [
                {},
                {"is_signed": True},
                {"is_float": True, "sign_bits": 1, "exponent_bits": 4, "exponent_bias": 7},
                {"is_float": True, "mantissa_bits": 3, "has_nan": True, "has_inf": True},
            ]
        )
    )
    return draw(st.integers(0xF0, 0xFE)), bits, {"bit_width": bits, **form}


floats = st.floats(allow_nan=False)
CLAIMS = {
    "nnz": st.integers(0, 2**64 - 1),
    "sparsity_ratio": floats,
    "value_range": st.tuples(floats, floats, floats),
    "mean_and_deviation": st.tuples(floats, floats),
    "n_of_m": st.tuples(st.integers(0, 255), st.integers(0, 255)),
    "nan_and_inf": st.tuples(st.booleans(), st.booleans()),
}
CLAIM_NAMES = {
    "value_range": ("value_min", "value_max", "value_abs_max"),
    "mean_and_deviation": ("value_mean", "value_stddev"),
    "n_of_m": ("nm_n", "nm_m"),
    "nan_and_inf": ("has_nan", "has_inf"),
}


def python_statistics(claims):
    flat = {}
    for name, value in claims.items():
        names = CLAIM_NAMES.get(name, (name,))
        flat.update(zip(names, value if name in CLAIM_NAMES else (value,), strict=True))
    return hurray.Statistics(**flat)


@st.composite
def schemes(draw, first):
    """A quantization section and how many parameter buffers it has, from index `first` on."""
    axis = draw(st.integers(0, 63))
    form = draw(st.sampled_from(["tensor", "channel", "block", "nf4", "mxfp"]))
    zero_points = first + 1 if draw(st.booleans()) else None
    count = 1 if zero_points is None else 2
    if form == "tensor":
        scale = draw(st.floats(width=32, allow_nan=False, allow_infinity=False).filter(bool))
        return wire.per_tensor(scale, draw(st.integers(-(2**31), 2**31 - 1))), 0
    if form == "channel":
        return wire.per_channel(axis, first, zero_points), count
    size = 1 << draw(st.integers(4, 11))
    if form == "block":
        kind = draw(st.sampled_from([1, 2, 3]))
        return wire.per_block(axis, size, first, zero_points, scale_type=kind), count
    return (wire.nf4 if form == "nf4" else wire.mxfp)(axis, size, first), 1


def some(draw, *names):
    """Whether to add a section that takes these names of the API."""
    return all(hasattr(hurray, name) for name in names) and draw(st.integers(0, 3)) == 0


def bytes_of(draw, size):
    """Any bytes; what they are never matters, so they are not hypothesis's to shrink."""
    return random.Random(draw(st.integers(0, 2**32))).randbytes(size)


@st.composite
def finish(draw, dtype, shape, layout, buffers, extension, *, offset=0, shards=True, schemes_=True):
    """Adds sections, surplus buffers and declarations to a tensor that is complete without them."""
    fields, options = {}, {}
    if extension:
        fields["extension"] = wire.extension_type(**extension)
        options["extension_type"] = hurray.ExtensionType(**extension)
    if schemes_ and some(draw, "decode_quantization"):
        section, count = draw(schemes(len(buffers)))
        buffers = [*buffers, *(bytes_of(draw, draw(st.integers(0, 80))) for _ in range(count))]
        fields["quantization"] = section
        options["quantization"] = hurray.decode_quantization(section)
    if shards and None not in shape and some(draw, "Shard"):
        place = [draw(st.integers(0, 5)) for _ in shape]
        parent = [o + s + draw(st.integers(0, 5)) for o, s in zip(place, shape, strict=True)]
        fields["shard"] = wire.shard(parent, place)
        options["shard"] = hurray.Shard(parent, place)
    if some(draw, "Statistics"):
        claims = draw(st.fixed_dictionaries({}, optional=CLAIMS))
        fields["statistics"] = wire.statistics(**claims)
        options["statistics"] = python_statistics(claims)
    if draw(st.integers(0, 9)) == 0:
        buffers = [*buffers, bytes_of(draw, 7)]
    handles = tuple(wire.handle_for(data) for data in buffers)
    if draw(st.integers(0, 5)) == 0:
        declared = {"alignment": 1 << draw(st.integers(6, 13))}
        if draw(st.booleans()):
            device, memory_class = draw(st.sampled_from([(0, 1), (1, 3), (8, 2), (0xF0, 0xF3)]))
            declared |= {"device": device, "memory_class": memory_class}
        handles = tuple(wire.handle_for(data, **declared) for data in buffers)
    descriptor = wire.Descriptor(dtype, tuple(shape), layout, handles, byte_offset=offset, **fields)
    return Case(wire.Tensor(descriptor, tuple(buffers)), options)


# ---- tensors


def lowest_byte(layout, shape, bits):
    if 0 in shape:
        return 0
    return min(0, model.byte_range(bits, min(layout.addresses(shape).values()))[0])


@st.composite
def dense(draw, kind):
    layout, shape = draw(DENSE[kind])
    dtype, bits, extension = draw(types())
    offset = -lowest_byte(layout, shape, bits)
    if draw(st.integers(0, 3)) == 0:
        offset += draw(st.integers(1, 40))
    size = model.data_size(layout, shape, bits, offset)
    hypothesis.assume(size <= LARGEST * 8)
    size += draw(st.sampled_from([0, 0, 0, 1, 100]))
    if kind in ("row_major", "col_major") and shape and draw(st.integers(0, 5)) == 0:
        dynamic = draw(st.integers(0, len(shape) - 1))
        shape = (*shape[:dynamic], None, *shape[dynamic + 1 :])
    buffers = [bytes_of(draw, size)]
    return draw(finish(dtype, shape, layout, buffers, extension, offset=offset))


@st.composite
def stored(draw, shape, bits):
    cells = list(model.indices(shape))
    if not cells:
        return {}
    chosen = draw(st.lists(st.sampled_from(cells), unique=True, max_size=12))
    return {index: draw(st.integers(0, (1 << bits) - 1)) for index in chosen}


@st.composite
def sparse(draw, kind):
    ranks = {"coo": (1, 4), "csr": (2, 2), "csc": (2, 2), "csf": (3, 4)}[kind]
    shape = draw(shapes(ranks, 4))
    dtype, bits, extension = draw(types())
    values = draw(stored(shape, bits))
    if kind == "coo":
        is_sorted = draw(st.booleans())
        values = dict(sorted(values.items())) if is_sorted else values
        layout, buffers = Coo(len(values), is_sorted), Coo.buffers(values, shape, bits)
    elif kind == "csf":
        order = tuple(draw(st.permutations(range(len(shape)))))
        layout, buffers = Csf(len(values), order), Csf.buffers(values, shape, bits, order)
    else:
        major = ("csr", "csc").index(kind)
        layout = Compressed(len(values), major)
        buffers = Compressed.buffers(values, shape, bits, major)
    case = draw(finish(dtype, shape, layout, buffers, extension, shards=kind != "csf"))
    case.stored = values
    return case


@st.composite
def block_paged(draw):
    pages = BlockPaged(
        page_size=draw(st.integers(1, 4)),
        num_pages=draw(st.integers(0, 4)),
        num_seqs=draw(st.integers(0, 3)),
        kv_role=draw(st.sampled_from(["key", "value", "fused"])),
        layer_index=draw(st.one_of(st.none(), st.integers(0, 2**32 - 2))),
        block_table_index_type=draw(st.sampled_from(["uint32", "uint64"])),
    )
    shape = (draw(st.integers(0, 9)), draw(sides(3)), draw(sides(3)))
    dtype, bits, extension = draw(types())
    pointers = [0]
    for _ in range(pages.num_seqs):
        pointers.append(pointers[-1] + draw(st.integers(0, 2)) * (pages.num_pages > 0))
    table = [draw(st.integers(0, pages.num_pages - 1)) for _ in range(pointers[-1])]
    pool = bytes_of(draw, model.packed_size(bits, pages.pool_elements(shape)))
    buffers = [pool, *pages.index_buffers(table, pointers)]
    return draw(finish(dtype, shape, pages, buffers, extension, shards=False, schemes_=False))


@st.composite
def private(draw):
    layout = Private(
        draw(st.integers(0xF0, 0xFE)), draw(st.integers(0, 2**64 - 1)), draw(st.binary(max_size=20))
    )
    shape = draw(shapes((0, 4)))
    dtype, _, extension = draw(types())
    buffers = [bytes_of(draw, n) for n in draw(st.lists(sides(30), min_size=1, max_size=4))]
    return draw(finish(dtype, shape, layout, buffers, extension, schemes_=False))


TENSORS = {
    **{kind: dense(kind) for kind in DENSE},
    **{kind: sparse(kind) for kind in ("coo", "csr", "csc", "csf")},
    "block_paged": block_paged(),
    "private": private(),
}

every_layout = pytest.mark.parametrize("kind", TENSORS)
# An example takes tens of milliseconds, and there are many layouts.
few = settings(
    max_examples=max(settings.default.max_examples // 4, 5),
    # Saving replaces the file of the example before.
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def written(*items):
    writer = hurray.StreamWriter()
    for item in items:
        writer.write(item)
    return writer.getvalue()


def read(case):
    (item,) = hurray.StreamReader(wire.stream(case.tensor))
    return item


def buffers_of(tensor):
    return [np.asarray(tensor.buffer(i)).tobytes() for i in range(tensor.buffer_count)]


def check_fields(tensor, case):
    d = case.tensor.descriptor
    assert tensor.dtype is dtype_of(d.dtype)
    assert tensor.shape == d.shape
    assert tensor.layout == hurray_layout(d.layout)
    assert tensor.descriptor.byte_offset == d.byte_offset
    # Bytes of another device are relayed and not read; what is written again tells of them.
    if tensor.device.kind == "cpu":
        assert buffers_of(tensor) == list(case.tensor.buffers)
    for name, section in case.options.items():
        assert getattr(tensor, name) == section
    for handle, declared in zip(tensor.descriptor.buffer_handles, d.handles, strict=True):
        assert handle.byte_size == declared.byte_size
        assert handle.alignment == declared.alignment
        assert handle.device.tag == declared.device
        assert handle.device.memory_class_tag == declared.memory_class


def check_encoding(descriptor, case):
    data = case.tensor.descriptor.encode()
    assert descriptor.encode() == data
    assert descriptor.encoded_len == len(data)
    assert hurray.Descriptor.decode(data + b"more") == descriptor


def check_constructed(tensor, case):
    made = case.construct()
    check_fields(made, case)
    assert made.descriptor == tensor.descriptor
    assert written(made) == wire.stream(case.tensor)


def check_elements(kind, tensor, case):
    d = case.tensor.descriptor
    if kind in ("block_paged", "private") or None in d.shape:
        if 0 not in d.shape:
            with pytest.raises(hurray.UnsupportedError):
                tensor.element_offset((0,) * len(d.shape))
        return
    if case.stored is None:
        where = d.layout.addresses(d.shape) if 0 not in d.shape else {}
    else:
        where = d.layout.positions(case.tensor.buffers, d.shape)
        assert where.keys() == case.stored.keys()
    for index in model.indices(d.shape):
        offset = tensor.element_offset(index)
        assert offset == where.get(index), index
        if case.stored is not None and offset is not None:
            code = model.code_at(case.tensor.buffers[0], case.bits, offset)
            assert code == case.stored[index], index


@every_layout
@few
@given(data=st.data())
def test_tensors_are_what_their_bytes_say(kind, data):
    case = data.draw(TENSORS[kind])
    tensor = read(case)
    check_fields(tensor, case)
    check_encoding(tensor.descriptor, case)
    check_elements(kind, tensor, case)
    if case.constructible:
        check_constructed(tensor, case)
    # What a scheme or a claim says of the elements is another matter: they are random.
    if tensor.quantization is None and tensor.statistics is None:
        assert tensor.validate_contents() is None


@every_layout
@few
@given(data=st.data(), mapped=st.booleans())
def test_tensors_come_back_from_streams_and_files(kind, data, mapped, tmp_path):
    cases = data.draw(st.lists(TENSORS[kind], max_size=3))
    stream = wire.stream(*(case.tensor for case in cases))
    read_items = list(hurray.StreamReader(stream))
    assert written(*read_items) == stream

    names = [f"t{i}" for i in range(len(cases))]
    tensors = {name: case.tensor for name, case in zip(names, cases, strict=True)}
    handles = [h for t in tensors.values() for h in t.descriptor.handles if h.byte_size]
    alignment = max([wire.DATA_ALIGNMENT, *(h.alignment for h in handles)])
    file = wire.container(tensors, alignment=alignment)
    path = tmp_path / "f.hrry"
    hurray.save(path, dict(zip(names, read_items, strict=True)))
    assert path.read_bytes() == file
    loaded = hurray.load(path, mmap=mapped)
    assert list(loaded) == names
    for tensor, case in zip(loaded.values(), cases, strict=True):
        check_fields(tensor, case)
    hurray.save(path, loaded)
    assert path.read_bytes() == file


# ---- composites


def member(shape, parent, place, draw, **fields):
    size = model.packed_size(8, int(np.prod(shape)))
    return wire.tensor(
        "int8", shape, bytes_of(draw, size), shard=wire.shard(parent, place), **fields
    )


@st.composite
def boxes(draw, shape, depth=3):
    """Boxes that cover the shape and do not overlap: (offset, size)."""
    axes = [d for d, size in enumerate(shape) if size > 1]
    if not depth or not axes or draw(st.booleans()):
        return [((0,) * len(shape), shape)]
    axis = draw(st.sampled_from(axes))
    cut = draw(st.integers(1, shape[axis] - 1))
    parts = []
    for start, size in ((0, cut), (cut, shape[axis] - cut)):
        half = (*shape[:axis], size, *shape[axis + 1 :])
        for place, extent in draw(boxes(half, depth - 1)):
            moved = (*place[:axis], place[axis] + start, *place[axis + 1 :])
            parts.append((moved, extent))
    return draw(st.permutations(parts))


@st.composite
def partitions(draw):
    shape = draw(shapes((0, 3)))
    parts = [member(size, shape, place, draw) for place, size in draw(boxes(shape))]
    return wire.composite("partition", "int8", shape, *parts)


@st.composite
def overlays(draw):
    shape = draw(shapes((1, 3)))
    parts = [member(shape, shape, (0,) * len(shape), draw, member=wire.BASE)]
    for _ in range(draw(st.integers(0, 3))):
        place = tuple(draw(st.integers(0, size)) for size in shape)
        size = tuple(draw(st.integers(0, s - p)) for s, p in zip(shape, place, strict=True))
        parts.append(member(size, shape, place, draw, member=wire.CORRECTION))
    operation = draw(st.sampled_from(["replace", "add"]))
    return wire.composite("overlay", "int8", shape, *parts, combine_op=operation)


@st.composite
def groups(draw, items):
    members = draw(st.lists(items, max_size=3))
    return wire.composite("group", draw(st.sampled_from(["int8", "bool"])), (), *members)


# A function, because some of the layouts may be missing.
def composites():
    leaves = st.one_of(
        [TENSORS[kind].map(lambda case: case.tensor) for kind in ("row_major", "strided", "csf")]
    )
    nested = st.recursive(leaves | partitions() | overlays(), groups, max_leaves=5)
    return st.one_of(partitions(), overlays(), groups(nested)).filter(lambda c: depth(c) <= 8)


def depth(item):
    return 1 + max(map(depth, item.members), default=0) if isinstance(item, wire.Composite) else 0


def check_same(found, item):
    if isinstance(item, wire.Tensor):
        assert written(found) == wire.stream(item.with_fields(member=None))
        return
    head = item.descriptor
    assert isinstance(found, hurray.Composite)
    assert found.shape == head.shape
    assert found.dtype is dtype_of(head.dtype)
    assert found.layout == hurray.CompositeLayout(
        head.layout.composition_rule, head.layout.member_count, head.layout.combine_op
    )
    for one, expected in zip(found.members, item.members, strict=True):
        check_same(one, expected)


def rebuilt(found):
    """The same composite, made by the constructors from its members."""
    if isinstance(found, hurray.Tensor):
        return found
    return hurray.Composite(
        found.layout.composition_rule,
        shape=found.shape,
        dtype=found.dtype,
        members=[rebuilt(one) for one in found.members],
        combine_op=found.layout.combine_op,
    )


@few
@given(data=st.data())
def test_composites_come_back_from_streams(data):
    items = data.draw(st.lists(composites(), max_size=2))
    stream = wire.stream(*items)
    found = list(hurray.StreamReader(stream))
    for one, item in zip(found, items, strict=True):
        check_same(one, item)
        assert rebuilt(one) == one
    assert written(*found) == stream
    assert written(*map(rebuilt, found)) == stream


@few
@given(data=st.data(), mapped=st.booleans())
def test_composites_come_back_from_files(data, mapped, tmp_path):
    item = data.draw(composites())
    hypothesis.assume(all(h.alignment <= 4096 for _, d, _ in wire.walk(item) for h in d.handles))
    path = tmp_path / "f.hrry"
    (composite,) = hurray.StreamReader(wire.stream(item))
    hurray.save(path, {"w": composite})
    assert path.read_bytes() == wire.container({"w": item})
    loaded = hurray.load(path, mmap=mapped)
    assert list(loaded) == ["w"]
    check_same(loaded["w"], item)
    assert loaded["w"] == composite
    assert written(loaded["w"]) == wire.stream(item)
