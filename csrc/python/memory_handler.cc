#include "python/memory_handler.h"

#include "core/checked_math.h"
#include "python/arguments.h"
#include "python/context_var.h"
#include "python/errors.h"
#include "python/numpy_api.h"
#include "storage/allocator.h"

namespace hurray {

namespace {

// ---- what NumPy calls: with the GIL or without it, on any thread, and until the process ends

void* HandlerMalloc(void*, size_t size) { return Allocate(size); }

void* HandlerCalloc(void*, size_t count, size_t item_size) {
  auto size = CheckedMul(count, item_size);
  return size && *size <= PTRDIFF_MAX ? AllocateZeroed(*size) : nullptr;
}

void* HandlerRealloc(void*, void* block, size_t size) { return Reallocate(block, size); }

// NumPy's idea of the size is a guess, and the block may be none.
void HandlerFree(void*, void* block, size_t) { Free(block); }

// Arrays keep the capsule and so this for as long as they live.
PyDataMem_Handler handler = {
    .name = "hurray_aligned",
    .version = 1,
    .allocator = {.ctx = nullptr,
                  .malloc = HandlerMalloc,
                  .calloc = HandlerCalloc,
                  .realloc = HandlerRealloc,
                  .free = HandlerFree},
};

// ---- preparation

void RequireNumpyWithHandlers() {
  try {
    RequireNumpy();
  } catch (const PythonError&) {
    // It refused the version after it had looked at it.
    bool too_old = PyArray_RUNTIME_VERSION != 0 && PyArray_RUNTIME_VERSION < NPY_1_22_API_VERSION;
    if (too_old && ClearIf(PyExc_RuntimeError)) {
      throw Error(ErrorCode::kUnsupported,
                  "aligned_allocator needs NumPy 1.22 or newer, which lets others allocate");
    }
    throw;
  }
}

// The context variable in which NumPy keeps its handler. PyDataMem_SetHandler does no more than
// set it, but always makes a new value of it; resetting it is cheaper, and leaves no trace where
// there was no value. NumPy does not promise the variable, so we look for what changes when the
// handler is set. None if it is not to be found.
Ref FindHandlerVariable(PyObject* capsule) {
  Ref context = Ref::Steal(PyContext_CopyCurrent());
  Checked(PyContext_Enter(context.get()));
  Ref previous = Ref::StealOrNull(PyDataMem_SetHandler(capsule));
  Ref found = Ref::None();
  Ref variables = Ref::StealOrNull(previous ? PyObject_GetIter(context.get()) : nullptr);
  while (variables) {
    Ref variable = Ref::StealOrNull(PyIter_Next(variables.get()));
    if (!variable) break;
    Ref value = Ref::StealOrNull(PyObject_GetItem(context.get(), variable.get()));
    if (value.get() == capsule) found = std::move(variable);
  }
  // Whatever went wrong, the context has to be left.
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  int left = PyContext_Exit(context.get());
  PyErr_Restore(type, value, traceback);
  if (left < 0 || type != nullptr) throw PythonError();
  return found;
}

void Prepare(ModuleState& state) {
  RequireNumpyWithHandlers();
  Ref capsule = Ref::Steal(PyCapsule_New(&handler, "mem_handler", nullptr));
  state.memory_handler_variable = FindHandlerVariable(capsule.get()).release();
  state.memory_handler = capsule.release();
}

}  // namespace

Ref SetMemoryHandler(ModuleState& state) {
  if (state.memory_handler == nullptr) Prepare(state);
  PyObject* variable = state.memory_handler_variable;
  return Ref::Steal(variable != Py_None ? PyContextVar_Set(variable, state.memory_handler)
                                        : PyDataMem_SetHandler(state.memory_handler));
}

void RestoreMemoryHandler(const ModuleState& state, PyObject* replaced) {
  if (state.memory_handler_variable != Py_None) {
    ResetContextVar(state.memory_handler_variable, replaced, "aligned_allocator");
  } else {
    Ref::Steal(PyDataMem_SetHandler(replaced));
  }
}

}  // namespace hurray
