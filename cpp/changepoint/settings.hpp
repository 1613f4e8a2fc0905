// What a segment cost and a search share: observations, settings, and the properties of a cost.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "changepoint/label_rules.hpp"

namespace rocpath {

inline constexpr double infinite_cost = std::numeric_limits<double>::infinity();

struct Range {
  double low = 0.0;
  double high = 0.0;
};

// Rows of one or several columns, and the weight of each.
struct Observations {
  std::span<const double> x;
  std::span<const double> weight;

  std::size_t size() const { return weight.size(); }
};

struct SegmentSettings {
  Range means;  // range of all data; low < high
  bool has_penalty;
  double penalty;           // penalty of a change, if has_penalty
  std::size_t max_changes;  // maximum number of changes, if not has_penalty
  std::size_t min_length;   // minimum segment length, at least 1
  std::vector<LabelRegion> regions;
  double threshold = 1.0;              // threshold of robust costs
  std::vector<double> floor = {1e-6};  // smallest variance of each column
};

// Everything that code outside of `costs` may know about a cost. Members without a default value
// differ between costs, so each cost sets them.
struct CostProperties {
  const char* name;
  // Whether the cost of c * x is c^power times that of x, plus a constant, for c > 0. If not, the
  // search does not scale the observations.
  bool is_homogeneous;
  int power = 0;
  // Number of parameters of a segment, for each column. A change adds them and a position.
  int n_parameters;
  // A decrease of the cost by this amount is one unit of the deviance (minus twice the
  // log-likelihood), divided by the noise variance if that is not a function of the mean.
  double deviance_unit;
  // Whether observations have a unit of measurement; counts and fractions have none.
  bool has_unit;
  // Whether adding a constant to x changes only the means.
  bool is_shift_invariant;
  // Observations are from `least_x` to `most_x`.
  double least_x = -infinite_cost;
  double most_x = infinite_cost;
  // Coefficients of 1, mu and mu^2 of the variance of an observation with mean mu and weight 1; all
  // are zero if the noise variance does not depend on the mean.
  std::array<double, 3> variance = {0.0, 0.0, 0.0};
  // Default threshold of a robust cost, in standard deviations of the noise; 0 for other costs.
  double threshold = 0.0;
  // Whether each observation has a time, which follows its value.
  bool uses_time = false;
  // Minimum number of observations needed to estimate the parameters.
  std::size_t min_length = 1;
};

}  // namespace rocpath
