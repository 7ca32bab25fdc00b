// A file that takes another's place only when it is complete.
#pragma once

#include <memory>
#include <string>

#include "io/sink.h"

namespace hurray {

// The bytes go to a new file beside the old one, which Commit() renames into place: until then,
// and if it never comes to that, the old file stays as it is. A new file has the permissions
// that the umask gives, a replaced one keeps its own. A symbolic link stays, and what it names is
// replaced. What is there and no regular file (a FIFO, a device) is written through.
class ReplacingFile : public Sink {
 public:
  // Throws SystemError: the path is a folder, may not be written, is in no folder, …
  ReplacingFile(const std::string& path, Checkpoint& checkpoint);

  void Reserve(uint64_t bytes, Checkpoint& checkpoint) override;
  void Write(std::span<const iovec> pieces, Checkpoint& checkpoint) override;
  // With `durable`, returns when file and folder are on the disk.
  void Commit(bool durable);

 private:
  // Removes the file at `path` when it dies, unless that is empty.
  struct Temporary {
    Temporary() = default;
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    ~Temporary();
    std::string path;
  };

  // `old` is the file to replace; null if there is none.
  void CreateBeside(const struct stat* old, Checkpoint& checkpoint);

  std::string target_;   // what is replaced, links resolved
  Temporary temporary_;  // no path where the target is written through
  std::unique_ptr<DescriptorSink> sink_;
};

}  // namespace hurray
