import errno
import os
import pathlib
import stat
import struct
import threading

import model
import numpy as np
import pytest
import wire
from arrays import NUMPY_TYPES, address_of, array_at, dtype_id, random_array
from subprocesses import run_python

import hurray


def tensor(values, dtype=np.float32):
    return hurray.from_numpy(np.asarray(values, dtype), copy=True)


def saved(path, tensors, **options):
    hurray.save(path, tensors, **options)
    return path


def bits(tensor):
    return np.asarray(tensor).tobytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "tensors.hrry"


@pytest.fixture
def weights(path):
    """A file of three tensors: w, b and a scalar s."""
    return saved(
        path,
        {"w": tensor([[1, 2], [3, 4]]), "b": tensor([5, 6], np.int8), "s": tensor(7, np.float64)},
    )


# ---- what comes back


@pytest.mark.parametrize("mapped", [True, False], ids=["mapped", "in-memory"])
@pytest.mark.parametrize("dtype", NUMPY_TYPES, ids=dtype_id)
@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 5), (2, 0, 4), (2, 3, 4, 5)], ids=str)
def test_arrays_come_back_bit_for_bit(path, dtype, shape, mapped):
    array = np.asarray(random_array(NUMPY_TYPES[dtype], shape))
    hurray.save(path, {"t": hurray.from_numpy(array)})
    loaded = hurray.load(path, mmap=mapped)["t"]
    assert loaded.dtype is dtype
    assert loaded.shape == shape
    assert np.asarray(loaded).dtype == array.dtype
    assert np.asarray(loaded).tobytes() == array.tobytes()


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3", "float6_e2m3", "int4", "float128"])
def test_types_that_numpy_lacks_come_back(path, name):
    dtype = getattr(hurray.dtype, name)
    data = bytes(range(hurray.buffer_size_bytes(dtype, 9)))
    hurray.save(path, {"t": hurray.Tensor(data, dtype, [9])})
    loaded = hurray.load(path)["t"]
    assert loaded.dtype is dtype
    assert bits(loaded.buffer(0)) == data


@pytest.mark.parametrize(
    ("layout", "size"),
    [
        pytest.param(hurray.ColMajorLayout(), 24, id="col_major"),
        pytest.param(hurray.StridedLayout([4, 1]), 28, id="strided"),
    ],
)
def test_layouts_come_back(path, layout, size):
    data = bytes(range(size))
    hurray.save(path, {"t": hurray.Tensor(data, hurray.float32, [2, 3], layout=layout)})
    loaded = hurray.load(path)["t"]
    assert loaded.layout == layout
    assert bits(loaded.buffer(0)) == data


def test_dynamic_shapes_come_back(path):
    hurray.save(path, {"t": hurray.Tensor(bytes(64), hurray.float32, [None, 4])})
    assert hurray.load(path)["t"].shape == (None, 4)


def test_several_buffers_come_back(path):
    buffers = [bytes(range(8)), struct.pack("<2Q", 1, 0), struct.pack("<4Q", 0, 1, 2, 2)]
    csr = hurray.Tensor(
        buffers[0], hurray.float32, [3, 3], aux_buffers=buffers[1:], layout=hurray.CsrLayout(2)
    )
    hurray.save(path, {"t": csr})
    for mapped in (True, False):
        loaded = hurray.load(path, mmap=mapped)["t"]
        assert loaded.layout == hurray.CsrLayout(2)
        assert [bits(loaded.buffer(i)) for i in range(3)] == buffers


def test_sections_come_back(path):
    tensor = hurray.Tensor(
        bytes(8),
        hurray.int8,
        [2, 4],
        aux_buffers=[bytes(8)],
        quantization=hurray.PerChannelAffine.symmetric(0, 1),
        statistics=hurray.Statistics(nnz=3),
        shard=hurray.Shard([8, 4], [2, 0]),
    )
    hurray.save(path, {"t": tensor})
    loaded = hurray.load(path)["t"]
    assert loaded.descriptor == tensor.descriptor
    assert loaded.quantization == tensor.quantization
    assert loaded.statistics == tensor.statistics
    assert loaded.shard == tensor.shard


def test_extension_types_come_back(path):
    kind = hurray.ExtensionType(bit_width=24)
    data = bytes(range(12))
    dtype = hurray.Dtype.from_tag(0xF2)
    hurray.save(path, {"t": hurray.Tensor(data, dtype, [4], extension_type=kind)})
    loaded = hurray.load(path)["t"]
    assert loaded.dtype is dtype
    assert loaded.extension_type == kind


def test_declared_devices_come_back(path):
    cuda = hurray.Device("cuda")
    data = bytes(range(1, 5))
    hurray.save(path, {"t": hurray.Tensor(data, hurray.int8, [4], device=cuda)})
    assert path.read_bytes()[4096:4100] == data
    assert hurray.load(path)["t"].device == cuda


def test_save_returns_none(path):
    assert hurray.save(path, {}) is None


def test_no_tensors_make_a_file_of_none(path):
    hurray.save(path, {})
    assert hurray.load(path) == {}
    assert hurray.load_kv(path) == {}


