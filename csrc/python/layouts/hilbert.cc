#include "python/layouts/layout_class.h"

namespace hurray {

namespace {

struct HilbertClass : LayoutClass<HilbertLayout> {
  static constexpr char kName[] = "hurray.HilbertLayout";
  static constexpr char kDoc[] = R"(HilbertLayout(hilbert_order, hilbert_rank)
--

Elements along a Hilbert curve through a cube, so that neighbours on the curve are neighbours in
the tensor. One buffer, rank 2 and above.

Parameters
----------
hilbert_order : int
    Every dimension is ``2 ** hilbert_order`` long; at least 1.
hilbert_rank : int
    The tensor's rank; at least 2.

Raises
------
InvalidDescriptorError
    If one is too small, or their product exceeds 63.
OverflowError
    If one is negative or needs more than 32 bits.

Notes
-----
Format: section 5.5, "Hilbert". Tag 0x40.

Examples
--------
>>> layout = hurray.HilbertLayout(3, 2)
>>> layout.hilbert_order, layout.hilbert_rank
(3, 2)
>>> layout.validate_against_shape([8, 8])
)";
  static constexpr std::array<Parameter<Kind>, 2> kParameters{{
      {"hilbert_order", kField<&Kind::hilbert_order>,
       "int: every dimension is ``2 ** hilbert_order`` long."},
      {"hilbert_rank", kField<&Kind::hilbert_rank>, "int: the tensor's rank."},
  }};
  static constexpr auto kNew = Signature("HilbertLayout", {"hilbert_order", "hilbert_rank"});
  static Kind Make(const ModuleState&, const std::array<PyObject*, 2>& arguments) {
    auto [order, rank] = arguments;
    return {
        {}, ToInteger<uint32_t>(order, "hilbert_order"), ToInteger<uint32_t>(rank, "hilbert_rank")};
  }
};

}  // namespace

Ref AddLayoutClass(std::type_identity<HilbertLayout>, PyObject* module, PyObject* base) {
  return AddClass<HilbertClass>(module, base, {});
}

}  // namespace hurray
