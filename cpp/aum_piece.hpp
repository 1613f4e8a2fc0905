// AUM as a linear function of the step, while the order of the lines stays.
#pragma once

#include <algorithm>

#include "compensated_sum.hpp"

namespace rocpath {

// AUM(s) = intercept_sum + s * slope_sum, sums over lines of weight * intercept and weight * slope
// (eq. AUM_s). A line's weight is the fall of min(FP, FN) from below it to above it.
class AUMPiece {
 public:
  CompensatedSum intercept_sum;
  CompensatedSum slope_sum;

  AUMPiece() = default;
  // Sums that were taken elsewhere, with the sums of the sizes of their terms.
  AUMPiece(DoubleDouble intercepts, DoubleDouble slopes, double intercept_size, double slope_size)
      : intercept_sum(intercepts),
        slope_sum(slopes),
        intercept_size_(intercept_size),
        slope_size_(slope_size) {}

  void add(DoubleDouble weight, double intercept, double slope) {
    intercept_sum.add(weight * intercept);
    slope_sum.add(weight * slope);
    intercept_size_ += std::fabs(weight.high * intercept);
    slope_size_ += std::fabs(weight.high * slope);
  }

  void add(const AUMPiece& other) {
    intercept_sum.add(other.intercept_sum);
    slope_sum.add(other.slope_sum);
    intercept_size_ += other.intercept_size_;
    slope_size_ += other.slope_size_;
  }

  void subtract(const AUMPiece& other) {
    intercept_sum.subtract(other.intercept_sum);
    slope_sum.subtract(other.slope_sum);
    intercept_size_ += other.intercept_size_;
    slope_size_ += other.slope_size_;
  }

  // Right to 100 bits or so of the sizes of its terms, unless it is in doubt.
  double slope() const { return slope_sum.value(); }

  // Is the slope too small to tell its sign, for cancellation or because terms may underflow?
  bool is_slope_in_doubt() const {
    return std::fabs(slope_sum.value()) <= std::max(0x1p-70 * slope_size_, 0x1p-900);
  }

  // AUM where the slope is zero, whatever rounding has left of it.
  double flat_value() const {
    const double value = intercept_sum.value();
    return std::fabs(value) <= rounding * intercept_size_ ? 0.0 : value;
  }

  // Is the sum zero, but for the rounding of the few terms it was made of?
  bool is_nothing() const {
    constexpr double noise = 0x1p-98;
    return std::fabs(slope_sum.value()) <= noise * slope_size_ &&
           std::fabs(intercept_sum.value()) <= noise * intercept_size_;
  }

  // Sums of the sizes of the terms.
  double intercept_size() const { return intercept_size_; }
  double slope_size() const { return slope_size_; }

  double at(double step) const {
    // Each fma rounds once, after the cancellation: as accurate as double-double here.
    const DoubleDouble& slope = slope_sum.parts();
    const DoubleDouble& intercept = intercept_sum.parts();
    const double value =
        std::fma(step, slope.high, intercept.high) + std::fma(step, slope.low, intercept.low);
    if (!std::isfinite(value)) return step * slope.high + intercept.high;
    return std::fabs(value) <= rounding * (intercept_size_ + slope_size_ * step) ? 0.0 : value;
  }

 private:
  // What millions of double-double additions may be off by, relative to the sizes of the terms. An
  // AUM below that is zero: it is only ever reported, no decision depends on it.
  static constexpr double rounding = 0x1p-90;
  double intercept_size_ = 0.0;
  double slope_size_ = 0.0;
};

// AUM at a kink. The float64 step may lie on either side of the exact one: where AUM is flat on one
// side, it has the flat value there; otherwise, of the two pieces, the upper one holds on both
// sides of a convex kink, and the lower one on both sides of a concave kink.
inline double aum_at_kink(const AUMPiece& before, double slope_before, const AUMPiece& after,
                          double slope_after, double step) {
  if (slope_after == 0.0) return after.flat_value();
  if (slope_before == 0.0) return before.flat_value();
  const double right = after.at(step);
  if (slope_after == slope_before) return right;
  const double left = before.at(step);
  return slope_after >= slope_before ? std::max(left, right) : std::min(left, right);
}

}  // namespace rocpath
