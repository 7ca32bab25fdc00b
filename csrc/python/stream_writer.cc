#include "io/stream_writer.h"

#include <Python.h>
#include <fcntl.h>
#include <structmember.h>

#include <atomic>
#include <memory>
#include <new>
#include <utility>

#include "python/arguments.h"
#include "python/composite.h"
#include "python/errors.h"
#include "python/exclusive.h"
#include "python/gil.h"
#include "python/items.h"
#include "python/paths.h"
#include "python/stream_files.h"
#include "python/streams.h"
#include "python/tensor.h"
#include "python/value_type.h"
#include "python/watch.h"

namespace hurray {

namespace {

constexpr char kDoc[] = R"(StreamWriter(destination=None, *, cross_machine=False)
--

Writes tensors to a stream, one at a time.

A context manager: leaving the block finishes the stream.

Parameters
----------
destination : str, os.PathLike or object with ``fileno()``, optional
    A path is created or truncated; a descriptor is duplicated and written from its present
    position on. None builds the stream in memory, for `getvalue`.
cross_machine : bool, optional
    Refuse buffers that are not ready yet, which only their own machine could wait for.

Raises
------
FileError
    If a path cannot be opened.

Notes
-----
Format: section 9, "Streaming format". There is no end marker: a stream of nothing is empty.

Examples
--------
>>> with hurray.StreamWriter() as writer:
...     writer.write(hurray.Tensor(bytes(16), hurray.float32, [4]))
>>> len(writer.getvalue())
69
)";

struct WriterObject {
  PyObject_HEAD
  PyObject* weakrefs;
  StreamWriter* writer;  // owned; null once a destination is finished
  MemorySink* memory;    // the writer's; null if there is a destination
  bool finished;
  std::atomic<bool> busy;
};

WriterObject* Of(PyObject* self) { return reinterpret_cast<WriterObject*>(self); }

// ---- lifetime

constexpr Signature kNew("StreamWriter", {"destination", "cross_machine"}, 0, 1);

std::unique_ptr<Sink> ToSink(PyObject* destination) {
  if (IsPath(destination)) {
    std::string path = ToPath(destination, "destination");
    GilRelease released;
    Checkpoint checkpoint = Watch();
    return std::make_unique<DescriptorSink>(
        FileDescriptor::Open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666, checkpoint));
  }
  return std::make_unique<DescriptorSink>(DuplicateDescriptor(
      destination, "destination", "write to memory by leaving the destination out"));
}

PyObject* StreamWriter_vectorcall(PyObject* callable, PyObject* const* args, size_t nargsf,
                                  PyObject* kwnames) {
  auto* type = AsType(callable);
  return Guard(type, [&] {
    auto bound = kNew.Bind(args, nargsf, kwnames);
    bool cross_machine = bound[1] != nullptr && ToBool(bound[1], "cross_machine");
    std::unique_ptr<Sink> sink;
    MemorySink* memory = nullptr;
    if (NoneToNull(bound[0]) != nullptr) {
      sink = ToSink(bound[0]);
    } else {
      auto made = std::make_unique<MemorySink>();
      memory = made.get();
      sink = std::move(made);
    }
    auto writer = std::make_unique<StreamWriter>(std::move(sink), cross_machine);
    Ref self = Ref::Steal(type->tp_alloc(type, 0));
    Of(self.get())->writer = writer.release();
    new (&Of(self.get())->busy) std::atomic<bool>(false);
    Of(self.get())->memory = memory;
    return self.release();
  });
}

int StreamWriter_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return 0;
}

void StreamWriter_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (Of(self)->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
  delete Of(self)->writer;
  type->tp_free(self);
  Py_DECREF(type);
}

// ---- methods

constexpr char kWriteDoc[] = R"(write($self, item, /)
--

Write a tensor, or a composite with all its members.

Parameters
----------
item : Tensor or Composite
    Checked as a whole before the first byte is written.

Raises
------
StreamError
    After `finish`, or for a buffer that ``cross_machine=True`` refuses.
FileError
    If the system cannot write; the stream is then finished.

Examples
--------
>>> writer = hurray.StreamWriter()
>>> writer.write(hurray.zeros([2]))
>>> len(writer.getvalue())
69
)";

