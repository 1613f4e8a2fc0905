// Minus twice the normal log-likelihood with a mean and a variance of every segment, without its
// constants: weight * log(variance), if the variance is the mean square. A variance below the floor
// is set to the floor; that is still a minimum over parameters, which pruning requires.
#pragma once

#include "cost_pieces.hpp"

namespace rocpath {

struct MeanVarianceCost {
  static constexpr const char* name = "mean_variance";
  // A change of the unit adds a constant to the cost.
  static constexpr int power = 0;
  static constexpr double least_x = -infinite_cost;
  static constexpr double most_x = infinite_cost;
  static constexpr bool is_shift_invariant = true;

  static double of_column(double weight, double square, double floor) {
    const double variance = square / weight;
    if (variance >= floor) return weight * std::log(variance);
    return weight * std::log(floor) + square / floor - weight;
  }
};

}  // namespace rocpath
