// DLPack: what both directions share. The protocol's names and numbers come from its header.
#pragma once

#include <Python.h>
#include <dlpack/dlpack.h>

#include <optional>

#include "core/element_type.h"
#include "python/module_state.h"
#include "python/ref.h"
#include "storage/buffer.h"

static_assert(DLPACK_MAJOR_VERSION == 1 && DLPACK_MINOR_VERSION >= 3,
              "build with dlpack.h 1.3 or newer");

namespace hurray {

inline constexpr char kLegacyCapsule[] = "dltensor";
inline constexpr char kUsedLegacyCapsule[] = "used_dltensor";
inline constexpr char kVersionedCapsule[] = "dltensor_versioned";
inline constexpr char kUsedVersionedCapsule[] = "used_dltensor_versioned";

// Both ways between element types and DLPack's; nullopt where the other side has none. Packed
// bools are not DLPack's, which are a byte each.
std::optional<DLDataType> DlpackTypeOf(ElementType type) noexcept;
std::optional<ElementType> ElementTypeOfDlpack(DLDataType type) noexcept;
inline bool IsDlpackBool(DLDataType type) noexcept {
  return type.code == kDLBool && type.bits == 8 && type.lanes == 1;
}

// ---- dlpack_export.cc

int AddDlpackExport(PyObject* module, ModuleState& state);

// A managed tensor that holds a reference to `tensor`; whoever gets it calls its deleter once, on
// any thread. `flags` are DLPack's. Throws as `__dlpack__` does.
DLManagedTensorVersioned* ExportManaged(PyObject* tensor, uint64_t flags);
// The same memory, described; valid while the tensor lives.
const DLTensor& DlTensorOf(PyObject* tensor);
// A capsule that runs the deleter unless a consumer takes the managed tensor out of it.
Ref WrapManaged(DLManagedTensorVersioned* managed);

PyObject* Tensor_dlpack(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
PyObject* Tensor_dlpack_device(PyObject* self, PyObject*);
extern const char kTensorDlpackDoc[];
extern const char kTensorDlpackDeviceDoc[];

// ---- dlpack_import.cc

int AddDlpackImport(PyObject* module, ModuleState& state);

// Takes over a managed tensor: whatever happens, its deleter is called exactly once, in the end.
// `copy` is the argument of the ingest functions.
Ref ImportManaged(ModuleState& state, DLManagedTensorVersioned* managed, std::optional<bool> copy);
// Memory in another order than row-major is refused, or copied into that order.
enum class OtherOrder : uint8_t { kRefused, kCopied };
// Anything that speaks DLPack, by the quickest way it offers.
Ref ImportDlpack(ModuleState& state, PyObject* object, std::optional<bool> copy,
                 OtherOrder other = OtherOrder::kRefused);

// ---- dlpack_exchange.cc

// Puts `__dlpack_c_exchange_api__` on the Tensor type.
int AddDlpackExchange(PyObject* module, ModuleState& state);
// The exchange API that a type offers, if its version can be used; nullptr otherwise.
const DLPackExchangeAPI* ExchangeApiOf(ModuleState& state, PyTypeObject* type);
// The truth of an object's attribute `requires_grad`; false if it has none. Quick for an object of
// the type last asked for its exchange API.
bool RequiresGrad(const ModuleState& state, PyObject* object);

}  // namespace hurray
