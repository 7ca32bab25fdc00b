#include "python/file.h"

#include <structmember.h>

#include <memory>
#include <new>
#include <string>
#include <utility>

#include "python/arguments.h"
#include "python/descriptor.h"
#include "python/device.h"
#include "python/errors.h"
#include "python/files.h"
#include "python/gil.h"
#include "python/items.h"
#include "python/metadata.h"
#include "python/paths.h"
#include "python/value_type.h"
#include "python/watch.h"

namespace hurray {

namespace {

constexpr char kDoc[] = R"(An open file: a read-only mapping of names to tensors.

Made by `hurray.open`. A tensor or composite is made each time it is asked for, and outlives the
file. The members of composites are not listed, but found by their names (``w.0``).

Notes
-----
Format: section 10, "File container".

Examples
--------
>>> hurray.save("two.hrry", {"a": hurray.zeros([2]), "b": hurray.ones([3])}, kv={"step": 7})
>>> with hurray.open("two.hrry") as file:
...     list(file), "c" in file, file["b"].shape, file.kv
(['a', 'b'], False, (3,), {'step': 7})
)";

struct FileObject {
  PyObject_HEAD
  PyObject* weakrefs;
  std::shared_ptr<const FileReader> reader;  // null once closed
};

FileObject* Of(PyObject* self) { return reinterpret_cast<FileObject*>(self); }

// Keeps the file open for one call, whoever closes it meanwhile.
std::shared_ptr<const FileReader> ReaderOf(PyObject* self) {
  std::shared_ptr<const FileReader> reader = Of(self)->reader;
  if (reader == nullptr) ThrowValueError("the file is closed");
  return reader;
}

// ---- lifetime

int File_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return 0;
}

void File_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (Of(self)->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
  Of(self)->reader.~shared_ptr();
  type->tp_free(self);
  Py_DECREF(type);
}

// ---- properties

Ref NamesOf(const FileReader& reader) {
  Ref names = Ref::Steal(PyList_New(0));
  for (size_t i = 0; i < reader.entry_count(); ++i) {
    if (reader.is_member(i)) continue;
    Ref name = ToPython(reader.name(i));
    Checked(PyList_Append(names.get(), name.get()));
  }
  return Ref::Steal(PyList_AsTuple(names.get()));
}

PyObject* File_names(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] { return NamesOf(*ReaderOf(self)).release(); });
}

PyObject* File_kv(PyObject* self, void*) {
  return Guard(Py_TYPE(self), [&] {
    auto reader = ReaderOf(self);
    Metadata metadata;
    {
      GilRelease released;
      Checkpoint checkpoint = Watch();
      metadata = reader->ReadMetadata(checkpoint);
    }
    return MetadataToDict(metadata).release();
  });
}

