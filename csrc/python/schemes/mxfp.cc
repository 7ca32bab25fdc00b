#include "python/schemes/scheme_class.h"

namespace hurray {

namespace {

struct MxfpClass : SchemeClass<Mxfp> {
  static constexpr char kName[] = "hurray.MXFP";
  static constexpr char kDoc[] = R"(MXFP(axis, block_size, scale_buffer_index)
--

Microscaling: small floats or integers with a power of two for each block, stored as float8_e8m0.

Parameters
----------
axis : int
    The dimension that is cut into blocks, below 64.
block_size : int
    Elements in a block: a power of two from 16 to 2048.
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
Format: section 7, scheme 5. Compares and hashes by value.

Examples
--------
>>> hurray.MXFP(axis=1, block_size=32, scale_buffer_index=1)
MXFP(axis=1, block_size=32, scale_buffer_index=1)
)";
  static constexpr const auto& kParameters = kBlockScaleParameters<Kind>;
  static constexpr auto kNew = Signature("MXFP", {"axis", "block_size", "scale_buffer_index"});
  static Kind Make(const ModuleState&, const std::array<PyObject*, 3>& arguments) {
    return MakeBlockScaled<Kind>(arguments);
  }
};

}  // namespace

Ref AddSchemeClass(std::type_identity<Mxfp>, PyObject* module) {
  return AddScheme<MxfpClass>(module, Scheme_hash);
}

}  // namespace hurray
