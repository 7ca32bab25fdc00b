#include "python/creation.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "core/fill.h"
#include "core/packing.h"
#include "core/small_float.h"
#include "python/arguments.h"
#include "python/device.h"
#include "python/dtype.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/tensor.h"

namespace hurray {

namespace {

// ---- what all of them do

// Where a function makes its tensor, and of what.
struct Target {
  ElementType dtype;
  PyObject* device;  // borrowed
};

ElementType CheckedArithmetic(ElementType dtype, const char* function) {
  if (!HasArithmetic(dtype)) {
    throw Error(ErrorCode::kUnsupported,
                StrCat("hurray.", function, "(): dtype is ", dtype.name(),
                       ", it must be one of hurray's own names, complex64 or complex128"));
  }
  return dtype;
}

// The dtype argument; nullopt for None.
std::optional<ElementType> ToOptionalDtype(const ModuleState& state, PyObject* object,
                                           const char* function) {
  if (NoneToNull(object) == nullptr) return std::nullopt;
  if (!IsDtype(state, object)) ThrowInvalidDescriptor(NotADtypeMessage(object, "dtype"));
  return CheckedArithmetic(ElementTypeOf(object), function);
}

// The device argument; `otherwise` for None.
PyObject* ToDeviceOr(const ModuleState& state, PyObject* object, PyObject* otherwise) {
  if (NoneToNull(object) == nullptr) return otherwise;
  if (!IsDevice(state, object)) ThrowInvalidDescriptor(NotADeviceMessage(object, "device"));
  return object;
}

// Neither arange nor linspace has values of truth.
void RefuseBool(ElementType dtype, const char* function) {
  if (dtype == ElementTypes::kBool) {
    throw Error(ErrorCode::kUnsupported,
                StrCat("hurray.", function, "(): dtype is bool, which holds no numbers"));
  }
}

void CheckStatic(ShapeView shape, const char* function) {
  for (size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == kDynamicExtent) {
      ThrowInvalidDescriptor(StrCat("hurray.", function, "(): the shape has None at index ", k,
                                    "; a new tensor needs every extent"));
    }
  }
}

// A row-major tensor in new memory, zeroed on request. `write` gets the bytes and the number of
// elements, without the interpreter's lock if there are many bytes; it may be nullptr.
template <typename Write>
Ref NewDense(ModuleState& state, const Target& target, Shape shape, const char* function,
             bool zeroed, Write write) {
  Device device = DeviceOf(target.device);
  CheckMemoryClassAllowed(device);
  std::optional<uint64_t> count = ElementCount({shape.data(), shape.size()});
  if (!count) {
    ThrowInvalidDescriptor(StrCat("hurray.", function, "(): the shape ",
                                  ShapeText({shape.data(), shape.size()}),
                                  " has 2^64 elements or more"));
  }
  std::optional<uint64_t> size = Packing::Of(target.dtype).SizeBytes(*count);
  if (!size) throw std::bad_alloc();
  Buffer memory = Buffer::Allocate(*size, kMinBufferAlignment, zeroed);
  if constexpr (!std::is_null_pointer_v<Write>) {
    WithoutGilIfLarge(memory.size(),
                      [&] { write(std::span(memory.data(), memory.size()), *count); });
  }
  if (target.device == state.cpu_device) {
    return NewDenseTensor(state, target.dtype, {shape.data(), shape.size()}, std::move(memory));
  }
  return NewTensor(state, DenseDescriptor(target.dtype, std::move(shape), *size, device),
                   std::move(memory), target.device);
}

// Every element is `element`.
Ref NewFilled(ModuleState& state, const Target& target, Shape shape, const Element& element,
              const char* function) {
  if (element.is_zero()) {  // the memory comes as it shall be
    return NewDense(state, target, std::move(shape), function, true, nullptr);
  }
  return NewDense(state, target, std::move(shape), function, false,
                  [&](std::span<uint8_t> out, uint64_t count) {
                    FillElements(out, target.dtype, element, count);
                  });
}

// ---- values

// An integer rounded to a double so that rounding it once more to a narrower float is right;
// infinity where it is too large.
double RoundedForFloat(PyObject* integer, ElementType dtype) {
  double nearest = PyLong_AsDouble(integer);
  if (nearest == -1 && PyErr_Occurred() != nullptr) {
    if (!ClearIf(PyExc_OverflowError)) throw PythonError();
    Ref zero = ToPython(uint8_t{0});
    bool negative = Checked(PyObject_RichCompareBool(integer, zero.get(), Py_LT)) == 1;
    return negative ? -HUGE_VAL : HUGE_VAL;
  }
  if (dtype == ElementTypes::kFloat64 || dtype == ElementTypes::kComplex128) return nearest;
  Ref rounded = Ref::Steal(PyLong_FromDouble(nearest));
  int side = Checked(PyObject_RichCompareBool(integer, rounded.get(), Py_GT)) -
             Checked(PyObject_RichCompareBool(integer, rounded.get(), Py_LT));
  return RoundToOdd(nearest, side);
}

// Complex numbers of NumPy that are no `complex`, told by their type's name so that NumPy need
// not be loaded; float() would drop their imaginary part.
bool IsComplex(PyObject* object) {
  return PyComplex_Check(object) ||
         std::string_view(Py_TYPE(object)->tp_name).starts_with("numpy.complex");
}

Element ToIntegerElement(PyObject* value, ElementType dtype) {
  if (dtype == ElementTypes::kUint64) {
    return ElementFromInteger(dtype, ToInteger<uint64_t>(value, "fill_value"));
  }
  return ElementFromInteger(dtype, ToInteger<int64_t>(value, "fill_value"));
}

// One element of that type. TypeError for a value of another kind, kOverflow for an integer that
// an integer type does not have.
Element ToElement(PyObject* value, ElementType dtype) {
  if (dtype == ElementTypes::kBool) {
    return ElementFromInteger(dtype, int64_t{ToBool(value, "fill_value")});
  }
  if (dtype.info().is_integer) return ToIntegerElement(value, dtype);
  if (PyLong_Check(value)) return ElementFromReal(dtype, RoundedForFloat(value, dtype));
  bool is_complex = dtype == ElementTypes::kComplex64 || dtype == ElementTypes::kComplex128;
  if (is_complex) return ElementFromComplex(dtype, ToComplex(value, "fill_value"));
  if (IsComplex(value)) {
    ThrowTypeError(StrCat("fill_value is a ", TypeName(value), ", dtype ", dtype.name(),
                          " holds real numbers only"));
  }
  return ElementFromReal(dtype, ToDouble(value, "fill_value"));
}

// The type that a value has by itself.
ElementType DtypeOfValue(PyObject* value) {
  if (PyBool_Check(value)) return ElementTypes::kBool;
  if (PyLong_Check(value)) return ElementTypes::kInt64;
  if (PyFloat_Check(value)) return ElementTypes::kFloat64;
  if (PyComplex_Check(value)) return ElementTypes::kComplex128;
  ThrowInvalidDescriptor(
      StrCat("fill_value is a ", TypeName(value), ", which has no dtype by itself: give dtype="));
}

// ---- zeros, ones, empty, full

constexpr char kZerosDoc[] = R"(zeros(shape, *, dtype=None, device=None)
--

A new tensor of zeros.

Parameters
----------
shape : sequence of int
    Extents, in elements.
dtype : Dtype, optional
    `hurray.float64` by default; any type of tier 1, or complex.
device : Device, optional
    What the bytes are declared to be on; `hurray.device.cpu` by default. They are on the host.

Returns
-------
Tensor
    Row-major, in memory of its own on a 64-byte boundary. Memory is used only as it is written.

Raises
------
InvalidDescriptorError
    If an extent is negative or None, the rank exceeds 64, or the number of elements 64 bits.
UnsupportedError
    For another dtype.
MemoryError
    If there is not enough memory.

Notes
-----
Format: section 5.1, "Row-major".

Examples
--------
>>> hurray.zeros([2, 3], dtype=hurray.int8)
hurray.Tensor([[0 0 0]
 [0 0 0]], dtype=int8)
)";

