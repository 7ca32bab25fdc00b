"""DLPack in both directions, spoken by hand through ctypes as well as with NumPy and torch."""

import ctypes
import gc
import sys
import threading
import weakref

import numpy as np
import pytest
from arrays import NUMPY_1, SAME_MEMORY_TYPES, address_of, array_at
from subprocesses import run_python

import hurray

READ_ONLY, COPIED = 1, 2


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Legacy(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    ]


api = ctypes.pythonapi
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_GetName.restype = ctypes.c_char_p
api.PyCapsule_GetName.argtypes = [ctypes.py_object]
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def content(capsule):
    """The struct in a capsule of either kind."""
    name = api.PyCapsule_GetName(capsule)
    kind = Versioned if name == b"dltensor_versioned" else Legacy
    return ctypes.cast(api.PyCapsule_GetPointer(capsule, name), ctypes.POINTER(kind)).contents


class Handed:
    """Hands over a capsule that there is already."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_):
        return self.__dict__.pop("capsule")


class Producer:
    """An object that hands out one forged capsule and counts calls of its deleter."""

    def __init__(self, kind=Versioned, shape=(4,), name=None, **fields):
        self.memory = array_at(64, np.arange(64, dtype=np.float32))
        self.deleted = 0
        self.managed = kind()
        self.deleter = DELETER(self._delete)
        self.managed.deleter = ctypes.cast(self.deleter, ctypes.c_void_p)
        if kind is Versioned:
            self.managed.major, self.managed.minor = fields.pop("version", (1, 3))
            self.managed.flags = fields.pop("flags", 0)
        if fields.pop("no_deleter", False):
            self.managed.deleter = None
        tensor = self.managed.tensor
        tensor.data = self.memory.ctypes.data
        tensor.device_type = 1
        tensor.code, tensor.bits, tensor.lanes = 2, 32, 1
        tensor.ndim = len(shape)
        self.shape = (ctypes.c_int64 * max(1, len(shape)))(*shape)
        tensor.shape = self.shape
        strides = fields.pop("strides", None)
        if strides is not None:
            self.strides = (ctypes.c_int64 * len(strides))(*strides)
            tensor.strides = self.strides
        for field, value in fields.items():
            setattr(tensor, field, value)
        self.name = name or (b"dltensor_versioned" if kind is Versioned else b"dltensor")
        self.capsule = api.PyCapsule_New(ctypes.addressof(self.managed), self.name, None)

    def _delete(self, _):
        self.deleted += 1

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


# ---- export


@pytest.mark.parametrize("dtype", SAME_MEMORY_TYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)], ids=str)
def test_numpy_reads_what_is_exported(dtype, shape):
    tensor = hurray.zeros(shape, dtype=dtype)
    array = np.from_dlpack(tensor)
    assert array.dtype == SAME_MEMORY_TYPES[dtype]
    assert array.shape == shape
    if array.size:
        assert array.ctypes.data == address_of(np.asarray(tensor))


@pytest.mark.parametrize(
    ("dtype", "code", "minor"),
    [
        (hurray.bfloat16, (4, 16), 0),
        (hurray.dtype.float8_e4m3, (10, 8), 1),
        (hurray.dtype.float8_e5m2, (12, 8), 1),
        (hurray.dtype.float8_e8m0, (14, 8), 1),
        (hurray.float32, (2, 32), 0),
        (hurray.dtype.complex64, (5, 64), 0),
        (hurray.uint16, (1, 16), 0),
    ],
    ids=str,
)
def test_types_have_their_codes_and_the_lowest_version(dtype, code, minor):
    tensor = hurray.Tensor(bytes(8 * 16), dtype, [8])
    capsule = tensor.__dlpack__(max_version=(1, 3))
    managed = content(capsule)
    assert (managed.tensor.code, managed.tensor.bits) == code
    assert managed.tensor.lanes == 1
    assert (managed.major, managed.minor) == (1, minor)


@pytest.mark.parametrize(
    ("layout", "strides"),
    [
        (hurray.RowMajorLayout(), [3, 1]),
        (hurray.ColMajorLayout(), [1, 2]),
        (hurray.StridedLayout([3, 1]), [3, 1]),
    ],
    ids=str,
)
def test_strides_are_explicit(layout, strides):
    tensor = hurray.Tensor(bytes(24), hurray.float32, [2, 3], layout=layout)
    for version in (None, (1, 0)):
        capsule = tensor.__dlpack__(max_version=version)
        dltensor = content(capsule).tensor
        assert dltensor.strides[:2] == strides
        assert dltensor.shape[:2] == [2, 3]
        assert dltensor.byte_offset == 0


@pytest.mark.parametrize(
    ("max_version", "name"),
    [
        (None, b"dltensor"),
        ((0, 8), b"dltensor"),
        ((1, 0), b"dltensor_versioned"),
        ((2, 0), b"dltensor_versioned"),
    ],
    ids=str,
)
def test_the_kind_of_capsule_follows_max_version(max_version, name):
    assert api.PyCapsule_GetName(hurray.ones([2]).__dlpack__(max_version=max_version)) == name


def test_read_only_memory_is_flagged_or_refused():
    tensor = hurray.Tensor(
        array_at(64, np.zeros(4)).data.toreadonly(), hurray.float64, [4], copy=False
    )
    shared = tensor.__dlpack__(max_version=(1, 0))
    assert content(shared).flags == READ_ONLY
    with pytest.raises(BufferError, match="read-only"):
        tensor.__dlpack__()
    copied = tensor.__dlpack__(max_version=(1, 0), copy=True)
    assert content(copied).flags == COPIED


@pytest.mark.skipif(NUMPY_1, reason="it asks for capsules without flags")
def test_numpy_sees_read_only_memory_as_such():
    tensor = hurray.Tensor(
        array_at(64, np.zeros(4)).data.toreadonly(), hurray.float64, [4], copy=False
    )
    assert not np.from_dlpack(tensor).flags.writeable


def test_many_consumers_hold_one_tensor():
    tensor = hurray.arange(4)
    alive = weakref.ref(tensor)
    capsules = [tensor.__dlpack__(max_version=(1, 0)) for _ in range(5)]
    assert len({api.PyCapsule_GetPointer(c, b"dltensor_versioned") for c in capsules}) == 5
    # Dropped and consumed in another order than they were made in, with new ones in between.
    del capsules[0]
    taken = [hurray.from_dlpack(Handed(capsules.pop(1)))]
    capsules.append(tensor.__dlpack__(max_version=(1, 0)))
    taken += [hurray.from_dlpack(Handed(capsule)) for capsule in capsules]
    del tensor, capsules
    assert [np.asarray(t).tolist() for t in taken] == [[0, 1, 2, 3]] * 5
    gc.collect()
    assert alive() is not None
    taken.clear()
    gc.collect()
    assert alive() is None


def test_copies_are_private():
    tensor = hurray.zeros([4])
    array = (
        np.from_dlpack(tensor, copy=True)
        if np.lib.NumpyVersion(np.__version__) >= "2.1.0"
        else None
    )
    capsule = tensor.__dlpack__(max_version=(1, 0), copy=True)
    assert content(capsule).tensor.data != address_of(np.asarray(tensor))
    if array is not None:
        array[0] = 1
        assert np.asarray(tensor)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        pytest.param({"max_version": 1}, TypeError, id="version-int"),
        pytest.param({"max_version": (1,)}, TypeError, id="version-short"),
        pytest.param({"max_version": ("1", 0)}, TypeError, id="version-text"),
        pytest.param({"dl_device": (2, 0)}, BufferError, id="cuda"),
        pytest.param({"dl_device": (1, 1)}, BufferError, id="other-cpu"),
        pytest.param({"dl_device": 1}, TypeError, id="device-int"),
        pytest.param({"copy": 1}, TypeError, id="copy-int"),
        pytest.param({"unknown": 1}, TypeError, id="unknown"),
    ],
)
def test_wrong_arguments_are_refused(arguments, error):
    with pytest.raises(error):
        hurray.ones([2]).__dlpack__(**arguments)


def test_positional_arguments_are_refused():
    with pytest.raises(TypeError):
        hurray.ones([2]).__dlpack__(None)


@pytest.mark.parametrize(
    ("tensor", "error", "match"),
    [
        pytest.param(hurray.full([8], True), BufferError, "bool.*__hurray__", id="bool"),
        pytest.param(
            hurray.Tensor(bytes(4), hurray.dtype.int4, [8]), BufferError, "int4", id="int4"
        ),
        pytest.param(
            hurray.sparse_coo(np.ones(1), np.zeros((1, 1), np.uint64), [2]),
            BufferError,
            "coo",
            id="coo",
        ),
        pytest.param(
            hurray.Tensor(bytes(16), hurray.int8, [4, 4], layout=hurray.MortonLayout([2, 2])),
            *(hurray.UnsupportedError, "morton"),
            id="morton",
        ),
        pytest.param(
            hurray.Tensor(bytes(4), hurray.int8, [None]), BufferError, "dynamic", id="dynamic"
        ),
        pytest.param(
            hurray.Tensor(bytes(4), hurray.int8, [4], hurray.device.cuda),
            BufferError,
            "host",
            id="cuda",
        ),
        pytest.param(
            hurray.Tensor(bytes(4), hurray.int8, [4], hurray.Device(0xF2)),
            *(hurray.UnsupportedError, "0xF2"),
            id="private-device",
        ),
    ],
)
def test_what_dlpack_cannot_express_is_refused(tensor, error, match):
    with pytest.raises(error, match=match):
        tensor.__dlpack__(max_version=(1, 0))


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        (hurray.Device("cpu"), (1, 0)),
        (hurray.Device("cuda"), (2, 0)),
        (hurray.Device("cuda", 0, "host_pinned"), (3, 0)),
        (hurray.Device("cuda", 0, "unified"), (13, 0)),
        (hurray.Device("rocm"), (10, 0)),
        (hurray.Device("rocm", 0, "host_pinned"), (11, 0)),
        (hurray.Device("opencl"), (4, 0)),
        (hurray.Device("vulkan"), (7, 0)),
        (hurray.Device("metal"), (8, 0)),
        (hurray.Device("level_zero"), (14, 0)),
        (hurray.Device("webgpu"), (15, 0)),
        (hurray.Device("hexagon"), (16, 0)),
        (hurray.Device("cuda", 0, "peer"), None),
        (hurray.Device("rocm", 0, "unified"), None),
        (hurray.Device(0xF0), None),
    ],
    ids=str,
)
def test_devices_have_their_numbers(device, expected):
    tensor = hurray.Tensor(bytes(4), hurray.int8, [4], device)
    if expected is None:
        with pytest.raises(hurray.UnsupportedError):
            tensor.__dlpack_device__()
    else:
        assert tensor.__dlpack_device__() == expected


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_an_unconsumed_capsule_lets_go(version):
    tensor = hurray.ones([2])
    before = sys.getrefcount(tensor)
    capsule = tensor.__dlpack__(max_version=version)
    held = sys.getrefcount(tensor)
    del capsule
    after = sys.getrefcount(tensor)
    assert (held, after) == (before + 1, before)


def test_a_consumer_keeps_the_tensor_alive():
    tensor = hurray.ones([4])
    alive = weakref.ref(tensor)
    array = np.from_dlpack(tensor)
    del tensor
    gc.collect()
    assert alive() is not None
    assert array.tolist() == [1, 1, 1, 1]
    del array
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize(
    ("version", "kind", "name", "used"),
    [
        (None, Legacy, b"dltensor", b"used_dltensor"),
        ((1, 1), Versioned, b"dltensor_versioned", b"used_dltensor_versioned"),
    ],
    ids=["legacy", "versioned"],
)
def test_a_binding_keeps_what_a_capsule_held(version, kind, name, used):
    # As the casters of nanobind do: claim the capsule by its name and drop it, use the struct, and
    # run the deleter when the last view goes, on whatever thread that is and without the GIL.
    tensor = hurray.Tensor(np.arange(6.0), hurray.float64, [2, 3])
    alive = weakref.ref(tensor)
    capsule = tensor.__dlpack__(max_version=version)
    pointer = api.PyCapsule_GetPointer(capsule, name)
    assert api.PyCapsule_SetName(capsule, used) == 0
    del capsule, tensor
    gc.collect()
    assert alive() is not None
    managed = ctypes.cast(pointer, ctypes.POINTER(kind)).contents
    described = managed.tensor
    assert described.ndim == 2
    assert (described.shape[:2], described.strides[:2]) == ([2, 3], [3, 1])
    assert (ctypes.c_double * 6).from_address(described.data)[:] == [0, 1, 2, 3, 4, 5]
    # ctypes gives the GIL up for the call.
    thread = threading.Thread(target=DELETER(managed.deleter), args=(pointer,))
    thread.start()
    thread.join()
    gc.collect()
    assert alive() is None


# ---- import


@pytest.mark.parametrize("kind", [Versioned, Legacy])
@pytest.mark.parametrize("strides", [None, (1,)], ids=["null-strides", "strides"])
def test_capsules_are_taken_over_and_deleted_once(kind, strides):
    producer = Producer(kind, strides=strides)
    tensor = hurray.from_dlpack(producer)
    expected = b"used_dltensor_versioned" if kind is Versioned else b"used_dltensor"
    assert api.PyCapsule_GetName(producer.capsule) == expected
    assert np.asarray(tensor).tolist() == [0, 1, 2, 3]
    assert np.shares_memory(np.asarray(tensor), producer.memory)
    assert not tensor.owns_data
    view = np.asarray(tensor)[1:]
    del tensor
    assert producer.deleted == 0
    del view
    assert producer.deleted == 1


@pytest.mark.parametrize("kind", [Versioned, Legacy])
def test_a_copy_is_deleted_at_once(kind):
    producer = Producer(kind)
    tensor = hurray.from_dlpack(producer, copy=True)
    assert producer.deleted == 1
    assert tensor.owns_data


def test_a_capsule_without_a_deleter_is_taken_over():
    producer = Producer(no_deleter=True)
    assert np.asarray(hurray.from_dlpack(producer)).tolist() == [0, 1, 2, 3]


def test_a_capsule_is_consumed_once():
    producer = Producer()
    kept = hurray.from_dlpack(producer)
    with pytest.raises(BufferError, match="used"):
        hurray.from_dlpack(producer)
    assert producer.deleted == 0
    assert kept.shape == (4,)


def test_read_only_memory_stays_read_only():
    assert not hurray.from_dlpack(Producer(flags=READ_ONLY)).is_writable
    assert hurray.from_dlpack(Producer()).is_writable


def test_byte_offset_is_honoured():
    tensor = hurray.from_dlpack(Producer(byte_offset=64))
    assert np.asarray(tensor).tolist() == [16, 17, 18, 19]


def test_bools_are_packed():
    producer = Producer(code=6, bits=8, shape=(9,))
    producer.memory.view(np.uint8)[:9] = [1, 0, 1, 1, 0, 0, 0, 0, 1]
    with pytest.raises(hurray.CopyRequiredError):
        hurray.from_dlpack(Producer(code=6, bits=8), copy=False)
    tensor = hurray.from_dlpack(producer)
    assert tensor.dtype is hurray.bool
    assert np.asarray(tensor.buffer(0)).tolist() == [0b1101, 1]
    assert producer.deleted == 1


@pytest.mark.parametrize("copy", [None, False])
def test_under_aligned_memory_is_copied_or_refused(copy):
    producer = Producer(byte_offset=4)
    if copy is False:
        with pytest.raises(hurray.CopyRequiredError, match=r"4-byte aligned.*64"):
            hurray.from_dlpack(producer, copy=copy)
    else:
        tensor = hurray.from_dlpack(producer, copy=copy)
        assert tensor.owns_data
        assert np.asarray(tensor).tolist() == [1, 2, 3, 4]
    assert producer.deleted == 1


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        pytest.param({"lanes": 2}, BufferError, id="lanes"),
        pytest.param({"lanes": 0}, BufferError, id="no-lanes"),
        pytest.param({"code": 3}, BufferError, id="opaque"),
        pytest.param({"code": 200}, BufferError, id="unknown-code"),
        pytest.param({"bits": 7}, BufferError, id="odd-width"),
        pytest.param({"bits": 128}, BufferError, id="wide"),
        pytest.param({"code": 17, "bits": 4}, BufferError, id="sub-byte"),
        pytest.param({"ndim": -1}, BufferError, id="negative-rank"),
        pytest.param({"ndim": 65}, BufferError, id="rank-65"),
        pytest.param({"shape": (-1,)}, BufferError, id="negative-extent"),
        pytest.param({"shape": (2**62, 2**62)}, BufferError, id="wrapping-shape"),
        pytest.param({"shape": (2**61,)}, BufferError, id="wrapping-size"),
        pytest.param({"data": None}, BufferError, id="null-data"),
        pytest.param({"byte_offset": 2**64 - 8}, BufferError, id="wrapping-offset"),
        pytest.param({"shape": (2, 2), "strides": (2**62, 1)}, BufferError, id="far-strides"),
        pytest.param(
            {"shape": (2, 2), "strides": (1, 2)}, hurray.UnsupportedError, id="column-major"
        ),
        pytest.param({"strides": (-1,)}, hurray.UnsupportedError, id="reversed"),
        pytest.param({"strides": (0,)}, hurray.UnsupportedError, id="broadcast"),
        pytest.param({"device_type": 2}, hurray.UnsupportedError, id="cuda"),
        pytest.param({"version": (2, 0)}, BufferError, id="major-2"),
        pytest.param({"version": (0, 9)}, BufferError, id="major-0"),
    ],
)
@pytest.mark.parametrize("kind", [Versioned, Legacy])
def test_impossible_tensors_are_refused_and_deleted_once(kind, fields, error):
    if kind is Legacy and "version" in fields:
        fields = {"lanes": 3}  # a legacy capsule has no version to be wrong
    producer = Producer(kind, **fields)
    with pytest.raises(error):
        hurray.from_dlpack(producer)
    gc.collect()
    assert producer.deleted == 1


@pytest.mark.parametrize("name", [b"dltensors", b"used_dltensor", b"x"])
def test_capsules_of_another_name_are_left_alone(name):
    producer = Producer(name=name)
    with pytest.raises(BufferError, match="capsule"):
        hurray.from_dlpack(producer)
    assert producer.deleted == 0


def test_dimensions_of_one_element_may_have_any_stride():
    tensor = hurray.from_dlpack(Producer(shape=(1, 4, 1), strides=(999, 1, -5)))
    assert tensor.shape == (1, 4, 1)


def test_null_data_without_elements_is_fine():
    assert hurray.from_dlpack(Producer(shape=(0, 3), data=None)).shape == (0, 3)


@pytest.mark.parametrize("value", [None, 3, [1.0], object()], ids=repr)
def test_objects_that_do_not_speak_dlpack_are_refused(value):
    with pytest.raises(TypeError, match="__dlpack__"):
        hurray.from_dlpack(value)


@pytest.mark.parametrize("result", [None, 3, b""], ids=repr)
def test_results_that_are_no_capsule_are_refused(result):
    class Wrong:
        def __dlpack__(self, **_):
            return result

        def __dlpack_device__(self):
            return (1, 0)

    with pytest.raises(BufferError, match="capsule"):
        hurray.from_dlpack(Wrong())


def test_producers_without_keywords_are_asked_again():
    class Old(Producer):
        def __dlpack__(self):
            return self.capsule

    assert hurray.from_dlpack(Old(Legacy)).shape == (4,)


def test_what_a_producer_raises_goes_on():
    class Failing(Producer):
        def __dlpack__(self, **_):
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        hurray.from_dlpack(Failing())


@pytest.mark.parametrize(
    ("device", "error"),
    [
        (hurray.device.cuda, hurray.UnsupportedError),
        ("cpu", hurray.InvalidDescriptorError),
        (1, hurray.InvalidDescriptorError),
    ],
    ids=str,
)
def test_only_the_cpu_can_be_asked_for(device, error):
    with pytest.raises(error):
        hurray.from_dlpack(np.zeros(3), device=device)
    assert hurray.from_dlpack(np.zeros(3), device=hurray.device.cpu).shape == (3,)


@pytest.mark.parametrize("dtype", SAME_MEMORY_TYPES.values(), ids=str)
def test_numpy_arrays_are_shared(dtype):
    array = array_at(64, np.arange(6).astype(dtype).reshape(2, 3))
    tensor = hurray.from_dlpack(array, copy=False)
    assert np.shares_memory(np.asarray(tensor), array)
    assert np.array_equal(np.asarray(tensor), array)


def test_read_only_arrays_give_read_only_tensors():
    array = array_at(64, np.zeros(4))
    array.flags.writeable = False
    assert not hurray.from_dlpack(array).is_writable


def test_our_own_tensors_go_round():
    tensor = hurray.arange(5)
    assert np.shares_memory(np.asarray(hurray.from_dlpack(tensor)), np.asarray(tensor))


def test_capsules_may_be_left_over_at_exit():
    run_python(
        """
        import builtins, hurray
        builtins.kept = [hurray.ones([9]).__dlpack__(max_version=(1, 0)) for _ in range(9)]
        builtins.more = [hurray.ones([9]).__dlpack__() for _ in range(9)]
        """
    )


def test_ten_thousand_rounds_leave_no_reference():
    tensor, array = hurray.ones([4]), array_at(64, np.zeros(4))
    before = sys.getrefcount(tensor), sys.getrefcount(array)
    for _ in range(10_000):
        np.from_dlpack(tensor)
        tensor.__dlpack__()
        hurray.from_dlpack(array)
        hurray.from_dlpack(tensor)
    after = sys.getrefcount(tensor), sys.getrefcount(array)
    assert after == before


# ---- the C exchange API


def test_the_exchange_api_is_on_the_type():
    capsule = hurray.Tensor.__dlpack_c_exchange_api__
    assert api.PyCapsule_GetName(capsule) == b"dlpack_exchange_api"
    header = ctypes.cast(
        api.PyCapsule_GetPointer(capsule, b"dlpack_exchange_api"), ctypes.POINTER(ctypes.c_uint32)
    )
    assert header[0] == 1
    assert header[1] >= 3


def test_tvm_ffi_takes_tensors_by_the_exchange_api():
    tvm_ffi = pytest.importorskip("tvm_ffi")
    tensor = hurray.arange(6)
    taken = tvm_ffi.from_dlpack(tensor)
    assert np.from_dlpack(taken).ctypes.data == address_of(np.asarray(tensor))
    alive = weakref.ref(tensor)
    del tensor
    gc.collect()
    assert alive() is not None
    del taken
    gc.collect()
    assert alive() is None
