/* A third-party extension as somebody else would write it: plain C, only hurray's installed header.
 * It reads tensors both ways that the header offers, makes tensors of its own, and forges capsules
 * that a consumer must refuse. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <hurray/hurray.h>
#include <stdlib.h>
#include <string.h>

#define FLOAT32 0x03
#define ALIGNMENT 64

static int released = 0; /* how often memory of ours was let go */

/* ---- consuming */

static double sum_dense(const HurrayDenseView* view) {
  uint64_t index[64] = {0};
  double total = 0;
  for (uint16_t k = 0; k < view->rank; ++k) {
    if (view->shape[k] == 0) return 0;
  }
  for (;;) {
    const float* at = (const float*)view->data;
    for (uint16_t k = 0; k < view->rank; ++k) at += view->strides[k] * (int64_t)index[k];
    total += *at;
    int k = view->rank;
    while (--k >= 0) {
      if (++index[k] < view->shape[k]) break;
      index[k] = 0;
    }
    if (k < 0) return total;
  }
}

/* sum(tensor): through the helper functions. */
static PyObject* consumer_sum(PyObject* module, PyObject* tensor) {
  (void)module;
  const HurrayCApi* api = HurrayCApi_Import();
  if (api == NULL) return NULL;
  HurrayDenseView view;
  memset(&view, 0, sizeof(view));
  view.struct_size = sizeof(view);
  if (api->tensor_borrow((HurrayPyObject*)tensor, &view) < 0) return NULL;
  if (view.type_tag != FLOAT32) {
    PyErr_SetString(PyExc_TypeError, "float32 is needed");
    return NULL;
  }
  return PyFloat_FromDouble(sum_dense(&view));
}

/* take(obj): consumes obj.__hurray__() without the helper functions; returns
 * (descriptor bytes, list of buffer bytes, list of flags). */
static PyObject* consumer_take(PyObject* module, PyObject* object) {
  (void)module;
  PyObject* capsule = PyObject_CallMethod(object, "__hurray__", NULL);
  if (capsule == NULL) return NULL;
  PyObject* result = NULL;
  const HurrayBufferList* list =
      (const HurrayBufferList*)PyCapsule_GetPointer(capsule, HURRAY_CAPSULE_NAME);
  HurrayTensorContext* context =
      list == NULL ? NULL : (HurrayTensorContext*)PyCapsule_GetContext(capsule);
  if (list == NULL || context == NULL) goto done;
  if (!HurrayBufferList_IsUsable(list) || !HurrayTensorContext_IsUsable(context)) {
    PyErr_SetString(PyExc_NotImplementedError, "another ABI");
    goto done;
  }
  if (PyCapsule_SetName(capsule, HURRAY_USED_CAPSULE_NAME) < 0) goto done;
  PyObject* buffers = PyList_New(0);
  PyObject* flags = PyList_New(0);
  for (uint32_t i = 0; i < list->buffer_count; ++i) {
    const HurrayBuffer* buffer = HurrayBufferList_At(list, i);
    PyObject* bytes =
        PyBytes_FromStringAndSize((const char*)buffer->data, (Py_ssize_t)buffer->byte_size);
    PyList_Append(buffers, bytes);
    Py_XDECREF(bytes);
    PyObject* flag = PyLong_FromUnsignedLong(buffer->flags);
    PyList_Append(flags, flag);
    Py_XDECREF(flag);
  }
  result = Py_BuildValue("(y#NN)", (const char*)context->descriptor,
                         (Py_ssize_t)context->descriptor_size, buffers, flags);
  context->release(context);
done:
  Py_DECREF(capsule);
  return result;
}

static PyObject* consumer_check(PyObject* module, PyObject* object) {
  (void)module;
  const HurrayCApi* api = HurrayCApi_Import();
  if (api == NULL) return NULL;
  return PyBool_FromLong(api->tensor_check((HurrayPyObject*)object));
}

/* borrow_with_size(tensor, struct_size): the version check of the view. */
static PyObject* consumer_borrow_with_size(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* tensor;
  unsigned size;
  if (!PyArg_ParseTuple(args, "OI", &tensor, &size)) return NULL;
  const HurrayCApi* api = HurrayCApi_Import();
  if (api == NULL) return NULL;
  HurrayDenseView view;
  memset(&view, 0, sizeof(view));
  view.struct_size = size;
  if (api->tensor_borrow((HurrayPyObject*)tensor, &view) < 0) return NULL;
  Py_RETURN_NONE;
}

/* ---- producing */

static void let_go(void* memory) {
  ++released;
  free(memory);
}

/* make(n): a float32 tensor [n] of 0, 1, 2, … in memory of ours. */
static PyObject* consumer_make(PyObject* module, PyObject* argument) {
  (void)module;
  size_t count = PyLong_AsSize_t(argument);
  if (count == (size_t)-1 && PyErr_Occurred()) return NULL;
  const HurrayCApi* api = HurrayCApi_Import();
  if (api == NULL) return NULL;
  size_t size = count * sizeof(float);
  float* data = (float*)aligned_alloc(ALIGNMENT, (size + ALIGNMENT) / ALIGNMENT * ALIGNMENT);
  if (data == NULL) return PyErr_NoMemory();
  for (size_t i = 0; i < count; ++i) data[i] = (float)i;
  uint64_t shape[1] = {count};
  return (PyObject*)api->tensor_from_dense(FLOAT32, 1, shape, data, size, data, let_go);
}

