// The cost of a segment with mean zero and its own variance: minus twice the normal log-likelihood
// without its constants, weight * log(variance). Up to a constant, this is the exponential cost of
// the squared data. The observations of this cost are these squares, which must be positive.
#pragma once

#include "changepoint/costs/exponential_cost.hpp"

namespace rocpath {

struct VarianceCost : RatioCost<VarianceCost> {
  static constexpr const char* name = "variance";
  static constexpr double least_x = -infinite_cost;

  static double reported(const CostPiece& piece) { return piece.weight * std::log(piece.mean); }
};

}  // namespace rocpath
