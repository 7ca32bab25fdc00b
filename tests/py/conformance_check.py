"""Compares artefacts of the format with what their sidecars say that they are.

A sidecar is JSON: `kind` is file, stream or descriptor, `items` are what the artefact holds, `kv`
and `index` belong to files. An item has a `descriptor`, its `buffers` (as `hex`, or `byte_size` and
`sha256`), `members` if it is a composite, and `samples`: elements given by their bits. Fields of a
descriptor that have their usual values are left out.
"""

import hashlib
import json
import math
import struct
from dataclasses import dataclass
from pathlib import Path

import model
import numpy as np
import wire
from arrays import SAME_MEMORY_TYPES

import hurray


@dataclass(frozen=True)
class Artefact:
    path: Path
    side: dict

    @property
    def data(self):
        return self.path.read_bytes()


def artefacts(corpus):
    for path in sorted(corpus.glob("*/*.json")):
        if path.parent.name != "reject":
            side = json.loads(path.read_text())
            yield Artefact(corpus / side["file"], side)


# ---- descriptors, as a sidecar describes them

USUAL_HANDLE = {
    "device": "cpu",
    "device_tag": 0,
    "memory_class": "standard",
    "memory_class_tag": 0,
    "sync_mode": "producer_synced",
}
SCHEMES = {
    "PerTensorAffine": "per_tensor",
    "PerChannelAffine": "per_channel",
    "PerBlockAffine": "per_block",
    "NF4": "nf4",
    "MXFP": "mxfp",
}
CLAIMS = (
    *("nnz", "sparsity_ratio", "value_min", "value_max", "value_abs_max", "value_mean"),
    *("value_stddev", "nm_n", "nm_m", "has_nan", "has_inf"),
)


def plain(value):
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, hurray.Dtype):
        return value.name
    return list(value) if isinstance(value, tuple) else value


def attributes(thing, names):
    """What a sidecar calls `x_f32` or `x_f64` is the bits of the attribute `x`."""
    found = {}
    for name in names:
        attribute, _, width = name.rpartition("_f")
        if width in ("32", "64") and attribute:
            letter = "f" if width == "32" else "d"
            found[name] = struct.pack(f"<{letter}", getattr(thing, attribute)).hex()
        elif name == "inner_tiled":
            found[name] = None
        else:
            found[name] = plain(getattr(thing, name))
    return found


def layout_as(want, layout):
    found = attributes(layout, want)
    if want.get("inner_tiled") is not None:
        found["inner_tiled"] = layout_as(want["inner_tiled"], layout.inner_tiled)
    return found


def handle_as(handle):
    device = handle.device
    return {
        "byte_size": handle.byte_size,
        "alignment": handle.alignment,
        "device": device.kind,
        "device_tag": device.tag,
        "memory_class": device.memory_class,
        "memory_class_tag": device.memory_class_tag,
        "sync_mode": handle.sync_mode,
    }


def claims_as(want, statistics):
    made = [claim for claim in CLAIMS if getattr(statistics, claim) is not None]
    assert made == [claim for claim in CLAIMS if claim in want or f"{claim}_f64" in want]
    return attributes(statistics, want)


def scheme_as(want, scheme):
    names = [name for name in want if name != "scheme"]
    return {"scheme": SCHEMES[type(scheme).__name__], **attributes(scheme, names)}


SECTIONS = {
    "quantization": scheme_as,
    "statistics": claims_as,
    "shard": lambda want, shard: attributes(shard, want),
    "extension_type": lambda want, extension: attributes(extension, want),
}


def dtype_as(dtype):
    return f"private_{dtype.tag:02X}" if dtype.name == "extension" else dtype.name


def check_descriptor(descriptor, want):
    assert list(descriptor.version) == want.get("version", [1, 0])
    assert dtype_as(descriptor.dtype) == want["dtype"]
    assert list(descriptor.shape) == want["shape"]
    assert descriptor.byte_offset == want.get("byte_offset", 0)
    assert layout_as(want["layout"], descriptor.layout) == want["layout"]
    handles = [handle_as(handle) for handle in descriptor.buffer_handles]
    assert handles == [{**USUAL_HANDLE, **handle} for handle in want["buffers"]]
    assert descriptor.buffer_count == len(handles)
    for name, described in SECTIONS.items():
        section = getattr(descriptor, name)
        assert (section is None) == (name not in want), name
        if section is not None:
            assert described(want[name], section) == want[name], name


