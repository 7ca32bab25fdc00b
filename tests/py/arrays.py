"""NumPy arrays at chosen addresses, and the element types that NumPy has too."""

import numpy as np

import hurray

NUMPY_1 = np.lib.NumpyVersion(np.__version__) < "2.0.0"
# The types whose elements look the same in NumPy's memory.
SAME_MEMORY_TYPES = {
    getattr(hurray.dtype, name): np.dtype(name)
    for name in (
        "float16 float32 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64 "
        "complex64 complex128"
    ).split()
}
# And bool, which takes a bit here and a byte there.
NUMPY_TYPES = {**SAME_MEMORY_TYPES, hurray.bool: np.dtype(np.bool_)}
# What creation functions accept: NumPy lacks bfloat16.
NUMERIC_TYPES = [*NUMPY_TYPES, hurray.bfloat16]
OTHER_TYPES = [
    getattr(hurray.dtype, name)
    for name in (
        "float8_e4m3 float8_e5m2 float8_e8m0 float4_e2m1 float6_e2m3 float6_e3m2 float128 "
        "int4 uint4 int2 uint2"
    ).split()
]


def dtype_id(value):
    """The name of a test's dtype, for `parametrize(ids=...)`."""
    return value.name if isinstance(value, hurray.Dtype) else None


def address_of(array):
    return array.__array_interface__["data"][0]


def empty_at(alignment, shape, dtype=np.uint8):
    """An array whose address is an odd multiple of `alignment`, a power of two."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.empty(size + 3 * alignment, np.uint8)
    start = (alignment - address_of(memory)) % (2 * alignment)
    return memory[start : start + size].view(dtype).reshape(shape)


def array_at(alignment, values):
    """A C-contiguous copy of `values` at an odd multiple of `alignment`."""
    values = np.asarray(values)
    array = empty_at(alignment, values.shape, values.dtype)
    array[...] = values
    return array


def packed(bits):
    """The bytes of bool elements as the format packs them: first element in the lowest bit."""
    return np.packbits(np.asarray(bits, np.bool_).reshape(-1), bitorder="little").tobytes()


def random_array(dtype, shape, seed=0):
    """Random bits, NaNs and infinities included; True and False for bool."""
    dtype = np.dtype(dtype)
    random = np.random.default_rng(seed)
    if dtype == np.bool_:
        return random.random(shape) < 0.5
    count = int(np.prod(shape))
    return np.frombuffer(random.bytes(count * dtype.itemsize), dtype).reshape(shape).copy()