constexpr char kOnesDoc[] = R"(ones(shape, *, dtype=None, device=None)
--

A new tensor of ones.

Parameters
----------
shape : sequence of int
    Extents, in elements.
dtype : Dtype, optional
    `hurray.float64` by default; any type of tier 1, or complex.
device : Device, optional
    As in `zeros`.

Returns
-------
Tensor
    Row-major, in memory of its own on a 64-byte boundary.

Raises
------
InvalidDescriptorError, UnsupportedError, MemoryError
    As in `zeros`.

Notes
-----
Format: section 5.1, "Row-major".

Examples
--------
>>> hurray.ones([3])
hurray.Tensor([1. 1. 1.], dtype=float64)
)";

constexpr char kEmptyDoc[] = R"(empty(shape, *, dtype=None, device=None)
--

A new tensor whose contents are not specified. For now they are zero.

Parameters
----------
shape : sequence of int
    Extents, in elements.
dtype : Dtype, optional
    `hurray.float64` by default; any type of tier 1, or complex.
device : Device, optional
    As in `zeros`.

Returns
-------
Tensor
    Row-major, in memory of its own on a 64-byte boundary.

Raises
------
InvalidDescriptorError, UnsupportedError, MemoryError
    As in `zeros`.

Notes
-----
Format: section 5.1, "Row-major".

