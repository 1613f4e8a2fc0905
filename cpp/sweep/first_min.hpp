// The first minimum of AUM, found in one pass over the rows of a sweep. Memory O(1).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "lines/steps.hpp"

namespace rocpath {

struct BestAUM {
  StepRange interval{};  // steps with the smallest AUM, rounded, or a single step
  double step = 0.0;     // strictly inside the interval, or its only point
  double value = 0.0;    // AUM at that float64
};

// The first interval on which AUM is constant, after it decreased and before it increases. If AUM
// increases at once, the interval is a single step. For convex AUM the first minimum is the global
// one, otherwise a local one.
class FirstMinimum {
 public:
  // Add a row, given the slope of AUM from there to the next row. The sign of the slope must be
  // exact.
  void pass(double step, double slope) {
    if (slope < 0.0) {
      is_reached_ = false;
    } else if (!is_reached_) {
      is_reached_ = true;
      low_ = step;
    }
    if (slope > 0.0 && !is_over_) {
      is_over_ = true;
      high_ = step;
    }
  }

  // Whether AUM does not decrease after the last row.
  bool is_reached() const { return is_reached_; }
  // Whether AUM has increased again.
  bool is_over() const { return is_over_; }

  // The interval, if the slope after the last row continues up to the step `end`. AUM can decrease
  // forever only if lines cross beyond all float64 steps.
  StepRange steps(double end) const {
    const double last = std::min(end, std::numeric_limits<double>::max());
    if (!is_reached_) return {last, last};
    return {low_, is_over_ ? high_ : end};
  }

 private:
  bool is_reached_ = false;
  bool is_over_ = false;
  double low_ = 0.0;
  double high_ = 0.0;
};

// The float64 step to return for a minimum of AUM. Every float64 strictly between the numbers that
// are nearest to its ends has exactly the smallest AUM. Where there is none, the minimum lies
// between two neighboring float64 numbers, and AUM at these may differ by as much as |slope| *
// ulp(step). The result is then the one with the smaller AUM, or the first one if they are equal.
template <class AUMAt, class IsLess>
BestAUM best_float64(StepRange steps, double max_step, const StepScale& scale, AUMAt aum_at,
                     IsLess is_less) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double after_low = std::nextafter(steps.low, infinity);
  if (after_low < steps.high) {
    const double step = scale.inside(steps, after_low);
    return {steps, step, aum_at(step)};
  }
  double best = steps.low > 0.0 ? std::nextafter(steps.low, 0.0) : 0.0;
  for (const double step : {steps.low, steps.high, std::nextafter(steps.high, infinity)})
    if (step > best && step <= max_step && std::isfinite(step) && is_less(step, best)) best = step;
  return {{best, best}, best, aum_at(best)};
}

}  // namespace rocpath
