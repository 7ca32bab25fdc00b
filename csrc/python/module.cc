// The extension module hurray._core.

#include <Python.h>

#include "python/allocator.h"
#include "python/array_interop.h"
#include "python/buffer_handle.h"
#include "python/c_api.h"
#include "python/capsule.h"
#include "python/composite.h"
#include "python/creation.h"
#include "python/descriptor.h"
#include "python/device.h"
#include "python/dlpack.h"
#include "python/dtype.h"
#include "python/errors.h"
#include "python/extension_type.h"
#include "python/file.h"
#include "python/files.h"
#include "python/ingest.h"
#include "python/layout.h"
#include "python/module_state.h"
#include "python/pickling.h"
#include "python/print_options.h"
#include "python/quantization.h"
#include "python/scipy_interop.h"
#include "python/shard.h"
#include "python/statistics.h"
#include "python/streams.h"
#include "python/tensor.h"
#include "python/verify.h"

#ifndef HURRAY_VERSION
#error "the build defines HURRAY_VERSION"
#endif

namespace hurray {

namespace {

int Module_exec(PyObject* module) {
  ModuleState& state = StateOf(module);
  using Add = int (*)(PyObject*, ModuleState&);
  // Exceptions first: whatever fails after them can be reported.
  constexpr Add kParts[] = {
      AddExceptions,   AddDtype,        AddDevice,         AddBufferHandle, AddExtensionType,
      AddQuantization, AddStatistics,   AddShard,          AddLayouts,      AddDescriptor,
      AddTensor,       AddComposite,    AddFiles,          AddFile,         AddVerify,
      AddStreamReader, AddStreamWriter, AddArrayInterop,   AddCreation,     AddPrintOptions,
      AddDlpackExport, AddDlpackImport, AddDlpackExchange, AddScipyInterop, AddCapsule,
      AddIngest,       AddCApi,         AddAllocator,      AddPickling,
  };
  for (Add add : kParts) {
    if (add(module, state) < 0) return -1;
  }
  if (PyModule_AddIntConstant(module, "MIN_BUFFER_ALIGNMENT", kMinBufferAlignment) < 0 ||
      PyModule_AddIntConstant(module, "PAGE_ALIGNMENT", kPageAlignment) < 0 ||
      PyModule_AddStringConstant(module, "__version__", HURRAY_VERSION) < 0) {
    return -1;
  }
  return 0;
}

int Module_traverse(PyObject* module, visitproc visit, void* arg) {
  ModuleState& state = StateOf(module);
  for (PyObject** reference : state.references()) Py_VISIT(*reference);
  for (PyObject* dtype : state.dtypes) Py_VISIT(dtype);
  for (PyObject* type : state.layout_types) Py_VISIT(type);
  for (PyObject* type : state.scheme_types) Py_VISIT(type);
  return 0;
}

int Module_clear(PyObject* module) {
  ModuleState& state = StateOf(module);
  for (PyObject** reference : state.references()) Py_CLEAR(*reference);
  for (PyObject*& dtype : state.dtypes) Py_CLEAR(dtype);
  for (PyObject*& type : state.layout_types) Py_CLEAR(type);
  for (PyObject*& type : state.scheme_types) Py_CLEAR(type);
  state.spare_tensors.Close();
  return 0;
}

void Module_free(void* module) { Module_clear(static_cast<PyObject*>(module)); }

PyModuleDef_Slot kSlots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(Module_exec)},
#if PY_VERSION_HEX >= 0x030C0000
    // NumPy refuses a second interpreter, and arrays are most of what we are for.
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, nullptr},
};

PyModuleDef kModule = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "hurray._core",
    .m_doc = "The compiled part of hurray; import hurray instead.",
    .m_size = sizeof(ModuleState),
    .m_methods = nullptr,
    .m_slots = kSlots,
    .m_traverse = Module_traverse,
    .m_clear = Module_clear,
    .m_free = Module_free,
};

}  // namespace

}  // namespace hurray

PyMODINIT_FUNC PyInit__core() { return PyModuleDef_Init(&hurray::kModule); }
