// Exact numbers for the checker, independent of those of the core.
//
// The doubles of an array are integers times a common power of two. If these fit, they are stored
// as 128-bit integers (`Narrow`), and products of two of them are compared in 256 bits; otherwise
// they are integers of any length (`Wide`). Only functions that are documented to round do so.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace fuzz {

__extension__ typedef __int128 Narrow;
__extension__ typedef unsigned __int128 Unsigned128;
using Wide = boost::multiprecision::cpp_int;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double tiny = std::numeric_limits<double>::denorm_min();

// A finite double as digits * 2^exponent, where the next larger absolute value has digits + 1.
struct Digits {
  std::int64_t digits;
  int exponent;
};

inline Digits digits_of(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const int field = static_cast<int>((bits >> 52) & 0x7ff);
  auto digits = static_cast<std::int64_t>(bits & 0xfffffffffffff);
  if (field != 0) digits += std::int64_t{1} << 52;
  return {x < 0.0 ? -digits : digits, std::max(field, 1) - 1075};
}

inline int bit_length(Unsigned128 x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  return static_cast<int>(high != 0 ? 64 + std::bit_width(high)
                                    : std::bit_width(static_cast<std::uint64_t>(x)));
}
inline Unsigned128 size_of(Narrow x) {
  return x < 0 ? -static_cast<Unsigned128>(x) : static_cast<Unsigned128>(x);
}
inline int bit_length(Narrow x) { return bit_length(size_of(x)); }
inline int bit_length(const Wide& x) {
  return x == 0 ? 0 : static_cast<int>(msb(boost::multiprecision::abs(x))) + 1;
}
inline int sign_of(Narrow x) { return (x > 0) - (x < 0); }
inline int sign_of(const Wide& x) { return x.sign(); }

namespace detail {

// Absolute value of a product of two 128-bit numbers.
struct Product {
  Unsigned128 high;
  Unsigned128 low;

  int bit_length() const {
    return high != 0 ? 128 + fuzz::bit_length(high) : fuzz::bit_length(low);
  }
  Product shifted(int by) const {
    if (by == 0) return *this;
    if (by >= 128) return {low << (by - 128), 0};
    return {(high << by) | (low >> (128 - by)), low << by};
  }
};

inline Product product(Unsigned128 a, Unsigned128 b) {
  const auto low_half = [](Unsigned128 x) { return static_cast<std::uint64_t>(x); };
  const Unsigned128 a_high = a >> 64, a_low = low_half(a), b_high = b >> 64, b_low = low_half(b);
  const Unsigned128 low = a_low * b_low;
  const Unsigned128 one = a_high * b_low + (low >> 64);
  const Unsigned128 other = a_low * b_high + low_half(one);
  return {a_high * b_high + (one >> 64) + (other >> 64), (other << 64) | low_half(low)};
}

template <class Compare>
int by_length(int x_length, int y_length, Compare compare) {
  return x_length != y_length ? (x_length < y_length ? -1 : 1) : compare();
}

inline int compare_sizes(const Product& x, int x_exponent, const Product& y, int y_exponent) {
  const int x_length = x.bit_length(), y_length = y.bit_length();
  return by_length(x_length + x_exponent, y_length + y_exponent, [&] {
    const Product a = x.shifted(std::max(0, y_length - x_length));
    const Product b = y.shifted(std::max(0, x_length - y_length));
    if (a.high != b.high) return a.high < b.high ? -1 : 1;
    return (a.low > b.low) - (a.low < b.low);
  });
}

}  // namespace detail

// Sign of a * b * 2^x_exponent - c * d * 2^y_exponent.
inline int compare_products(Narrow a, Narrow b, int x_exponent, Narrow c, Narrow d,
                            int y_exponent) {
  const int x_sign = sign_of(a) * sign_of(b), y_sign = sign_of(c) * sign_of(d);
  if (x_sign != y_sign) return x_sign < y_sign ? -1 : 1;
  if (x_sign == 0) return 0;
  const int order = detail::compare_sizes(detail::product(size_of(a), size_of(b)), x_exponent,
                                          detail::product(size_of(c), size_of(d)), y_exponent);
  return x_sign * order;
}

inline int compare_products(const Wide& a, const Wide& b, int x_exponent, const Wide& c,
                            const Wide& d, int y_exponent) {
  Wide x = a * b, y = c * d;
  if (x.sign() != y.sign()) return x.sign() < y.sign() ? -1 : 1;
  if (x.sign() == 0) return 0;
  const int x_length = bit_length(x), y_length = bit_length(y);
  return x.sign() * detail::by_length(x_length + x_exponent, y_length + y_exponent, [&] {
           (x_length < y_length ? x : y) <<= std::abs(x_length - y_length);
           return x.sign() * x.compare(y);
         });
}

// A number rounded to 64 binary digits, with a separate exponent so that nothing overflows.
struct Rounded {
  long double digits;
  int exponent;
};

inline Rounded rounded(Narrow x) { return {static_cast<long double>(x), 0}; }
inline Rounded rounded(const Wide& x) {
  const int excess = std::max(0, bit_length(x) - 64);
  const Wide top = boost::multiprecision::abs(x) >> excess;
  const auto digits = static_cast<long double>(static_cast<std::uint64_t>(top));
  return {x.sign() < 0 ? -digits : digits, excess};
}

// numerator / denominator * 2^exponent, with the float64 numbers around it.
template <class Int>
struct Fraction {
  Int numerator{};
  Int denominator{1};  // positive
  double below = 0.0;  // the largest float64 that is not above the number
  double nearest = 0.0;
  bool is_float = true;  // whether the number equals `below`

