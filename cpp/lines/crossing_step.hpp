// The step where two lines cross, correctly rounded.
//
// A quotient in double-double arithmetic nearly always suffices. It takes constant time and no
// branches. If rounding is in doubt, the crossing is compared exactly with the midpoints of
// neighboring float64 numbers (crossings.hpp explains why this is necessary).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "lines/steps.hpp"

namespace rocpath {

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

// The quotient to within a few units in the last place, without intermediate overflow.
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

// Round the crossing to nearest, ties to even, by exact comparisons with midpoints.
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

// The step where two lines meet, correctly rounded unless it is in doubt. It is computed without
// branches, so that the compiler can vectorize loops over it.
struct QuickStep {
  double step;
  bool is_in_doubt;
};

inline QuickStep quick_crossing_step(const Line& a, const Line& b) {
  const DoubleDouble rise = two_sum(b.intercept, -a.intercept);
  const DoubleDouble closing = two_sum(a.slope, -b.slope);
  const double reciprocal = 1.0 / closing.high;
  const double quotient = rise.high * reciprocal;
  const double remainder =
      std::fma(-quotient, closing.high, rise.high) + (rise.low - quotient * closing.low);
  const double correction = remainder * reciprocal;
  // `quotient` is accurate to 2 units in the last place, so |remainder| < 2^-50 |rise|, and each of
  // the seven rounding errors from the remainder on is below 2^-102 |quotient|: `margin` covers
  // them all.
  const double margin = std::fabs(quotient) * 0x1p-98;
  const double step = quotient + (correction + margin);
  // Outside this range the error terms could underflow or overflow.
  constexpr double smallest = 0x1p-450;
  constexpr double largest = 0x1p450;
  const auto is_moderate = [](double x) {
    return (std::fabs(x) > smallest) & (std::fabs(x) < largest);
  };
  const bool is_certain = (step == quotient + (correction - margin)) & is_moderate(rise.high) &
                          is_moderate(closing.high);
  return {step, !is_certain};
}

// The float64 nearest to the step where two lines meet; infinite where it would overflow.
// Requires: a.slope != b.slope, all four numbers finite.
inline double crossing_step(const Line& a, const Line& b) {
  const QuickStep quick = quick_crossing_step(a, b);
  if (!quick.is_in_doubt) return quick.step;
  return a.intercept == b.intercept ? 0.0 : detail::crossing_step_exactly(a, b);
}

}  // namespace rocpath
