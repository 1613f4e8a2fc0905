// The region of partial AUC: false positive rates up to a maximum, and true positive rates above a
// minimum.
//
// FP and TP are scaled up to about 60 bits such that both borders are integers. All areas are then
// integers, except below diagonals that a border cuts, which are rounded down by less than 2^-116
// of the unit square if the totals of FP and TP have fewer than 60 bits. Each area takes O(1).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "lines/lines.hpp"

namespace rocpath {

namespace detail {

struct Ratio {
  int128 numerator;
  int128 denominator;  // 0 for infinity
};

// The fraction with the smallest denominator strictly between two. Requires: 0 <= low < high.
inline Ratio simplest_between(Ratio low, Ratio high) {
  const int128 whole = low.numerator / low.denominator;
  if ((whole + 1) * high.denominator < high.numerator) return {whole + 1, 1};
  const auto inverse_rest = [whole](Ratio a) {
    return Ratio{a.denominator, a.numerator - whole * a.denominator};
  };
  const Ratio rest = simplest_between(inverse_rest(high), inverse_rest(low));
  return {whole * rest.numerator + rest.denominator, rest.numerator};
}

// The simplest fraction whose nearest float64 is the rate: 1/10 for 0.1. Requires: 2^-60 <= rate
// <= 1.
inline Ratio simplest_fraction(double rate) {
  const auto halfway = [rate](double neighbor) {
    int exponent = 0;
    std::frexp(rate, &exponent);
    const int shift = 55 - exponent;  // the neighbor may have one more binary digit
    const auto whole = [shift](double a) { return static_cast<int128>(std::ldexp(a, shift)); };
    return Ratio{whole(rate) + whole(neighbor), static_cast<int128>(1) << (shift + 1)};
  };
  return simplest_between(halfway(std::nextafter(rate, 0.0)), halfway(std::nextafter(rate, 2.0)));
}

// floor(a * b / c), where a * b may have more than 128 bits. Requires: a, b >= 0, c > 0, and a
// result below 2^126.
inline int128 multiply_divide(int128 a, int128 b, int128 c) {
  const int128 whole = b / c;
  const int128 rest = b % c;
  int128 quotient = 0;
  int128 remainder = 0;
  const auto add = [&](int128 more_quotient, int128 more_remainder) {
    quotient += more_quotient;
    // Whether remainder + more_remainder >= c, without overflow.
    const bool is_carried = remainder >= c - more_remainder;
    remainder = is_carried ? remainder - (c - more_remainder) : remainder + more_remainder;
    quotient += is_carried ? 1 : 0;
  };
  for (int bit = 126; bit >= 0; --bit) {
    add(quotient, remainder);
    if ((a >> bit & 1) != 0) add(whole, rest);
  }
  return quotient;
}

}  // namespace detail

// A fraction of a total, both scaled up to integers.
struct Border {
  std::int64_t scale;
  std::int64_t place;  // scale * total * rate
};

// A rate is interpreted as the simplest fraction that rounds to it, so that 0.1 of 50 is 5. A
// border that needs more than 60 bits is rounded to 60 bits.
inline Border border_at(std::int64_t total, double rate) {
  constexpr int128 largest = static_cast<int128>(1) << 60;
  if (rate < 0x1p-60) rate = rate > 0.0 ? 0x1p-60 : 0.0;
  const detail::Ratio share = rate == 0.0 ? detail::Ratio{0, 1} : detail::simplest_fraction(rate);
  int128 numerator = total * share.numerator;
  int128 common = numerator;
  for (int128 b = share.denominator; b != 0;) common = std::exchange(b, common % b);
  int128 scale = share.denominator / common;
  if (scale > largest / total) {
    scale = std::max<int128>(1, largest / total);
    const int128 place = detail::multiply_divide(numerator, 2 * scale, share.denominator);
    return {static_cast<std::int64_t>(scale), static_cast<std::int64_t>((place + 1) / 2)};
  }
  numerator /= common;
  while (2 * scale <= largest / total) {
    scale *= 2;
    numerator *= 2;
  }
  return {static_cast<std::int64_t>(scale), static_cast<std::int64_t>(numerator)};
}

// The rates that define a region.
struct RegionRates {
  double max_fpr = 1.0;  // in (0, 1]
  double min_tpr = 0.0;  // in [0, 1)

  bool is_everywhere() const { return max_fpr == 1.0 && min_tpr == 0.0; }
};

class Region {
 public:
  Region(const ErrorSums& total, const RegionRates& rates)
      : right_(border_at(total.fp, rates.max_fpr)), bottom_(border_at(total.tp, rates.min_tpr)) {
    right_.place = std::max<std::int64_t>(right_.place, 1);
    total_ = {total.fp * right_.scale, total.tp * bottom_.scale};
  }

  // FP and TP in the units of the region.
  ErrorSums scaled(std::int64_t fp, std::int64_t tp) const {
    return {fp * right_.scale, tp * bottom_.scale};
  }
  const ErrorSums& total() const { return total_; }
  bool is_left(const ErrorSums& at) const { return at.fp < right_.place; }
  bool is_inside(const ErrorSums& at) const {
    return at.fp <= right_.place && at.tp >= bottom_.place;
  }

  // Maximum number of units by which the sum of rounded areas may be smaller than the rounded sum:
  // one if the two borders cut two diagonals.
  int128 shortfall() const { return right_.place < total_.fp && bottom_.place > 0 ? 1 : 0; }

  // Twice the largest area that a curve can have.
  int128 doubled_perfect_area() const {
    return 2 * static_cast<int128>(right_.place) * (total_.tp - bottom_.place);
  }

  // The parts of a jump inside the region: FP to the left of the right border, and TP above the
  // bottom.
  ErrorSums inside(const ErrorSums& from, const ErrorSums& jump) const {
    return {std::clamp<std::int64_t>(right_.place - from.fp, 0, jump.fp),
            std::clamp<std::int64_t>(from.tp + jump.tp - bottom_.place, 0, jump.tp)};
  }

  // Twice the area in the region below a straight segment of the curve.
  int128 doubled_area(const ErrorSums& from, const ErrorSums& jump) const {
    const std::int64_t height = from.tp - bottom_.place;
    const std::int64_t width = std::min(jump.fp, right_.place - from.fp);
    if (width <= 0 || height + jump.tp <= 0) return 0;
    if (height < 0) return doubled_triangle(width, -height, jump);
    const int128 rectangle = 2 * static_cast<int128>(width) * height;
    const int128 product = static_cast<int128>(width) * jump.tp;
    if (width == jump.fp || jump.tp == 0) return rectangle + product;
    return rectangle + detail::multiply_divide(product, width, jump.fp);
  }

 private:
  Border right_;
  Border bottom_;
  ErrorSums total_;

  // Twice the area of the triangle below a diagonal that begins `depth` below the bottom.
  static int128 doubled_triangle(std::int64_t width, std::int64_t depth, const ErrorSums& jump) {
    const int128 rise = static_cast<int128>(width) * jump.tp - static_cast<int128>(depth) * jump.fp;
    if (rise <= 0) return 0;
    return detail::multiply_divide(rise, rise, static_cast<int128>(jump.fp) * jump.tp);
  }
};

}  // namespace rocpath