PyObject* StreamWriter_write(PyObject* self, PyObject* object) {
  return Guard(Py_TYPE(self), [&] {
    const ModuleState& state = StateOf(Py_TYPE(self));
    if (!IsTensor(state, object) && !IsComposite(state, object)) {
      ThrowTypeError(
          StrCat("item must be a hurray.Tensor or hurray.Composite, not ", TypeName(object)));
    }
    Exclusive inside(Of(self)->busy, "StreamWriter");
    if (Of(self)->finished) throw Error(ErrorCode::kStream, "the stream is finished");
    Item item = ToItem(state, object);
    // Until the item is checked nothing is written; what fails later leaves half of it behind,
    // which memory can forget.
    Of(self)->finished = true;
    MemorySink* memory = Of(self)->memory;
    size_t size = memory != nullptr ? memory->bytes().size() : 0;
    try {
      GilRelease released;
      Checkpoint checkpoint = Watch();
      Of(self)->writer->Write(item, checkpoint);
    } catch (const SystemError&) {
      throw;
    } catch (const Error&) {
      Of(self)->finished = false;
      throw;
    } catch (...) {
      if (memory != nullptr) {
        memory->Truncate(size);
        Of(self)->finished = false;
      }
      throw;
    }
    Of(self)->finished = false;
    return Py_NewRef(Py_None);
  });
}

PyObject* StreamWriter_finish(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] {
    Exclusive inside(Of(self)->busy, "StreamWriter");
    Of(self)->finished = true;
    if (Of(self)->memory == nullptr && Of(self)->writer != nullptr) {
      std::unique_ptr<StreamWriter> writer(std::exchange(Of(self)->writer, nullptr));
      GilRelease released;
      static_cast<DescriptorSink&>(writer->sink()).file().Close();
    }
    return Py_NewRef(Py_None);
  });
}

PyObject* StreamWriter_getvalue(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] {
    Exclusive inside(Of(self)->busy, "StreamWriter");
    if (Of(self)->memory == nullptr) {
      throw Error(ErrorCode::kStream,
                  "getvalue() is of a stream in memory, this one has a destination");
    }
    return BytesToPython(Of(self)->memory->bytes()).release();
  });
}

PyObject* StreamWriter_enter(PyObject* self, PyObject*) { return Py_NewRef(self); }
PyObject* StreamWriter_exit(PyObject* self, PyObject*) {
  Ref finished = Ref::StealOrNull(StreamWriter_finish(self, nullptr));
  return finished ? Py_NewRef(Py_False) : nullptr;
}

constexpr char kFinishDoc[] = R"(finish($self)
--

Flush what was written and let go of the destination. May be called again.

Raises
------
FileError
    If the system reports only now that it could not write.

Examples
--------
>>> writer = hurray.StreamWriter("empty.stream")
>>> writer.finish()
>>> list(hurray.StreamReader("empty.stream"))
[]
)";

constexpr char kGetvalueDoc[] = R"(getvalue($self)
--

The bytes written so far, of a stream in memory.

Raises
------
StreamError
    If there is a destination.

Examples
--------
>>> hurray.StreamWriter().getvalue()
b''
)";

PyMethodDef kMethods[] = {
    {"write", StreamWriter_write, METH_O, kWriteDoc},
    {"finish", StreamWriter_finish, METH_NOARGS, kFinishDoc},
    {"getvalue", StreamWriter_getvalue, METH_NOARGS, kGetvalueDoc},
    {"__enter__", StreamWriter_enter, METH_NOARGS, nullptr},
    {"__exit__", StreamWriter_exit, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyMemberDef kMembers[] = {
    {"__weaklistoffset__", T_PYSSIZET, static_cast<Py_ssize_t>(offsetof(WriterObject, weakrefs)),
     READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

// ---- type

PyType_Slot kSlots[] = {
    {Py_tp_doc, const_cast<char*>(kDoc)},
    {Py_tp_new, Slot(NewByVectorcall)},
    {Py_tp_traverse, Slot(StreamWriter_traverse)},
    {Py_tp_dealloc, Slot(StreamWriter_dealloc)},
    {Py_tp_methods, kMethods},
    {Py_tp_members, kMembers},
    {0, nullptr},
};

PyType_Spec kSpec = {
    .name = "hurray.StreamWriter",
    .basicsize = sizeof(WriterObject),
    .itemsize = 0,
    .flags = kFinalType,
    .slots = kSlots,
};

}  // namespace

int AddStreamWriter(PyObject* module, ModuleState& state) {
  state.stream_writer_type = PyType_FromModuleAndSpec(module, &kSpec, nullptr);
  if (state.stream_writer_type == nullptr) return -1;
  auto* type = AsType(state.stream_writer_type);
  type->tp_vectorcall = StreamWriter_vectorcall;  // no slot for it before CPython 3.14
  return PyModule_AddType(module, type);
}

}  // namespace hurray
