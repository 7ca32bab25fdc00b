"""The allocator: table H.1 of the performance targets.

NumPy inside an `aligned_allocator` block against NumPy outside of one, in a process each.
"""

from benchmarks.case import Case, Party

NO_AIM = 0.0  # where the table has only what must be

COMMON = """
import numpy as np
empty, zeros, u8 = np.empty, np.zeros, np.dtype(np.uint8)
MiB = 1 << 20
"""
# The block is entered first, so all arrays of the party are made in it, and never left.
BLOCK = f"{COMMON}\nimport hurray\nblock = hurray.aligned_allocator()\nblock.__enter__()\n"
PROBES = "import sys\nsys.path.insert(0, probes_folder)\nimport hurray_probes as probes\n"


def compare(id, what, setup, statement, must, aim):
    parties = (
        Party("hurray", BLOCK + setup, statement),
        Party("numpy", COMMON + setup, statement),
    )
    return Case(id, what, parties, {"numpy": (must, aim)})


def inputs(names, mebibytes):
    return "\n".join(f"{name} = np.full({mebibytes} * MiB // 8, 1.5)" for name in names)


FILL = """
def work():
    array = np.empty(8 * MiB)
    array.fill(1.5)
"""
TOUCH = """
def work():
    zeros(64 * MiB, u8)[::4096] = 1
"""
GROW = """
def work():
    size = 1024
    array = empty(size, u8)
    while size < 16 * MiB:
        size *= 2
        array.resize(size, refcheck=False)
"""
TEXT = "text = ' '.join(str(i * 0.37) for i in range(100_000))\n"
# NumPy's own arrays are 16 bytes behind a multiple of 64, which XLA cannot use as they are.
UNALIGNED = """
def array_of(count):
    memory = np.zeros(4 * count + 128, u8)
    start = -memory.__array_interface__["data"][0] % 64 + 16
    return memory[start : start + 4 * count].view(np.float32)
"""
ALIGNED = "\ndef array_of(count):\n    return np.zeros(count, np.float32)\n"
TO_JAX = """
import jax
import jax.numpy as jnp
array = array_of(16 * MiB)
address = array.__array_interface__["data"][0]
shared = jnp.from_dlpack(array).unsafe_buffer_pointer() == address
assert shared == (address % 64 == 0), "copied what was aligned, or shared what was not"
"""
# 16 KiB in all, which every L1 cache holds.
TO_AVX512 = f"{PROBES}\na, b, c = (array_of(1365) for _ in range(3))\nprobes.add_avx512(a, b, c)\n"

CASES = [
    compare("A1", "empty(64 B) and free", "", "empty(64, u8)", 1.05, 1.0),
    compare("A2", "zeros(64 B) and free", "", "zeros(64, u8)", 1.1, 1.03),
    compare("A2", "zeros(1 KiB) and free", "", "zeros(1024, u8)", 1.1, 1.03),
    compare("A2", "zeros(4 KiB) and free", "", "zeros(4096, u8)", 1.0, 0.8),
    compare(
        "A3",
        "1000 arrays of 512 B kept alive",
        "",
        "[empty(512, u8) for _ in range(1000)]",
        1.15,
        1.0,
    ),
    compare("A4", "a + b, new result of 64 MiB", inputs("ab", 64), "a + b", 0.95, 0.73),
    compare("A5", "empty(64 MiB) and fill", FILL, "work()", 0.6, 0.45),
    compare("A6", "zeros(64 MiB), untouched", "", "zeros(64 * MiB, u8)", 1.5, 1.1),
    compare("A6", "zeros(64 MiB), one write for each page", TOUCH, "work()", 1.0, 0.9),
    *(
        compare(
            "A7",
            f"(a * b + c) / d, {size} MiB each",
            inputs("abcd", size),
            "(a * b + c) / d",
            1.0,
            0.9,
        )
        for size in (1, 16, 64)
    ),
    compare("A8", "resize from 1 KiB to 16 MiB by doubling", GROW, "work()", 1.0, 0.9),
    compare(
        "A8",
        "fromstring of 100,000 numbers as text",
        TEXT,
        "np.fromstring(text, sep=' ')",
        1.0,
        NO_AIM,
    ),
    Case(
        "A9",
        "jax.numpy.from_dlpack(array), 64 MiB; NumPy's is copied",
        (
            Party("hurray", BLOCK + ALIGNED + TO_JAX, "jnp.from_dlpack(array)"),
            Party(
                "numpy",
                COMMON + UNALIGNED + TO_JAX,
                "jnp.from_dlpack(array).block_until_ready()",
            ),
        ),
        {"numpy": (0.1, 0.001)},
    ),
    Case(
        "A10",
        "c = a + b with AVX-512, in the L1 cache; NumPy's 16 bytes off",
        (
            Party("hurray", BLOCK + ALIGNED + TO_AVX512, "probes.add_avx512(a, b, c)"),
            Party("numpy", COMMON + UNALIGNED + TO_AVX512, "probes.add_avx512(a, b, c)"),
        ),
        {"numpy": (0.7, 0.65)},
    ),
    Case(
        "A11",
        "with aligned_allocator(): pass; limit: two PyDataMem_SetHandler",
        (
            Party("hurray", "import hurray", "with hurray.aligned_allocator(): pass"),
            Party("limit", PROBES, "probes.set_and_restore_handler()"),
            Party("numpy", "import numpy as np", "with np.errstate(): pass"),
        ),
        {"limit": (1.5, 1.15)},
    ),
]
