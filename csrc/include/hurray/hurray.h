/* The C interface of hurray: tensors handed between extension modules without a copy.
 *
 * This header is C99 and self-contained. A consumer needs neither the hurray library nor the
 * hurray module to read a capsule: everything is in the structs below, and they carry the function
 * that releases them.
 *
 * Two ways lead here.
 *
 * 1. The `__hurray__` protocol. `obj.__hurray__()` returns a PyCapsule named HURRAY_CAPSULE_NAME.
 *    Its pointer is a HurrayBufferList, its context a HurrayTensorContext. To take the tensor over:
 *      a. check the capsule's name;
 *      b. check both structs with HurrayBufferList_IsUsable and HurrayTensorContext_IsUsable; if
 *         one is not, leave the capsule alone: its destructor frees it;
 *      c. rename the capsule to HURRAY_USED_CAPSULE_NAME: list and context are now yours;
 *      d. use the buffers as long as you like, then call context->release(context) once.
 *    A producer makes such a capsule with a destructor that calls context->release(context) only
 *    if the name is still HURRAY_CAPSULE_NAME.
 *
 * 2. The helper functions in HurrayCApi, found with HurrayCApi_Import() where Python.h was included
 *    before this header.
 *
 * Ownership: `release` frees list, buffers array, descriptor and context and lets go of the memory.
 * It may be called on any thread, with or without the interpreter lock, also after the interpreter
 * ended. Everything that takes or returns a PyObject needs the lock.
 *
 * Stability: within one ABI version structs only grow at their end, so `struct_size` is compared
 * with >=. Another ABI version is another contract and is refused.
 */
#ifndef HURRAY_HURRAY_H_
#define HURRAY_HURRAY_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HURRAY_ABI_VERSION 4u
#define HURRAY_CAPSULE_NAME "hurray_tensor"
#define HURRAY_USED_CAPSULE_NAME "used_hurray_tensor"
#define HURRAY_C_API_CAPSULE_NAME "hurray._core._C_API"

/* First field of every struct: tells memory that follows this header from any other. */
#define HURRAY_LIST_MAGIC UINT64_C(0x5453494C59525248)    /* "HRRYLIST" in memory */
#define HURRAY_CONTEXT_MAGIC UINT64_C(0x5458544359525248) /* "HRRYCTXT" in memory */
#define HURRAY_C_API_MAGIC UINT64_C(0x4950414359525248)   /* "HRRYCAPI" in memory */

/* Flags of a buffer. */
#define HURRAY_BUFFER_READ_ONLY UINT32_C(1)

/* Sync modes: only bytes of mode 0 may be touched at once. */
#define HURRAY_SYNC_PRODUCER_SYNCED 0
#define HURRAY_SYNC_EVENT 1
#define HURRAY_SYNC_CONSUMER_STREAM 2

/* One buffer; number i belongs to row i of the descriptor's buffer table. */
typedef struct HurrayBuffer {
  void* data;           /* NULL only if byte_size is 0 */
  uint64_t byte_size;   /* at least what the descriptor declares */
  uint32_t flags;       /* HURRAY_BUFFER_… */
  uint8_t device_tag;   /* as in the format: 0 is the CPU */
  uint8_t memory_class; /* as in the format: 0 is standard memory */
  uint8_t sync_mode;    /* HURRAY_SYNC_… */
  uint8_t reserved;     /* 0 */
  int32_t device_id;    /* ordinal among the devices of its kind in this process */
  uint32_t reserved2;   /* 0 */
} HurrayBuffer;

/* The pointer of a capsule. */
typedef struct HurrayBufferList {
  uint64_t magic;       /* HURRAY_LIST_MAGIC */
  uint32_t struct_size; /* sizeof(HurrayBufferList) where it was made */
  uint32_t abi_version; /* HURRAY_ABI_VERSION */
  uint32_t buffer_size; /* sizeof(HurrayBuffer) where it was made: the step between buffers */
  uint32_t buffer_count;
  HurrayBuffer* buffers;
} HurrayBufferList;

/* The context of a capsule. */
typedef struct HurrayTensorContext {
  uint64_t magic;            /* HURRAY_CONTEXT_MAGIC */
  uint32_t struct_size;      /* sizeof(HurrayTensorContext) where it was made */
  uint32_t abi_version;      /* HURRAY_ABI_VERSION */
  const uint8_t* descriptor; /* the encoded tensor descriptor */
  uint64_t descriptor_size;  /* its length in bytes */
  void* owner;               /* the producer's; keeps the memory alive */
  void (*release)(struct HurrayTensorContext* self);
} HurrayTensorContext;

