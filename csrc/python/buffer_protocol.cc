// The buffer protocol (PEP 3118): memoryview(t), np.frombuffer(t, …), np.asarray(t).

#include <array>
#include <memory>

#include "core/addressing.h"
#include "python/arguments.h"
#include "python/errors.h"
#include "python/tensor.h"

namespace hurray {

namespace {

// Format codes of the types of whole bytes that have one; nullptr for the rest.
const char* FormatCode(ElementType type) noexcept {
  static_assert(sizeof(int) == 4 && sizeof(short) == 2 && sizeof(long long) == 8);
  constexpr bool kLongIs64 = sizeof(long) == 8;
  switch (type.tag()) {
    case ElementTypes::kFloat16.tag():
      return "e";
    case ElementTypes::kFloat32.tag():
      return "f";
    case ElementTypes::kFloat64.tag():
      return "d";
    case ElementTypes::kInt8.tag():
      return "b";
    case ElementTypes::kUint8.tag():
      return "B";
    case ElementTypes::kInt16.tag():
      return "h";
    case ElementTypes::kUint16.tag():
      return "H";
    case ElementTypes::kInt32.tag():
      return "i";
    case ElementTypes::kUint32.tag():
      return "I";
    case ElementTypes::kInt64.tag():
      return kLongIs64 ? "l" : "q";
    case ElementTypes::kUint64.tag():
      return kLongIs64 ? "L" : "Q";
    case ElementTypes::kComplex64.tag():
      return "Zf";
    case ElementTypes::kComplex128.tag():
      return "Zd";
    default:
      return nullptr;
  }
}

[[noreturn]] void Refuse(const std::string& reason) {
  throw Error(ErrorCode::kNotExportable, reason);
}

// Bytes of all elements; throws for what the buffer protocol cannot express.
uint64_t CheckExportable(const TensorDescriptor& descriptor) {
  CheckSynced(descriptor, ErrorCode::kNotExportable);
  if (!descriptor.device().is_cpu()) {
    Refuse("the tensor is declared to be on another device than the CPU");
  }
  if (HasDynamicExtent(descriptor.shape())) {
    Refuse(StrCat("the shape ", ShapeText(descriptor.shape()), " has a dynamic dimension"));
  }
  const Layout& layout = descriptor.layout();
  if (!HasStrides(layout)) {
    Refuse(StrCat("layout ", LayoutName(layout), " cannot be expressed by the buffer protocol"));
  }
  if (FormatCode(descriptor.dtype()) == nullptr) {
    Refuse(
        StrCat("dtype ", descriptor.dtype().name(), " cannot be expressed by the buffer protocol"));
  }
  for (uint64_t extent : descriptor.shape()) {
    if (extent > uint64_t{PY_SSIZE_T_MAX}) {
      Refuse(StrCat("the extent ", extent, " exceeds what the buffer protocol can express"));
    }
  }
  auto bytes = AddressableBytes(descriptor.shape(), descriptor.packing().group_bytes);
  if (!bytes) {
    Refuse(StrCat("the shape ", ShapeText(descriptor.shape()),
                  " has more bytes than the buffer protocol can express"));
  }
  return *bytes;
}

// Whether the strides are those of a dense array whose last (first, if `fortran`) dimension is
// the fastest. Dimensions of one element may have any stride; no elements are always contiguous.
bool IsContiguous(ShapeView shape, const int64_t* strides, bool fortran) noexcept {
  if (HasZeroExtent(shape)) return true;
  int64_t expected = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    size_t k = fortran ? i : shape.size() - 1 - i;
    if (shape[k] == 1) continue;
    if (strides[k] != expected) return false;
    expected *= static_cast<int64_t>(shape[k]);
  }
  return true;
}

void CheckContiguity(const TensorDescriptor& descriptor, const int64_t* strides, int flags) {
  ShapeView shape = descriptor.shape();
  bool c = IsContiguous(shape, strides, false);
  if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !c) {
    Refuse("the tensor is not C-contiguous");
  }
  bool f = IsContiguous(shape, strides, true);
  if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !f) {
    Refuse("the tensor is not Fortran-contiguous");
  }
  if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !c && !f) {
    Refuse("the tensor is not contiguous");
  }
  // Without strides a consumer takes the bytes to be in C order.
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !c) {
    Refuse("the tensor is not C-contiguous, and strides were not asked for");
  }
}

}  // namespace

Exports* ExportsOf(TensorObject* tensor) {
  if (tensor->exports == nullptr) {
    size_t rank = tensor->descriptor.rank();
    auto made = std::make_unique<Exports>();
    made->element_strides = Strides(rank);
    made->byte_strides = SmallVector<Py_ssize_t, 8>(rank);
    if (!FillElementStrides(tensor->descriptor, {made->element_strides.data(), rank})) {
      return nullptr;
    }
    auto width = static_cast<uint64_t>(tensor->descriptor.packing().group_bytes);
    for (size_t k = 0; k < rank; ++k) {
      // Wraps only for tensors without elements, whose strides nobody follows.
      made->byte_strides[k] =
          static_cast<Py_ssize_t>(static_cast<uint64_t>(made->element_strides[k]) * width);
    }
    tensor->exports = std::move(made);
  }
  return tensor->exports.get();
}

int Tensor_getbuffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return Guard(Py_TYPE(self), [&] {
    TensorObject* tensor = TensorOf(self);
    const TensorDescriptor& descriptor = tensor->descriptor;
    uint64_t bytes = CheckExportable(descriptor);
    const Buffer& memory = tensor->buffers[0];
    if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE && !memory.writable()) {
      Refuse("the tensor's memory is read-only");
    }
    Exports* exports = ExportsOf(tensor);
    CheckContiguity(descriptor, exports->element_strides.data(), flags);

    bool with_shape = (flags & PyBUF_ND) == PyBUF_ND;
    bool with_strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
    bool with_format = (flags & PyBUF_FORMAT) == PyBUF_FORMAT;
    static uint8_t nothing;  // no elements, yet consumers want an address
    view->buf = memory.data() == nullptr ? &nothing : memory.data() + descriptor.byte_offset();
    view->itemsize = static_cast<Py_ssize_t>(descriptor.dtype().bits() / 8);
    view->len = static_cast<Py_ssize_t>(bytes);
    view->readonly = memory.writable() ? 0 : 1;
    view->ndim = static_cast<int>(descriptor.rank());
    view->format = with_format ? const_cast<char*>(FormatCode(descriptor.dtype())) : nullptr;
    // Same width and, checked above, same values: the descriptor's own extents serve.
    view->shape =
        with_shape ? reinterpret_cast<Py_ssize_t*>(const_cast<uint64_t*>(descriptor.shape().data()))
                   : nullptr;
    view->strides = with_strides ? exports->byte_strides.data() : nullptr;
    view->suboffsets = nullptr;
    view->internal = nullptr;
    view->obj = Py_NewRef(self);
    return 0;
  });
}

}  // namespace hurray
