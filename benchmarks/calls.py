"""Interchange calls: table H.2 of the performance targets."""

import textwrap

from benchmarks.case import Case, Party

# An array of 4 x 4 float32 at a multiple of 64, and a tensor of it.
ARRAY = """
import numpy as np
memory = np.zeros(64 + 64, np.uint8)
start = -memory.__array_interface__["data"][0] % 64
a = memory[start : start + 64].view(np.float32).reshape(4, 4)
"""
TENSOR = f"{ARRAY}import hurray\nt = hurray.from_numpy(a)\n"
TORCH = f"{ARRAY}import torch\nt = torch.from_numpy(a)\n"
PROBES = f"{ARRAY}import sys\nsys.path.insert(0, probes_folder)\nimport hurray_probes as probes\n"
BLOCKS = """
import hurray
scheme = hurray.PerBlockAffine.symmetric(1, 128, 1, hurray.float16)
d = hurray.Tensor(
    bytes(8192), hurray.dtype.int4, [128, 128], aux_buffers=[bytes(256)], quantization=scheme
).descriptor
data = d.encode()
decode = hurray.Descriptor.decode
"""
DENSE = """
import hurray
d = hurray.Tensor(bytes(48), hurray.float32, [3, 4]).descriptor
data = d.encode()
decode = hurray.Descriptor.decode
"""
EXPORT = "{}.__dlpack__(max_version=(1, 0))"
NOTHING = 'import tvm_ffi\nf = tvm_ffi.get_global_func("testing.nop")'


def both(setup, statement):
    """The same text, run by hurray and by pyhurray."""
    return (Party("hurray", setup, statement), Party("pyhurray", setup, statement))


def import_time(module):
    setup = textwrap.dedent(
        f"""
        import subprocess, sys
        program = "import time; t = time.perf_counter_ns(); import {module}; " \\
            "print(time.perf_counter_ns() - t)"
        def once():
            command = [sys.executable, "-I", "-c", program]
            return int(subprocess.run(command, capture_output=True, check=True).stdout)
        def measure():
            return min(once() for _ in range(5))
        """
    )
    return setup, "measure()", True


