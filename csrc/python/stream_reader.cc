#include "io/stream_reader.h"

#include <Python.h>
#include <fcntl.h>
#include <structmember.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "python/arguments.h"
#include "python/errors.h"
#include "python/exclusive.h"
#include "python/gil.h"
#include "python/items.h"
#include "python/paths.h"
#include "python/stream_files.h"
#include "python/streams.h"
#include "python/value_type.h"
#include "python/watch.h"

namespace hurray {

namespace {

constexpr char kDoc[] =
    R"(StreamReader(source, *, max_descriptor_bytes=None, max_buffer_bytes=None, max_composite_depth=None, cross_machine=False, permissive=False)
--

Reads tensors from a stream, one at a time.

Iterating yields a `Tensor` or a whole `Composite` as soon as its bytes are in, and stops at a clean
end. After an error the reader is at its end.

Parameters
----------
source : str, os.PathLike, bytes-like, or object with ``fileno()``
    A descriptor is duplicated and read from its present position on.
max_descriptor_bytes : int, optional
    Bytes that one descriptor may have; 16 MiB by default.
max_buffer_bytes : int, optional
    Bytes that one buffer may have; without limit by default.
max_composite_depth : int, optional
    Composites in each other; the format allows 8 in any case.
cross_machine : bool, optional
    Refuse buffers that are not ready yet, which only their own machine could wait for.
permissive : bool, optional
    Keep tensors of layouts that are reserved for later versions, as `UnknownLayout`.

Raises
------
FileError
    If a path cannot be opened, or the system cannot read.
StreamError
    While iterating: for broken framing, an exceeded limit, or an end in the middle of something.
InvalidDescriptorError
    While iterating: for a descriptor or composite that is not valid.

Notes
-----
Format: section 9, "Streaming format".

Examples
--------
>>> with hurray.StreamWriter() as writer:
...     writer.write(hurray.zeros([2]))
...     writer.write(hurray.ones([3]))
>>> [tensor.shape for tensor in hurray.StreamReader(writer.getvalue())]
[(2,), (3,)]
)";

struct ReaderObject {
  PyObject_HEAD
  PyObject* weakrefs;
  PyObject* memory;      // the memoryview that is read from; null for other sources
  StreamReader* reader;  // owned; null at the end
  std::atomic<bool> busy;
};

ReaderObject* Of(PyObject* self) { return reinterpret_cast<ReaderObject*>(self); }

// ---- lifetime

constexpr Signature kNew("StreamReader",
                         {"source", "max_descriptor_bytes", "max_buffer_bytes",
                          "max_composite_depth", "cross_machine", "permissive"},
                         1, 1);

constexpr char kHint[] = "pass bytes, such as the getvalue() of an io.BytesIO";

StreamLimits ToLimits(const std::array<PyObject*, 6>& bound) {
  StreamLimits limits;
  auto take = [&](size_t i, const char* name, uint64_t& limit) {
    if (NoneToNull(bound[i]) != nullptr) limit = ToInteger<uint64_t>(bound[i], name);
  };
  take(1, "max_descriptor_bytes", limits.max_descriptor_bytes);
  take(2, "max_buffer_bytes", limits.max_buffer_bytes);
  take(3, "max_composite_depth", limits.max_composite_depth);
  limits.cross_machine = bound[4] != nullptr && ToBool(bound[4], "cross_machine");
  bool permissive = bound[5] != nullptr && ToBool(bound[5], "permissive");
  limits.mode = permissive ? Mode::kPermissive : Mode::kStrict;
  return limits;
}

// The stream behind the argument; `memory` is set to what keeps its bytes alive, if it has any.
std::unique_ptr<ByteStream> ToStream(PyObject* source, Ref& memory) {
  if (IsPath(source)) {
    std::string path = ToPath(source, "source");
    GilRelease released;
    Checkpoint checkpoint = Watch();
    auto file = FileDescriptor::Open(path, O_RDONLY, 0, checkpoint);
    if (S_ISDIR(file.Status().st_mode)) {
      errno = EISDIR;  // which reading from it would tell later
      ThrowSystemError("read", path);
    }
    return std::make_unique<DescriptorStream>(std::move(file));
  }
  if (PyObject_CheckBuffer(source) != 0) {
    BytesView view(source, "source", std::nullopt);
    memory = Ref::Steal(PyMemoryView_FromObject(source));
    // The object holds the memoryview, where the garbage collector can see it.
    return std::make_unique<MemoryStream>(Buffer(const_cast<uint8_t*>(view.bytes().data()),
                                                 view.bytes().size(), false, nullptr, nullptr));
  }
  return std::make_unique<DescriptorStream>(DuplicateDescriptor(source, "source", kHint));
}

PyObject* StreamReader_vectorcall(PyObject* callable, PyObject* const* args, size_t nargsf,
                                  PyObject* kwnames) {
  auto* type = AsType(callable);
  return Guard(type, [&] {
    auto bound = kNew.Bind(args, nargsf, kwnames);
    StreamLimits limits = ToLimits(bound);
    Ref memory;
    auto reader = std::make_unique<StreamReader>(ToStream(bound[0], memory), limits);
    Ref self = Ref::Steal(type->tp_alloc(type, 0));
    Of(self.get())->memory = memory.release();
    Of(self.get())->reader = reader.release();
    new (&Of(self.get())->busy) std::atomic<bool>(false);
    return self.release();
  });
}

int StreamReader_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(Of(self)->memory);
  return 0;
}

