// Jumps as whole numbers of a unit.
//
// Sums of whole numbers never drift, do not depend on the order of addition, and are zero exactly
// where they should be.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "memory.hpp"

namespace rocpath {

struct WholeNumbers {
  Vector<std::int64_t> count;
  double unit = 1.0;
};

namespace detail {

// Largest power of two that divides `a` exactly, as an exponent.
inline int lowest_bit(double a) {
  int exponent = 0;
  const auto digits =
      static_cast<std::uint64_t>(std::ldexp(std::fabs(std::frexp(a, &exponent)), 53));
  return exponent - 53 + std::countr_zero(digits);
}

}  // namespace detail

// Write every jump as count * unit, with the sum of |count| below 2^62.
//
// The smallest jump is the unit where all others are exact multiples of it (class counts, rates
// 1/n, repeated weights). Otherwise the unit is a power of two: the finest that all jumps share,
// which loses nothing, or, for very many very uneven weights, 2^-61 of their sum. Requires: finite
// values.
inline WholeNumbers in_units(std::span<const double> jump) {
  double smallest = std::numeric_limits<double>::infinity();
  double total = 0.0;
  int lowest_bit = std::numeric_limits<int>::max();
  for (const double a : jump) {
    if (a == 0.0) continue;
    smallest = std::min(smallest, std::fabs(a));
    total += std::fabs(a);
  }
  WholeNumbers result{Vector<std::int64_t>(jump.size()), 1.0};
  if (total == 0.0) return result;

  const auto fill = [&](double unit) {
    result.unit = unit;
    for (std::size_t k = 0; k < jump.size(); ++k)
      result.count[k] = static_cast<std::int64_t>(std::nearbyint(jump[k] / unit));
  };
  const bool is_multiple =
      total / smallest < 0x1p52 &&
      std::all_of(
          jump.begin(), jump.end(),
          [&](double a) { return std::fma(std::nearbyint(a / smallest), smallest, -a) == 0.0; });
  if (is_multiple) {
    fill(smallest);
    return result;
  }
  for (const double a : jump)
    if (a != 0.0) lowest_bit = std::min(lowest_bit, detail::lowest_bit(a));
  int total_exponent = 0;
  std::frexp(total, &total_exponent);
  fill(std::ldexp(1.0, std::max({lowest_bit, total_exponent - 61, -1074})));
  return result;
}

}  // namespace rocpath
