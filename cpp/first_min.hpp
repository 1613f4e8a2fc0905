// The first minimum of AUM, found while its rows go by in order of the step.
#pragma once

#include "steps.hpp"

namespace rocpath {

struct BestAUM {
  StepRange interval{};  // all steps with the smallest AUM
  double step = 0.0;     // one of them, inside if there is an inside
  double value = 0.0;
};

// A stretch on which AUM does not change, after it fell and before it rises; its start alone where
// AUM rises at once. For convex AUM the first minimum is the global one, otherwise a local one.
class FirstMinimum {
 public:
  // From this row to the next one AUM has this slope, whose sign is exact.
  void pass(double step, double aum, double slope) {
    if (slope < 0.0) {
      is_reached_ = false;
    } else if (!is_reached_) {
      is_reached_ = true;
      flat_from_ = step;
      value_ = aum;
    }
    if (slope > 0.0 && !is_over_) {
      is_over_ = true;
      flat_to_ = step;
    }
    step_ = step;
    aum_ = aum;
    slope_ = slope;
  }

  bool is_reached() const { return is_reached_; }  // AUM does not fall after the last row
  bool is_over() const { return is_over_; }        // it has risen

  // The minimum, if AUM goes on as it does after the last row up to the step `end`.
  BestAUM best(double end, const StepScale& scale) const {
    if (!is_reached_) {
      // Where AUM falls without an end, lines cross beyond all float64 steps.
      const double last = std::min(end, std::numeric_limits<double>::max());
      return {{last, last}, last, aum_ + slope_ * (last - step_)};
    }
    const StepRange flat{flat_from_, is_over_ ? flat_to_ : end};
    return {flat, scale.inside(flat, flat.low), value_};
  }

 private:
  bool is_reached_ = false;
  bool is_over_ = false;
  double flat_from_ = 0.0;
  double flat_to_ = 0.0;
  double value_ = 0.0;
  double step_ = 0.0;  // the last row
  double aum_ = 0.0;
  double slope_ = 0.0;
};

}  // namespace rocpath
