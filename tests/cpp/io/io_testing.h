// What the tests of files and streams share.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/file_reader.h"
#include "io/file_writer.h"
#include "io/stream_reader.h"
#include "io/stream_writer.h"
#include "testing.h"

namespace hurray {

// A folder that is gone with everything in it after the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "hurray-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  size_t file_count() const {
    auto files = std::filesystem::directory_iterator(path_);
    return static_cast<size_t>(std::distance(begin(files), end(files)));
  }

 private:
  std::filesystem::path path_;
};

inline std::vector<uint8_t> ReadWholeFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
inline void WriteWholeFile(const std::string& path, std::span<const uint8_t> bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

inline std::vector<uint8_t> ToVector(std::span<const uint8_t> bytes) {
  return {bytes.begin(), bytes.end()};
}

// Bytes that differ from their neighbours.
inline std::vector<uint8_t> Pattern(size_t size, size_t seed = 1) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>((i * 131 + seed * 7 + i / 251));
  return bytes;
}

// A tensor with a pattern in each of the buffers that its descriptor declares.
inline TensorData Filled(TensorDescriptor descriptor, size_t seed = 1) {
  std::vector<Buffer> buffers;
  for (const BufferHandle& handle : descriptor.buffers()) {
    buffers.push_back(Buffer::CopyOf(Pattern(static_cast<size_t>(handle.byte_size), seed++)));
  }
  return {std::move(descriptor), std::move(buffers)};
}

// Many bytes, quickly made.
inline TensorData Zeros(uint64_t size) {
  return {Dense(ElementTypes::kInt8, {size}), {Buffer::Allocate(size, 64, true)}};
}

inline TensorDescriptor Head(CompositionRule rule, CombineOp op, uint32_t count,
                             const std::vector<uint64_t>& shape,
                             ElementType dtype = ElementTypes::kInt8) {
  return TensorDescriptor(dtype, ShapeOf(shape), CompositeHeadLayout{rule, op, count},
                          BufferTable());
}

// Row `row` of an int8 tensor of shape [rows, 4].
inline TensorData Row(uint64_t row, uint64_t rows) {
  DescriptorSections sections;
  sections.shard = Shard(ShapeOf({rows, 4}), ShapeOf({row, 0}));
  return Filled(Dense(ElementTypes::kInt8, {1, 4}, sections), row + 1);
}

// Two rows that make a whole.
inline CompositeData TwoRows() {
  CompositeData composite{Head(CompositionRule::kPartition, CombineOp::kNone, 2, {2, 4}), {}};
  composite.members.push_back(Row(0, 2));
  composite.members.push_back(Row(1, 2));
  return composite;
}

// A base of shape [2, 4] and a correction of its second row.
inline CompositeData CorrectedRows() {
  CompositeData composite{Head(CompositionRule::kOverlay, CombineOp::kReplace, 2, {2, 4}), {}};
  DescriptorSections sections;
  sections.shard = Shard(ShapeOf({2, 4}), ShapeOf({0, 0}));
  composite.members.push_back(Filled(Dense(ElementTypes::kInt8, {2, 4}, sections)));
  composite.members.push_back(Row(1, 2));
  return composite;
}

inline CompositeData Group(std::vector<Item> members) {
  return {
      Head(CompositionRule::kGroup, CombineOp::kNone, static_cast<uint32_t>(members.size()), {}),
      std::move(members)};
}

// Empty groups in each other; the outermost one has depth 1.
inline CompositeData Nested(size_t depth) {
  CompositeData composite = Group({});
  for (size_t i = 1; i < depth; ++i) {
    std::vector<Item> members;
    members.push_back(std::move(composite));
    composite = Group(std::move(members));
  }
  return composite;
}

// One of everything that is handled differently.
inline std::vector<NamedItem> SampleItems() {
  std::vector<NamedItem> items;
  items.push_back({"weights", Filled(Dense(ElementTypes::kFloat32, {3, 4}))});
  items.push_back({"empty", Filled(Dense(ElementTypes::kFloat64, {0, 4}))});
  items.push_back(
      {"three buffers", Filled(Described(ElementTypes::kInt8, {5}, RowMajorLayout{}, {5, 0, 70}))});
  items.push_back({"rows", TwoRows()});
  items.push_back({"overlay", CorrectedRows()});
  items.push_back({"\xC3\xA9", Filled(Dense(ElementTypes::kUint16, {}))});
  std::vector<Item> members;
  members.push_back(TwoRows());
  members.push_back(Filled(Dense(ElementTypes::kBool, {9})));
  items.push_back({"group", Group(std::move(members))});
  return items;
}

