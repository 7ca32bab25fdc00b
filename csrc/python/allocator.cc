#include "python/allocator.h"

#include <structmember.h>

#include <utility>

#include "python/arguments.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/memory_handler.h"
#include "python/quick_method.h"
#include "python/value_type.h"
#include "storage/allocator.h"

namespace hurray {

namespace {

// ---- the block

constexpr char kDoc[] = R"(AlignedAllocatorCtx()
--

The context manager that `aligned_allocator` returns; also a decorator.

Raises
------
RuntimeError
    From ``with``, if the object is in use by another block already.
ImportError
    From ``with``, if NumPy is not installed.
UnsupportedError
    From ``with``, if NumPy is older than 1.22.

Notes
-----
It restores the memory handler that was set where the block began, whatever was set inside. It may
be used again after the block has ended. As a decorator it runs each call of the function in a block
of its own; of a coroutine function, each coroutine.

Examples
--------
>>> with hurray.AlignedAllocatorCtx():
...     a = np.zeros(1000, np.float32)
>>> hurray.from_numpy(a, copy=False).buffer_handles[0].alignment >= 64
True
)";

struct BlockObject {
  PyObject_HEAD
  PyObject* weakrefs;
  PyObject* replaced;  // what restores NumPy's handler; null outside the block
  QuickMethod enter;
  QuickMethod exit;
};

BlockObject* BlockOf(PyObject* self) noexcept { return reinterpret_cast<BlockObject*>(self); }

// ---- lifetime

PyObject* NewBlock(ModuleState& state) {
  PyObject* spare = std::exchange(state.spare_allocator_block, nullptr);
  if (spare != nullptr) return spare;
  PyTypeObject* type = AsType(state.aligned_allocator_ctx_type);
  return Ref::Steal(type->tp_alloc(type, 0)).release();
}

PyObject* AlignedAllocatorCtx_vectorcall(PyObject* type, PyObject* const*, size_t nargsf,
                                         PyObject* kwnames) {
  return Guard(AsType(type), [&] {
    if (PyVectorcall_NARGS(nargsf) != 0 || (kwnames != nullptr && PyTuple_GET_SIZE(kwnames) != 0)) {
      ThrowTypeError("AlignedAllocatorCtx() takes no arguments");
    }
    return NewBlock(StateOf(AsType(type)));
  });
}

int AlignedAllocatorCtx_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(BlockOf(self)->replaced);
  return 0;
}

int AlignedAllocatorCtx_clear(PyObject* self) {
  Py_CLEAR(BlockOf(self)->replaced);
  return 0;
}

void AlignedAllocatorCtx_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  if (BlockOf(self)->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
  AlignedAllocatorCtx_clear(self);
  // Blocks come and go: the next one gets this object. Not while the module ends, which is when it
  // has lost its type, or the type its module.
  PyObject* module = reinterpret_cast<PyHeapTypeObject*>(type)->ht_module;
  if (module != nullptr) {
    ModuleState& state = StateOf(module);
    if (state.spare_allocator_block == nullptr && state.aligned_allocator_ctx_type != nullptr) {
      state.spare_allocator_block = PyObject_Init(self, type);
      Py_DECREF(type);  // it was counted before
      return;
    }
  }
  PyObject_GC_UnTrack(self);
  type->tp_free(self);
  Py_DECREF(type);
}

// ---- methods

constexpr char kEnterDoc[] = R"(__enter__($self)
--

Let NumPy allocate the arrays that are made from now on, in this thread or task, with our allocator.

Raises
------
RuntimeError
    If the object is in use by another block already.
ImportError
    If NumPy is not installed.
UnsupportedError
    If NumPy is older than 1.22.

Examples
--------
>>> with hurray.aligned_allocator():
...     a = np.zeros(1000)
>>> hurray.from_numpy(a, copy=False).shape
(1000,)
)";

PyObject* Enter(PyObject* self) {
  BlockObject* block = BlockOf(self);
  if (block->replaced != nullptr) {
    ThrowPython(PyExc_RuntimeError, "this aligned_allocator block is already active");
  }
  block->replaced = SetMemoryHandler(StateOf(Py_TYPE(self))).release();
  Py_RETURN_NONE;
}

PyObject* AlignedAllocatorCtx_enter(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] { return Enter(self); });
}

