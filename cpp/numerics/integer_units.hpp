// Jumps as integer multiples of a unit, in O(n). Sums of integers are exact: they do not depend on
// the order of summation, and are zero exactly if the jumps cancel.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "numerics/memory.hpp"

namespace rocpath {

struct WholeNumbers {
  Vector<std::int64_t> count;
  double unit = 1.0;
};

// The properties of a set of jumps that determine their unit. To combine several sets, take the
// minima of `smallest` and `lowest_bit` and the sum of `total`.
struct JumpRange {
  double smallest = std::numeric_limits<double>::infinity();  // smallest nonzero absolute value
  double total = 0.0;                                         // sum of the absolute values
  int lowest_bit = std::numeric_limits<int>::max();           // exponent of the finest binary digit
};

// The smallest and the total absolute value; `lowest_bit` is computed separately, by the function
// below.
inline JumpRange jump_range(std::span<const double> jump) {
  JumpRange range;
  for (const double a : jump) {
    if (a == 0.0) continue;
    range.smallest = std::min(range.smallest, std::fabs(a));
    range.total += std::fabs(a);
  }
  return range;
}

// Exponent of the largest power of two of which all jumps are multiples.
inline int lowest_bit(std::span<const double> jump) {
  int lowest = std::numeric_limits<int>::max();
  for (const double a : jump) {
    if (a == 0.0) continue;
    int exponent = 0;
    const auto digits =
        static_cast<std::uint64_t>(std::ldexp(std::fabs(std::frexp(a, &exponent)), 53));
    lowest = std::min(lowest, exponent - 53 + std::countr_zero(digits));
  }
  return lowest;
}

inline bool are_multiples(std::span<const double> jump, double unit) {
  return std::all_of(jump.begin(), jump.end(),
                     [&](double a) { return std::fma(std::nearbyint(a / unit), unit, -a) == 0.0; });
}

// Whether the smallest jump may be the unit: the sum of all counts is then below 2^52.
inline bool has_few_units(const JumpRange& range) { return range.total / range.smallest < 0x1p52; }

// A unit that is a power of two: the finest digit of all jumps, which is exact, or, for very many
// jumps with a very large dynamic range, 2^-61 of their total.
inline double binary_unit(const JumpRange& range) {
  int exponent = 0;
  std::frexp(range.total, &exponent);
  return std::ldexp(1.0, std::max({range.lowest_bit, exponent - 61, -1074}));
}

inline WholeNumbers count_units(std::span<const double> jump, double unit) {
  WholeNumbers result{Vector<std::int64_t>(jump.size()), unit};
  for (std::size_t k = 0; k < jump.size(); ++k)
    result.count[k] = static_cast<std::int64_t>(std::nearbyint(jump[k] / unit));
  return result;
}

// Write every jump as count * unit, with the sum of |count| below 2^62.
//
// The smallest jump is the unit if all others are exact multiples of it (class counts, rates 1/n,
// repeated weights); otherwise the unit is a power of two. Requires: finite values.
inline WholeNumbers in_units(std::span<const double> jump) {
  JumpRange range = jump_range(jump);
  if (range.total == 0.0) return {Vector<std::int64_t>(jump.size()), 1.0};
  if (has_few_units(range) && are_multiples(jump, range.smallest))
    return count_units(jump, range.smallest);
  range.lowest_bit = lowest_bit(jump);
  return count_units(jump, binary_unit(range));
}

}  // namespace rocpath
