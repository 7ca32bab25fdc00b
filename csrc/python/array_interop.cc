#include "python/array_interop.h"

#include <algorithm>

#include "core/addressing.h"
#include "python/arguments.h"
#include "python/copies.h"
#include "python/device.h"
#include "python/dtype.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/numpy_types.h"
#include "python/tensor.h"
#include "storage/copy_elements.h"

namespace hurray {

const char kTensorNumpyDoc[] = R"(numpy($self)
--

The tensor as a NumPy array; the same as ``numpy.asarray(tensor)``.

Returns
-------
numpy.ndarray
    Sharing memory wherever NumPy can express the element type.

Raises
------
UnsupportedError
    As `__array__`.
ImportError
    If NumPy is not installed.

Notes
-----
Format: section 5, "Layouts".

Examples
--------
>>> hurray.ones([2]).numpy()
array([1., 1.])
)";

const char kTensorArrayDoc[] = R"(__array__($self, dtype=None, copy=None)
--

A NumPy array over the tensor's memory.

Parameters
----------
dtype : numpy dtype, optional
    Another one than the tensor's own means a cast, which copies.
copy : bool, optional
    True always copies, False never does, None copies where it must.

Returns
-------
numpy.ndarray
    Of the tensor's shape, writable unless the memory is read-only; it keeps the tensor alive.
    Packed bools are unpacked into a new array.

Raises
------
UnsupportedError
    For layouts other than row-major, column-major and strided, element types that NumPy does not
    have, dynamic shapes, and bytes that are not on the CPU or not ready.
CopyRequiredError
    If ``copy=False`` and a cast or unpacking is needed.
ImportError
    If NumPy is not installed.

Notes
-----
Format: section 5, "Layouts".

Examples
--------
>>> hurray.zeros([2]).__array__()
array([0., 0.])
)";

namespace {

PyArrayObject* AsArray(PyObject* object) noexcept {
  return reinterpret_cast<PyArrayObject*>(object);
}

// ---- from_numpy

constexpr char kFromNumpyDoc[] = R"(from_numpy(array, *, copy=None)
--

Wrap a NumPy array, sharing its memory where the format permits.

Parameters
----------
array : numpy.ndarray
    C-contiguous, in native (little-endian) byte order.
copy : bool, optional
    None shares the memory if its address is a multiple of 64 bytes and copies it otherwise; False
    shares or refuses; True copies.

Returns
-------
Tensor
    Row-major, on the CPU, with the array's shape. If it shares, it keeps the array alive and
    writes are visible both ways. Bools are always packed, 8 to a byte, into a copy.

Raises
------
UnsupportedError
    If the array is not C-contiguous, its dtype has no equivalent, or its bytes are big-endian.
CopyRequiredError
    If ``copy=False`` and the array is under-aligned or holds bools. A `BufferError`.
BufferError
    If `array` is no NumPy array.
ImportError
    If NumPy is not installed.

Notes
-----
Format: section 4, "Alignment".

Examples
--------
>>> import numpy as np
>>> t = hurray.from_numpy(np.array([[1, 2, 3]], dtype=np.int16))
>>> t.shape, t.dtype
((1, 3), hurray.int16)
)";

// An array that the format can hold: its elements, in native order and C-contiguous.
ArrayElement CheckedElement(PyArrayObject* array, std::string_view name) {
  PyArray_Descr* descr = PyArray_DESCR(array);
  auto element = ArrayElementOf(descr);
  if (!element) {
    throw Error(ErrorCode::kUnsupported, StrCat(name, " has dtype ", DtypeText(descr),
                                                ", which has no equivalent in the format"));
  }
  if (!PyArray_ISNBO(descr->byteorder)) {
    throw Error(ErrorCode::kUnsupported,
                StrCat(name, " has dtype ", DtypeText(descr),
                       ", big-endian bytes; convert it first, for example with "
                       "array.astype(array.dtype.newbyteorder('<'))"));
  }
  if (!PyArray_IS_C_CONTIGUOUS(array)) {
    throw Error(ErrorCode::kUnsupported,
                StrCat(name, " is not C-contiguous; pass numpy.ascontiguousarray(array)"));
  }
  return *element;
}