  double above() const { return std::nextafter(below, infinity); }

  int compare(const Fraction& other) const {
    if (below != other.below) return below < other.below ? -1 : 1;
    if (is_float && other.is_float) return 0;
    return compare_products(numerator, other.denominator, 0, other.numerator, denominator, 0);
  }

  void round(int exponent) {
    if (round_as_doubles(exponent)) return;
    const Rounded top = rounded(numerator), bottom = rounded(denominator);
    const long double quotient =
        std::ldexp(top.digits / bottom.digits, top.exponent - bottom.exponent + exponent);
    below = std::clamp(static_cast<double>(quotient), -largest, largest);
    while (std::isfinite(below) && compare_with(digits_of(below), exponent) < 0)
      below = std::nextafter(below, -infinity);
    while (std::isfinite(above()) && compare_with(digits_of(above()), exponent) >= 0)
      below = above();
    is_float = std::isfinite(below) && compare_with(digits_of(below), exponent) == 0;
    nearest = is_float ? below : nearest_of_two(exponent);
  }

 private:
  // Small numbers are divided as doubles: the quotient is the nearest float64, and the remainder
  // has the correct sign. This saves a twentieth of the total time.
  bool round_as_doubles(int exponent) {
    constexpr std::int64_t small = std::int64_t{1} << 53;
    if (numerator > small || numerator < -small || denominator > small || std::abs(exponent) > 900)
      return false;
    const auto top = static_cast<double>(numerator);
    const auto bottom = static_cast<double>(denominator);
    const double quotient = top / bottom;
    const double rest = std::fma(-quotient, bottom, top);
    is_float = rest == 0.0;
    nearest = std::ldexp(quotient, exponent);
    below = rest < 0.0 ? std::nextafter(nearest, -infinity) : nearest;
    return true;
  }

  int compare_with(Digits x, int exponent) const {
    return compare_products(numerator, Int(1), exponent, Int(x.digits), denominator, x.exponent);
  }

  // Ties are rounded to even, as in IEEE arithmetic.
  double nearest_of_two(int exponent) const {
    const bool is_negative = below < 0.0;
    const double inner = is_negative ? above() : below;
    const double outer = is_negative ? below : above();
    const Digits digits = digits_of(inner);
    const std::int64_t middle = 2 * digits.digits + (is_negative ? -1 : 1);
    const int order = compare_with({middle, digits.exponent - 1}, exponent);
    const bool is_outer =
        order == 0 ? digits.digits % 2 != 0 : (is_negative ? order < 0 : order > 0);
    return is_outer ? outer : inner;
  }
};

// The lowest bit and the bit above the highest one, over all numbers that are not zero.
struct BitRange {
  int low = std::numeric_limits<int>::max();
  int high = std::numeric_limits<int>::min();

  void add(std::span<const double> values) {
    for (const double x : values) {
      if (x == 0.0) continue;
      const Digits digits = digits_of(x);
      const auto size = static_cast<std::uint64_t>(std::abs(digits.digits));
      low = std::min(low, digits.exponent + std::countr_zero(size));
      high = std::max(high, digits.exponent + static_cast<int>(std::bit_width(size)));
    }
  }
  int exponent() const { return high < low ? 0 : low; }
  int width() const { return high < low ? 0 : high - low; }
};

// x / 2^exponent. Requires: the result is an integer.
template <class Int>
Int whole(double x, int exponent) {
  const Digits digits = digits_of(x);
  const int shift = digits.exponent - exponent;
  if (digits.digits == 0) return Int(0);
  if (shift < 0) return Int(digits.digits / (std::int64_t{1} << -shift));
  return Int(digits.digits) * (Int(1) << shift);
}

// numerator * 2^exponent / (divisor * denominator), in integers of any length.
struct ExactValue {
  Wide numerator;
  int exponent = 0;
  double divisor = 1.0;
  Wide denominator = 1;  // positive

  // Add x * 2^its_exponent / (divisor * denominator).
  void add(Wide x, int its_exponent) {
    if (its_exponent > exponent) x <<= its_exponent - exponent;
    if (its_exponent < exponent) numerator <<= exponent - its_exponent;
    exponent = std::min(exponent, its_exponent);
    numerator += x;
  }
  int sign() const { return numerator.sign(); }

  // Sign of got - value * (1 + relative) - absolute; `relative` is a power of two or zero.
  int compare(double got, double relative, double absolute) const {
    ExactValue difference{0, exponent, 1.0, 1};
    const auto add = [&](const Wide& factor, double x) {
      const Digits digits = digits_of(x);
      difference.add(factor * digits.digits, digits.exponent);
    };
    const Wide scale = denominator * whole<Wide>(divisor, 0);
    add(scale, got);
    add(-scale, absolute);
    difference.add(-numerator, exponent);
    if (relative != 0.0) {
      const Digits digits = digits_of(relative);
      difference.add(-numerator * digits.digits, exponent + digits.exponent);
    }
    return difference.sign();
  }
  // Whether the value is at most, or at least, a float64, with tolerance for its last digits and
  // for denormal units.
  bool is_at_most(double got) const {
    return compare(got, sign() < 0 ? 0x1p-50 : -0x1p-50, -16.0 * tiny) >= 0;
  }
  bool is_at_least(double got) const {
    return compare(got, sign() < 0 ? -0x1p-50 : 0x1p-50, 16.0 * tiny) <= 0;
  }
};

}  // namespace fuzz