Examples
--------
>>> hurray.empty([4, 4]).shape
(4, 4)
)";

PyObject* NewOfInteger(PyObject* module, const std::array<PyObject*, 3>& bound, int64_t value,
                       const char* function) {
  ModuleState& state = StateOf(module);
  auto [shape, dtype, device] = bound;
  Target target{ToOptionalDtype(state, dtype, function).value_or(ElementTypes::kFloat64),
                ToDeviceOr(state, device, state.cpu_device)};
  Shape extents = ToShape(shape, "shape");
  CheckStatic({extents.data(), extents.size()}, function);
  return NewFilled(state, target, std::move(extents), ElementFromInteger(target.dtype, value),
                   function)
      .release();
}

PyObject* Zeros(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constexpr Signature kZeros("zeros", {"shape", "dtype", "device"}, 1, 1);
  return Guard(module,
               [&] { return NewOfInteger(module, kZeros.Bind(args, nargs, kwnames), 0, "zeros"); });
}

PyObject* Ones(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constexpr Signature kOnes("ones", {"shape", "dtype", "device"}, 1, 1);
  return Guard(module,
               [&] { return NewOfInteger(module, kOnes.Bind(args, nargs, kwnames), 1, "ones"); });
}

PyObject* Empty(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constexpr Signature kEmpty("empty", {"shape", "dtype", "device"}, 1, 1);
  return Guard(module,
               [&] { return NewOfInteger(module, kEmpty.Bind(args, nargs, kwnames), 0, "empty"); });
}

constexpr char kFullDoc[] = R"(full(shape, fill_value, *, dtype=None, device=None)
--

A new tensor whose elements all have one value.

Parameters
----------
shape : sequence of int
    Extents, in elements.
fill_value : bool, int, float or complex
    With a dtype also what converts to it: an integer by ``__index__``, a real number by
    ``__float__``. Floats of any width are rounded to the nearest; what exceeds them is infinite.
dtype : Dtype, optional
    By default `hurray.bool`, `hurray.int64`, `hurray.float64` or `hurray.dtype.complex128`, as
    `fill_value` is.
device : Device, optional
    As in `zeros`.

Returns
-------
Tensor
    Row-major, in memory of its own on a 64-byte boundary.

Raises
------
OverflowError
    If an integer dtype cannot hold `fill_value`.
TypeError
    For a float in an integer dtype, a complex number in a real one, or anything but a bool in
    `hurray.bool`.
InvalidDescriptorError
    As in `zeros`, and if `fill_value` is of another type and no dtype is given.
UnsupportedError, MemoryError
    As in `zeros`.

Notes
-----
Format: section 5.1, "Row-major".

Examples
--------
>>> hurray.full([2, 2], 3.14, dtype=hurray.float32)
hurray.Tensor([[3.14 3.14]
 [3.14 3.14]], dtype=float32)
>>> hurray.full([2], True)
hurray.Tensor([ True  True], dtype=bool)
)";

