// A window of steps cut into thousands of parts, and a bound on AUC in each.
//
// In a part AUC is at most what it is before it, and the gains of the crossings inside: so with
// every gain counted from the beginning of its part on, and every loss from its end on, a running
// sum over the parts has all bounds. No crossing has to be remembered or sorted. Steps of crossings
// are rounded here; where that may put one in another part, a gain counts in the earlier one and a
// loss in the later, which never makes a bound too small.
#pragma once

#include "auc_crossings.hpp"

namespace rocpath {

class StepParts {
 public:
  StepParts(StepRange range, std::size_t n_parts)
      : range_(range),
        n_parts_(static_cast<double>(n_parts)),
        scale_(n_parts_ / (range.high - range.low)),
        margin_(std::max(std::fabs(range.low), std::fabs(range.high)) * 0x1p-49 * scale_) {}

  // Are the parts much wider than what steps are rounded by? A quotient of differences is off by
  // less than 2^-51 of itself, unless numbers overflow or steps are next to the smallest ones. The
  // margin is zero, or not a number, where the width of the range overflows.
  bool are_wide(double largest_number) const {
    return margin_ > 0.0 && margin_ < 0x1p-6 && largest_number < 0x1p1000 &&
           range_.high - range_.low > 0x1p-900;
  }

  // From which part on a gain counts, and a loss, when the lines a and (intercept, slope) cross.
  std::uint32_t counts_from(bool is_gain, const Line& a, double intercept, double slope) const {
    const double step = (intercept - a.intercept) / (a.slope - slope);
    const double place = (step - range_.low) * scale_ + (is_gain ? -margin_ : margin_ + 1.0);
    const double first = is_gain ? 0.0 : 1.0;
    const double last = is_gain ? n_parts_ - 1.0 : n_parts_;
    return static_cast<std::uint32_t>(
        static_cast<std::int32_t>(std::min(std::max(place, first), last)));
  }

  std::size_t size() const { return static_cast<std::size_t>(n_parts_); }

  // Steps of the parts from `begin` to `end`, and hardly any others.
  StepRange steps(std::size_t begin, std::size_t end) const {
    const double low = range_.low + (static_cast<double>(begin) - margin_) / scale_;
    const double high = range_.low + (static_cast<double>(end) + margin_) / scale_;
    return {begin == 0 ? range_.low : std::max(low, range_.low),
            static_cast<double>(end) == n_parts_ ? range_.high : std::min(high, range_.high)};
  }

 private:
  StepRange range_;
  double n_parts_;
  double scale_;
  double margin_;
};

// Twice the largest AUC in every part, at most. Requires: wide parts, prepared crossings.
inline Vector<int128> part_bounds(const ErrorLines& lines, const StepParts& parts,
                                  int128 doubled_auc, AUCCrossings& crossings,
                                  const Interrupt& interrupt) {
  Vector<int128> change(parts.size() + 1);
  const AUCCrossings::Others& others = crossings.others();
  constexpr std::size_t many = 256;
  std::array<std::uint32_t, many> part;
  // Of a seeker and lines that are alike, all crossings are gains, or all are losses: then the
  // parts are found in vector registers, which takes a quarter of the time.
  const auto count_alike = [&](const Line& line, std::size_t first, std::size_t n, int128 one) {
    for (std::size_t j = 0; j < n; ++j)
      part[j] =
          parts.counts_from(one > 0, line, others.intercept[first + j], others.slope[first + j]);
    for (std::size_t j = 0; j < n; ++j) change[part[j]] += one;
  };
  const auto visit = [&](std::uint32_t seeker, std::size_t first, std::size_t last,
                         bool is_rising) {
    const Line& line = lines.line[seeker];
    const std::size_t n_alike = crossings.are_alike() ? many : 1;
    for (std::size_t k = first; k < last; k += n_alike)
      count_alike(line, k, std::min(n_alike, last - k),
                  crossings.doubled_auc_change(seeker, k, is_rising));
  };
  crossings.for_each(visit, interrupt);
  change.pop_back();
  for (int128& bound : change) bound = doubled_auc += bound;
  return change;
}

}  // namespace rocpath
