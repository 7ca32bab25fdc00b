// Everything about a file that can be checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "io/checkpoint.h"

namespace hurray {

struct Problem {
  std::optional<std::string> name;  // of the tensor it is about
  std::string_view rule;            // "container", "metadata", "tensor" or "contents"
  ErrorCode code;                   // what a reader throws
  std::string message;
};

struct VerifyReport {
  uint64_t tensor_count = 0;  // composites with all their members count as one
  std::vector<Problem> problems;
};

// Reads the whole file and goes on after a problem where it can. Checks what readers check, and
// the contents of index buffers and scales besides. Throws SystemError.
VerifyReport VerifyFile(const std::string& path, Checkpoint& checkpoint);

}  // namespace hurray