def test_names_keep_the_order_of_the_dict(path):
    names = ["z", "a", "m", "é", "A", "0"]
    hurray.save(path, {name: tensor([i]) for i, name in enumerate(names)})
    assert list(hurray.load(path)) == names


def test_a_sorted_index_changes_no_order(path):
    one, two = (wire.tensor("int8", (1,), data) for data in (b"a", b"b"))
    path.write_bytes(wire.container({"z": one, "a": two}, sorted_index=True))
    assert list(hurray.load(path)) == ["z", "a"]
    assert bits(hurray.load(path)["a"]) == b"b"


@pytest.mark.parametrize(
    "name",
    ["w.0.bias", "../../w", "/etc/w", "a\0b", " ", "\n", "\u202e", "\U0001f41f", "n" * 65535],
    ids=["dots", "up", "root", "nul", "space", "line", "direction", "fish", "longest"],
)
def test_any_text_is_a_name(path, name):
    hurray.save(path, {name: tensor([1])})
    assert list(hurray.load(path)) == [name]
    assert list(hurray.load(path, names=[name])) == [name]


def test_the_longest_name_counts_bytes(path):
    hurray.save(path, {"é" * 32767: tensor([1])})
    with pytest.raises(hurray.FileError, match="65535"):
        hurray.save(path, {"é" * 32768: tensor([1])})


def test_what_was_read_is_written_again_byte_for_byte(weights, tmp_path):
    again = tmp_path / "again.hrry"
    for mapped in (True, False):
        hurray.save(again, hurray.load(weights, mmap=mapped))
        assert again.read_bytes() == weights.read_bytes()


def test_the_bytes_are_those_of_the_format(path):
    hurray.save(
        path,
        {"w": tensor([[1, 2], [3, 4]]), "e": tensor([], np.int16)},
        kv={"k": "v"},
    )
    expected = {
        "w": wire.tensor("float32", (2, 2), struct.pack("<4f", 1, 2, 3, 4)),
        "e": wire.tensor("int16", (0,), b""),
    }
    assert path.read_bytes() == wire.container(expected, {"k": "v"})


# ---- names=


def test_names_choose_and_order(weights):
    assert list(hurray.load(weights, names=["s", "w"])) == ["s", "w"]
    assert list(hurray.load(weights, names=("b",))) == ["b"]
    assert hurray.load(weights, names=[]) == {}
    assert list(hurray.load(weights, names=None)) == ["w", "b", "s"]


def test_a_name_that_is_not_there_is_named(weights):
    with pytest.raises(hurray.FileError, match="absent"):
        hurray.load(weights, names=["w", "absent"])


@pytest.mark.parametrize("names", ["w", b"w", 1, ["w", 1], [b"w"], [None]], ids=repr)
def test_names_are_a_sequence_of_str(weights, names):
    with pytest.raises(TypeError):
        hurray.load(weights, names=names)


# ---- memory


def test_loaded_arrays_are_writable_and_the_file_stays(weights):
    before = weights.read_bytes()
    array = np.asarray(hurray.load(weights)["w"])
    array[0, 0] = 99
    assert array[0, 0] == 99
    assert weights.read_bytes() == before
    assert np.asarray(hurray.load(weights)["w"])[0, 0] == 1


def test_two_loads_share_no_writes(weights):
    first, second = (hurray.load(weights)["w"] for _ in range(2))
    np.asarray(first)[...] = 0
    assert np.asarray(second)[1, 1] == 4


@pytest.mark.parametrize("mapped", [True, False], ids=["mapped", "in-memory"])
def test_loaded_memory_is_aligned(path, mapped):
    hurray.save(path, {str(n): tensor(range(n), np.int8) for n in range(1, 130, 7)})
    for loaded in hurray.load(path, mmap=mapped).values():
        address = address_of(np.asarray(loaded))
        (handle,) = loaded.buffer_handles
        assert address % handle.alignment == 0
        assert handle.alignment >= hurray.MIN_BUFFER_ALIGNMENT
        assert loaded.descriptor.buffer_handles[0].alignment == 64


@pytest.mark.parametrize("mapped", [True, False], ids=["mapped", "in-memory"])
@pytest.mark.parametrize("alignment", [128, 4096, 8192, 1 << 16, 1 << 21])
def test_memory_is_aligned_as_declared(path, mapped, alignment):
    item = wire.tensor("int8", (3,), b"abc", alignment=alignment)
    path.write_bytes(wire.container({"t": item}, alignment=max(alignment, 4096)))
    loaded = hurray.load(path, mmap=mapped)["t"]
    assert loaded.buffer_handles[0].alignment >= alignment
    assert address_of(np.asarray(loaded.buffer(0))) % alignment == 0
    assert bits(loaded) == b"abc"


