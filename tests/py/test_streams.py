import bz2
import contextlib
import errno
import fcntl
import gzip
import io
import lzma
import mmap
import os
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import textwrap
import threading

import numpy as np
import pytest
import wire
from arrays import NUMPY_TYPES, address_of, dtype_id, random_array
from subprocesses import run_python

import hurray


def tensor(values, dtype=np.float32):
    return hurray.from_numpy(np.asarray(values, dtype), copy=True)


def bits(tensor):
    return np.asarray(tensor).tobytes()


def written(*items, **options):
    writer = hurray.StreamWriter(**options)
    for item in items:
        writer.write(item)
    return writer.getvalue()


# Three frames, of which the second has no bytes but its descriptor.
ITEMS = [
    wire.tensor("float32", (2, 2), struct.pack("<4f", 1, 2, 3, 4)),
    wire.tensor("int16", (0,), b""),
    wire.tensor("int8", (3,), b"abc"),
]
STREAM = wire.stream(*ITEMS)


def check_items(reader):
    items = list(reader)
    assert [bits(item) for item in items] == [b"".join(item.buffers) for item in ITEMS]
    assert [item.shape for item in items] == [item.descriptor.shape for item in ITEMS]


def torn_pipe(data):
    """The read end of a pipe that holds `data` and no more."""
    read, write = os.pipe()
    with open(write, "wb") as end:
        end.write(data)
    return open(read, "rb", buffering=0)


# ---- what comes back


@pytest.mark.parametrize("dtype", NUMPY_TYPES, ids=dtype_id)
@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 5), (2, 0, 4), (2, 3, 4, 5)], ids=str)
def test_arrays_come_back_bit_for_bit(dtype, shape):
    array = np.asarray(random_array(NUMPY_TYPES[dtype], shape))
    (back,) = hurray.StreamReader(written(hurray.from_numpy(array)))
    assert back.dtype is dtype
    assert back.shape == shape
    assert np.asarray(back).tobytes() == array.tobytes()


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3", "float6_e2m3", "int4", "float128"])
def test_types_that_numpy_lacks_come_back(name):
    dtype = getattr(hurray.dtype, name)
    data = bytes(range(hurray.buffer_size_bytes(dtype, 9)))
    (back,) = hurray.StreamReader(written(hurray.Tensor(data, dtype, [9])))
    assert back.dtype is dtype
    assert bits(back.buffer(0)) == data


@pytest.mark.parametrize(
    ("layout", "size"),
    [
        pytest.param(hurray.ColMajorLayout(), 24, id="col_major"),
        pytest.param(hurray.StridedLayout([4, 1]), 28, id="strided"),
    ],
)
def test_layouts_come_back(layout, size):
    data = bytes(range(size))
    tensor = hurray.Tensor(data, hurray.float32, [2, 3], layout=layout)
    (back,) = hurray.StreamReader(written(tensor))
    assert back.layout == layout
    assert back.descriptor == tensor.descriptor
    assert bits(back.buffer(0)) == data


def test_the_bytes_are_those_of_the_format():
    made = [tensor([[1, 2], [3, 4]]), tensor([], np.int16), tensor([97, 98, 99], np.int8)]
    assert written(*made) == STREAM


def test_what_was_read_is_written_again_byte_for_byte():
    assert written(*hurray.StreamReader(STREAM)) == STREAM


def test_memory_that_was_read_is_owned_and_writable():
    source = bytearray(STREAM)
    first = next(hurray.StreamReader(source))
    source[:] = bytes(len(source))
    array = np.asarray(first)
    assert array.tolist() == [[1, 2], [3, 4]]
    array[0, 0] = 9
    assert np.asarray(first)[0, 0] == 9


@pytest.mark.parametrize("alignment", [64, 128, 4096, 1 << 21])
def test_memory_is_aligned_as_declared(alignment):
    data = wire.stream(wire.tensor("int8", (3,), b"abc", alignment=alignment))
    (back,) = hurray.StreamReader(data)
    assert address_of(np.asarray(back.buffer(0))) % alignment == 0
    assert back.buffer_handles[0].alignment >= alignment
    assert back.descriptor.buffer_handles[0].alignment == alignment


def test_several_buffers_come_back():
    buffers = [bytes(range(8)), struct.pack("<2Q", 1, 0), struct.pack("<4Q", 0, 1, 2, 2)]
    csr = hurray.Tensor(
        buffers[0], hurray.float32, [3, 3], aux_buffers=buffers[1:], layout=hurray.CsrLayout(2)
    )
    (back,) = hurray.StreamReader(written(csr))
    assert [bits(back.buffer(i)) for i in range(3)] == buffers


# ---- reader: sources


def open_named(tmp_path, data):
    path = tmp_path / "stream.bin"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("convert", [bytes, bytearray, memoryview, np.frombuffer])
def test_bytes_are_a_source(convert):
    data = convert(STREAM, np.uint8) if convert is np.frombuffer else convert(STREAM)
    check_items(hurray.StreamReader(data))