/* make_from(descriptor, bytes, declared_size): one buffer with the given content. */
static PyObject* consumer_make_from(PyObject* module, PyObject* args) {
  (void)module;
  Py_buffer descriptor, content;
  unsigned long long size;
  int shift;
  if (!PyArg_ParseTuple(args, "y*y*Ki", &descriptor, &content, &size, &shift)) return NULL;
  const HurrayCApi* api = HurrayCApi_Import();
  PyObject* tensor = NULL;
  if (api != NULL) {
    size_t room = ((size_t)content.len + 2 * ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    char* memory = (char*)aligned_alloc(ALIGNMENT, room);
    memcpy(memory + shift, content.buf, (size_t)content.len);
    HurrayBuffer buffer;
    memset(&buffer, 0, sizeof(buffer));
    buffer.data = memory + shift;
    buffer.byte_size = size;
    tensor = (PyObject*)api->tensor_from_buffers(
        (const uint8_t*)descriptor.buf, (uint64_t)descriptor.len, &buffer, 1, memory, let_go);
  }
  PyBuffer_Release(&descriptor);
  PyBuffer_Release(&content);
  return tensor;
}

static PyObject* consumer_released(PyObject* module, PyObject* none) {
  (void)module;
  (void)none;
  return PyLong_FromLong(released);
}

/* ---- forging */

typedef struct Forged {
  HurrayBufferList list;
  HurrayTensorContext context;
  HurrayBuffer buffer;
  float* data;
  unsigned char descriptor[];
} Forged;

static void release_forged(HurrayTensorContext* context) {
  Forged* forged = (Forged*)context->owner;
  ++released;
  free(forged->data);
  free(forged);
}

static void destroy_forged(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, HURRAY_CAPSULE_NAME)) return;
  HurrayTensorContext* context = (HurrayTensorContext*)PyCapsule_GetContext(capsule);
  if (context != NULL) release_forged(context);
}

/* forge(descriptor, fault): a capsule of a tensor with one buffer of 16 bytes, as it should be or
 * with one fault. */
static PyObject* consumer_forge(PyObject* module, PyObject* args) {
  (void)module;
  const char* descriptor;
  Py_ssize_t size;
  const char* fault;
  if (!PyArg_ParseTuple(args, "y#s", &descriptor, &size, &fault)) return NULL;
  Forged* forged = (Forged*)calloc(1, sizeof(Forged) + (size_t)size);
  forged->data = (float*)aligned_alloc(ALIGNMENT, ALIGNMENT * 2);
  for (int i = 0; i < 32; ++i) forged->data[i] = (float)i;
  memcpy(forged->descriptor, descriptor, (size_t)size);
  forged->buffer.data = forged->data;
  forged->buffer.byte_size = 16;
  forged->list.magic = HURRAY_LIST_MAGIC;
  forged->list.struct_size = sizeof(HurrayBufferList);
  forged->list.abi_version = HURRAY_ABI_VERSION;
  forged->list.buffer_size = sizeof(HurrayBuffer);
  forged->list.buffer_count = 1;
  forged->list.buffers = &forged->buffer;
  forged->context.magic = HURRAY_CONTEXT_MAGIC;
  forged->context.struct_size = sizeof(HurrayTensorContext);
  forged->context.abi_version = HURRAY_ABI_VERSION;
  forged->context.descriptor = forged->descriptor;
  forged->context.descriptor_size = (uint64_t)size;
  forged->context.owner = forged;
  forged->context.release = release_forged;
  const char* name = HURRAY_CAPSULE_NAME;
  int with_context = 1;
  if (strcmp(fault, "abi") == 0) forged->context.abi_version = HURRAY_ABI_VERSION + 1;
  if (strcmp(fault, "list-abi") == 0) forged->list.abi_version = HURRAY_ABI_VERSION - 1;
  if (strcmp(fault, "magic") == 0) forged->context.magic ^= 1;
  if (strcmp(fault, "list-magic") == 0) forged->list.magic ^= 1;
  if (strcmp(fault, "struct-size") == 0) forged->context.struct_size = 8;
  if (strcmp(fault, "buffer-step") == 0) forged->list.buffer_size = 4;
  if (strcmp(fault, "no-buffers") == 0) forged->list.buffers = NULL;
  if (strcmp(fault, "no-descriptor") == 0) forged->context.descriptor = NULL;
  if (strcmp(fault, "count") == 0) forged->list.buffer_count = 0;
  if (strcmp(fault, "small") == 0) forged->buffer.byte_size = 15;
  if (strcmp(fault, "null-data") == 0) forged->buffer.data = NULL;
  if (strcmp(fault, "unaligned") == 0) forged->buffer.data = (char*)forged->data + 16;
  if (strcmp(fault, "read-only") == 0) forged->buffer.flags = HURRAY_BUFFER_READ_ONLY;
  if (strcmp(fault, "short-descriptor") == 0) forged->context.descriptor_size -= 1;
  if (strcmp(fault, "long-descriptor") == 0) forged->context.descriptor_size = UINT64_MAX;
  if (strcmp(fault, "name") == 0) name = "hurray_tensors";
  if (strcmp(fault, "used") == 0) name = HURRAY_USED_CAPSULE_NAME;
  if (strcmp(fault, "no-context") == 0) with_context = 0;
  PyObject* capsule = PyCapsule_New(&forged->list, name, destroy_forged);
  if (capsule != NULL && with_context) PyCapsule_SetContext(capsule, &forged->context);
  return capsule;
}

static PyMethodDef methods[] = {
    {"sum", consumer_sum, METH_O, NULL},
    {"take", consumer_take, METH_O, NULL},
    {"check", consumer_check, METH_O, NULL},
    {"borrow_with_size", consumer_borrow_with_size, METH_VARARGS, NULL},
    {"make", consumer_make, METH_O, NULL},
    {"make_from", consumer_make_from, METH_VARARGS, NULL},
    {"released", consumer_released, METH_NOARGS, NULL},
    {"forge", consumer_forge, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "consumer", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_consumer(void) { return PyModule_Create(&definition); }
