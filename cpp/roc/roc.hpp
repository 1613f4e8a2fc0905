// AUM, its derivatives and AUC at one vector of predictions.
//
// The threshold of a breakpoint is T_b = value_b - prediction of its example, rounded once, and
// thresholds that are then equal are tied. For monotone errors
// AUM is the minimum over c of  sum fp_b max(0, c - T_b) + sum tp_b max(0, T_b - c),  which is
// attained at the level: the smallest threshold above which FP >= FN. The level is found by
// weighted selection in O(B). For other errors, and for AUC, the thresholds are sorted in O(B log
// B).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>

#include "numerics/ratio.hpp"
#include "roc/level.hpp"
#include "roc/score_pairs.hpp"

namespace rocpath {

// Breakpoints as arrays of the same length; `example` contains indices into the predictions.
struct BreakpointArrays {
  std::span<const double> value;
  std::span<const std::int64_t> example;
  std::span<const std::int64_t> fp;
  std::span<const std::int64_t> tp;
  double fp_unit;
  double tp_unit;
  double divisor = 1.0;  // divisor of AUM, as for lines

  // The threshold of a breakpoint, rounded once. This is its only definition: thresholds that are
  // tied after rounding are tied for areas, derivatives, curves and lines.
  double threshold(std::size_t b, std::span<const double> prediction) const {
    return value[b] - prediction[static_cast<std::size_t>(example[b])];
  }
};

// All thresholds.
inline UnfilledVector<double> thresholds(const BreakpointArrays& bp,
                                         std::span<const double> prediction) {
  UnfilledVector<double> threshold(bp.value.size());
  for (std::size_t b = 0; b < threshold.size(); ++b) threshold[b] = bp.threshold(b, prediction);
  return threshold;
}

namespace detail {

inline std::int64_t total(std::span<const std::int64_t> jump) {
  return std::reduce(jump.begin(), jump.end(), std::int64_t{0});
}

inline MinError min_error_of(const BreakpointArrays& bp) {
  return MinError(bp.fp_unit, bp.tp_unit, total(bp.tp), 0.0, bp.divisor);
}

inline Level find_level(const BreakpointArrays& bp, std::span<const double> threshold,
                        const MinError& min_error) {
  return rocpath::find_level(
      threshold.size(),
      [&](std::size_t b) { return WeightedThreshold{threshold[b], bp.fp[b], bp.tp[b]}; },
      min_error);
}

// Sum many terms of the same sign in blocks, so that rounding errors do not accumulate.
template <class Term>
double blocked_sum(std::size_t n, Term term) {
  constexpr std::size_t block = 512;
  CompensatedSum sum;
  for (std::size_t begin = 0; begin < n; begin += block) {
    const std::size_t end = std::min(begin + block, n);
    std::array<double, 4> part{};
    std::size_t k = begin;
    for (; k + 4 <= end; k += 4)
      for (std::size_t lane = 0; lane < 4; ++lane) part[lane] += term(k + lane);
    for (; k < end; ++k) part[0] += term(k);
    sum.add(two_sum(part[0] + part[1], part[2] + part[3]));
  }
  return sum.value();
}

// Call visit(breakpoints, threshold, sums before, sums after) for each group of tied thresholds, in
// increasing order.
template <class Visit>
void for_each_group(const BreakpointArrays& bp, std::span<const double> threshold, Visit visit) {
  const Vector<std::uint32_t> order = sorted_order(threshold);
  ErrorSums before;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    ErrorSums after = before;
    const double tied = threshold[order[begin]];
    for (; end < order.size() && threshold[order[end]] == tied; ++end) {
      after.fp += bp.fp[order[end]];
      after.tp += bp.tp[order[end]];
    }
    visit(std::span(order).subspan(begin, end - begin), tied, before, after);
    before = after;
  }
}

// Call visit(example, jumps) for each example with breakpoints among these, with the sums of their
// jumps: all of them move together.
template <class Visit>
void for_each_example(const BreakpointArrays& bp, std::span<const std::uint32_t> group,
                      Visit visit) {
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) {
    return bp.example[a] < bp.example[b];
  };
  Vector<std::uint32_t> order;
  if (!std::is_sorted(group.begin(), group.end(), is_before)) {
    order.assign(group.begin(), group.end());
    std::stable_sort(order.begin(), order.end(), is_before);
    group = order;
  }
  for (std::size_t k = 0; k < group.size();) {
    const std::int64_t example = bp.example[group[k]];
    ErrorSums jumps;
    for (; k < group.size() && bp.example[group[k]] == example; ++k)
      jumps += {bp.fp[group[k]], bp.tp[group[k]]};
    visit(static_cast<std::size_t>(example), jumps);
  }
}

