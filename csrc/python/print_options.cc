#include "python/print_options.h"

#include <structmember.h>

#include "python/arguments.h"
#include "python/context_var.h"
#include "python/errors.h"
#include "python/value_type.h"

namespace hurray {

namespace {

constexpr const char* kMetadata = "metadata";
constexpr const char* kContent = "content";

bool Equals(PyObject* text, const char* ascii) noexcept {
  return PyUnicode_Check(text) && PyUnicode_CompareWithASCIIString(text, ascii) == 0;
}

// The argument of all three callables: null for None, which leaves the option as it is.
PyObject* ToSparseDisplay(PyObject* value) {
  value = NoneToNull(value);
  if (value == nullptr || Equals(value, kMetadata) || Equals(value, kContent)) return value;
  if (!PyUnicode_Check(value)) {
    ThrowTypeError(StrCat("sparse_display must be a str, not ", TypeName(value)));
  }
  Ref text = Ref::Steal(PyObject_Repr(value));
  throw Error(ErrorCode::kInvalidValue,
              StrCat("sparse_display is ", ToText(text.get(), "sparse_display"), ", it must be '",
                     kMetadata, "' or '", kContent, "'"));
}

Ref CurrentSparseDisplay(const ModuleState& state) {
  PyObject* value = nullptr;
  Checked(PyContextVar_Get(state.sparse_display, nullptr, &value));
  return Ref::Steal(value);
}

// ---- functions

constexpr char kSetDoc[] = R"(set_print_options(*, sparse_display=None)
--

Choose how tensors print from here on, in this thread or task.

Parameters
----------
sparse_display : {'metadata', 'content'}, optional
    What COO, CSR and CSC tensors show: what they are, or their components too. None leaves the
    option as it is.

Raises
------
ValueError
    For another text.

Notes
-----
The option lives in a `contextvars.ContextVar`. Dense tensors do not depend on it; they follow
NumPy's own print options.

Examples
--------
>>> hurray.set_print_options(sparse_display="content")
>>> hurray.get_print_options()
{'sparse_display': 'content'}
>>> hurray.set_print_options(sparse_display="metadata")
)";

constexpr Signature kSet("set_print_options", {"sparse_display"}, 0, 0);

PyObject* SetPrintOptions(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                          PyObject* kwnames) {
  return Guard(module, [&] {
    PyObject* value = ToSparseDisplay(kSet.Bind(args, nargs, kwnames)[0]);
    if (value != nullptr) Ref::Steal(PyContextVar_Set(StateOf(module).sparse_display, value));
    return Ref::None().release();
  });
}

constexpr char kGetDoc[] = R"(get_print_options()
--

How tensors print in this thread or task.

Returns
-------
dict
    The arguments that would make `set_print_options` restore it.

Examples
--------
>>> hurray.get_print_options()
{'sparse_display': 'metadata'}
)";

PyObject* GetPrintOptions(PyObject* module, PyObject*) {
  return Guard(module, [&] {
    Ref value = CurrentSparseDisplay(StateOf(module));
    return Py_BuildValue("{sO}", "sparse_display", value.get());
  });
}

constexpr char kBlockDoc[] = R"(print_options(*, sparse_display=None)
--

Choose how tensors print inside a ``with`` block.

Parameters
----------
sparse_display : {'metadata', 'content'}, optional
    As in `set_print_options`.

Returns
-------
PrintOptionsCtx

Raises
------
ValueError
    For another text.

Examples
--------
>>> import numpy as np
>>> values = np.array([5.0, 7.0], dtype=np.float32)
>>> indices = np.array([[0, 0], [1, 1]], dtype=np.uint64)
>>> t = hurray.Tensor(values, hurray.float32, [2, 2], layout=hurray.CooLayout(2),
...                   aux_buffers=[indices])
>>> t
hurray.Tensor(layout='coo', shape=(2, 2), nnz=2, dtype=float32)
>>> with hurray.print_options(sparse_display="content"):
...     t
hurray.Tensor(layout='coo', shape=(2, 2), nnz=2, dtype=float32, indices=[[0 0]
 [1 1]], values=[5. 7.])
)";

PyObject* PrintOptions(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                       PyObject* kwnames) {
  return Guard(module, [&] {
    return Ref::Steal(PyObject_Vectorcall(StateOf(module).print_options_ctx_type, args,
                                          static_cast<size_t>(nargs), kwnames))
        .release();
  });
}

PyMethodDef kFunctions[] = {
    {"set_print_options", Method(SetPrintOptions), METH_FASTCALL | METH_KEYWORDS, kSetDoc},
    {"get_print_options", Method(GetPrintOptions), METH_NOARGS, kGetDoc},
    {"print_options", Method(PrintOptions), METH_FASTCALL | METH_KEYWORDS, kBlockDoc},
    {nullptr, nullptr, 0, nullptr},
};

// ---- the block

constexpr char kDoc[] = R"(PrintOptionsCtx(*, sparse_display=None)
--

The context manager that `print_options` returns.

Parameters
----------
sparse_display : {'metadata', 'content'}, optional
    As in `set_print_options`.

Raises
------
ValueError
    For another text.
RuntimeError
    From ``with``, if the object is in use by another block already.

Notes
-----
It restores what was set where the block began, whatever was set inside. It may be used again
after the block has ended.

Examples
--------
>>> with hurray.PrintOptionsCtx(sparse_display="content"):
...     hurray.get_print_options()
{'sparse_display': 'content'}
)";

struct PrintOptionsCtxObject {
  PyObject_HEAD
  PyObject* weakrefs;
  PyObject* value;  // null leaves the option as it is
  PyObject* token;  // what restores it; null outside the block
};