inline Metadata SampleMetadata() {
  return {
      {"producer", std::string("test")}, {"step", int64_t{-7}}, {"scores", std::vector{0.5, 2.0}}};
}

inline bool SameItem(const Item& a, const Item& b) {
  if (a.index() != b.index() || !(a.descriptor() == b.descriptor())) return false;
  if (auto* tensor = std::get_if<TensorData>(&a)) {
    const auto& other = std::get<TensorData>(b).buffers;
    return std::equal(
        tensor->buffers.begin(), tensor->buffers.end(), other.begin(), other.end(),
        [](const Buffer& x, const Buffer& y) { return std::ranges::equal(x.bytes(), y.bytes()); });
  }
  return std::ranges::equal(std::get<CompositeData>(a).members, std::get<CompositeData>(b).members,
                            SameItem);
}

inline std::vector<uint8_t> FileBytes(const std::vector<NamedItem>& items,
                                      const Metadata& metadata = {}) {
  FilePlan plan(items, metadata);
  MemorySink sink;
  Checkpoint checkpoint;
  plan.Write(sink, checkpoint);
  EXPECT_EQ(sink.bytes().size(), plan.file_size());
  return ToVector(sink.bytes());
}

inline FileReader OpenBytes(std::span<const uint8_t> bytes, Mode mode = Mode::kStrict) {
  Checkpoint checkpoint;
  return FileReader(MemorySource(Buffer::CopyOf(bytes, 4096)), mode, checkpoint);
}

// The same without a copy: `bytes` must outlive what is read.
inline Buffer InPlace(std::span<const uint8_t> bytes) {
  return Buffer(const_cast<uint8_t*>(bytes.data()), bytes.size(), false, nullptr, nullptr);
}

// The code of the error that `work` throws; nullopt if it throws none. Cheaper than a matcher
// where there are thousands of inputs.
template <typename Work>
std::optional<ErrorCode> CodeOf(Work&& work) {
  try {
    work();
    return std::nullopt;
  } catch (const Error& error) {
    return error.code();
  }
}

// Calls `use` with `bytes` after each of a few changes to byte `at`.
template <typename Use>
void WithByteChanged(std::vector<uint8_t>& bytes, size_t at, Use&& use) {
  for (int flip : {1, 0x40, 0xFF}) {
    auto change = [&] { bytes[at] = static_cast<uint8_t>(bytes[at] ^ flip); };
    change();
    use();
    change();
  }
}

// All items that are no members, in file order.
inline std::vector<NamedItem> AllItems(const FileReader& reader) {
  Checkpoint checkpoint;
  std::vector<NamedItem> items;
  for (size_t i = 0; i < reader.entry_count(); ++i) {
    if (reader.is_member(i)) continue;
    items.push_back({std::string(reader.name(i)), reader.Read(i, checkpoint)});
  }
  return items;
}

inline void ExpectSameItems(const std::vector<NamedItem>& got,
                            const std::vector<NamedItem>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].name, wanted[i].name);
    EXPECT_TRUE(SameItem(got[i].item, wanted[i].item)) << wanted[i].name;
  }
}

inline std::vector<uint8_t> StreamBytes(const std::vector<NamedItem>& items) {
  StreamWriter writer(std::make_unique<MemorySink>(), false);
  Checkpoint checkpoint;
  for (const NamedItem& item : items) writer.Write(item.item, checkpoint);
  return ToVector(static_cast<MemorySink&>(writer.sink()).bytes());
}

inline StreamReader ReaderOf(std::span<const uint8_t> bytes, const StreamLimits& limits = {}) {
  return StreamReader(std::make_unique<MemoryStream>(Buffer::CopyOf(bytes)), limits);
}

inline std::vector<Item> AllItems(StreamReader reader) {
  Checkpoint checkpoint;
  std::vector<Item> items;
  while (auto item = reader.Next(checkpoint)) items.push_back(*std::move(item));
  return items;
}

// Both ends of a pipe.
struct Pipe {
  Pipe() {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("pipe failed");
    reading = FileDescriptor(ends[0], "");
    writing = FileDescriptor(ends[1], "");
  }
  FileDescriptor reading, writing;
};

}  // namespace hurray
