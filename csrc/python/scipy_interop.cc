#include "python/scipy_interop.h"

#include "core/contents.h"
#include "python/arguments.h"
#include "python/array_interop.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/numpy_types.h"
#include "python/tensor.h"

namespace hurray {

const char kTensorToScipyDoc[] = R"(to_scipy($self)
--

A CSR or CSC tensor as a SciPy matrix.

Returns
-------
scipy.sparse.csr_matrix or scipy.sparse.csc_matrix
    The values share memory. The indices are copied into SciPy's own index type, so that SciPy
    can compute with them.

Raises
------
ImportError
    If SciPy is not installed.
UnsupportedError
    For another layout, a dynamic shape, a quantized tensor, or an element type SciPy lacks.
InvalidDescriptorError
    If the index buffers contradict themselves, which SciPy would not notice.

Notes
-----
Format: section 5.7, "CSR and CSC".

Examples
--------
>>> import numpy as np
>>> import scipy.sparse
>>> m = scipy.sparse.csr_matrix(np.eye(2))
>>> m.indices, m.indptr = m.indices.astype(np.uint64), m.indptr.astype(np.uint64)
>>> hurray.from_scipy(m).to_scipy().toarray()
array([[1., 0.],
       [0., 1.]])
)";

namespace {

PyArrayObject* AsArray(PyObject* object) noexcept {
  return reinterpret_cast<PyArrayObject*>(object);
}

Ref Attribute(PyObject* object, const char* name) {
  return Ref::Steal(PyObject_GetAttrString(object, name));
}

uint64_t LengthOf(PyObject* array) { return static_cast<uint64_t>(PyArray_SIZE(AsArray(array))); }

void CheckUint64(PyObject* array, std::string_view name, std::string_view cast) {
  auto element = ArrayElementOf(PyArray_DESCR(AsArray(array)));
  if (!element || element->type != ElementTypes::kUint64) {
    throw Error(ErrorCode::kUnsupported,
                StrCat(name, " has dtype ", DtypeText(PyArray_DESCR(AsArray(array))),
                       ", the format needs uint64: ", cast));
  }
}

void CheckRank1(PyObject* array, std::string_view name) {
  if (PyArray_NDIM(AsArray(array)) != 1) {
    ThrowInvalidDescriptor(
        StrCat(name, " has ", PyArray_NDIM(AsArray(array)), " dimensions, it must have 1"));
  }
}

BufferTable TableOf(const TensorBuffers& buffers) {
  BufferTable table(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    table[i] = BufferHandle::Of(buffers[i].size(), Device{});
  }
  return table;
}

Ref BuildSparse(ModuleState& state, ElementType dtype, Shape shape, Layout layout,
                TensorBuffers buffers) {
  TensorDescriptor descriptor(dtype, std::move(shape), std::move(layout), TableOf(buffers));
  descriptor.Validate(ErrorCode::kInvalidDescriptor);
  return NewTensor(state, std::move(descriptor), std::move(buffers), state.cpu_device);
}

// ---- sparse_coo

constexpr char kSparseCooDoc[] = R"(sparse_coo(values, indices, shape, *, copy=None)
--

A COO tensor of its components, sharing their memory where the format permits.

Parameters
----------
values : numpy.ndarray, shape (nnz,)
    Stored elements.
indices : numpy.ndarray of uint64, shape (nnz, rank)
    The coordinates of each.
shape : sequence of int, length rank
    Extents of the dense tensor.
copy : bool, optional
    As in `from_numpy`, for each array by itself.

Returns
-------
Tensor
    With a `CooLayout` that is not sorted.

Raises
------
UnsupportedError
    If an array is not C-contiguous, `indices` is not uint64, or the values' dtype has no
    equivalent.
InvalidDescriptorError
    If the shapes do not go together.
CopyRequiredError
    If ``copy=False`` and an array is under-aligned.
BufferError
    If one is no NumPy array.

Notes
-----
Format: section 5.6, "COO".

Examples
--------
>>> import numpy as np
>>> indices = np.array([[0, 0], [1, 1]], dtype=np.uint64)
>>> t = hurray.sparse_coo(np.array([5.0, 7.0]), indices, [2, 2])
>>> t.layout == "coo", t.nnz
(True, 2)
)";

