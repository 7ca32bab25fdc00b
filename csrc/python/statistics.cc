#include "python/statistics.h"

#include <cmath>

#include "python/arguments.h"
#include "python/errors.h"
#include "python/parameters.h"
#include "python/value_type.h"

namespace hurray {

namespace {

constexpr char kDoc[] =
    R"(Statistics(*, nnz=None, sparsity_ratio=None, value_min=None, value_max=None,
           value_abs_max=None, value_mean=None, value_stddev=None, nm_n=None, nm_m=None,
           has_nan=None, has_inf=None)
--

What a producer claims about a tensor's values; advisory, and checked by nobody on the way.

Claims that belong together are made together: `value_min`, `value_max` and `value_abs_max`;
`value_mean` and `value_stddev`; `nm_n` and `nm_m`; `has_nan` and `has_inf`.

Parameters
----------
nnz : int, optional
    Number of elements that are not zero.
sparsity_ratio : float, optional
    Fraction of elements that are zero.
value_min, value_max, value_abs_max : float, optional
    Least and greatest value and greatest magnitude, of a quantized tensor those of the values that
    it stands for.
value_mean, value_stddev : float, optional
    Mean and standard deviation of the population.
nm_n, nm_m : int, optional
    At most `nm_n` of each `nm_m` neighbours are not zero.
has_nan, has_inf : bool, optional
    Whether there are NaNs and infinities.

Raises
------
InvalidDescriptorError
    If some but not all claims that belong together are made.
OverflowError
    If `nnz` is negative or exceeds 2^64-1, or `nm_n` or `nm_m` is no byte.

Notes
-----
Format: section 6.3, "Statistics". Compares by value, NaN being equal to itself; not hashable.

Examples
--------
>>> statistics = hurray.Statistics(nnz=2, value_min=0.0, value_max=1.0, value_abs_max=1.0)
>>> statistics.computed_mask
5
>>> hurray.Tensor(bytes(4), hurray.int8, [4], statistics=statistics).statistics.nnz
2
)";

// The value of a member if its claim is made, else None.
template <auto kMember, uint32_t kBit>
constexpr auto kClaim = [](const ModuleState& state, const Statistics& statistics) {
  return statistics.claims(kBit) ? kField<kMember>(state, statistics) : Ref::None();
};
template <auto kMember>
constexpr auto kClaimedFlag = [](const ModuleState&, const Statistics& statistics) {
  return statistics.claims(Statistics::kSpecials) ? ToPython(statistics.*kMember != 0)
                                                  : Ref::None();
};

constexpr std::array<Parameter<Statistics>, 11> kParameters{{
    {"nnz", kClaim<&Statistics::nnz, Statistics::kNnz>,
     "int or None: number of elements that are not zero."},
    {"sparsity_ratio", kClaim<&Statistics::sparsity_ratio, Statistics::kSparsity>,
     "float or None: fraction of elements that are zero."},
    {"value_min", kClaim<&Statistics::value_min, Statistics::kRange>,
     "float or None: least value."},
    {"value_max", kClaim<&Statistics::value_max, Statistics::kRange>,
     "float or None: greatest value."},
    {"value_abs_max", kClaim<&Statistics::value_abs_max, Statistics::kRange>,
     "float or None: greatest magnitude."},
    {"value_mean", kClaim<&Statistics::value_mean, Statistics::kMoments>,
     "float or None: mean of the values."},
    {"value_stddev", kClaim<&Statistics::value_stddev, Statistics::kMoments>,
     "float or None: standard deviation of the population."},
    {"nm_n", kClaim<&Statistics::nm_n, Statistics::kNm>,
     "int or None: at most so many of each `nm_m` neighbours are not zero."},
    {"nm_m", kClaim<&Statistics::nm_m, Statistics::kNm>,
     "int or None: neighbours in a group of the N:M pattern."},
    {"has_nan", kClaimedFlag<&Statistics::has_nan>, "bool or None: there are NaNs."},
    {"has_inf", kClaimedFlag<&Statistics::has_inf>, "bool or None: there are infinities."},
}};

// ---- lifetime

constexpr Signature kNew("Statistics",
                         {"nnz", "sparsity_ratio", "value_min", "value_max", "value_abs_max",
                          "value_mean", "value_stddev", "nm_n", "nm_m", "has_nan", "has_inf"},
                         0, 0);

// Claims that are made together or not at all: parameters [first, last) and their bit.
struct Group {
  size_t first, last;
  uint32_t bit;
};
constexpr Group kGroups[] = {
    {0, 1, Statistics::kNnz},     {1, 2, Statistics::kSparsity}, {2, 5, Statistics::kRange},
    {5, 7, Statistics::kMoments}, {7, 9, Statistics::kNm},       {9, 11, Statistics::kSpecials},
};

uint32_t MaskOf(const std::array<PyObject*, 11>& given) {
  uint32_t mask = 0;
  for (const Group& group : kGroups) {
    size_t present = group.last, absent = group.last;
    for (size_t i = group.first; i < group.last; ++i) {
      (NoneToNull(given[i]) != nullptr ? present : absent) = i;
    }
    if (present == group.last) continue;
    if (absent != group.last) {
      ThrowInvalidDescriptor(StrCat("statistics: ", kParameters[present].name, " is given and ",
                                    kParameters[absent].name,
                                    " is not; they are claimed together or not at all"));
    }
    mask |= group.bit;
  }
  return mask;
}

