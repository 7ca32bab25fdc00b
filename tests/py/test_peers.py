"""Other libraries that tensors are handed to, where they are installed."""

import numpy as np
import pytest
from arrays import address_of

import hurray


def test_jax_takes_aligned_tensors_without_a_copy():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_platforms", "cpu")
    tensor = hurray.arange(1024, dtype=hurray.float32)
    array = jax.numpy.from_dlpack(tensor)
    assert array.unsafe_buffer_pointer() == address_of(np.asarray(tensor))
    assert np.array_equal(np.asarray(array), np.arange(1024, dtype=np.float32))


def test_tensors_come_from_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_platforms", "cpu")
    tensor = hurray.from_dlpack(jax.numpy.arange(100, dtype=jax.numpy.float32))
    assert np.asarray(tensor).tolist() == list(range(100))


def test_pyarrow_takes_and_gives_tensors():
    pyarrow = pytest.importorskip("pyarrow")
    tensor = hurray.arange(10, dtype=hurray.float64)
    buffer = pyarrow.py_buffer(tensor)
    assert buffer.address == address_of(np.asarray(tensor))
    array = pyarrow.array(np.arange(64, dtype=np.int32))
    assert np.asarray(hurray.from_dlpack(array)).tolist() == list(range(64))


def test_tvm_ffi_gives_tensors():
    tvm_ffi = pytest.importorskip("tvm_ffi")
    source = np.arange(16, dtype=np.float32)
    tensor = hurray.from_dlpack(tvm_ffi.from_dlpack(source))
    assert np.asarray(tensor).tolist() == source.tolist()