inline double aum(const BreakpointArrays& bp, std::span<const double> threshold, bool is_monotone) {
  const MinError min_error = min_error_of(bp);
  if (is_monotone) {
    const double level = find_level(bp, threshold, min_error).threshold;
    return blocked_sum(threshold.size(), [&](std::size_t b) {
      const double above = threshold[b] - level;
      return static_cast<double>(bp.fp[b]) * min_error.fp_rate() * std::max(0.0, -above) +
             static_cast<double>(bp.tp[b]) * min_error.tp_rate() * std::max(0.0, above);
    });
  }
  CompensatedSum area;
  double previous = 0.0;
  for_each_group(bp, threshold, [&](auto, double tied, ErrorSums before, ErrorSums) {
    const double smaller = min_error(before);
    if (smaller != 0.0) area.add(two_sum(tied, -previous) * smaller);
    previous = tied;
  });
  return area.value();
}

}  // namespace detail

// Area under min(FP, FN), eq. AUM_init.
// Requires: at least one breakpoint, positive totals; `is_monotone` only if no jump is negative.
inline double aum(const BreakpointArrays& bp, std::span<const double> prediction,
                  bool is_monotone) {
  UnfilledVector<double> threshold = thresholds(bp, prediction);
  const double area = detail::aum(bp, threshold, is_monotone);
  // Each product of a jump and a denormal threshold would underflow.
  constexpr double tiny = 1e-240;
  if (std::fabs(area) > tiny || largest_size(threshold) > tiny) return area;
  for (double& one : threshold) one *= 0x1p700;
  return detail::aum(bp, threshold, is_monotone) * 0x1p-700;
}

// Call add(example, left, right) with the derivatives of AUM with respect to the prediction of each
// breakpoint's example; the derivatives of an example are their sums. If its prediction changes,
// its breakpoint separates from the others in its group of tied thresholds: it moves below the
// group if the prediction increases, and above it if the prediction decreases (Hillman & Hocking
// 2023). If the whole group is on one side of the level, both derivatives are the jump of the error
// that is smaller there.
template <class Add>
void for_each_derivative(const BreakpointArrays& bp, std::span<const double> prediction,
                         bool is_monotone, Add add) {
  const UnfilledVector<double> threshold = thresholds(bp, prediction);
  const MinError min_error = detail::min_error_of(bp);
  const auto add_group = [&](std::span<const std::uint32_t> group, ErrorSums before,
                             ErrorSums after) {
    detail::for_each_example(bp, group, [&](std::size_t example, const ErrorSums& own) {
      const auto [left, right] = min_error.derivatives(before, after, own);
      add(example, left, right);
    });
  };
  if (!is_monotone) {
    detail::for_each_group(bp, threshold,
                           [&](auto group, double, ErrorSums before, ErrorSums after) {
                             add_group(group, before, after);
                           });
    return;
  }
  const Level level = detail::find_level(bp, threshold, min_error);
  Vector<std::uint32_t> at_level;
  for (std::size_t b = 0; b < threshold.size(); ++b) {
    if (threshold[b] == level.threshold) {
      at_level.push_back(static_cast<std::uint32_t>(b));
      continue;
    }
    const std::int64_t mask = -static_cast<std::int64_t>(threshold[b] < level.threshold);
    const double jump = static_cast<double>(bp.fp[b] & mask) * min_error.fp_rate() -
                        static_cast<double>(bp.tp[b] & ~mask) * min_error.tp_rate();
    add(static_cast<std::size_t>(bp.example[b]), jump, jump);
  }
  add_group(at_level, level.before, level.after);
}

