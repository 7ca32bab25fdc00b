// Tensors taken over through DLPack: capsules of both kinds and the exchange API.

#include <array>
#include <atomic>
#include <limits>
#include <new>

#include "core/checked_math.h"
#include "python/arguments.h"
#include "python/array_interop.h"
#include "python/copies.h"
#include "python/device.h"
#include "python/dlpack.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/tensor.h"
#include "python/torch_interop.h"
#include "storage/copy_elements.h"

namespace hurray {

namespace {

[[noreturn]] void Refuse(const std::string& reason) {
  throw Error(ErrorCode::kNotExportable, reason);
}

// ---- ownership of what a producer handed over

// A counted hold on a managed tensor of either kind; its deleter runs once, when the last handle
// goes, with the GIL held, which some producers' deleters need.
struct ForeignTensor {
  std::atomic<size_t> handles{1};
  DLManagedTensorVersioned* versioned = nullptr;
  DLManagedTensor* legacy = nullptr;

  void Delete() noexcept {
    if (versioned != nullptr && versioned->deleter != nullptr) versioned->deleter(versioned);
    if (legacy != nullptr && legacy->deleter != nullptr) legacy->deleter(legacy);
  }
};

constexpr OwnerOps kForeignOwner{
    [](void* owner) noexcept {
      static_cast<ForeignTensor*>(owner)->handles.fetch_add(1, std::memory_order_relaxed);
    },
    [](void* owner) noexcept {
      auto* foreign = static_cast<ForeignTensor*>(owner);
      if (foreign->handles.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
      WithGilFromAnyThread([&] { foreign->Delete(); });
      delete foreign;
    },
    false,
};

// Holds a managed tensor until a Buffer takes it over.
class Taken {
 public:
  explicit Taken(DLManagedTensorVersioned* managed) : foreign_(New()) {
    foreign_->versioned = managed;
  }
  explicit Taken(DLManagedTensor* managed) : foreign_(New()) { foreign_->legacy = managed; }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  ~Taken() {
    if (foreign_ != nullptr) kForeignOwner.release(foreign_);
  }
  const DLTensor& tensor() const noexcept {
    return foreign_->versioned != nullptr ? foreign_->versioned->dl_tensor
                                          : foreign_->legacy->dl_tensor;
  }
  bool read_only() const noexcept {
    return foreign_->versioned != nullptr &&
           (foreign_->versioned->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
  }
  Buffer IntoBuffer(uint8_t* data, size_t size) noexcept {
    bool writable = !read_only();
    return Buffer(data, size, writable, std::exchange(foreign_, nullptr), &kForeignOwner);
  }

 private:
  static ForeignTensor* New() {
    auto* foreign = new (std::nothrow) ForeignTensor();
    if (foreign == nullptr) throw std::bad_alloc();
    return foreign;
  }
  ForeignTensor* foreign_;
};

// ---- checking what a producer described

PyObject* GetOptional(PyObject* object, const char* name) {
  PyObject* attribute = PyObject_GetAttrString(object, name);
  if (attribute == nullptr && !ClearIf(PyExc_AttributeError)) throw PythonError();
  return attribute;
}

Shape CheckedShape(const DLTensor& tensor) {
  if (tensor.ndim < 0 || tensor.ndim > static_cast<int32_t>(kMaxRank)) {
    Refuse(StrCat("ndim is ", tensor.ndim, ", it must be from 0 to ", kMaxRank));
  }
  auto rank = static_cast<size_t>(tensor.ndim);
  if (rank > 0 && tensor.shape == nullptr) Refuse(StrCat("shape is NULL with ndim ", rank));
  Shape shape(rank);
  for (size_t k = 0; k < rank; ++k) {
    if (tensor.shape[k] < 0) {
      Refuse(StrCat("shape[", k, "] is ", tensor.shape[k], ", it must not be negative"));
    }
    shape[k] = static_cast<uint64_t>(tensor.shape[k]);
  }
  return shape;
}

// Strides over dimensions of at most one element say nothing; nor do those of no elements.
bool IsRowMajor(const DLTensor& tensor, ShapeView shape) {
  if (tensor.strides == nullptr || HasZeroExtent(shape)) return true;
  uint64_t expected = 1;
  for (size_t k = shape.size(); k-- > 0;) {
    if (shape[k] == 1) continue;
    if (tensor.strides[k] < 0 || static_cast<uint64_t>(tensor.strides[k]) != expected) return false;
    expected *= shape[k];
  }
  return true;
}

// Strides that no memory can have are the producer's fault rather than an order we do not take.
void CheckStridesFit(const DLTensor& tensor, ShapeView shape, uint64_t width) {
  if (tensor.strides == nullptr || HasZeroExtent(shape)) return;
  auto extremes = StridedExtremes(shape, {tensor.strides, shape.size()});
  constexpr __int128 kMost = std::numeric_limits<int64_t>::max();
  if (!extremes || (extremes->high - extremes->low) * width > kMost) {
    Refuse("strides reach beyond the address space");
  }
}

std::string DlpackTypeText(DLDataType type) {
  return StrCat("(code ", type.code, ", bits ", type.bits, ", lanes ", type.lanes, ")");
}

// The elements in row-major order. REQUIRES: CheckStridesFit passed, there are elements.
Buffer InRowMajorOrder(const DLTensor& tensor, ShapeView shape, uint64_t width, const uint8_t* data,
                       size_t size) {
  std::array<ptrdiff_t, kMaxRank> strides{};
  for (size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] > 1) strides[k] = tensor.strides[k] * static_cast<int64_t>(width);
  }
  Buffer ordered = Buffer::Allocate(size);
  WithoutGilIfLarge(size, [&] {
    GatherElements(data, shape, {strides.data(), shape.size()}, static_cast<size_t>(width),
                   ordered.data());
  });
  return ordered;
}

// torch's bit for a tensor whose values are the negatives of its bytes, of which DLPack says
// nothing.
void RefuseNegativeView(PyObject* object) {
  Ref is_neg = Ref::StealOrNull(GetOptional(object, "is_neg"));
  if (!is_neg) return;
  Ref answer = Ref::Steal(PyObject_CallNoArgs(is_neg.get()));
  if (Checked(PyObject_IsTrue(answer.get())) == 1) {
    Refuse(
        "the tensor is a negative view, whose bytes are not its values; resolve it first "
        "with .resolve_neg()");
  }
}

// `unordered` is the producer, if memory in another order than row-major shall be copied; null if
// it is refused.
Ref Build(ModuleState& state, Taken& taken, std::optional<bool> copy,
          PyObject* unordered = nullptr) {
  const DLTensor& tensor = taken.tensor();
  bool is_bool = IsDlpackBool(tensor.dtype);
  auto element = is_bool ? ElementTypes::kBool : ElementTypeOfDlpack(tensor.dtype);
  if (!element) {
    Refuse(StrCat("element type ", DlpackTypeText(tensor.dtype),
                  " of DLPack has no equivalent in the format"));
  }
  if (tensor.device.device_type != kDLCPU) {
    throw Error(ErrorCode::kUnsupported,
                StrCat("the data is on DLPack device type ",
                       static_cast<int32_t>(tensor.device.device_type),
                       ", only the CPU (1) can be read; copy it there first"));
  }
  Shape shape = CheckedShape(tensor);
  ShapeView extents(shape.data(), shape.size());
  uint64_t width = is_bool ? 1 : element->bits() / 8;
  auto size = AddressableBytes(extents, width);
  if (!size) {
    Refuse(StrCat("shape ", ShapeText(extents), " exceeds the address space"));
  }
  if (*size > 0 && tensor.data == nullptr) Refuse("data is NULL, yet the tensor has elements");
  bool in_order = IsRowMajor(tensor, extents);
  if (!in_order) {
    CheckStridesFit(tensor, extents, width);
    if (unordered == nullptr) {
      throw Error(ErrorCode::kUnsupported,
                  "the data is not C-contiguous; make it so first, for example with .contiguous()");
    }
    if (copy == false) {
      throw Error(ErrorCode::kCopyRequired, "the data is not C-contiguous, it must be copied");
    }
    RefuseNegativeView(unordered);
  }
  auto address = reinterpret_cast<uintptr_t>(tensor.data);
  if (*size > 0 && (tensor.byte_offset > UINTPTR_MAX - address ||
                    *size > UINTPTR_MAX - address - tensor.byte_offset)) {
    Refuse(StrCat("byte_offset ", tensor.byte_offset, " reaches beyond the address space"));
  }
  auto bytes = static_cast<size_t>(*size);
  auto* data = bytes == 0
                   ? nullptr
                   : static_cast<uint8_t*>(tensor.data) + static_cast<size_t>(tensor.byte_offset);
  if (is_bool) {
    if (copy == false) {
      throw Error(ErrorCode::kCopyRequired,
                  "DLPack holds a byte per bool and the format a bit: they must be packed");
    }
    Buffer packed = Buffer::Allocate((bytes + 7) / 8);
    Buffer ordered;
    if (!in_order) {
      ordered = InRowMajorOrder(tensor, extents, width, data, bytes);
      data = ordered.data();
    }
    if (bytes != 0) {
      WithoutGilIfLarge(bytes, [&] { PackBools(data, bytes, packed.data()); });
    }
    return NewDenseTensor(state, *element, extents, std::move(packed));
  }
  if (!in_order) {
    return NewDenseTensor(state, *element, extents,
                          InRowMajorOrder(tensor, extents, width, data, bytes));
  }
  bool aligned = bytes == 0 || reinterpret_cast<uintptr_t>(data) % kMinBufferAlignment == 0;
  if (copy == false && !aligned) {
    throw Error(ErrorCode::kCopyRequired,
                StrCat("array is ", AddressAlignment(data), "-byte aligned, sharing it needs ",
                       kMinBufferAlignment));
  }
  Buffer buffer =
      copy != true && aligned ? taken.IntoBuffer(data, bytes) : CopyBytes({data, bytes});
  return NewDenseTensor(state, *element, extents, std::move(buffer));
}

// ---- capsules

Ref TakeOver(ModuleState& state, DLManagedTensorVersioned* managed, std::optional<bool> copy,
             PyObject* unordered) {
  Taken taken(managed);
  if (managed->version.major != DLPACK_MAJOR_VERSION) {
    Refuse(StrCat("the capsule is of DLPack ", managed->version.major, ".", managed->version.minor,
                  ", this version reads 1.x"));
  }
  return Build(state, taken, copy, unordered);
}

Ref ImportCapsule(ModuleState& state, PyObject* capsule, std::optional<bool> copy,
                  PyObject* unordered) {
  if (PyCapsule_IsValid(capsule, kVersionedCapsule) != 0) {
    auto* managed =
        static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, kVersionedCapsule));
    Checked(PyCapsule_SetName(capsule, kUsedVersionedCapsule));
    return TakeOver(state, managed, copy, unordered);
  }
  if (PyCapsule_IsValid(capsule, kLegacyCapsule) != 0) {
    auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, kLegacyCapsule));
    Checked(PyCapsule_SetName(capsule, kUsedLegacyCapsule));
    Taken taken(managed);
    return Build(state, taken, copy, unordered);
  }
  if (!PyCapsule_CheckExact(capsule)) {
    Refuse(StrCat("__dlpack__() returned ", TypeName(capsule), ", not a capsule"));
  }
  const char* name = PyCapsule_GetName(capsule);
  if (name == nullptr) PyErr_Clear();
  Refuse(StrCat("__dlpack__() returned a capsule named '",
                std::string_view(name == nullptr ? "" : name),
                "', it must be an unused 'dltensor' or 'dltensor_versioned'"));
}

