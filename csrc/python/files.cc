#include "python/files.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/composite_tree.h"
#include "io/file_reader.h"
#include "io/file_writer.h"
#include "python/arguments.h"
#include "python/composite.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/ingest.h"
#include "python/items.h"
#include "python/metadata.h"
#include "python/paths.h"
#include "python/tensor.h"
#include "python/watch.h"

namespace hurray {

namespace {

// ---- writing

constexpr char kSaveDoc[] =
    R"(save(path, tensors, *, kv=None, durable=False, progress=None)
--

Write tensors and metadata to a file, replacing it as a whole.

Parameters
----------
path : str or os.PathLike
    A regular file is replaced by a new one when that is complete; what is no regular file (a FIFO,
    a device) is written through.
tensors : dict of str to Tensor or Composite
    Written in this order. Arrays and other objects with ``__hurray__`` or ``__dlpack__`` are taken
    as by `asarray`.
kv : dict of str, optional
    Metadata: bool, int, float, str, bytes, and non-empty lists of one of these.
durable : bool, optional
    Return only when file and folder are on the disk.
progress : callable, optional
    Called with (bytes done, bytes in all) now and then and at the end. What it raises ends the
    writing and leaves the old file as it was.

Raises
------
FileError
    If the file cannot be written, a value of `kv` is none of the above, or a name is empty, longer
    than 65535 bytes, or comes twice: the members of a composite ``w`` are ``w.0``, ``w.1``, ...
UnsupportedError
    If a value of `tensors` is nothing that can be stored.
OverflowError
    If an int in `kv` is below -2**63 or above 2**64 - 1.

Notes
-----
Format: section 10, "File container".

Examples
--------
>>> hurray.save("model.hrry", {"weights": hurray.ones([2, 3])}, kv={"step": 7})
>>> hurray.load("model.hrry")["weights"].shape
(2, 3)
>>> hurray.load_kv("model.hrry")
{'step': 7}
)";

constexpr char kDumpsDoc[] = R"(dumps(tensors, *, kv=None)
--

The bytes of the file that `save` would write.

Parameters
----------
tensors : dict of str to Tensor or Composite
kv : dict of str, optional

Returns
-------
bytes

Raises
------
FileError, UnsupportedError, OverflowError
    As `save`.

Notes
-----
Format: section 10, "File container".

Examples
--------
>>> data = hurray.dumps({"x": hurray.zeros([3])})
>>> data[:8], hurray.loads(data)["x"].shape
(b'HRRYFILE', (3,))
)";

// A str as the name of a tensor. Throws kFile for one that UTF-8 cannot express.
std::string_view TensorName(PyObject* object) {
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(object, &size);
  if (utf8 == nullptr) {
    if (!ClearIf(PyExc_UnicodeEncodeError)) throw PythonError();
    throw Error(ErrorCode::kFile, "a tensor name is a str that UTF-8 cannot express");
  }
  return {utf8, static_cast<size_t>(size)};
}

Item ToStoredItem(ModuleState& state, std::string_view name, PyObject* value) {
  if (IsTensor(state, value) || IsComposite(state, value)) return ToItem(state, value);
  if (PyObject_HasAttrString(value, "__hurray__") == 1 ||
      PyObject_HasAttrString(value, "__dlpack__") == 1) {
    try {
      return ToItem(state, AsTensor(state, value, std::nullopt, std::nullopt).get());
    } catch (const Error& error) {
      throw Error(error.code(), StrCat("tensors['", name, "']: ", error.what()));
    }
  }
  throw Error(ErrorCode::kUnsupported,
              StrCat("tensors['", name, "'] is a ", TypeName(value),
                     ", it must be a hurray.Tensor, a hurray.Composite, an array or a torch "
                     "tensor"));
}

