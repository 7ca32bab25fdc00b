#include "core/fill.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/error.h"
#include "core/small_float.h"
#include "core/str_cat.h"

namespace hurray {

namespace {

// The 16-bit floats as they are stored.
struct Float16 {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};

template <typename Number>
[[noreturn]] void ThrowDoesNotFit(ElementType type, Number value) {
  throw Error(ErrorCode::kOverflow, StrCat("value ", value, " does not fit in ", type.name()));
}

// Calls `visit(T{})` with the C++ type that an element is stored as. REQUIRES: not bool.
template <typename Visit>
decltype(auto) WithStoredType(ElementType type, Visit&& visit) {
  switch (type.tag()) {
    case ElementTypes::kFloat16.tag():
      return visit(Float16{});
    case ElementTypes::kBfloat16.tag():
      return visit(Bfloat16{});
    case ElementTypes::kFloat32.tag():
      return visit(float{});
    case ElementTypes::kFloat64.tag():
      return visit(double{});
    case ElementTypes::kInt8.tag():
      return visit(int8_t{});
    case ElementTypes::kUint8.tag():
      return visit(uint8_t{});
    case ElementTypes::kInt16.tag():
      return visit(int16_t{});
    case ElementTypes::kUint16.tag():
      return visit(uint16_t{});
    case ElementTypes::kInt32.tag():
      return visit(int32_t{});
    case ElementTypes::kUint32.tag():
      return visit(uint32_t{});
    case ElementTypes::kInt64.tag():
      return visit(int64_t{});
    case ElementTypes::kUint64.tag():
      return visit(uint64_t{});
    case ElementTypes::kComplex64.tag():
      return visit(std::complex<float>{});
    default:
      return visit(std::complex<double>{});
  }
}

template <typename T>
constexpr bool kIsComplex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

// ---- one value as T

template <typename T>
T FromReal(ElementType type, double value) {
  if constexpr (std::is_same_v<T, Float16>) {
    return {Float16FromDouble(value)};
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return {Bfloat16FromDouble(value)};
  } else if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    double whole = std::trunc(value);
    // Both bounds are exact; NaN fulfils no comparison.
    constexpr auto kLowest = static_cast<double>(Limits::min());
    constexpr auto kBeyond = static_cast<double>(Limits::max() / 2 + 1) * 2;
    if (!(whole >= kLowest && whole < kBeyond)) ThrowDoesNotFit(type, value);
    return static_cast<T>(whole);
  } else if constexpr (kIsComplex<T>) {
    return {FromReal<typename T::value_type>(type, value), 0};
  } else {
    return static_cast<T>(value);
  }
}

// Integer is int64_t or uint64_t.
template <typename T, typename Integer>
T FromInteger(ElementType type, Integer value) {
  if constexpr (std::is_integral_v<T>) {
    if (!std::in_range<T>(value)) ThrowDoesNotFit(type, value);
    return static_cast<T>(value);
  } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>) {
    // uint64 values, which are none that 16 bits tell from their neighbours, lose their last bit
    // into the one before it.
    if constexpr (std::is_same_v<Integer, uint64_t>) {
      if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        return FromReal<T>(type, 2 * RoundToOdd(static_cast<int64_t>(value / 2 | (value & 1))));
      }
    }
    return FromReal<T>(type, RoundToOdd(static_cast<int64_t>(value)));
  } else if constexpr (kIsComplex<T>) {
    return {static_cast<typename T::value_type>(value), 0};
  } else {
    return static_cast<T>(value);
  }
}

template <typename T>
Element ToElement(const T& value) noexcept {
  Element element;
  element.size = sizeof(T);
  static_assert(sizeof(T) <= sizeof(element.bytes));
  std::memcpy(element.bytes.data(), &value, sizeof(T));
  return element;
}

template <typename Integer>
Element FromAnyInteger(ElementType type, Integer value) {
  if (type == ElementTypes::kBool) return ToElement<uint8_t>(value != 0);
  return WithStoredType(
      type, [&](auto stored) { return ToElement(FromInteger<decltype(stored)>(type, value)); });
}

// ---- many values

// Stores value_at(i), a T, as element i.
template <typename T, typename ValueAt>
void Store(std::span<uint8_t> out, uint64_t count, ValueAt&& value_at) {
  for (uint64_t i = 0; i < count; ++i) {
    T value = value_at(i);
    std::memcpy(out.data() + i * sizeof(T), &value, sizeof(T));
  }
}

void FillBools(std::span<uint8_t> out, bool value, uint64_t count) noexcept {
  std::memset(out.data(), value ? 0xFF : 0, out.size());
  if (value && count % 8 != 0) out.back() = static_cast<uint8_t>((1u << count % 8) - 1);
}

