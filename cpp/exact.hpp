// Decisions about real numbers that must not depend on rounding.
//
// Everything here is exact for all finite doubles, including denormals and magnitudes whose
// products overflow. The searches ask only two kinds of question, and both are answered here:
// *when* do two lines cross (`crossing_step`), and *which sign* has a sum of products (`ExactSum`).
//
// What "equal" means. Two crossings are the same step when the float64 numbers nearest to them are
// the same. `crossing_step` returns that number, correctly rounded, so it depends on the crossing
// alone and not on the pair of lines it was computed from; it never decreases when the crossing
// moves right; and scaling the lines scales it. Hence a pair of lines crosses exactly once, lines
// through one point cross in one row, and there is no tolerance to tune. Crossings that a float64
// cannot tell apart (closer than half a unit in the last place) share a row as well: no float64
// step lies between them, so nobody can step there. Only zero is left alone: a crossing after step
// 0 that underflows is put at the smallest float64 after 0, for "after the start" must stay true.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace rocpath {

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

// An unevaluated sum high + low with |low| <= ulp(high) / 2: about 106 bits.
struct DoubleDouble {
  double high = 0.0;
  double low = 0.0;

  double value() const { return high + low; }
};

inline DoubleDouble two_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

inline DoubleDouble two_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble high = two_sum(a.high, b.high);
  const DoubleDouble low = two_sum(a.low, b.low);
  const DoubleDouble sum = two_sum(high.high, high.low + low.high);
  return two_sum(sum.high, sum.low + low.low);
}

inline DoubleDouble operator-(DoubleDouble a) { return {-a.high, -a.low}; }
inline DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + (-b); }

inline DoubleDouble operator*(DoubleDouble a, double b) {
  const DoubleDouble product = two_product(a.high, b);
  return two_sum(product.high, std::fma(a.low, b, product.low));
}

inline DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble product = two_product(a.high, b.high);
  return two_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

// Requires: |n| < 2^63 - 512, so that rounding stays within the integers.
inline DoubleDouble from_integer(std::int64_t n) {
  const double high = static_cast<double>(n);
  return {high, static_cast<double>(n - static_cast<std::int64_t>(high))};
}

// The exact value of a sum of products of two doubles, as one long fixed-point number.
class ExactSum {
 public:
  void add_product(double a, double b) {
    if (a == 0.0 || b == 0.0) return;
    int a_exponent = 0;
    int b_exponent = 0;
    const std::int64_t a_digits = whole_digits(a, a_exponent);
    const std::int64_t b_digits = whole_digits(b, b_exponent);
    const bool is_negative = (a_digits < 0) != (b_digits < 0);
    const uint128 product = static_cast<uint128>(a_digits < 0 ? -a_digits : a_digits) *
                            static_cast<uint128>(b_digits < 0 ? -b_digits : b_digits);
    const int position = a_exponent + b_exponent + lowest_exponent;
    add_word(static_cast<std::uint64_t>(product), position, is_negative);
    add_word(static_cast<std::uint64_t>(product >> 64), position + 64, is_negative);
  }

  // n * a for an integer n that need not fit a double.
  void add_multiple(std::int64_t n, double a) {
    const DoubleDouble parts = from_integer(n);
    add_product(parts.high, a);
    add_product(parts.low, a);
  }

  // -1, 0 or 1.
  int sign() {
    carry();
    for (std::size_t k = digit.size(); k-- > 0;)
      if (digit[k] != 0) return digit[k] < 0 ? -1 : 1;
    return 0;
  }

 private:
  // A double is digits * 2^exponent with |digits| < 2^53 and exponent >= -1126; products start at
  // twice that, and 4,416 bits reach beyond the largest product with room for 2^31 additions.
  static constexpr int lowest_exponent = 2252;
  static constexpr int digit_bits = 32;
  std::array<std::int64_t, 138> digit{};

  static std::int64_t whole_digits(double a, int& exponent) {
    const double fraction = std::frexp(a, &exponent);
    exponent -= 53;
    return static_cast<std::int64_t>(std::ldexp(fraction, 53));
  }

  void add_word(std::uint64_t word, int position, bool is_negative) {
    uint128 shifted = static_cast<uint128>(word) << (position % digit_bits);
    for (std::size_t k = static_cast<std::size_t>(position / digit_bits); shifted != 0; ++k) {
      const auto part = static_cast<std::int64_t>(static_cast<std::uint32_t>(shifted));
      digit[k] += is_negative ? -part : part;
      shifted >>= digit_bits;
    }
  }