# ---- the same, as the model of the format has it


def model_layout(want):
    fields = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in want.items()
        if key not in ("name", "tag")
    }
    match want["name"]:
        case "row_major":
            return model.RowMajor()
        case "col_major":
            return model.ColMajor()
        case "strided":
            return model.Strided(**fields)
        case "tiled":
            if fields.get("inner_tiled") is not None:
                fields["inner_tiled"] = model_layout({"name": "tiled", **fields["inner_tiled"]})
            return model.Tiled(**fields)
        case "morton":
            return model.Morton(**fields)
        case "hilbert":
            return model.Hilbert(**fields)
        case "coo":
            return model.Coo(**fields)
        case "csr" | "csc" as name:
            return model.Compressed(**fields, major=("csr", "csc").index(name))
        case "csf":
            return model.Csf(**fields)
        case "block_paged":
            return model.BlockPaged(**fields)
        case "composite":
            return model.CompositeHead(**fields)
        case "extension":
            data = bytes.fromhex(fields.pop("extension_data"))
            return model.Private(want["tag"], **fields, extension_data=data)


def number(text, form):
    return struct.unpack(form, bytes.fromhex(text))[0]


def model_quantization(want):
    scales = want.get("scale_buffer_index")
    match want["scheme"]:
        case "per_tensor":
            return wire.per_tensor(number(want["scale_f32"], "<f"), want["zero_point"])
        case "per_channel":
            return wire.per_channel(want["axis"], scales, want["zero_point_buffer_index"])
        case "per_block":
            return wire.per_block(
                want["axis"],
                want["block_size"],
                scales,
                want["zero_point_buffer_index"],
                scale_type=model.DTYPES[want["scale_type"]][0],
            )
        case "nf4":
            return wire.nf4(want["axis"], want["block_size"], scales)
        case "mxfp":
            return wire.mxfp(want["axis"], want["block_size"], scales)


def model_statistics(want):
    def group(*names):
        values = [
            number(want[f"{name}_f64"], "<d") if f"{name}_f64" in want else want.get(name)
            for name in names
        ]
        return None if values[0] is None else values

    (nnz,) = group("nnz") or (None,)
    (ratio,) = group("sparsity_ratio") or (None,)
    return wire.statistics(
        nnz=nnz,
        sparsity_ratio=ratio,
        value_range=group("value_min", "value_max", "value_abs_max"),
        mean_and_deviation=group("value_mean", "value_stddev"),
        n_of_m=group("nm_n", "nm_m"),
        nan_and_inf=group("has_nan", "has_inf"),
    )


def model_descriptor(want):
    modes = {"producer_synced": 0, "event": 1, "consumer_stream": 2}
    sections = {
        "quantization": model_quantization,
        "statistics": model_statistics,
        "shard": lambda s: wire.shard(s["parent_shape"], s["shard_offset"]),
        "member_role": lambda role: {"base": wire.BASE, "correction": wire.CORRECTION}[role],
        "extension_type": lambda e: wire.extension_type(**e),
    }
    fields = {name: make(want[name]) for name, make in sections.items() if name in want}
    dtype = want["dtype"]
    return wire.Descriptor(
        int(dtype[-2:], 16) if dtype.startswith("private_") else dtype,
        tuple(want["shape"]),
        model_layout(want["layout"]),
        tuple(
            wire.Handle(
                handle["byte_size"],
                handle["alignment"],
                handle.get("device_tag", 0),
                modes[handle.get("sync_mode", "producer_synced")],
                handle.get("memory_class_tag", 0),
            )
            for handle in want["buffers"]
        ),
        want.get("byte_offset", 0),
        fields.get("quantization"),
        fields.get("shard"),
        fields.get("statistics"),
        fields.get("extension_type"),
        fields.get("member_role"),
    )


# ---- items


