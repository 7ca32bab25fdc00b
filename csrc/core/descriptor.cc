#include "core/descriptor.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/requirements.h"
#include "core/str_cat.h"

namespace hurray {

namespace {

constexpr std::array<uint8_t, 4> kMagic{'H', 'R', 'R', 'Y'};

constexpr uint32_t kHasQuantization = 1u << 0;
constexpr uint32_t kHasShard = 1u << 1;
constexpr uint32_t kHasExtensionType = 1u << 2;
constexpr uint32_t kHasStatistics = 1u << 3;
constexpr uint32_t kHasCompositeMember = 1u << 4;
constexpr uint32_t kKnownFlags = 31;

constexpr size_t kMemberSectionSize = 16;

struct Header {
  uint8_t minor;
  uint32_t length;
  uint32_t flags;
  ElementType dtype;
  uint8_t layout_tag;
  uint32_t rank;
};

// What follows magic, major version and length, which DeclaredLength has checked.
Header ReadHeader(ByteReader& in) {
  const uint8_t* bytes = in.ReadBytes(TensorDescriptor::kHeaderSize, "descriptor header").data();
  uint8_t minor = bytes[5];
  uint32_t length = ByteReader::Load<uint32_t>(bytes + 6);
  uint32_t flags = ByteReader::Load<uint32_t>(bytes + 10);
  if ((flags & ~kKnownFlags) != 0) {
    ThrowInvalidDescriptor(StrCat("flags is ", flags, ", only bits 0 to 4 may be set"));
  }
  ElementType dtype = ElementType::FromTag(bytes[14]);
  uint8_t layout_tag = bytes[15];
  if (layout_tag == 0x00 || layout_tag == 0xFF) {
    ThrowInvalidDescriptor(StrCat("layout_tag is ", HexByte(layout_tag), ", which is never valid"));
  }
  uint32_t rank = ByteReader::Load<uint32_t>(bytes + 16);
  if (rank > kMaxRank) {
    ThrowInvalidDescriptor(StrCat("rank is ", rank, ", at most ", kMaxRank, " is allowed"));
  }
  return {minor, length, flags, dtype, layout_tag, rank};
}

void ReadBufferTable(ByteReader& in, BufferTable& table) {
  uint8_t count = in.ReadU8("buffer_count");
  if (uint64_t{count} * BufferHandle::kEncodedSize > in.remaining()) {
    ThrowInvalidDescriptor(StrCat("truncated: buffer_count is ", count, ", which needs ",
                                  uint64_t{count} * BufferHandle::kEncodedSize, " bytes, ",
                                  in.remaining(), " are left"));
  }
  std::span<BufferHandle> handles = table.Overwrite(count);
  for (size_t i = 0; i < count; ++i) handles[i].DecodeFrom(in, i);
}

MemberRole ReadMemberSection(ByteReader& in) {
  uint8_t role = in.ReadU8("member_role");
  if (role > 1) {
    ThrowInvalidDescriptor(
        StrCat("member_role is ", role, ", it must be 0 (correction) or 1 (base)"));
  }
  in.ReadReserved(kMemberSectionSize - 1, "composite member section");
  return static_cast<MemberRole>(role);
}

// Whether what is decoded is wanted, or only whether it can be decoded. The bytes that no rule
// looks at may be nearly all there are; a probe does not copy them.
enum class Purpose : uint8_t { kUse, kProbe };

// The flagged sections, in their order on the wire, then what a newer minor version left.
// `out` stays as it is where there is nothing to read.
void ReadSections(ByteReader& in, const Header& header,
                  std::shared_ptr<const DescriptorSections>& out, Purpose purpose = Purpose::kUse) {
  if (header.flags == 0 && header.minor == 0) {
    if (in.remaining() != 0) {
      ThrowInvalidDescriptor(StrCat("descriptor_length is ", header.length, ", but ",
                                    in.remaining(), " bytes are left after the last section"));
    }
    return;
  }
  auto sections = std::make_shared<DescriptorSections>();
  if ((header.flags & kHasQuantization) != 0) {
    uint32_t length = in.ReadU32("quantization_length");
    auto section = in.ReadBytes(length, "quantization");
    if (purpose == Purpose::kProbe) {
      section = section.first(std::min(section.size(), Quantization::kLongestScheme));
    }
    sections->quantization.emplace().DecodeFrom(section);
  }
  if ((header.flags & kHasShard) != 0) sections->shard = Shard::Decode(in, header.rank);
  if ((header.flags & kHasStatistics) != 0) sections->statistics = Statistics::Decode(in);
  if ((header.flags & kHasExtensionType) != 0) sections->extension_type = ExtensionType::Decode(in);
  if ((header.flags & kHasCompositeMember) != 0) sections->member_role = ReadMemberSection(in);
  sections->version_minor = header.minor;
  if (header.minor > 0) {
    auto tail = in.ReadBytes(in.remaining(), "tail");
    sections->tail.assign(tail.begin(), tail.end());
  } else if (in.remaining() != 0) {
    ThrowInvalidDescriptor(StrCat("descriptor_length is ", header.length, ", but ", in.remaining(),
                                  " bytes are left after the last section"));
  }
  out = std::move(sections);
}

// Bytes of the flagged sections, given where the first of them would start; nullopt if they do
// not fit. Cheap: tells impossible splits from possible ones without decoding.
std::optional<uint64_t> SectionsSize(std::span<const uint8_t> rest, const Header& header) {
  uint64_t size = 0;
  if ((header.flags & kHasQuantization) != 0) {
    if (rest.size() < 4) return std::nullopt;
    size += 4 + uint64_t{ByteReader::Load<uint32_t>(rest.data())};
  }
  if ((header.flags & kHasShard) != 0) size += 16 * uint64_t{header.rank};
  if ((header.flags & kHasStatistics) != 0) size += Statistics::kEncodedSize;
  if ((header.flags & kHasExtensionType) != 0) size += ExtensionType::kEncodedSize;
  if ((header.flags & kHasCompositeMember) != 0) size += kMemberSectionSize;
  return size;
}

// Whether a buffer table at `split` and the flagged sections after it would end where `rest` does.
// Cheap: only the few splits that pass are worth decoding.
bool SplitFills(std::span<const uint8_t> rest, size_t split, const Header& header) {
  uint64_t table_end = split + 1 + uint64_t{rest[split]} * BufferHandle::kEncodedSize;
  if (rest[split] == 0 || table_end > rest.size()) return false;
  auto sections_size = SectionsSize(rest.subspan(static_cast<size_t>(table_end)), header);
  return sections_size && table_end + *sections_size == rest.size();
}

// The descriptor whose unknown payload ends at `split`. A probe leaves the payload out.
TensorDescriptor DecodeSplit(std::span<const uint8_t> rest, size_t split, const Header& header,
                             const Shape& shape, uint64_t byte_offset, Purpose purpose) {
  auto payload = rest.first(purpose == Purpose::kUse ? split : 0);
  ByteReader in(rest.subspan(split));
  BufferTable buffers;
  ReadBufferTable(in, buffers);
  std::shared_ptr<const DescriptorSections> sections;
  ReadSections(in, header, sections, purpose);
  TensorDescriptor descriptor(
      header.dtype, shape, UnknownLayout{{}, header.layout_tag, {payload.begin(), payload.end()}},
      std::move(buffers), byte_offset, std::move(sections));
  descriptor.Validate(ErrorCode::kInvalidDescriptor);
  return descriptor;
}

bool IsValidSplit(std::span<const uint8_t> rest, size_t split, const Header& header,
                  const Shape& shape, uint64_t byte_offset) {
  try {
    DecodeSplit(rest, split, header, shape, byte_offset, Purpose::kProbe);
    return true;
  } catch (const Error&) {
    return false;  // not the split we look for
  }
}

// Only bytes written to slow us down have more splits than this that could be right.
constexpr size_t kMaxProbes = 16384;

// The payload of a reserved layout tag has no length on the wire. Takes the only split of `rest`
// at which a buffer table and the flagged sections are valid and fill the descriptor exactly.
TensorDescriptor DecodeUnknownLayout(std::span<const uint8_t> rest, const Header& header,
                                     const Shape& shape, uint64_t byte_offset) {
  std::string tag = HexByte(header.layout_tag);
  if (header.minor > 0) {
    ThrowInvalidDescriptor(StrCat("layout_tag is ", tag,
                                  ", which is unknown, in a descriptor of "
                                  "minor version ",
                                  header.minor, ": where its payload ends cannot be told"));
  }
  std::optional<size_t> found;
  size_t probes = 0;
  for (size_t split = 0; split < rest.size(); ++split) {
    if (!SplitFills(rest, split, header)) continue;
    if (++probes > kMaxProbes) {
      ThrowInvalidDescriptor(StrCat("layout_tag is ", tag,
                                    ", which is unknown, and its payload "
                                    "could end at more than ",
                                    kMaxProbes, " places"));
    }
    if (!IsValidSplit(rest, split, header, shape, byte_offset)) continue;
    if (found) {
      ThrowInvalidDescriptor(StrCat("layout_tag is ", tag,
                                    ", which is unknown, and its payload "
                                    "may have ",
                                    *found, " or ", split, " bytes"));
    }
    found = split;
  }
  if (!found) {
    ThrowInvalidDescriptor(StrCat("layout_tag is ", tag,
                                  ", which is unknown, and no split of the "
                                  "bytes after it leaves a valid buffer "
                                  "table"));
  }
  return DecodeSplit(rest, *found, header, shape, byte_offset, Purpose::kUse);
}

}  // namespace

TensorDescriptor::TensorDescriptor(ElementType dtype, Shape shape, Layout layout,
                                   BufferTable buffers, uint64_t byte_offset,
                                   std::shared_ptr<const DescriptorSections> sections) noexcept
    : shape_(std::move(shape)),
      layout_(std::move(layout)),
      buffers_(std::move(buffers)),
      byte_offset_(byte_offset),
      sections_(std::move(sections)),
      dtype_(dtype) {}

uint32_t TensorDescriptor::DeclaredLength(std::span<const uint8_t> prefix) {
  ByteReader in(prefix);
  auto magic = in.ReadBytes(4, "magic");
  if (!std::equal(magic.begin(), magic.end(), kMagic.begin())) {
    ThrowInvalidDescriptor(StrCat("magic is ", HexByte(magic[0]), " ", HexByte(magic[1]), " ",
                                  HexByte(magic[2]), " ", HexByte(magic[3]),
                                  ", it must be 48 52 52 59 (HRRY)"));
  }
  uint8_t major = in.ReadU8("version_major");
  if (major != kVersionMajor) {
    ThrowInvalidDescriptor(StrCat("version_major is ", major, ", this version reads 1"));
  }
  in.ReadU8("version_minor");
  uint32_t length = in.ReadU32("descriptor_length");
  if (length < kHeaderSize) {
    ThrowInvalidDescriptor(
        StrCat("descriptor_length is ", length, ", it must be at least ", kHeaderSize));
  }
  return length;
}

TensorDescriptor TensorDescriptor::Decode(std::span<const uint8_t> bytes, Mode mode) {
  uint32_t length = DeclaredLength(bytes);
  if (length > bytes.size()) {
    ThrowInvalidDescriptor(
        StrCat("descriptor_length is ", length, ", only ", bytes.size(), " bytes are there"));
  }
  bytes = bytes.first(length);
  ByteReader in(bytes);
  Header header = ReadHeader(in);
  if (uint64_t{header.rank} * 8 > in.remaining()) {
    ThrowInvalidDescriptor(StrCat("truncated: rank is ", header.rank, ", which needs ",
                                  header.rank * 8, " bytes of shape, ", in.remaining(),
                                  " are left"));
  }
  TensorDescriptor descriptor;  // the only variable returned: it is made where the caller wants it
  descriptor.dtype_ = header.dtype;
  // One by one: there are few, and a copy of bytes takes its time to begin.
  for (uint64_t& extent : descriptor.shape_.Overwrite(header.rank)) extent = in.ReadU64("shape");
  descriptor.byte_offset_ = in.ReadU64("byte_offset");
  if (mode == Mode::kPermissive && LayoutTagKind(header.layout_tag) == "reserved") {
    descriptor = DecodeUnknownLayout(bytes.subspan(in.position()), header, descriptor.shape_,
                                     descriptor.byte_offset_);
    return descriptor;
  }
  if (header.layout_tag != RowMajorLayout::kTag) {
    descriptor.layout_ = DecodeLayout(in, header.layout_tag, header.rank);
  }
  ReadBufferTable(in, descriptor.buffers_);
  ReadSections(in, header, descriptor.sections_);
  descriptor.Validate(ErrorCode::kInvalidDescriptor);
  return descriptor;
}

bool TensorDescriptor::IsSoundRowMajor() const noexcept {
  if (!std::holds_alternative<RowMajorLayout>(layout_) || dtype_.is_private() ||
      rank() > kMaxRank || buffers_.empty() || buffers_.size() > kMaxBuffers ||
      extension_type() != nullptr || shard() != nullptr) {
    return false;
  }
  std::span<const BufferHandle> handles = buffers();
  for (const BufferHandle& handle : handles.subspan(1)) {
    if (handle.device != handles[0].device) return false;
  }
  MinimumSize minimum =
      RowMajorLayout::MinimumSizeOf(0, {shape(), Packing::OfBits(dtype_.bits()), byte_offset_});
  return byte_offset_ <= handles[0].byte_size &&
         (minimum.kind == MinimumSize::Kind::kUnknown ||
          (minimum.kind == MinimumSize::Kind::kBytes && minimum.bytes <= handles[0].byte_size));
}

void TensorDescriptor::Validate(ErrorCode size_error) const {
  if (IsSoundRowMajor()) {
    if (const Quantization* scheme = quantization()) scheme->CheckPlacement(buffers_.size(), 1);
    return;
  }
  // Where something is wrong it is told here.
  if (rank() > kMaxRank) {
    ThrowInvalidDescriptor(
        StrCat("the shape has rank ", rank(), ", at most ", kMaxRank, " is allowed"));
  }
  if (buffers_.size() > kMaxBuffers) {
    ThrowInvalidDescriptor(
        StrCat("there are ", buffers_.size(), " buffers, at most ", kMaxBuffers, " are allowed"));
  }
  if (dtype_.is_private() && extension_type() == nullptr) {
    ThrowInvalidDescriptor(StrCat("type_tag ", HexByte(dtype_.tag()),
                                  " is a private extension: it must describe itself by an "
                                  "extension_type"));
  }
  if (!dtype_.is_private() && extension_type() != nullptr) {
    ThrowInvalidDescriptor(StrCat("an extension_type is given, but dtype ", dtype_.name(),
                                  " is not a private extension"));
  }
  for (size_t i = 1; i < buffers_.size(); ++i) {
    if (buffers_[i].device != buffers_[0].device) {
      ThrowInvalidDescriptor(StrCat("buffer ", i,
                                    " is on another device or memory class than "
                                    "buffer 0; all must be on one"));
    }
  }
  if (byte_offset_ != 0 && !HasByteOffset(layout_)) {
    ThrowInvalidDescriptor(
        StrCat("byte_offset is ", byte_offset_, ", layout ", LayoutName(layout_), " needs 0"));
  }
  if (IsVirtual(layout_)) {
    if (!buffers_.empty()) {
      ThrowInvalidDescriptor(
          StrCat("buffer_count is ", buffers_.size(), ", a composite head owns no buffers"));
    }
    if (quantization() != nullptr) {
      ThrowInvalidDescriptor("a composite head cannot be quantized");
    }
    if (member_role()) {
      ThrowInvalidDescriptor("a composite head cannot carry a composite member section");
    }
  } else if (buffers_.empty()) {
    ThrowInvalidDescriptor("buffer_count is 0, only a composite head has no buffers");
  } else if (byte_offset_ > buffers_[0].byte_size) {
    ThrowInvalidDescriptor(StrCat("byte_offset is ", byte_offset_, ", buffer 0 has ",
                                  buffers_[0].byte_size, " bytes"));
  }
  CheckRequirements(*this, size_error);
}

size_t TensorDescriptor::encoded_size() const {
  size_t size = kHeaderSize + 8 * rank() + 8 + LayoutEncodedSize(layout_) + 1 +
                BufferHandle::kEncodedSize * buffers_.size();
  if (sections_ != nullptr) {
    if (quantization() != nullptr) size += 4 + quantization()->encoded_size();
    if (shard() != nullptr) size += shard()->encoded_size();
    if (statistics() != nullptr) size += Statistics::kEncodedSize;
    if (extension_type() != nullptr) size += ExtensionType::kEncodedSize;
    if (member_role()) size += kMemberSectionSize;
    size += sections_->tail.size();
  }
  if (size > UINT32_MAX) {
    ThrowInvalidDescriptor(
        StrCat("the descriptor would have ", size, " bytes, at most 4294967295 are allowed"));
  }
  return size;
}

std::vector<uint8_t> TensorDescriptor::Encode() const {
  std::vector<uint8_t> out(encoded_size());
  EncodeTo(out);
  return out;
}

void TensorDescriptor::EncodeTo(std::span<uint8_t> bytes) const noexcept {
  ByteWriter out(bytes);
  const DescriptorSections& extra = sections();
  uint32_t flags = (extra.quantization ? kHasQuantization : 0) | (extra.shard ? kHasShard : 0) |
                   (extra.extension_type ? kHasExtensionType : 0) |
                   (extra.statistics ? kHasStatistics : 0) |
                   (extra.member_role ? kHasCompositeMember : 0);
  out.WriteBytes(kMagic);
  out.WriteU8(kVersionMajor);
  out.WriteU8(extra.version_minor);
  out.WriteU32(static_cast<uint32_t>(bytes.size()));
  out.WriteU32(flags);
  out.WriteU8(dtype_.tag());
  out.WriteU8(LayoutTag(layout_));
  out.WriteU32(static_cast<uint32_t>(rank()));
  out.WriteNumbers(shape());
  out.WriteU64(byte_offset_);
  EncodeLayout(layout_, out);
  out.WriteU8(static_cast<uint8_t>(buffers_.size()));
  for (const BufferHandle& handle : buffers_) handle.Encode(out);
  if (extra.quantization) {
    out.WriteU32(static_cast<uint32_t>(extra.quantization->encoded_size()));
    extra.quantization->Encode(out);
  }
  if (extra.shard) extra.shard->Encode(out);
  if (extra.statistics) extra.statistics->Encode(out);
  if (extra.extension_type) extra.extension_type->Encode(out);
  if (extra.member_role) {
    out.WriteU8(static_cast<uint8_t>(*extra.member_role));
    out.WriteZeros(kMemberSectionSize - 1);
  }
  out.WriteBytes(extra.tail);
}

SyncMode TensorDescriptor::sync_mode() const noexcept {
  for (const BufferHandle& handle : buffers_) {
    if (handle.sync_mode != SyncMode::kProducerSynced) return handle.sync_mode;
  }
  return SyncMode::kProducerSynced;
}

const DescriptorSections& TensorDescriptor::sections() const noexcept {
  if (sections_ != nullptr) return *sections_;
  static const DescriptorSections kNone;
  return kNone;
}

TensorDescriptor TensorDescriptor::WithMemberRole(std::optional<MemberRole> role) const {
  TensorDescriptor out(*this);
  if (sections().member_role == role) return out;
  auto changed = std::make_shared<DescriptorSections>(sections());
  changed->member_role = role;
  if (changed->empty()) {
    out.sections_ = nullptr;
  } else {
    out.sections_ = std::move(changed);
  }
  return out;
}

bool operator==(const TensorDescriptor& a, const TensorDescriptor& b) {
  return a.dtype_ == b.dtype_ && a.byte_offset_ == b.byte_offset_ && a.shape_ == b.shape_ &&
         a.layout_ == b.layout_ && a.buffers_ == b.buffers_ && a.sections() == b.sections();
}

std::string_view MemberRoleName(MemberRole role) noexcept {
  return role == MemberRole::kBase ? "base" : "correction";
}

}  // namespace hurray