Buffer PackedCopy(PyArrayObject* array, ElementType element) {
  auto count = static_cast<size_t>(PyArray_SIZE(array));
  Buffer packed =
      Buffer::Allocate(static_cast<size_t>(Packing::Of(element).SizeBytes(count).value()));
  const auto* codes = static_cast<const uint8_t*>(PyArray_DATA(array));
  WithoutGilIfLarge(count, [&] {
    if (element == ElementTypes::kBool) {
      PackBools(codes, count, packed.data());
    } else {
      PackCodes(codes, count, element.bits(), packed.data());
    }
  });
  return packed;
}

// A numpy.ma array. REQUIRES: NumPy is loaded.
bool IsMasked(PyObject* array) {
  Ref module = Ref::Steal(PyImport_ImportModule("numpy.ma"));
  Ref type = Ref::Steal(PyObject_GetAttrString(module.get(), "MaskedArray"));
  return Checked(PyObject_IsInstance(array, type.get())) == 1;
}

}  // namespace

PyObject* RequireArray(PyObject* object, std::string_view name) {
  RequireNumpy();
  if (!PyArray_Check(object)) {
    throw Error(ErrorCode::kBuffer,
                StrCat(name, " must be a numpy.ndarray, not ", TypeName(object)));
  }
  if (!PyArray_CheckExact(object) && IsMasked(object)) {
    throw Error(ErrorCode::kUnsupported,
                StrCat(name,
                       " is a masked array, whose mask would be lost; pass "
                       "array.filled() instead"));
  }
  return object;
}

TakenArray TakeArray(PyObject* object, std::optional<bool> copy, std::string_view name) {
  PyArrayObject* array = AsArray(RequireArray(object, name));
  auto [element, is_unpacked] = CheckedElement(array, name);
  if (is_unpacked) {
    if (copy == false) {
      throw Error(ErrorCode::kCopyRequired,
                  StrCat(name, " holds a byte per ", element.name(),
                         " element, which the format packs: it must be copied"));
    }
    return {element, PackedCopy(array, element)};
  }
  auto size = static_cast<size_t>(PyArray_NBYTES(array));
  void* data = PyArray_DATA(array);
  bool aligned = size == 0 || reinterpret_cast<uintptr_t>(data) % kMinBufferAlignment == 0;
  if (copy == false && !aligned) {
    throw Error(ErrorCode::kCopyRequired,
                StrCat(name, " is ", AddressAlignment(data), "-byte aligned, sharing it needs ",
                       kMinBufferAlignment,
                       "; allocate it under hurray.aligned_allocator(), or let it be copied"));
  }
  if (copy != true && aligned) {
    return {element, BorrowedBuffer(data, size, PyArray_ISWRITEABLE(array), object)};
  }
  return {element, CopyBytes({static_cast<const uint8_t*>(data), size})};
}

Shape ShapeOfArray(PyObject* object) {
  PyArrayObject* array = AsArray(object);
  auto rank = static_cast<size_t>(PyArray_NDIM(array));
  Shape shape(rank);
  for (size_t k = 0; k < rank; ++k) {
    shape[k] = static_cast<uint64_t>(PyArray_DIM(array, static_cast<int>(k)));
  }
  return shape;
}

Ref TryShareAtOnce(ModuleState& state, PyObject* object) {
  if (!NumpyIsReady() || !PyArray_CheckExact(object)) return Ref();
  PyArrayObject* array = AsArray(object);
  PyArray_Descr* descr = PyArray_DESCR(array);
  auto element = SameFormOf(descr->type_num);
  void* data = PyArray_DATA(array);
  if (!element || !PyArray_ISNBO(descr->byteorder) || !PyArray_IS_C_CONTIGUOUS(array) ||
      reinterpret_cast<uintptr_t>(data) % kMinBufferAlignment != 0) {
    return Ref();
  }
  size_t size = element->bits() / 8;
  auto rank = static_cast<size_t>(PyArray_NDIM(array));
  const auto* extents = reinterpret_cast<const npy_uintp*>(PyArray_DIMS(array));
  for (size_t k = 0; k < rank; ++k) size *= extents[k];
  return NewDenseTensor(state, *element, {extents, rank},
                        BorrowedBuffer(data, size, PyArray_ISWRITEABLE(array), object));
}