constexpr Signature kSparseCoo("sparse_coo", {"values", "indices", "shape", "copy"}, 3, 3);

PyObject* SparseCoo(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return Guard(module, [&] {
    auto bound = kSparseCoo.Bind(args, nargs, kwnames);
    PyObject* values = RequireArray(bound[0], "values");
    PyObject* indices = RequireArray(bound[1], "indices");
    Shape shape = ToShape(bound[2], "shape");
    std::optional<bool> copy = ToOptionalBool(bound[3], "copy");
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == kDynamicExtent) {
        ThrowInvalidDescriptor(
            StrCat("shape[", i, "] is None, hurray.sparse_coo() needs every extent"));
      }
    }
    if (PyArray_NDIM(AsArray(indices)) != 2) {
      ThrowInvalidDescriptor(StrCat("indices has ", PyArray_NDIM(AsArray(indices)),
                                    " dimensions, it must have 2: (nnz, rank)"));
    }
    auto nnz = static_cast<uint64_t>(PyArray_DIM(AsArray(indices), 0));
    auto rank = static_cast<uint64_t>(PyArray_DIM(AsArray(indices), 1));
    if (rank != shape.size()) {
      ThrowInvalidDescriptor(
          StrCat("indices has ", rank, " columns, the shape has rank ", shape.size()));
    }
    CheckRank1(values, "values");
    if (LengthOf(values) != nnz) {
      ThrowInvalidDescriptor(
          StrCat("values has ", LengthOf(values), " entries, indices has ", nnz));
    }
    CheckUint64(indices, "indices", "indices.astype(numpy.uint64)");
    TakenArray taken = TakeArray(values, copy, "values");
    TensorBuffers buffers(std::move(taken.buffer));
    buffers.Add(TakeArray(indices, copy, "indices").buffer);
    return BuildSparse(StateOf(module), taken.element, std::move(shape), CooLayout{nnz, false},
                       std::move(buffers))
        .release();
  });
}

// ---- from_scipy

constexpr char kFromScipyDoc[] = R"(from_scipy(matrix, *, copy=None)
--

Wrap a SciPy CSR or CSC matrix, sharing its memory where the format permits.

Parameters
----------
matrix : scipy.sparse CSR or CSC matrix or array, shape (rows, columns)
    With uint64 index arrays: ``m.indices = m.indices.astype(numpy.uint64)``, and the same for
    ``m.indptr``.
copy : bool, optional
    As in `from_numpy`, for each of the three arrays by itself.

Returns
-------
Tensor
    With a `CsrLayout` or `CscLayout`.

Raises
------
ImportError
    If SciPy is not installed.
TypeError
    If `matrix` is no SciPy sparse object.
UnsupportedError
    For other formats, index arrays that are not uint64, values without an equivalent, and arrays
    that are not C-contiguous.
InvalidDescriptorError
    If its arrays contradict each other.
CopyRequiredError
    If ``copy=False`` and an array is under-aligned.

Notes
-----
Format: section 5.7, "CSR and CSC".

Examples
--------
>>> import numpy as np
>>> import scipy.sparse
>>> m = scipy.sparse.csr_matrix(np.eye(2, dtype=np.float32))
>>> m.indices, m.indptr = m.indices.astype(np.uint64), m.indptr.astype(np.uint64)
>>> t = hurray.from_scipy(m)
>>> t.layout == "csr", t.nnz
(True, 2)
)";

constexpr Signature kFromScipy("from_scipy", {"matrix", "copy"}, 1, 1);

