#include "python/layouts/layout_class.h"

namespace hurray {

namespace {

struct CooClass : LayoutClass<CooLayout> {
  static constexpr char kName[] = "hurray.CooLayout";
  static constexpr char kDoc[] = R"(CooLayout(nnz, is_sorted=False)
--

Sparse: the stored elements with their coordinates. Rank 1 and above.

Two buffers: `values`, of length nnz, and `indices`, uint64 of shape [nnz, rank].

Parameters
----------
nnz : int
    Number of stored elements.
is_sorted : bool, optional
    Whether the coordinates ascend, the first dimension counting most.

Raises
------
OverflowError
    If `nnz` is negative or needs more than 64 bits.

Notes
-----
Format: section 5.6, "COO". Tag 0x06.

Examples
--------
>>> layout = hurray.CooLayout(nnz=2, is_sorted=True)
>>> layout.nnz, layout.is_sorted, layout.buffer_count
(2, True, 2)
)";
  static constexpr std::array<Parameter<Kind>, 2> kParameters{{
      {"nnz", kField<&Kind::nnz>, "int: number of stored elements."},
      {"is_sorted", kField<&Kind::is_sorted>, "bool: the coordinates ascend."},
  }};
  static constexpr auto kNew = Signature("CooLayout", {"nnz", "is_sorted"}, 1);
  static Kind Make(const ModuleState&, const std::array<PyObject*, 2>& arguments) {
    auto [nnz, is_sorted] = arguments;
    return {ToInteger<uint64_t>(nnz, "nnz"),
            is_sorted != nullptr && ToBool(is_sorted, "is_sorted")};
  }
};

}  // namespace

Ref AddLayoutClass(std::type_identity<CooLayout>, PyObject* module, PyObject* base) {
  return AddClass<CooClass>(module, base, {});
}

}  // namespace hurray
