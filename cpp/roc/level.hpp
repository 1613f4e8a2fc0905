// The level of monotone errors: the threshold at which FP reaches FN.
//
// It is a weighted quantile of the thresholds and is found by selection in expected linear time.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "lines/lines.hpp"
#include "numerics/random.hpp"

namespace rocpath {

struct WeightedThreshold {
  double threshold;
  std::int64_t fp;
  std::int64_t tp;
};

// The minimum of the two errors, given the sums of the jumps below a threshold.
class MinError {
 public:
  // The level is where FP - FN reaches `excess`, usually 0. Errors are divided by `divisor`.
  MinError(double fp_unit, double tp_unit, std::int64_t total_tp, double excess = 0.0,
           double divisor = 1.0)
      : fp_unit_(fp_unit),
        tp_unit_(tp_unit),
        total_tp_(total_tp),
        excess_(excess),
        fp_rate_(fp_unit / divisor),
        tp_rate_(tp_unit / divisor) {}

  double fp_rate() const { return fp_rate_; }
  double tp_rate() const { return tp_rate_; }

  bool has_passed_level(ErrorSums below) const {
    const std::int64_t fn = total_tp_ - below.tp;
    if (excess_ == 0.0) return compare_multiples(below.fp, fp_unit_, fn, tp_unit_) >= 0;
    return has_passed_level(static_cast<double>(below.fp), static_cast<double>(below.tp));
  }
  // The same for estimated sums.
  bool has_passed_level(double fp, double tp) const {
    return fp * fp_unit_ - (static_cast<double>(total_tp_) - tp) * tp_unit_ >= excess_;
  }

  double operator()(ErrorSums below) const {
    return std::min(static_cast<double>(below.fp) * fp_rate_,
                    static_cast<double>(total_tp_ - below.tp) * tp_rate_);
  }

  // The minimum at `to` minus that at `from`. If both are on the same side of the level, this is
  // the jump itself, without rounding.
  double change(ErrorSums from, ErrorSums to) const {
    const bool has_passed = has_passed_level(from);
    if (has_passed != has_passed_level(to)) return (*this)(to) - (*this)(from);
    return has_passed ? static_cast<double>(from.tp - to.tp) * tp_rate_
                      : static_cast<double>(to.fp - from.fp) * fp_rate_;
  }

  // The left and right derivative of AUM with respect to a prediction: only the jumps of its
  // example leave a group of tied thresholds, which has these sums before and after it.
  std::pair<double, double> derivatives(ErrorSums before, ErrorSums after, ErrorSums own) const {
    const ErrorSums others{after.fp - own.fp, after.tp - own.tp};
    const ErrorSums first{before.fp + own.fp, before.tp + own.tp};
    return {change(others, after), change(before, first)};
  }

 private:
  double fp_unit_;
  double tp_unit_;
  std::int64_t total_tp_;
  double excess_;
  double fp_rate_;
  double tp_rate_;
};

// The threshold at which FP reaches FN, with the sums below it and up to it.
struct Level {
  double threshold;
  ErrorSums before;
  ErrorSums after;
};

// Halve the candidates at their median until only the level remains.
inline Level level_by_halving(Vector<WeightedThreshold>& candidates, ErrorSums below,
                              const MinError& min_error) {
  std::span<WeightedThreshold> rest(candidates);
  for (ErrorSums sums = below; rest.size() > 1;) {
    const std::size_t half = rest.size() / 2;
    std::nth_element(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(half), rest.end(),
                     [](const auto& a, const auto& b) { return a.threshold < b.threshold; });
    ErrorSums up_to_half = sums;
    for (const WeightedThreshold& one : rest.first(half)) up_to_half += {one.fp, one.tp};
    const bool has_passed = min_error.has_passed_level(up_to_half);
    rest = has_passed ? rest.first(half) : rest.subspan(half);
    if (!has_passed) sums = up_to_half;
  }
  // Thresholds equal to the level may have been in different halves.
  Level level{rest.front().threshold, below, below};
  for (const WeightedThreshold& one : candidates) {
    if (one.threshold < level.threshold) level.before += {one.fp, one.tp};
    if (one.threshold <= level.threshold) level.after += {one.fp, one.tp};
  }
  return level;
}

// Keep the thresholds from low to high, and return the sums of those below. Thresholds are not
// sorted, so branches would be mispredicted. Each block that fits into the cache is therefore
// processed without branches, first for the sums, in vector registers, and then for the indices of
// the thresholds to keep. For 10^6 thresholds this takes 40% of the time of one loop with a branch.
template <class Get>
ErrorSums keep_between(std::size_t size, Get get, double low, double high,
                       Vector<WeightedThreshold>& kept) {
  constexpr std::size_t block = 1024;
  std::array<std::uint16_t, block> place;
  ErrorSums below;
  for (std::size_t begin = 0; begin < size; begin += block) {
    const std::size_t n = std::min(block, size - begin);
    std::size_t n_kept = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const WeightedThreshold one = get(begin + k);
      const std::int64_t mask = -static_cast<std::int64_t>(one.threshold < low);
      below.fp += one.fp & mask;
      below.tp += one.tp & mask;
    }
    for (std::size_t k = 0; k < n; ++k) {
      const double threshold = get(begin + k).threshold;
      place[n_kept] = static_cast<std::uint16_t>(k);
      n_kept += static_cast<std::size_t>((threshold >= low) & (threshold <= high));
    }
    for (std::size_t k = 0; k < n_kept; ++k) kept.push_back(get(begin + place[k]));
  }
  return below;
}

