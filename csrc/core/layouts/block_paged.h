// Block-paged: the key/value cache of a transformer. Tokens live in pages of a pool, and a table
// gives each sequence its pages. Format: section 5.9.
#pragma once

#include "core/layouts/layout_kind.h"
#include "core/quantization.h"

namespace hurray {

enum class KvRole : uint8_t { kKey = 0, kValue = 1, kFused = 2 };
std::string_view KvRoleName(KvRole role) noexcept;
std::optional<KvRole> KvRoleOf(std::string_view name) noexcept;

// Of the entries of block_table and seq_ptr.
enum class PageIndexType : uint8_t { kUint32 = 0, kUint64 = 1 };
std::string_view PageIndexTypeName(PageIndexType type) noexcept;
std::optional<PageIndexType> PageIndexTypeOf(std::string_view name) noexcept;

struct BlockPagedLayout {
  static constexpr uint8_t kTag = 0x0A;
  static constexpr std::string_view kName = "block_paged";
  static constexpr bool kIsDense = false;
  static constexpr bool kHasByteOffset = false;
  static constexpr bool kAllowsShard = false;

  uint32_t page_size;   // tokens in a page
  uint64_t num_pages;   // in the pool
  uint32_t paged_axis;  // 0
  uint32_t num_seqs;
  KvRole kv_role = KvRole::kKey;
  std::optional<uint32_t> layer_index = std::nullopt;
  PageIndexType block_table_index_type = PageIndexType::kUint32;

  // Throws kInvalidDescriptor for layer_index 2^32-1, which stands for none.
  void Check() const;

  static BlockPagedLayout Decode(ByteReader& in, size_t);
  void Encode(ByteWriter& out) const noexcept;
  static uint8_t tag() noexcept { return kTag; }
  static size_t encoded_size() noexcept { return 32; }

  void CheckShape(ShapeView shape) const;
  static std::optional<size_t> buffer_count() noexcept { return 3; }
  static std::string_view BufferRole(size_t index) noexcept {
    return index == 0 ? "page_pool" : index == 1 ? "block_table" : "seq_ptr";
  }
  MinimumSize MinimumSizeOf(size_t index, const Geometry& geometry) const;
  static std::optional<int64_t> ElementOffset(ShapeView, IndexView, BufferSpans);
  void CheckContents(const Geometry& geometry, BufferSpans buffers) const;

  // The rules of CheckContents on tables that are not in buffers. Throws kInvalidDescriptor.
  void ValidateIndexBuffers(std::span<const uint64_t> seq_ptr,
                            std::span<const uint64_t> block_table) const;
  // Throws kInvalidDescriptor for a per-channel scheme over tokens and for a per-block scheme
  // whose blocks are not the pages.
  void ValidateQuantizationCompatibility(const Quantization& quantization) const;

  // Token slots in the pool; nullopt beyond 64 bits.
  std::optional<uint64_t> SlotCount() const noexcept {
    return CheckedMul(num_pages, uint64_t{page_size});
  }

  friend bool operator==(const BlockPagedLayout&, const BlockPagedLayout&) noexcept = default;
};

}  // namespace hurray