PyGetSetDef kProperties[] = {
    {"names", File_names, nullptr, "tuple of str: names in file order, members left out.", nullptr},
    {"kv", File_kv, nullptr, "dict: the file's metadata.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef kMembers[] = {
    {"__weaklistoffset__", T_PYSSIZET, static_cast<Py_ssize_t>(offsetof(FileObject, weakrefs)),
     READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

// ---- as a mapping

// The entry of a name, members included; nullopt for anything that is no name here.
std::optional<uint32_t> FindEntry(const FileReader& reader, PyObject* name) {
  if (!PyUnicode_Check(name)) return std::nullopt;
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(name, &size);
  if (utf8 == nullptr) {
    if (!ClearIf(PyExc_UnicodeEncodeError)) throw PythonError();
    return std::nullopt;
  }
  return reader.Find({utf8, static_cast<size_t>(size)});
}

[[noreturn]] void ThrowKeyError(PyObject* key) {
  // In a tuple of its own: a key that is None or a tuple would be taken for the arguments.
  Ref arguments = Ref::Steal(PyTuple_Pack(1, key));
  PyErr_SetObject(PyExc_KeyError, arguments.get());
  throw PythonError();
}

Ref ReadEntry(PyObject* self, const FileReader& reader, uint32_t entry) {
  std::optional<Item> item;
  {
    GilRelease released;
    Checkpoint checkpoint = Watch();
    item = reader.Read(entry, checkpoint);
  }
  return ItemToPython(StateOf(Py_TYPE(self)), *std::move(item));
}

PyObject* File_getitem(PyObject* self, PyObject* name) {
  return Guard(Py_TYPE(self), [&] {
    auto reader = ReaderOf(self);
    auto entry = FindEntry(*reader, name);
    if (!entry) ThrowKeyError(name);
    return ReadEntry(self, *reader, *entry).release();
  });
}

Py_ssize_t File_len(PyObject* self) {
  return Guard(Py_TYPE(self), [&] {
    auto reader = ReaderOf(self);
    Py_ssize_t count = 0;
    for (size_t i = 0; i < reader->entry_count(); ++i) count += reader->is_member(i) ? 0 : 1;
    return count;
  });
}

int File_contains(PyObject* self, PyObject* name) {
  return Guard(Py_TYPE(self), [&] {
    auto reader = ReaderOf(self);
    auto entry = FindEntry(*reader, name);
    return entry && !reader->is_member(*entry) ? 1 : 0;
  });
}

PyObject* File_iter(PyObject* self) {
  return Guard(Py_TYPE(self), [&] {
    Ref names = NamesOf(*ReaderOf(self));
    return Ref::Steal(PyObject_GetIter(names.get())).release();
  });
}

PyObject* File_get(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constexpr Signature kGet("get", {"key", "default"}, 1);
  return Guard(Py_TYPE(self), [&] {
    auto bound = kGet.Bind(args, nargs, kwnames);
    auto reader = ReaderOf(self);
    auto entry = FindEntry(*reader, bound[0]);
    if (!entry) return Py_NewRef(bound[1] == nullptr ? Py_None : bound[1]);
    return ReadEntry(self, *reader, *entry).release();
  });
}

// A view class of collections.abc over this mapping.
PyObject* View(PyObject* self, const char* name) {
  return Guard(Py_TYPE(self), [&] {
    ReaderOf(self);
    Ref module = Ref::Steal(PyImport_ImportModule("_collections_abc"));
    return Ref::Steal(PyObject_CallMethod(module.get(), name, "O", self)).release();
  });
}
PyObject* File_keys(PyObject* self, PyObject*) { return View(self, "KeysView"); }
PyObject* File_values(PyObject* self, PyObject*) { return View(self, "ValuesView"); }
PyObject* File_items(PyObject* self, PyObject*) { return View(self, "ItemsView"); }

// ---- other methods

PyObject* File_descriptor(PyObject* self, PyObject* name) {
  return Guard(Py_TYPE(self), [&] {
    auto reader = ReaderOf(self);
    ModuleState& state = StateOf(Py_TYPE(self));
    ToText(name, "name");
    auto entry = FindEntry(*reader, name);
    if (!entry) ThrowKeyError(name);
    Checkpoint checkpoint = Watch();
    TensorDescriptor descriptor = reader->ReadDescriptor(*entry, checkpoint);
    Ref device = DeviceToPython(state, descriptor.device());
    return DescriptorToPython(state, std::move(descriptor), device.get()).release();
  });
}

PyObject* File_close(PyObject* self, PyObject*) {
  std::shared_ptr<const FileReader> gone = std::move(Of(self)->reader);
  Of(self)->reader = nullptr;
  Py_RETURN_NONE;
}

PyObject* File_enter(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] {
    ReaderOf(self);
    return Py_NewRef(self);
  });
}

PyObject* File_exit(PyObject* self, PyObject*) {
  Ref closed = Ref::StealOrNull(File_close(self, nullptr));
  return closed ? Py_NewRef(Py_False) : nullptr;
}

PyObject* File_repr(PyObject* self) {
  return Guard(Py_TYPE(self), [&] {
    auto reader = Of(self)->reader;
    if (reader == nullptr) return ToPython(std::string_view("<hurray.File, closed>")).release();
    return ToPython(
               StrCat("<hurray.File ", reader->source_name(), ", ", File_len(self), " tensors>"))
        .release();
  });
}

constexpr char kKeysDoc[] = R"(keys($self)
--

The names, as a view.

Examples
--------
>>> hurray.save("one.hrry", {"a": hurray.zeros([2])})
>>> list(hurray.open("one.hrry").keys())
['a']
)";

constexpr char kValuesDoc[] = R"(values($self)
--

The tensors, as a view that makes them one by one.

Examples
--------
>>> hurray.save("one.hrry", {"a": hurray.zeros([2])})
>>> [tensor.shape for tensor in hurray.open("one.hrry").values()]
[(2,)]
)";

constexpr char kItemsDoc[] = R"(items($self)
--

Pairs of name and tensor, as a view that makes them one by one.

Examples
--------
>>> hurray.save("one.hrry", {"a": hurray.zeros([2])})
>>> [(name, tensor.shape) for name, tensor in hurray.open("one.hrry").items()]
[('a', (2,))]
)";

constexpr char kGetDoc[] = R"(get($self, key, default=None)
--

The tensor of that name, or `default` if there is none.

Examples
--------
>>> hurray.save("one.hrry", {"a": hurray.zeros([2])})
>>> hurray.open("one.hrry").get("b", "nothing")
'nothing'
)";

constexpr char kDescriptorDoc[] = R"(descriptor($self, name, /)
--

