// Error-free arithmetic: sums and signs that are not affected by rounding.
//
// Double-double numbers have about 106 bits. `ExactSum` is exact for all finite float64 numbers,
// including denormals and those whose products overflow. Operations take O(1); those of `ExactSum`
// are much slower.
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

  // Add n * a. Requires: |n| < 2^63 - 512.
  void add_multiple(std::int64_t n, double a) {
    const DoubleDouble parts = from_integer(n);
    add_product(parts.high, a);
    add_product(parts.low, a);
  }

  void add(ExactSum other) {
    other.carry();
    carry();
    for (std::size_t k = 0; k < digit.size(); ++k) digit[k] += other.digit[k];
  }

  // Add another sum times a number. Digits below 2^-2252 are dropped.
  void add_multiple(ExactSum other, double factor) {
    if (factor == 0.0 || other.sign() == 0) return;
    const bool is_negative = other.make_positive() != (factor < 0.0);
    int exponent = 0;
    const auto factor_digits = static_cast<uint128>(std::abs(whole_digits(factor, exponent)));
    carry();
    for (std::size_t k = 0; k < digit.size(); ++k) {
      if (other.digit[k] == 0) continue;
      uint128 product = static_cast<uint128>(other.digit[k]) * factor_digits;
      int position = digit_bits * static_cast<int>(k) + exponent;
      if (position < 0) {
        product = position > -128 ? product >> -position : 0;
        position = 0;
      }
      add_word(static_cast<std::uint64_t>(product), position, is_negative);
      add_word(static_cast<std::uint64_t>(product >> 64), position + 64, is_negative);
    }
  }

  // The sign of the sum: -1, 0 or 1.
  int sign() {
    carry();
    for (std::size_t k = digit.size(); k-- > 0;)
      if (digit[k] != 0) return digit[k] < 0 ? -1 : 1;
    return 0;
  }

  // The sum to 53 bits. The result is zero only if the sum is zero.
  double value() {
    if (sign() == 0) return 0.0;
    const double its_sign = make_positive() ? -1.0 : 1.0;
    std::size_t top = digit.size() - 1;
    while (digit[top] == 0 && top > 2) --top;
    uint128 leading = 0;
    for (std::size_t k = top + 1; k-- > top - 2;)
      leading = (leading << digit_bits) + static_cast<uint128>(digit[k]);
    const double size = std::ldexp(static_cast<double>(leading),
                                   digit_bits * static_cast<int>(top - 2) - lowest_exponent);
    return its_sign * std::fmax(size, std::numeric_limits<double>::denorm_min());
  }

 private:
  // A double is digits * 2^exponent with |digits| < 2^53 and exponent >= -1126; products start at
  // twice that, and 4,416 bits reach beyond the largest product with room for 2^31 additions.
  static constexpr int lowest_exponent = 2252;
  static constexpr int digit_bits = 32;
  std::array<std::int64_t, 138> digit{};

  // Replace the sum by its absolute value, and return whether it was negative.
  bool make_positive() {
    if (sign() >= 0) return false;
    for (std::int64_t& one : digit) one = -one;
    carry();
    return true;
  }

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

// Sign of m * a - n * b. Requires: a, b > 0.
inline int compare_multiples(std::int64_t m, double a, std::int64_t n, double b) {
  const double left = static_cast<double>(m) * a;
  const double right = static_cast<double>(n) * b;
  // Both have a relative error below 2^-52.
  if (std::fabs(left - right) > 0x1p-50 * std::fabs(left)) return left < right ? -1 : 1;
  constexpr double largest = 0x1p60;
  // The units of rates are integers.
  if (a < largest && b < largest && a == std::floor(a) && b == std::floor(b)) {
    const int128 difference = static_cast<int128>(m) * static_cast<std::int64_t>(a) -
                              static_cast<int128>(n) * static_cast<std::int64_t>(b);
    return (difference > 0) - (difference < 0);
  }
  if (a == b) return (m > n) - (m < n);
  ExactSum difference;
  difference.add_multiple(m, a);
  difference.add_multiple(-n, b);
  return difference.sign();
}

}  // namespace rocpath