@pytest.mark.parametrize("mapped", [True, False], ids=["mapped", "in-memory"])
def test_an_alignment_above_that_of_the_file_is_kept(path, mapped, tmp_path):
    item = wire.tensor("int8", (3,), b"abc", alignment=1 << 16)
    path.write_bytes(wire.container({"first": wire.tensor("int8", (1,), b"x"), "t": item}))
    loaded = hurray.load(path, mmap=mapped)["t"]
    assert loaded.buffer_handles[0].alignment >= 1 << 16
    assert address_of(np.asarray(loaded.buffer(0))) % (1 << 16) == 0
    # A writer makes the file's alignment as large as that of its buffers.
    again = tmp_path / "again.hrry"
    hurray.save(again, {"t": loaded})
    assert again.read_bytes() == wire.container({"t": item}, alignment=1 << 16)


def test_alignments_above_2_mib_cannot_be_saved(path):
    item = wire.tensor("int8", (3,), b"abc", alignment=1 << 22)
    (loaded,) = hurray.StreamReader(wire.stream(item))
    with pytest.raises(hurray.FileError, match="4194304"):
        hurray.save(path, {"t": loaded})
    assert not path.exists()


def test_arrays_outlive_the_dict_and_the_file(weights):
    array = np.asarray(hurray.load(weights)["w"])
    weights.unlink()
    assert array.tolist() == [[1, 2], [3, 4]]


def test_in_memory_tensors_do_not_follow_the_file(weights):
    loaded = hurray.load(weights, mmap=False)["w"]
    with open(weights, "r+b") as file:
        file.write(bytes(weights.stat().st_size))
    assert np.asarray(loaded).tolist() == [[1, 2], [3, 4]]


def test_in_memory_tensors_survive_truncation(weights):
    loaded = hurray.load(weights, mmap=False)
    os.truncate(weights, 0)
    assert np.asarray(loaded["w"]).tolist() == [[1, 2], [3, 4]]


def test_loading_leaves_no_open_file(weights):
    def open_files():
        return os.listdir("/proc/self/fd")

    before = len(open_files())
    loaded = hurray.load(weights), hurray.load(weights, mmap=False), hurray.load_kv(weights)
    assert len(open_files()) == before
    del loaded


# ---- save replaces


def test_saving_over_the_file_that_was_loaded_keeps_both(weights):
    loaded = hurray.load(weights)
    changed = {**loaded, "w": tensor([[9, 9], [9, 9]])}
    hurray.save(weights, changed)
    assert np.asarray(loaded["w"]).tolist() == [[1, 2], [3, 4]]
    again = hurray.load(weights)
    assert np.asarray(again["w"]).tolist() == [[9, 9], [9, 9]]
    assert np.asarray(again["b"]).tolist() == [5, 6]


def test_a_reader_of_the_old_file_keeps_it(weights):
    with open(weights, "rb") as old:
        before = weights.read_bytes()
        hurray.save(weights, {})
        assert old.read() == before


def test_saving_leaves_nothing_beside_the_file(weights):
    hurray.save(weights, {"w": tensor([1])}, durable=True)
    assert os.listdir(weights.parent) == [weights.name]


def test_durable_files_are_the_same(weights, tmp_path):
    durable = saved(tmp_path / "durable.hrry", hurray.load(weights), durable=True)
    assert durable.read_bytes() == weights.read_bytes()


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o000], ids=oct)
def test_new_files_get_the_permissions_of_the_umask(path, mask):
    before = os.umask(mask)
    try:
        hurray.save(path, {})
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


def test_links_are_followed_by_readers(weights, tmp_path):
    link = tmp_path / "link.hrry"
    link.symlink_to(weights)
    assert list(hurray.load(link)) == ["w", "b", "s"]


def test_what_was_saved_under_a_link_is_read_under_it(weights, tmp_path):
    link = tmp_path / "link.hrry"
    link.symlink_to(weights)
    hurray.save(link, {"new": tensor([1])})
    assert list(hurray.load(link)) == ["new"]


def check_nothing_changed(file, before):
    assert file.read_bytes() == before
    assert os.listdir(file.parent) == [file.name]


@pytest.mark.parametrize("argument", [{"w": 3}, {"w": tensor([1]), "": tensor([1])}])
def test_bad_arguments_leave_the_earlier_file(weights, argument):
    before = weights.read_bytes()
    with pytest.raises((hurray.UnsupportedError, hurray.FileError)):
        hurray.save(weights, argument)
    check_nothing_changed(weights, before)


def test_a_file_size_limit_leaves_the_earlier_file(weights):
    before = weights.read_bytes()
    run_python(
        """
        import resource, sys
        import numpy as np
        import hurray
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20,) * 2)
        large = hurray.from_numpy(np.ones(1 << 20))
        try:
            hurray.save(sys.argv[1], {"a": large, "b": large})
        except hurray.FileError as error:
            assert error.errno == 27, error
            assert error.filename == sys.argv[1], error.filename
        else:
            raise SystemExit("there was no error")
        """,
        str(weights),
    )
    check_nothing_changed(weights, before)


