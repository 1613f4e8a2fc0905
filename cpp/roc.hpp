// AUM, AUC and the AUM's derivatives at one vector of predictions.
//
// Thresholds T_b = value_b - prediction of its example. For monotone errors AUM is the minimum over
// c of  sum fp_b max(0, c - T_b) + sum tp_b max(0, T_b - c),  reached at the level: the smallest
// threshold after which FP >= FN. Finding it is a weighted selection, O(B); otherwise and for AUC
// the thresholds are sorted, O(B log B) or better.
#pragma once

#include "lines.hpp"

namespace rocpath {

// Breakpoints as arrays of one length B; `example` holds places in `prediction`.
struct BreakpointArrays {
  std::span<const double> value;
  std::span<const std::int64_t> example;
  std::span<const std::int64_t> fp;
  std::span<const std::int64_t> tp;
  double fp_unit;
  double tp_unit;
};

namespace detail {

struct WeightedThreshold {
  double threshold;
  std::int64_t fp;
  std::int64_t tp;
};

inline Vector<double> thresholds(const BreakpointArrays& bp, std::span<const double> prediction) {
  Vector<double> threshold(bp.value.size());
  for (std::size_t b = 0; b < threshold.size(); ++b)
    threshold[b] = bp.value[b] - prediction[static_cast<std::size_t>(bp.example[b])];
  return threshold;
}

inline std::int64_t total(std::span<const std::int64_t> jump) {
  return std::reduce(jump.begin(), jump.end(), std::int64_t{0});
}

// The minimum of the two errors, given the sums below a place.
class MinError {
 public:
  explicit MinError(const BreakpointArrays& bp)
      : fp_unit_(bp.fp_unit), tp_unit_(bp.tp_unit), total_tp_(total(bp.tp)) {}

  bool has_passed_level(ErrorSums below) const { return fp_rate(below) >= fn_rate(below); }
  double operator()(ErrorSums below) const { return std::min(fp_rate(below), fn_rate(below)); }

  // Minimum at `to` less that at `from`; on one side of the level it is the jump itself, unrounded.
  double change(ErrorSums from, ErrorSums to) const {
    const bool has_passed = has_passed_level(from);
    if (has_passed != has_passed_level(to)) return (*this)(to) - (*this)(from);
    return has_passed ? static_cast<double>(from.tp - to.tp) * tp_unit_
                      : static_cast<double>(to.fp - from.fp) * fp_unit_;
  }

 private:
  double fp_unit_;
  double tp_unit_;
  std::int64_t total_tp_;