// ---- producers

// torch's exchange API looks at none of the bits that make a tensor's bytes differ from its
// values, nor at requires_grad, for which its `__dlpack__` refuses.
bool ExchangeTellsTheTruth(const ModuleState& state, PyObject* object, const DLTensor& tensor) {
  if (tensor.dtype.code == kDLComplex) return false;
  if (RequiresGrad(state, object)) return false;
  uint64_t count = 1;
  for (int32_t k = 0; k < tensor.ndim && count <= 1; ++k) {
    count *= static_cast<uint64_t>(tensor.shape[k]);
  }
  // A negative-view tensor with more elements has a stride of 2, which is refused anyway.
  if (count <= 1) RefuseNegativeView(object);
  return true;
}

Ref CallDlpack(ModuleState& state, PyObject* object) {
  PyObject* const args[] = {object, state.dlpack_max_version};
  PyObject* capsule =
      PyObject_VectorcallMethod(state.name_dlpack, args, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                state.dlpack_max_version_keyword);
  // Producers from before DLPack 1.0 know no keyword.
  if (capsule == nullptr && ClearIf(PyExc_TypeError)) {
    capsule = PyObject_CallMethodNoArgs(object, state.name_dlpack);
  }
  return Ref::Steal(capsule);
}

}  // namespace

