// Find and check the list of steps that proves a largest AUC (auc_proof.hpp).
//
// The condition on a window is monotone in its end: a longer window has fewer pairs that are ranked
// wrongly at both ends. Each window is therefore extended as far as the condition holds, within a
// fifth, which gives nearly the shortest list. A few windows are tried for each, in O(B log B).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "verify/auc_proof.hpp"

namespace rocpath::verify {

// The claim to be proved: no step has a larger area than the limit.
class AUCClaim {
 public:
  // `bound` is the claimed AUC of all steps. If it is tight, the limit is the area at the witness.
  AUCClaim(const ProofLines& lines, double witness, double bound, bool is_tight)
      : perfect_(2 * lines.total_fp() * lines.total_tp()),
        at_witness_(doubled_area(lines, ranking_at(lines, witness))),
        bound_(bound),
        is_tight_(is_tight) {
    // Two areas that are rounded down may differ by less than two.
    const bool is_cut = lines.right < lines.total_fp() || lines.bottom > 0;
    rounding_ = is_cut ? 2 : 0;
  }

  bool holds(int128 area) const {
    if (is_tight_) return area <= at_witness_ + rounding_;
    return rounded_ratio(area, perfect_) <= bound_;
  }
  // Approximate distance of an area to the limit, for choosing the next window.
  double room(int128 area) const {
    return bound_ * static_cast<double>(perfect_) - static_cast<double>(area);
  }

 private:
  int128 perfect_;
  int128 at_witness_;
  double bound_;
  bool is_tight_;
  int128 rounding_;
};

// Whether no float64 step after `from` and up to `to` has a larger area than claimed.
inline bool is_window_proved(const ProofLines& lines, const AUCClaim& claim, const Ranking& from,
                             const Ranking& to) {
  if (std::isfinite(to.step) && !claim.holds(doubled_area(lines, to))) return false;
  return std::nextafter(from.step, infinity) == to.step ||
         claim.holds(doubled_bound(lines, from, to));
}

// The index of the first window that is not proved, or nothing if the list is a proof.
inline std::optional<std::size_t> first_gap(const ProofLines& lines, const AUCClaim& claim,
                                            std::span<const double> steps,
                                            const std::function<void()>& interrupt) {
  Ranking from = ranking_at(lines, steps[0]);
  if (std::isfinite(steps[0]) && !claim.holds(doubled_area(lines, from))) return 0;
  for (std::size_t k = 1; k < steps.size(); ++k) {
    interrupt();
    Ranking to = ranking_at(lines, steps[k]);
    if (!(steps[k - 1] < steps[k]) || !is_window_proved(lines, claim, from, to)) return k - 1;
    from = std::move(to);
  }
  return {};
}

class ProofSearch {
 public:
  ProofSearch(const ProofLines& lines, const AUCClaim& claim) : lines_(lines), claim_(claim) {
    double intercepts = 0.0, slopes = 0.0;
    for (std::size_t k = 0; k < lines.size(); ++k) {
      intercepts += std::fabs(lines.intercept[k]);
      slopes += std::fabs(lines.slope[k]);
    }
    const double typical = intercepts / slopes;
    if (std::isfinite(typical) && typical > 0.0) scale_ = typical;
  }

  std::vector<double> run(double low, double high, const std::function<void()>& interrupt) {
    std::vector<double> steps{low};
    Ranking from = ranking_at(lines_, low);
    double width = 2.0;
    while (from.step < high) {
      interrupt();
      const double start = place(from.step);
      from = end_of_window(from, high, width);
      width = 1.2 * (place(from.step) - start);
      steps.push_back(from.step);
    }
    return steps;
  }

 private:
  const ProofLines& lines_;
  const AUCClaim& claim_;
  double scale_ = 1.0;

  // Steps are chosen on a scale on which infinity is as far from the typical step as 0.
  double place(double step) const {
    return std::isinf(step) ? std::copysign(1.0, step) : step / (scale_ + std::fabs(step));
  }
  double step_at(double place) const { return scale_ * place / (1.0 - std::fabs(place)); }

  static bool is_between(double step, double low, double high) { return low < step && step < high; }

  // A step between two, on the scale or, if these are very close, in the order of float64 numbers.
  double between(double low, double high, double share) const {
    const double step = step_at((1.0 - share) * place(low) + share * place(high));
    if (std::isfinite(step) && is_between(step, low, high)) return step;
    return median_of_floats(low, high);
  }

  static double median_of_floats(double low, double high) {
    constexpr double largest = std::numeric_limits<double>::max();
    const auto number = [](double x) {
      const auto raw = std::bit_cast<std::int64_t>(x);
      return raw < 0 ? std::numeric_limits<std::int64_t>::min() - raw : raw;
    };
    const std::int64_t a = number(std::max(low, -largest)), b = number(std::min(high, largest));
    const std::int64_t mean = a / 2 + b / 2 + (a % 2 + b % 2) / 2;
    const double step =
        std::bit_cast<double>(mean < 0 ? std::numeric_limits<std::int64_t>::min() - mean : mean);
    return is_between(step, low, high) ? step : std::nextafter(low, infinity);
  }

  Ranking end_of_window(const Ranking& from, double high, double width) const {
    const double start = from.step;
    double bad = 0.0;
    bool has_failed = false;
    std::optional<Ranking> good;
    double next = place(start) + width >= place(high) ? high : step_at(place(start) + width);
    if (!is_between(next, start, high)) next = high;
    for (;;) {
      Ranking to = ranking_at(lines_, next);
      if (is_window_proved(lines_, claim_, from, to)) {
        good = std::move(to);
        if (good->step == high) break;
      } else {
        bad = next;
        has_failed = true;
      }
      if (!has_failed) {  // twice the width
        const double end = 2.0 * place(good->step) - place(start);
        next = end < place(high) ? step_at(end) : high;
        if (!is_between(next, good->step, high)) next = high;
        continue;
      }
      const double last = good ? good->step : start;
      if (std::nextafter(last, infinity) >= bad) break;
      const double reached = place(last) - place(start), failed = place(bad) - place(start);
      if (good && reached > 0.8 * failed && failed > 0x1p-40) break;
      next = between(last, bad, good ? 0.5 : share_of_room(from, bad));
    }
    if (good) return *std::move(good);
    Ranking next_float = ranking_at(lines_, std::nextafter(start, infinity));
    if (!is_window_proved(lines_, claim_, from, next_float))
      throw std::logic_error("the claimed AUC is exceeded, so it cannot be proved");
    return next_float;
  }

  // The gain in a window is about proportional to its width: the part of the window in which it
  // stays below the limit.
  double share_of_room(const Ranking& from, double bad) const {
    const Ranking after = ranking_at(lines_, std::nextafter(from.step, infinity));
    const Ranking to = ranking_at(lines_, bad);
    const double room = claim_.room(doubled_bound(lines_, from, after));
    const double over = -claim_.room(doubled_bound(lines_, from, to));
    const double share = room / (room + std::max(over, 0.0));
    return std::clamp(0.95 * share, 0x1p-6, 0.9);
  }
};

}  // namespace rocpath::verify
