// Files in the address space.
#pragma once

#include <cstddef>

#include "storage/buffer.h"

namespace hurray {

// The first `size` bytes of the file behind descriptor `fd`, at a multiple of `alignment` (a
// power of two). Private: what is written there stays in this process, and what others write to
// the file may or may not be seen. The mapping lasts as long as the buffer and its slices; the
// descriptor may be closed. Reading it after the file was cut short raises SIGBUS.
// Throws SystemError without a path. REQUIRES: size > 0.
Buffer MapFilePrivately(int fd, size_t size, size_t alignment);

}  // namespace hurray
