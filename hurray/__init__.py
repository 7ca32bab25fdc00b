"""Produce, consume and hand over tensors in the Hurray interchange format without copying them."""

from hurray._core import (
    MIN_BUFFER_ALIGNMENT,
    MXFP,
    NF4,
    PAGE_ALIGNMENT,
    AlignedAllocatorCtx,
    BlockPagedLayout,
    BufferError,
    BufferHandle,
    ColMajorLayout,
    Composite,
    CompositeLayout,
    CooLayout,
    CopyRequiredError,
    CscLayout,
    CsfLayout,
    CsrLayout,
    Descriptor,
    Device,
    Dtype,
    ExtensionType,
    File,
    FileError,
    HilbertLayout,
    InternalError,
    InvalidDescriptorError,
    Layout,
    MortonLayout,
    PerBlockAffine,
    PerChannelAffine,
    PerTensorAffine,
    PrintOptionsCtx,
    PrivateExtensionLayout,
    RowMajorLayout,
    Shard,
    Statistics,
    StreamError,
    StreamReader,
    StreamWriter,
    StridedLayout,
    Tensor,
    TiledLayout,
    UnknownLayout,
    UnsupportedError,
    VerifyReport,
    __version__,
    _dtypes,
    _FileNotFoundError,  # these two are found by name when they are unpickled
    _FilePermissionError,
    aligned_allocator,
    allocator_stats,
    arange,
    asarray,
    buffer_size_bytes,
    decode_quantization,
    dumps,
    empty,
    empty_like,
    eye,
    from_dlpack,
    from_hurray,
    from_numpy,
    from_scipy,
    from_torch,
    full,
    full_like,
    get_include,
    get_print_options,
    layout_tag_kind,
    linspace,
    load,
    load_kv,
    loads,
    ones,
    ones_like,
    open,
    print_options,
    save,
    set_print_options,
    sparse_coo,
    trim_allocator,
    verify,
    zeros,
    zeros_like,
)

# The types that most people need, at the top as well: hurray.float32, hurray.bool.
globals().update({_dtype.name: _dtype for _dtype in _dtypes if _dtype.tier == 1})

__all__ = [
    name for name in dir() if not name.startswith("_") and name not in ("open", "dtype", "device")
] + ["__version__", "device", "dtype"]


def __getattr__(name):
    # These two modules are imported when they are first needed: it makes `import hurray` quicker.
    if name == "device":
        import hurray.device

        return hurray.device
    if name == "dtype":
        import hurray.dtype

        return hurray.dtype
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
