#include "python/schemes/scheme_class.h"

namespace hurray {

namespace {

struct Nf4Class : SchemeClass<Nf4> {
  static constexpr char kName[] = "hurray.NF4";
  static constexpr char kDoc[] = R"(NF4(axis, block_size, scale_buffer_index)
--

Four-bit codes of a table for normally distributed weights, with a float32 scale for each block.

Parameters
----------
axis : int
    The dimension that is cut into blocks, below 64.
block_size : int
    Elements in a block: a power of two, at least 8.
scale_buffer_index : int
    The tensor's buffer that holds the scales.

Raises
------
InvalidDescriptorError
    If a value is outside its range.
OverflowError
    If a value is negative or needs more than 32 bits.

Notes
-----
Format: section 7, scheme 4. Compares and hashes by value.

Examples
--------
>>> hurray.NF4(axis=1, block_size=64, scale_buffer_index=1)
NF4(axis=1, block_size=64, scale_buffer_index=1)
)";
  static constexpr const auto& kParameters = kBlockScaleParameters<Kind>;
  static constexpr auto kNew = Signature("NF4", {"axis", "block_size", "scale_buffer_index"});
  static Kind Make(const ModuleState&, const std::array<PyObject*, 3>& arguments) {
    return MakeBlockScaled<Kind>(arguments);
  }
};

}  // namespace

Ref AddSchemeClass(std::type_identity<Nf4>, PyObject* module) {
  return AddScheme<Nf4Class>(module, Scheme_hash);
}

}  // namespace hurray
