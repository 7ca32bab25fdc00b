// The head of a composite: it owns no buffers and presents the tensors that follow it.
// Format: section 8.
#pragma once

#include "core/layouts/layout_kind.h"

namespace hurray {

enum class CompositionRule : uint8_t { kPartition = 1, kOverlay = 2, kGroup = 3 };
enum class CombineOp : uint8_t { kNone = 0, kReplace = 1, kAdd = 2 };
std::string_view CompositionRuleName(CompositionRule rule) noexcept;
std::optional<CompositionRule> CompositionRuleOf(std::string_view name) noexcept;
std::string_view CombineOpName(CombineOp op) noexcept;  // "" for none
std::optional<CombineOp> CombineOpOf(std::string_view name) noexcept;

struct CompositeHeadLayout {
  static constexpr uint8_t kTag = 0x0B;
  static constexpr std::string_view kName = "composite";
  static constexpr bool kIsDense = false;
  static constexpr bool kHasByteOffset = false;
  static constexpr bool kAllowsShard = true;

  CompositionRule rule;
  CombineOp combine_op;
  uint32_t member_count;

  // Throws kInvalidDescriptor for a member count of 2^32-1, which is reserved.
  void Check() const;

  static CompositeHeadLayout Decode(ByteReader& in, size_t);
  void Encode(ByteWriter& out) const noexcept;
  static uint8_t tag() noexcept { return kTag; }
  static size_t encoded_size() noexcept { return 8; }

  void CheckShape(ShapeView shape) const;
  static std::optional<size_t> buffer_count() noexcept { return 0; }
  static std::string_view BufferRole(size_t) noexcept { return ""; }
  static MinimumSize MinimumSizeOf(size_t, const Geometry&) noexcept {
    return MinimumSize::Unknown();
  }
  static std::optional<int64_t> ElementOffset(ShapeView, IndexView, BufferSpans);
  static void CheckContents(const Geometry&, BufferSpans) noexcept {}

  friend bool operator==(const CompositeHeadLayout&, const CompositeHeadLayout&) noexcept = default;
};

}  // namespace hurray
