#include "python/layouts/layout_class.h"

namespace hurray {

namespace {

struct RowMajorClass : LayoutClass<RowMajorLayout> {
  static constexpr char kName[] = "hurray.RowMajorLayout";
  static constexpr char kDoc[] = R"(RowMajorLayout()
--

C order: the last dimension varies fastest. One buffer, any rank; the default of a tensor.

Notes
-----
Format: section 5.1, "Row-major, column-major". Tag 0x01.

Examples
--------
>>> hurray.Tensor(bytes(16), hurray.float32, [4]).layout == hurray.RowMajorLayout()
True
)";
  static constexpr std::array<Parameter<Kind>, 0> kParameters{};
  static constexpr auto kNew = Signature<0>("RowMajorLayout");
  static Kind Make(const ModuleState&, const std::array<PyObject*, 0>&) { return {}; }
};

}  // namespace

Ref AddLayoutClass(std::type_identity<RowMajorLayout>, PyObject* module, PyObject* base) {
  return AddClass<RowMajorClass>(module, base, {});
}

}  // namespace hurray