Ref ImportManaged(ModuleState& state, DLManagedTensorVersioned* managed, std::optional<bool> copy) {
  return TakeOver(state, managed, copy, nullptr);
}

Ref ImportDlpack(ModuleState& state, PyObject* object, std::optional<bool> copy, OtherOrder other) {
  PyObject* unordered = other == OtherOrder::kCopied ? object : nullptr;
  if (copy != true) {
    if (Ref tensor = TryShareAtOnce(state, object)) return tensor;
  }
  if (auto tensor = TryShareArray(state, object, copy)) return *std::move(tensor);
  if (const DLPackExchangeAPI* api = ExchangeApiOf(state, Py_TYPE(object))) {
    DLManagedTensorVersioned* managed = nullptr;
    if (api->managed_tensor_from_py_object_no_sync(object, &managed) == 0) {
      Taken taken(managed);
      if (managed->version.major == DLPACK_MAJOR_VERSION &&
          ExchangeTellsTheTruth(state, object, managed->dl_tensor)) {
        return Build(state, taken, copy, unordered);
      }
    } else {
      PyErr_Clear();  // `__dlpack__` tells the reason in its own words
    }
  }
  Ref device = Ref::StealOrNull(GetOptional(object, "__dlpack_device__"));
  Ref producer = Ref::StealOrNull(GetOptional(object, "__dlpack__"));
  if (!device || !producer) {
    ThrowTypeError(StrCat(TypeName(object), " has no __dlpack__ and __dlpack_device__"));
  }
  Ref capsule = CallDlpack(state, object);
  return ImportCapsule(state, capsule.get(), copy, unordered);
}

