// The first minimum of AUM, found while its rows go by in order of the step.
#pragma once

#include "steps.hpp"

namespace rocpath {

struct BestAUM {
  StepRange interval{};  // the float64 numbers nearest to the ends of the smallest AUM, or the step
  double step = 0.0;     // strictly inside the interval, or its only point
  double value = 0.0;    // AUM at that float64
};

// A stretch on which AUM does not change, after it decreased and before it increases; its start
// alone where AUM increases at once. For convex AUM the first minimum is the global one, otherwise
// a local one.
class FirstMinimum {
 public:
  // From this row to the next one AUM has this slope, whose sign is exact.
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

  bool is_reached() const { return is_reached_; }  // AUM does not decrease after the last row
  bool is_over() const { return is_over_; }        // it has increased

  // The stretch, if AUM goes on as it does after the last row up to the step `end`. Where AUM
  // decreases without an end, lines cross beyond all float64 steps.
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
// between two neighboring float64 numbers, and AUM at these may differ by much: by
// |slope| * ulp(step). Then it is the one with the smaller AUM, or the first of them.
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
