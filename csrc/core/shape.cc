#include "core/shape.h"

#include "core/str_cat.h"

namespace hurray {

std::string ShapeText(ShapeView shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) out += ", ";
    out += shape[i] == kDynamicExtent ? "None" : StrCat(shape[i]);
  }
  return out += "]";
}

}  // namespace hurray