std::vector<NamedItem> ToNamedItems(ModuleState& state, PyObject* tensors) {
  if (!PyDict_Check(tensors)) {
    ThrowTypeError(StrCat("tensors must be a dict, not ", TypeName(tensors)));
  }
  // A copy: taking an array may run Python code, which could change the dict.
  Ref copy = Ref::Steal(PyDict_Copy(tensors));
  std::vector<NamedItem> items;
  items.reserve(static_cast<size_t>(PyDict_GET_SIZE(copy.get())));
  PyObject *key, *value;
  for (Py_ssize_t at = 0; PyDict_Next(copy.get(), &at, &key, &value) != 0;) {
    if (!PyUnicode_Check(key)) {
      ThrowTypeError(StrCat("a key of tensors must be a str, not ", TypeName(key)));
    }
    std::string_view name = TensorName(key);
    items.push_back({std::string(name), ToStoredItem(state, name, value)});
  }
  return items;
}

PyObject* ToProgress(PyObject* object) {
  object = NoneToNull(object);
  if (object != nullptr && PyCallable_Check(object) == 0) {
    ThrowTypeError(StrCat("progress must be callable, not ", TypeName(object)));
  }
  return object;
}

constexpr Signature kSave("save", {"path", "tensors", "kv", "durable", "progress"}, 2, 2);

PyObject* Save(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return Guard(module, [&] {
    auto [path_object, tensors, kv, durable_object, progress] = kSave.Bind(args, nargs, kwnames);
    std::string path = ToPath(path_object, "path");
    bool durable = durable_object != nullptr && ToBool(durable_object, "durable");
    Checkpoint checkpoint = Watch(ToProgress(progress));
    std::vector<NamedItem> items = ToNamedItems(StateOf(module), tensors);
    Metadata metadata = ToMetadata(kv);
    {
      GilRelease released;
      SaveFile(path, items, metadata, durable, checkpoint);
    }
    return Py_NewRef(Py_None);
  });
}

// Memory of exactly the size that is going to be written.
class FixedSink : public Sink {
 public:
  explicit FixedSink(uint8_t* start) noexcept : next_(start) {}
  void Write(std::span<const iovec> pieces, Checkpoint& checkpoint) override {
    for (const iovec& piece : pieces) {
      std::memcpy(next_, piece.iov_base, piece.iov_len);
      next_ += piece.iov_len;
      checkpoint.Advance(piece.iov_len);
    }
  }

 private:
  uint8_t* next_;
};

constexpr Signature kDumps("dumps", {"tensors", "kv"}, 1, 1);

PyObject* Dumps(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return Guard(module, [&] {
    auto [tensors, kv] = kDumps.Bind(args, nargs, kwnames);
    std::vector<NamedItem> items = ToNamedItems(StateOf(module), tensors);
    FilePlan plan(items, ToMetadata(kv));
    if (plan.file_size() > static_cast<uint64_t>(PY_SSIZE_T_MAX)) throw std::bad_alloc();
    Ref bytes =
        Ref::Steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(plan.file_size())));
    FixedSink sink(reinterpret_cast<uint8_t*>(PyBytes_AS_STRING(bytes.get())));
    Checkpoint checkpoint = Watch();
    WithoutGilIfLarge(static_cast<size_t>(plan.file_size()), [&] { plan.Write(sink, checkpoint); });
    return bytes.release();
  });
}

// ---- reading

constexpr char kLoadDoc[] =
    R"(load(path, *, names=None, mmap=True, permissive=False, progress=None)
--

Read the tensors of a file.

Parameters
----------
path : str or os.PathLike
names : sequence of str, optional
    Only these, in this order; otherwise all, in file order, the members of composites only inside
    these.
mmap : bool, optional
    True maps the file privately: nothing is read until it is touched, the arrays are writable, and
    the file never changes through them. False reads into memory of its own.
permissive : bool, optional
    Keep tensors of layouts that are reserved for later versions, as `UnknownLayout`.
progress : callable, optional
    Called with (bytes done, bytes in all) now and then and at the end. What it raises ends the
    reading.

Returns
-------
dict of str to Tensor or Composite

Raises
------
FileError
    If the file cannot be read, is no sound Hurray file, or lacks a name.
InvalidDescriptorError
    If the descriptor of a tensor is not valid.

Notes
-----
Format: section 10, "File container". A mapped file must not be cut short while its tensors live:
touching what is gone kills the process.

Examples
--------
>>> hurray.save("two.hrry", {"a": hurray.zeros([2]), "b": hurray.ones([3])})
>>> hurray.load("two.hrry", names=["b"])
{'b': hurray.Tensor([1. 1. 1.], dtype=float64)}
)";