def test_an_interrupt_leaves_the_earlier_file(weights):
    before = weights.read_bytes()
    run_python(
        """
        import signal, sys
        import numpy as np
        import hurray

        # A process that was started in the background ignores it.
        signal.signal(signal.SIGINT, signal.default_int_handler)

        def interrupt(done, total):
            if done:
                signal.raise_signal(signal.SIGINT)

        try:
            hurray.save(sys.argv[1], {"a": hurray.from_numpy(np.ones(1 << 20))}, progress=interrupt)
        except KeyboardInterrupt:
            pass
        else:
            raise SystemExit("there was no interrupt")
        """,
        str(weights),
    )
    check_nothing_changed(weights, before)


# ---- targets that are no regular files


def test_fifos_are_written_through(path, weights):
    tensors = hurray.load(weights)
    fifo = path.with_name("fifo")
    os.mkfifo(fifo)
    received = []
    reader = threading.Thread(target=lambda: received.append(fifo.read_bytes()))
    reader.start()
    hurray.save(fifo, tensors)
    reader.join()
    assert received == [weights.read_bytes()]
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_devices_are_written_through():
    hurray.save("/dev/null", {"w": tensor([1])})
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_full_device_is_an_error():
    with pytest.raises(hurray.FileError) as caught:
        hurray.save("/dev/full", {"w": tensor([1])})
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == "/dev/full"


def test_a_reader_that_leaves_is_an_error(path):
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: open(path, "rb").close())
    reader.start()
    with pytest.raises(hurray.FileError) as caught:
        hurray.save(path, {"w": tensor(np.zeros(1 << 20))})
    reader.join()
    assert caught.value.errno == errno.EPIPE


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
def test_devices_cannot_be_loaded(device):
    for read in (hurray.load, hurray.load_kv):
        with pytest.raises(hurray.FileError):
            read(device)


# ---- paths


@pytest.mark.parametrize("kind", [str, pathlib.Path, os.DirEntry], ids=["str", "Path", "DirEntry"])
def test_paths_of_any_kind_are_taken(tmp_path, kind):
    saved(tmp_path / "f", {"w": tensor([1])})
    (entry,) = os.scandir(tmp_path)
    path = entry if kind is os.DirEntry else kind(entry.path)
    hurray.save(path, hurray.load(path))
    assert list(hurray.load(path)) == ["w"]
    assert hurray.load_kv(path) == {}


def test_paths_need_not_be_text(tmp_path):
    path = os.path.join(tmp_path, os.fsdecode(b"\xff\xfe"))
    hurray.save(path, {"w": tensor([1])})
    assert list(hurray.load(path)) == ["w"]
    with pytest.raises(hurray.FileError) as caught:
        hurray.load(path + "x")
    assert caught.value.filename == path + "x"


def test_relative_paths_are_relative_to_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hurray.save("f.hrry", {})
    assert hurray.load("f.hrry") == {}
    assert os.listdir(tmp_path) == ["f.hrry"]


@pytest.mark.parametrize("path", [None, 3, 1.5, object(), ["f"]], ids=lambda v: type(v).__name__)
def test_other_objects_are_no_paths(path):
    for call in (hurray.load, hurray.load_kv, lambda p: hurray.save(p, {})):
        with pytest.raises(TypeError):
            call(path)


# ---- errors of the system


def check_error(call, number, path, also=hurray.FileError):
    with pytest.raises(hurray.FileError) as caught:
        call()
    error = caught.value
    assert isinstance(error, also)
    assert isinstance(error, OSError)
    assert error.errno == number
    assert error.strerror == os.strerror(number)
    assert error.filename == str(path)
    assert str(path) in str(error)


@pytest.mark.parametrize("read", [hurray.load, hurray.load_kv], ids=["load", "load_kv"])
def test_a_missing_file_is_also_a_file_not_found_error(path, read):
    check_error(lambda: read(path), errno.ENOENT, path, FileNotFoundError)


def test_a_missing_folder_is_also_a_file_not_found_error(path):
    target = path / "f.hrry"
    check_error(lambda: hurray.save(target, {}), errno.ENOENT, target, FileNotFoundError)


