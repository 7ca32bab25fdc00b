/* The least that the cases of the benchmarks can cost, in plain C. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#include <fcntl.h>
#include <numpy/arrayobject.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* An object that keeps an array and knows where its data are. */
typedef struct {
  PyObject_HEAD
  PyObject* array;
  void* data;
  int ndim;
  npy_intp shape[8];
} Holder;

enum { kFreeHolders = 16 };
static Holder* free_holders[kFreeHolders];
static int free_holder_count = 0;
static PyTypeObject HolderType;

/* wrap(array): C1. One call with one argument, one object from a free list. */
static PyObject* wrap(PyObject* module, PyObject* array) {
  (void)module;
  if (!PyArray_CheckExact(array) || PyArray_NDIM((PyArrayObject*)array) > 8) {
    PyErr_SetString(PyExc_TypeError, "an ndarray of at most 8 dimensions");
    return NULL;
  }
  Holder* self;
  if (free_holder_count > 0) {
    self = free_holders[--free_holder_count];
    (void)PyObject_Init((PyObject*)self, &HolderType);
  } else {
    self = PyObject_New(Holder, &HolderType);
    if (self == NULL) return NULL;
  }
  self->array = Py_NewRef(array);
  self->data = PyArray_DATA((PyArrayObject*)array);
  self->ndim = PyArray_NDIM((PyArrayObject*)array);
  for (int d = 0; d < self->ndim; ++d) self->shape[d] = PyArray_DIM((PyArrayObject*)array, d);
  return (PyObject*)self;
}

static PyObject* Holder_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  (void)type;
  (void)kwargs;
  PyObject* array;
  if (!PyArg_ParseTuple(args, "O", &array)) return NULL;
  return wrap(NULL, array);
}

static void Holder_dealloc(PyObject* object) {
  Holder* self = (Holder*)object;
  Py_DECREF(self->array);
  if (free_holder_count < kFreeHolders) {
    free_holders[free_holder_count++] = self;
  } else {
    PyObject_Free(self);
  }
}

/* __array__: C2. A view of float32, found by NumPy's own protocol. */
static PyObject* Holder_array(PyObject* object, PyObject* const* args, Py_ssize_t count,
                              PyObject* names) {
  (void)args;
  (void)count;
  (void)names;
  Holder* self = (Holder*)object;
  PyObject* view = PyArray_New(&PyArray_Type, self->ndim, self->shape, NPY_FLOAT32, NULL,
                               self->data, 0, NPY_ARRAY_CARRAY, NULL);
  if (view == NULL) return NULL;
  Py_INCREF(object);
  if (PyArray_SetBaseObject((PyArrayObject*)view, object) < 0) {
    Py_DECREF(view);
    return NULL;
  }
  return view;
}

/* __dlpack__: C3. A managed tensor in one allocation, and a capsule that deletes it. */
static void delete_export(PyObject* capsule) {
  void* export = PyCapsule_GetPointer(capsule, "dltensor_versioned");
  Py_DECREF(*(PyObject**)export);
  free(export);
}

static PyObject* Holder_dlpack(PyObject* object, PyObject* const* args, Py_ssize_t count,
                               PyObject* names) {
  (void)args;
  (void)count;
  (void)names;
  enum { kManagedTensorBytes = 80 };
  Holder* self = (Holder*)object;
  size_t shape_bytes = (size_t)self->ndim * sizeof(int64_t);
  char* export = malloc(kManagedTensorBytes + 2 * shape_bytes);
  if (export == NULL) return PyErr_NoMemory();
  memset(export, 0, kManagedTensorBytes);
  memcpy(export, &object, sizeof object);
  memcpy(export + kManagedTensorBytes, self->shape, shape_bytes);
  memcpy(export + kManagedTensorBytes + shape_bytes, self->shape, shape_bytes);
  PyObject* capsule = PyCapsule_New(export, "dltensor_versioned", delete_export);
  if (capsule == NULL) {
    free(export);
    return NULL;
  }
  Py_INCREF(object);
  return capsule;
}

static PyMethodDef holder_methods[] = {
    {"__dlpack__", (PyCFunction)(void*)Holder_dlpack, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"__array__", (PyCFunction)(void*)Holder_array, METH_FASTCALL | METH_KEYWORDS, NULL},
    {0},
};

static PyTypeObject HolderType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "hurray_probes.Holder",
    .tp_basicsize = sizeof(Holder),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = Holder_new,
    .tp_dealloc = Holder_dealloc,
    .tp_methods = holder_methods,
};