PrintOptionsCtxObject* BlockOf(PyObject* self) noexcept {
  return reinterpret_cast<PrintOptionsCtxObject*>(self);
}

// ---- lifetime

constexpr Signature kNew("PrintOptionsCtx", {"sparse_display"}, 0, 0);

PyObject* PrintOptionsCtx_vectorcall(PyObject* callable, PyObject* const* args, size_t nargsf,
                                     PyObject* kwnames) {
  auto* type = AsType(callable);
  return Guard(type, [&] {
    PyObject* value = ToSparseDisplay(kNew.Bind(args, nargsf, kwnames)[0]);
    Ref self = Ref::Steal(type->tp_alloc(type, 0));
    BlockOf(self.get())->value = Ref::Borrow(value).release();
    return self.release();
  });
}

int PrintOptionsCtx_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(BlockOf(self)->value);
  Py_VISIT(BlockOf(self)->token);
  return 0;
}

int PrintOptionsCtx_clear(PyObject* self) {
  Py_CLEAR(BlockOf(self)->value);
  Py_CLEAR(BlockOf(self)->token);
  return 0;
}

void PrintOptionsCtx_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (BlockOf(self)->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
  PrintOptionsCtx_clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

// ---- methods

constexpr char kEnterDoc[] = R"(__enter__($self)
--

Apply the options.

Raises
------
RuntimeError
    If the object is in use by another block already.

Examples
--------
>>> with hurray.print_options(sparse_display="content"):
...     hurray.get_print_options()
{'sparse_display': 'content'}
)";

PyObject* PrintOptionsCtx_enter(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] {
    PrintOptionsCtxObject* block = BlockOf(self);
    if (block->token != nullptr) {
      ThrowPython(PyExc_RuntimeError, "this print_options block is already active");
    }
    const ModuleState& state = StateOf(Py_TYPE(self));
    // Set even where it does not change: the block restores what is set inside it.
    Ref value = block->value == nullptr ? CurrentSparseDisplay(state) : Ref::Borrow(block->value);
    block->token = Ref::Steal(PyContextVar_Set(state.sparse_display, value.get())).release();
    return Ref::None().release();
  });
}

constexpr char kExitDoc[] = R"(__exit__($self, exc_type, exc_value, traceback)
--

Restore the options that were set where the block began.

Returns
-------
bool
    False: an exception passes through.

Raises
------
RuntimeError
    If no block is active, or it was entered in another thread or task, where it stays active.

Examples
--------
>>> with hurray.print_options(sparse_display="content"):
...     pass
>>> hurray.get_print_options()
{'sparse_display': 'metadata'}
)";

constexpr Signature kExit("__exit__", {"exc_type", "exc_value", "traceback"});

PyObject* PrintOptionsCtx_exit(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                               PyObject* kwnames) {
  return Guard(Py_TYPE(self), [&] {
    kExit.Bind(args, nargs, kwnames);
    if (BlockOf(self)->token == nullptr) {
      ThrowPython(PyExc_RuntimeError, "this print_options block is not active");
    }
    Ref token = Ref::Borrow(BlockOf(self)->token);
    // Where it throws, the block stays active for whoever entered it.
    ResetContextVar(StateOf(Py_TYPE(self)).sparse_display, token.get(), "print_options");
    Py_CLEAR(BlockOf(self)->token);
    return ToPython(false).release();
  });
}

PyMethodDef kMethods[] = {
    {"__enter__", Method(PrintOptionsCtx_enter), METH_NOARGS, kEnterDoc},
    {"__exit__", Method(PrintOptionsCtx_exit), METH_FASTCALL | METH_KEYWORDS, kExitDoc},
    {nullptr, nullptr, 0, nullptr},
};

// ---- type

PyMemberDef kMembers[] = {
    {"__weaklistoffset__", T_PYSSIZET,
     static_cast<Py_ssize_t>(offsetof(PrintOptionsCtxObject, weakrefs)), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot kSlots[] = {
    {Py_tp_doc, const_cast<char*>(kDoc)},
    {Py_tp_new, Slot(NewByVectorcall)},
    {Py_tp_traverse, Slot(PrintOptionsCtx_traverse)},
    {Py_tp_clear, Slot(PrintOptionsCtx_clear)},
    {Py_tp_dealloc, Slot(PrintOptionsCtx_dealloc)},
    {Py_tp_members, kMembers},
    {Py_tp_methods, kMethods},
    {0, nullptr},
};

PyType_Spec kSpec = {
    .name = "hurray.PrintOptionsCtx",
    .basicsize = sizeof(PrintOptionsCtxObject),
    .itemsize = 0,
    .flags = kFinalType,
    .slots = kSlots,
};

}  // namespace

bool ShowsSparseContent(const ModuleState& state) {
  return Equals(CurrentSparseDisplay(state).get(), kContent);
}

int AddPrintOptions(PyObject* module, ModuleState& state) {
  return Guard(module, [&] {
    Ref metadata = ToPython(std::string_view(kMetadata));
    state.sparse_display =
        Ref::Steal(PyContextVar_New("hurray.print_options.sparse_display", metadata.get()))
            .release();
    state.print_options_ctx_type =
        Ref::Steal(PyType_FromModuleAndSpec(module, &kSpec, nullptr)).release();
    auto* type = AsType(state.print_options_ctx_type);
    type->tp_vectorcall = PrintOptionsCtx_vectorcall;  // no slot for it before CPython 3.14
    Checked(PyModule_AddType(module, type));
    return PyModule_AddFunctions(module, kFunctions);
  });
}

}  // namespace hurray
