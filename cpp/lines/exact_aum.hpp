// AUM as a linear function of the step, without rounding.
//
// Where the terms of AUM cancel to less than 2^-27 of their absolute values, for example next to a
// line far beyond all others, double-double arithmetic does not determine the digits of AUM, nor
// the sign of its slope. Then they are computed from these sums, which are exact at any magnitude,
// in O(B).
#pragma once

#include <cstdint>

#include "numerics/exact.hpp"

namespace rocpath {

// The sums of `AUMPiece` (aum_piece.hpp).
class ExactAUM {
 public:
  // Add a line where min(FP, FN) decreases by count * unit.
  void add(std::int64_t count, double unit, double intercept, double slope) {
    const DoubleDouble parts = from_integer(count);
    for (const double part : {parts.high, parts.low}) {
      if (part == 0.0) continue;
      const DoubleDouble weight = two_product(part, unit);
      for (const double one : {weight.high, weight.low}) {
        intercept_.add_product(one, intercept);
        slope_.add_product(one, slope);
      }
    }
  }

  void add(const ExactAUM& other) {
    intercept_.add(other.intercept_);
    slope_.add(other.slope_);
  }

  // Add double-double sums that are exact.
  void add(DoubleDouble intercept, DoubleDouble slope) {
    for (const double part : {intercept.high, intercept.low}) intercept_.add_product(part, 1.0);
    for (const double part : {slope.high, slope.low}) slope_.add_product(part, 1.0);
  }

  bool is_zero() const { return ExactSum(intercept_).sign() == 0 && ExactSum(slope_).sign() == 0; }

  // The slope to 53 bits, of which the last may be wrong. The result is zero only if the slope is
  // zero.
  double slope() const { return ExactSum(slope_).value(); }
  double at(double step) const {
    ExactSum sum = intercept_;
    sum.add_multiple(slope_, step);
    return sum.value();
  }
  // This function at a step minus another one at another step.
  double difference(double step, const ExactAUM& other, double other_step) const {
    ExactSum sum = intercept_;
    sum.add_multiple(slope_, step);
    sum.add_multiple(other.intercept_, -1.0);
    sum.add_multiple(other.slope_, -other_step);
    return sum.value();
  }

 private:
  ExactSum intercept_;
  ExactSum slope_;
};

// Thrown if exact sums of the lines outside a box are needed but not available.
struct SumsInDoubt {};

}  // namespace rocpath
