#include "core/requirements.h"

#include "core/str_cat.h"

namespace hurray {

namespace {

void CheckSizes(const TensorDescriptor& descriptor, size_t count, ErrorCode size_error) {
  Geometry geometry = descriptor.geometry();
  for (size_t i = 0; i < count; ++i) {
    MinimumSize minimum = LayoutMinimumSize(descriptor.layout(), i, geometry);
    uint64_t size = descriptor.buffers()[i].byte_size;
    if (minimum.kind == MinimumSize::Kind::kUnknown) continue;
    if (minimum.kind == MinimumSize::Kind::kBytes && size >= minimum.bytes) continue;
    std::string what =
        StrCat("buffer ", i, " (", LayoutBufferRole(descriptor.layout(), i), " of layout ",
               LayoutName(descriptor.layout()), ", dtype ", descriptor.dtype().name(), ", shape ",
               ShapeText(descriptor.shape()), ")");
    throw Error(size_error, minimum.kind == MinimumSize::Kind::kHopeless
                                ? StrCat(what, " has ", size, " bytes: ", minimum.reason)
                                : StrCat(what, " has ", size, " bytes, need at least ",
                                         minimum.bytes, " bytes"));
  }
}

}  // namespace

void CheckRequirements(const TensorDescriptor& descriptor, ErrorCode size_error) {
  const Layout& layout = descriptor.layout();
  CheckLayoutShape(layout, descriptor.shape());
  std::optional<size_t> needed = LayoutBufferCount(layout);
  size_t present = descriptor.buffers().size();
  // An opaque layout may have any number of buffers, but at least one.
  if (present < needed.value_or(1)) {
    ThrowInvalidDescriptor(StrCat("layout ", LayoutName(layout), " needs ", needed.value_or(1),
                                  " buffer(s), but ", present, " were supplied"));
  }
  if (needed) CheckSizes(descriptor, *needed, size_error);
  if (const Quantization* quantization = descriptor.quantization()) {
    quantization->CheckPlacement(present, needed.value_or(1));
    if (const auto* paged = std::get_if<BlockPagedLayout>(&layout)) {
      paged->ValidateQuantizationCompatibility(*quantization);
    }
  }
  if (const Shard* shard = descriptor.shard()) {
    if (!AllowsShard(layout)) {
      ThrowInvalidDescriptor(
          StrCat("shard: layout ", LayoutName(layout), " cannot be part of a sharded tensor"));
    }
    shard->CheckHolds(descriptor.shape());
  }
}

void CheckSuppliedSizes(const TensorDescriptor& descriptor, std::span<const uint64_t> sizes) {
  if (sizes.size() != descriptor.buffers().size()) {
    throw Error(ErrorCode::kBuffer, StrCat(sizes.size(),
                                           " buffers were supplied, the descriptor "
                                           "declares ",
                                           descriptor.buffers().size()));
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < descriptor.buffers()[i].byte_size) {
      throw Error(ErrorCode::kBuffer,
                  StrCat("buffer ", i, " has ", sizes[i], " bytes, the descriptor declares ",
                         descriptor.buffers()[i].byte_size));
    }
  }
}

}  // namespace hurray
