// AUM as a linear function of the step, valid while the order of the lines does not change.
//
// Its two sums (eq. AUM_s) are stored in double-double arithmetic, with bounds on their rounding
// errors. Adding a line takes O(1).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/compensated_sum.hpp"

namespace rocpath {

// AUM(s) = intercept_sum + s * slope_sum, the sums over lines of weight * intercept and weight *
// slope. A line's weight is the decrease of min(FP, FN) from below it to above it.
class AUMPiece {
 public:
  CompensatedSum intercept_sum;
  CompensatedSum slope_sum;

  AUMPiece() = default;
  // Construct from existing sums and from the sums of the absolute values of their terms.
  AUMPiece(DoubleDouble intercepts, DoubleDouble slopes, double intercept_size, double slope_size)
      : intercept_sum(intercepts),
        slope_sum(slopes),
        intercept_size_(intercept_size),
        slope_size_(slope_size) {}

  void add(DoubleDouble weight, double intercept, double slope) {
    intercept_sum.add(weight * intercept);
    slope_sum.add(weight * slope);
    intercept_size_ += size_of_product(weight.high, intercept);
    slope_size_ += size_of_product(weight.high, slope);
  }

  // The absolute value of a product, which is zero only if a factor is zero. An empty sum can thus
  // be distinguished from one that underflows.
  static double size_of_product(double a, double b) {
    const double size = std::fabs(a * b);
    if (size == 0.0 && a != 0.0 && b != 0.0) return std::numeric_limits<double>::denorm_min();
    return size;
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

  double slope() const { return slope_sum.value(); }

  // Whether cancellation or underflow leaves the sign of the slope, or its digits, uncertain.
  bool is_sign_in_doubt() const { return is_slope_below(rounding); }
  bool is_slope_in_doubt() const { return is_slope_below(few_digits); }

  // Bound on the rounding error of the slope.
  double slope_doubt() const { return rounding * slope_size_ + smallest; }

  // AUM on this piece, which is accurate unless `is_in_doubt_at(step)`.
  double at(double step) const {
    // Each fma rounds once, after the cancellation, so this is as accurate as double-double
    // arithmetic.
    const DoubleDouble& slope = slope_sum.parts();
    const DoubleDouble& intercept = intercept_sum.parts();
    return std::fma(step, slope.high, intercept.high) + std::fma(step, slope.low, intercept.low);
  }

  // The same in double-double arithmetic, and a bound on its rounding error.
  DoubleDouble precisely_at(double step) const {
    return intercept_sum.sum() + slope_sum.sum() * step;
  }
  double doubt_at(double step) const {
    return rounding * intercept_size_ + smallest + slope_doubt() * step;
  }

  // Whether cancellation, underflow or overflow leaves AUM with fewer digits than a float64 has.
  bool is_in_doubt_at(double step) const {
    if (is_empty()) return false;
    // At large steps, even a slope that underflows matters.
    return !(std::fabs(at(step)) > few_digits * intercept_size_ + smallest +
                                       (few_digits * slope_size_ + smallest) * step);
  }

  // Whether both sums are so small that they may be zero.
  bool may_be_zero() const {
    return is_sign_in_doubt() &&
           std::fabs(intercept_sum.value()) <= rounding * intercept_size_ + smallest;
  }

  // Sums of the absolute values of the terms.
  double intercept_size() const { return intercept_size_; }
  double slope_size() const { return slope_size_; }
  bool is_empty() const { return intercept_size_ == 0.0 && slope_size_ == 0.0; }

 private:
  // Error of 2^25 double-double additions, and the smallest sum that is then accurate to 53 bits,
  // both relative to the sum of the absolute values of the terms.
  static constexpr double rounding = 0x1p-80;
  static constexpr double few_digits = 0x1p-27;
  static constexpr double smallest = 0x1p-900;  // below it, products may underflow
  double intercept_size_ = 0.0;
  double slope_size_ = 0.0;

  bool is_slope_below(double share) const {
    return slope_size_ != 0.0 && !(std::fabs(slope_sum.value()) > share * slope_size_ + smallest);
  }
};

}  // namespace rocpath
