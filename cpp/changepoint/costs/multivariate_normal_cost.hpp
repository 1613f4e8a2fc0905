// The normal cost of several columns: the sum of squares around their means.
#pragma once

#include "changepoint/costs/column_statistics.hpp"

namespace rocpath {

struct MultivariateNormalCost {
  using Statistics = ColumnStatistics<MultivariateNormalCost>;

  static constexpr CostProperties properties{.name = "multivariate_normal",
                                             .is_homogeneous = true,
                                             .power = 2,
                                             .n_parameters = 1,
                                             .deviance_unit = 1,
                                             .has_unit = true,
                                             .is_shift_invariant = true};

  static double of_column(double, double square, double) { return square; }
};

}  // namespace rocpath
