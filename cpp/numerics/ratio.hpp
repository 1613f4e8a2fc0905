// The ratio of two integers of up to 127 bits, rounded once to the nearest float64.
//
// Small integers are divided as float64 numbers, and most others in double-double arithmetic. Only
// ratios very close to the middle between two float64 numbers need a long division.
#pragma once

#include <cmath>
#include <cstdint>

#include "numerics/exact.hpp"

namespace rocpath {

namespace detail {

// The same by long division. Requires: 0 < numerator, denominator < 2^127.
inline double ratio_by_digits(uint128 numerator, uint128 denominator) {
  int exponent = 0;
  for (; numerator < denominator; --exponent) numerator <<= 1;
  for (; numerator >= 2 * denominator; ++exponent) denominator <<= 1;
  // The quotient is in [1, 2). Compute 54 digits, one more than a float64 has.
  std::uint64_t digits = 0;
  for (int k = 0; k < 54; ++k) {
    const bool is_one = numerator >= denominator;
    digits = 2 * digits + (is_one ? 1 : 0);
    numerator = (numerator - (is_one ? denominator : 0)) << 1;
  }
  const bool is_up = (digits & 1) != 0 && (numerator != 0 || (digits & 2) != 0);
  return std::ldexp(static_cast<double>((digits >> 1) + (is_up ? 1 : 0)), exponent - 52);
}

inline DoubleDouble as_double_double(int128 n) {
  const double high = static_cast<double>(n);
  return {high, static_cast<double>(n - static_cast<int128>(high))};
}

}  // namespace detail

// Requires: |numerator| < 2^126, 0 < denominator < 2^126.
inline double rounded_ratio(int128 numerator, int128 denominator) {
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  const auto narrow = static_cast<std::int64_t>(numerator);
  if (narrow == numerator && -exact <= narrow && narrow <= exact && denominator <= exact)
    return static_cast<double>(narrow) /
           static_cast<double>(static_cast<std::int64_t>(denominator));
  const DoubleDouble top = detail::as_double_double(numerator);
  const DoubleDouble bottom = detail::as_double_double(denominator);
  const double quotient = top.high / bottom.high;
  // The error of the quotient has a relative error of a few times 2^-52.
  const double rest =
      std::fma(-quotient, bottom.high, top.high) + std::fma(-quotient, bottom.low, top.low);
  const double error = rest / bottom.high;
  const double doubt = 0x1p-48 * std::fabs(error) + 0x1p-100 * std::fabs(quotient);
  const double low = quotient + (error - doubt);
  if (low == quotient + (error + doubt)) return low;
  const bool is_negative = numerator < 0;
  const auto size = static_cast<uint128>(is_negative ? -numerator : numerator);
  const double ratio = detail::ratio_by_digits(size, static_cast<uint128>(denominator));
  return is_negative ? -ratio : ratio;
}

}  // namespace rocpath
