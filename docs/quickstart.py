"""The main job of hurray from end to end, with the arrays of a small model.

NumPy arrays are wrapped, saved to a file with metadata, loaded again, and streamed through a pipe
to a second process and back. Every step is checked bit for bit; files are timed against NumPy's.

    python docs/quickstart.py
"""

import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

import hurray

ROUNDS = 5
REFERENCE_FILE = "shared/conformance/vectors/basic.hrry"


def aligned_empty(shape, dtype):
    """An array that starts at a multiple of 64 bytes, which NumPy leaves to chance."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.empty(size + hurray.MIN_BUFFER_ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % hurray.MIN_BUFFER_ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(shape)


def misaligned(array):
    """The same values eight bytes past a multiple of 64."""
    memory = aligned_empty(array.nbytes + 8, np.uint8)
    moved = memory[8:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


def make_model():
    """Arrays by name, as a model has them: large and small, of several types, one of them empty."""
    random = np.random.default_rng(0)

    def normal(*shape, dtype=np.float32):
        array = aligned_empty(shape, dtype)
        array[...] = random.standard_normal(shape)
        return array

    embedding = normal(1000, 1000)
    embedding[0, :3] = [np.nan, -0.0, np.inf]  # what a comparison of values would get wrong
    return {
        "embedding.weight": embedding,
        "attention.query": normal(256, 256, dtype=np.float16),
        "attention.key": misaligned(normal(256, 256, dtype=np.float16)),
        "mlp.weight": random.integers(-128, 128, (512, 256), dtype=np.int8),
        "mlp.bias": normal(256, dtype=np.float64),
        "rotary.phase": normal(64, dtype=np.complex64),
        "mask": random.random(1001) < 0.5,
        "adapter.weight": np.empty((0, 256), np.float32),
        "step": np.array(12345, np.int64),
    }


METADATA = {
    "model": "quickstart",
    "layers": 1,
    "learning_rate": 3e-4,
    "tied_embedding": True,
    "tokenizer": bytes([0x00, 0xFF, 0x10]),
    "special_tokens": ["<pad>", "<eos>"],
}


# ---- checks


def bits(array):
    """Everything that makes an array the same as another, NaNs and signs of zeros included."""
    array = np.asarray(array)
    return array.dtype, array.shape, array.tobytes()


def check_same(arrays, tensors):
    for (name, array), tensor in zip(arrays.items(), tensors, strict=True):
        if bits(array) != bits(tensor):
            raise SystemExit(f"{name} has changed")


def how_wrapped(array, tensor):
    if array.size == 0:
        return "nothing to share"
    if np.shares_memory(array, np.asarray(tensor)):
        return "shared"
    if tensor.dtype is hurray.bool:
        return "copied: packed to one bit per element"
    return f"copied: not at a multiple of {hurray.MIN_BUFFER_ALIGNMENT}"


# ---- the second process


def echo():
    """Sends every tensor that comes in at once back out."""
    with (
        hurray.StreamReader(sys.stdin.buffer) as reader,
        hurray.StreamWriter(sys.stdout.buffer) as writer,
    ):
        for tensor in reader:
            writer.write(tensor)


def through_second_process(tensors):
    """Streams the tensors to a second process and returns what comes back, in the same order."""
    command = [sys.executable, __file__, "--echo"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:

        def send():
            with process.stdin, hurray.StreamWriter(process.stdin) as writer:
                for tensor in tensors:
                    writer.write(tensor)

        # Both directions at once: a pipe holds only a little, and the other side answers at once.
        sender = threading.Thread(target=send)
        sender.start()
        with hurray.StreamReader(process.stdout) as reader:
            received = list(reader)
        sender.join()
    if process.returncode != 0:
        raise SystemExit(f"the second process ended with status {process.returncode}")
    return received


# ---- time


def median_times(cases):
    """Median seconds of each case. They take turns: a busy moment of the machine hits them all."""
    times = {name: [] for name in cases}
    for _ in range(ROUNDS):
        for name, case in cases.items():
            start = time.perf_counter()
            case()
            times[name].append(time.perf_counter() - start)
    return {name: sorted(rounds)[ROUNDS // 2] for name, rounds in times.items()}


def compare_with_numpy(arrays, tensors, folder):
    def numpy_file(name):
        return folder / f"{name}.npy"

    def numpy_save():
        for name, array in arrays.items():
            np.save(numpy_file(name), array)

    def numpy_load():
        return {name: np.load(numpy_file(name)) for name in arrays}

    hurray_file = folder / "timed.hrry"
    times = median_times(
        {
            "hurray.save": lambda: hurray.save(hurray_file, tensors, kv=METADATA),
            "np.save": numpy_save,
            "hurray.load": lambda: hurray.load(hurray_file),
            "hurray.load mmap=False": lambda: hurray.load(hurray_file, mmap=False),
            "np.load": numpy_load,
        }
    )
    for name, seconds in times.items():
        peer = "np.save" if "save" in name else "np.load"
        ratio = "" if name == peer else f"  {seconds / times[peer]:6.2f} of {peer}"
        print(f"  {name:24}{seconds * 1e3:8.2f} ms{ratio}")
    print(
        "  (NumPy: a file for each array. hurray.load maps its file, which is read when touched.)"
    )


# ---- the job


def print_contents(path):
    print(f"\n{path.name}, written by the reference implementation:")
    for name, tensor in hurray.load(path).items():
        described = f"{tensor.dtype.name} {tensor.shape}, {tensor.layout.name}"
        print(f"  {name}: {described}: {np.asarray(tensor).tolist()}")
    print(f"  metadata: {hurray.load_kv(path)}")


def main():
    arrays = make_model()

    print("wrapped:")
    tensors = {name: hurray.from_numpy(array) for name, array in arrays.items()}
    for name, tensor in tensors.items():
        (handle,) = tensor.buffer_handles
        size = f"{handle.byte_size:>9,} bytes, alignment {handle.alignment:>4}"
        print(f"  {name:18}{tensor.dtype.name:>10} {size}  {how_wrapped(arrays[name], tensor)}")
    check_same(arrays, tensors.values())

    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        path = folder / "model.hrry"
        hurray.save(path, tensors, kv=METADATA)
        loaded = hurray.load(path)
        if list(loaded) != list(arrays) or hurray.load_kv(path) != METADATA:
            raise SystemExit("names or metadata have changed")
        check_same(arrays, loaded.values())
        print(f"\nsaved and loaded: {path.stat().st_size:,} bytes, metadata and every bit the same")

        start = time.perf_counter()
        received = through_second_process(loaded.values())
        seconds = time.perf_counter() - start
        check_same(arrays, received)
        print(f"streamed to a second process and back: every bit the same, {seconds * 1e3:.0f} ms")
        print("  (the start of that process included)")

        print(f"\ntime, median of {ROUNDS}:")
        compare_with_numpy(arrays, tensors, folder)

    reference = pathlib.Path(__file__).resolve().parents[2] / REFERENCE_FILE
    if reference.exists():
        print_contents(reference)


if __name__ == "__main__":
    if sys.argv[1:] == ["--echo"]:
        echo()
    else:
        main()