// One round of the selection: bracket the level by quantiles of a random sample, one threshold per
// block, and keep the thresholds inside. Returns false if all of them are inside. A bracket that
// misses the level is widened, so that randomness affects the time but not the result.
template <class Get>
bool narrow(std::size_t size, Get get, const MinError& min_error, ErrorSums& below,
            Vector<WeightedThreshold>& kept) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto n = static_cast<double>(size);
  const std::size_t block = size / static_cast<std::size_t>(std::cbrt(n * n));
  Vector<WeightedThreshold> sample(size / block);
  const auto scale = static_cast<double>(block);
  Random random(size);
  for (std::size_t k = 0; k < sample.size(); ++k) sample[k] = get(k * block + random.below(block));
  std::sort(sample.begin(), sample.end(),
            [](const auto& a, const auto& b) { return a.threshold < b.threshold; });
  std::size_t place = 0;
  auto fp = static_cast<double>(below.fp);
  auto tp = static_cast<double>(below.tp);
  for (; place < sample.size() && !min_error.has_passed_level(fp, tp); ++place) {
    fp += static_cast<double>(sample[place].fp) * scale;
    tp += static_cast<double>(sample[place].tp) * scale;
  }
  for (double width = 4.0 * std::sqrt(static_cast<double>(sample.size()));; width *= 4.0) {
    const auto reach = static_cast<std::size_t>(width);
    const double low = place > reach ? sample[place - reach].threshold : -infinity;
    const double high = place + reach < sample.size() ? sample[place + reach].threshold : infinity;
    kept.clear();
    kept.reserve(std::min(size, static_cast<std::size_t>(2.5 * width * scale)));
    ErrorSums below_low = below;
    below_low += keep_between(size, get, low, high, kept);
    ErrorSums up_to_high = below_low;
    for (const WeightedThreshold& one : kept) {
      up_to_high.fp += one.fp;
      up_to_high.tp += one.tp;
    }
    const bool is_bracket = (low == -infinity || !min_error.has_passed_level(below_low)) &&
                            (high == infinity || min_error.has_passed_level(up_to_high));
    if (!is_bracket) continue;
    below = below_low;
    return kept.size() < size;
  }
}

// The level among `size` thresholds, given the sums below all of them.
template <class Get>
Level find_level(std::size_t size, Get get, const MinError& min_error, ErrorSums below = {}) {
  constexpr std::size_t few = 2048;
  Vector<WeightedThreshold> candidates;
  Vector<WeightedThreshold> kept;
  bool has_narrowed = size > few && narrow(size, get, min_error, below, candidates);
  if (!has_narrowed) {
    candidates.resize(size);
    for (std::size_t k = 0; k < size; ++k) candidates[k] = get(k);
  }
  while (has_narrowed && candidates.size() > few) {
    has_narrowed = narrow(
        candidates.size(), [&](std::size_t k) { return candidates[k]; }, min_error, below, kept);
    candidates.swap(kept);
  }
  return level_by_halving(candidates, below, min_error);
}

}  // namespace rocpath
