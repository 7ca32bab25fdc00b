// The typed metadata of files as Python values.
#pragma once

#include <Python.h>

#include "core/metadata.h"
#include "python/ref.h"

namespace hurray {

// From the `kv` argument: null and None are no entries. TypeError for what is no dict with str
// keys, OverflowError for integers beyond 64 bits, kFile for values that a file cannot hold.
Metadata ToMetadata(PyObject* dict);

Ref MetadataToDict(const Metadata& metadata);

}  // namespace hurray