def test_a_folder_is_no_file(tmp_path):
    for call in (hurray.load, hurray.load_kv, lambda p: hurray.save(p, {})):
        check_error(lambda call=call: call(tmp_path), errno.EISDIR, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_folder(weights):
    below = weights / "f"
    for call in (hurray.load, lambda p: hurray.save(p, {})):
        check_error(lambda call=call: call(below), errno.ENOTDIR, below)


def test_too_long_a_name_is_an_error(tmp_path):
    path = tmp_path / ("n" * 256)
    for call in (hurray.load, lambda p: hurray.save(p, {})):
        check_error(lambda call=call: call(path), errno.ENAMETOOLONG, path)


def test_the_longest_name_of_a_file_can_be_saved(tmp_path):
    hurray.save(tmp_path / ("n" * 255), {})


def test_missing_permissions_are_also_a_permission_error(weights):
    """Root may do everything, so the child drops its privileges."""
    before = weights.read_bytes()
    # Somewhere that another user can reach.
    run_python(
        """
        import os, pathlib, shutil, sys, tempfile
        import hurray
        import numpy

        folder = pathlib.Path(tempfile.mkdtemp())
        try:
            folder.chmod(0o755)
            file = folder / "f.hrry"
            shutil.copy(sys.argv[1], file)
            file.chmod(0o000)
            folder.chmod(0o555)
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    if os.geteuid() == 0:
                        os.setgroups([])
                        os.setgid(65534)
                        os.setuid(65534)
                    for path, call in [
                        (file, hurray.load),
                        (file, hurray.load_kv),
                        (file, lambda p: hurray.save(p, {})),
                        (folder / "new", lambda p: hurray.save(p, {})),
                    ]:
                        try:
                            call(path)
                        except hurray.FileError as error:
                            assert isinstance(error, PermissionError), error
                            assert error.errno == 13, error
                            assert error.filename == str(path), error
                        else:
                            raise SystemExit(f"there was no error with {path}")
                    assert os.listdir(folder) == ["f.hrry"]
                    status = 0
                finally:
                    os._exit(status)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        finally:
            folder.chmod(0o755)
            shutil.rmtree(folder)
        """,
        str(weights),
    )
    assert weights.read_bytes() == before


# ---- errors of the container


@pytest.mark.parametrize("cut", [0, 1, 8, 63, 103, 4096])
def test_truncated_files_are_refused(weights, cut):
    weights.write_bytes(weights.read_bytes()[:cut])
    for read in (hurray.load, hurray.load_kv, lambda p: hurray.load(p, mmap=False)):
        with pytest.raises(hurray.FileError):
            read(weights)


def damaged(path, position, text):
    data = bytearray(path.read_bytes())
    position %= len(data)
    data[position : position + len(text)] = text
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("position", "text", "message"),
    [
        pytest.param(0, b"X", "magic", id="magic"),
        pytest.param(8, b"\2", "version", id="version"),
        pytest.param(-60, b"\xff", "(?i)checksum|crc", id="checksum"),
        pytest.param(-4, b"X", "HRRY", id="trailer"),
    ],
)
def test_damaged_files_are_refused(weights, position, text, message):
    damaged(weights, position, text)
    for read in (hurray.load, hurray.load_kv, lambda p: hurray.load(p, mmap=False)):
        with pytest.raises(hurray.FileError, match=message):
            read(weights)


def test_overlapping_sections_are_refused(path):
    file = wire.Container({n: wire.tensor("int8", (1,), n.encode()) for n in "ab"})
    file.index[1].data_offset = file.index[0].data_offset
    path.write_bytes(file.encode())
    with pytest.raises(hurray.FileError):
        hurray.load(path)


def test_an_invalid_descriptor_is_an_invalid_descriptor(path):
    file = wire.Container(
        {"good": wire.tensor("int8", (1,), b"a"), "bad": wire.tensor("int8", (1,), b"b")}
    )
    start = file.index[1].descriptor_offset - file.first_descriptor_offset
    file.tensors[start + 14] = 0xFF
    path.write_bytes(file.encode())
    with pytest.raises(hurray.InvalidDescriptorError, match="0xFF"):
        hurray.load(path)
    with pytest.raises(hurray.InvalidDescriptorError):
        hurray.load(path, names=["bad"])
    # It is complained about when its tensor is asked for.
    assert bits(hurray.load(path, names=["good"])["good"]) == b"a"
    assert hurray.load_kv(path) == {}


def test_file_errors_of_content_have_no_number(weights):
    damaged(weights, 0, b"X")
    with pytest.raises(hurray.FileError) as caught:
        hurray.load(weights)
    assert caught.value.errno is None
    assert not isinstance(caught.value, (FileNotFoundError, PermissionError))


# ---- arguments


@pytest.mark.parametrize(
    "tensors", [None, [], [("w", 1)], "w", tensor([1])], ids=lambda v: type(v).__name__
)
def test_tensors_are_a_dict(path, tensors):
    with pytest.raises(TypeError):
        hurray.save(path, tensors)
    assert not path.exists()


@pytest.mark.parametrize("name", [1, b"w", None, ("w",)], ids=repr)
def test_names_of_tensors_are_str(path, name):
    with pytest.raises(TypeError):
        hurray.save(path, {name: tensor([1])})
    assert not path.exists()


@pytest.mark.parametrize("value", [3, "w", None, object(), b"abcd"], ids=lambda v: type(v).__name__)
def test_other_objects_cannot_be_saved(path, value):
    with pytest.raises(hurray.UnsupportedError, match=r"hurray\.Composite"):
        hurray.save(path, {"good": tensor([1]), "bad": value})
    assert not path.exists()


def test_arrays_are_taken_as_they_are(path):
    array = array_at(16, np.arange(6, dtype=np.int32).reshape(2, 3))
    hurray.save(path, {"array": array, "column-major": np.asfortranarray(array)})
    loaded = hurray.load(path)
    assert np.asarray(loaded["array"]).tolist() == array.tolist()
    assert np.asarray(loaded["column-major"]).tolist() == array.tolist()