  // Bring every digit but the highest into [0, 2^32).
  void carry() {
    for (std::size_t k = 0; k + 1 < digit.size(); ++k) {
      const std::int64_t over = digit[k] >> digit_bits;
      digit[k] -= over * (std::int64_t{1} << digit_bits);
      digit[k + 1] += over;
    }
  }
};

// One threshold as a function of the step: T(s) = intercept + s * slope.
struct Line {
  double intercept;
  double slope;

  double at(double step) const { return std::fma(step, slope, intercept); }
};

namespace detail {

// Sign of (crossing of the two lines) - (lower + upper) / 2.
inline int compare_with_midpoint(Line a, Line b, double lower, double upper) {
  ExactSum numerator_minus_midpoint;
  numerator_minus_midpoint.add_product(2.0, b.intercept);
  numerator_minus_midpoint.add_product(-2.0, a.intercept);
  for (const double step : {lower, upper}) {
    numerator_minus_midpoint.add_product(-step, a.slope);
    numerator_minus_midpoint.add_product(step, b.slope);
  }
  const int sign = numerator_minus_midpoint.sign();
  return a.slope > b.slope ? sign : -sign;
}

// The quotient to a few units in the last place, without overflow on the way.
inline double scaled_quotient(Line a, Line b) {
  int intercept_exponent = 0;
  int slope_exponent = 0;
  std::frexp(std::fmax(std::fabs(a.intercept), std::fabs(b.intercept)), &intercept_exponent);
  std::frexp(std::fmax(std::fabs(a.slope), std::fabs(b.slope)), &slope_exponent);
  const double rise =
      std::ldexp(b.intercept, -intercept_exponent) - std::ldexp(a.intercept, -intercept_exponent);
  const double closing =
      std::ldexp(a.slope, -slope_exponent) - std::ldexp(b.slope, -slope_exponent);
  return std::ldexp(rise / closing, intercept_exponent - slope_exponent);
}

inline bool is_even(double a) { return (std::bit_cast<std::uint64_t>(a) & 1U) == 0; }

// Round the crossing to nearest, ties to even, from exact comparisons with midpoints.
inline double crossing_step_exactly(Line a, Line b) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double step = scaled_quotient(a, b);
  while (std::isfinite(step)) {
    const double above = std::nextafter(step, infinity);
    const double below = std::nextafter(step, -infinity);
    if (std::isinf(above) || std::isinf(below)) break;
    const int against_above = compare_with_midpoint(a, b, step, above);
    const int against_below = compare_with_midpoint(a, b, below, step);
    if (against_above > 0 || (against_above == 0 && !is_even(step))) {
      step = above;
    } else if (against_below < 0 || (against_below == 0 && !is_even(step))) {
      step = below;
    } else {
      break;
    }
  }
  if (step != 0.0) return step;
  constexpr double tiny = std::numeric_limits<double>::denorm_min();
  return (b.intercept > a.intercept) == (a.slope > b.slope) ? tiny : -tiny;
}

}  // namespace detail

// The float64 nearest to the step where two lines meet; infinite where it would overflow.
// Requires: a.slope != b.slope, all four numbers finite.
inline double crossing_step(Line a, Line b) {
  const DoubleDouble rise = two_sum(b.intercept, -a.intercept);
  if (rise.high == 0.0) return 0.0;
  const DoubleDouble closing = two_sum(a.slope, -b.slope);
  const double reciprocal = 1.0 / closing.high;
  const double quotient = rise.high * reciprocal;

  // Outside this range the error terms below could underflow or overflow.
  constexpr double smallest = 0x1p-450;
  constexpr double largest = 0x1p450;
  const auto is_moderate = [](double x) {
    return std::fabs(x) > smallest && std::fabs(x) < largest;
  };
  if (is_moderate(rise.high) && is_moderate(closing.high)) {
    const double remainder =
        std::fma(-quotient, closing.high, rise.high) + (rise.low - quotient * closing.low);
    const double correction = remainder * reciprocal;
    // quotient is within 2 units of the last place, so |remainder| < 2^-50 |rise|, and each of the
    // seven roundings from the remainder on is below 2^-102 |quotient|: margin covers them all.
    const double margin = std::fabs(quotient) * 0x1p-98;
    const double step = quotient + (correction + margin);
    if (step == quotient + (correction - margin)) return step;
  }
  return detail::crossing_step_exactly(a, b);
}

}  // namespace rocpath
