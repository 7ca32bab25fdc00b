"""The same tensors give the same bytes, whatever the process and wherever they lie in memory."""

import pytest
from subprocesses import run_python

# Arrays of every type, a file and a stream of them, and what is read back of both.
PROGRAM = """
import hashlib, os, sys, tempfile
import numpy as np
import hurray

alignment = int(sys.argv[1])
waste = [np.empty(n) for n in range(1, alignment % 97 + 2)]

def at(array):
    memory = np.empty(array.nbytes + 3 * alignment, np.uint8)
    address = memory.__array_interface__["data"][0]
    start = (alignment - address) % (2 * alignment)
    placed = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    placed[...] = array
    return hurray.from_numpy(placed)

def digest(data):
    print(hashlib.sha256(data).hexdigest())

tensors = {}
for i, name in enumerate("float16 float32 float64 int8 uint16 int64 complex64 complex128".split()):
    for shape in ((), (0,), (3,), (5, 7), (2000,)):
        size = int(np.prod(shape))
        array = (np.arange(size) * 7 % 100).astype(name).reshape(shape)
        tensors[f"{name}{shape}"] = at(array)
tensors["bool"] = at(np.arange(19) % 3 == 0)
tensors["bytes"] = hurray.Tensor(bytes(range(200)), hurray.uint8, [200])
tensors["made"] = hurray.arange(5)
tensors["strided"] = hurray.Tensor(
    bytes(range(96)), hurray.float32, [2, 3], layout=hurray.StridedLayout([4, 1]), copy=None
)
kv = {"z": 1, "a": ["x", "y"], "m": 0.1}

def written(items):
    writer = hurray.StreamWriter()
    for item in items:
        writer.write(item)
    return writer.getvalue()

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "f.hrry")
    hurray.save(path, tensors, kv=kv)
    digest(open(path, "rb").read())
    digest(written(tensors.values()))
    digest(written(hurray.load(path).values()))
    digest(written(hurray.load(path, mmap=False).values()))
    digest(written(hurray.StreamReader(written(tensors.values()))))
    hurray.save(path, hurray.load(path), kv=hurray.load_kv(path))
    digest(open(path, "rb").read())
"""


@pytest.fixture(scope="module")
def digests():
    return {alignment: run_python(PROGRAM, str(alignment)).split() for alignment in (16, 64, 4096)}


def test_processes_agree(digests):
    assert digests[16] == digests[64] == digests[4096]


def test_what_was_read_is_written_alike(digests):
    file, stream, of_mapped, of_memory, of_stream, file_again = digests[64]
    assert stream == of_mapped == of_memory == of_stream
    assert file == file_again
    assert file != stream
