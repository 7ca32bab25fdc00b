"""All named element types, one `Dtype` singleton each: ``hurray.dtype.float32``, ``….int4``."""

from hurray._core import _dtypes

globals().update({_dtype.name: _dtype for _dtype in _dtypes})
__all__ = [_dtype.name for _dtype in _dtypes]