PyObject* Full(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constexpr Signature kFull("full", {"shape", "fill_value", "dtype", "device"}, 2, 2);
  return Guard(module, [&] {
    ModuleState& state = StateOf(module);
    auto [shape, value, dtype, device] = kFull.Bind(args, nargs, kwnames);
    auto given = ToOptionalDtype(state, dtype, "full");
    Target target{given ? *given : DtypeOfValue(value),
                  ToDeviceOr(state, device, state.cpu_device)};
    Shape extents = ToShape(shape, "shape");
    CheckStatic({extents.data(), extents.size()}, "full");
    return NewFilled(state, target, std::move(extents), ToElement(value, target.dtype), "full")
        .release();
  });
}

// ---- *_like

constexpr char kZerosLikeDoc[] = R"(zeros_like(x, *, dtype=None, device=None)
--

A new tensor of zeros with the shape of another.

Parameters
----------
x : Tensor
    Of any layout and any static shape.
dtype : Dtype, optional
    That of `x` by default.
device : Device, optional
    That of `x` by default.

Returns
-------
Tensor
    Row-major, in memory of its own on a 64-byte boundary.

Raises
------
InvalidDescriptorError
    If `x` has a dynamic dimension.
UnsupportedError, MemoryError
    As in `zeros`.

Notes
-----
Format: section 5.1, "Row-major".

Examples
--------
>>> hurray.zeros_like(hurray.ones([2], dtype=hurray.int16))
hurray.Tensor([0 0], dtype=int16)
)";

constexpr char kOnesLikeDoc[] = R"(ones_like(x, *, dtype=None, device=None)
--

A new tensor of ones with the shape of another.

Parameters
----------
x : Tensor
    Of any layout and any static shape.
dtype : Dtype, optional
    That of `x` by default.
device : Device, optional
    That of `x` by default.

Returns
-------
Tensor
    Row-major, in memory of its own on a 64-byte boundary.

Raises
------
InvalidDescriptorError, UnsupportedError, MemoryError
    As in `zeros_like`.

Notes
-----
Format: section 5.1, "Row-major".

Examples
--------
>>> hurray.ones_like(hurray.zeros([2], dtype=hurray.int16))
hurray.Tensor([1 1], dtype=int16)
)";

constexpr char kEmptyLikeDoc[] = R"(empty_like(x, *, dtype=None, device=None)
--

A new tensor with the shape of another, whose contents are not specified. For now they are zero.

Parameters
----------
x : Tensor
    Of any layout and any static shape.
dtype : Dtype, optional
    That of `x` by default.
device : Device, optional
    That of `x` by default.

Returns
-------
Tensor
    Row-major, in memory of its own on a 64-byte boundary.

Raises
------
InvalidDescriptorError, UnsupportedError, MemoryError
    As in `zeros_like`.

Notes
-----
Format: section 5.1, "Row-major".

Examples
--------
>>> hurray.empty_like(hurray.zeros([2, 3])).shape
(2, 3)
)";

constexpr char kFullLikeDoc[] = R"(full_like(x, fill_value, *, dtype=None, device=None)
--

A new tensor with the shape of another, whose elements all have one value.

Parameters
----------
x : Tensor
    Of any layout and any static shape.
fill_value : bool, int, float or complex
    As in `full` with the dtype of the result.
dtype : Dtype, optional
    That of `x` by default.
device : Device, optional
    That of `x` by default.

Returns
-------
Tensor
    Row-major, in memory of its own on a 64-byte boundary.

Raises
------
OverflowError, TypeError
    As in `full`.
InvalidDescriptorError, UnsupportedError, MemoryError
    As in `zeros_like`.

Notes
-----
Format: section 5.1, "Row-major".

Examples
--------
>>> hurray.full_like(hurray.zeros([3], dtype=hurray.float32), 7)
hurray.Tensor([7. 7. 7.], dtype=float32)
)";

