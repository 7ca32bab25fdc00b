#include "core/layouts/block_paged.h"

#include <array>

#include "core/layouts/index_table.h"

namespace hurray {

namespace {

constexpr uint32_t kNoLayer = 0xFFFFFFFF;
constexpr std::array<std::string_view, 3> kRoleNames{"key", "value", "fused"};
constexpr std::array<std::string_view, 2> kIndexTypeNames{"uint32", "uint64"};

template <typename Enum, size_t N>
std::optional<Enum> EnumOf(const std::array<std::string_view, N>& names,
                           std::string_view name) noexcept {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

template <typename Enum>
Enum ReadEnum(ByteReader& in, std::string_view field, uint8_t last) {
  uint8_t value = in.ReadU8(field);
  if (value > last) {
    ThrowInvalidDescriptor(
        StrCat("layout block_paged: ", field, " is ", value, ", it must be from 0 to ", last));
  }
  return static_cast<Enum>(value);
}

[[noreturn]] void ThrowEntry(std::string_view table, uint64_t position, uint64_t value,
                             const std::string& rule) {
  ThrowInvalidDescriptor(StrCat("layout block_paged: ", table, ", position ", position, ": ", value,
                                " must be ", rule));
}

// Checks that seq_ptr starts at 0 and never decreases; returns its last entry.
template <typename Table>
uint64_t CheckSequences(const Table& seq_ptr) {
  uint64_t previous = seq_ptr[0];
  if (previous != 0) ThrowEntry("buffer 2 (seq_ptr)", 0, previous, "0");
  for (size_t i = 1; i < seq_ptr.size(); ++i) {
    uint64_t next = seq_ptr[i];
    if (next < previous) {
      ThrowEntry("buffer 2 (seq_ptr)", i, next, StrCat("at least its predecessor, ", previous));
    }
    previous = next;
  }
  return previous;
}

template <typename Table>
void CheckPages(const Table& block_table, uint64_t num_pages) {
  for (size_t i = 0; i < block_table.size(); ++i) {
    if (uint64_t page = block_table[i]; page >= num_pages) {
      ThrowEntry("buffer 1 (block_table)", i, page,
                 StrCat("below num_pages, which is ", num_pages));
    }
  }
}

}  // namespace

std::string_view KvRoleName(KvRole role) noexcept { return kRoleNames[static_cast<size_t>(role)]; }
std::optional<KvRole> KvRoleOf(std::string_view name) noexcept {
  return EnumOf<KvRole>(kRoleNames, name);
}

std::string_view PageIndexTypeName(PageIndexType type) noexcept {
  return kIndexTypeNames[static_cast<size_t>(type)];
}
std::optional<PageIndexType> PageIndexTypeOf(std::string_view name) noexcept {
  return EnumOf<PageIndexType>(kIndexTypeNames, name);
}

void BlockPagedLayout::Check() const {
  if (layer_index == kNoLayer) {
    ThrowInvalidDescriptor(
        "layout block_paged: layer_index is 4294967295, which stands for no layer");
  }
}

BlockPagedLayout BlockPagedLayout::Decode(ByteReader& in, size_t) {
  BlockPagedLayout layout{};
  layout.page_size = in.ReadU32("page_size");
  layout.num_pages = in.ReadU64("num_pages");
  layout.paged_axis = in.ReadU32("paged_axis");
  layout.num_seqs = in.ReadU32("num_seqs");
  layout.kv_role = ReadEnum<KvRole>(in, "kv_role", 2);
  if (uint32_t layer = in.ReadU32("layer_index"); layer != kNoLayer) layout.layer_index = layer;
  layout.block_table_index_type = ReadEnum<PageIndexType>(in, "block_table_index_type", 1);
  in.ReadReserved(6, "layout block_paged");
  return layout;
}

void BlockPagedLayout::Encode(ByteWriter& out) const noexcept {
  out.WriteU32(page_size);
  out.WriteU64(num_pages);
  out.WriteU32(paged_axis);
  out.WriteU32(num_seqs);
  out.WriteU8(static_cast<uint8_t>(kv_role));
  out.WriteU32(layer_index.value_or(kNoLayer));
  out.WriteU8(static_cast<uint8_t>(block_table_index_type));
  out.WriteZeros(6);
}

void BlockPagedLayout::CheckShape(ShapeView shape) const {
  CheckRank(kName, shape, 3, /*exact=*/true);
  if (paged_axis != 0) {
    ThrowInvalidDescriptor(
        StrCat("layout block_paged: paged_axis is ", paged_axis, ", it must be 0"));
  }
  if (page_size == 0) {
    ThrowInvalidDescriptor("layout block_paged: page_size is 0, it must be at least 1");
  }
}

MinimumSize BlockPagedLayout::MinimumSizeOf(size_t index, const Geometry& geometry) const {
  if (index == 1) return MinimumSize::Bytes(0);  // seq_ptr tells
  if (index == 2) {
    uint64_t width = block_table_index_type == PageIndexType::kUint32 ? 4 : 8;
    return MinimumSize::Bytes((uint64_t{num_seqs} + 1) * width);
  }
  uint64_t heads = geometry.shape[1], head_size = geometry.shape[2];
  if (heads == kDynamicExtent || head_size == kDynamicExtent) return MinimumSize::Unknown();
  std::array<uint64_t, 4> factors{num_pages, page_size, heads, head_size};
  return DenseMinimum(geometry, CheckedProduct(factors));
}

std::optional<int64_t> BlockPagedLayout::ElementOffset(ShapeView, IndexView, BufferSpans) {
  throw Error(ErrorCode::kUnsupported,
              "layout block_paged has an offset for a token of a sequence, not for an index: how "
              "many tokens each sequence has is not stored");
}

void BlockPagedLayout::CheckContents(const Geometry&, BufferSpans buffers) const {
  size_t width = block_table_index_type == PageIndexType::kUint32 ? 4 : 8;
  IndexTable seq_ptr(buffers, 2, kName, BufferRole(2), uint64_t{num_seqs} + 1, width);
  uint64_t pages_in_use = CheckSequences(seq_ptr);
  CheckPages(IndexTable(buffers, 1, kName, BufferRole(1), pages_in_use, width), num_pages);
}

void BlockPagedLayout::ValidateIndexBuffers(std::span<const uint64_t> seq_ptr,
                                            std::span<const uint64_t> block_table) const {
  if (seq_ptr.size() != uint64_t{num_seqs} + 1) {
    ThrowInvalidDescriptor(StrCat("layout block_paged: seq_ptr has ", seq_ptr.size(),
                                  " entries, it must have num_seqs + 1, which is ",
                                  uint64_t{num_seqs} + 1));
  }
  if (uint64_t last = CheckSequences(seq_ptr); last != block_table.size()) {
    ThrowEntry("buffer 2 (seq_ptr)", num_seqs, last,
               StrCat("the length of block_table, which is ", block_table.size()));
  }
  CheckPages(block_table, num_pages);
}

void BlockPagedLayout::ValidateQuantizationCompatibility(const Quantization& quantization) const {
  if (const auto* channel = std::get_if<PerChannelAffine>(&quantization.scheme)) {
    if (channel->axis == 0) {
      ThrowInvalidDescriptor(
          "quantization: axis is 0, a per-channel scheme on layout block_paged needs 1 or 2");
    }
  }
  if (const auto* block = std::get_if<PerBlockAffine>(&quantization.scheme)) {
    if (block->axis != 0) {
      ThrowInvalidDescriptor(StrCat("quantization: axis is ", block->axis,
                                    ", a per-block scheme on layout block_paged needs 0"));
    }
    if (block->block_size != page_size) {
      ThrowInvalidDescriptor(StrCat("quantization: block_size is ", block->block_size,
                                    ", on layout block_paged it must be page_size, which is ",
                                    page_size));
    }
  }
}

}  // namespace hurray