/* 1 if the struct can be read by code compiled with this header. NULL gives 0. */
static inline int HurrayBufferList_IsUsable(const HurrayBufferList* list) {
  return list != NULL && list->magic == HURRAY_LIST_MAGIC &&
         list->struct_size >= sizeof(HurrayBufferList) && list->abi_version == HURRAY_ABI_VERSION &&
         list->buffer_size >= sizeof(HurrayBuffer) &&
         (list->buffers != NULL || list->buffer_count == 0);
}
static inline int HurrayTensorContext_IsUsable(const HurrayTensorContext* context) {
  return context != NULL && context->magic == HURRAY_CONTEXT_MAGIC &&
         context->struct_size >= sizeof(HurrayTensorContext) &&
         context->abi_version == HURRAY_ABI_VERSION && context->descriptor != NULL &&
         context->release != NULL;
}
/* Buffer number i. REQUIRES: a usable list, i < buffer_count. */
static inline const HurrayBuffer* HurrayBufferList_At(const HurrayBufferList* list, uint32_t i) {
  return (const HurrayBuffer*)((const char*)list->buffers + (size_t)i * list->buffer_size);
}

/* A dense tensor as the helper functions describe it: what most consumers want to know. */
typedef struct HurrayDenseView {
  uint32_t struct_size; /* set it to sizeof(HurrayDenseView) before the call */
  uint8_t type_tag;     /* element type, as in the format: 0x03 is float32 */
  uint8_t read_only;    /* 1 if the memory must not be written */
  uint16_t rank;
  void* data;             /* address of the element with index (0, …, 0) */
  const uint64_t* shape;  /* rank extents, in elements */
  const int64_t* strides; /* rank strides, in elements */
} HurrayDenseView;

typedef struct _object HurrayPyObject; /* PyObject, without needing Python.h */

/* Helper functions of the hurray module. All need the interpreter lock; those that fail set a
 * Python exception. */
typedef struct HurrayCApi {
  uint64_t magic;       /* HURRAY_C_API_MAGIC */
  uint32_t struct_size; /* sizeof(HurrayCApi) where it was made */
  uint32_t abi_version; /* HURRAY_ABI_VERSION */

  /* 1 if the object is a hurray.Tensor, else 0. Cannot fail. */
  int (*tensor_check)(HurrayPyObject* object);

  /* Describes a dense tensor of a hurray.Tensor; returns 0, or -1. The view points into the tensor
   * and is valid while the tensor lives: nothing is to be released. Fails for layouts without
   * strides, packed element types, dynamic shapes, memory off the CPU and other sync modes. */
  int (*tensor_borrow)(HurrayPyObject* tensor, HurrayDenseView* view);

  /* A new hurray.Tensor over buffers of the caller's. The descriptor is checked; non-empty buffers
   * must lie on 64-byte boundaries. `release(owner)` is called once when the memory is no longer
   * used, on any thread, without the interpreter lock being guaranteed; on failure (NULL) it has
   * been called already. `release` may be NULL for memory that lives as long as the process. */
  HurrayPyObject* (*tensor_from_buffers)(const uint8_t* descriptor, uint64_t descriptor_size,
                                         const HurrayBuffer* buffers, uint32_t buffer_count,
                                         void* owner, void (*release)(void* owner));

  /* A row-major float32, int64, … tensor over CPU memory of the caller's: the same without a
   * descriptor at hand. `byte_size` must be what shape and type need. */
  HurrayPyObject* (*tensor_from_dense)(uint8_t type_tag, uint32_t rank, const uint64_t* shape,
                                       void* data, uint64_t byte_size, void* owner,
                                       void (*release)(void* owner));
} HurrayCApi;

static inline int HurrayCApi_IsUsable(const HurrayCApi* api) {
  return api != NULL && api->magic == HURRAY_C_API_MAGIC &&
         api->struct_size >= sizeof(HurrayCApi) && api->abi_version == HURRAY_ABI_VERSION;
}

#ifdef Py_PYTHON_H
/* Imports hurray and returns its helper functions, which live as long as the process; NULL with an
 * exception set if hurray is missing or speaks another ABI version. */
static inline const HurrayCApi* HurrayCApi_Import(void) {
  const HurrayCApi* api = (const HurrayCApi*)PyCapsule_Import(HURRAY_C_API_CAPSULE_NAME, 0);
  if (api != NULL && !HurrayCApi_IsUsable(api)) {
    PyErr_SetString(PyExc_ImportError,
                    "the installed hurray has another ABI version than this module was built for");
    return NULL;
  }
  return api;
}
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HURRAY_HURRAY_H_ */