void CheckFormat(std::string_view format) {
  if (format == "csr" || format == "csc") return;
  if (format == "coo") {
    throw Error(ErrorCode::kUnsupported,
                "matrix has format coo, which keeps row and col apart, the format one array of "
                "coordinates: stack them with numpy.stack([m.row, m.col], axis=1).astype("
                "numpy.uint64) and use hurray.sparse_coo(), or convert with m.tocsr()");
  }
  throw Error(ErrorCode::kUnsupported,
              StrCat("matrix has format ", format, ", only csr and csc are supported"));
}

// The last entry of the pointer array: what SciPy calls nnz. Its data may be longer.
uint64_t StoredCount(PyObject* indptr, uint64_t data_length) {
  const void* last = PyArray_GETPTR1(AsArray(indptr), PyArray_DIM(AsArray(indptr), 0) - 1);
  uint64_t count = ByteReader::Load<uint64_t>(static_cast<const uint8_t*>(last));
  if (count > data_length) {
    ThrowInvalidDescriptor(
        StrCat("matrix.indptr ends with ", count, ", matrix.data has ", data_length, " entries"));
  }
  return count;
}

PyObject* FromScipy(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return Guard(module, [&] {
    auto bound = kFromScipy.Bind(args, nargs, kwnames);
    PyObject* matrix = bound[0];
    std::optional<bool> copy = ToOptionalBool(bound[1], "copy");
    Ref sparse = Ref::Steal(PyImport_ImportModule("scipy.sparse"));
    Ref is_sparse = Ref::Steal(PyObject_CallMethod(sparse.get(), "issparse", "O", matrix));
    if (Checked(PyObject_IsTrue(is_sparse.get())) == 0) {
      ThrowTypeError(
          StrCat("matrix must be a scipy.sparse matrix or array, not ", TypeName(matrix)));
    }
    Ref format_object = Attribute(matrix, "format");
    std::string_view format = ToText(format_object.get(), "matrix.format");
    CheckFormat(format);
    Ref shape_object = Attribute(matrix, "shape");
    Shape shape = ToStaticExtents(shape_object.get(), "matrix.shape");
    if (shape.size() != 2) {
      ThrowInvalidDescriptor(StrCat("matrix has rank ", shape.size(), ", it must be 2"));
    }
    Ref data = Attribute(matrix, "data");
    Ref indices = Attribute(matrix, "indices");
    Ref indptr = Attribute(matrix, "indptr");
    CheckRank1(RequireArray(data.get(), "matrix.data"), "matrix.data");
    CheckRank1(RequireArray(indices.get(), "matrix.indices"), "matrix.indices");
    CheckRank1(RequireArray(indptr.get(), "matrix.indptr"), "matrix.indptr");
    CheckUint64(indices.get(), "matrix.indices", "m.indices = m.indices.astype(numpy.uint64)");
    CheckUint64(indptr.get(), "matrix.indptr", "m.indptr = m.indptr.astype(numpy.uint64)");
    bool is_csr = format == "csr";
    uint64_t major = shape[is_csr ? 0 : 1];
    if (LengthOf(indptr.get()) != major + 1) {
      ThrowInvalidDescriptor(StrCat("matrix.indptr has ", LengthOf(indptr.get()),
                                    " entries, the shape needs ", major + 1));
    }
    if (LengthOf(data.get()) != LengthOf(indices.get())) {
      ThrowInvalidDescriptor(StrCat("matrix.data has ", LengthOf(data.get()),
                                    " entries, matrix.indices has ", LengthOf(indices.get())));
    }
    TakenArray taken = TakeArray(data.get(), copy, "matrix.data");
    TensorBuffers buffers(std::move(taken.buffer));
    buffers.Add(TakeArray(indices.get(), copy, "matrix.indices").buffer);
    buffers.Add(TakeArray(indptr.get(), copy, "matrix.indptr").buffer);
    uint64_t nnz = StoredCount(indptr.get(), LengthOf(data.get()));
    Layout layout = is_csr ? Layout(CsrLayout{nnz}) : Layout(CscLayout{nnz});
    return BuildSparse(StateOf(module), taken.element, std::move(shape), std::move(layout),
                       std::move(buffers))
        .release();
  });
}