The `Descriptor` of a tensor or composite, without its data.

Raises
------
KeyError
    If the file has no such name.

Examples
--------
>>> hurray.save("one.hrry", {"a": hurray.zeros([2])})
>>> hurray.open("one.hrry").descriptor("a").shape
(2,)
)";

constexpr char kCloseDoc[] = R"(close($self)
--

Close the file. Tensors made from it stay. May be called again.

Examples
--------
>>> hurray.save("one.hrry", {"a": hurray.zeros([2])})
>>> file = hurray.open("one.hrry")
>>> tensor = file["a"]
>>> file.close()
>>> tensor.shape
(2,)
)";

PyMethodDef kMethods[] = {
    {"keys", File_keys, METH_NOARGS, kKeysDoc},
    {"values", File_values, METH_NOARGS, kValuesDoc},
    {"items", File_items, METH_NOARGS, kItemsDoc},
    {"get", Method(File_get), METH_FASTCALL | METH_KEYWORDS, kGetDoc},
    {"descriptor", File_descriptor, METH_O, kDescriptorDoc},
    {"close", File_close, METH_NOARGS, kCloseDoc},
    {"__enter__", File_enter, METH_NOARGS, nullptr},
    {"__exit__", File_exit, METH_VARARGS, nullptr},
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// ---- type

PyType_Slot kSlots[] = {
    {Py_tp_doc, const_cast<char*>(kDoc)},  {Py_tp_traverse, Slot(File_traverse)},
    {Py_tp_dealloc, Slot(File_dealloc)},   {Py_tp_members, kMembers},
    {Py_tp_getset, kProperties},           {Py_tp_methods, kMethods},
    {Py_tp_repr, Slot(File_repr)},         {Py_tp_iter, Slot(File_iter)},
    {Py_mp_subscript, Slot(File_getitem)}, {Py_mp_length, Slot(File_len)},
    {Py_sq_contains, Slot(File_contains)}, {0, nullptr},
};

PyType_Spec kSpec = {
    .name = "hurray.File",
    .basicsize = sizeof(FileObject),
    .itemsize = 0,
    .flags = kFinalNotConstructible | Py_TPFLAGS_MAPPING,
    .slots = kSlots,
};

// ---- hurray.open

constexpr char kOpenDoc[] = R"(open(path, *, permissive=False)
--

Open a file for reading tensors one by one.

Parameters
----------
path : str or os.PathLike
permissive : bool, optional
    Keep tensors of layouts that are reserved for later versions, as `UnknownLayout`.

Returns
-------
File
    A mapping of names to tensors, and a context manager.

Raises
------
FileError
    If the file cannot be read or is no sound Hurray file.

Notes
-----
Format: section 10, "File container".

Examples
--------
>>> hurray.save("two.hrry", {"a": hurray.zeros([2]), "b": hurray.ones([3])})
>>> with hurray.open("two.hrry") as file:
...     file.names, file["b"].shape
(('a', 'b'), (3,))
)";

PyObject* Open(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constexpr Signature kOpen("open", {"path", "permissive"}, 1, 1);
  return Guard(module, [&] {
    auto bound = kOpen.Bind(args, nargs, kwnames);
    std::string path = ToPath(bound[0], "path");
    Mode mode =
        bound[1] != nullptr && ToBool(bound[1], "permissive") ? Mode::kPermissive : Mode::kStrict;
    std::shared_ptr<const FileReader> reader = OpenFile(path, FileAccess::kMap, mode);
    auto* type = AsType(StateOf(module).file_type);
    Ref self = Ref::Steal(type->tp_alloc(type, 0));
    new (&Of(self.get())->reader) std::shared_ptr<const FileReader>(std::move(reader));
    return self.release();
  });
}

PyMethodDef kFunctions[] = {
    {"open", Method(Open), METH_FASTCALL | METH_KEYWORDS, kOpenDoc},
    {nullptr, nullptr, 0, nullptr},
};

// Makes isinstance(file, collections.abc.Mapping) true.
void RegisterAsMapping(PyObject* type) {
  Ref module = Ref::Steal(PyImport_ImportModule("_collections_abc"));
  Ref mapping = Ref::Steal(PyObject_GetAttrString(module.get(), "Mapping"));
  Ref::Steal(PyObject_CallMethod(mapping.get(), "register", "O", type));
}

}  // namespace

int AddFile(PyObject* module, ModuleState& state) {
  return Guard(module, [&] {
    state.file_type = Ref::Steal(PyType_FromModuleAndSpec(module, &kSpec, nullptr)).release();
    RegisterAsMapping(state.file_type);
    Checked(PyModule_AddType(module, AsType(state.file_type)));
    return PyModule_AddFunctions(module, kFunctions);
  });
}

}  // namespace hurray
