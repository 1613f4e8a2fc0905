// Compensated summation: a running sum in twice the precision of its terms.
//
// Each addition takes O(1), and also stores its rounding error (Ogita, Rump & Oishi, "Accurate sum
// and dot product", 2005). The result is as accurate as if it were computed with about 106 bits and
// rounded once.
#pragma once

#include "numerics/exact.hpp"

namespace rocpath {

class CompensatedSum {
 public:
  CompensatedSum() = default;
  explicit CompensatedSum(DoubleDouble sum) : sum_(sum) {}

  void add(double term) {
    const DoubleDouble next = two_sum(sum_.high, term);
    sum_ = {next.high, sum_.low + next.low};
  }

  void add_product(double a, double b) { add_product(a, b, sum_.high, sum_.low); }

  // Add a double-double term, which takes more operations than a float64 term.
  void add(DoubleDouble term) { sum_ = sum_ + term; }

  void add(const CompensatedSum& other) { add(other.sum_); }
  void subtract(const CompensatedSum& other) { add(-other.sum_); }

  double value() const { return sum_.value(); }
  DoubleDouble sum() const { return two_sum(sum_.high, sum_.low); }
  // The two parts without normalization: they may overlap.
  const DoubleDouble& parts() const { return sum_; }

  // The same for a sum whose two parts are stored in separate arrays.
  static void add_product(double a, double b, double& high, double& low) {
    const DoubleDouble product = two_product(a, b);
    const DoubleDouble next = two_sum(high, product.high);
    high = next.high;
    low += next.low + product.low;
  }

 private:
  DoubleDouble sum_;
};

}  // namespace rocpath