def test_mapped_memory_is_a_source(tmp_path):
    with (
        open(open_named(tmp_path, STREAM), "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
    ):
        check_items(hurray.StreamReader(mapped))


def test_memory_must_be_contiguous():
    with pytest.raises((TypeError, ValueError)):
        hurray.StreamReader(memoryview(STREAM + STREAM)[::2])


def test_memory_is_let_go_when_the_reader_is():
    source = bytearray(STREAM)
    reader = hurray.StreamReader(source)
    next(reader)
    with pytest.raises(BufferError):
        source.append(0)
    reader.close()
    source.append(0)


@pytest.mark.parametrize("kind", [str, pathlib.Path, os.DirEntry], ids=["str", "Path", "DirEntry"])
def test_paths_are_sources(tmp_path, kind):
    open_named(tmp_path, STREAM)
    (entry,) = os.scandir(tmp_path)
    check_items(hurray.StreamReader(entry if kind is os.DirEntry else kind(entry.path)))


@pytest.mark.parametrize("buffering", [0, -1, 64], ids=["raw", "buffered", "small-buffer"])
def test_files_are_sources_from_their_position(tmp_path, buffering):
    path = open_named(tmp_path, b"a header" + STREAM)
    with open(path, "rb", buffering=buffering) as file:
        assert file.read(8) == b"a header"
        check_items(hurray.StreamReader(file))


def test_the_position_of_a_file_is_the_one_it_tells(tmp_path):
    """A buffered file has read ahead: its descriptor's position is another."""
    path = open_named(tmp_path, b"a line\n" + STREAM)
    with open(path, "rb") as file:
        file.readline()
        file.peek()
        check_items(hurray.StreamReader(file))
    with open(path, "rb") as file:
        file.seek(7)
        reader = hurray.StreamReader(file)
    # The descriptor was duplicated.
    check_items(reader)


def test_a_file_for_reading_and_writing_is_flushed_first(tmp_path):
    with open(tmp_path / "f", "w+b") as file:
        file.write(STREAM)
        file.seek(0)
        check_items(hurray.StreamReader(file))
    with open(tmp_path / "g", "w+b") as file:
        file.write(STREAM[:-5])
        file.flush()
        file.write(STREAM[-5:])
        with open(tmp_path / "g", "rb") as other:
            os.lseek(other.fileno(), 0, os.SEEK_SET)
            file.seek(0)
            check_items(hurray.StreamReader(other))


@pytest.mark.parametrize("make", [tempfile.TemporaryFile, tempfile.NamedTemporaryFile])
def test_temporary_files_are_sources(make):
    with make() as file:
        file.write(STREAM)
        file.seek(0)
        check_items(hurray.StreamReader(file))


def test_pipes_are_sources():
    with torn_pipe(STREAM) as pipe:
        check_items(hurray.StreamReader(pipe))
    read, write = os.pipe()
    with open(read, "rb") as buffered, open(write, "wb") as end:
        end.write(STREAM)
        end.close()
        check_items(hurray.StreamReader(buffered))


def test_an_object_with_only_a_fileno_is_a_source():
    class Holder:
        def __init__(self, descriptor):
            self.descriptor = descriptor

        def fileno(self):
            return self.descriptor

    with torn_pipe(STREAM) as pipe:
        check_items(hurray.StreamReader(Holder(pipe.fileno())))


def test_sockets_are_sources_and_destinations():
    near, far = socket.socketpair()
    with near, far:
        writer = hurray.StreamWriter(near)
        for item in hurray.StreamReader(STREAM):
            writer.write(item)
        writer.finish()
        near.shutdown(socket.SHUT_WR)
        check_items(hurray.StreamReader(far))


def test_items_come_as_soon_as_their_bytes_are_in():
    read, write = os.pipe()
    with open(read, "rb", buffering=0) as source, open(write, "wb", buffering=0) as end:
        reader = hurray.StreamReader(source)
        for item in ITEMS:
            end.write(wire.stream(item))
            assert bits(next(reader)) == b"".join(item.buffers)
        end.close()
        with pytest.raises(StopIteration):
            next(reader)


def test_bytes_that_drip_are_put_together():
    read, write = os.pipe()

    def drip():
        with open(write, "wb", buffering=0) as end:
            for i in range(len(STREAM)):
                end.write(STREAM[i : i + 1])

    thread = threading.Thread(target=drip)
    with open(read, "rb", buffering=0) as source:
        thread.start()
        check_items(hurray.StreamReader(source))
        thread.join()


def test_large_buffers_come_through_a_pipe():
    array = np.random.default_rng(0).integers(0, 256, 5_000_000, np.uint8)
    read, write = os.pipe()

    def send():
        with open(write, "wb") as end, hurray.StreamWriter(end) as writer:
            writer.write(hurray.from_numpy(array))
            writer.write(hurray.from_numpy(array[:10]))

    thread = threading.Thread(target=send)
    with open(read, "rb") as source:
        thread.start()
        first, second = hurray.StreamReader(source)
        thread.join()
    assert np.array_equal(np.asarray(first), array)
    assert np.array_equal(np.asarray(second), array[:10])


def test_tensors_go_to_a_process_and_back():
    echo = """
    import sys
    import hurray
    with hurray.StreamWriter(sys.stdout.buffer) as writer:
        for item in hurray.StreamReader(sys.stdin.buffer):
            writer.write(item)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(echo)], input=STREAM, capture_output=True, check=True
    )
    assert done.stdout == STREAM


@pytest.mark.parametrize("opener", [gzip.open, bz2.open, lzma.open], ids=["gzip", "bz2", "lzma"])
def test_compressed_files_are_no_sources(tmp_path, opener):
    path = tmp_path / "f"
    with opener(path, "wb") as file:
        file.write(STREAM)
        with pytest.raises(TypeError):
            hurray.StreamWriter(file)
    with opener(path, "rb") as file:
        with pytest.raises(TypeError):
            hurray.StreamReader(file)
        check_items(hurray.StreamReader(file.read()))


def test_text_files_are_no_sources(tmp_path):
    with open(open_named(tmp_path, STREAM)) as file, pytest.raises(TypeError):
        hurray.StreamReader(file)
    with open(tmp_path / "f", "w") as file, pytest.raises(TypeError):
        hurray.StreamWriter(file)


def test_bytes_io_is_no_source_and_its_error_tells_what_to_do():
    with pytest.raises(TypeError, match="getvalue"):
        hurray.StreamReader(io.BytesIO(STREAM))


@pytest.mark.parametrize(
    "source",
    [None, 3, 1.5, [STREAM], object(), iter([STREAM]), io.StringIO("x")],
    ids=lambda v: type(v).__name__,
)
def test_other_objects_are_no_sources(source):
    with pytest.raises(TypeError, match="getvalue"):
        hurray.StreamReader(source)


@pytest.mark.parametrize("answer", ["3", None, -1, 2**40, 1.0], ids=repr)
def test_a_fileno_that_is_none_is_refused(answer):
    class Liar:
        def fileno(self):
            return answer

    with pytest.raises((TypeError, ValueError, OverflowError, hurray.FileError)):
        hurray.StreamReader(Liar())


def test_what_fileno_raises_comes_through():
    class Failing:
        def fileno(self):
            raise RuntimeError("not now")

    with pytest.raises(RuntimeError, match="not now"):
        hurray.StreamReader(Failing())


def test_a_closed_file_is_refused(tmp_path):
    with open(open_named(tmp_path, STREAM), "rb") as file:
        pass
    with pytest.raises(ValueError, match="closed"):
        hurray.StreamReader(file)


@pytest.mark.parametrize(
    ("name", "also"),
    [
        pytest.param("absent", FileNotFoundError, id="missing"),
        pytest.param(".", hurray.FileError, id="folder"),
    ],
)
def test_a_path_that_cannot_be_opened_is_an_error_at_once(tmp_path, name, also):
    path = tmp_path / name
    with pytest.raises(hurray.FileError) as caught:
        next(hurray.StreamReader(path))
    assert isinstance(caught.value, also)
    assert caught.value.filename == str(path)
    assert caught.value.errno in (errno.ENOENT, errno.EISDIR)


def test_a_missing_path_is_an_error_before_the_first_item(tmp_path):
    with pytest.raises(hurray.FileError):
        hurray.StreamReader(tmp_path / "absent")


def test_a_read_error_is_a_file_error(tmp_path):
    # A descriptor that is only for writing.
    with open(tmp_path / "f", "wb") as file:
        reader = hurray.StreamReader(file)
        with pytest.raises(hurray.FileError) as caught:
            next(reader)
        assert caught.value.errno == errno.EBADF
        with pytest.raises(StopIteration):
            next(reader)


def test_no_descriptor_is_left_open(tmp_path):
    path = open_named(tmp_path, STREAM + b"H")

    def use():
        with open(path, "rb") as file:
            for source in (path, file):
                for leave in (next, hurray.StreamReader.close, list):
                    with contextlib.suppress(hurray.StreamError):
                        leave(hurray.StreamReader(source))
                hurray.StreamReader(source)
        hurray.StreamWriter(tmp_path / "out")
        with pytest.raises(TypeError):
            hurray.StreamReader(io.BytesIO())

    use()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        use()
    assert len(os.listdir("/proc/self/fd")) == before


# ---- reader: iteration and end


def test_a_reader_is_its_own_iterator():
    reader = hurray.StreamReader(STREAM)
    assert iter(reader) is reader
    assert bits(next(reader)) == ITEMS[0].buffers[0]
    assert len(list(reader)) == 2


def test_an_exhausted_reader_stays_at_its_end():
    reader = hurray.StreamReader(STREAM)
    list(reader)
    for _ in range(3):
        with pytest.raises(StopIteration):
            next(reader)
        assert list(reader) == []


def test_a_closed_reader_is_at_its_end():
    reader = hurray.StreamReader(STREAM)
    next(reader)
    for _ in range(2):
        assert reader.close() is None
    assert list(reader) == []


def test_a_reader_closes_at_the_end_of_its_block():
    with hurray.StreamReader(STREAM) as reader:
        assert isinstance(reader, hurray.StreamReader)
        next(reader)
    assert list(reader) == []
    outer = hurray.StreamReader(STREAM)
    with outer as inner:
        assert inner is outer


def test_the_end_of_a_block_suppresses_nothing():
    reader = hurray.StreamReader(STREAM)
    with pytest.raises(KeyError), reader:
        raise KeyError
    assert list(reader) == []


def test_tensors_outlive_the_reader():
    with hurray.StreamReader(STREAM) as reader:
        items = list(reader)
    del reader
    assert bits(items[2]) == b"abc"


def test_closing_leaves_the_source_open(tmp_path):
    with open(open_named(tmp_path, STREAM), "rb") as file:
        hurray.StreamReader(file).close()
        file.seek(0)
        assert file.read() == STREAM


def test_an_empty_stream_has_no_items():
    assert list(hurray.StreamReader(b"")) == []


@pytest.mark.parametrize("source", ["memory", "pipe"])
def test_a_cut_is_an_error_inside_a_frame_and_none_between(source):
    ends = {0}
    for item in ITEMS:
        ends.add(max(ends) + len(wire.stream(item)))
    for cut in range(len(STREAM) + 1):
        data = STREAM[:cut] if source == "memory" else torn_pipe(STREAM[:cut])
        reader = hurray.StreamReader(data)
        whole = sum(0 < end <= cut for end in ends)
        items = [next(reader) for _ in range(whole)]
        assert len(items) == whole
        with pytest.raises(StopIteration if cut in ends else hurray.StreamError):
            next(reader)
        with pytest.raises(StopIteration):
            next(reader)


@pytest.mark.parametrize(
    ("data", "errors"),
    [
        pytest.param(b"HRRX" + STREAM[4:], hurray.StreamError, id="magic"),
        pytest.param(STREAM[:4] + b"\2" + STREAM[5:], hurray.StreamError, id="major"),
        pytest.param(STREAM[:6] + b"\5\0\0\0" + STREAM[10:], hurray.StreamError, id="length"),
        pytest.param(wire.container({"w": ITEMS[0]}), hurray.StreamError, id="a-file"),
        pytest.param(
            STREAM[:14] + b"\xff" + STREAM[15:], hurray.InvalidDescriptorError, id="descriptor"
        ),
    ],
)
def test_an_error_ends_the_reader(data, errors):
    reader = hurray.StreamReader(wire.stream(ITEMS[0]) + data)
    next(reader)
    with pytest.raises(errors):
        next(reader)
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(reader)


# ---- reader: limits


def test_the_limit_on_descriptors_gives_both_numbers():
    length = len(ITEMS[0].descriptor.encode())
    assert len(list(hurray.StreamReader(STREAM, max_descriptor_bytes=length))) == 3
    reader = hurray.StreamReader(STREAM, max_descriptor_bytes=length - 1)
    with pytest.raises(hurray.StreamError, match=rf"(?s)\b{length}\b") as caught:
        next(reader)
    assert str(length - 1) in str(caught.value)
    assert list(reader) == []


def test_descriptors_have_a_limit_of_16_mib_unless_told_otherwise():
    over = (16 << 20) + 1
    frame = ITEMS[0].descriptor.encode(length=over)
    with pytest.raises(hurray.StreamError, match=str(16 << 20)):
        next(hurray.StreamReader(frame))
    with pytest.raises(hurray.StreamError):
        next(hurray.StreamReader(frame, max_descriptor_bytes=over))


def test_the_limit_on_buffers_counts_each_alone():
    two = wire.tensor("int8", (10,), bytes(10), bytes(16))
    assert len(list(hurray.StreamReader(wire.stream(two, two), max_buffer_bytes=16))) == 2
    reader = hurray.StreamReader(wire.stream(two), max_buffer_bytes=15)
    with pytest.raises(hurray.StreamError, match=r"\b16\b") as caught:
        next(reader)
    assert "15" in str(caught.value)
    assert list(reader) == []


def test_a_limit_of_0_admits_only_what_is_empty():
    empty = wire.stream(ITEMS[1])
    assert len(list(hurray.StreamReader(empty, max_buffer_bytes=0))) == 1
    with pytest.raises(hurray.StreamError):
        next(hurray.StreamReader(STREAM, max_buffer_bytes=0))
    with pytest.raises(hurray.StreamError):
        next(hurray.StreamReader(empty, max_descriptor_bytes=0))


LIMITS = ["max_descriptor_bytes", "max_buffer_bytes", "max_composite_depth"]


@pytest.mark.parametrize("limit", LIMITS)
def test_limits_are_ints_that_are_not_negative(limit):
    assert len(list(hurray.StreamReader(STREAM, **{limit: None}))) == 3
    with pytest.raises(OverflowError):
        hurray.StreamReader(STREAM, **{limit: -1})
    for value in (1.0, "1", b"1", [1]):
        with pytest.raises(TypeError):
            hurray.StreamReader(STREAM, **{limit: value})


@pytest.mark.parametrize("limit", ["max_descriptor_bytes", "max_buffer_bytes"])
def test_limits_may_be_very_large(limit):
    assert len(list(hurray.StreamReader(STREAM, **{limit: 2**63 - 1}))) == 3


def test_hostile_lengths_do_not_allocate_ahead_of_data():
    run_python(
        """
        import resource, sys
        sys.path.insert(0, sys.argv[1])
        import confined, wire
        import hurray
        frame = wire.Descriptor("int8", (1,), handles=(wire.Handle(3 << 30),)).encode()
        confined.limit_memory()
        try:
            next(hurray.StreamReader(frame + bytes(1000)))
        except hurray.StreamError:
            pass
        else:
            raise SystemExit("there was no error")
        """,
        os.path.dirname(__file__),
    )


# ---- reader: options


@pytest.mark.parametrize("option", ["cross_machine", "permissive"])
@pytest.mark.parametrize("value", [0, 1, None, "yes"], ids=repr)
def test_options_are_bools(option, value):
    with pytest.raises(TypeError):
        hurray.StreamReader(STREAM, **{option: value})


def test_options_are_keywords():
    with pytest.raises(TypeError):
        hurray.StreamReader(STREAM, 100)
    with pytest.raises(TypeError):
        hurray.StreamReader()
    with pytest.raises(TypeError):
        hurray.StreamReader(STREAM, max_bytes=3)
    assert len(list(hurray.StreamReader(source=STREAM))) == 3


def synced(mode):
    handle = wire.Handle(4, device=1, sync_mode=mode)
    return wire.Tensor(wire.Descriptor("int8", (4,), handles=(handle,)), (b"abcd",))


MODES = {0: "producer_synced", 1: "event", 2: "consumer_stream"}


@pytest.mark.parametrize("mode", MODES)
def test_sync_modes_are_relayed(mode):
    data = wire.stream(synced(mode))
    (item,) = hurray.StreamReader(data)
    assert item.buffer_handles[0].sync_mode == MODES[mode]
    assert item.device.kind == "cuda"
    assert written(item) == data


@pytest.mark.parametrize("mode", MODES)
def test_only_synced_buffers_cross_machines(mode):
    data = wire.stream(synced(mode), ITEMS[0])
    reader = hurray.StreamReader(data, cross_machine=True)
    items = list(hurray.StreamReader(data))
    writer = hurray.StreamWriter(cross_machine=True)
    if mode == 0:
        assert len(list(reader)) == 2
        writer.write(items[0])
        assert writer.getvalue() == wire.stream(synced(mode))
        return
    with pytest.raises(hurray.StreamError, match=MODES[mode]):
        next(reader)
    assert list(reader) == []
    # Nothing is written, and the writer is as good as before.
    with pytest.raises(hurray.StreamError, match=MODES[mode]):
        writer.write(items[0])
    assert writer.getvalue() == b""
    writer.write(items[1])
    assert writer.getvalue() == wire.stream(ITEMS[0])


def test_memory_classes_are_not_checked_across_machines():
    handle = wire.Handle(4, device=1, memory_class=3)
    data = wire.stream(wire.Tensor(wire.Descriptor("int8", (4,), handles=(handle,)), (b"abcd",)))
    (item,) = hurray.StreamReader(data, cross_machine=True)
    writer = hurray.StreamWriter(cross_machine=True)
    writer.write(item)
    assert writer.getvalue() == data


# ---- writer


def test_an_empty_stream_is_no_bytes():
    assert hurray.StreamWriter().getvalue() == b""
    with hurray.StreamWriter() as writer:
        pass
    assert writer.getvalue() == b""


def test_getvalue_may_be_called_at_any_time():
    writer = hurray.StreamWriter()
    (first, _, last) = hurray.StreamReader(STREAM)
    writer.write(first)
    once = writer.getvalue()
    assert type(once) is bytes
    assert once == writer.getvalue() == wire.stream(ITEMS[0])
    writer.write(last)
    assert writer.getvalue() == wire.stream(ITEMS[0], ITEMS[2])
    writer.finish()
    assert writer.getvalue() == wire.stream(ITEMS[0], ITEMS[2])
    assert once == wire.stream(ITEMS[0])


def test_finish_may_be_called_again():
    writer = hurray.StreamWriter()
    assert writer.write(tensor([1])) is None
    for _ in range(3):
        assert writer.finish() is None


def test_a_finished_writer_takes_no_more():
    writer = hurray.StreamWriter()
    writer.finish()
    with pytest.raises(hurray.StreamError):
        writer.write(tensor([1]))
    assert writer.getvalue() == b""


@pytest.mark.parametrize(
    "item", [None, 3, np.zeros(3), b"abc", [], "w"], ids=lambda v: type(v).__name__
)
def test_only_tensors_and_composites_can_be_written(item):
    writer = hurray.StreamWriter()
    with pytest.raises(TypeError):
        writer.write(item)
    assert writer.getvalue() == b""


def test_there_is_no_close():
    assert not hasattr(hurray.StreamWriter(), "close")
    assert not hasattr(hurray.StreamWriter(), "write_composite")


def test_a_block_finishes_the_writer(tmp_path):
    path = tmp_path / "f"
    outer = hurray.StreamWriter(path)
    with outer as writer:
        assert writer is outer
        for item in hurray.StreamReader(STREAM):
            writer.write(item)
    assert path.read_bytes() == STREAM
    with pytest.raises(hurray.StreamError):
        writer.write(tensor([1]))


def test_a_block_finishes_the_writer_after_an_exception_and_suppresses_nothing(tmp_path):
    path = tmp_path / "f"
    with pytest.raises(KeyError), hurray.StreamWriter(path) as writer:
        writer.write(next(hurray.StreamReader(STREAM)))
        raise KeyError
    assert path.read_bytes() == wire.stream(ITEMS[0])
    with pytest.raises(hurray.StreamError):
        writer.write(tensor([1]))


@pytest.mark.parametrize("kind", [str, pathlib.Path], ids=["str", "Path"])
def test_a_path_is_created_or_truncated(tmp_path, kind):
    path = tmp_path / "f"
    for before in (None, b"x" * 10_000):
        if before:
            path.write_bytes(before)
        with hurray.StreamWriter(kind(path)) as writer:
            writer.write(next(hurray.StreamReader(STREAM)))
        assert path.read_bytes() == wire.stream(ITEMS[0])


@pytest.mark.parametrize("buffering", [0, -1], ids=["raw", "buffered"])
def test_files_are_destinations_at_their_position(tmp_path, buffering):
    path = tmp_path / "f"
    with open(path, "wb", buffering=buffering) as file:
        file.write(b"head")
        with hurray.StreamWriter(file) as writer:
            for item in hurray.StreamReader(STREAM):
                writer.write(item)
        file.write(b"tail")
    assert path.read_bytes() == b"head" + STREAM + b"tail"


def test_files_that_are_appended_to_are_destinations(tmp_path):
    path = open_named(tmp_path, b"head")
    with open(path, "ab") as file, hurray.StreamWriter(file) as writer:
        writer.write(next(hurray.StreamReader(STREAM)))
    assert path.read_bytes() == b"head" + wire.stream(ITEMS[0])


def test_a_destination_may_be_closed_meanwhile(tmp_path):
    """The descriptor was duplicated."""
    path = tmp_path / "f"
    with open(path, "wb") as file:
        writer = hurray.StreamWriter(file)
    with writer:
        writer.write(next(hurray.StreamReader(STREAM)))
    assert path.read_bytes() == wire.stream(ITEMS[0])


@pytest.mark.parametrize(
    "destination",
    [3, 1.5, b"f", bytearray(9), [], object(), io.BytesIO(), io.StringIO()],
    ids=lambda v: type(v).__name__,
)
def test_other_objects_are_no_destinations(destination):
    with pytest.raises(TypeError):
        hurray.StreamWriter(destination)


def test_getvalue_is_for_memory(tmp_path):
    writer = hurray.StreamWriter(tmp_path / "f")
    for _ in range(2):
        with pytest.raises(hurray.StreamError, match="destination"):
            writer.getvalue()
        writer.finish()


def test_parameters_of_the_writer_have_names(tmp_path):
    hurray.StreamWriter(destination=None, cross_machine=False)
    for arguments, options in [((None, True), {}), ((), {"path": "f"}), ((), {"cross_machine": 1})]:
        with pytest.raises(TypeError):
            hurray.StreamWriter(*arguments, **options)


@pytest.mark.parametrize("name", ["absent/f", "."], ids=["missing-folder", "folder"])
def test_a_destination_that_cannot_be_opened_is_an_error(tmp_path, name):
    with pytest.raises(hurray.FileError) as caught:
        hurray.StreamWriter(tmp_path / name)
    assert caught.value.errno in (errno.ENOENT, errno.EISDIR)
    assert caught.value.filename == str(tmp_path / name)


def write_all(destination, array):
    with hurray.StreamWriter(destination) as writer:
        writer.write(hurray.from_numpy(array))


@pytest.mark.parametrize("size", [1, 1 << 20])
def test_a_full_device_is_an_error(size):
    with pytest.raises(hurray.FileError) as caught:
        write_all("/dev/full", np.zeros(size))
    assert caught.value.errno == errno.ENOSPC


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_reader_that_left_is_an_error(kind):
    if kind == "pipe":
        read, write = os.pipe()
        os.close(read)
        destination = os.fdopen(write, "wb", buffering=0)
    else:
        destination, far = socket.socketpair()
        far.close()
    with destination, pytest.raises(hurray.FileError) as caught:
        write_all(destination, np.zeros(1 << 20))
    assert caught.value.errno in (errno.EPIPE, errno.ECONNRESET)


def test_a_destination_for_reading_only_is_an_error(tmp_path):
    with open(open_named(tmp_path, b""), "rb") as file, pytest.raises(hurray.FileError) as caught:
        write_all(file, np.zeros(1 << 20))
    assert caught.value.errno == errno.EBADF


def test_an_unfinished_writer_may_be_dropped(tmp_path):
    hurray.StreamWriter(tmp_path / "f").write(tensor([1]))
    hurray.StreamWriter().write(tensor([1]))


# ---- signals


def test_a_waiting_reader_can_be_interrupted():
    run_python(
        """
        import os, signal, threading
        import hurray

        # A process that was started in the background ignores it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        read, write = os.pipe()
        reader = hurray.StreamReader(open(read, "rb", buffering=0))
        os.write(write, b"HRRY")
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            next(reader)
        except KeyboardInterrupt:
            pass
        else:
            raise SystemExit("there was no interrupt")
        """
    )


def test_a_signal_that_is_handled_does_not_disturb_a_reader():
    out = run_python(
        """
        import os, signal, sys, threading
        import hurray

        handled = []
        signal.signal(signal.SIGUSR1, lambda *_: handled.append(1))
        data = bytes.fromhex(sys.argv[1])
        read, write = os.pipe()
        reader = hurray.StreamReader(open(read, "rb", buffering=0))

        def feed():
            for i in range(0, len(data), 20):
                os.kill(os.getpid(), signal.SIGUSR1)
                os.write(write, data[i : i + 20])
            os.close(write)

        threading.Thread(target=feed).start()
        print(len(list(reader)), len(handled) > 0)
        """,
        STREAM.hex(),
    )
    assert out.split() == ["3", "True"]


def test_a_writer_that_waits_halfway_can_be_interrupted():
    # The pipe takes a part, and the system call ends with that part, not with an error.
    run_python(
        """
        import os, signal
        import hurray

        class Stop(Exception):
            pass

        def stop(*_):
            raise Stop

        signal.signal(signal.SIGALRM, stop)
        read, write = os.pipe()
        writer = hurray.StreamWriter(open(write, "wb", buffering=0))
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            writer.write(hurray.zeros([100_000]))
        except Stop:
            pass
        else:
            raise SystemExit("there was no interrupt")
        """
    )


@pytest.mark.skipif(
    "san.so" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer ends it at new without memory"
)
def test_a_stream_in_memory_forgets_what_it_could_not_finish():
    run_python(
        """
        import resource
        import hurray

        small, large = hurray.zeros([10]), hurray.zeros([1 << 24])
        writer = hurray.StreamWriter()
        writer.write(small)
        before = writer.getvalue()
        members = [small, *[large] * 100]
        limit = resource.getrlimit(resource.RLIMIT_AS)
        mapped = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + (2 << 30), limit[1]))
        try:
            writer.write(
                hurray.Composite("group", shape=[], dtype=hurray.int8, members=members)
            )
        except MemoryError:
            pass
        else:
            raise SystemExit("there was enough memory")
        resource.setrlimit(resource.RLIMIT_AS, limit)
        assert writer.getvalue() == before
        writer.write(small)
        assert len(list(hurray.StreamReader(writer.getvalue()))) == 2
        """
    )


# ---- threads


def unread_bytes(descriptor):
    count = bytearray(4)
    fcntl.ioctl(descriptor, termios.FIONREAD, count)
    return int.from_bytes(count, sys.byteorder)


def wait_until(condition):
    while not condition():
        threading.Event().wait(0.001)


def test_a_reader_is_used_by_one_thread_at_a_time():
    read, write = os.pipe()
    with open(read, "rb", buffering=0) as source, open(write, "wb", buffering=0) as end:
        reader = hurray.StreamReader(source)
        items = []
        thread = threading.Thread(target=lambda: items.append(next(reader)))
        end.write(STREAM[:30])
        thread.start()
        # It has taken what there is, so it is inside, and waits for the rest.
        wait_until(lambda: unread_bytes(read) == 0)
        for use in (lambda: next(reader), reader.close, lambda: reader.__exit__(None, None, None)):
            with pytest.raises(RuntimeError, match="thread"):
                use()
        end.write(STREAM[30:])
        thread.join()
        end.close()
        assert bits(items[0]) == ITEMS[0].buffers[0]
        assert len(list(reader)) == 2


def test_a_writer_is_used_by_one_thread_at_a_time():
    read, write = os.pipe()
    with open(read, "rb", buffering=0) as source, open(write, "wb", buffering=0) as end:
        writer = hurray.StreamWriter(end)
        large = tensor(np.zeros(1 << 20))
        thread = threading.Thread(target=writer.write, args=(large,))
        thread.start()
        # More than the pipe holds is under way.
        wait_until(lambda: unread_bytes(read) >= 4096)
        for use in (lambda: writer.write(large), writer.finish):
            with pytest.raises(RuntimeError, match="thread"):
                use()
        received = bytearray()
        while len(received) < len(written(large)):
            received += source.read(1 << 20)
        thread.join()
        writer.finish()
        assert received == written(large)


def test_readers_of_several_threads_do_not_disturb_each_other():
    failures = []

    def work():
        try:
            for _ in range(200):
                check_items(hurray.StreamReader(STREAM))
                assert written(*hurray.StreamReader(STREAM)) == STREAM
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


# ---- composites


def part(value, offset, **fields):
    section = wire.shard((4, 4), offset)
    return wire.tensor("int8", (2, 4), bytes([value]) * 8, shard=section, **fields)


PARTITION = wire.composite("partition", "int8", (4, 4), part(1, (0, 0)), part(2, (2, 0)))
NESTED = wire.composite("group", "int8", (), ITEMS[2], PARTITION)


@pytest.mark.parametrize("source", ["memory", "pipe"])
def test_composites_are_one_item(source):
    data = wire.stream(ITEMS[0], PARTITION, NESTED, ITEMS[2])
    first, partition, nested, last = hurray.StreamReader(
        data if source == "memory" else torn_pipe(data)
    )
    assert isinstance(partition, hurray.Composite)
    assert [bits(m) for m in partition.members] == [b"\1" * 8, b"\2" * 8]
    assert partition.shape == (4, 4)
    assert bits(nested.members[0]) == b"abc"
    assert nested.members[1] == partition
    assert written(first, partition, nested, last) == data


def test_a_composite_without_members_is_an_item():
    data = wire.stream(wire.composite("group", "int8", ()), ITEMS[2])
    empty, last = hurray.StreamReader(data)
    assert empty.member_count == 0
    assert bits(last) == b"abc"


def test_a_stream_that_ends_inside_a_composite_is_torn():
    data = wire.stream(NESTED)
    for cut in range(1, len(data)):
        reader = hurray.StreamReader(data[:cut])
        with pytest.raises(hurray.StreamError):
            next(reader)
        assert list(reader) == []


def nested_groups(levels):
    item = ITEMS[2]
    for _ in range(levels):
        item = wire.composite("group", "int8", (), item)
    return wire.stream(item)


@pytest.mark.parametrize("limit", range(1, 9))
def test_the_limit_on_depth_counts_levels(limit):
    assert len(list(hurray.StreamReader(nested_groups(limit), max_composite_depth=limit))) == 1
    reader = hurray.StreamReader(nested_groups(limit + 1), max_composite_depth=limit)
    with pytest.raises(hurray.StreamError, match=rf"\b{limit}\b"):
        next(reader)
    assert list(reader) == []


def test_a_depth_of_0_admits_no_composite():
    assert len(list(hurray.StreamReader(STREAM, max_composite_depth=0))) == 3
    with pytest.raises(hurray.StreamError):
        next(hurray.StreamReader(nested_groups(1), max_composite_depth=0))


def test_the_format_has_a_cap_of_its_own():
    for limit in (None, 64, 1000):
        with pytest.raises(hurray.InvalidDescriptorError):
            next(hurray.StreamReader(nested_groups(9), max_composite_depth=limit))


def test_the_limit_on_buffers_holds_for_members():
    with pytest.raises(hurray.StreamError, match="8"):
        next(hurray.StreamReader(wire.stream(PARTITION), max_buffer_bytes=7))


def test_members_must_be_synced_to_cross_machines():
    data = wire.stream(wire.composite("group", "int8", (), ITEMS[2], synced(1)))
    with pytest.raises(hurray.StreamError):
        next(hurray.StreamReader(data, cross_machine=True))
    (item,) = hurray.StreamReader(data)
    writer = hurray.StreamWriter(cross_machine=True)
    with pytest.raises(hurray.StreamError):
        writer.write(item)
    assert writer.getvalue() == b""


# ---- permissive


def test_an_unknown_layout_is_read_only_on_demand():
    item = wire.tensor("int8", (4,), b"abcd")
    data = item.descriptor.encode(layout_tag=0x0C, payload=bytes(range(12))) + b"abcd"
    with pytest.raises(hurray.InvalidDescriptorError, match="0x0C"):
        next(hurray.StreamReader(data))
    (back,) = hurray.StreamReader(data, permissive=True)
    assert back.layout == hurray.UnknownLayout(0x0C, bytes(range(12)))
    assert written(back) == data
