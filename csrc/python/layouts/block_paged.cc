#include "python/layouts/layout_class.h"
#include "python/quantization.h"

namespace hurray {

namespace {

constexpr char kValidateIndexBuffersDoc[] = R"(validate_index_buffers($self, seq_ptr, block_table)
--

Checks the contents of the two index buffers.

Parameters
----------
seq_ptr : sequence of int, length num_seqs + 1
    Where the pages of each sequence begin in `block_table`: 0 first, never decreasing, the length
    of `block_table` last.
block_table : sequence of int
    The page ids of all sequences, each below `num_pages`; sequences may share pages.

Raises
------
InvalidDescriptorError
    If a rule is broken; the message names table, position, value and rule.

Notes
-----
Format: section 5.9, "Block-paged", rules of level D.

Examples
--------
>>> layout = hurray.BlockPagedLayout(page_size=4, num_pages=6, paged_axis=0, num_seqs=2)
>>> layout.validate_index_buffers([0, 3, 4], [3, 0, 3, 5])
)";

constexpr Signature kValidateIndexBuffers("validate_index_buffers", {"seq_ptr", "block_table"});

constexpr char kValidateQuantizationDoc[] = R"(validate_quantization_compatibility($self, scheme)
--

Checks that a paged tensor may be quantized in this way.

Parameters
----------
scheme : PerTensorAffine, PerChannelAffine, PerBlockAffine, NF4 or MXFP

Raises
------
InvalidDescriptorError
    If it is per-channel along the tokens (axis 0), or per-block with blocks other than the pages
    (axis 0 and `block_size` equal to `page_size`), or no scheme at all.

Notes
-----
Format: section 7, "Quantization", with block-paged.

Examples
--------
>>> layout = hurray.BlockPagedLayout(page_size=16, num_pages=64, paged_axis=0, num_seqs=2)
>>> layout.validate_quantization_compatibility(hurray.PerChannelAffine.symmetric(1, 3))
)";

constexpr Signature kValidateQuantization("validate_quantization_compatibility", {"scheme"});

struct BlockPagedClass : LayoutClass<BlockPagedLayout> {
  static constexpr char kName[] = "hurray.BlockPagedLayout";
  static constexpr char kDoc[] =
      R"(BlockPagedLayout(page_size, num_pages, paged_axis, num_seqs, kv_role='key',
                 layer_index=None, block_table_index_type='uint32')
--

The key/value cache of a transformer: tokens live in pages of a pool, and a table gives each
sequence its pages. Shape [total_tokens, num_heads, head_dim].

Three buffers: `page_pool`, elements of shape [num_pages, page_size, num_heads, head_dim];
`block_table`, the page ids of all sequences; and `seq_ptr`, of length num_seqs + 1, where the
pages of each sequence begin in it. `Tensor.buffer` gives them.

Parameters
----------
page_size : int
    Tokens in a page.
num_pages : int
    Pages in the pool.
paged_axis : int
    The dimension that is paged: 0.
num_seqs : int
    Number of sequences; may be 0.
kv_role : str, optional
    ``"key"``, ``"value"`` or ``"fused"``.
layer_index : int, optional
    The layer that the cache belongs to; None if to no single one.
block_table_index_type : str, optional
    Type of the entries of both index buffers: ``"uint32"`` or ``"uint64"``.

Raises
------
ValueError
    If `kv_role` or `block_table_index_type` is none of these.
InvalidDescriptorError
    If `layer_index` is 2^32-1, which stands for None.
OverflowError
    If a number is negative or needs more than 32 bits (`num_pages`: 64).

Notes
-----
Format: section 5.9, "Block-paged". Tag 0x0A.

