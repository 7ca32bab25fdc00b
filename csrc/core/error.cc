#include "core/error.h"

namespace hurray {

void ThrowInvalidDescriptor(const std::string& message) {
  throw Error(ErrorCode::kInvalidDescriptor, message);
}

}  // namespace hurray