PyObject* BoundEnter(PyObject* bound, PyObject* const*, size_t nargsf, PyObject* kwnames) {
  PyObject* self = OwnerOf(bound);
  return Guard(Py_TYPE(self), [&] {
    if (PyVectorcall_NARGS(nargsf) != 0 || kwnames != nullptr) {
      ThrowTypeError("__enter__() takes no arguments");
    }
    return Enter(self);
  });
}

constexpr char kExitDoc[] = R"(__exit__($self, exc_type, exc_value, traceback)
--

Set the memory handler again that was set where the block began.

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
>>> with hurray.aligned_allocator():
...     pass
)";

constexpr Signature kExit("__exit__", {"exc_type", "exc_value", "traceback"});

template <typename Count>
PyObject* Exit(PyObject* self, PyObject* const* args, Count nargs, PyObject* kwnames) {
  return Guard(Py_TYPE(self), [&]() -> PyObject* {
    kExit.Bind(args, nargs, kwnames);
    if (BlockOf(self)->replaced == nullptr) {
      ThrowPython(PyExc_RuntimeError, "this aligned_allocator block is not active");
    }
    Ref replaced = Ref::Borrow(BlockOf(self)->replaced);
    // Where it throws, the block stays active for whoever entered it.
    RestoreMemoryHandler(StateOf(Py_TYPE(self)), replaced.get());
    Py_CLEAR(BlockOf(self)->replaced);
    Py_RETURN_FALSE;
  });
}

PyObject* AlignedAllocatorCtx_exit(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                                   PyObject* kwnames) {
  return Exit(self, args, nargs, kwnames);
}

PyObject* BoundExit(PyObject* bound, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return Exit(OwnerOf(bound), args, nargsf, kwnames);
}

// A block object is active once at a time, and the function may call itself or run in several
// threads: each call gets a block of its own.
PyObject* AlignedAllocatorCtx_call(PyObject* self, PyObject* args, PyObject* kwargs) {
  return Guard(Py_TYPE(self), [&] {
    Ref module = Ref::Steal(PyImport_ImportModule("hurray._decorators"));
    Ref decorate = Ref::Steal(PyObject_GetAttrString(module.get(), "with_aligned_allocator"));
    return Ref::Steal(PyObject_Call(decorate.get(), args, kwargs)).release();
  });
}

PyMethodDef kMethods[] = {
    {"__enter__", Method(AlignedAllocatorCtx_enter), METH_NOARGS, kEnterDoc},
    {"__exit__", Method(AlignedAllocatorCtx_exit), METH_FASTCALL | METH_KEYWORDS, kExitDoc},
    {nullptr, nullptr, 0, nullptr},
};

constexpr QuickMethodSpec kQuickMethods[] = {
    {"__enter__", offsetof(BlockObject, enter), BoundEnter},
    {"__exit__", offsetof(BlockObject, exit), BoundExit},
};

// ---- type

