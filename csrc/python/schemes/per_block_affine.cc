#include "python/dtype.h"
#include "python/schemes/affine_class.h"

namespace hurray {

namespace {

struct PerBlockAffineClass : AffineClass<PerBlockAffine, PerBlockAffineClass> {
  static constexpr char kName[] = "hurray.PerBlockAffine";
  static constexpr char kDoc[] =
      R"(A scale, and perhaps an int32 zero point, for each block of elements along one dimension.

Not constructible; use the class methods `symmetric` and `asymmetric`.

Notes
-----
Format: section 7, scheme 3. Compares and hashes by value.

Examples
--------
>>> hurray.PerBlockAffine.symmetric(1, 64, 1, hurray.float16).scale_type
hurray.float16
)";
  static constexpr char kSymmetricDoc[] =
      R"(symmetric($type, axis, block_size, scale_buffer_index, scale_type)
--

A scheme without zero points: value = q * scale[block].

Parameters
----------
axis : int
    The dimension that is cut into blocks, below 64.
block_size : int
    Elements in a block: a power of two, at least 2.
scale_buffer_index : int
    The tensor's buffer that holds the scales.
scale_type : Dtype
    Type of the scales: float16, bfloat16 or float32.

Returns
-------
PerBlockAffine

Raises
------
InvalidDescriptorError
    If a value is outside its range.
OverflowError
    If a value is negative or needs more than 32 bits.

Notes
-----
Format: section 7, scheme 3.

Examples
--------
>>> hurray.PerBlockAffine.symmetric(1, 64, 1, hurray.float32).block_size
64
)";
  static constexpr char kAsymmetricDoc[] =
      R"(asymmetric($type, axis, block_size, scale_buffer_index, zero_point_buffer_index, scale_type)
--

A scheme with zero points: value = (q - zero_point[block]) * scale[block].

Parameters
----------
axis : int
    The dimension that is cut into blocks, below 64.
block_size : int
    Elements in a block: a power of two, at least 2.
scale_buffer_index, zero_point_buffer_index : int
    The tensor's buffers that hold the scales and the zero points.
scale_type : Dtype
    Type of the scales: float16, bfloat16 or float32.

Returns
-------
PerBlockAffine

Raises
------
InvalidDescriptorError
    If a value is outside its range.
OverflowError
    If a value is negative or needs more than 32 bits.

Notes
-----
Format: section 7, scheme 3.

Examples
--------
>>> hurray.PerBlockAffine.asymmetric(1, 64, 1, 2, hurray.float32).zero_point_buffer_index
2
)";
  static constexpr std::array<Parameter<Kind>, 5> kParameters{{
      {"axis", kField<&Kind::axis>, kBlockAxisDoc},
      {"block_size", kField<&Kind::block_size>, kBlockSizeDoc},
      {"scale_buffer_index", kField<&Kind::scale_buffer_index>, kScaleBufferDoc},
      {"zero_point_buffer_index", kField<&Kind::zero_point_buffer_index>, kZeroPointBufferDoc},
      {"scale_type",
       [](const ModuleState& state, const Kind& kind) {
         return Ref::Borrow(DtypeObjectOf(state, kind.scale_type));
       },
       "Dtype: type of the scales."},
  }};
  static constexpr auto kSymmetric =
      Signature("symmetric", {"axis", "block_size", "scale_buffer_index", "scale_type"});
  static constexpr auto kAsymmetric = Signature(
      "asymmetric",
      {"axis", "block_size", "scale_buffer_index", "zero_point_buffer_index", "scale_type"});
  static Kind MakeSymmetric(const ModuleState& state, const std::array<PyObject*, 4>& arguments) {
    auto [axis, block_size, scale, type] = arguments;
    return {ToU32(axis, "axis"), ToU32(block_size, "block_size"),
            ToU32(scale, "scale_buffer_index"), std::nullopt,
            ToElementType(state, type, "scale_type")};
  }
  static Kind MakeAsymmetric(const ModuleState& state, const std::array<PyObject*, 5>& arguments) {
    auto [axis, block_size, scale, zero_point, type] = arguments;
    return {ToU32(axis, "axis"), ToU32(block_size, "block_size"),
            ToU32(scale, "scale_buffer_index"), ToU32(zero_point, "zero_point_buffer_index"),
            ToElementType(state, type, "scale_type")};
  }
};

}  // namespace

Ref AddSchemeClass(std::type_identity<PerBlockAffine>, PyObject* module) {
  return AddScheme<PerBlockAffineClass>(module, Scheme_hash);
}

}  // namespace hurray
