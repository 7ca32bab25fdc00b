// Private copies of a tensor's elements, in the form that somebody else needs.
#pragma once

#include <Python.h>

#include <span>

#include "python/ref.h"
#include "python/tensor.h"
#include "storage/buffer.h"

namespace hurray {

// New memory with the same bytes; without the GIL if there are many.
Buffer CopyBytes(std::span<const uint8_t> bytes, size_t alignment = 64);

// The boundary to copy a buffer to: what its handle declares, at most what can be had.
size_t ReachableAlignment(const BufferHandle& handle) noexcept;

// A copy of every buffer of a tensor, on the boundaries that its descriptor declares.
TensorBuffers CopyBuffers(const TensorObject& tensor);

// A tensor with a private copy of buffer 0, of the same layout and without sections.
Ref CopyForExport(PyObject* tensor);

// A row-major tensor with the same elements, in new memory.
// REQUIRES: a type of whole bytes, a layout with strides, a static shape. Throws std::bad_alloc
// where strides of 0 make more bytes of few than there can be.
Ref RowMajorCopy(PyObject* tensor);

// Packed bools in row-major order, a byte each.
// REQUIRES: dtype bool, a layout with strides, a static shape, room for so many at `out`.
void UnpackBoolsTo(TensorObject& tensor, uint8_t* out);

}  // namespace hurray
