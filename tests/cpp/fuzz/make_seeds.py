"""Writes the seed corpora of the fuzzers into a folder.

    python tests/cpp/fuzz/make_seeds.py FOLDER
    build/native/fuzz/descriptor_fuzzer FOLDER/descriptor

They come from tests/data: what a reader accepts and what it refuses, so that each rule has an input
that just keeps it and one that just breaks it.
"""

import shutil
import sys
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "data"
LARGEST = 64 << 10  # bytes; more would slow the fuzzer down and show it nothing new

SEEDS = {
    "descriptor": ["vectors/*.bin", "corpus/descriptors/*.bin", "corpus/reject/d_*.bin"],
    "stream": ["vectors/*.bin", "corpus/streams/*.bin", "corpus/reject/s_*.bin"],
    "file": ["vectors/*.hrry", "corpus/files/*.hrry", "corpus/reject/f_*.bin"],
}

# One of each scheme, and some that are wrong.
QUANTIZATION = {
    "per_tensor": "01 01 0000 CDCC4C3D 80000000 00000000",
    "per_channel": "02 01 0000 01000000 01000000 02000000 03 000000",
    "per_channel_symmetric": "02 01 0100 01000000 01000000 FFFFFFFF 03 000000",
    "per_block": "03 01 0000 01000000 80000000 01000000 02000000 01 000000",
    "per_block_symmetric": "03 01 0100 01000000 80000000 01000000 FFFFFFFF 02 000000",
    "nf4": "04 01 0000 00000000 40000000 01000000",
    "mxfp": "05 01 0000 02000000 20000000 01000000",
    "trailing": "05 01 0000 02000000 20000000 01000000 DEADBEEF",
    "later_version": "01 02 0000 CDCC4C3D 80000000 00000000",
    "nan_scale": "01 01 0000 0000C07F 80000000 00000000",
    "unassigned": "06 01 0000 CDCC4C3D 80000000 00000000",
}


def main(folder):
    for fuzzer, patterns in SEEDS.items():
        (folder / fuzzer).mkdir(parents=True, exist_ok=True)
        for pattern in patterns:
            for source in sorted(DATA.glob(pattern)):
                if source.stat().st_size <= LARGEST:
                    shutil.copyfile(source, folder / fuzzer / source.name)
    (folder / "quantization").mkdir(parents=True, exist_ok=True)
    for name, text in QUANTIZATION.items():
        (folder / "quantization" / name).write_bytes(bytes.fromhex(text))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
