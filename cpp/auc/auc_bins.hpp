// Upper bounds on AUC in thousands of bins, into which a window of steps is divided.
//
// In a bin, AUC is at most its value before the bin plus the gains of the crossings inside. Hence,
// if every gain counts from the beginning of its bin and every loss from the end of its bin, a
// running sum over the bins gives all bounds, and no crossing has to be stored or sorted. The steps
// of crossings are rounded: where rounding may move a crossing to a neighboring bin, a gain counts
// in the earlier one and a loss in the later one, which never makes a bound too small.
//
// Time: that of enumerating the crossings (auc_crossings.hpp). Memory: O(bins).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "auc/auc_crossings.hpp"

namespace rocpath {

class StepBins {
 public:
  StepBins(StepRange range, std::size_t n_bins)
      : range_(range),
        n_bins_(static_cast<double>(n_bins)),
        scale_(n_bins_ / (range.high - range.low)),
        margin_(std::max(std::fabs(range.low), std::fabs(range.high)) * 0x1p-49 * scale_) {}

  // Whether the bins are much wider than the rounding error of a step. A quotient of differences
  // has a relative error below 2^-51, unless numbers overflow or steps are close to the smallest
  // float64. The margin is zero or NaN if the width of the range overflows.
  bool are_wide(double largest_number) const {
    return margin_ > 0.0 && margin_ < 0x1p-6 && largest_number < 0x1p1000 &&
           range_.high - range_.low > 0x1p-900;
  }

  // The bin from which a gain or a loss counts, when the lines a and (intercept, slope) cross.
  std::uint32_t counts_from(bool is_gain, const Line& a, double intercept, double slope) const {
    const double step = (intercept - a.intercept) / (a.slope - slope);
    const double place = (step - range_.low) * scale_ + (is_gain ? -margin_ : margin_ + 1.0);
    const double first = is_gain ? 0.0 : 1.0;
    const double last = is_gain ? n_bins_ - 1.0 : n_bins_;
    return static_cast<std::uint32_t>(
        static_cast<std::int32_t>(std::min(std::max(place, first), last)));
  }

  std::size_t size() const { return static_cast<std::size_t>(n_bins_); }

  // The steps of the bins from `begin` to `end`, extended by the rounding error of a step.
  StepRange steps(std::size_t begin, std::size_t end) const {
    const double low = range_.low + (static_cast<double>(begin) - margin_) / scale_;
    const double high = range_.low + (static_cast<double>(end) + margin_) / scale_;
    return {begin == 0 ? range_.low : std::max(low, range_.low),
            static_cast<double>(end) == n_bins_ ? range_.high : std::min(high, range_.high)};
  }

 private:
  StepRange range_;
  double n_bins_;
  double scale_;
  double margin_;  // rounding error of a step, in bins
};

// Upper bounds on twice the AUC in every bin, given twice the AUC before the first bin. Requires:
// wide bins, prepared crossings.
template <class Jumps>
Vector<int128> bin_bounds(const ErrorLines& lines, const StepBins& bins, int128 doubled_auc,
                          AUCCrossings<Jumps>& crossings, const Interrupt& interrupt) {
  Vector<int128> change(bins.size() + 1);
  const auto& common = crossings.common();
  constexpr std::size_t many = 256;
  std::array<std::uint32_t, many> bin;
  // A rare line that crosses common lines with equal jumps changes AUC in the same direction at
  // every crossing. Its bins are computed in vector registers, in a quarter of the time.
  const auto count_alike = [&](const Line& line, std::size_t first, std::size_t n, int128 one) {
    for (std::size_t j = 0; j < n; ++j)
      bin[j] =
          bins.counts_from(one > 0, line, common.intercept[first + j], common.slope[first + j]);
    for (std::size_t j = 0; j < n; ++j) change[bin[j]] += one;
  };
  const auto visit = [&](std::uint32_t rare, std::size_t first, std::size_t last, bool is_rising) {
    const std::size_t n_alike = crossings.are_alike() ? many : 1;
    for (std::size_t k = first; k < last; k += n_alike)
      count_alike(lines.line[rare], k, std::min(n_alike, last - k),
                  crossings.doubled_auc_change(rare, k, is_rising));
  };
  crossings.for_each(visit, interrupt);
  change.pop_back();
  for (int128& bound : change) bound = doubled_auc += bound;
  return change;
}

// The ranges of steps whose bounds exceed the best AUC found. Up to `most_together` neighboring
// bins are combined.
template <class Exceeds>
Enumeration open_bins(const StepBins& bins, const Vector<int128>& bound, std::size_t most_together,
                      const Exceeds& exceeds, FoundAUC found) {
  Enumeration result{found, {}};
  for (std::size_t k = 0; k < bound.size();) {
    if (!exceeds(bound[k], found.best)) {
      result.found.pruned_bound = std::max(result.found.pruned_bound, bound[k++]);
      continue;
    }
    const std::size_t begin = k;
    const std::size_t limit = std::min(begin + most_together, bound.size());
    std::size_t end = begin;
    for (; k < limit; ++k)
      if (exceeds(bound[k], found.best)) end = k + 1;
    k = end;
    result.open.push_back({bins.steps(begin, end),
                           *std::max_element(bound.begin() + static_cast<std::ptrdiff_t>(begin),
                                             bound.begin() + static_cast<std::ptrdiff_t>(end))});
  }
  return result;
}

}  // namespace rocpath
