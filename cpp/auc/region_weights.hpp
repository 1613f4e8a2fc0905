// The weights of the lines in the partial AUC of a region.
//
// In a given order, the negatives that count are the first ones, up to the right border of the
// region, and the positives that count are the last ones, down to its bottom. The area is then the
// sum over the correctly ranked pairs of these. Any other weights with the same totals give at
// least the same sum, in any order (docs/searches.md). With the weights chosen after one step, the
// sum bounds the area at every other step, and it changes only where lines with positive weights
// cross. Time and memory O(B).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "auc/auc_changes.hpp"
#include "lines/region.hpp"

namespace rocpath {

// The part of every line's jumps that is inside the region, in the region's units.
class RegionWeights {
 public:
  RegionWeights() = default;
  RegionWeights(const ErrorLines& lines, const Region& region,
                std::span<const std::uint32_t> order) {
    choose(lines, region, order);
  }

  void choose(const ErrorLines& lines, const Region& region, std::span<const std::uint32_t> order) {
    weight_.resize(lines.size());
    n_fp_ = n_tp_ = 0;
    ErrorSums at = region.scaled(lines.below.fp, lines.below.tp);
    for (std::size_t r = 0; r < order.size(); ++r) {
      if (r + detail::ahead < order.size()) {
        prefetch(order[r + detail::ahead]);
        detail::prefetch(lines, order, r + detail::ahead);
      }
      const ErrorLine& line = lines.line[order[r]];
      const ErrorSums jump = region.scaled(line.fp, line.tp);
      const ErrorSums inside = region.inside(at, jump);
      weight_[order[r]] = {inside.fp, inside.tp};
      n_fp_ += inside.fp > 0 ? 1 : 0;
      n_tp_ += inside.tp > 0 ? 1 : 0;
      at += jump;
    }
  }

  const Jump& operator[](std::uint32_t line) const { return weight_[line]; }
  void prefetch(std::uint32_t line) const { __builtin_prefetch(&weight_[line]); }

  // Numbers of lines with positive weights of FP and of TP.
  std::size_t n_fp() const { return n_fp_; }
  std::size_t n_tp() const { return n_tp_; }

 private:
  Vector<Jump> weight_;
  std::size_t n_fp_ = 0;
  std::size_t n_tp_ = 0;
};

// The thresholds between which the region lies during a range of steps. It never extends above all
// negatives, or below all positives, that have positive weights at the start of the range.
// Thresholds are rounded, which never reverses the order of two lines.
class RegionExtent {
 public:
  RegionExtent(const ErrorLines& lines, StepRange range, const RegionWeights& weights)
      : range_(range) {
    if (!std::isfinite(range.low) || !std::isfinite(range.high)) return;
    double highest = -infinity;
    double lowest = infinity;
    for (std::size_t k = 0; k < lines.size(); ++k) {
      const auto& [fp, tp] = weights[static_cast<std::uint32_t>(k)];
      const auto [low, high] = thresholds(lines.line[k]);
      if (fp > 0) highest = std::max(highest, high);
      if (tp > 0) lowest = std::min(lowest, low);
    }
    highest_ = highest;
    lowest_ = lowest;
  }

  bool is_above(const Line& line) const {
    return is_bounded() && thresholds(line).first > highest_;
  }
  bool is_below(const Line& line) const {
    return is_bounded() && thresholds(line).second < lowest_;
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  StepRange range_;
  double highest_ = infinity;
  double lowest_ = -infinity;

  bool is_bounded() const { return highest_ < infinity || lowest_ > -infinity; }
  // The lowest and the highest threshold of a line in the range.
  std::pair<double, double> thresholds(const Line& line) const {
    return std::minmax({line.at(range_.low), line.at(range_.high)});
  }
};

// The lines that enter the region somewhere in a range of steps, in their order after its start,
// with the sums of those below.
inline ErrorLines lines_in_region(const ErrorLines& lines, const Region& region, StepRange range,
                                  std::span<const std::uint32_t> order) {
  const RegionWeights weights(lines, region, order);
  const RegionExtent extent(lines, range, weights);
  ErrorLines within;
  within.total = lines.total;
  within.from = range.low;
  for (const std::uint32_t number : order) {
    const ErrorLine& line = lines.line[number];
    if (extent.is_below(line))
      within.below += {line.fp, line.tp};
    else if (!extent.is_above(line))
      within.line.push_back(line);
  }
  return within;
}

}  // namespace rocpath
