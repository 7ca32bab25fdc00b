"""Reads hostile inputs in a process of its own, which gets little memory and little time.

As a program it is that process: `confined.py FOLDER` reads the inputs there in the order of their
numbers, `confined.py FOLDER KIND VALUES` every change of the one input there. It prints a verdict
for each. A crash, too long a time and too much memory end the process, and the parent tells at
which input it was.
"""

import collections
import contextlib
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

MEMORY = 64 << 20  # bytes that it may map on top of what the imports took
SANITIZED_MEMORY = 1 << 30
SECONDS = 10  # for one input

# ---- in the process


def limit_memory():
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    sanitized = "san.so" in os.environ.get("LD_PRELOAD", "")
    limit = mapped + (SANITIZED_MEMORY if sanitized else MEMORY)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def touch(item, text):
    """Uses everything that an accepted item offers; its text, too, which takes longest."""
    import numpy as np

    if text:
        repr(item)
    descriptor = item.descriptor
    assert len(descriptor.encode()) == descriptor.encoded_len
    for member in getattr(item, "members", ()):
        touch(member, text)
    if hasattr(item, "members"):
        return
    for i, handle in enumerate(item.buffer_handles):
        if handle.sync_mode != "producer_synced" or handle.device.kind != "cpu":
            continue
        data = np.asarray(item.buffer(i))
        assert data.nbytes == handle.byte_size
        data.sum()
    # Not every type and layout has a view, and what is broadcast may be larger than all memory.
    with contextlib.suppress(ValueError, NotImplementedError, MemoryError):
        np.asarray(item)


def read(kind, path):
    import hurray

    if kind == "file":
        mapped = hurray.load(path)
        in_memory = hurray.load(path, mmap=False)
        hurray.load_kv(path)
        assert list(mapped) == list(in_memory)
        return [*mapped.values(), *in_memory.values()]
    data = Path(path).read_bytes()
    if kind == "descriptor":
        descriptor = hurray.Descriptor.decode(data)
        repr(descriptor)
        again = descriptor.encode()
        assert again == data[: len(again)], "encodes to other bytes"
        assert hurray.Descriptor.decode(again) == descriptor
        return []
    items = list(hurray.StreamReader(data))
    writer = hurray.StreamWriter()
    for item in items:
        writer.write(item)
    assert writer.getvalue() == data, "is written as other bytes"
    return items


def name_of(error):
    """The public class that an exception belongs to, and more where it tells of a defect."""
    import hurray

    for cls in (hurray.FileError, hurray.StreamError, hurray.InvalidDescriptorError):
        if isinstance(error, cls):
            return cls.__name__
    return f"{type(error).__name__}: {error}"


def verdict(kind, path, *, contents=False, text=True):
    signal.alarm(SECONDS)
    try:
        items = read(kind, path)
        for item in items:
            touch(item, text)
    except Exception as error:
        return name_of(error)
    finally:
        signal.alarm(0)
    if not contents:
        return "accepted"
    try:
        for item in items:
            item.validate_contents()
    except Exception as error:
        return f"accepted, contents: {name_of(error)}"
    return "accepted, contents: accepted"


def judge_inputs(folder):
    for path in sorted(folder.iterdir(), key=lambda path: int(path.stem)):
        kind, _, contents = path.suffix[1:].partition("_")
        print(verdict(kind, path, contents=bool(contents)).replace("\n", " "), flush=True)


def changes(data, values):
    """What to write where: every byte gets each value that it does not have, then its own.

    Inside of a long run of zeros, which is padding, the last of the values has to do.
    """
    for position in range(len(data)):
        padding = not any(data[max(position - 40, 0) : position + 40])
        for value in values[-1:] if padding else values:
            if value != data[position]:
                yield position, value
        yield position, data[position]


def judge_changes(path, kind, values):
    """Prints (verdict, count) lines; progress goes to a file beside, which outlives a crash."""
    data = path.read_bytes()
    file = os.open(path, os.O_RDWR)
    progress = os.open(path.with_suffix(".progress"), os.O_RDWR | os.O_CREAT)
    verdicts = collections.Counter()
    for size in range(len(data) - 1, -1, -1):
        os.pwrite(progress, f"cut to {size:8} bytes     ".encode(), 0)
        os.ftruncate(file, size)
        verdicts["cut: " + verdict(kind, path, text=False)] += 1
    os.pwrite(file, data, 0)
    for position, value in changes(data, values):
        os.pwrite(progress, f"byte {position:8} set to {value:3}".encode(), 0)
        os.pwrite(file, bytes([value]), position)
        if value != data[position]:
            verdicts[verdict(kind, path, text=False)] += 1
    for text, count in verdicts.items():
        print(count, text.replace("\n", " "))


def main(folder, kind=None, values=""):
    import numpy  # noqa: F401

    import hurray  # noqa: F401

    limit_memory()
    if kind is None:
        judge_inputs(Path(folder))
    else:
        judge_changes(Path(folder) / "input", kind, bytes.fromhex(values))


# ---- in the parent


def start(*arguments):
    command = [sys.executable, __file__, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd="/")


def how_it_ended(done):
    if done.returncode == -signal.SIGALRM:
        return f"took more than {SECONDS} s"
    return f"the process ended with status {done.returncode}: {done.stderr[-2000:]}"


def verdicts_of(inputs, folder):
    """The verdict on each input, which is (kind, bytes) or (kind, bytes, True): contents too.

    `folder` is an empty one, to be thrown away.
    """
    for number, (kind, data, *contents) in enumerate(inputs):
        suffix = f"{kind}_contents" if contents and contents[0] else kind
        (folder / f"{number}.{suffix}").write_bytes(data)
    verdicts = []
    while len(verdicts) < len(inputs):
        done = start(folder)
        verdicts += done.stdout.splitlines()
        if len(verdicts) < len(inputs):
            verdicts.append(how_it_ended(done))
        for path in folder.iterdir():
            if int(path.stem) < len(verdicts):
                path.unlink()
    return verdicts


def verdicts_of_changes(kind, data, values, folder):
    """How often each verdict came for every prefix and every byte set to each of `values`."""
    path = folder / "input"
    path.write_bytes(data)
    done = start(folder, kind, bytes(values).hex())
    if done.returncode != 0:
        progress = (folder / "input.progress").read_text()
        raise AssertionError(f"{progress}: {how_it_ended(done)}")
    counts = (line.split(" ", 1) for line in done.stdout.splitlines())
    return {verdict: int(count) for count, verdict in counts}


if __name__ == "__main__":
    main(*sys.argv[1:])