constexpr char kLoadsDoc[] = R"(loads(buffer, *, names=None, permissive=False)
--

Read the tensors of a file in memory.

Parameters
----------
buffer : bytes-like
    What `dumps` returned or a file contains. Tensors share its memory where that is aligned.
names : sequence of str, optional
permissive : bool, optional

Returns
-------
dict of str to Tensor or Composite

Raises
------
FileError, InvalidDescriptorError
    As `load`.

Notes
-----
Format: section 10, "File container".

Examples
--------
>>> list(hurray.loads(hurray.dumps({"x": hurray.zeros([3])})))
['x']
)";

constexpr char kLoadKvDoc[] = R"(load_kv(path)
--

Read the metadata of a file.

Parameters
----------
path : str or os.PathLike

Returns
-------
dict of str
    Empty if the file has none.

Raises
------
FileError
    If the file cannot be read or is no sound Hurray file.

Notes
-----
Format: section 10.3, "KV section".

Examples
--------
>>> hurray.save("notes.hrry", {}, kv={"author": "me", "scores": [0.5, 1.0]})
>>> hurray.load_kv("notes.hrry")
{'author': 'me', 'scores': [0.5, 1.0]}
)";

// The `names` argument as a tuple; null for all.
Ref ToNames(PyObject* names) {
  if (NoneToNull(names) == nullptr) return Ref();
  Ref items = ToTupleOfItems(names, "names");
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
    PyObject* name = PyTuple_GET_ITEM(items.get(), i);
    if (!PyUnicode_Check(name)) {
      ThrowTypeError(StrCat("names[", i, "] must be a str, not ", TypeName(name)));
    }
  }
  return items;
}

std::vector<uint32_t> EntriesOf(const FileReader& reader, const Ref& names) {
  std::vector<uint32_t> entries;
  if (!names) {
    entries.reserve(reader.entry_count());
    for (uint32_t i = 0; i < reader.entry_count(); ++i) {
      if (!reader.is_member(i)) entries.push_back(i);
    }
    return entries;
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names.get()); ++i) {
    std::string_view name = TensorName(PyTuple_GET_ITEM(names.get(), i));
    auto entry = reader.Find(name);
    if (!entry) {
      throw Error(ErrorCode::kFile, StrCat(reader.source_name(), " has no tensor '", name, "'"));
    }
    entries.push_back(*entry);
  }
  return entries;
}

// Bytes of all buffers of the items at these entries.
uint64_t DataLength(const FileReader& reader, const std::vector<uint32_t>& entries) {
  GilRelease released;
  Checkpoint checkpoint = Watch();
  uint64_t total = 0;
  for (size_t entry : entries) {
    MemberCounter heads;
    do {
      TensorDescriptor descriptor = reader.ReadDescriptor(entry, checkpoint);
      for (const BufferHandle& handle : descriptor.buffers()) total += handle.byte_size;
      auto* head = std::get_if<CompositeHeadLayout>(&descriptor.layout());
      heads.Add(head == nullptr ? std::nullopt : std::optional(head->member_count));
    } while (heads.depth() > 0 && ++entry < reader.entry_count());
  }
  return total;
}

Ref ReadItems(ModuleState& state, const FileReader& reader, const std::vector<uint32_t>& entries,
              bool release_gil, Checkpoint& checkpoint) {
  // Enough to be worth giving the GIL up, few enough to be a small part of what they describe.
  constexpr size_t kBatch = 1024;
  Ref dict = Ref::Steal(PyDict_New());
  std::vector<Item> items;
  for (size_t begin = 0; begin < entries.size(); begin += kBatch) {
    size_t end = std::min(begin + kBatch, entries.size());
    auto read = [&] {
      for (size_t i = begin; i < end; ++i) items.push_back(reader.Read(entries[i], checkpoint));
    };
    if (release_gil) {
      GilRelease released;
      read();
    } else {
      read();
    }
    for (size_t i = begin; i < end; ++i) {
      Ref name = ToPython(reader.name(entries[i]));
      Ref object = ItemToPython(state, std::move(items[i - begin]));
      Checked(PyDict_SetItem(dict.get(), name.get(), object.get()));
    }
    items.clear();
  }
  return dict;
}

