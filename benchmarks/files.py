"""Files and streams: table H.3 of the performance targets.

The files lie in the page cache. --scale shrinks the payload, not the number of tensors.
"""

from benchmarks.case import Case, Party

NO_MUST = float("inf")  # where the table has only an aim

# Arrays of a size, and where a party's file is.
COMMON = """
import os
import numpy as np

def arrays(count, total):
    size = max(int(total * scale) // count // 4, 1)
    return {f"model.layers.{i}.weight": np.full(size, i, np.float32) for i in range(count)}

def file_of(name, count, total, save, suffix):
    path = os.path.join(folder, f"{name}-{count}-{total}{suffix}")
    if not os.path.exists(path):
        save(arrays(count, total), path)
    return path
"""
HURRAY = f"""{COMMON}
import hurray

def wrap(values):
    return {{name: hurray.from_numpy(array) for name, array in values.items()}}

def save(values, path):
    hurray.save(path, wrap(values))
"""
SAFETENSORS = f"{COMMON}\nfrom safetensors.numpy import load_file, save_file as save\n"
ZTENSOR = (
    f"{COMMON}\nimport ztensor.numpy\nfrom ztensor.numpy import load_file, save_file as save\n"
)
PROBES = f"""{HURRAY}
import sys
sys.path.insert(0, probes_folder)
import hurray_probes as probes
one = np.zeros(1, np.float32)
"""
# What writing costs without a format: room for all, then few calls.
RAW = f"""{COMMON}
def write(path, values):
    parts = [memoryview(array).cast("B") for array in values.values()]
    file = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    os.posix_fallocate(file, 0, max(sum(map(len, parts)), 1))
    for start in range(0, len(parts), 1024):
        batch = parts[start : start + 1024]
        while batch:
            done = os.writev(file, batch)
            while batch and done >= len(batch[0]):
                done -= len(batch.pop(0))
            if batch:
                batch[0] = batch[0][done:]
    os.close(file)
    os.rename(path + ".new", path)
"""


def reading(count, total, ours, *, raw=None):
    """Parties that read a file of `count` tensors, each its own kind of file."""

    def path(name, suffix):
        return f"path = file_of({name!r}, {count}, {total}, save, {suffix!r})\n"

    setup = HURRAY + path("hurray", ".hrry")
    return (
        Party("hurray", setup, ours.get("hurray")),
        Party("pyhurray", HURRAY + path("pyhurray", ".hrry"), ours.get("pyhurray")),
        Party("safetensors", SAFETENSORS + path("st", ".safetensors"), ours["safetensors"]),
        Party("ztensor", ZTENSOR + path("zt", ".zt"), ours["ztensor"]),
        *(() if raw is None else (Party("limit", PROBES + path("hurray", ".hrry"), raw),)),
    )


ALL = {
    "hurray": "hurray.load(path)",
    "pyhurray": "hurray.load(path)",
    "safetensors": "load_file(path)",
    "ztensor": "load_file(path)",
}
NAME = "model.layers.5000.weight"
ONE = {
    "hurray": f"hurray.load(path, names=[{NAME!r}])",
    "pyhurray": f"hurray.load(path, names=[{NAME!r}])",
    "safetensors": f"safe_open(path, framework='np').get_tensor({NAME!r})",
    "ztensor": f"load_file(path)[{NAME!r}]",
}


def with_import(parties, name, line):
    return tuple(
        Party(p.name, line + p.setup, p.statement) if p.name == name else p for p in parties
    )


def saving(count, total, *, numpy=None):
    """Parties that write a file again and again."""
    data = f"values = arrays({count}, {total})\n"

    def target(name):
        return f"path = os.path.join(folder, 'saved-{name}')\n"

    wrapped = data + "tensors = wrap(values)\n"
    parties = [
        Party("hurray", HURRAY + wrapped + target("hurray"), "hurray.save(path, tensors)"),
        Party("pyhurray", HURRAY + wrapped + target("pyhurray"), "hurray.save(path, tensors)"),
        Party("safetensors", SAFETENSORS + data + target("st"), "save(values, path)"),
        Party("ztensor", ZTENSOR + data + target("zt"), "save(values, path)"),
        Party("limit", RAW + data + target("raw"), "write(path, values)"),
    ]
    if numpy is not None:
        setup = COMMON + data + "(array,) = values.values()\n" + target("numpy.npy")
        parties.append(Party("numpy", setup, "np.save(path, array)"))
    return tuple(parties)