def test_torch_tensors_are_taken_as_they_are(path):
    torch = pytest.importorskip("torch")
    hurray.save(path, {"t": torch.arange(6).reshape(2, 3)})
    assert np.asarray(hurray.load(path)["t"]).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("name", ["", "n" * 65536], ids=["empty", "long"])
def test_names_have_a_length(path, name):
    with pytest.raises(hurray.FileError):
        hurray.save(path, {"good": tensor([1]), name: tensor([1])})
    assert not path.exists()


def test_names_are_text(path):
    with pytest.raises(hurray.FileError, match="UTF-8"):
        hurray.save(path, {"\ud800": tensor([1])})
    assert not path.exists()


@pytest.mark.parametrize("option", ["durable", "mmap", "permissive"])
@pytest.mark.parametrize("value", [0, 1, None, "yes"], ids=repr)
def test_options_are_bools(weights, option, value):
    call = (
        (lambda **o: hurray.save(weights, {}, **o))
        if option == "durable"
        else (lambda **o: hurray.load(weights, **o))
    )
    with pytest.raises(TypeError):
        call(**{option: value})


@pytest.mark.parametrize(
    "call",
    [
        lambda p: hurray.save(p),
        lambda p: hurray.save(p, {}, {}),
        lambda p: hurray.save(p, {}, overwrite=True),
        lambda p: hurray.load(),
        lambda p: hurray.load(p, ["w"]),
        lambda p: hurray.load(p, path=p),
        lambda p: hurray.load_kv(p, 1),
        lambda p: hurray.load_kv(),
    ],
)
def test_wrong_arguments_are_refused(weights, call):
    with pytest.raises(TypeError):
        call(weights)


def test_parameters_have_names(path):
    hurray.save(path=path, tensors={"w": tensor([1])}, kv=None, durable=False, progress=None)
    assert list(hurray.load(path=path, names=None, mmap=True, permissive=False)) == ["w"]
    assert hurray.load_kv(path=path) == {}


# ---- progress=


def record(calls):
    return lambda done, total: calls.append((done, total))


@pytest.mark.parametrize("mapped", [True, False], ids=["mapped", "in-memory"])
def test_progress_counts_up_to_the_total(path, mapped):
    tensors = {str(i): tensor(np.zeros(1 << 18)) for i in range(8)}
    saving, loading = [], []
    hurray.save(path, tensors, progress=record(saving))
    hurray.load(path, mmap=mapped, progress=record(loading))
    for calls in (saving, loading):
        assert calls
        assert sorted(calls) == calls
        assert len({total for _, total in calls}) == 1
        assert calls[-1][0] == calls[-1][1]


@pytest.mark.parametrize("mapped", [True, False], ids=["mapped", "in-memory"])
@pytest.mark.parametrize(
    ("names", "total"),
    [(["a"], 8 << 10), (["c"], 3 << 10), (["c.1"], 2 << 10), (["n"], 4 << 10), (["b", "a"], 8704)],
    ids=str,
)
def test_progress_is_about_the_wanted_tensors(path, mapped, names, total):
    small, middle = tensor(np.zeros(1 << 10), np.int8), tensor(np.zeros(2 << 10), np.int8)
    group = hurray.Composite("group", shape=[], dtype=hurray.int8, members=[small, middle])
    nested = hurray.Composite("group", shape=[], dtype=hurray.int8, members=[group, small])
    large = tensor(np.zeros(8 << 10), np.int8)
    b = tensor(np.zeros(512), np.int8)
    hurray.save(path, {"a": large, "c": group, "n": nested, "b": b})
    calls = []
    hurray.load(path, names=names, mmap=mapped, progress=record(calls))
    assert calls[-1] == (total, total)
    assert {call[1] for call in calls} == {total}


class Enough(Exception):
    pass


def give_up(done, total):
    if done:
        raise Enough


def test_what_progress_raises_ends_a_save_and_the_old_file_stays(weights):
    before = weights.read_bytes()
    with pytest.raises(Enough):
        hurray.save(weights, {"w": tensor(np.zeros(1 << 20))}, progress=give_up)
    check_nothing_changed(weights, before)


def test_what_progress_raises_ends_a_load(path):
    hurray.save(path, {"w": tensor(np.zeros(1 << 20))})
    with pytest.raises(Enough):
        hurray.load(path, mmap=False, progress=give_up)


def test_progress_is_callable(weights):
    for call in (
        lambda: hurray.load(weights, progress=3),
        lambda: hurray.save(weights, {}, progress=3),
    ):
        with pytest.raises(TypeError):
            call()


# ---- threads