  double fp_rate(ErrorSums below) const { return static_cast<double>(below.fp) * fp_unit_; }
  double fn_rate(ErrorSums below) const {
    return static_cast<double>(total_tp_ - below.tp) * tp_unit_;
  }
};

// The threshold where FP reaches FN, with the sums before and after it.
struct Level {
  double threshold;
  ErrorSums before;
  ErrorSums after;
};

inline Level level_by_sorting(Vector<WeightedThreshold>& candidates, ErrorSums below,
                              const MinError& min_error) {
  std::sort(candidates.begin(), candidates.end(),
            [](const auto& a, const auto& b) { return a.threshold < b.threshold; });
  Level level{candidates.front().threshold, below, below};
  for (const WeightedThreshold& next : candidates) {
    if (next.threshold != level.threshold) {
      if (min_error.has_passed_level(level.after)) break;
      level = {next.threshold, level.after, level.after};
    }
    level.after.fp += next.fp;
    level.after.tp += next.tp;
  }
  return level;
}

// One round of the selection: bracket the level by that of a random sample, and keep what lies
// inside. Returns false where that separates nothing. A bracket that misses the level is widened:
// randomness decides the time, not the answer.
template <class Get>
bool narrow(std::size_t size, Get get, const MinError& min_error, ErrorSums& below,
            Vector<WeightedThreshold>& kept) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto n = static_cast<double>(size);
  Vector<WeightedThreshold> sample(static_cast<std::size_t>(std::cbrt(n * n)));
  const double scale = n / static_cast<double>(sample.size());
  std::uint64_t random = size;
  for (WeightedThreshold& drawn : sample) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    drawn = get(static_cast<std::size_t>((static_cast<uint128>(random) * size) >> 64));
  }
  std::sort(sample.begin(), sample.end(),
            [](const auto& a, const auto& b) { return a.threshold < b.threshold; });
  std::size_t place = 0;
  for (ErrorSums sums = below; place < sample.size() && !min_error.has_passed_level(sums);
       ++place) {
    sums.fp += static_cast<std::int64_t>(static_cast<double>(sample[place].fp) * scale);
    sums.tp += static_cast<std::int64_t>(static_cast<double>(sample[place].tp) * scale);
  }
  for (double width = 4.0 * std::sqrt(static_cast<double>(sample.size()));; width *= 4.0) {
    const auto reach = static_cast<std::size_t>(width);
    const double low = place > reach ? sample[place - reach].threshold : -infinity;
    const double high = place + reach < sample.size() ? sample[place + reach].threshold : infinity;
    ErrorSums below_low = below;
    kept.clear();
    kept.reserve(std::min(size, static_cast<std::size_t>(2.5 * width * scale)));
    for (std::size_t k = 0; k < size; ++k) {
      const WeightedThreshold one = get(k);
      // Masks, not branches: half of the thresholds lie below, in no order.
      const std::int64_t mask = -static_cast<std::int64_t>(one.threshold < low);
      below_low.fp += one.fp & mask;
      below_low.tp += one.tp & mask;
      if ((one.threshold >= low) & (one.threshold <= high)) kept.push_back(one);
    }
    ErrorSums up_to_high = below_low;
    for (const WeightedThreshold& one : kept) {
      up_to_high.fp += one.fp;
      up_to_high.tp += one.tp;
    }
    const bool is_bracket = !min_error.has_passed_level(below_low) &&
                            (min_error.has_passed_level(up_to_high) || high == infinity);
    if (!is_bracket) continue;
    below = below_low;
    return kept.size() < size;
  }
}

inline Level find_level(const BreakpointArrays& bp, std::span<const double> threshold,
                        const MinError& min_error) {
  constexpr std::size_t few = 2048;
  const auto given = [&](std::size_t b) {
    return WeightedThreshold{threshold[b], bp.fp[b], bp.tp[b]};
  };
  ErrorSums below;
  Vector<WeightedThreshold> candidates;
  Vector<WeightedThreshold> kept;
  bool has_narrowed =
      threshold.size() > few && narrow(threshold.size(), given, min_error, below, candidates);
  if (!has_narrowed) {
    candidates.resize(threshold.size());
    for (std::size_t b = 0; b < threshold.size(); ++b) candidates[b] = given(b);
  }
  while (has_narrowed && candidates.size() > few) {
    has_narrowed = narrow(
        candidates.size(), [&](std::size_t k) { return candidates[k]; }, min_error, below, kept);
    candidates.swap(kept);
  }
  return level_by_sorting(candidates, below, min_error);
}

// Sums of many terms of one sign, in blocks, so that rounding errors do not pile up.
template <class Term>
double blocked_sum(std::size_t n, Term term) {
  constexpr std::size_t block = 512;
  DoubleDouble sum;
  for (std::size_t begin = 0; begin < n; begin += block) {
    const std::size_t end = std::min(begin + block, n);
    std::array<double, 4> part{};
    std::size_t k = begin;
    for (; k + 4 <= end; k += 4)
      for (std::size_t lane = 0; lane < 4; ++lane) part[lane] += term(k + lane);
    for (; k < end; ++k) part[0] += term(k);
    sum = sum + two_sum(part[0] + part[1], part[2] + part[3]);
  }
  return sum.value();
}

// Visit the groups of tied thresholds from below: visit(breakpoints of the group, threshold,
// sums before, sums after).
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

}  // namespace detail

