// Everything the module keeps: one set per module object, no globals.
#pragma once

#include <Python.h>

#include <array>
#include <tuple>
#include <type_traits>
#include <variant>

#include "core/layout.h"
#include "core/quantization.h"
#include "python/spare_objects.h"

namespace hurray {

// Members are strong references (or null before they are made). A new one goes into references()
// too; the assertion below notices when it does not.
struct ModuleState {
  // ---- exceptions
  PyObject* invalid_descriptor_error;
  PyObject* buffer_error;
  PyObject* copy_required_error;
  PyObject* unsupported_error;
  PyObject* internal_error;
  PyObject* file_error;
  PyObject* file_not_found_error;   // also a FileNotFoundError; not public
  PyObject* file_permission_error;  // also a PermissionError; not public
  PyObject* stream_error;

  // ---- types
  PyObject* dtype_type;
  PyObject* device_type;
  PyObject* buffer_handle_type;
  PyObject* extension_type_type;
  PyObject* statistics_type;
  PyObject* shard_type;
  PyObject* layout_type;
  PyObject* descriptor_type;
  PyObject* tensor_type;
  PyObject* composite_type;
  PyObject* print_options_ctx_type;
  PyObject* aligned_allocator_ctx_type;
  PyObject* file_type;
  PyObject* verify_report_type;
  PyObject* stream_reader_type;
  PyObject* stream_writer_type;

  // ---- objects
  PyObject* cpu_device;                  // hurray.device.cpu
  PyObject* sparse_display;              // the ContextVar of the print options
  PyObject* dlpack_cpu_device;           // (1, 0)
  PyObject* dlpack_max_version;          // the version asked of producers
  PyObject* dlpack_max_version_keyword;  // ("max_version",)
  PyObject* name_dlpack;                 // "__dlpack__"
  PyObject* name_hurray;                 // "__hurray__"
  PyObject* exchange_type;               // the type last asked for its exchange API,
  PyObject* exchange_capsule;            // what it has, or None,
  PyObject* exchange_requires_grad;      // and what its attribute of this name is, or None
  PyObject* memory_handler;              // the capsule of our handler; null before its first use
  PyObject* memory_handler_variable;     // where NumPy keeps its handler, or None
  PyObject* spare_allocator_block;       // for the next aligned_allocator()

  auto references() {
    return std::array{&invalid_descriptor_error, &buffer_error, &copy_required_error,
                      &unsupported_error, &internal_error, &file_error, &file_not_found_error,
                      &file_permission_error, &stream_error, &dtype_type, &device_type,
                      &buffer_handle_type, &extension_type_type, &statistics_type, &shard_type,
                      &layout_type, &descriptor_type, &tensor_type, &composite_type, &file_type,
                      &verify_report_type, &stream_reader_type, &stream_writer_type,
                      &print_options_ctx_type, &sparse_display, &cpu_device, &dlpack_cpu_device,
                      &dlpack_max_version, &dlpack_max_version_keyword, &name_dlpack, &name_hurray,
                      &exchange_type, &exchange_capsule, &exchange_requires_grad,
                      // The type first: without it a spare block is not made a spare again.
                      &aligned_allocator_ctx_type, &memory_handler, &memory_handler_variable,
                      &spare_allocator_block};
  }

  // Singleton of each element type, by tag; null where the tag has none.
  std::array<PyObject*, 256> dtypes;
  // Class of each alternative of the core's variants.
  std::array<PyObject*, std::variant_size_v<Layout>> layout_types;
  std::array<PyObject*, std::variant_size_v<QuantizationScheme>> scheme_types;

  // ---- no references
  const void* exchange_api;                   // in exchange_capsule, if it can be used
  std::array<PyObject*, kMaxRank + 1> ranks;  // borrowed: the interpreter keeps small integers
  SpareObjects spare_tensors;
  size_t nested_deallocs;  // of tensors, one inside the other
};
static_assert(sizeof(ModuleState) ==
                  std::tuple_size_v<decltype(ModuleState().references())> * sizeof(PyObject*) +
                      sizeof(ModuleState::dtypes) + sizeof(ModuleState::layout_types) +
                      sizeof(ModuleState::scheme_types) + sizeof(ModuleState::exchange_api) +
                      sizeof(ModuleState::ranks) + sizeof(ModuleState::spare_tensors) +
                      sizeof(ModuleState::nested_deallocs),
              "references() leaves a member out");

// Every type we can have instances of is final, so Py_TYPE(self) is the one we registered.
inline ModuleState& StateOf(PyTypeObject* type) {
  return *static_cast<ModuleState*>(PyType_GetModuleState(type));
}
// Of the module object itself.
inline ModuleState& StateOf(PyObject* module) {
  return *static_cast<ModuleState*>(PyModule_GetState(module));
}

inline PyTypeObject* AsType(PyObject* type) noexcept {
  return reinterpret_cast<PyTypeObject*>(type);
}

}  // namespace hurray