PyMemberDef kMembers[] = {
    {"__weaklistoffset__", T_PYSSIZET, static_cast<Py_ssize_t>(offsetof(BlockObject, weakrefs)),
     READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot kSlots[] = {
    {Py_tp_doc, const_cast<char*>(kDoc)},
    {Py_tp_new, Slot(NewByVectorcall)},
    {Py_tp_traverse, Slot(AlignedAllocatorCtx_traverse)},
    {Py_tp_clear, Slot(AlignedAllocatorCtx_clear)},
    {Py_tp_dealloc, Slot(AlignedAllocatorCtx_dealloc)},
    {Py_tp_call, Slot(AlignedAllocatorCtx_call)},
    {Py_tp_members, kMembers},
    {Py_tp_methods, kMethods},
    {0, nullptr},
};

PyType_Spec kSpec = {
    .name = "hurray.AlignedAllocatorCtx",
    .basicsize = sizeof(BlockObject),
    .itemsize = 0,
    .flags = kFinalType,
    .slots = kSlots,
};

// ---- functions

constexpr char kAlignedAllocatorDoc[] = R"(aligned_allocator()
--

Put NumPy's new arrays on 64-byte boundaries inside a ``with`` block.

So `from_numpy` shares them, and so does every library that copies what is not aligned. Creating
arrays is no slower for it, and faster for large ones, whose memory is made of huge pages and used
again.

Returns
-------
AlignedAllocatorCtx
    A context manager; also a decorator.

Raises
------
ImportError
    When the block is entered, if NumPy is not installed.
UnsupportedError
    When the block is entered, if NumPy is older than 1.22.

See Also
--------
allocator_stats, trim_allocator

Notes
-----
It holds for the current thread or task, not for threads that are started inside. Arrays may be
used, shared and freed long after the block has ended. Large arrays begin on a page of 4096 bytes.

Examples
--------
>>> with hurray.aligned_allocator():
...     a = np.zeros((512, 512), dtype=np.float32)
>>> a.ctypes.data % 64
0
>>> hurray.from_numpy(a, copy=False).shape
(512, 512)

Each call of a function in a block of its own:

>>> @hurray.aligned_allocator()
... def ramp(count):
...     return np.arange(count) * 0.5
>>> ramp(1000).ctypes.data % 64
0
)";

PyObject* AlignedAllocator(PyObject* module, PyObject*) {
  return Guard(module, [&] { return NewBlock(StateOf(module)); });
}

constexpr char kStatsDoc[] = R"(allocator_stats()
--

What the allocator of `aligned_allocator` and of hurray's own tensors has done and keeps.

Returns
-------
dict
    ``bytes_in_use`` and ``bytes_cached``, in blocks that are in use and kept for later;
    ``mappings``, how many pieces of address space the system has given; and for blocks of
    ``small`` (at most 32 KiB), ``middle`` and ``large`` size (from 4 MiB), a dict of ``hits``,
    allocations served from what was kept, and ``misses``, all others.

See Also
--------
trim_allocator

Examples
--------
>>> before = hurray.allocator_stats()["bytes_in_use"]
>>> t = hurray.zeros([1000, 1000])
>>> hurray.allocator_stats()["bytes_in_use"] - before >= t.nbytes
True
)";

Ref RegimeToPython(const AllocatorStats::Regime& regime) {
  return Ref::Steal(Py_BuildValue("{s:K,s:K}", "hits", static_cast<unsigned long long>(regime.hits),
                                  "misses", static_cast<unsigned long long>(regime.misses)));
}

PyObject* GetStats(PyObject* module, PyObject*) {
  return Guard(module, [&] {
    AllocatorStats stats = GetAllocatorStats();
    return Ref::Steal(Py_BuildValue("{s:N,s:N,s:N,s:N,s:N,s:N}",  //
                                    "bytes_in_use", ToPython(stats.bytes_in_use).release(),
                                    "bytes_cached", ToPython(stats.bytes_cached).release(),
                                    "mappings", ToPython(stats.mappings).release(), "small",
                                    RegimeToPython(stats.small).release(), "middle",
                                    RegimeToPython(stats.middle).release(), "large",
                                    RegimeToPython(stats.large).release()))
        .release();
  });
}

constexpr char kTrimDoc[] = R"(trim_allocator()
--

Give memory that is kept for later back to the system.

What other threads keep for themselves, 1 MiB each at most, follows when they free something.

See Also
--------
allocator_stats

Examples
--------
>>> hurray.trim_allocator()
)";

PyObject* Trim(PyObject* module, PyObject*) {
  return Guard(module, []() -> PyObject* {
    {
      GilRelease released;
      TrimAllocator();
    }
    Py_RETURN_NONE;
  });
}

PyMethodDef kFunctions[] = {
    {"aligned_allocator", Method(AlignedAllocator), METH_NOARGS, kAlignedAllocatorDoc},
    {"allocator_stats", Method(GetStats), METH_NOARGS, kStatsDoc},
    {"trim_allocator", Method(Trim), METH_NOARGS, kTrimDoc},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int AddAllocator(PyObject* module, ModuleState& state) {
  return Guard(module, [&] {
    state.aligned_allocator_ctx_type =
        Ref::Steal(PyType_FromModuleAndSpec(module, &kSpec, nullptr)).release();
    PyTypeObject* type = AsType(state.aligned_allocator_ctx_type);
    type->tp_vectorcall = AlignedAllocatorCtx_vectorcall;  // no slot for it before CPython 3.14
    MakeMethodsQuick(type, kQuickMethods);
    Checked(PyModule_AddType(module, type));
    return PyModule_AddFunctions(module, kFunctions);
  });
}

}  // namespace hurray
