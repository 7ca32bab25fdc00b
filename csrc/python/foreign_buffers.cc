#include "python/foreign_buffers.h"

#include <atomic>
#include <new>

#include "core/requirements.h"
#include "python/errors.h"
#include "python/tensor.h"

namespace hurray {

namespace {

struct Counted {
  std::atomic<size_t> holds{1};
  void* owner;
  void (*release)(void* owner);
};

constexpr OwnerOps kForeignOwner{
    [](void* owner) noexcept {
      static_cast<Counted*>(owner)->holds.fetch_add(1, std::memory_order_relaxed);
    },
    [](void* owner) noexcept {
      auto* counted = static_cast<Counted*>(owner);
      if (counted->holds.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
      if (counted->release != nullptr) counted->release(counted->owner);
      delete counted;
    },
    false,
};

const HurrayBuffer& At(const HurrayBuffer* buffers, size_t step, size_t i) {
  return *reinterpret_cast<const HurrayBuffer*>(reinterpret_cast<const char*>(buffers) + i * step);
}

void CheckBuffer(const HurrayBuffer& buffer, const BufferHandle& declared, size_t i) {
  auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kBuffer, StrCat("buffer ", i, what));
  };
  if (buffer.byte_size < declared.byte_size) {
    refuse(
        StrCat(" has ", buffer.byte_size, " bytes, the descriptor declares ", declared.byte_size));
  }
  if (buffer.byte_size > uint64_t{PTRDIFF_MAX}) {
    refuse(StrCat(" claims ", buffer.byte_size, " bytes, more than the address space has"));
  }
  if (declared.byte_size == 0) return;
  if (buffer.data == nullptr)
    refuse(StrCat(" is NULL, it must have ", declared.byte_size, " bytes"));
  if (reinterpret_cast<uintptr_t>(buffer.data) % kMinBufferAlignment != 0) {
    refuse(StrCat(" is ", AddressAlignment(buffer.data), "-byte aligned, it must be ",
                  kMinBufferAlignment));
  }
}

}  // namespace

ForeignHold::ForeignHold(void* owner, void (*release)(void* owner)) {
  auto* counted = new (std::nothrow) Counted;
  if (counted == nullptr) {
    if (release != nullptr) release(owner);
    throw std::bad_alloc();
  }
  counted->owner = owner;
  counted->release = release;
  counted_ = counted;
}

ForeignHold::~ForeignHold() { kForeignOwner.release(counted_); }

Buffer ForeignHold::MakeBuffer(void* data, size_t size, bool writable) const noexcept {
  kForeignOwner.retain(counted_);
  return Buffer(static_cast<uint8_t*>(data), size, writable, counted_, &kForeignOwner);
}

Ref TensorFromForeign(ModuleState& state, std::span<const uint8_t> encoded,
                      const HurrayBuffer* buffers, size_t count, size_t step,
                      const ForeignHold& hold) {
  TensorDescriptor descriptor = TensorDescriptor::Decode(encoded, Mode::kPermissive);
  auto table = descriptor.buffers();
  if (IsVirtual(descriptor.layout())) {
    throw Error(ErrorCode::kUnsupported,
                "the capsule holds a composite head, which owns no buffers");
  }
  if (count != table.size()) {
    ThrowInvalidDescriptor(
        StrCat("the capsule has ", count, " buffers, its descriptor declares ", table.size()));
  }
  TensorBuffers taken;
  for (size_t i = 0; i < count; ++i) {
    const HurrayBuffer& buffer = At(buffers, step, i);
    CheckBuffer(buffer, table[i], i);
    bool writable = (buffer.flags & HURRAY_BUFFER_READ_ONLY) == 0;
    auto size = static_cast<size_t>(table[i].byte_size);
    taken.Add(hold.MakeBuffer(size == 0 ? nullptr : buffer.data, size, writable));
  }
  return NewTensor(state, std::move(descriptor), std::move(taken));
}

}  // namespace hurray
