// Costs of a segment as functions of its mean.
//
// Every cost is stored as base + weight * deviance(mean, mu): its smallest value, the total weight
// and the weighted mean of the data. Data are added by Welford's update, which avoids cancellation,
// so the error is a few ulps of the cost, not of the sum of squares of the data. A constant has
// weight 0.
//
// A cost is a struct of static functions in a separate header; read `normal_cost.hpp` first.
// `segment_models.hpp` lists all costs.
#pragma once

#include <algorithm>
#include <cmath>

#include "changepoint/settings.hpp"

namespace rocpath {

struct CostPiece {
  double base = 0.0;
  double weight = 0.0;
  double mean = 0.0;
  double counts = 0.0;  // weight * mean; only for exponential families, where it is an exact sum
};

// The root of a monotone function between two points where its signs differ, by Newton's method
// with bisection if a step leaves the bracket.
template <class Function, class Derivative>
double root_between(Function&& function, Derivative&& derivative, double low, double high) {
  const bool is_rising = function(high) > 0.0;
  double at = low + (high - low) / 2;
  for (int step = 0; step < 100 && low < at && at < high; ++step) {
    const double value = function(at);
    if (value == 0.0) return at;
    ((value > 0.0) == is_rising ? high : low) = at;
    double next = at - value / derivative(at);
    if (!(low < next && next < high)) next = low + (high - low) / 2;
    if (std::fabs(next - at) <= 1e-16 * std::fabs(at)) return next;
    at = next;
  }
  return at;
}

// The cost at mu.
template <class Cost>
double value_at(const CostPiece& piece, double mu) {
  return mu == piece.mean ? piece.base : piece.base + Cost::excess(piece, mu);
}

}  // namespace rocpath
