// The normal cost of several columns: the sum of squares around their means.
#pragma once

#include "changepoint/costs/cost_pieces.hpp"

namespace rocpath {

struct MeanCost {
  static constexpr const char* name = "columns";
  static constexpr int power = 2;
  static constexpr double least_x = -infinite_cost;
  static constexpr double most_x = infinite_cost;
  static constexpr bool is_shift_invariant = true;

  static double of_column(double, double square, double) { return square; }
};

}  // namespace rocpath
