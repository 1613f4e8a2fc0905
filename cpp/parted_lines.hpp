// Lines that lie in several places: each is asked for what it has inside a box, and for sums.
//
// The searches and selections are those of lines in one place. What they read of all lines is a
// sample, known beforehand, and passes that collapse every part against a box.
#pragma once

#include <functional>

#include "best_aum.hpp"
#include "roc.hpp"

namespace rocpath {

// Equal lines become one, with the sum of their jumps, so that ties do not travel.
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

// One part against a box, as it travels.
inline ErrorLines collapsed_part(const LineArrays& lines, const Box& box) {
  ErrorLines inside = collapse(lines, box);
  merge_equal(inside.line);
  return inside;
}

// Requires: the sample holds the lines of SampledLines(n_lines), in order.
struct PartedLines {
  std::size_t n_lines;
  LineArrays sample;
  std::function<ErrorLines(const Box&)> collapse_parts;

  std::size_t size() const { return n_lines; }
};

// Without the sums of all lines: those of the sample stand for them.
inline ErrorLines counted_sample(const LineArrays& sample, std::size_t n_lines) {
  ErrorLines drawn = collapse(sample, Box{});
  const ErrorSums total = drawn.total;
  drawn.count_each(SampledLines(n_lines).factor());
  drawn.total = total;
  return drawn;
}

inline ErrorLines thinned(const PartedLines& lines) {
  return counted_sample(lines.sample, lines.n_lines);
}

inline ErrorLines collapse(const PartedLines& lines, const Box& box) {
  return lines.collapse_parts(box);
}

inline ErrorLines collapsed(const PartedLines& lines, const Box& box) {
  return lines.collapse_parts(box);
}

// Thresholds between which the level at step 0 lies, as far as a sample can tell.
inline Box level_bracket(const LineArrays& sample, std::size_t n_lines, double confidence) {
  const ErrorLines drawn = counted_sample(sample, n_lines);
  double squares = 0.0;
  for (const ErrorLine& line : drawn.line) {
    const double fp = static_cast<double>(line.fp) * drawn.fp_unit;
    const double tp = static_cast<double>(line.tp) * drawn.tp_unit;
    squares += fp * fp + tp * tp;
  }
  return level_box(drawn, {0.0, 0.0}, 0.5 * confidence * std::sqrt(squares));
}

// The level at step 0 among the lines inside a box; `is_inside` tells whether it is that of all.
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

// What a part adds to AUM, and its derivatives in the predictions, given the level of all parts.
struct AtLevel {
  double aum;
  Vector<double> gradient;
};

// Requires: one breakpoint an example, in order; monotone errors.
inline AtLevel at_level(const BreakpointArrays& bp, std::span<const double> prediction,
                        const Level& level, std::int64_t total_tp) {
  const MinError min_error(bp.fp_unit, bp.tp_unit, total_tp, 0.0, bp.divisor);
  const UnfilledVector<double> threshold = detail::thresholds(bp, prediction);
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
      // Alone out of the group: above it, or below.
      const auto [before, after] = std::pair(level.before, level.after);
      const double left = min_error.change({after.fp - jump.fp, after.tp - jump.tp}, after);
      const double right = min_error.change(before, {before.fp + jump.fp, before.tp + jump.tp});
      gradient[b] = 0.5 * (left + right);
    }
  }
  return {aum, std::move(gradient)};
}

}  // namespace rocpath
