#include <array>
#include <charconv>

#include "python/schemes/scheme_class.h"

namespace hurray {

namespace {

// The shortest text that reads as this float32 again, written as Python writes a float.
std::string FloatText(float value) {
  std::array<char, 64> digits;
  // Scientific: the other forms may spend more digits on a large number.
  auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                    std::chars_format::scientific);
  static_cast<void>(error);  // 64 characters hold every float
  Ref text = ToPython(std::string_view(digits.data(), static_cast<size_t>(end - digits.data())));
  Ref number = Ref::Steal(PyFloat_FromString(text.get()));
  Ref shown = Ref::Steal(PyObject_Repr(number.get()));
  return std::string(ToText(shown.get(), "scale"));
}

struct PerTensorAffineClass : SchemeClass<PerTensorAffine> {
  static constexpr char kName[] = "hurray.PerTensorAffine";
  static constexpr char kDoc[] = R"(PerTensorAffine(scale, zero_point)
--

One scale and zero point for the whole tensor: value = (q - zero_point) * scale.

Parameters
----------
scale : float
    Kept as a float32.
zero_point : int
    A 32-bit integer.

Raises
------
InvalidDescriptorError
    If `scale` is 0, NaN or infinite as a float32.
OverflowError
    If `zero_point` needs more than 32 bits.

Notes
-----
Format: section 7, scheme 1. Compares by value; not hashable.

Examples
--------
>>> scheme = hurray.PerTensorAffine(0.5, 3)
>>> scheme
PerTensorAffine(scale=0.5, zero_point=3)
>>> hurray.Tensor(bytes(4), hurray.int8, [4], quantization=scheme).quantization == scheme
True
)";
  static constexpr std::array<Parameter<Kind>, 2> kParameters{{
      {"scale",
       [](const ModuleState&, const Kind& kind) {
         return Ref::Steal(PyFloat_FromDouble(double{kind.scale}));
       },
       "float: the scale, a float32."},
      {"zero_point", kField<&Kind::zero_point>, "int: the stored number that stands for 0."},
  }};
  static constexpr auto kNew = Signature("PerTensorAffine", {"scale", "zero_point"});
  static Kind Make(const ModuleState&, const std::array<PyObject*, 2>& arguments) {
    auto [scale, zero_point] = arguments;
    return {static_cast<float>(ToDouble(scale, "scale")),
            ToInteger<int32_t>(zero_point, "zero_point")};
  }
  static std::string Text(const ModuleState&, const Kind& kind) {
    return CallText("PerTensorAffine")
        .Add("scale", FloatText(kind.scale))
        .Add("zero_point", StrCat(kind.zero_point))
        .Done();
  }
};

}  // namespace

Ref AddSchemeClass(std::type_identity<PerTensorAffine>, PyObject* module) {
  return AddScheme<PerTensorAffineClass>(module, PyObject_HashNotImplemented);
}

}  // namespace hurray