// The reader is done with its source.
void LetGo(PyObject* self) {
  delete std::exchange(Of(self)->reader, nullptr);
  Py_CLEAR(Of(self)->memory);
}

int StreamReader_clear(PyObject* self) {
  LetGo(self);
  return 0;
}

void StreamReader_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (Of(self)->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
  LetGo(self);
  type->tp_free(self);
  Py_DECREF(type);
}

// ---- methods

PyObject* StreamReader_next(PyObject* self) {
  return Guard(Py_TYPE(self), [&]() -> PyObject* {
    Exclusive inside(Of(self)->busy, "StreamReader");
    if (Of(self)->reader == nullptr) return nullptr;
    std::optional<Item> item;
    try {
      GilRelease released;
      Checkpoint checkpoint = Watch();
      item = Of(self)->reader->Next(checkpoint);
    } catch (...) {
      LetGo(self);
      throw;
    }
    if (!item) {
      LetGo(self);
      return nullptr;
    }
    return ItemToPython(StateOf(Py_TYPE(self)), *std::move(item)).release();
  });
}

PyObject* StreamReader_close(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] {
    Exclusive inside(Of(self)->busy, "StreamReader");
    LetGo(self);
    return Py_NewRef(Py_None);
  });
}

PyObject* StreamReader_enter(PyObject* self, PyObject*) { return Py_NewRef(self); }
PyObject* StreamReader_exit(PyObject* self, PyObject*) {
  Ref closed = Ref::StealOrNull(StreamReader_close(self, nullptr));
  return closed ? Py_NewRef(Py_False) : nullptr;
}

constexpr char kCloseDoc[] = R"(close($self)
--

Let go of the source; the reader is then at its end. May be called again.

Examples
--------
>>> reader = hurray.StreamReader(b"")
>>> reader.close()
>>> list(reader)
[]
)";

PyMethodDef kMethods[] = {
    {"close", StreamReader_close, METH_NOARGS, kCloseDoc},
    {"__enter__", StreamReader_enter, METH_NOARGS, nullptr},
    {"__exit__", StreamReader_exit, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyMemberDef kMembers[] = {
    {"__weaklistoffset__", T_PYSSIZET, static_cast<Py_ssize_t>(offsetof(ReaderObject, weakrefs)),
     READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

// ---- type

PyType_Slot kSlots[] = {
    {Py_tp_doc, const_cast<char*>(kDoc)},
    {Py_tp_new, Slot(NewByVectorcall)},
    {Py_tp_traverse, Slot(StreamReader_traverse)},
    {Py_tp_clear, Slot(StreamReader_clear)},
    {Py_tp_dealloc, Slot(StreamReader_dealloc)},
    {Py_tp_iter, Slot(PyObject_SelfIter)},
    {Py_tp_iternext, Slot(StreamReader_next)},
    {Py_tp_methods, kMethods},
    {Py_tp_members, kMembers},
    {0, nullptr},
};

PyType_Spec kSpec = {
    .name = "hurray.StreamReader",
    .basicsize = sizeof(ReaderObject),
    .itemsize = 0,
    .flags = kFinalType,
    .slots = kSlots,
};

}  // namespace

int AddStreamReader(PyObject* module, ModuleState& state) {
  state.stream_reader_type = PyType_FromModuleAndSpec(module, &kSpec, nullptr);
  if (state.stream_reader_type == nullptr) return -1;
  auto* type = AsType(state.stream_reader_type);
  type->tp_vectorcall = StreamReader_vectorcall;  // no slot for it before CPython 3.14
  return PyModule_AddType(module, type);
}

}  // namespace hurray
