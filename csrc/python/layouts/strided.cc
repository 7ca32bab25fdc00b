#include "python/layouts/layout_class.h"

namespace hurray {

namespace {

struct StridedClass : LayoutClass<StridedLayout> {
  static constexpr char kName[] = "hurray.StridedLayout";
  static constexpr char kDoc[] = R"(StridedLayout(strides)
--

Explicit strides, in elements; NumPy counts them in bytes. One buffer, rank 1 and above.

Parameters
----------
strides : sequence of int, length n
    Distance in elements between neighbours along each dimension; negative for a reversed one, 0
    for a broadcast one.

Raises
------
OverflowError
    If a stride needs more than 64 bits.

Notes
-----
Format: section 5.2, "Strided". Tag 0x03.

Examples
--------
>>> layout = hurray.StridedLayout([4, 1])
>>> layout.strides
(4, 1)
>>> t = hurray.Tensor(bytes(48), hurray.float32, [3, 3], layout=layout)
>>> t.layout
StridedLayout(strides=(4, 1))
)";
  static constexpr std::array<Parameter<Kind>, 1> kParameters{{
      {"strides", kField<&Kind::strides>,
       "tuple of int: elements between neighbours along each dimension."},
  }};
  static constexpr auto kNew = Signature("StridedLayout", {"strides"});
  static Kind Make(const ModuleState&, const std::array<PyObject*, 1>& arguments) {
    return {{}, ToNumbers<int64_t>(arguments[0], "strides")};
  }
};

}  // namespace

Ref AddLayoutClass(std::type_identity<StridedLayout>, PyObject* module, PyObject* base) {
  return AddClass<StridedClass>(module, base, {});
}

}  // namespace hurray