// `element_of` gives the element for the dtype that was chosen.
template <typename ElementOf>
PyObject* NewLike(PyObject* module, PyObject* x, PyObject* dtype, PyObject* device,
                  const char* function, ElementOf&& element_of) {
  ModuleState& state = StateOf(module);
  if (!IsTensor(state, x)) {
    ThrowTypeError(StrCat("x must be a hurray.Tensor, not ", TypeName(x)));
  }
  const TensorObject* source = TensorOf(x);
  auto given = ToOptionalDtype(state, dtype, function);
  Target target{given ? *given : CheckedArithmetic(source->descriptor.dtype(), function),
                ToDeviceOr(state, device, source->device)};
  CheckStatic(source->descriptor.shape(), function);
  return NewFilled(state, target, Shape(source->descriptor.shape()), element_of(target.dtype),
                   function)
      .release();
}

PyObject* NewLikeOfInteger(PyObject* module, const std::array<PyObject*, 3>& bound, int64_t value,
                           const char* function) {
  auto [x, dtype, device] = bound;
  return NewLike(module, x, dtype, device, function,
                 [&](ElementType type) { return ElementFromInteger(type, value); });
}

PyObject* ZerosLike(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constexpr Signature kZerosLike("zeros_like", {"x", "dtype", "device"}, 1, 1);
  return Guard(module, [&] {
    return NewLikeOfInteger(module, kZerosLike.Bind(args, nargs, kwnames), 0, "zeros_like");
  });
}

PyObject* OnesLike(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constexpr Signature kOnesLike("ones_like", {"x", "dtype", "device"}, 1, 1);
  return Guard(module, [&] {
    return NewLikeOfInteger(module, kOnesLike.Bind(args, nargs, kwnames), 1, "ones_like");
  });
}

PyObject* EmptyLike(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constexpr Signature kEmptyLike("empty_like", {"x", "dtype", "device"}, 1, 1);
  return Guard(module, [&] {
    return NewLikeOfInteger(module, kEmptyLike.Bind(args, nargs, kwnames), 0, "empty_like");
  });
}

PyObject* FullLike(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constexpr Signature kFullLike("full_like", {"x", "fill_value", "dtype", "device"}, 2, 2);
  return Guard(module, [&] {
    auto [x, value, dtype, device] = kFullLike.Bind(args, nargs, kwnames);
    return NewLike(module, x, dtype, device, "full_like",
                   [value = value](ElementType type) { return ToElement(value, type); });
  });
}

// ---- arange

constexpr char kArangeDoc[] = R"(arange(start, stop=None, step=None, *, dtype=None, device=None)
--

A new vector of numbers at equal distances: ``start``, ``start + step``, … up to but without
`stop`.

Parameters
----------
start, stop : int or float
    A single argument is `stop`, and counting starts at 0.
step : int or float, optional
    1 by default.
dtype : Dtype, optional
    By default `hurray.int64` if all arguments are integers and `hurray.float64` otherwise. In an
    integer dtype, floats lose their fraction.
device : Device, optional
    As in `zeros`.

Returns
-------
Tensor
    Of shape ``(max(0, ceil((stop - start) / step)),)``. Integers are computed exactly.

Raises
------
InvalidDescriptorError
    If `step` is 0 or an argument is not finite.
OverflowError
    If the dtype, or int64, cannot hold an integer value.
UnsupportedError
    For a dtype that `zeros` refuses too, and for `hurray.bool`.
MemoryError
    If there is not enough memory.

Notes
-----
Format: section 5.1, "Row-major".

Examples
--------
>>> hurray.arange(5)
hurray.Tensor([0 1 2 3 4], dtype=int64)
>>> hurray.arange(0.0, 1.0, 0.25)
hurray.Tensor([0.   0.25 0.5  0.75], dtype=float64)
)";

// The integer that an argument is, or null for any other number.
Ref ToIntegerOrNull(PyObject* object) {
  if (PyLong_Check(object)) return Ref::Borrow(object);
  if (PyIndex_Check(object) == 0) return Ref();
  PyObject* integer = PyNumber_Index(object);
  if (integer == nullptr && ClearIf(PyExc_TypeError)) return Ref();  // an array of a float
  return Ref::Steal(integer);
}

double ToFinite(PyObject* object, std::string_view name) {
  if (IsComplex(object)) {
    ThrowTypeError(StrCat(name, " must be a real number, not ", TypeName(object)));
  }
  double value = ToDouble(object, name);
  if (!std::isfinite(value)) {
    ThrowInvalidDescriptor(StrCat("hurray.arange(): ", name, " is ", value, ", it must be finite"));
  }
  return value;
}

