// AUM of lines in a given order, from its definition (eq. AUM_s), and AUM at a float64 step.
//
// AUM is first computed in double-double arithmetic. If its digits are then uncertain, the same
// sums are computed exactly. Time O(B) for an order; at a step, the lines are sorted first.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "lines/crossings.hpp"

namespace rocpath {

namespace detail {

// Call add(count, unit, line) for every line where min(FP, FN) decreases by count * unit, given the
// sums below the first line; eq. AUM_s has one or two such terms for each line.
template <class Add>
void for_each_aum_term(const ErrorLines& lines, ErrorSums below,
                       std::span<const std::uint32_t> order, Add add) {
  const auto is_fp_smaller = [&](const ErrorSums& sums) {
    return compare_multiples(sums.fp, lines.fp_unit, lines.total.tp - sums.tp, lines.tp_unit) <= 0;
  };
  const auto add_min_error = [&](const ErrorSums& sums, bool is_fp, std::int64_t sign,
                                 const ErrorLine& line) {
    add(sign * (is_fp ? sums.fp : lines.total.tp - sums.tp), is_fp ? lines.fp_unit : lines.tp_unit,
        line);
  };
  bool was_fp_smaller = is_fp_smaller(below);
  for (const std::uint32_t k : order) {
    const ErrorLine& line = lines.line[k];
    const ErrorSums above{below.fp + line.fp, below.tp + line.tp};
    const bool is_fp = is_fp_smaller(above);
    if (is_fp == was_fp_smaller) {
      add(is_fp ? -line.fp : line.tp, is_fp ? lines.fp_unit : lines.tp_unit, line);
    } else {
      add_min_error(below, was_fp_smaller, 1, line);
      add_min_error(above, is_fp, -1, line);
    }
    below = above;
    was_fp_smaller = is_fp;
  }
}

}  // namespace detail

// Exact sums of AUM over these lines, without the lines outside.
inline ExactAUM exact_inner_aum(const ErrorLines& lines, std::span<const std::uint32_t> order) {
  ExactAUM sums;
  detail::for_each_aum_term(lines, lines.below, order,
                            [&](std::int64_t count, double unit, const ErrorLine& line) {
                              sums.add(count, unit, line.intercept, line.slope);
                            });
  return sums;
}

inline ExactAUM exact_aum(const ErrorLines& lines, std::span<const std::uint32_t> order) {
  ExactAUM sums = exact_inner_aum(lines, order);
  if (lines.exact_outside) {
    sums.add(*lines.exact_outside);
  } else if (!lines.outside.is_empty()) {
    if (lines.outside_sums == OutsideSums::rounded) throw SumsInDoubt();
    sums.add(lines.outside.intercept_sum.parts(), lines.outside.slope_sum.parts());
  }
  return sums;
}

// Double-double sums of AUM over these lines, added to `piece`.
inline AUMPiece inner_aum(const ErrorLines& lines, std::span<const std::uint32_t> order,
                          AUMPiece piece = {}) {
  detail::for_each_aum_term(lines, lines.below, order,
                            [&](std::int64_t count, double unit, const ErrorLine& line) {
                              piece.add(from_integer(count) * unit, line.intercept, line.slope);
                            });
  return piece;
}

// AUM of the real lines at a float64 step, accurate to the last digits of a float64. The lines may
// be in any order.
inline double aum_at(const ErrorLines& lines, double step) {
  const Vector<std::uint32_t> order = order_at(lines, step);
  const AUMPiece piece = inner_aum(lines, order, lines.outside);
  const double aum = piece.is_in_doubt_at(step) ? exact_aum(lines, order).at(step) : piece.at(step);
  return aum / lines.divisor;
}

// AUM at one float64 step minus AUM at another one, times the divisor, with the exact sign. If
// there are lines outside, the steps must be nearby: in the difference, the intercepts of these
// lines cancel, and their slope is multiplied only by the distance of the steps, so double-double
// sums nearly always suffice.
inline double aum_difference(const ErrorLines& lines, double step, double other_step) {
  const Vector<std::uint32_t> order = order_at(lines, step);
  const Vector<std::uint32_t> other_order = order_at(lines, other_step);
  const AUMPiece inner = inner_aum(lines, order);
  const AUMPiece other_inner = inner_aum(lines, other_order);
  const double distance = step - other_step;  // exact, since the steps are neighbors
  // The product may underflow, and so may the terms of the sum.
  const double outside_doubt =
      lines.outside.slope_doubt() * std::fabs(distance) + std::numeric_limits<double>::denorm_min();
  const double quick = (inner.precisely_at(step) - other_inner.precisely_at(other_step) +
                        lines.outside.slope_sum.sum() * distance)
                           .value();
  if (std::fabs(quick) > inner.doubt_at(step) + other_inner.doubt_at(other_step) + outside_doubt)
    return quick;

  ExactAUM sums = exact_inner_aum(lines, order);
  ExactAUM other_sums = exact_inner_aum(lines, other_order);
  for (ExactAUM* one : {&sums, &other_sums}) {
    if (lines.exact_outside)
      one->add(*lines.exact_outside);
    else
      one->add({}, lines.outside.slope_sum.parts());
  }
  const double difference = sums.difference(step, other_sums, other_step);
  if (lines.outside_sums == OutsideSums::rounded && !lines.outside.is_empty() &&
      std::fabs(difference) <= outside_doubt)
    throw SumsInDoubt();
  return difference;
}

// Whether AUM at one float64 step is less than at another one nearby, without rounding.
inline bool is_aum_less(const ErrorLines& lines, double step, double other_step) {
  return aum_difference(lines, step, other_step) < 0.0;
}

}  // namespace rocpath