# One process writes equal arrays into a pipe, and another reads them; timed from the fork on.
PIPE = f"""{COMMON}
import time

def measure(array, count, send, receive):
    read, write = os.pipe()
    started = time.perf_counter_ns()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            with os.fdopen(write, "wb", buffering=0) as end:
                send(end, array, count)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb", buffering=0) as source:
        received = receive(source, array, count)
    took = time.perf_counter_ns() - started
    os.waitpid(child, 0)
    assert received == count, (received, count)
    return took
"""
SENDERS = {
    "hurray": """
import hurray
def send(end, array, count):
    tensor = hurray.from_numpy(array)
    with hurray.StreamWriter(end) as writer:
        for _ in range(count):
            writer.write(tensor)
def receive(source, array, count):
    return sum(1 for _ in hurray.StreamReader(source))
""",
    "pyarrow": """
import pyarrow as pa
def send(end, array, count):
    tensor = pa.Tensor.from_numpy(array)
    with pa.PythonFile(end, mode="w") as sink:
        for _ in range(count):
            pa.ipc.write_tensor(tensor, sink)
def receive(source, array, count):
    # It takes a short read for the end, so something has to read on.
    with os.fdopen(os.dup(source.fileno()), "rb") as buffered, pa.PythonFile(buffered) as file:
        for _ in range(count):
            pa.ipc.read_tensor(file).to_numpy()
    return count
""",
    "pickle": """
import pickle, struct
def read_exactly(source, size):
    data = bytearray(size)
    view = memoryview(data)
    while view:
        view = view[source.readinto(view) :]
    return data
def write_all(end, data):
    view = memoryview(data).cast("B")
    while view:
        view = view[end.write(view) :]
def send(end, array, count):
    for _ in range(count):
        buffers = []
        data = pickle.dumps(array, protocol=5, buffer_callback=buffers.append)
        raw = buffers[0].raw()
        write_all(end, struct.pack("<QQ", len(data), len(raw)) + data)
        write_all(end, raw)
def receive(source, array, count):
    for _ in range(count):
        sizes = struct.unpack("<QQ", read_exactly(source, 16))
        data, raw = (read_exactly(source, size) for size in sizes)
        pickle.loads(data, buffers=[raw])
    return count
""",
    # Into the same memory over and over: no page is ever new.
    "limit": """
def send(end, array, count):
    data = memoryview(array).cast("B")
    for _ in range(count):
        view = data
        while view:
            view = view[end.write(view) :]
def receive(source, array, count):
    data = memoryview(bytearray(array.nbytes))
    for _ in range(count):
        view = data
        while view:
            view = view[source.readinto(view) :]
    return count
""",
}


def streaming(size, total):
    setup = PIPE + f"array = np.zeros({size} // 4, np.float32)\n"
    setup += f"count = max(int({total} * scale) // {size}, 2)\n"
    statement = "measure(array, count, send, receive)"
    parties = {"pyhurray": SENDERS["hurray"], **SENDERS}
    return tuple(
        Party(name, setup + parties[name], statement, times_itself=True)
        for name in ("hurray", "pyhurray", "pyarrow", "pickle", "limit")
    )


D5 = with_import(
    reading(10_000, 40_000_000, ONE), "safetensors", "from safetensors import safe_open\n"
)

CASES = [
    Case(
        "D1",
        "open + all of 300 tensors (256 MiB), not touched",
        reading(300, 256 << 20, ALL, raw="probes.open_all(path, one)"),
        {"ztensor": (0.15, 0.15), "limit": (NO_MUST, 3)},
    ),
    Case("D5", "one of 10,000 tensors by name, open included", D5, {"pyhurray": (0.1, 0.035)}),
    Case(
        "D6",
        "open + all of 10,000 tensors",
        reading(10_000, 40_000_000, ALL, raw="probes.open_all(path, one)"),
        {"ztensor": (0.1, 0.1), "limit": (NO_MUST, 3)},
    ),
    Case(
        "D7",
        "save one of 512 MiB",
        saving(1, 512 << 20, numpy=True),
        {"limit": (1 / 0.9, 1 / 0.97), "numpy": (NO_MUST, 1.0)},
    ),
    Case(
        "D7",
        "save 300 of 256 MiB",
        saving(300, 256 << 20),
        {"limit": (1 / 0.9, 1 / 0.97), "safetensors": (1 / 1.2, 1 / 1.2)},
    ),
    Case(
        "D9",
        "save 20,000 of 10 KB",
        saving(20_000, 200_000_000),
        {"safetensors": (0.4, 0.25), "ztensor": (0.4, 0.25)},
    ),
    Case(
        "D11",
        "stream over a pipe, tensors of 64 KiB",
        streaming(64 << 10, 256 << 20),
        {"pyarrow": (1 / 1.2, 1 / 1.2), "pickle": (1 / 1.2, 1 / 1.2), "limit": (2, 1 / 0.8)},
    ),
    Case(
        "D11",
        "stream over a pipe, tensors of 64 MiB",
        streaming(64 << 20, 512 << 20),
        {"pyarrow": (1 / 1.2, 1 / 1.2), "pickle": (1 / 1.2, 1 / 1.2), "limit": (2, 1 / 0.8)},
    ),
]
