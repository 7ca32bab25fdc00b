// Writes a file of tensors. Format: section 10.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/metadata.h"
#include "io/checkpoint.h"
#include "io/item.h"
#include "io/sink.h"

namespace hurray {

struct NamedItem {
  std::string name;
  Item item;
};

// Where everything in a file will lie. The same tensors give the same bytes, whatever the
// addresses of their buffers.
class FilePlan {
 public:
  // Checks everything that can be wrong. Members of a composite `w` are named `w.0`, `w.1`, ….
  // Throws kFile for names and metadata, kInvalidDescriptor for composites, kBuffer for buffers
  // that are too short. The items must outlive the plan.
  FilePlan(std::span<const NamedItem> items, const Metadata& metadata);

  uint64_t file_size() const noexcept;  // bytes

  // Reports to `checkpoint` up to its end, and does not commit the sink.
  void Write(Sink& sink, Checkpoint& checkpoint) const;

 private:
  struct Entry {
    std::string name;
    const TensorDescriptor* descriptor;
    std::unique_ptr<const TensorDescriptor> as_member;  // what `descriptor` is then
    const Buffer* buffers;                              // one per row of the descriptor's table
    uint64_t descriptor_offset = 0;
    uint64_t data_offset = 0;
    uint64_t data_length = 0;
    uint32_t descriptor_length = 0;
  };

  void AddTensor(std::string name, const TensorData& tensor);
  // `w` and then `w.0`, `w.1`, …
  void AddComposite(const std::string& name, const CompositeData& composite);
  void CheckNames() const;
  void ChooseAlignment();
  void Place();
  std::vector<uint8_t> EncodeIndex() const;

  std::vector<Entry> entries_;
  std::vector<uint8_t> metadata_;
  uint32_t alignment_;  // of every buffer in the file
  uint64_t metadata_offset_ = 0;
  uint64_t index_offset_ = 0;
  uint64_t index_length_ = 0;
};

// Replaces the file at `path`, which is left as it was if this throws. With `durable`, returns
// when the file is on the disk.
void SaveFile(const std::string& path, std::span<const NamedItem> items, const Metadata& metadata,
              bool durable, Checkpoint& checkpoint);

}  // namespace hurray
