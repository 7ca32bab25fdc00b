import inspect
import itertools
import sys

import pytest
from instances import copies, in_threads, references_left

import hurray

KINDS = {
    "cpu": 0x00,
    "cuda": 0x01,
    "rocm": 0x02,
    "metal": 0x03,
    "vulkan": 0x04,
    "webgpu": 0x05,
    "hexagon": 0x06,
    "level_zero": 0x07,
    "opencl": 0x08,
}
CLASSES = {"standard": 0x00, "host_pinned": 0x01, "unified": 0x02, "peer": 0x03}
PRIVATE = range(0xF0, 0xFF)
INT32_MAX = 2**31 - 1


@pytest.mark.parametrize(("kind", "tag"), KINDS.items())
@pytest.mark.parametrize(("memory_class", "class_tag"), CLASSES.items())
def test_names_and_bytes_mean_the_same(kind, tag, memory_class, class_tag):
    device = hurray.Device(kind, 2, memory_class)
    assert (device.kind, device.device_id, device.memory_class) == (kind, 2, memory_class)
    assert (device.tag, device.memory_class_tag) == (tag, class_tag)
    assert device.is_private is False
    assert hurray.Device(tag, 2, class_tag) == device
    assert hash(hurray.Device(tag, 2, class_tag)) == hash(device)


def test_defaults():
    device = hurray.Device("cuda")
    assert (device.device_id, device.memory_class) == (0, "standard")
    assert hurray.Device("cuda", None, None) == device


def test_arguments_have_names():
    assert hurray.Device(memory_class="unified", device_id=1, kind="cuda") == hurray.Device(
        "cuda", 1, "unified"
    )


@pytest.mark.parametrize("tag", PRIVATE, ids=hex)
def test_private_bytes_are_accepted(tag):
    device = hurray.Device(tag, 3, tag)
    assert (device.kind, device.memory_class) == ("private", "private")
    assert (device.tag, device.memory_class_tag) == (tag, tag)
    assert device.is_private is True


def test_a_named_kind_may_have_a_private_class():
    device = hurray.Device("cuda", 0, memory_class=0xF1)
    assert device.memory_class_tag == 0xF1
    assert device.is_private is False


@pytest.mark.parametrize("device_id", [0, 1, INT32_MAX])
def test_device_ids_go_up_to_int32(device_id):
    assert hurray.Device("cuda", device_id).device_id == device_id


# ---- rejections


@pytest.mark.parametrize(
    "kind", ["", "CPU", "Cuda", "private", "tpu", "cpu ", "cpu:0", "cpu\0", "\ud800"]
)
def test_unknown_kinds_are_rejected(kind):
    with pytest.raises(hurray.InvalidDescriptorError) as caught:
        hurray.Device(kind)
    for name in KINDS:
        assert name in str(caught.value)
    assert "byte" in str(caught.value)


@pytest.mark.parametrize(
    "memory_class", ["", "Standard", "private", "pinned", "standard ", "\ud800"]
)
def test_unknown_memory_classes_are_rejected(memory_class):
    with pytest.raises(hurray.InvalidDescriptorError) as caught:
        hurray.Device("cpu", 0, memory_class)
    for name in CLASSES:
        assert name in str(caught.value)
    assert "byte" in str(caught.value)


@pytest.mark.parametrize(
    "tag", [*range(0x09, 0xF0), 0xFF, -1, 256, 2**40, -(2**70), 2**70], ids=hex
)
def test_kind_bytes_without_meaning_are_rejected(tag):
    with pytest.raises(hurray.InvalidDescriptorError):
        hurray.Device(tag)


@pytest.mark.parametrize("tag", [*range(0x04, 0xF0), 0xFF, -1, 256, 2**70], ids=hex)
def test_class_bytes_without_meaning_are_rejected(tag):
    with pytest.raises(hurray.InvalidDescriptorError):
        hurray.Device("cpu", 0, tag)


@pytest.mark.parametrize("wrong", [3.5, b"cpu", ["cpu"], object()], ids=repr)
def test_kinds_and_classes_are_names_or_bytes(wrong):
    with pytest.raises(hurray.InvalidDescriptorError):
        hurray.Device(wrong)
    with pytest.raises(hurray.InvalidDescriptorError):
        hurray.Device("cpu", 0, wrong)


def test_no_kind_is_rejected():
    with pytest.raises(hurray.InvalidDescriptorError):
        hurray.Device(None)


@pytest.mark.parametrize("device_id", [-1, -(2**31)])
def test_negative_device_ids_are_rejected(device_id):
    with pytest.raises(hurray.InvalidDescriptorError):
        hurray.Device("cuda", device_id)