Mode ToMode(PyObject* permissive) {
  return permissive != nullptr && ToBool(permissive, "permissive") ? Mode::kPermissive
                                                                   : Mode::kStrict;
}

constexpr Signature kLoad("load", {"path", "names", "mmap", "permissive", "progress"}, 1, 1);

PyObject* Load(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return Guard(module, [&] {
    auto [path_object, names_object, mmap, permissive, progress_object] =
        kLoad.Bind(args, nargs, kwnames);
    std::string path = ToPath(path_object, "path");
    Ref names = ToNames(names_object);
    FileAccess access =
        mmap == nullptr || ToBool(mmap, "mmap") ? FileAccess::kMap : FileAccess::kRead;
    Mode mode = ToMode(permissive);
    PyObject* progress = ToProgress(progress_object);
    std::unique_ptr<FileReader> reader = OpenFile(path, access, mode);
    Checkpoint checkpoint = Watch(progress);
    std::vector<uint32_t> entries = EntriesOf(*reader, names);
    if (progress != nullptr) {
      checkpoint.SetTotal(names ? DataLength(*reader, entries) : reader->data_length());
    }
    Ref dict = ReadItems(StateOf(module), *reader, entries, true, checkpoint);
    checkpoint.Finish();
    return dict.release();
  });
}

constexpr Signature kLoads("loads", {"buffer", "names", "permissive"}, 1, 1);

PyObject* Loads(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return Guard(module, [&] {
    auto [buffer, names_object, permissive] = kLoads.Bind(args, nargs, kwnames);
    BytesView view(buffer, "buffer", std::nullopt);
    Ref names = ToNames(names_object);
    Mode mode = ToMode(permissive);
    // A memoryview keeps the source exported, so it cannot be resized under the tensors.
    Ref owner = Ref::Steal(PyMemoryView_FromObject(buffer));
    Buffer bytes = BorrowedBuffer(const_cast<uint8_t*>(view.bytes().data()), view.bytes().size(),
                                  view.writable(), owner.get());
    // Memory off the boundary is copied, which counts no references and so needs no GIL.
    bool copies = bytes.alignment() < kMinBufferAlignment;
    Checkpoint checkpoint = Watch();
    FileReader reader(MemorySource(std::move(bytes)), mode, checkpoint);
    return ReadItems(StateOf(module), reader, EntriesOf(reader, names), copies, checkpoint)
        .release();
  });
}

PyObject* LoadKv(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constexpr Signature kLoadKv("load_kv", {"path"});
  return Guard(module, [&] {
    std::string path = ToPath(kLoadKv.Bind(args, nargs, kwnames)[0], "path");
    // What its tensors are like does not matter.
    auto reader = OpenFile(path, FileAccess::kRead, Mode::kPermissive);
    Metadata metadata;
    {
      GilRelease released;
      Checkpoint checkpoint = Watch();
      metadata = reader->ReadMetadata(checkpoint);
    }
    return MetadataToDict(metadata).release();
  });
}

PyMethodDef kFunctions[] = {
    {"save", Method(Save), METH_FASTCALL | METH_KEYWORDS, kSaveDoc},
    {"load", Method(Load), METH_FASTCALL | METH_KEYWORDS, kLoadDoc},
    {"load_kv", Method(LoadKv), METH_FASTCALL | METH_KEYWORDS, kLoadKvDoc},
    {"dumps", Method(Dumps), METH_FASTCALL | METH_KEYWORDS, kDumpsDoc},
    {"loads", Method(Loads), METH_FASTCALL | METH_KEYWORDS, kLoadsDoc},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

std::unique_ptr<FileReader> OpenFile(const std::string& path, FileAccess access, Mode mode) {
  GilRelease released;
  Checkpoint checkpoint = Watch();
  return std::make_unique<FileReader>(OpenSource(path, access, checkpoint), mode, checkpoint);
}

int AddFiles(PyObject* module, ModuleState&) { return PyModule_AddFunctions(module, kFunctions); }

}  // namespace hurray