[[noreturn]] void ThrowZeroStep() {
  ThrowInvalidDescriptor("hurray.arange(): step is 0, it must not be");
}

// The last of `count` integers from `start` on; both are Python's, of any size.
Ref LastOf(PyObject* start, PyObject* step, uint64_t count) {
  Ref steps = ToPython(count - 1);
  Ref distance = Ref::Steal(PyNumber_Multiply(steps.get(), step));
  return Ref::Steal(PyNumber_Add(start, distance.get()));
}

// max(0, ceil((stop - start) / step)), in Python's integers of any size.
uint64_t CountOf(PyObject* start, PyObject* stop, PyObject* step) {
  Ref distance = Ref::Steal(PyNumber_Subtract(start, stop));
  Ref negated = Ref::Steal(PyNumber_FloorDivide(distance.get(), step));
  Ref count = Ref::Steal(PyNumber_Negative(negated.get()));
  Ref zero = ToPython(uint8_t{0});
  if (Checked(PyObject_RichCompareBool(count.get(), zero.get(), Py_LE)) == 1) return 0;
  Ref most = ToPython(kDynamicExtent - 1);
  if (Checked(PyObject_RichCompareBool(count.get(), most.get(), Py_GT)) == 1) {
    ThrowInvalidDescriptor("hurray.arange(): there are 2^64 elements or more");
  }
  return ToInteger<uint64_t>(count.get(), "count");
}

// An integer within what elements of that type are computed in, modulo 2^64.
uint64_t ToModulo(PyObject* integer, ElementType dtype, std::string_view name) {
  if (dtype == ElementTypes::kUint64) return ToInteger<uint64_t>(integer, name);
  return static_cast<uint64_t>(ToInteger<int64_t>(integer, name));
}

Ref NewIntegerRange(ModuleState& state, const Target& target, PyObject* start, PyObject* stop,
                    PyObject* step) {
  int truth = Checked(PyObject_IsTrue(step));
  if (truth == 0) ThrowZeroStep();
  uint64_t count = CountOf(start, stop, step);
  uint64_t first = 0, distance = 0;
  if (count > 0) first = ToModulo(start, target.dtype, "arange: the first value");
  if (count > 1) {
    Ref last = LastOf(start, step, count);
    ToModulo(last.get(), target.dtype, "arange: the last value");
    distance = PyLong_AsUnsignedLongLongMask(step);
  }
  return NewDense(state, target, Shape{count}, "arange", false,
                  [&](std::span<uint8_t> out, uint64_t) {
                    FillIntegers(out, target.dtype, first, distance, count);
                  });
}

Ref NewRealRange(ModuleState& state, const Target& target, double start, double stop, double step) {
  if (step == 0) ThrowZeroStep();
  double count = std::ceil((stop - start) / step);
  constexpr double kMost = 18446744073709549568.0;  // the largest double below 2^64
  if (!(count <= kMost)) {
    ThrowInvalidDescriptor("hurray.arange(): there are 2^64 elements or more");
  }
  uint64_t whole = count > 0 ? static_cast<uint64_t>(count) : 0;
  return NewDense(
      state, target, Shape{whole}, "arange", false,
      [&](std::span<uint8_t> out, uint64_t) { FillReals(out, target.dtype, start, step, whole); });
}

PyObject* Arange(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constexpr Signature kArange("arange", {"start", "stop", "step", "dtype", "device"}, 1, 3);
  return Guard(module, [&] {
    ModuleState& state = StateOf(module);
    auto [start, stop, step, dtype, device] = kArange.Bind(args, nargs, kwnames);
    auto given = ToOptionalDtype(state, dtype, "arange");
    if (given) RefuseBool(*given, "arange");
    PyObject* place = ToDeviceOr(state, device, state.cpu_device);
    Ref zero = ToPython(uint8_t{0}), one = ToPython(uint8_t{1});
    if (NoneToNull(stop) == nullptr) {
      stop = start;
      start = zero.get();
    }
    if (NoneToNull(step) == nullptr) step = one.get();
    Ref first = ToIntegerOrNull(start), end = ToIntegerOrNull(stop), by = ToIntegerOrNull(step);
    if (first && end && by) {
      return NewIntegerRange(state, {given.value_or(ElementTypes::kInt64), place}, first.get(),
                             end.get(), by.get())
          .release();
    }
    double from = ToFinite(start, "start"), to = ToFinite(stop, "stop");
    return NewRealRange(state, {given.value_or(ElementTypes::kFloat64), place}, from, to,
                        ToFinite(step, "step"))
        .release();
  });
}

