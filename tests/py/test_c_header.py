"""The C header as a third party uses it: an extension in plain C, built here with nothing but the
installed package's include folder."""

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

import hurray

SOURCE = Path(__file__).parent / "consumer_extension" / "consumer.c"
COMPILER = os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc")


@pytest.fixture(scope="module")
def consumer(tmp_path_factory):
    assert COMPILER, "a C compiler is needed, as for building hurray itself"
    target = tmp_path_factory.mktemp("consumer") / (
        "consumer" + sysconfig.get_config_var("EXT_SUFFIX")
    )
    subprocess.run(
        [
            *(COMPILER, "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-g"),
            *(f"-I{sysconfig.get_paths()['include']}", f"-I{hurray.get_include()}"),
            *(str(SOURCE), "-o", str(target)),
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    spec = importlib.util.spec_from_file_location("consumer", target)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Relay:
    """Hands on whatever capsule it was given."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __hurray__(self, stream=None):
        return self.capsule


def float32_tensor(layout=None, shape=(2, 3)):
    values = np.arange(6, dtype=np.float32).tobytes()
    return hurray.Tensor(values, hurray.float32, list(shape), layout=layout)


DESCRIPTOR = hurray.Tensor(bytes(16), hurray.float32, [4]).descriptor.encode()


def test_the_header_is_c99_on_its_own(tmp_path):
    source = tmp_path / "alone.c"
    source.write_text("#include <hurray/hurray.h>\nint main(void) { return 0; }\n")
    subprocess.run(
        [
            *(COMPILER, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"),
            *(f"-I{hurray.get_include()}", "-fsyntax-only", str(source)),
        ],
        check=True,
    )


# ---- consuming


@pytest.mark.parametrize(
    "layout",
    [
        hurray.RowMajorLayout(),
        hurray.ColMajorLayout(),
        hurray.StridedLayout([3, 1]),
    ],
    ids=lambda layout: layout.name,
)
def test_dense_tensors_are_summed(consumer, layout):
    assert consumer.sum(float32_tensor(layout)) == 15


def test_broadcast_and_empty_tensors_are_summed(consumer):
    assert consumer.sum(float32_tensor(hurray.StridedLayout([0, 2]), (4, 2))) == 8
    assert consumer.sum(hurray.Tensor(b"", hurray.float32, [0, 5])) == 0
    assert consumer.sum(hurray.full([], 2.5, dtype=hurray.float32)) == 2.5


@pytest.mark.parametrize(
    ("tensor", "error"),
    [
        pytest.param(hurray.Tensor(b"\1", hurray.bool, [8]), hurray.UnsupportedError, id="packed"),
        pytest.param(
            hurray.Tensor(bytes(16), hurray.float32, [None]), hurray.UnsupportedError, id="dynamic"
        ),
        pytest.param(
            float32_tensor(hurray.StridedLayout([0, 0]), (2**62, 2**62)),
            hurray.UnsupportedError,
            id="more-than-an-address-space",
        ),
        pytest.param(
            hurray.Tensor(bytes(16), hurray.float32, [4], hurray.device.cuda),
            hurray.UnsupportedError,
            id="off-the-cpu",
        ),
        pytest.param(
            hurray.Tensor(bytes(64), hurray.float32, [4, 4], layout=hurray.MortonLayout([2, 2])),
            hurray.UnsupportedError,
            id="morton",
        ),
        pytest.param(hurray.ones([2]), TypeError, id="float64"),
        pytest.param(np.ones(2, np.float32), TypeError, id="array"),
    ],
)
def test_what_cannot_be_borrowed_is_refused(consumer, tensor, error):
    with pytest.raises(error):
        consumer.sum(tensor)


def test_check_tells_tensors(consumer):
    assert consumer.check(hurray.ones([2])) is True
    assert consumer.check(np.ones(2)) is False
    assert consumer.check(hurray.float32) is False


def test_a_view_of_an_older_header_is_refused(consumer):
    with pytest.raises(ValueError, match="struct_size"):
        consumer.borrow_with_size(hurray.ones([2]), 8)
    consumer.borrow_with_size(hurray.ones([2]), 4096)


def test_a_capsule_is_read_without_the_module(consumer):
    values = np.array([1.0, 2.0], dtype=np.float32)
    indices = np.array([[0, 1], [2, 0]], dtype=np.uint64)
    tensor = hurray.sparse_coo(values, indices, [3, 2])
    descriptor, buffers, flags = consumer.take(tensor)
    assert descriptor == tensor.descriptor.encode()
    assert buffers == [values.tobytes(), indices.tobytes()]
    assert flags == [0, 0]


def test_a_consumed_capsule_leaves_no_reference(consumer):
    tensor = hurray.ones([4])
    before = sys.getrefcount(tensor)
    for _ in range(100):
        consumer.take(tensor)
    after = sys.getrefcount(tensor)
    assert after == before


# ---- producing


def test_tensors_are_made_of_foreign_memory(consumer):
    before = consumer.released()
    tensor = consumer.make(1000)
    assert tensor.dtype is hurray.float32
    assert tensor.shape == (1000,)
    assert not tensor.owns_data
    assert np.array_equal(np.asarray(tensor), np.arange(1000, dtype=np.float32))
    array = np.asarray(tensor)[10:]
    del tensor
    assert consumer.released() == before
    assert array[0] == 10
    del array
    assert consumer.released() == before + 1


def test_a_descriptor_and_buffers_make_a_tensor(consumer):
    before = consumer.released()
    tensor = consumer.make_from(DESCRIPTOR, np.arange(4, dtype=np.float32).tobytes(), 16, 0)
    assert np.asarray(tensor).tolist() == [0, 1, 2, 3]
    assert tensor.descriptor.encode() == DESCRIPTOR
    del tensor
    assert consumer.released() == before + 1


@pytest.mark.parametrize(
    ("descriptor", "size", "shift", "error"),
    [
        pytest.param(DESCRIPTOR[:-1], 16, 0, hurray.InvalidDescriptorError, id="descriptor"),
        pytest.param(DESCRIPTOR, 15, 0, hurray.BufferError, id="size"),
        pytest.param(DESCRIPTOR, 16, 4, hurray.BufferError, id="alignment"),
        pytest.param(DESCRIPTOR, 2**64 - 1, 0, hurray.BufferError, id="absurd-size"),
        pytest.param(
            hurray.Composite("group", shape=[], dtype=hurray.int8, members=[]).descriptor.encode(),
            *(16, 0, hurray.UnsupportedError),
            id="composite-head",
        ),
    ],
)
def test_what_makes_no_tensor_is_released_all_the_same(consumer, descriptor, size, shift, error):
    before = consumer.released()
    with pytest.raises(error):
        consumer.make_from(descriptor, bytes(16), size, shift)
    assert consumer.released() == before + 1


# ---- capsules of others


def test_a_foreign_capsule_is_taken_over(consumer):
    before = consumer.released()
    tensor = hurray.from_hurray(Relay(consumer.forge(DESCRIPTOR, "")))
    assert np.asarray(tensor).tolist() == [0, 1, 2, 3]
    assert tensor.is_writable
    del tensor
    assert consumer.released() == before + 1


def test_read_only_memory_stays_read_only(consumer):
    tensor = hurray.from_hurray(Relay(consumer.forge(DESCRIPTOR, "read-only")))
    assert not tensor.is_writable
    assert not np.asarray(tensor).flags.writeable


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("abi", hurray.UnsupportedError),
        ("list-abi", hurray.UnsupportedError),
        ("magic", hurray.UnsupportedError),
        ("list-magic", hurray.UnsupportedError),
        ("struct-size", hurray.UnsupportedError),
        ("buffer-step", hurray.BufferError),
        ("no-buffers", hurray.BufferError),
        ("no-descriptor", hurray.BufferError),
        ("count", hurray.InvalidDescriptorError),
        ("small", hurray.BufferError),
        ("null-data", hurray.BufferError),
        ("unaligned", hurray.BufferError),
        ("short-descriptor", hurray.InvalidDescriptorError),
        ("long-descriptor", hurray.InvalidDescriptorError),
    ],
)
def test_a_faulty_capsule_is_refused_and_released_once(consumer, fault, error):
    before = consumer.released()
    capsule = consumer.forge(DESCRIPTOR, fault)
    with pytest.raises(error):
        hurray.from_hurray(Relay(capsule))
    del capsule
    assert consumer.released() == before + 1


@pytest.mark.parametrize("fault", ["name", "used", "no-context"])
def test_a_capsule_that_is_none_of_ours_is_left_alone(consumer, fault):
    before = consumer.released()
    with pytest.raises(hurray.BufferError, match="consumed" if fault == "used" else "capsule"):
        hurray.from_hurray(Relay(consumer.forge(DESCRIPTOR, fault)))
    assert consumer.released() == before
