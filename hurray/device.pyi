from hurray._core import Device

__all__ = [
    "cpu",
    "cuda",
    "hexagon",
    "level_zero",
    "metal",
    "opencl",
    "rocm",
    "vulkan",
    "webgpu",
]

cpu: Device
cuda: Device
rocm: Device
metal: Device
vulkan: Device
webgpu: Device
hexagon: Device
level_zero: Device
opencl: Device