static uint64_t read_u64(const uint8_t* bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

/* open_all(path, array): D1, D6. Maps a file of tensors, walks its index, looks at every
   descriptor, and makes a dict of names to objects. Trusts the file. */
static PyObject* open_all(PyObject* module, PyObject* const* args, Py_ssize_t count) {
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "open_all(path, array)");
    return NULL;
  }
  const char* path = PyUnicode_AsUTF8(args[0]);
  if (path == NULL) return NULL;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) return PyErr_SetFromErrno(PyExc_OSError);
  size_t size = (size_t)status.st_size;
  uint8_t trailer[40];
  if (pread(file, trailer, sizeof trailer, (off_t)(size - sizeof trailer)) != sizeof trailer) {
    close(file);
    return PyErr_SetFromErrno(PyExc_OSError);
  }
  const uint8_t* data =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
  close(file);
  if (data == MAP_FAILED) return PyErr_SetFromErrno(PyExc_OSError);

  const uint8_t* entry = data + read_u64(trailer);
  uint64_t left = read_u64(entry);
  entry += 8;
  PyObject* dict = PyDict_New();
  uint64_t lengths = 0;
  for (; dict != NULL && left > 0; --left) {
    size_t name_size = (size_t)(entry[0] | entry[1] << 8);
    PyObject* name = PyUnicode_DecodeUTF8((const char*)entry + 2, (Py_ssize_t)name_size, NULL);
    entry += 2 + name_size;
    lengths += data[read_u64(entry) + 6];
    PyObject* object = wrap(module, args[1]);
    if (name == NULL || object == NULL || PyDict_SetItem(dict, name, object) < 0) {
      Py_CLEAR(dict);
    }
    Py_XDECREF(name);
    Py_XDECREF(object);
    entry += 32;
  }
  munmap((void*)data, size);
  if (dict != NULL && lengths == 0) Py_CLEAR(dict);
  return dict;
}

static void* plain_malloc(void* context, size_t size) {
  (void)context;
  return malloc(size);
}
static void* plain_calloc(void* context, size_t count, size_t size) {
  (void)context;
  return calloc(count, size);
}
static void* plain_realloc(void* context, void* block, size_t size) {
  (void)context;
  return realloc(block, size);
}
static void plain_free(void* context, void* block, size_t size) {
  (void)context;
  (void)size;
  free(block);
}
static PyDataMem_Handler plain_handler = {
    "plain", 1, {NULL, plain_malloc, plain_calloc, plain_realloc, plain_free}};

/* set_and_restore_handler(): A11. What a block cannot do without. */
static PyObject* set_and_restore_handler(PyObject* module, PyObject* none) {
  static PyObject* capsule = NULL;
  (void)module;
  (void)none;
  if (capsule == NULL) {
    capsule = PyCapsule_New(&plain_handler, "mem_handler", NULL);
    if (capsule == NULL) return NULL;
  }
  PyObject* before = PyDataMem_SetHandler(capsule);
  PyObject* inside = PyDataMem_SetHandler(before);
  Py_XDECREF(before);
  Py_XDECREF(inside);
  Py_RETURN_NONE;
}

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx512f"))) static void add_vectors(const float* a, const float* b, float* c,
                                                           size_t count) {
  for (size_t i = 0; i + 16 <= count; i += 16) {
    _mm512_storeu_ps(c + i, _mm512_add_ps(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i)));
  }
}

/* add_avx512(a, b, c): A10. A hundred times, so that the call does not count. */
static PyObject* add_avx512(PyObject* module, PyObject* const* args, Py_ssize_t count) {
  (void)module;
  if (!__builtin_cpu_supports("avx512f")) {
    PyErr_SetString(PyExc_NotImplementedError, "this processor has no AVX-512");
    return NULL;
  }
  if (count != 3) {
    PyErr_SetString(PyExc_TypeError, "add_avx512(a, b, c)");
    return NULL;
  }
  const float* a = PyArray_DATA((PyArrayObject*)args[0]);
  const float* b = PyArray_DATA((PyArrayObject*)args[1]);
  float* c = PyArray_DATA((PyArrayObject*)args[2]);
  size_t size = (size_t)PyArray_SIZE((PyArrayObject*)args[2]);
  for (int round = 0; round < 100; ++round) add_vectors(a, b, c, size);
  Py_RETURN_NONE;
}
#endif

static PyMethodDef methods[] = {
#if defined(__x86_64__)
    {"add_avx512", (PyCFunction)(void*)add_avx512, METH_FASTCALL, NULL},
#endif
    {"set_and_restore_handler", set_and_restore_handler, METH_NOARGS, NULL},
    {"wrap", wrap, METH_O, NULL},
    {"open_all", (PyCFunction)(void*)open_all, METH_FASTCALL, NULL},
    {0},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "hurray_probes", .m_size = -1,
                                    .m_methods = methods};

PyMODINIT_FUNC PyInit_hurray_probes(void) {
  import_array();
  if (PyType_Ready(&HolderType) < 0) return NULL;
  PyObject* self = PyModule_Create(&module);
  if (self == NULL || PyModule_AddObjectRef(self, "Holder", (PyObject*)&HolderType) < 0) {
    Py_XDECREF(self);
    return NULL;
  }
  return self;
}
