// The cost of a segment with its own mean and variance: minus twice the normal log-likelihood
// without its constants, weight * log(variance). If the mean square around the mean is below the
// floor, the variance is the floor; the cost is then still a minimum over parameters, which pruning
// requires.
#pragma once

#include <cmath>

#include "changepoint/costs/column_statistics.hpp"

namespace rocpath {

struct MeanVarianceCost {
  using Statistics = ColumnStatistics<MeanVarianceCost>;

  static constexpr CostProperties properties{
      // A change of units adds a constant to the cost.
      .name = "mean_variance",    .is_homogeneous = true, .power = 0,
      .n_parameters = 2,          .deviance_unit = 1,     .has_unit = true,
      .is_shift_invariant = true, .min_length = 2};

  static double of_column(double weight, double square, double floor) {
    const double variance = square / weight;
    if (variance >= floor) return weight * std::log(variance);
    return weight * std::log(floor) + square / floor - weight;
  }
};

}  // namespace rocpath
