#include "io/verify.h"

#include <memory>
#include <span>

#include "core/contents.h"
#include "core/str_cat.h"
#include "io/file_reader.h"

namespace hurray {

namespace {

// Runs `check`, and keeps what it throws.
template <typename Check>
bool Passes(VerifyReport& report, std::optional<std::string> name, std::string_view rule,
            Check&& check) {
  try {
    check();
    return true;
  } catch (const SystemError&) {
    throw;
  } catch (const Error& error) {
    report.problems.push_back({std::move(name), rule, error.code(), error.what()});
    return false;
  }
}

// What is read only on request is no sound tensor.
void CheckStrictly(const std::string& name, const TensorDescriptor& descriptor) {
  if (!std::holds_alternative<UnknownLayout>(descriptor.layout())) return;
  try {
    TensorDescriptor::Decode(descriptor.Encode(), Mode::kStrict);
  } catch (const Error& error) {
    throw Error(error.code(), StrCat("tensor '", name, "': ", error.what()));
  }
}

void CheckItemContents(VerifyReport& report, const std::string& name, const Item& item) {
  if (auto* composite = std::get_if<CompositeData>(&item)) {
    for (size_t i = 0; i < composite->members.size(); ++i) {
      CheckItemContents(report, name + "." + std::to_string(i), composite->members[i]);
    }
    return;
  }
  const auto& tensor = std::get<TensorData>(item);
  if (!Passes(report, name, "tensor", [&] { CheckStrictly(name, tensor.descriptor); })) return;
  std::vector<std::span<const uint8_t>> buffers;
  for (const Buffer& buffer : tensor.buffers) buffers.push_back(buffer.bytes());
  Passes(report, name, "contents", [&] { CheckContents(tensor.descriptor, buffers); });
}

}  // namespace

VerifyReport VerifyFile(const std::string& path, Checkpoint& checkpoint) {
  VerifyReport report;
  std::unique_ptr<Source> source = OpenSource(path, FileAccess::kMap, checkpoint);
  std::unique_ptr<FileReader> reader;
  if (!Passes(report, std::nullopt, "container", [&] {
        reader = std::make_unique<FileReader>(std::move(source), Mode::kPermissive, checkpoint,
                                              Unsound::kLeft);
      })) {
    return report;
  }
  Passes(report, std::nullopt, "metadata", [&] { reader->ReadMetadata(checkpoint); });
  for (size_t entry = 0; entry < reader->entry_count(); ++entry) {
    if (reader->is_member(entry)) continue;
    ++report.tensor_count;
    std::string name(reader->name(entry));
    std::optional<Item> item;
    if (Passes(report, name, "tensor", [&] { item = reader->Read(entry, checkpoint); })) {
      CheckItemContents(report, name, *item);
    }
  }
  return report;
}

}  // namespace hurray
