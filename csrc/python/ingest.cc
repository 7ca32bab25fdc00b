#include "python/ingest.h"

#include "python/arguments.h"
#include "python/array_interop.h"
#include "python/capsule.h"
#include "python/copies.h"
#include "python/device.h"
#include "python/dlpack.h"
#include "python/dtype.h"
#include "python/errors.h"
#include "python/numpy_types.h"
#include "python/tensor.h"

namespace hurray {

namespace {

constexpr char kAsarrayDoc[] = R"(asarray(obj, *, dtype=None, device=None, copy=None)
--

Convert to a tensor, without a copy where none is needed.

Parameters
----------
obj : object
    A `Tensor`, which is returned as it is; a NumPy array; an object with ``__hurray__`` or
    ``__dlpack__``; or anything that ``numpy.asarray`` takes, such as numbers and lists of them.
dtype : Dtype, optional
    Cast to this type if `obj` has another; any type NumPy has, bfloat16 excepted.
device : Device, optional
    Only of kind cpu: what is made lies in ordinary memory, on `hurray.device.cpu`.
copy : bool, optional
    None copies only where it must, False never, True always.

Returns
-------
Tensor

Raises
------
UnsupportedError
    If the element type has no equivalent, NumPy cannot convert `obj` (its exception is the cause),
    or `dtype` is one NumPy does not have.
CopyRequiredError
    If ``copy=False`` and a copy is needed. An `UnsupportedError`.
InvalidDescriptorError
    If `dtype` is no Dtype or `device` no Device.
ImportError
    If NumPy is needed and not installed.

Notes
-----
Format: section 4, "Alignment".

Examples
--------
>>> hurray.asarray([1.0, 2.0, 3.0]).shape
(3,)
>>> t = hurray.ones([2])
>>> hurray.asarray(t) is t
True
)";

[[noreturn]] void ThrowCopyRequired(const std::string& why) {
  throw Error(ErrorCode::kCopyRequired, why);
}

PyArrayObject* AsArray(PyObject* object) noexcept {
  return reinterpret_cast<PyArrayObject*>(object);
}

// Runs a conversion by NumPy. What it refuses is unsupported, for the reason that it gives.
template <typename Convert>
Ref ByNumpy(const ModuleState& state, PyObject* object, Convert&& convert) {
  try {
    return convert();
  } catch (const PythonError&) {
    for (PyObject* refusal : {PyExc_ValueError, PyExc_TypeError, PyExc_OverflowError}) {
      if (PyErr_ExceptionMatches(refusal) == 0) continue;
      ThrowPythonFromPending(state.unsupported_error,
                             StrCat("obj is a ", TypeName(object), ", which NumPy cannot convert"));
    }
    throw;
  }
}

// NumPy's dtype for an element type of the numeric set.
Ref DtypeForCast(ElementType type) {
  int number = type == ElementTypes::kBool ? NPY_BOOL : *NumpyTypeOf(type);
  return Ref::Steal(reinterpret_cast<PyObject*>(PyArray_DescrFromType(number)));
}

// An array of new memory with the elements cast, C-contiguous and in native order.
Ref CastArray(PyObject* array, ElementType dtype) {
  Ref wanted = DtypeForCast(dtype);
  // Steals the reference to the dtype.
  return Ref::Steal(
      PyArray_FromArray(AsArray(array), reinterpret_cast<PyArray_Descr*>(wanted.release()),
                        NPY_ARRAY_CARRAY | NPY_ARRAY_FORCECAST | NPY_ARRAY_ENSURECOPY));
}

// A row-major tensor of its own memory with the elements of any array, cast where they differ.
Ref ConvertArray(ModuleState& state, PyObject* array, ElementType dtype) {
  if (dtype.is_sub_byte()) {
    auto element = ArrayElementOf(PyArray_DESCR(AsArray(array)));
    if (element && element->type == dtype) {
      Ref ordered = Ref::Steal(PyArray_NewCopy(AsArray(array), NPY_CORDER));
      return WrapArray(state, ordered.get(), std::nullopt);
    }
    Ref cast = CastArray(array, dtype);
    return WrapArray(state, cast.get(), std::nullopt);
  }
  auto count = static_cast<size_t>(PyArray_SIZE(AsArray(array)));
  Buffer memory = Buffer::Allocate(count * (dtype.bits() / 8));
  Shape shape = ShapeOfArray(array);
  if (count != 0) {
    // NumPy writes the elements where they belong: one pass, whatever has to be done to them.
    Ref target = Ref::Steal(PyArray_NewFromDescr(
        &PyArray_Type, reinterpret_cast<PyArray_Descr*>(ArrayDtypeOf(dtype).release()),
        PyArray_NDIM(AsArray(array)), PyArray_DIMS(AsArray(array)), nullptr, memory.data(),
        NPY_ARRAY_CARRAY, nullptr));
    Checked(PyArray_CopyInto(AsArray(target.get()), AsArray(array)));
  }
  uint64_t size = memory.size();
  return NewTensor(state, DenseDescriptor(dtype, std::move(shape), size), std::move(memory),
                   state.cpu_device);
}

Ref FromArray(ModuleState& state, PyObject* array, std::optional<ElementType> dtype,
              std::optional<bool> copy) {
  RequireArray(array, "obj");
  PyArray_Descr* descr = PyArray_DESCR(AsArray(array));
  auto element = ArrayElementOf(descr);
  if (dtype && (!element || element->type != *dtype)) {
    if (copy == false) {
      ThrowCopyRequired(StrCat("obj has dtype ", DtypeText(descr), ", a cast to ", dtype->name(),
                               " needs a copy"));
    }
    return ByNumpy(state, array, [&] { return ConvertArray(state, array, *dtype); });
  }
  bool in_order = PyArray_IS_C_CONTIGUOUS(AsArray(array)) && PyArray_ISNBO(descr->byteorder);
  if (element && !in_order) {
    if (copy == false) {
      ThrowCopyRequired("obj is not C-contiguous in native byte order, it must be copied");
    }
    return ConvertArray(state, array, element->type);
  }
  return WrapArray(state, array, copy);
}

// New memory for every buffer, the same descriptor.
Ref CopyTensor(ModuleState& state, PyObject* source) {
  TensorObject* tensor = TensorOf(source);
  CheckSynced(tensor->descriptor, ErrorCode::kUnsupported);
  return NewTensor(state, tensor->descriptor, CopyBuffers(*tensor), tensor->device);
}

Ref FromTensor(ModuleState& state, PyObject* source, std::optional<ElementType> dtype,
               std::optional<bool> copy) {
  const TensorDescriptor& descriptor = TensorOf(source)->descriptor;
  if (!dtype || *dtype == descriptor.dtype()) {
    return copy == true ? CopyTensor(state, source) : Ref::Borrow(source);
  }
  if (copy == false) {
    ThrowCopyRequired(StrCat("obj has dtype ", descriptor.dtype().name(), ", a cast to ",
                             dtype->name(), " needs a copy"));
  }
  Ref array = TensorToArray(source);
  return ConvertArray(state, array.get(), *dtype);
}

bool HasAttribute(PyObject* object, const char* name) {
  Ref attribute = Ref::StealOrNull(PyObject_GetAttrString(object, name));
  if (!attribute && !ClearIf(PyExc_AttributeError)) throw PythonError();
  return static_cast<bool>(attribute);
}

Ref FromAnything(ModuleState& state, PyObject* object, std::optional<ElementType> dtype,
                 std::optional<bool> copy) {
  RequireNumpy();
  if (copy == false) {
    ThrowCopyRequired(StrCat("obj is a ", TypeName(object), ", which must be converted"));
  }
  Ref array = ByNumpy(state, object, [&] {
    PyArray_Descr* wanted = nullptr;
    if (dtype) wanted = reinterpret_cast<PyArray_Descr*>(DtypeForCast(*dtype).release());
    return Ref::Steal(PyArray_FromAny(object, wanted, 0, 0, NPY_ARRAY_CARRAY, nullptr));
  });
  return WrapArray(state, array.get(), true);
}

constexpr Signature kAsarray("asarray", {"obj", "dtype", "device", "copy"}, 1, 1);

PyObject* Asarray(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return Guard(module, [&] {
    auto bound = kAsarray.Bind(args, nargs, kwnames);
    ModuleState& state = StateOf(module);
    std::optional<ElementType> dtype;
    if (NoneToNull(bound[1]) != nullptr) {
      if (!IsDtype(state, bound[1])) ThrowInvalidDescriptor(NotADtypeMessage(bound[1], "dtype"));
      dtype = ElementTypeOf(bound[1]);
      if (!NumpyTypeOf(*dtype) && *dtype != ElementTypes::kBool) {
        throw Error(ErrorCode::kUnsupported,
                    StrCat("dtype ", dtype->name(),
                           " has no NumPy equivalent to convert to; convert first and pass the "
                           "result to from_numpy or from_torch"));
      }
    }
    CheckHostDevice(state, bound[2], "device");
    return AsTensor(state, bound[0], dtype, ToOptionalBool(bound[3], "copy")).release();
  });
}

PyMethodDef kFunctions[] = {
    {"asarray", Method(Asarray), METH_FASTCALL | METH_KEYWORDS, kAsarrayDoc},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

Ref AsTensor(ModuleState& state, PyObject* object, std::optional<ElementType> dtype,
             std::optional<bool> copy) {
  if (IsTensor(state, object)) return FromTensor(state, object, dtype, copy);
  if (NumpyIsLoaded()) {
    RequireNumpy();
    if (PyArray_Check(object)) return FromArray(state, object, dtype, copy);
  }
  if (!PyLong_Check(object) && !PyFloat_Check(object) && !PyList_Check(object) &&
      !PyTuple_Check(object)) {
    if (HasAttribute(object, "__hurray__")) {
      Ref tensor = FromHurray(state, object);
      return FromTensor(state, tensor.get(), dtype, copy);
    }
    if (HasAttribute(object, "__dlpack__")) {
      Ref tensor = ImportDlpack(state, object, copy, OtherOrder::kCopied);
      bool casts = dtype && TensorOf(tensor.get())->descriptor.dtype() != *dtype;
      return casts ? FromTensor(state, tensor.get(), dtype, copy) : std::move(tensor);
    }
  }
  return FromAnything(state, object, dtype, copy);
}

int AddIngest(PyObject* module, ModuleState&) { return PyModule_AddFunctions(module, kFunctions); }

}  // namespace hurray