// Area under min(FP, FN), eq. AUM_init.
// Requires: at least one breakpoint, positive totals; `is_monotone` only if no jump is negative.
inline double aum(const BreakpointArrays& bp, std::span<const double> prediction,
                  bool is_monotone) {
  const Vector<double> threshold = detail::thresholds(bp, prediction);
  const detail::MinError min_error(bp);
  if (is_monotone) {
    const double level = detail::find_level(bp, threshold, min_error).threshold;
    return detail::blocked_sum(threshold.size(), [&](std::size_t b) {
      const double above = threshold[b] - level;
      return static_cast<double>(bp.fp[b]) * bp.fp_unit * std::max(0.0, -above) +
             static_cast<double>(bp.tp[b]) * bp.tp_unit * std::max(0.0, above);
    });
  }
  DoubleDouble area;
  double previous = 0.0;
  detail::for_each_group(bp, threshold, [&](auto, double tied, ErrorSums before, ErrorSums) {
    const double smaller = min_error(before);
    if (smaller != 0.0) area = area + two_sum(tied, -previous) * smaller;
    previous = tied;
  });
  return area.value();
}

// Hand the left and right derivatives of AUM in the prediction of each breakpoint's example to
// add(example, left, right); an example's own are their sums.
//
// A breakpoint moves alone out of its group of tied thresholds: below the group when its prediction
// grows, above when it shrinks (Hillman & Hocking 2023). Where the group lies wholly on one side of
// the level, both derivatives are that side's jump.
template <class Add>
void for_each_derivative(const BreakpointArrays& bp, std::span<const double> prediction,
                         bool is_monotone, Add add) {
  const Vector<double> threshold = detail::thresholds(bp, prediction);
  const detail::MinError min_error(bp);
  const auto add_tied = [&](std::size_t b, ErrorSums before, ErrorSums after) {
    const ErrorSums all_but_one{after.fp - bp.fp[b], after.tp - bp.tp[b]};
    const ErrorSums one_more{before.fp + bp.fp[b], before.tp + bp.tp[b]};
    add(static_cast<std::size_t>(bp.example[b]), min_error.change(all_but_one, after),
        min_error.change(before, one_more));
  };
  if (!is_monotone) {
    detail::for_each_group(bp, threshold,
                           [&](auto group, double, ErrorSums before, ErrorSums after) {
                             for (const std::uint32_t b : group) add_tied(b, before, after);
                           });
    return;
  }
  const detail::Level level = detail::find_level(bp, threshold, min_error);
  for (std::size_t b = 0; b < threshold.size(); ++b) {
    if (threshold[b] == level.threshold) {
      add_tied(b, level.before, level.after);
      continue;
    }
    const std::int64_t mask = -static_cast<std::int64_t>(threshold[b] < level.threshold);
    const double jump = static_cast<double>(bp.fp[b] & mask) * bp.fp_unit -
                        static_cast<double>(bp.tp[b] & ~mask) * bp.tp_unit;
    add(static_cast<std::size_t>(bp.example[b]), jump, jump);
  }
}

struct AumDerivatives {
  Vector<double> left;
  Vector<double> right;
};

inline AumDerivatives aum_derivatives(const BreakpointArrays& bp,
                                      std::span<const double> prediction, bool is_monotone) {
  AumDerivatives result{Vector<double>(prediction.size()), Vector<double>(prediction.size())};
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

// Area under the ROC curve, tied thresholds joined by a diagonal, eq. AUC1.
inline double auc(const BreakpointArrays& bp, std::span<const double> prediction) {
  const Vector<double> threshold = detail::thresholds(bp, prediction);
  int128 doubled_area = 0;
  detail::for_each_group(bp, threshold, [&](auto, double, ErrorSums before, ErrorSums after) {
    doubled_area += static_cast<int128>(after.fp - before.fp) * (before.tp + after.tp);
  });
  const int128 perfect_area = static_cast<int128>(detail::total(bp.fp)) * detail::total(bp.tp);
  return static_cast<double>(doubled_area) / static_cast<double>(2 * perfect_area);
}

}  // namespace rocpath