def hex_of(code, bits):
    return code.to_bytes(max((bits + 7) // 8, 1), "little").hex()


def check_samples(tensor, item, buffers):
    """The sampled elements, found through element_offset(), through the model and through NumPy."""
    want = item["descriptor"]
    if None in want["shape"]:
        return
    layout, shape = model_layout(want["layout"]), tuple(want["shape"])
    extension = want.get("extension_type")
    bits = extension["bit_width"] if extension else model.BITS[want["dtype"]]
    offset = want.get("byte_offset", 0)
    if isinstance(layout, model.SPARSE):
        where = layout.positions(buffers, shape)
    elif isinstance(layout, model.DENSE) and math.prod(shape) <= 1 << 14:
        where = layout.addresses(shape)
    else:
        where = None
    array = None
    if layout.name in ("row_major", "col_major", "strided") and tensor.dtype in SAME_MEMORY_TYPES:
        array = np.asarray(tensor)
    for sample in item.get("samples", []):
        index = tuple(sample["index"])
        found = tensor.element_offset(index)
        if where is not None:
            assert found == where.get(index), index
        if not sample.get("stored", True):
            assert found is None, index
            continue
        assert hex_of(model.code_at(buffers[0], bits, found, offset), bits) == sample["bits"], index
        if array is not None:
            assert array[index].tobytes().hex() == sample["bits"], index
    for sample in item.get("paged_samples", []):
        place = [sample[key] for key in ("sequence", "token", "head", "dim")]
        found = layout.address(*place, shape, *buffers[1:3])
        assert hex_of(model.code_at(buffers[0], bits, found), bits) == sample["bits"], place


def check_item(found, item):
    want = item["descriptor"]
    check_descriptor(found.descriptor, want)
    if item["kind"] == "composite":
        assert isinstance(found, hurray.Composite)
        roles = [member["descriptor"].get("member_role") for member in item["members"]]
        assert list(found.member_roles) == roles
        assert found.member_count == len(item["members"])
        for member, expected in zip(found.members, item["members"], strict=True):
            check_item(member, expected)
        return
    if any("sync_mode" in handle or "device" in handle for handle in want["buffers"]):
        return  # memory that the host may not read
    buffers = [np.asarray(found.buffer(i)).tobytes() for i in range(found.buffer_count)]
    for data, expected in zip(buffers, item["buffers"], strict=True):
        if "hex" in expected:
            assert data.hex() == expected["hex"]
        else:
            assert len(data) == expected["byte_size"]
            assert hashlib.sha256(data).hexdigest() == expected["sha256"]
    check_samples(found, item, buffers)


# ---- artefacts


def text(value):
    if isinstance(value, dict):
        return value["repeat"] * value["count"] + value["tail"]
    return value


def kv_value(kind, value):
    """A float as its bits, so that NaN equals itself."""
    decode = {
        "int64": int,
        "uint64": int,
        "float64": lambda bits: ("float64", bits),
        "bytes": bytes.fromhex,
        "string": text,
        "bool": bool,
    }
    return decode[kind](value)


def with_bits(value):
    if isinstance(value, list):
        return [with_bits(one) for one in value]
    return ("float64", struct.pack("<d", value).hex()) if isinstance(value, float) else value


def check_kv(found, entries):
    want = {}
    for entry in entries:
        value = entry["value"]
        if entry["type"] == "array":
            value = [kv_value(entry["element_type"], one) for one in value]
        else:
            value = kv_value(entry["type"], value)
        want[text(entry["key"])] = value
    assert {key: with_bits(value) for key, value in found.items()} == want
    assert list(found) == list(want)


def written(items):
    writer = hurray.StreamWriter()
    for item in items:
        writer.write(item)
    return writer.getvalue()


def check_file(artefact, folder):
    side = artefact.side
    kv = hurray.load_kv(artefact.path)
    check_kv(kv, side["kv"])
    for mapped in (True, False):
        found = hurray.load(artefact.path, mmap=mapped)
        assert sorted(found) == sorted(text(item["name"]) for item in side["items"])
        for item in side["items"]:
            check_item(found[text(item["name"])], item)
        composites = any(item["kind"] == "composite" for item in side["items"])
        # Not where a writer would make another container, or no padding behind heads.
        if side["origin"] in ("constructed", "reencoded") and not composites:
            again = folder / "again.hrry"
            hurray.save(again, found, kv=kv)
            assert again.read_bytes() == artefact.data


def check_stream(artefact):
    found = list(hurray.StreamReader(artefact.data))
    for one, item in zip(found, artefact.side["items"], strict=True):
        check_item(one, item)
    assert written(found) == artefact.data


def check(artefact, folder):
    assert hashlib.sha256(artefact.data).hexdigest() == artefact.side["sha256"]
    kind = artefact.side["kind"]
    if kind == "file":
        check_file(artefact, folder)
    elif kind == "stream":
        check_stream(artefact)
    else:
        descriptor = hurray.Descriptor.decode(artefact.data)
        check_descriptor(descriptor, artefact.side["items"][0]["descriptor"])
        assert descriptor.encode() == artefact.data