// ---- linspace

constexpr char kLinspaceDoc[] =
    R"(linspace(start, stop, num, *, dtype=None, device=None, endpoint=True)
--

A new vector of evenly spaced numbers from `start` to `stop`.

Parameters
----------
start, stop : float
num : int
    How many.
dtype : Dtype, optional
    `hurray.float64` by default. In an integer dtype, numbers lose their fraction; between integers
    they are computed exactly.
device : Device, optional
    As in `zeros`.
endpoint : bool, optional
    Whether `stop` is the last number, which it then is exactly, or the first one left out.

Returns
-------
Tensor
    Of shape ``(num,)``; a single number is `start`.

Raises
------
InvalidDescriptorError
    If `num` is negative.
OverflowError
    If an integer dtype cannot hold a number.
UnsupportedError
    For a dtype that `zeros` refuses too, and for `hurray.bool`.
MemoryError
    If there is not enough memory.

Notes
-----
Format: section 5.1, "Row-major".

Examples
--------
>>> hurray.linspace(0.0, 1.0, 5)
hurray.Tensor([0.   0.25 0.5  0.75 1.  ], dtype=float64)
>>> hurray.linspace(0.0, 1.0, 4, endpoint=False)
hurray.Tensor([0.   0.25 0.5  0.75], dtype=float64)
)";

// An integer of 64 bits, with or without a sign; nullopt for any other number.
std::optional<__int128> ToWide(PyObject* object) {
  Ref integer = ToIntegerOrNull(object);
  if (!integer) return std::nullopt;
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(integer.get(), &overflow);
  if (overflow == 0) return value;
  unsigned long long large = PyLong_AsUnsignedLongLong(integer.get());
  if (large == static_cast<unsigned long long>(-1) && PyErr_Occurred() != nullptr) {
    if (!ClearIf(PyExc_OverflowError)) throw PythonError();
    return std::nullopt;
  }
  return large;
}

// FillInterval between integers in an integer type: exact where a double has too few bits.
void FillIntegerInterval(std::span<uint8_t> out, ElementType dtype, __int128 start, __int128 stop,
                         uint64_t count, bool closed) {
  __int128 intervals = closed && count > 1 ? count - 1 : count;
  uint8_t* next = out.data();
  for (uint64_t i = 0; i < count; ++i) {
    __int128 value = (start * intervals + (stop - start) * i) / intervals;
    Element element = value < 0 ? ElementFromInteger(dtype, static_cast<int64_t>(value))
                                : ElementFromInteger(dtype, static_cast<uint64_t>(value));
    std::memcpy(next, element.bytes.data(), element.size);
    next += element.size;
  }
}

double ToReal(PyObject* object, std::string_view name) {
  if (IsComplex(object)) {
    ThrowTypeError(StrCat(name, " must be a real number, not ", TypeName(object)));
  }
  return ToDouble(object, name);
}

PyObject* Linspace(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constexpr Signature kLinspace(
      "linspace", {"start", "stop", "num", "dtype", "device", "endpoint"}, 3, 3);
  return Guard(module, [&] {
    ModuleState& state = StateOf(module);
    auto [start, stop, num, dtype, device, endpoint] = kLinspace.Bind(args, nargs, kwnames);
    Target target{ToOptionalDtype(state, dtype, "linspace").value_or(ElementTypes::kFloat64),
                  ToDeviceOr(state, device, state.cpu_device)};
    RefuseBool(target.dtype, "linspace");
    double from = ToReal(start, "start"), to = ToReal(stop, "stop");
    uint64_t count = ToExtent(num, "num");
    bool closed = endpoint == nullptr || ToBool(endpoint, "endpoint");
    std::optional<__int128> first, last;
    if (target.dtype.info().is_integer) first = ToWide(start), last = ToWide(stop);
    return NewDense(state, target, Shape{count}, "linspace", false,
                    [&](std::span<uint8_t> out, uint64_t) {
                      if (first && last) {
                        FillIntegerInterval(out, target.dtype, *first, *last, count, closed);
                      } else {
                        FillInterval(out, target.dtype, from, to, count, closed);
                      }
                    })
        .release();
  });
}