Examples
--------
>>> layout = hurray.BlockPagedLayout(page_size=16, num_pages=64, paged_axis=0, num_seqs=2)
>>> layout.page_size, layout.kv_role, layout.buffer_count
(16, 'key', 3)
>>> layout.validate_against_shape([None, 8, 128])
)";
  static constexpr std::array<Parameter<Kind>, 7> kParameters{{
      {"page_size", kField<&Kind::page_size>, "int: tokens in a page."},
      {"num_pages", kField<&Kind::num_pages>, "int: pages in the pool."},
      {"paged_axis", kField<&Kind::paged_axis>, "int: the dimension that is paged."},
      {"num_seqs", kField<&Kind::num_seqs>, "int: number of sequences."},
      {"kv_role",
       [](const ModuleState&, const Kind& kind) { return ToPython(KvRoleName(kind.kv_role)); },
       "str: ``'key'``, ``'value'`` or ``'fused'``."},
      {"layer_index", kField<&Kind::layer_index>,
       "int or None: the layer that the cache belongs to."},
      {"block_table_index_type",
       [](const ModuleState&, const Kind& kind) {
         return ToPython(PageIndexTypeName(kind.block_table_index_type));
       },
       "str: type of the entries of both index buffers."},
  }};
  static constexpr auto kNew = Signature("BlockPagedLayout",
                                         {"page_size", "num_pages", "paged_axis", "num_seqs",
                                          "kv_role", "layer_index", "block_table_index_type"},
                                         4);
  static Kind Make(const ModuleState&, const std::array<PyObject*, 7>& arguments) {
    auto [page_size, num_pages, paged_axis, num_seqs, kv_role, layer_index, type] = arguments;
    Kind kind{};
    kind.page_size = ToInteger<uint32_t>(page_size, "page_size");
    kind.num_pages = ToInteger<uint64_t>(num_pages, "num_pages");
    kind.paged_axis = ToInteger<uint32_t>(paged_axis, "paged_axis");
    kind.num_seqs = ToInteger<uint32_t>(num_seqs, "num_seqs");
    if (kv_role != nullptr) {
      kind.kv_role = ToChoice(kv_role, "kv_role", KvRoleOf, "'key', 'value' or 'fused'");
    }
    if (NoneToNull(layer_index) != nullptr) {
      kind.layer_index = ToInteger<uint32_t>(layer_index, "layer_index");
    }
    if (type != nullptr) {
      kind.block_table_index_type =
          ToChoice(type, "block_table_index_type", PageIndexTypeOf, "'uint32' or 'uint64'");
    }
    return kind;
  }

  static PyObject* ValidateIndexBuffers(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                                        PyObject* kwnames) {
    return Guard(Py_TYPE(self), [&] {
      auto [seq_ptr, block_table] = kValidateIndexBuffers.Bind(args, nargs, kwnames);
      auto pointers = ToIntegers<uint64_t>(seq_ptr, "seq_ptr");
      auto pages = ToIntegers<uint64_t>(block_table, "block_table");
      KindOf<BlockPagedClass>(self).ValidateIndexBuffers(pointers, pages);
      return Ref::None().release();
    });
  }
  static PyObject* ValidateQuantization(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                                        PyObject* kwnames) {
    return Guard(Py_TYPE(self), [&] {
      auto [scheme] = kValidateQuantization.Bind(args, nargs, kwnames);
      KindOf<BlockPagedClass>(self).ValidateQuantizationCompatibility(
          ToQuantization(StateOf(Py_TYPE(self)), scheme, "scheme"));
      return Ref::None().release();
    });
  }
  static inline const std::array<PyMethodDef, 2> kMethods{{
      {"validate_index_buffers", Method(ValidateIndexBuffers), METH_FASTCALL | METH_KEYWORDS,
       kValidateIndexBuffersDoc},
      {"validate_quantization_compatibility", Method(ValidateQuantization),
       METH_FASTCALL | METH_KEYWORDS, kValidateQuantizationDoc},
  }};
};

}  // namespace

Ref AddLayoutClass(std::type_identity<BlockPagedLayout>, PyObject* module, PyObject* base) {
  return AddClass<BlockPagedClass>(module, base, {});
}

}  // namespace hurray
