// Reads everything in a file, writes what could be read into another, and compares what that
// holds.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/file_reader.h"
#include "io/file_writer.h"
#include "round_trip.h"

namespace hurray {
namespace {

struct Contents {
  std::vector<NamedItem> items;
  Metadata metadata;
};

void RequireFileError(const Error& error) {
  Require(error.code() == ErrorCode::kFile || error.code() == ErrorCode::kInvalidDescriptor,
          "a file has another error");
}

// nullopt if it cannot be opened; without what cannot be read.
std::optional<Contents> ReadAll(std::span<const uint8_t> input, Mode mode) {
  Checkpoint checkpoint;
  std::optional<FileReader> reader;
  try {
    reader.emplace(MemorySource(Borrowed(input)), mode, checkpoint);
  } catch (const Error& error) {
    RequireFileError(error);
    return std::nullopt;
  }
  Contents contents;
  for (size_t entry = 0; entry < reader->entry_count(); ++entry) {
    Require(reader->Find(reader->name(entry)).has_value(), "an entry is not found by its name");
    try {
      Item item = reader->Read(entry, checkpoint);
      if (reader->is_member(entry)) continue;
      contents.items.push_back({std::string(reader->name(entry)), std::move(item)});
    } catch (const Error& error) {
      RequireFileError(error);
    }
  }
  try {
    contents.metadata = reader->ReadMetadata(checkpoint);
  } catch (const Error& error) {
    RequireFileError(error);
  }
  return contents;
}

// nullopt where names collide: members of `w` are always named `w.0`, `w.1`, … when written, but
// another file may name them, and other tensors, as it likes. Also for arrays without elements,
// which are read but never written.
std::optional<std::vector<uint8_t>> Written(const Contents& contents) {
  try {
    FilePlan plan(contents.items, contents.metadata);
    MemorySink sink;
    Checkpoint checkpoint;
    plan.Write(sink, checkpoint);
    Require(sink.bytes().size() == plan.file_size(), "a file has another size than planned");
    return std::vector<uint8_t>(sink.bytes().begin(), sink.bytes().end());
  } catch (const Error& error) {
    Require(error.code() == ErrorCode::kFile, "what was read cannot be written");
    return std::nullopt;
  }
}

void Run(std::span<const uint8_t> input) {
  for (Mode mode : {Mode::kStrict, Mode::kPermissive}) {
    auto contents = ReadAll(input, mode);
    if (!contents) continue;
    auto bytes = Written(*contents);
    if (!bytes) continue;
    auto again = ReadAll(*bytes, mode);
    Require(again.has_value(), "a written file cannot be opened");
    Require(std::equal(again->items.begin(), again->items.end(), contents->items.begin(),
                       contents->items.end(),
                       [](const NamedItem& a, const NamedItem& b) {
                         return a.name == b.name && SameItem(a.item, b.item);
                       }),
            "a file is read differently");
    Require(EncodeMetadata(again->metadata) == EncodeMetadata(contents->metadata),
            "metadata are read differently");
    Require(Written(*again) == bytes, "a file is written differently");
  }
}

}  // namespace
}  // namespace hurray

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hurray::Run({data, size});
  return 0;
}
