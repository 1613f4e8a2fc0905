// Lines in partitions: the computations of each partition on its lines, and the level of all lines.
//
// The searches are the same as for lines in memory (searchable_lines.hpp): a sample is drawn in
// advance, and every partition reduces its lines outside a box to sums, in time linear in their
// number.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "aum/best_aum.hpp"
#include "roc/roc.hpp"

namespace rocpath {

// Replace equal lines by one line with the sum of their jumps, so that fewer lines are sent.
inline void merge_equal(Vector<ErrorLine>& lines) {
  std::sort(lines.begin(), lines.end(), [](const ErrorLine& a, const ErrorLine& b) {
    return a.intercept != b.intercept ? a.intercept < b.intercept : a.slope < b.slope;
  });
  std::size_t n_kept = 0;
  for (const ErrorLine& line : lines) {
    const bool is_equal = n_kept > 0 && lines[n_kept - 1].intercept == line.intercept &&
                          lines[n_kept - 1].slope == line.slope;
    if (!is_equal) {
      lines[n_kept++] = line;
    } else {
      lines[n_kept - 1].fp += line.fp;
      lines[n_kept - 1].tp += line.tp;
    }
  }
  lines.resize(n_kept);
}

// The result of a partition: its lines that may enter a box, and sums of the others.
inline ErrorLines collapse_partition(const LineArrays& lines, const Box& box) {
  ErrorLines inside = collapse(lines, box);
  merge_equal(inside.line);
  return inside;
}

// Thresholds that bracket the level at step 0, estimated from a sample.
inline Box level_bracket(const LineArrays& sample, std::size_t n_lines, double confidence) {
  const ErrorLines counted = counted_sample(sample, n_lines);
  double squares = 0.0;
  for (const ErrorLine& line : counted.line) {
    const double fp = static_cast<double>(line.fp) * counted.fp_unit;
    const double tp = static_cast<double>(line.tp) * counted.tp_unit;
    squares += fp * fp + tp * tp;
  }
  return level_box(counted, {0.0, 0.0}, 0.5 * confidence * std::sqrt(squares));
}

// The level at step 0 among the lines inside a box; it is the level of all lines if `is_inside`.
struct FoundLevel {
  Level level{};
  bool is_inside = false;
};

inline FoundLevel level_inside(const ErrorLines& inside) {
  const MinError min_error(inside.fp_unit, inside.tp_unit, inside.total.tp);
  ErrorSums up_to_end = inside.below;
  for (const ErrorLine& line : inside.line) up_to_end += {line.fp, line.tp};
  if (inside.line.empty() || min_error.has_passed_level(inside.below) ||
      !min_error.has_passed_level(up_to_end))
    return {};
  const auto threshold = [&](std::size_t k) {
    const ErrorLine& line = inside.line[k];
    return WeightedThreshold{line.intercept, line.fp, line.tp};
  };
  return {find_level(inside.size(), threshold, min_error, inside.below), true};
}

// The contribution of a partition to AUM, and the gradient with respect to its predictions, given
// the level of all partitions.
struct AtLevel {
  double aum;
  Vector<double> gradient;
};

// Requires: monotone errors, and one breakpoint for each example, in order.
inline AtLevel at_level(const BreakpointArrays& bp, std::span<const double> prediction,
                        const Level& level, std::int64_t total_tp) {
  const MinError min_error(bp.fp_unit, bp.tp_unit, total_tp, 0.0, bp.divisor);
  const UnfilledVector<double> threshold = thresholds(bp, prediction);
  const double aum = detail::blocked_sum(threshold.size(), [&](std::size_t b) {
    const double above = threshold[b] - level.threshold;
    return static_cast<double>(bp.fp[b]) * min_error.fp_rate() * std::max(0.0, -above) +
           static_cast<double>(bp.tp[b]) * min_error.tp_rate() * std::max(0.0, above);
  });
  Vector<double> gradient(threshold.size());
  for (std::size_t b = 0; b < threshold.size(); ++b) {
    const ErrorSums jump{bp.fp[b], bp.tp[b]};
    if (threshold[b] < level.threshold) {
      gradient[b] = static_cast<double>(jump.fp) * min_error.fp_rate();
    } else if (threshold[b] > level.threshold) {
      gradient[b] = -static_cast<double>(jump.tp) * min_error.tp_rate();
    } else {
      const auto [left, right] = min_error.derivatives(level.before, level.after, jump);
      gradient[b] = 0.5 * (left + right);
    }
  }
  return {aum, std::move(gradient)};
}

}  // namespace rocpath
