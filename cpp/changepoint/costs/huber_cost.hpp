// The Huber cost: the squared distance to the center up to a threshold, and its tangent beyond it.
// It is convex, and the cost of an outlier increases linearly with its distance.
#pragma once

#include <cmath>

#include "changepoint/costs/robust_functions.hpp"

namespace rocpath {

struct HuberCost {
  static constexpr CostProperties properties{.name = "huber",
                                             .is_homogeneous = true,
                                             .power = 2,
                                             .n_parameters = 1,
                                             .deviance_unit = 1,
                                             .has_unit = true,
                                             .is_shift_invariant = true,
                                             // For 95% efficiency with normal noise.
                                             .threshold = 1.345};

  // The tangent is threshold * (2 * distance - threshold).
  static Quadratic below(double x, double weight, double threshold) {
    return {0.0, -2 * weight * threshold, weight * threshold * (2 * x - threshold)};
  }
  static Quadratic near(double x, double weight, double) { return weighted_square(x, weight); }
  static Quadratic above(double x, double weight, double threshold) {
    return {0.0, 2 * weight * threshold, -weight * threshold * (2 * x + threshold)};
  }
  static double loss(double distance, double threshold) {
    const double size = std::fabs(distance);
    return size <= threshold ? size * size : threshold * (2 * size - threshold);
  }
};

}  // namespace rocpath
