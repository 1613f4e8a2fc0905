// Minus twice the normal log-likelihood with mean zero and a variance of every segment, without its
// constants: weight * log(variance). Of the squares of the data, this is the cost of exponential
// waiting times. The data of the search are these squares, which are at least the variance floor.
#pragma once

#include "exponential_cost.hpp"

namespace rocpath {

struct VarianceCost : RatioCost<VarianceCost> {
  static constexpr const char* name = "variance";
  static constexpr double least_x = -infinite_cost;

  static double reported(const CostPiece& piece) { return piece.weight * std::log(piece.mean); }
};

}  // namespace rocpath
