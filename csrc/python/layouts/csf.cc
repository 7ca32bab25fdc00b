#include "python/layouts/layout_class.h"

namespace hurray {

namespace {

struct CsfClass : LayoutClass<CsfLayout> {
  static constexpr char kName[] = "hurray.CsfLayout";
  static constexpr char kDoc[] = R"(CsfLayout(nnz, mode_order)
--

Sparse: the stored elements as leaves of a tree with one level per dimension. Rank 3 and above.

2 * rank + 1 buffers: `values`, of length nnz, then for each level `pos` and `crd`, both uint64:
where the children of each node begin, and their coordinates. `Tensor.buffer` gives them.

Parameters
----------
nnz : int
    Number of stored elements.
mode_order : sequence of int, length rank
    The dimension of each level, the root's first: a permutation of 0 to rank - 1.

Raises
------
OverflowError
    If `nnz` is negative or needs more than 64 bits, or a mode more than 32.

Notes
-----
Format: section 5.8, "CSF". Tag 0x09.

Examples
--------
>>> layout = hurray.CsfLayout(nnz=5, mode_order=[0, 1, 2])
>>> layout.mode_order, layout.buffer_count
((0, 1, 2), 7)
)";
  static constexpr std::array<Parameter<Kind>, 2> kParameters{{
      {"nnz", kField<&Kind::nnz>, "int: number of stored elements."},
      {"mode_order", kField<&Kind::mode_order>, "tuple of int: the dimension of each level."},
  }};
  static constexpr auto kNew = Signature("CsfLayout", {"nnz", "mode_order"});
  static Kind Make(const ModuleState&, const std::array<PyObject*, 2>& arguments) {
    auto [nnz, mode_order] = arguments;
    return {ToInteger<uint64_t>(nnz, "nnz"), ToNumbers<uint32_t>(mode_order, "mode_order")};
  }
};

}  // namespace

Ref AddLayoutClass(std::type_identity<CsfLayout>, PyObject* module, PyObject* base) {
  return AddClass<CsfClass>(module, base, {});
}

}  // namespace hurray
