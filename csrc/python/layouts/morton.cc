#include "python/layouts/layout_class.h"

namespace hurray {

namespace {

struct MortonClass : LayoutClass<MortonLayout> {
  static constexpr char kName[] = "hurray.MortonLayout";
  static constexpr char kDoc[] = R"(MortonLayout(morton_bits)
--

Morton order (Z order): the bits of the indices take turns. One buffer, rank 1 and above.

Parameters
----------
morton_bits : sequence of int, length n
    How many bits of each index take part: dimension k may be at most ``2 ** morton_bits[k]`` long.

Raises
------
InvalidDescriptorError
    If there are none, one is 0, or they add up to more than 63.
OverflowError
    If one is negative or needs more than 32 bits.

Notes
-----
Format: section 5.4, "Morton". Tag 0x05.

Examples
--------
>>> layout = hurray.MortonLayout([2, 2])
>>> layout.morton_bits
(2, 2)
>>> layout.validate_against_shape([4, 3])
)";
  static constexpr std::array<Parameter<Kind>, 1> kParameters{{
      {"morton_bits", kField<&Kind::morton_bits>,
       "tuple of int: how many bits of each index take part."},
  }};
  static constexpr auto kNew = Signature("MortonLayout", {"morton_bits"});
  static Kind Make(const ModuleState&, const std::array<PyObject*, 1>& arguments) {
    return {{}, ToNumbers<uint32_t>(arguments[0], "morton_bits")};
  }
};

}  // namespace

Ref AddLayoutClass(std::type_identity<MortonLayout>, PyObject* module, PyObject* base) {
  return AddClass<MortonClass>(module, base, {});
}

}  // namespace hurray
