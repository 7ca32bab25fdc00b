// How a large block that was used before is to be zeroed: by writing zeros now, or by giving its
// pages back, so that the system zeroes those that are touched.
#pragma once

#include <cstddef>

namespace hurray {

// Writing is several times faster where all of the block will be used, and slower by any factor
// where it will not. Programs do the same thing again and again, so what became of the last block
// that was zeroed by the page decides.
bool ZeroByWriting(size_t size) noexcept;

// What became of a block whose pages came as they were touched.
void NoteUseOfZeroedBlock(bool touched) noexcept;

void ForgetUseOfZeroedBlocksForTesting() noexcept;

}  // namespace hurray
