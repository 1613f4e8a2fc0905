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

// FP and TP of all lines below some threshold.
struct ErrorSums {
  std::int64_t fp = 0;
  std::int64_t tp = 0;
};

namespace detail {

struct WeightedThreshold {
  double threshold;
  std::int64_t fp;
  std::int64_t tp;
};

inline std::vector<double> thresholds(const BreakpointArrays& bp,
                                      std::span<const double> prediction) {
  std::vector<double> threshold(bp.value.size());
  for (std::size_t b = 0; b < threshold.size(); ++b)
    threshold[b] = bp.value[b] - prediction[static_cast<std::size_t>(bp.example[b])];
  return threshold;
}

inline ErrorSums total(const BreakpointArrays& bp) {
  return {std::reduce(bp.fp.begin(), bp.fp.end(), std::int64_t{0}),
          std::reduce(bp.tp.begin(), bp.tp.end(), std::int64_t{0})};
}

// The minimum of the two errors, given the sums below a place.
class MinError {
 public:
  MinError(const BreakpointArrays& bp, std::int64_t total_tp)
      : fp_unit_(bp.fp_unit), tp_unit_(bp.tp_unit), total_tp_(total_tp) {}

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

inline Level level_by_sorting(std::vector<WeightedThreshold>& candidates, ErrorSums below,
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
            std::vector<WeightedThreshold>& kept) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto n = static_cast<double>(size);
  std::vector<WeightedThreshold> sample(static_cast<std::size_t>(std::cbrt(n * n)));
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
    const double high =
        place + reach < sample.size() ? sample[place + reach].threshold : infinity;
    ErrorSums below_low = below;
    ErrorSums up_to_high = below;
    kept.clear();
    for (std::size_t k = 0; k < size; ++k) {
      const WeightedThreshold one = get(k);
      const bool is_below = one.threshold < low;
      const bool is_up_to = one.threshold <= high;
      below_low.fp += is_below ? one.fp : 0;
      below_low.tp += is_below ? one.tp : 0;
      up_to_high.fp += is_up_to ? one.fp : 0;
      up_to_high.tp += is_up_to ? one.tp : 0;
      if (is_up_to && !is_below) kept.push_back(one);
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
  std::vector<WeightedThreshold> candidates;
  std::vector<WeightedThreshold> kept;
  bool has_narrowed = threshold.size() > few &&
                      narrow(threshold.size(), given, min_error, below, candidates);
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
  const std::vector<std::uint32_t> order = sorted_order(threshold);
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
  const std::vector<double> threshold = detail::thresholds(bp, prediction);
  const detail::MinError min_error(bp, detail::total(bp).tp);
  if (is_monotone) {
    const double level = detail::find_level(bp, threshold, min_error).threshold;
    const double fp_area = detail::blocked_sum(threshold.size(), [&](std::size_t b) {
      return static_cast<double>(bp.fp[b]) * std::max(0.0, level - threshold[b]);
    });
    const double fn_area = detail::blocked_sum(threshold.size(), [&](std::size_t b) {
      return static_cast<double>(bp.tp[b]) * std::max(0.0, threshold[b] - level);
    });
    return fp_area * bp.fp_unit + fn_area * bp.tp_unit;
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

// One-sided derivatives of AUM in every prediction.
struct AumDerivatives {
  std::vector<double> left;
  std::vector<double> right;
};

// A breakpoint moves alone out of its group of tied thresholds: below the group when its prediction
// grows, above when it shrinks (Hillman & Hocking 2023). Where the group lies wholly on one side of
// the level, both derivatives are that side's jump.
inline AumDerivatives aum_derivatives(const BreakpointArrays& bp,
                                      std::span<const double> prediction, bool is_monotone) {
  const std::vector<double> threshold = detail::thresholds(bp, prediction);
  const detail::MinError min_error(bp, detail::total(bp).tp);
  AumDerivatives result{std::vector<double>(prediction.size()),
                        std::vector<double>(prediction.size())};
  const auto add = [&](std::size_t b, ErrorSums before, ErrorSums after) {
    const auto example = static_cast<std::size_t>(bp.example[b]);
    const ErrorSums all_but_one{after.fp - bp.fp[b], after.tp - bp.tp[b]};
    const ErrorSums one_more{before.fp + bp.fp[b], before.tp + bp.tp[b]};
    result.left[example] += min_error.change(all_but_one, after);
    result.right[example] += min_error.change(before, one_more);
  };
  if (!is_monotone) {
    detail::for_each_group(bp, threshold, [&](auto group, double, ErrorSums before, ErrorSums after) {
      for (const std::uint32_t b : group) add(b, before, after);
    });
    return result;
  }
  const detail::Level level = detail::find_level(bp, threshold, min_error);
  for (std::size_t b = 0; b < threshold.size(); ++b) {
    if (threshold[b] == level.threshold) {
      add(b, level.before, level.after);
      continue;
    }
    const double jump = threshold[b] < level.threshold
                            ? static_cast<double>(bp.fp[b]) * bp.fp_unit
                            : -static_cast<double>(bp.tp[b]) * bp.tp_unit;
    const auto example = static_cast<std::size_t>(bp.example[b]);
    result.left[example] += jump;
    result.right[example] += jump;
  }
  return result;
}

// Area under the ROC curve, tied thresholds joined by a diagonal, eq. AUC1.
inline double auc(const BreakpointArrays& bp, std::span<const double> prediction) {
  const std::vector<double> threshold = detail::thresholds(bp, prediction);
  int128 doubled_area = 0;
  detail::for_each_group(bp, threshold, [&](auto, double, ErrorSums before, ErrorSums after) {
    doubled_area += static_cast<int128>(after.fp - before.fp) * (before.tp + after.tp);
  });
  const ErrorSums total = detail::total(bp);
  return 0.5 * static_cast<double>(doubled_area) /
         (static_cast<double>(total.fp) * static_cast<double>(total.tp));
}

}  // namespace rocpath