PyMethodDef kFunctions[] = {
    {"sparse_coo", Method(SparseCoo), METH_FASTCALL | METH_KEYWORDS, kSparseCooDoc},
    {"from_scipy", Method(FromScipy), METH_FASTCALL | METH_KEYWORDS, kFromScipyDoc},
    {nullptr, nullptr, 0, nullptr},
};

// ---- to_scipy

void CheckScipyExport(const TensorDescriptor& descriptor) {
  CheckSynced(descriptor, ErrorCode::kUnsupported);
  auto refuse = [](const std::string& reason) { throw Error(ErrorCode::kUnsupported, reason); };
  const Layout& layout = descriptor.layout();
  if (!std::holds_alternative<CsrLayout>(layout) && !std::holds_alternative<CscLayout>(layout)) {
    refuse(StrCat("layout ", LayoutName(layout), " has no SciPy form, only csr and csc have"));
  }
  if (!NumpyTypeOf(descriptor.dtype())) {
    refuse(StrCat("dtype ", descriptor.dtype().name(), " has no NumPy equivalent for SciPy"));
  }
  if (!descriptor.device().is_cpu()) refuse("the tensor is not on the CPU");
  if (HasDynamicExtent(descriptor.shape())) {
    refuse(StrCat("the shape ", ShapeText(descriptor.shape()), " has a dynamic dimension"));
  }
  for (uint64_t extent : descriptor.shape()) {
    if (extent > static_cast<uint64_t>(PY_SSIZE_T_MAX)) {
      refuse(StrCat("the extent ", extent, " exceeds what SciPy can express"));
    }
  }
  if (descriptor.quantization() != nullptr) {
    refuse("the tensor is quantized, SciPy would take its stored numbers for values");
  }
}

Ref ComponentArray(PyObject* self, const char* name) {
  Ref view = Attribute(self, name);
  return TensorToArray(view.get());
}

}  // namespace

PyObject* Tensor_to_scipy(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] {
    TensorObject* tensor = TensorOf(self);
    const TensorDescriptor& descriptor = tensor->descriptor;
    Ref sparse = Ref::Steal(PyImport_ImportModule("scipy.sparse"));
    RequireNumpy();
    CheckScipyExport(descriptor);
    auto spans = SpansOf(*tensor);
    WithoutGilIfLarge(spans[1].size() + spans[2].size(), [&] { CheckContents(descriptor, spans); });
    bool is_csr = std::holds_alternative<CsrLayout>(descriptor.layout());
    Ref values = ComponentArray(self, "values");
    Ref indices = ComponentArray(self, is_csr ? "col_indices" : "row_indices");
    Ref pointers = ComponentArray(self, is_csr ? "row_ptr" : "col_ptr");
    // SciPy chooses its index type itself; signed ones are what its algorithms know.
    Ref signed_indices = Ref::Steal(PyArray_Cast(AsArray(indices.get()), NPY_INT64));
    Ref signed_pointers = Ref::Steal(PyArray_Cast(AsArray(pointers.get()), NPY_INT64));
    Ref components =
        Ref::Steal(PyTuple_Pack(3, values.get(), signed_indices.get(), signed_pointers.get()));
    Ref type = Attribute(sparse.get(), is_csr ? "csr_matrix" : "csc_matrix");
    return Ref::Steal(
               PyObject_CallFunction(type.get(), "OO", components.get(), ShapeTupleOf(tensor)))
        .release();
  });
}

int AddScipyInterop(PyObject* module, ModuleState&) {
  return PyModule_AddFunctions(module, kFunctions);
}

}  // namespace hurray
