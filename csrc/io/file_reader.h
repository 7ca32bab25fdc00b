// Reads a file of tensors. Format: section 10.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.h"
#include "core/metadata.h"
#include "io/container.h"
#include "io/file_index.h"
#include "io/item.h"
#include "io/source.h"

namespace hurray {

// What opening does where it cannot tell which tensors are members of which composite.
enum class Unsound : uint8_t {
  kRefused,
  kLeft,  // such a head has no members, which is told when it is read
};

// Opening checks header, trailer and index, and finds the members of composites. Everything else
// is read and checked when it is asked for. Entries are numbered in file order.
//
// Throws kFile for the container, kInvalidDescriptor for what a descriptor says, SystemError for
// the system. Threads may share one; what it hands out outlives it.
class FileReader {
 public:
  FileReader(std::unique_ptr<Source> source, Mode mode, Checkpoint& checkpoint,
             Unsound unsound = Unsound::kRefused);

  // What messages call the file.
  const std::string& source_name() const noexcept { return source_->name(); }
  size_t entry_count() const noexcept { return index_.entries().size(); }
  std::string_view name(size_t entry) const noexcept { return index_.entries()[entry].name; }
  // Of a composite; such entries are part of another's item.
  bool is_member(size_t entry) const noexcept { return !members_.empty() && members_[entry]; }
  std::optional<uint32_t> Find(std::string_view name) const { return index_.Find(name); }

  TensorDescriptor ReadDescriptor(size_t entry, Checkpoint& checkpoint) const;
  // The tensor with its buffers, or the composite with all its members. A member asked for alone
  // keeps its role.
  Item Read(size_t entry, Checkpoint& checkpoint) const;
  Metadata ReadMetadata(Checkpoint& checkpoint) const;

  // How many bytes of data the entries hold, padding between buffers included.
  uint64_t data_length() const noexcept;

 private:
  // How many members the entry at `entry` has; nullopt if it is no head.
  std::optional<uint32_t> MemberCountOf(size_t entry, Checkpoint& checkpoint) const;
  void FindMembers(Checkpoint& checkpoint);
  TensorDescriptor Decode(const IndexEntry& entry, Checkpoint& checkpoint) const;
  TensorData ReadTensor(const IndexEntry& entry, TensorDescriptor descriptor,
                        Checkpoint& checkpoint) const;
  CompositeData ReadComposite(size_t entry, TensorDescriptor head, Checkpoint& checkpoint) const;

  std::unique_ptr<Source> source_;
  Mode mode_;
  Unsound unsound_;
  FileHeader header_;
  FileTrailer trailer_;
  FileIndex index_;
  std::vector<bool> members_;  // by entry; empty in a file without composites
};

}  // namespace hurray