def test_saving_and_loading_let_other_threads_run(path):
    """Each thread saves into a FIFO that the other empties: with the GIL held, none would end."""
    fifos = [path.with_name(name) for name in ("a", "b")]
    for fifo in fifos:
        os.mkfifo(fifo)
    large = {"w": tensor(np.zeros(1 << 20))}
    results = {}

    def work(mine, other):
        writer = threading.Thread(target=hurray.save, args=(fifos[mine], large))
        writer.start()
        results[mine] = len(fifos[other].read_bytes())
        writer.join()

    threads = [threading.Thread(target=work, args=pair) for pair in ((0, 1), (1, 0))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert results[0] == results[1] > 1 << 22


def test_threads_share_a_file(weights):
    failures = []

    def work():
        try:
            for _ in range(50):
                assert np.asarray(hurray.load(weights)["w"]).tolist() == [[1, 2], [3, 4]]
                hurray.save(weights, hurray.load(weights, mmap=False))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert os.listdir(weights.parent) == [weights.name]


# ---- composites


def rows(first, last):
    top, low = (
        hurray.Tensor(
            np.full(8, value, np.float32),
            hurray.float32,
            [2, 4],
            shard=hurray.Shard([4, 4], [2 * i, 0]),
        )
        for i, value in enumerate((first, last))
    )
    return hurray.Composite("partition", shape=[4, 4], dtype=hurray.float32, members=[top, low])


def group(*members):
    return hurray.Composite("group", shape=[], dtype=hurray.int8, members=members)


@pytest.mark.parametrize("mapped", [True, False], ids=["mapped", "in-memory"])
def test_composites_come_back_under_their_own_name(path, mapped):
    whole = rows(1, 2)
    hurray.save(path, {"a": tensor([1]), "w": whole, "z": tensor([2])})
    loaded = hurray.load(path, mmap=mapped)
    assert list(loaded) == ["a", "w", "z"]
    assert loaded["w"] == whole
    assert [np.asarray(m)[0, 0] for m in loaded["w"].members] == [1, 2]


def test_composites_nest(path):
    nested = group(tensor([1]), group(tensor([2]), rows(3, 4)), tensor([5]))
    hurray.save(path, {"w": nested})
    loaded = hurray.load(path)["w"]
    assert loaded == nested
    assert np.asarray(loaded.members[1].members[1].members[1])[0, 0] == 4


def test_members_have_names_of_their_own(path):
    hurray.save(path, {"w": group(tensor([1]), group(tensor([2]), tensor([3])))})
    chosen = hurray.load(path, names=["w.1.0", "w.0"])
    assert list(chosen) == ["w.1.0", "w.0"]
    assert [np.asarray(t).tolist() for t in chosen.values()] == [[2], [1]]
    both = hurray.load(path, names=["w.1", "w", "w.0"])
    assert list(both) == ["w.1", "w", "w.0"]
    assert both["w"].member_count == 2
    assert both["w.1"].member_count == 2


def test_roles_belong_to_the_composite(path):
    base = hurray.Tensor(bytes(4), hurray.int8, [4], shard=hurray.Shard([4], [0]))
    fix = hurray.Tensor(bytes(2), hurray.int8, [2], shard=hurray.Shard([4], [1]))
    overlay = hurray.Composite(
        "overlay", shape=[4], dtype=hurray.int8, members=[base, fix], combine_op="replace"
    )
    hurray.save(path, {"w": overlay, "base": base})
    loaded = hurray.load(path)
    assert loaded["w"].member_roles == ("base", "correction")
    again = path.with_name("again")
    hurray.save(again, {"base": loaded["w"].members[0]})
    assert hurray.load(again)["base"].descriptor == base.descriptor


def test_the_bytes_of_composites_are_those_of_the_format(path):
    hurray.save(path, {"w": rows(1, 2)})
    parts = [
        wire.tensor(
            "float32", (2, 4), struct.pack("<8f", *[v] * 8), shard=wire.shard((4, 4), (o, 0))
        )
        for v, o in ((1, 0), (2, 2))
    ]
    expected = wire.container({"w": wire.composite("partition", "float32", (4, 4), *parts)})
    assert path.read_bytes() == expected


def test_heads_may_be_padded(path):
    """The reference implementation pads them."""
    parts = [
        wire.tensor("int8", (1,), b"a", shard=wire.shard((2,), (0,))),
        wire.tensor("int8", (1,), b"b", shard=wire.shard((2,), (1,))),
    ]
    whole = wire.composite("partition", "int8", (2,), *parts)
    path.write_bytes(wire.container({"w": whole}, pad_heads=True))
    assert [bits(m) for m in hurray.load(path)["w"].members] == [b"a", b"b"]


@pytest.mark.parametrize("other", ["w.0", "w.1"])
def test_names_of_members_are_taken(path, other):
    for tensors in ({"w": rows(1, 2), other: tensor([1])}, {other: tensor([1]), "w": rows(1, 2)}):
        with pytest.raises(hurray.FileError, match=r"w\.[01]"):
            hurray.save(path, tensors)
    assert not path.exists()


def test_names_that_only_look_like_those_of_members_are_free(path):
    hurray.save(
        path, {"w": rows(1, 2), "w.2": tensor([1]), "w.00": tensor([2]), "v.0": tensor([3])}
    )
    assert list(hurray.load(path)) == ["w", "w.2", "w.00", "v.0"]


def test_the_name_of_a_member_may_be_too_long(path):
    with pytest.raises(hurray.FileError):
        hurray.save(path, {"n" * 65534: group(tensor([1]))})


PART = wire.tensor("int8", (1,), b"a", shard=wire.shard((2,), (0,)))


@pytest.mark.parametrize(
    ("members", "count"),
    [
        pytest.param([PART], 1, id="gap"),
        pytest.param([PART, PART], 2, id="overlap"),
        pytest.param([PART], 2, id="torn"),
    ],
)
def test_composites_that_are_none_are_refused(path, members, count):
    whole = wire.composite("partition", "int8", (2,), *members, count=count)
    path.write_bytes(wire.container({"w": whole}))
    with pytest.raises((hurray.InvalidDescriptorError, hurray.FileError)):
        hurray.load(path)
    if len(members) == count:
        assert bits(hurray.load(path, names=["w.0"])["w.0"]) == b"a"


# ---- permissive


@pytest.mark.parametrize("mapped", [True, False], ids=["mapped", "in-memory"])
def test_an_unknown_layout_is_read_only_on_demand(path, mapped):
    known = wire.tensor("int8", (4,), b"abcd")
    unknown = wire.tensor("int8", (4,), b"efgh", layout=model.Unknown(0x0C, bytes(range(12))))
    path.write_bytes(wire.container({"known": known, "unknown": unknown}))
    with pytest.raises(hurray.InvalidDescriptorError, match="0x0C"):
        hurray.load(path, mmap=mapped)
    assert list(hurray.load(path, names=["known"], mmap=mapped)) == ["known"]
    loaded = hurray.load(path, mmap=mapped, permissive=True)
    assert loaded["unknown"].layout == hurray.UnknownLayout(0x0C, bytes(range(12)))
    assert bits(loaded["unknown"].buffer(0)) == b"efgh"
    before = path.read_bytes()
    hurray.save(path, loaded)
    assert path.read_bytes() == before


def test_messages_show_all_of_a_name():
    data = bytearray(hurray.dumps({"a\0b\n\x1b[0m": hurray.zeros([3])}))
    data[data.index(b"HRRY\x01") + 14] = 0x47  # no element type
    with pytest.raises(
        hurray.InvalidDescriptorError, match=r"a\\x00b\\x0a\\x1b\[0m.*type_tag is 0x47"
    ):
        hurray.loads(bytes(data))
    with pytest.raises(hurray.UnsupportedError, match=r"a\\x00b.*Composite"):
        hurray.dumps({"a\0b": 3})


# ---- the empty path


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda: hurray.save("", {}), id="save"),
        pytest.param(lambda: hurray.load(""), id="load"),
        pytest.param(lambda: hurray.load_kv(""), id="load_kv"),
        pytest.param(lambda: hurray.open(""), id="open"),
        pytest.param(lambda: hurray.verify(""), id="verify"),
        pytest.param(lambda: hurray.StreamReader(""), id="StreamReader"),
        pytest.param(lambda: hurray.StreamWriter(""), id="StreamWriter"),
    ],
)
def test_an_empty_path_is_a_file_that_is_not_there(call):
    with pytest.raises(hurray.FileError) as caught:
        call()
    assert isinstance(caught.value, FileNotFoundError)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, "")


