#include "python/verify.h"

#include <structmember.h>

#include <string>
#include <utility>

#include "io/verify.h"
#include "python/arguments.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/paths.h"
#include "python/value_type.h"
#include "python/watch.h"

namespace hurray {

namespace {

constexpr char kReportDoc[] = R"(What `hurray.verify` found in a file.

Notes
-----
Format: section 12, "Strict and permissive".

Examples
--------
>>> hurray.save("one.hrry", {"a": hurray.zeros([2])})
>>> hurray.verify("one.hrry")
hurray.VerifyReport(ok=True, tensor_count=1, problems=())
)";

constexpr char kVerifyDoc[] = R"(verify(path, *, raise_on_error=False)
--

Check everything about a file that can be checked.

Beside what reading checks, these are the contents of index buffers and scales, and the rules that
readers skip.

Parameters
----------
path : str or os.PathLike
raise_on_error : bool, optional
    Raise the first problem instead of reporting it.

Returns
-------
VerifyReport

Raises
------
FileError
    If the file cannot be read; with `raise_on_error`, for a problem of the container.
InvalidDescriptorError
    With `raise_on_error`, for a problem of a tensor.

Notes
-----
Format: section 12, "Strict and permissive".

Examples
--------
>>> hurray.save("one.hrry", {"a": hurray.zeros([2])})
>>> report = hurray.verify("one.hrry")
>>> report.ok, report.tensor_count, report.problems
(True, 1, ())
)";

struct ReportObject {
  PyObject_HEAD
  PyObject* weakrefs;
  PyObject* tensor_count;
  PyObject* problems;
};

ReportObject* Of(PyObject* self) { return reinterpret_cast<ReportObject*>(self); }

// ---- lifetime

int Report_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(Of(self)->tensor_count);
  Py_VISIT(Of(self)->problems);
  return 0;
}

void Report_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (Of(self)->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
  Py_XDECREF(Of(self)->tensor_count);
  Py_XDECREF(Of(self)->problems);
  type->tp_free(self);
  Py_DECREF(type);
}

// ---- properties

bool IsOk(PyObject* self) { return PyTuple_GET_SIZE(Of(self)->problems) == 0; }
PyObject* Report_ok(PyObject* self, void*) { return PyBool_FromLong(IsOk(self)); }

PyGetSetDef kProperties[] = {
    {"ok", Report_ok, nullptr, "bool: there are no problems.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef kMembers[] = {
    {"tensor_count", T_OBJECT_EX, static_cast<Py_ssize_t>(offsetof(ReportObject, tensor_count)),
     READONLY, "int: tensors and composites found."},
    {"problems", T_OBJECT_EX, static_cast<Py_ssize_t>(offsetof(ReportObject, problems)), READONLY,
     "tuple of (name, rule, message): name is None for what concerns the whole file, rule is "
     "'container', 'metadata', 'tensor' or 'contents'."},
    {"__weaklistoffset__", T_PYSSIZET, static_cast<Py_ssize_t>(offsetof(ReportObject, weakrefs)),
     READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyObject* Report_repr(PyObject* self) {
  return PyUnicode_FromFormat("hurray.VerifyReport(ok=%s, tensor_count=%R, problems=%R)",
                              IsOk(self) ? "True" : "False", Of(self)->tensor_count,
                              Of(self)->problems);
}

// ---- type

PyType_Slot kSlots[] = {
    {Py_tp_doc, const_cast<char*>(kReportDoc)},
    {Py_tp_traverse, Slot(Report_traverse)},
    {Py_tp_dealloc, Slot(Report_dealloc)},
    {Py_tp_members, kMembers},
    {Py_tp_getset, kProperties},
    {Py_tp_repr, Slot(Report_repr)},
    {0, nullptr},
};

PyType_Spec kSpec = {
    .name = "hurray.VerifyReport",
    .basicsize = sizeof(ReportObject),
    .itemsize = 0,
    .flags = kFinalNotConstructible,
    .slots = kSlots,
};

// ---- hurray.verify

Ref ProblemToTuple(const Problem& problem) {
  Ref name = problem.name ? ToPython(std::string_view(*problem.name)) : Ref::None();
  Ref rule = ToPython(problem.rule);
  Ref message = ToPython(std::string_view(problem.message));
  return Ref::Steal(PyTuple_Pack(3, name.get(), rule.get(), message.get()));
}

Ref ReportToPython(ModuleState& state, const VerifyReport& report) {
  Ref problems = Ref::Steal(PyTuple_New(static_cast<Py_ssize_t>(report.problems.size())));
  for (size_t i = 0; i < report.problems.size(); ++i) {
    PyTuple_SET_ITEM(problems.get(), static_cast<Py_ssize_t>(i),
                     ProblemToTuple(report.problems[i]).release());
  }
  Ref count = ToPython(report.tensor_count);
  auto* type = AsType(state.verify_report_type);
  Ref self = Ref::Steal(type->tp_alloc(type, 0));
  Of(self.get())->tensor_count = count.release();
  Of(self.get())->problems = problems.release();
  return self;
}

PyObject* Verify(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constexpr Signature kVerify("verify", {"path", "raise_on_error"}, 1, 1);
  return Guard(module, [&] {
    auto bound = kVerify.Bind(args, nargs, kwnames);
    std::string path = ToPath(bound[0], "path");
    bool raise = bound[1] != nullptr && ToBool(bound[1], "raise_on_error");
    VerifyReport report;
    {
      GilRelease released;
      Checkpoint checkpoint = Watch();
      report = VerifyFile(path, checkpoint);
    }
    if (raise && !report.problems.empty()) {
      throw Error(report.problems[0].code, report.problems[0].message);
    }
    return ReportToPython(StateOf(module), report).release();
  });
}

PyMethodDef kFunctions[] = {
    {"verify", Method(Verify), METH_FASTCALL | METH_KEYWORDS, kVerifyDoc},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int AddVerify(PyObject* module, ModuleState& state) {
  return Guard(module, [&] {
    state.verify_report_type =
        Ref::Steal(PyType_FromModuleAndSpec(module, &kSpec, nullptr)).release();
    Checked(PyModule_AddType(module, AsType(state.verify_report_type)));
    return PyModule_AddFunctions(module, kFunctions);
  });
}

}  // namespace hurray
