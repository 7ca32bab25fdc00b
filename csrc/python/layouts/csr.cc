#include "python/layouts/layout_class.h"

namespace hurray {

namespace {

struct CsrClass : LayoutClass<CsrLayout> {
  static constexpr char kName[] = "hurray.CsrLayout";
  static constexpr char kDoc[] = R"(CsrLayout(nnz)
--

Sparse: the stored elements of a matrix, row by row. Rank 2.

Three buffers: `values`, of length nnz; `col_indices`, uint64 of length nnz, the column of each; and
`row_ptr`, uint64 of length rows + 1, where each row begins.

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
Format: section 5.7, "CSR and CSC". Tag 0x07.

Examples
--------
>>> layout = hurray.CsrLayout(nnz=4)
>>> layout.nnz, layout.name, layout.buffer_count
(4, 'csr', 3)
)";
  static constexpr std::array<Parameter<Kind>, 1> kParameters{{
      {"nnz", kField<&Kind::nnz>, "int: number of stored elements."},
  }};
  static constexpr auto kNew = Signature("CsrLayout", {"nnz"});
  static Kind Make(const ModuleState&, const std::array<PyObject*, 1>& arguments) {
    return {ToInteger<uint64_t>(arguments[0], "nnz")};
  }
};

}  // namespace

Ref AddLayoutClass(std::type_identity<CsrLayout>, PyObject* module, PyObject* base) {
  return AddClass<CsrClass>(module, base, {});
}

}  // namespace hurray