# ---- names that are none


@pytest.mark.parametrize("name", [None, (), (1, 2), 3, "none", "\ud800"], ids=ascii)
def test_a_key_that_is_not_there_is_in_the_error(weights, name):
    with hurray.open(weights) as file:
        with pytest.raises(KeyError) as caught:
            file[name]
        assert caught.value.args == (name,)
        if isinstance(name, str):
            with pytest.raises(KeyError) as caught:
                file.descriptor(name)
            assert caught.value.args == (name,)


@pytest.mark.parametrize(
    "value",
    [np.array(["text"]), np.ma.array([1.0]), np.zeros(2, np.longdouble)],
    ids=["text", "masked", "longdouble"],
)
def test_what_cannot_be_saved_is_named(path, value):
    for call in (lambda: hurray.save(path, {"w": value}), lambda: hurray.dumps({"w": value})):
        with pytest.raises(hurray.UnsupportedError, match=r"^tensors\['w'\]: "):
            call()
    assert not path.exists()


# ---- verify


@pytest.mark.parametrize("size", [0, 1])
def test_an_unknown_layout_is_one_problem_among_sound_tensors(path, size):
    unknown = hurray.Tensor(
        bytes(4 * size), hurray.float32, [size], layout=hurray.UnknownLayout(0x0C)
    )
    group = hurray.Composite("group", shape=[], dtype=hurray.float32, members=[unknown])
    hurray.save(path, {"a": tensor([1]), "u": unknown, "g": group, "b": tensor([2])})
    report = hurray.verify(path)
    assert report.tensor_count == 4
    assert [problem[:2] for problem in report.problems] == [("u", "tensor"), ("g.0", "tensor")]
    for _, _, message in report.problems:
        assert "0x0C, which is reserved" in message
    with pytest.raises(hurray.InvalidDescriptorError, match="tensor 'u': layout_tag"):
        hurray.verify(path, raise_on_error=True)
