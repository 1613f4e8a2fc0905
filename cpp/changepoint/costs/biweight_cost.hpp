// The biweight cost: the squared distance to the center, but at most the squared threshold. The
// cost of an outlier is bounded, so that a single outlier does not justify changes.
#pragma once

#include <algorithm>
#include <cmath>

#include "changepoint/costs/robust_functions.hpp"

namespace rocpath {

struct BiweightCost {
  static constexpr CostProperties properties{.name = "biweight",
                                             .is_homogeneous = true,
                                             .power = 2,
                                             .n_parameters = 1,
                                             .deviance_unit = 1,
                                             .has_unit = true,
                                             .is_shift_invariant = true,
                                             // As Fearnhead and Rigaill recommend.
                                             .threshold = 3.0};

  static Quadratic below(double, double weight, double threshold) {
    return {0.0, 0.0, weight * threshold * threshold};
  }
  static Quadratic near(double x, double weight, double) { return weighted_square(x, weight); }
  static Quadratic above(double x, double weight, double threshold) {
    return below(x, weight, threshold);
  }
  static double loss(double distance, double threshold) {
    const double size = std::min(std::fabs(distance), threshold);
    return size * size;
  }
};

}  // namespace rocpath