Ref WrapArray(ModuleState& state, PyObject* object, std::optional<bool> copy) {
  if (copy != true) {
    if (Ref tensor = TryShareAtOnce(state, object)) return tensor;
  }
  TakenArray taken = TakeArray(object, copy, "array");
  uint64_t size = taken.buffer.size();
  return NewTensor(state, DenseDescriptor(taken.element, ShapeOfArray(object), size),
                   std::move(taken.buffer), state.cpu_device);
}

std::optional<Ref> TryShareArray(ModuleState& state, PyObject* object, std::optional<bool> copy) {
  if (!NumpyIsLoaded()) return std::nullopt;
  RequireNumpy();
  if (!PyArray_CheckExact(object)) return std::nullopt;
  PyArray_Descr* descr = PyArray_DESCR(AsArray(object));
  if (!ArrayElementOf(descr) || !PyArray_ISNBO(descr->byteorder) ||
      !PyArray_IS_C_CONTIGUOUS(AsArray(object))) {
    return std::nullopt;
  }
  return WrapArray(state, object, copy);
}

namespace {

constexpr Signature kFromNumpy("from_numpy", {"array", "copy"}, 1, 1);

PyObject* FromNumpy(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return Guard(module, [&] {
    auto bound = kFromNumpy.Bind(args, nargs, kwnames);
    return WrapArray(StateOf(module), bound[0], ToOptionalBool(bound[1], "copy")).release();
  });
}

// ---- __array__

constexpr size_t kMaxRankOfNumpy1 = 32;

void CheckArrayExport(const TensorDescriptor& descriptor) {
  CheckSynced(descriptor, ErrorCode::kUnsupported);
  auto refuse = [](const std::string& reason) { throw Error(ErrorCode::kUnsupported, reason); };
  const Layout& layout = descriptor.layout();
  std::string layout_name(LayoutName(layout));
  ElementType dtype = descriptor.dtype();
  if (!IsDense(layout)) refuse(StrCat("layout ", layout_name, " is no dense array for NumPy"));
  if (!descriptor.device().is_cpu()) {
    refuse(StrCat("the tensor is on device kind ", *DeviceKindName(descriptor.device().tag),
                  ", only cpu can be shown to NumPy"));
  }
  if (dtype != ElementTypes::kBool && !ArrayDtypeOf(dtype)) {
    refuse(StrCat("dtype ", dtype.name(), " has no NumPy equivalent"));
  }
  if (!HasStrides(layout)) {
    refuse(StrCat("layout ", layout_name, " cannot be expressed by strides"));
  }
  if (HasDynamicExtent(descriptor.shape())) {
    refuse(StrCat("the shape ", ShapeText(descriptor.shape()), " has a dynamic dimension"));
  }
  if (!AddressableBytes(descriptor.shape(), std::max(1u, descriptor.packing().bits / 8))) {
    refuse(StrCat("the shape ", ShapeText(descriptor.shape()),
                  " has more bytes than NumPy can express"));
  }
  if (descriptor.rank() > kMaxRankOfNumpy1 && PyArray_RUNTIME_VERSION < NPY_2_0_API_VERSION) {
    refuse(StrCat("rank ", descriptor.rank(), " exceeds what this NumPy can express"));
  }
}

// A C-ordered array of new memory, bools unpacked from their bits.
Ref UnpackedBools(TensorObject& tensor, std::span<npy_intp> shape) {
  Ref array = Ref::Steal(PyArray_SimpleNew(static_cast<int>(shape.size()), shape.data(), NPY_BOOL));
  UnpackBoolsTo(tensor, static_cast<uint8_t*>(PyArray_DATA(AsArray(array.get()))));
  return array;
}

}  // namespace