CASES = [
    Case(
        "C1",
        "from_numpy(aligned array)",
        (
            *both(TENSOR + "f = hurray.from_numpy", "f(a)"),
            Party("torch", ARRAY + "import torch\nf = torch.from_numpy", "f(a)"),
            Party("limit", PROBES + "f = probes.wrap", "f(a)"),
        ),
        {"limit": (5, 2)},
    ),
    Case(
        "C2",
        "numpy.asarray(t)",
        (
            *both(TENSOR + "f = np.asarray", "f(t)"),
            Party("torch", TORCH + "f = np.asarray", "f(t)"),
            Party("limit", PROBES + "t = probes.Holder(a)\nf = np.asarray", "f(t)"),
        ),
        {"limit": (1.5, 1.15)},
    ),
    Case(
        "C3",
        "t.__dlpack__(max_version=(1, 0))",
        (
            *both(TENSOR, EXPORT.format("t")),
            Party("numpy", ARRAY, EXPORT.format("a")),
            Party("torch", TORCH, EXPORT.format("t")),
            Party("limit", PROBES + "t = probes.Holder(a)", EXPORT.format("t")),
        ),
        {"numpy": (0.7, 0.5)},
    ),
    Case(
        "C4",
        "numpy.from_dlpack(t)",
        (
            *both(TENSOR + "f = np.from_dlpack", "f(t)"),
            Party("numpy", ARRAY + "f = np.from_dlpack", "f(a)"),
            Party("torch", TORCH + "f = np.from_dlpack", "f(t)"),
        ),
        {"numpy": (1.1, 1.0)},
    ),
    Case(
        "C5",
        "torch.from_dlpack(t)",
        (
            *both(TENSOR + "import torch\nf = torch.from_dlpack", "f(t)"),
            Party("numpy", ARRAY + "import torch\nf = torch.from_dlpack", "f(a)"),
        ),
        {"numpy": (1.05, 0.95)},
    ),
    Case(
        "C6",
        "from_dlpack(ndarray)",
        (
            *both(ARRAY + "import hurray\nf = hurray.from_dlpack", "f(a)"),
            Party("numpy", ARRAY + "f = np.from_dlpack", "f(a)"),
            Party("tvm-ffi", ARRAY + "import tvm_ffi\nf = tvm_ffi.from_dlpack", "f(a)"),
            Party("limit", PROBES + "f = probes.wrap", "f(a)"),
        ),
        {"numpy": (0.25, 0.12)},
    ),
    Case(
        "C7",
        "from_dlpack(torch tensor)",
        (
            *both(TORCH + "import hurray\nf = hurray.from_dlpack", "f(t)"),
            Party("numpy", TORCH + "f = np.from_dlpack", "f(t)"),
            Party("tvm-ffi", TORCH + "import tvm_ffi\nf = tvm_ffi.from_dlpack", "f(t)"),
        ),
        {"tvm-ffi": (0.3, 0.2)},
    ),
    Case(
        "C8",
        "a function of tvm-ffi called with three tensors",
        (
            *both(TENSOR + NOTHING, "f(t, t, t)"),
            Party("torch", TORCH + NOTHING, "f(t, t, t)"),
            Party("tvm-ffi", ARRAY + NOTHING + "\nt = tvm_ffi.from_dlpack(a)", "f(t, t, t)"),
        ),
        {"torch": (1.1, 1.0)},
    ),
    Case("C9", "d.encode(), dense float32", both(DENSE, "d.encode()"), {"pyhurray": (0.5, 0.3)}),
    Case(
        "C9",
        "Descriptor.decode(data), dense float32",
        both(DENSE, "decode(data)"),
        {"pyhurray": (0.5, 0.2)},
    ),
    Case("C9", "d.encode(), int4 per-block", both(BLOCKS, "d.encode()"), {"pyhurray": (0.5, 0.3)}),
    Case(
        "C9",
        "Descriptor.decode(data), int4 per-block",
        both(BLOCKS, "decode(data)"),
        {"pyhurray": (0.5, 0.2)},
    ),
    Case(
        "C10",
        "Tensor(bytes(64), float32, [4, 4]); NumPy: frombuffer, reshape, copy",
        (
            *both(
                "import hurray\nb = bytes(64)\nT = hurray.Tensor\nd = hurray.float32\ns = [4, 4]",
                "T(b, d, s)",
            ),
            Party(
                "numpy",
                "import numpy as np\nb = bytes(64)\nf = np.frombuffer\nd = np.dtype(np.float32)",
                "f(b, d).reshape(4, 4).copy()",
            ),
        ),
        {"numpy": (1.0, 0.7)},
    ),
    *(
        Case(
            "C10",
            f"t.{name}",
            (*both(TENSOR, f"t.{name}"), Party("numpy", ARRAY, f"a.{name}")),
            {"numpy": (1.0, aim)},
        )
        for name, aim in (("shape", 0.7), ("dtype", 0.8), ("ndim", 0.9))
    ),
    Case(
        "C11",
        "from_hurray(t)",
        both(TENSOR + "f = hurray.from_hurray", "f(t)"),
        {"pyhurray": (0.5, 0.1)},
    ),
    Case("C11", "t.__hurray__()", both(TENSOR, "t.__hurray__()"), {"pyhurray": (0.5, 0.2)}),
    Case("C11", "t.descriptor", both(TENSOR, "t.descriptor"), {"pyhurray": (0.5, 0.2)}),
    Case(
        "C11",
        "device equality",
        both("import hurray\na, b = hurray.Device('cuda', 1), hurray.Device('cuda', 1)", "a == b"),
        {"pyhurray": (0.5, 0.1)},
    ),
    Case(
        "C12",
        "zeros((16,))",
        (
            *both("import hurray\nf = hurray.zeros\ns = (16,)", "f(s)"),
            Party("numpy", "import numpy as np\nf = np.zeros\ns = (16,)", "f(s)"),
        ),
        {"numpy": (1.5, 1.0)},
    ),
    Case(
        "C12",
        "memoryview(t)",
        (
            Party("hurray", TENSOR, "memoryview(t)"),
            Party("numpy", ARRAY, "memoryview(a)"),
        ),
        {"numpy": (1.0, 0.8)},
    ),
    Case(
        "C13",
        "import in a new interpreter",
        (
            Party("hurray", *import_time("hurray")),
            Party("pyhurray", *import_time("hurray")),
            Party("numpy", *import_time("numpy")),
        ),
        {"pyhurray": (1.0, 0.5)},
    ),
]
