// The tensor descriptor: everything about a tensor but its bytes. Format: section 3.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/buffer_handle.h"
#include "core/element_type.h"
#include "core/error.h"
#include "core/extension_type.h"
#include "core/layout.h"
#include "core/quantization.h"
#include "core/shape.h"
#include "core/shard.h"
#include "core/small_vector.h"
#include "core/statistics.h"

namespace hurray {

// What a member of an overlay is to it. Format: section 6.5.
enum class MemberRole : uint8_t { kCorrection = 0, kBase = 1 };

using BufferTable = SmallVector<BufferHandle, 3>;

// What a reader does with a layout tag that is reserved for later versions of the format.
enum class Mode : uint8_t {
  kStrict,      // refuse it
  kPermissive,  // keep it as an UnknownLayout
};

// The parts that few descriptors have.
struct DescriptorSections {
  std::optional<Quantization> quantization;
  std::optional<Shard> shard;
  std::optional<Statistics> statistics;
  std::optional<ExtensionType> extension_type;
  std::optional<MemberRole> member_role;
  // Of a descriptor that a newer minor version wrote: its minor number and the bytes behind the
  // sections known here, both written again as they were.
  uint8_t version_minor = 0;
  std::vector<uint8_t> tail;

  // Not "= default": value initialization would clear what absent sections would need, too.
  DescriptorSections() noexcept {}

  bool empty() const noexcept {
    return !quantization && !shard && !statistics && !extension_type && !member_role &&
           version_minor == 0 && tail.empty();
  }
  friend bool operator==(const DescriptorSections&, const DescriptorSections&) = default;
};

// An immutable value: threads may share one without a lock. The common descriptor (rank up to 8,
// one buffer, a dense layout, no sections) lies wholly inside this object; copying and moving it
// allocates nothing.
class TensorDescriptor {
 public:
  static constexpr uint8_t kVersionMajor = 1;
  static constexpr size_t kHeaderSize = 20;
  // The bytes from which the length of a whole descriptor can be read.
  static constexpr size_t kPrefixSize = 10;

  // Puts the parts together unchecked; Validate() tells whether they go together.
  // `sections` may be null.
  TensorDescriptor(ElementType dtype, Shape shape, Layout layout, BufferTable buffers,
                   uint64_t byte_offset = 0,
                   std::shared_ptr<const DescriptorSections> sections = nullptr) noexcept;

  // A row-major one with one buffer and no sections, made in place: unchecked, too.
  // REQUIRES: shape.size() <= kShortRank.
  TensorDescriptor(ElementType dtype, ShapeView shape, const BufferHandle& buffer) noexcept
      : shape_(shape), buffers_{buffer}, byte_offset_(0), dtype_(dtype) {}

  // Decodes the descriptor at the front of `bytes` and checks everything that it alone can tell;
  // bytes behind it are the caller's. Throws kInvalidDescriptor. Never reads past its declared
  // length nor allocates more than a small multiple of it.
  static TensorDescriptor Decode(std::span<const uint8_t> bytes, Mode mode = Mode::kStrict);

  // Declared length of the descriptor at the front of `bytes`, from its first kPrefixSize bytes,
  // after checking magic and major version. Throws kInvalidDescriptor.
  static uint32_t DeclaredLength(std::span<const uint8_t> prefix);

  // The exact inverse of Decode. Throws kInvalidDescriptor if it exceeds 4 GiB.
  std::vector<uint8_t> Encode() const;
  // REQUIRES: out.size() == encoded_size().
  void EncodeTo(std::span<uint8_t> out) const noexcept;
  // Throws kInvalidDescriptor beyond 4 GiB, which the length field cannot hold.
  size_t encoded_size() const;

  // Checks all the rules of one descriptor (the cross-field rules of section 3 and
  // core/requirements). Throws kInvalidDescriptor, or `size_error` for a buffer that is smaller
  // than the layout needs.
  void Validate(ErrorCode size_error) const;

  ElementType dtype() const noexcept { return dtype_; }
  ShapeView shape() const noexcept { return {shape_.data(), shape_.size()}; }
  size_t rank() const noexcept { return shape_.size(); }
  uint64_t byte_offset() const noexcept { return byte_offset_; }
  const Layout& layout() const noexcept { return layout_; }
  std::span<const BufferHandle> buffers() const noexcept {
    return {buffers_.data(), buffers_.size()};
  }
  // One device for all buffers; that of an empty table is the CPU.
  Device device() const noexcept { return buffers_.empty() ? Device{} : buffers_[0].device; }
  // The mode of the first buffer that is not producer-synced; producer-synced if none is.
  SyncMode sync_mode() const noexcept;

  const DescriptorSections& sections() const noexcept;
  const std::shared_ptr<const DescriptorSections>& shared_sections() const noexcept {
    return sections_;
  }
  uint8_t version_minor() const noexcept { return sections().version_minor; }
  // nullptr where the section is absent.
  const Quantization* quantization() const noexcept {
    return Get(&DescriptorSections::quantization);
  }
  const Shard* shard() const noexcept { return Get(&DescriptorSections::shard); }
  const Statistics* statistics() const noexcept { return Get(&DescriptorSections::statistics); }
  const ExtensionType* extension_type() const noexcept {
    return Get(&DescriptorSections::extension_type);
  }
  std::optional<MemberRole> member_role() const noexcept { return sections().member_role; }

  Packing packing() const noexcept { return Packing::Of(dtype_, extension_type()); }
  Geometry geometry() const noexcept { return {shape(), packing(), byte_offset_}; }

  // The same descriptor in another role, or in none.
  TensorDescriptor WithMemberRole(std::optional<MemberRole> role) const;

  friend bool operator==(const TensorDescriptor& a, const TensorDescriptor& b);

 private:
  // An empty row-major one, for Decode to fill in place: moving the parts together afterwards
  // would cost as much as reading them.
  TensorDescriptor() noexcept : byte_offset_(0), dtype_(ElementTypes::kUint8) {}

  // A quick way to see that a row-major descriptor, as nearly all are, breaks no rule but perhaps
  // one of quantization. False where it would take longer to see.
  bool IsSoundRowMajor() const noexcept;

  template <typename Section>
  const Section* Get(std::optional<Section> DescriptorSections::* section) const noexcept {
    if (sections_ == nullptr) return nullptr;
    const auto& value = (*sections_).*section;
    return value ? &*value : nullptr;
  }

  Shape shape_;
  Layout layout_;
  BufferTable buffers_;
  uint64_t byte_offset_;
  std::shared_ptr<const DescriptorSections> sections_;
  ElementType dtype_;
};

std::string_view MemberRoleName(MemberRole role) noexcept;

}  // namespace hurray