struct AUMDerivatives {
  Vector<double> left;
  Vector<double> right;
};

inline AUMDerivatives aum_derivatives(const BreakpointArrays& bp,
                                      std::span<const double> prediction, bool is_monotone) {
  AUMDerivatives result{Vector<double>(prediction.size()), Vector<double>(prediction.size())};
  for_each_derivative(bp, prediction, is_monotone,
                      [&](std::size_t example, double left, double right) {
                        result.left[example] += left;
                        result.right[example] += right;
                      });
  return result;
}

inline Vector<double> aum_gradient(const BreakpointArrays& bp, std::span<const double> prediction,
                                   bool is_monotone) {
  Vector<double> gradient(prediction.size());
  for_each_derivative(bp, prediction, is_monotone,
                      [&](std::size_t example, double left, double right) {
                        gradient[example] += 0.5 * (left + right);
                      });
  return gradient;
}

namespace detail {

// AUC if there are only two kinds of breakpoints, as for labels without weights. AUC is then a
// fraction of pairs, and thresholds are sorted without their breakpoints.
inline std::optional<double> auc_of_labels(const BreakpointArrays& bp,
                                           std::span<const double> prediction) {
  std::int64_t fp = 0;
  std::int64_t tp = 0;
  ClassScores scores(bp.value.size());
  for (std::size_t b = 0; b < bp.value.size(); ++b) {
    if (bp.fp[b] != 0 ? bp.tp[b] != 0 : bp.tp[b] == 0) return {};
    const bool is_positive = bp.tp[b] != 0;
    std::int64_t& jump = is_positive ? tp : fp;
    const std::int64_t one = bp.fp[b] + bp.tp[b];
    if (jump == 0) jump = one;
    if (jump != one) return {};
    // A larger prediction has a lower threshold.
    scores.add(-bp.threshold(b, prediction), is_positive);
  }
  const auto n_pairs = static_cast<int128>(scores.n_negative()) * scores.n_positive();
  return rounded_ratio(scores.doubled_pairs(), 2 * n_pairs);
}

}  // namespace detail

// Area under the ROC curve (eq. AUC1). Tied thresholds form a diagonal segment of the curve.
inline double auc(const BreakpointArrays& bp, std::span<const double> prediction) {
  if (const auto of_labels = detail::auc_of_labels(bp, prediction)) return *of_labels;
  const UnfilledVector<double> threshold = thresholds(bp, prediction);
  int128 doubled_area = 0;
  detail::for_each_group(bp, threshold, [&](auto, double, ErrorSums before, ErrorSums after) {
    doubled_area += static_cast<int128>(after.fp - before.fp) * (before.tp + after.tp);
  });
  const int128 perfect_area = static_cast<int128>(detail::total(bp.fp)) * detail::total(bp.tp);
  return rounded_ratio(doubled_area, 2 * perfect_area);
}

// The thresholds of predictions + s * direction, as linear functions of s.
struct MovingThresholds {
  UnfilledVector<double> intercept;
  UnfilledVector<double> slope;
  double largest;  // largest absolute value of all intercepts and slopes
};

inline MovingThresholds moving_thresholds(const BreakpointArrays& bp,
                                          std::span<const double> prediction,
                                          std::span<const double> direction) {
  const std::size_t n = bp.value.size();
  MovingThresholds moving{UnfilledVector<double>(n), UnfilledVector<double>(n), 0.0};
  LargestSize largest;
  for (std::size_t b = 0; b < n; ++b) {
    moving.intercept[b] = bp.threshold(b, prediction);
    moving.slope[b] = 0.0 - direction[static_cast<std::size_t>(bp.example[b])];  // avoids -0.0
    largest.add(moving.intercept[b]);
    largest.add(moving.slope[b]);
  }
  moving.largest = largest.value();
  return moving;
}

}  // namespace rocpath
