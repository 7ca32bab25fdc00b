"""One `Device` constant per kind of device: ``hurray.device.cpu``, ``….cuda``."""

from hurray._core import _devices

globals().update(_devices)
__all__ = list(_devices)
