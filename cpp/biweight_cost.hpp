// The square of the distance up to a threshold, and constant beyond: an outlier costs no more than
// a distance of the threshold, so that it does not pay for changes.
#pragma once

#include "robust_search.hpp"

namespace rocpath {

struct BiweightCost {
  static constexpr const char* name = "biweight";
  static Quadratic below(double, double weight, double threshold) {
    return {0.0, 0.0, weight * threshold * threshold};
  }
  static Quadratic near(double x, double weight, double) { return weighted_square(x, weight); }
  static Quadratic above(double x, double weight, double threshold) {
    return below(x, weight, threshold);
  }
};

}  // namespace rocpath
