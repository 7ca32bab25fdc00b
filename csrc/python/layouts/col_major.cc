#include "python/layouts/layout_class.h"

namespace hurray {

namespace {

struct ColMajorClass : LayoutClass<ColMajorLayout> {
  static constexpr char kName[] = "hurray.ColMajorLayout";
  static constexpr char kDoc[] = R"(ColMajorLayout()
--

Fortran order: the first dimension varies fastest. One buffer, any rank.

Notes
-----
Format: section 5.1, "Row-major, column-major". Tag 0x02.

Examples
--------
>>> layout = hurray.ColMajorLayout()
>>> hurray.Tensor(bytes(24), hurray.float32, [2, 3], layout=layout).layout.name
'col_major'
)";
  static constexpr std::array<Parameter<Kind>, 0> kParameters{};
  static constexpr auto kNew = Signature<0>("ColMajorLayout");
  static Kind Make(const ModuleState&, const std::array<PyObject*, 0>&) { return {}; }
};

}  // namespace

Ref AddLayoutClass(std::type_identity<ColMajorLayout>, PyObject* module, PyObject* base) {
  return AddClass<ColMajorClass>(module, base, {});
}

}  // namespace hurray
