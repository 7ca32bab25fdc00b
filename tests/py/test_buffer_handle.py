import pytest
from instances import copies, in_threads, references_left

import hurray


@pytest.fixture
def tensor():
    return hurray.Tensor(bytes(16), hurray.float32, [4])


@pytest.fixture
def handle(tensor):
    return tensor.buffer_handles[0]


def test_it_tells_what_the_buffer_declares(tensor, handle):
    assert handle.byte_size == 16
    assert handle.alignment >= hurray.MIN_BUFFER_ALIGNMENT
    assert handle.alignment & (handle.alignment - 1) == 0
    assert handle.sync_mode == "producer_synced"
    assert handle.is_empty is False
    assert handle.device is tensor.device


def test_an_empty_buffer_needs_no_alignment():
    handle = hurray.Tensor(b"", hurray.float32, [0]).buffer_handles[0]
    assert handle.byte_size == 0
    assert handle.is_empty is True
    assert handle.alignment == 1


def test_it_keeps_the_device_that_was_given():
    device = hurray.Device("cuda", 3)
    tensor = hurray.Tensor(bytes(16), hurray.float32, [4], device)
    assert tensor.device is device
    assert tensor.buffer_handles[0].device is device


def test_there_is_one_for_each_buffer():
    tensor = hurray.Tensor(bytes(16), hurray.float32, [4], aux_buffers=[bytes(8), b""])
    assert [handle.byte_size for handle in tensor.buffer_handles] == [16, 8, 0]
    assert all(handle.device is tensor.device for handle in tensor.buffer_handles)


def test_it_pins_no_memory(handle, tensor):
    twin = tensor.buffer_handles[0]
    del tensor
    assert twin == handle


def test_repr_shows_every_field(handle):
    assert repr(handle) == (
        f"BufferHandle(byte_size=16, alignment={handle.alignment}, sync_mode='producer_synced', "
        "device=hurray.Device(kind='cpu', device_id=0, memory_class='standard'))"
    )


def test_it_is_not_constructible():
    with pytest.raises(TypeError):
        hurray.BufferHandle()
    with pytest.raises(TypeError):
        hurray.BufferHandle(16, 64, "producer_synced", hurray.device.cpu)


def test_equality_is_by_value(handle):
    twin = hurray.Tensor(bytes(16), hurray.int8, [16]).buffer_handles[0]
    assert twin == handle
    assert hash(twin) == hash(handle)
    assert handle != hurray.Tensor(bytes(17), hurray.int8, [17]).buffer_handles[0]
    cuda = hurray.Tensor(bytes(16), hurray.float32, [4], hurray.device.cuda).buffer_handles[0]
    second_cuda = hurray.Tensor(bytes(16), hurray.float32, [4], hurray.Device("cuda", 1))
    assert handle != cuda
    assert cuda != second_cuda.buffer_handles[0]
    assert handle != 16
    assert handle.__eq__(16) is NotImplemented


def test_it_has_no_order(handle):
    with pytest.raises(TypeError):
        handle < handle


def test_copies_are_equal(handle):
    for twin in copies(handle):
        assert twin == handle
        assert twin.device is hurray.device.cpu


def test_instances_leave_no_references(tensor):
    left = references_left(hurray.BufferHandle, lambda: tensor.buffer_handles)
    assert left == 0


def test_threads_share_instances(tensor, handle):
    def work():
        assert tensor.buffer_handles[0] == handle
        assert hash(tensor.buffer_handles[0]) == hash(handle)
        assert handle.device is tensor.device

    in_threads(work)