// The values of linspace, in whichever way neither overflows nor loses a tiny step.
class Interval {
 public:
  Interval(double start, double stop, uint64_t count, bool endpoint) noexcept
      : start_(start),
        base_(start),
        stop_(stop),
        intervals_(static_cast<double>(endpoint ? count - 1 : count)),
        last_(endpoint && count > 1 ? count - 1 : std::numeric_limits<uint64_t>::max()) {
    double distance = stop - start;
    if (std::isinf(distance) && std::isfinite(start) && std::isfinite(stop)) {
      scale_ = 2;
      base_ = start / 2;
      distance = stop / 2 - base_;
    }
    step_ = distance / intervals_;
    // A step this small has lost bits, or all of them.
    if (std::fabs(step_) < std::numeric_limits<double>::min()) distance_ = distance;
  }

  double operator()(uint64_t i) const noexcept {
    if (i == 0) return start_;
    if (i == last_) return stop_;
    auto position = static_cast<double>(i);
    if (distance_ != 0) return start_ + position / intervals_ * distance_;
    return (base_ + position * step_) * scale_;
  }

 private:
  double start_, base_, stop_, intervals_;
  uint64_t last_;
  double step_ = 0;
  double scale_ = 1;     // 2 where the distance itself is beyond a double
  double distance_ = 0;  // set where the step cannot be used
};

}  // namespace

bool HasArithmetic(ElementType type) noexcept {
  return type.info().tier == 1 || type == ElementTypes::kComplex64 ||
         type == ElementTypes::kComplex128;
}

Element ElementFromInteger(ElementType type, int64_t value) { return FromAnyInteger(type, value); }
Element ElementFromInteger(ElementType type, uint64_t value) { return FromAnyInteger(type, value); }

Element ElementFromReal(ElementType type, double value) {
  return WithStoredType(
      type, [&](auto stored) { return ToElement(FromReal<decltype(stored)>(type, value)); });
}

Element ElementFromComplex(ElementType type, std::complex<double> value) {
  if (type == ElementTypes::kComplex64) return ToElement(std::complex<float>(value));
  return ToElement(value);
}

void FillElements(std::span<uint8_t> out, ElementType type, const Element& element,
                  uint64_t count) noexcept {
  if (out.empty()) return;
  if (type == ElementTypes::kBool) return FillBools(out, !element.is_zero(), count);
  const uint8_t* bytes = element.bytes.data();
  if (std::all_of(bytes, bytes + element.size, [&](uint8_t byte) { return byte == bytes[0]; })) {
    std::memset(out.data(), bytes[0], out.size());
    return;
  }
  // A block that stays in the cache, then copies of it.
  constexpr size_t kBlock = 4096;  // a multiple of every size
  size_t block = std::min(kBlock, out.size());
  for (size_t i = 0; i < block; i += element.size) {
    std::memcpy(out.data() + i, bytes, element.size);
  }
  for (size_t done = block; done < out.size(); done += block) {
    std::memcpy(out.data() + done, out.data(), std::min(block, out.size() - done));
  }
}

void FillIntegers(std::span<uint8_t> out, ElementType type, uint64_t start, uint64_t step,
                  uint64_t count) {
  if (count == 0) return;
  WithStoredType(type, [&](auto stored) {
    using T = decltype(stored);
    using Value = std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>;
    auto value_at = [&](uint64_t i) { return static_cast<Value>(start + i * step); };
    if constexpr (std::is_integral_v<T>) {
      // What lies between the first and the last fits where they do.
      FromInteger<T>(type, value_at(0));
      FromInteger<T>(type, value_at(count - 1));
      Store<T>(out, count, [&](uint64_t i) { return static_cast<T>(value_at(i)); });
    } else {
      Store<T>(out, count, [&](uint64_t i) { return FromInteger<T>(type, value_at(i)); });
    }
  });
}

void FillReals(std::span<uint8_t> out, ElementType type, double start, double step,
               uint64_t count) {
  WithStoredType(type, [&](auto stored) {
    using T = decltype(stored);
    Store<T>(out, count,
             [&](uint64_t i) { return FromReal<T>(type, start + static_cast<double>(i) * step); });
  });
}

void FillInterval(std::span<uint8_t> out, ElementType type, double start, double stop,
                  uint64_t count, bool endpoint) {
  Interval value_at(start, stop, count, endpoint);
  WithStoredType(type, [&](auto stored) {
    using T = decltype(stored);
    Store<T>(out, count, [&](uint64_t i) { return FromReal<T>(type, value_at(i)); });
  });
}

void FillDiagonal(std::span<uint8_t> out, ElementType type, uint64_t rows, uint64_t columns,
                  int64_t k) noexcept {
  uint64_t distance = k < 0 ? 0 - static_cast<uint64_t>(k) : static_cast<uint64_t>(k);
  uint64_t row = k < 0 ? distance : 0;
  uint64_t column = k < 0 ? 0 : distance;
  if (row >= rows || column >= columns) return;
  uint64_t length = std::min(rows - row, columns - column);
  uint64_t position = row * columns + column;
  Element one = ElementFromInteger(type, int64_t{1});
  for (uint64_t i = 0; i < length; ++i, position += columns + 1) {
    if (type == ElementTypes::kBool) {
      out[position / 8] = static_cast<uint8_t>(out[position / 8] | 1u << position % 8);
    } else {
      std::memcpy(out.data() + position * one.size, one.bytes.data(), one.size);
    }
  }
}

}  // namespace hurray