PyObject* Statistics_vectorcall(PyObject* callable, PyObject* const* args, size_t nargsf,
                                PyObject* kwnames) {
  auto* type = AsType(callable);
  return Guard(type, [&] {
    auto given = kNew.Bind(args, nargsf, kwnames);
    Statistics statistics;
    statistics.computed_mask = MaskOf(given);
    if (statistics.claims(Statistics::kNnz)) {
      statistics.nnz = ToInteger<uint64_t>(given[0], "nnz");
    }
    double* doubles[] = {&statistics.sparsity_ratio, &statistics.value_min,
                         &statistics.value_max,      &statistics.value_abs_max,
                         &statistics.value_mean,     &statistics.value_stddev};
    for (size_t i = 0; i < std::size(doubles); ++i) {
      PyObject* value = NoneToNull(given[1 + i]);
      if (value != nullptr) *doubles[i] = ToDouble(value, kParameters[1 + i].name);
    }
    if (statistics.claims(Statistics::kNm)) {
      statistics.nm_n = ToInteger<uint8_t>(given[7], "nm_n");
      statistics.nm_m = ToInteger<uint8_t>(given[8], "nm_m");
    }
    if (statistics.claims(Statistics::kSpecials)) {
      statistics.has_nan = ToBool(given[9], "has_nan");
      statistics.has_inf = ToBool(given[10], "has_inf");
    }
    return NewValue(type, statistics).release();
  });
}

// ---- properties

PyObject* Statistics_computed_mask(PyObject* self, void*) {
  return PyLong_FromUnsignedLong(ValueOf<Statistics>(self).computed_mask);
}

auto kProperties = ParameterProperties<Statistics, Statistics, kParameters.size(), 1>(
    kParameters,
    {{{"computed_mask", Statistics_computed_mask, nullptr,
       "int: what is claimed: 1 nnz, 2 sparsity, 4 range, 8 mean and stddev, 16 N:M, 32 NaN/Inf.",
       nullptr}}});

// ---- methods

// Calls `visit(name, value)` for each claim.
template <typename Visit>
void ForEachClaim(PyObject* self, Visit&& visit) {
  for (const auto& parameter : kParameters) {
    Ref value = parameter.get(StateOf(Py_TYPE(self)), ValueOf<Statistics>(self));
    if (value.get() != Py_None) visit(parameter.name, value.get());
  }
}

PyObject* Statistics_repr(PyObject* self) {
  return Guard(Py_TYPE(self), [&] {
    CallText text("Statistics");
    ForEachClaim(self, [&](const char* name, PyObject* value) {
      if (PyFloat_Check(value) && !std::isfinite(PyFloat_AS_DOUBLE(value))) {
        double number = PyFloat_AS_DOUBLE(value);  // its repr is no expression
        text.Add(name, std::isnan(number) ? "float('nan')"
                       : number > 0       ? "float('inf')"
                                          : "float('-inf')");
      } else {
        text.Add(name, value);
      }
    });
    return ToPython(text.Done()).release();
  });
}

PyObject* Statistics_reduce(PyObject* self, PyObject*) {
  return Guard(Py_TYPE(self), [&] {
    Ref claims = Ref::Steal(PyDict_New());
    ForEachClaim(self, [&](const char* name, PyObject* value) {
      Checked(PyDict_SetItemString(claims.get(), name, value));
    });
    return ReduceToKeywords(Py_TYPE(self), claims).release();
  });
}

PyMethodDef kMethods[] = {
    {"__reduce__", Method(Statistics_reduce), METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// ---- type

PyType_Slot kSlots[] = {
    {Py_tp_doc, const_cast<char*>(kDoc)},
    {Py_tp_new, Slot(NewByVectorcall)},
    {Py_tp_traverse, Slot(Value_traverse<Statistics>)},
    {Py_tp_dealloc, Slot(Value_dealloc<Statistics>)},
    {Py_tp_members, WeakrefMember<Statistics>()},
    {Py_tp_getset, kProperties.data()},
    {Py_tp_methods, kMethods},
    {Py_tp_repr, Slot(Statistics_repr)},
    {Py_tp_richcompare, Slot(Value_richcompare<Statistics>)},
    {Py_tp_hash, Slot(PyObject_HashNotImplemented)},
    {0, nullptr},
};

PyType_Spec kSpec = {
    .name = "hurray.Statistics",
    .basicsize = sizeof(ValueObject<Statistics>),
    .itemsize = 0,
    .flags = kFinalType,
    .slots = kSlots,
};

}  // namespace

Ref StatisticsToPython(const ModuleState& state, const Statistics& statistics) {
  return NewValue(AsType(state.statistics_type), statistics);
}

Statistics ToStatistics(const ModuleState& state, PyObject* object, std::string_view name) {
  if (Py_TYPE(object) != AsType(state.statistics_type)) {
    ThrowTypeError(StrCat(name, " must be a hurray.Statistics, not ", TypeName(object)));
  }
  return ValueOf<Statistics>(object);
}

int AddStatistics(PyObject* module, ModuleState& state) {
  state.statistics_type = PyType_FromModuleAndSpec(module, &kSpec, nullptr);
  if (state.statistics_type == nullptr) return -1;
  auto* type = AsType(state.statistics_type);
  type->tp_vectorcall = Statistics_vectorcall;  // no slot for it before CPython 3.14
  return PyModule_AddType(module, type);
}

}  // namespace hurray