Ref TensorToArray(PyObject* self) {
  TensorObject* tensor = TensorOf(self);
  const TensorDescriptor& descriptor = tensor->descriptor;
  RequireNumpy();
  CheckArrayExport(descriptor);
  std::array<npy_intp, kMaxRank> shape;
  for (size_t k = 0; k < descriptor.rank(); ++k) {
    shape[k] = static_cast<npy_intp>(descriptor.shape()[k]);
    if (shape[k] < 0) {
      throw Error(ErrorCode::kUnsupported,
                  StrCat("the extent ", descriptor.shape()[k], " exceeds what NumPy can express"));
    }
  }
  if (descriptor.dtype() == ElementTypes::kBool) {
    return UnpackedBools(*tensor, {shape.data(), descriptor.rank()});
  }
  const Buffer& memory = tensor->buffers[0];
  Exports* exports = ExportsOf(tensor);
  Ref dtype = ArrayDtypeOf(descriptor.dtype());
  static uint8_t nothing;  // no elements, yet a null address would make NumPy allocate
  void* data = memory.data() == nullptr ? &nothing : memory.data() + descriptor.byte_offset();
  Ref array = Ref::Steal(
      PyArray_NewFromDescr(&PyArray_Type, reinterpret_cast<PyArray_Descr*>(dtype.release()),
                           static_cast<int>(descriptor.rank()), shape.data(),
                           reinterpret_cast<const npy_intp*>(exports->byte_strides.data()), data,
                           memory.writable() ? NPY_ARRAY_WRITEABLE : 0, nullptr));
  // Steals the reference even where it fails.
  Checked(PyArray_SetBaseObject(AsArray(array.get()), Py_NewRef(self)));
  return array;
}

PyObject* Tensor_array(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constexpr Signature kArray("__array__", {"dtype", "copy"}, 0);
  return Guard(Py_TYPE(self), [&] {
    auto bound = kArray.Bind(args, nargs, kwnames);
    std::optional<bool> copy = ToOptionalBool(bound[1], "copy");
    const TensorDescriptor& descriptor = TensorOf(self)->descriptor;
    bool unpacks = descriptor.dtype() == ElementTypes::kBool;
    RequireNumpy();
    if (unpacks && copy == false) {
      CheckArrayExport(descriptor);
      throw Error(ErrorCode::kCopyRequired,
                  "dtype bool is packed, 8 elements to a byte: NumPy needs an unpacked copy");
    }
    Ref array = TensorToArray(self);
    PyArray_Descr* wanted = nullptr;
    if (NoneToNull(bound[0]) != nullptr && PyArray_DescrConverter(bound[0], &wanted) == NPY_FAIL) {
      throw PythonError();
    }
    Ref wanted_owner = Ref::StealOrNull(reinterpret_cast<PyObject*>(wanted));
    bool casts =
        wanted != nullptr && PyArray_EquivTypes(wanted, PyArray_DESCR(AsArray(array.get()))) == 0;
    if (casts && copy == false) {
      throw Error(ErrorCode::kCopyRequired,
                  StrCat("dtype is ", descriptor.dtype().name(), ", a cast to ", DtypeText(wanted),
                         " needs a copy"));
    }
    if (casts) {
      // Steals the reference to the wanted dtype.
      array = Ref::Steal(PyArray_CastToType(
          AsArray(array.get()), reinterpret_cast<PyArray_Descr*>(wanted_owner.release()), 0));
    } else if (copy == true && !unpacks) {
      array = Ref::Steal(PyArray_NewCopy(AsArray(array.get()), NPY_KEEPORDER));
    }
    return array.release();
  });
}

PyObject* Tensor_numpy(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] { return TensorToArray(self).release(); });
}

namespace {

PyMethodDef kFunctions[] = {
    {"from_numpy", Method(FromNumpy), METH_FASTCALL | METH_KEYWORDS, kFromNumpyDoc},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int AddArrayInterop(PyObject* module, ModuleState&) {
  return PyModule_AddFunctions(module, kFunctions);
}

}  // namespace hurray
