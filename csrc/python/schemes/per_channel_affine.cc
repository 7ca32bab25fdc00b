#include "python/schemes/affine_class.h"

namespace hurray {

namespace {

struct PerChannelAffineClass : AffineClass<PerChannelAffine, PerChannelAffineClass> {
  static constexpr char kName[] = "hurray.PerChannelAffine";
  static constexpr char kDoc[] =
      R"(A float32 scale, and perhaps an int32 zero point, for each index of one dimension.

Not constructible; use the class methods `symmetric` and `asymmetric`.

Notes
-----
Format: section 7, scheme 2. Compares and hashes by value.

Examples
--------
>>> hurray.PerChannelAffine.symmetric(axis=0, scale_buffer_index=1)
PerChannelAffine.symmetric(axis=0, scale_buffer_index=1)
)";
  static constexpr char kSymmetricDoc[] = R"(symmetric($type, axis, scale_buffer_index)
--

A scheme without zero points: value = q * scale[channel].

Parameters
----------
axis : int
    The dimension whose indices are the channels, below 64.
scale_buffer_index : int
    The tensor's buffer that holds the scales.

Returns
-------
PerChannelAffine

Raises
------
InvalidDescriptorError
    If `axis` exceeds 63 or `scale_buffer_index` is 2^32-1.
OverflowError
    If a value is negative or needs more than 32 bits.

Notes
-----
Format: section 7, scheme 2.

Examples
--------
>>> print(hurray.PerChannelAffine.symmetric(0, 1).zero_point_buffer_index)
None
)";
  static constexpr char kAsymmetricDoc[] =
      R"(asymmetric($type, axis, scale_buffer_index, zero_point_buffer_index)
--

A scheme with zero points: value = (q - zero_point[channel]) * scale[channel].

Parameters
----------
axis : int
    The dimension whose indices are the channels, below 64.
scale_buffer_index, zero_point_buffer_index : int
    The tensor's buffers that hold the scales and the zero points.

Returns
-------
PerChannelAffine

Raises
------
InvalidDescriptorError
    If `axis` exceeds 63 or an index is 2^32-1.
OverflowError
    If a value is negative or needs more than 32 bits.

Notes
-----
Format: section 7, scheme 2.

Examples
--------
>>> hurray.PerChannelAffine.asymmetric(0, 1, 2).zero_point_buffer_index
2
)";
  static constexpr std::array<Parameter<Kind>, 3> kParameters{{
      {"axis", kField<&Kind::axis>, "int: the dimension whose indices are the channels."},
      {"scale_buffer_index", kField<&Kind::scale_buffer_index>, kScaleBufferDoc},
      {"zero_point_buffer_index", kField<&Kind::zero_point_buffer_index>, kZeroPointBufferDoc},
  }};
  static constexpr auto kSymmetric = Signature("symmetric", {"axis", "scale_buffer_index"});
  static constexpr auto kAsymmetric =
      Signature("asymmetric", {"axis", "scale_buffer_index", "zero_point_buffer_index"});
  static Kind MakeSymmetric(const ModuleState&, const std::array<PyObject*, 2>& arguments) {
    auto [axis, scale] = arguments;
    return {ToU32(axis, "axis"), ToU32(scale, "scale_buffer_index"), std::nullopt};
  }
  static Kind MakeAsymmetric(const ModuleState&, const std::array<PyObject*, 3>& arguments) {
    auto [axis, scale, zero_point] = arguments;
    return {ToU32(axis, "axis"), ToU32(scale, "scale_buffer_index"),
            ToU32(zero_point, "zero_point_buffer_index")};
  }
};

}  // namespace

Ref AddSchemeClass(std::type_identity<PerChannelAffine>, PyObject* module) {
  return AddScheme<PerChannelAffineClass>(module, Scheme_hash);
}

}  // namespace hurray