// ---- eye

constexpr char kEyeDoc[] = R"(eye(n_rows, n_cols=None, *, k=0, dtype=None, device=None)
--

A new matrix with ones on a diagonal and zeros elsewhere.

Parameters
----------
n_rows : int
n_cols : int, optional
    `n_rows` by default.
k : int, optional
    Which diagonal: ones are where the column less the row is `k`.
dtype : Dtype, optional
    `hurray.float64` by default; any type of tier 1, or complex.
device : Device, optional
    As in `zeros`.

Returns
-------
Tensor
    Row-major, of shape ``(n_rows, n_cols)``, in memory of its own on a 64-byte boundary.

Raises
------
InvalidDescriptorError
    If `n_rows` or `n_cols` is negative, or the number of elements exceeds 64 bits.
UnsupportedError, MemoryError
    As in `zeros`.

Notes
-----
Format: section 5.1, "Row-major".

Examples
--------
>>> hurray.eye(2, 3, k=1, dtype=hurray.int8)
hurray.Tensor([[0 1 0]
 [0 0 1]], dtype=int8)
)";

PyObject* Eye(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constexpr Signature kEye("eye", {"n_rows", "n_cols", "k", "dtype", "device"}, 1, 2);
  return Guard(module, [&] {
    ModuleState& state = StateOf(module);
    auto [n_rows, n_cols, k, dtype, device] = kEye.Bind(args, nargs, kwnames);
    Target target{ToOptionalDtype(state, dtype, "eye").value_or(ElementTypes::kFloat64),
                  ToDeviceOr(state, device, state.cpu_device)};
    uint64_t rows = ToExtent(n_rows, "n_rows");
    uint64_t columns = NoneToNull(n_cols) == nullptr ? rows : ToExtent(n_cols, "n_cols");
    int64_t diagonal = k == nullptr ? 0 : ToInteger<int64_t>(k, "k");
    return NewDense(state, target, Shape{rows, columns}, "eye", true,
                    [&](std::span<uint8_t> out, uint64_t) {
                      FillDiagonal(out, target.dtype, rows, columns, diagonal);
                    })
        .release();
  });
}

PyMethodDef kFunctions[] = {
    {"zeros", Method(Zeros), METH_FASTCALL | METH_KEYWORDS, kZerosDoc},
    {"ones", Method(Ones), METH_FASTCALL | METH_KEYWORDS, kOnesDoc},
    {"empty", Method(Empty), METH_FASTCALL | METH_KEYWORDS, kEmptyDoc},
    {"full", Method(Full), METH_FASTCALL | METH_KEYWORDS, kFullDoc},
    {"zeros_like", Method(ZerosLike), METH_FASTCALL | METH_KEYWORDS, kZerosLikeDoc},
    {"ones_like", Method(OnesLike), METH_FASTCALL | METH_KEYWORDS, kOnesLikeDoc},
    {"empty_like", Method(EmptyLike), METH_FASTCALL | METH_KEYWORDS, kEmptyLikeDoc},
    {"full_like", Method(FullLike), METH_FASTCALL | METH_KEYWORDS, kFullLikeDoc},
    {"arange", Method(Arange), METH_FASTCALL | METH_KEYWORDS, kArangeDoc},
    {"linspace", Method(Linspace), METH_FASTCALL | METH_KEYWORDS, kLinspaceDoc},
    {"eye", Method(Eye), METH_FASTCALL | METH_KEYWORDS, kEyeDoc},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int AddCreation(PyObject* module, ModuleState&) {
  return PyModule_AddFunctions(module, kFunctions);
}

}  // namespace hurray
