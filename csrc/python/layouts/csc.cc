#include "python/layouts/layout_class.h"

namespace hurray {

namespace {

struct CscClass : LayoutClass<CscLayout> {
  static constexpr char kName[] = "hurray.CscLayout";
  static constexpr char kDoc[] = R"(CscLayout(nnz)
--

Sparse: the stored elements of a matrix, column by column. Rank 2.

Three buffers: `values`, of length nnz; `row_indices`, uint64 of length nnz, the row of each; and
`col_ptr`, uint64 of length columns + 1, where each column begins.

Parameters
----------
nnz : int
    Number of stored elements.

Raises
------
OverflowError
    If `nnz` is negative or needs more than 64 bits.

Notes
-----
Format: section 5.7, "CSR and CSC". Tag 0x08.

Examples
--------
>>> layout = hurray.CscLayout(nnz=4)
>>> layout.nnz, layout.name, layout.buffer_count
(4, 'csc', 3)
)";
  static constexpr std::array<Parameter<Kind>, 1> kParameters{{
      {"nnz", kField<&Kind::nnz>, "int: number of stored elements."},
  }};
  static constexpr auto kNew = Signature("CscLayout", {"nnz"});
  static Kind Make(const ModuleState&, const std::array<PyObject*, 1>& arguments) {
    return {ToInteger<uint64_t>(arguments[0], "nnz")};
  }
};

}  // namespace

Ref AddLayoutClass(std::type_identity<CscLayout>, PyObject* module, PyObject* base) {
  return AddClass<CscClass>(module, base, {});
}

}  // namespace hurray