@pytest.mark.parametrize("device_id", [2**31, -(2**31) - 1, 2**64, -(2**64)])
def test_device_ids_beyond_int32_overflow(device_id):
    with pytest.raises(OverflowError):
        hurray.Device("cuda", device_id)


@pytest.mark.parametrize("device_id", [1.0, "1", b"1", [1]], ids=repr)
def test_device_ids_are_integers(device_id):
    with pytest.raises(TypeError):
        hurray.Device("cuda", device_id)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((), {}),
        (("cpu", 0, "standard", 1), {}),
        (("cpu",), {"kind": "cpu"}),
        (("cpu",), {"index": 0}),
    ],
    ids=["none", "four", "twice", "unknown"],
)
def test_wrong_argument_lists_are_type_errors(args, kwargs):
    with pytest.raises(TypeError):
        hurray.Device(*args, **kwargs)


# ---- text, equality, hash


@pytest.mark.parametrize(
    ("device", "text"),
    [
        (
            hurray.Device("cuda", 1, "unified"),
            "hurray.Device(kind='cuda', device_id=1, memory_class='unified')",
        ),
        (
            hurray.Device(0xF2),
            "hurray.Device(kind='private' (0xF2), device_id=0, memory_class='standard')",
        ),
        (
            hurray.Device("cuda", 0, 0xF1),
            "hurray.Device(kind='cuda', device_id=0, memory_class='private' (0xF1))",
        ),
    ],
    ids=["named", "private-kind", "private-class"],
)
def test_repr_names_the_three_parts(device, text):
    assert repr(device) == text
    assert str(device) == text


@pytest.mark.parametrize("kind", KINDS)
def test_repr_evaluates_to_an_equal_object(kind):
    device = hurray.Device(kind, 7, "peer")
    assert eval(repr(device), {"hurray": hurray}) == device


def test_equality_is_over_all_three_parts():
    parts = list(itertools.product(["cpu", "cuda", 0xF0], [0, 1], ["standard", "unified", 0xF1]))
    devices = [hurray.Device(*p) for p in parts]
    for a, b in itertools.product(range(len(parts)), repeat=2):
        assert (devices[a] == hurray.Device(*parts[b])) is (a == b)
        assert (devices[a] != hurray.Device(*parts[b])) is (a != b)
    assert len({*devices, *(hurray.Device(*p) for p in parts)}) == len(parts)


@pytest.mark.parametrize("other", ["cpu", 0, None, ("cpu", 0, "standard")], ids=repr)
def test_it_equals_no_other_kind_of_object(other):
    assert hurray.device.cpu != other
    assert hurray.device.cpu.__eq__(other) is NotImplemented


def test_it_has_no_order():
    with pytest.raises(TypeError):
        hurray.Device("cpu") < hurray.Device("cuda")


# ---- constants


@pytest.mark.parametrize("kind", KINDS)
def test_constants_are_the_standard_devices(kind):
    constant = getattr(hurray.device, kind)
    assert constant == hurray.Device(kind)
    assert (constant.kind, constant.device_id, constant.memory_class) == (kind, 0, "standard")


def test_the_submodule_holds_the_constants_and_nothing_else():
    assert inspect.ismodule(hurray.device)
    assert sys.modules["hurray.device"] is hurray.device
    assert {n for n in vars(hurray.device) if not n.startswith("_")} == set(KINDS)
    from hurray.device import cpu

    assert cpu is hurray.device.cpu


def test_devices_are_dictionary_keys():
    names = {hurray.device.cpu: "cpu0"}
    assert names[hurray.Device("cpu")] == "cpu0"


@pytest.mark.parametrize("kind", KINDS)
def test_copies_of_constants_are_the_same_object(kind):
    constant = getattr(hurray.device, kind)
    for twin in copies(constant):
        assert twin is constant


@pytest.mark.parametrize(
    "device",
    [hurray.Device("cuda", 1), hurray.Device(0xF2, 3, 0xF1), hurray.Device("cpu", 0, "unified")],
    ids=repr,
)
def test_copies_are_equal(device):
    for twin in copies(device):
        assert twin == device


# ---- references, threads


def test_instances_leave_no_references():
    left = references_left(hurray.Device, lambda: hurray.Device("cuda", 1, "unified"))
    assert left == 0


def test_rejected_instances_leave_no_references():
    def make():
        with pytest.raises(hurray.InvalidDescriptorError):
            hurray.Device("tpu")

    left = references_left(hurray.Device, make)
    assert left == 0


def test_threads_share_instances():
    shared = hurray.Device("cuda", 1, "unified")

    def work():
        assert shared == hurray.Device("cuda", 1, "unified")
        assert hash(shared) == hash(hurray.Device("cuda", 1, "unified"))
        assert repr(shared) == "hurray.Device(kind='cuda', device_id=1, memory_class='unified')"

    in_threads(work)