// ---- module functions

namespace {

constexpr char kFromDlpackDoc[] = R"(from_dlpack(x, *, device=None, copy=None)
--

Take over a tensor from any library that speaks DLPack.

Parameters
----------
x : object with ``__dlpack__`` and ``__dlpack_device__``
    C-contiguous, on the CPU.
device : Device, optional
    Only `hurray.device.cpu`, which is also the default.
copy : bool, optional
    None shares the memory if its address is a multiple of 64 bytes and copies it otherwise; False
    shares or refuses; True copies.

Returns
-------
Tensor
    Row-major. If it shares, the producer's memory is released with it.

Raises
------
TypeError
    If `x` does not speak DLPack.
builtins.BufferError
    If the element type has no equivalent, or what the producer describes is impossible.
UnsupportedError
    If the data is not on the CPU or not C-contiguous.
CopyRequiredError
    If ``copy=False`` and the data is under-aligned or holds bools.

Notes
-----
Format: section 4, "Alignment".

Examples
--------
>>> import numpy as np
>>> hurray.from_dlpack(np.zeros((2, 3))).shape
(2, 3)
)";

constexpr char kFromTorchDoc[] = R"(from_torch(tensor, *, copy=None)
--

Wrap a ``torch.Tensor``, sharing its memory where the format permits.

Parameters
----------
tensor : torch.Tensor
    C-contiguous, on the CPU; call ``.detach()`` first if it requires grad.
copy : bool, optional
    As in `from_dlpack`.

Returns
-------
Tensor
    Row-major, of the same element type (bfloat16 and float8 included).

Raises
------
ImportError
    If PyTorch is not installed.
builtins.BufferError
    If the element type has no equivalent, or the tensor requires grad.
UnsupportedError
    If the data is not on the CPU or not C-contiguous.
CopyRequiredError
    If ``copy=False`` and the data is under-aligned or holds bools.

Notes
-----
Format: section 4, "Alignment".

Examples
--------
>>> import torch  # doctest: +SKIP
>>> hurray.from_torch(torch.zeros(2, 3)).dtype  # doctest: +SKIP
hurray.float32
)";

constexpr Signature kFromDlpack("from_dlpack", {"x", "device", "copy"}, 1, 1);
constexpr Signature kFromTorch("from_torch", {"tensor", "copy"}, 1, 1);

PyObject* FromDlpack(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return Guard(module, [&] {
    auto bound = kFromDlpack.Bind(args, nargs, kwnames);
    ModuleState& state = StateOf(module);
    if (bound[1] != nullptr) CheckHostDevice(state, bound[1], "device");
    std::optional<bool> copy;
    if (bound[2] != nullptr) copy = ToOptionalBool(bound[2], "copy");
    return ImportDlpack(state, bound[0], copy).release();
  });
}

PyObject* FromTorch(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return Guard(module, [&] {
    auto bound = kFromTorch.Bind(args, nargs, kwnames);
    std::optional<bool> copy = ToOptionalBool(bound[1], "copy");
    RequireTorch();
    return ImportDlpack(StateOf(module), bound[0], copy).release();
  });
}

PyMethodDef kFunctions[] = {
    {"from_dlpack", Method(FromDlpack), METH_FASTCALL | METH_KEYWORDS, kFromDlpackDoc},
    {"from_torch", Method(FromTorch), METH_FASTCALL | METH_KEYWORDS, kFromTorchDoc},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int AddDlpackImport(PyObject* module, ModuleState& state) {
  state.name_dlpack = PyUnicode_InternFromString("__dlpack__");
  state.dlpack_max_version = Py_BuildValue("(ii)", DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION);
  state.dlpack_max_version_keyword = Py_BuildValue("(s)", "max_version");
  if (state.name_dlpack == nullptr || state.dlpack_max_version == nullptr ||
      state.dlpack_max_version_keyword == nullptr) {
    return -1;
  }
  return PyModule_AddFunctions(module, kFunctions);
}

}  // namespace hurray
