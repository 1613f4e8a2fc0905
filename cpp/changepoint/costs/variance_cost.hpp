// The cost of a segment with mean zero and its own variance: minus twice the normal log-likelihood
// without its constants, weight * log(variance). Up to a constant, this is the exponential cost of
// the squared data. The observations of this cost are these squares, which must be positive.
#pragma once

#include <cmath>

#include "changepoint/costs/exponential_cost.hpp"

namespace rocpath {

struct VarianceCost : RatioCost<VarianceCost> {
  // The observations are squares, whose variance is twice the squared mean.
  static constexpr CostProperties properties{.name = "variance",
                                             .is_homogeneous = true,
                                             .power = 0,
                                             .n_parameters = 1,
                                             .deviance_unit = 1,
                                             .has_unit = true,
                                             .is_shift_invariant = false,
                                             .variance = {0.0, 0.0, 2.0}};

  static double reported(const CostPiece& piece) { return piece.weight * std::log(piece.mean); }
};

}  // namespace rocpath
