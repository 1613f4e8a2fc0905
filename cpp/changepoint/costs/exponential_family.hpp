// Costs that are minus the log-likelihood of a one-parameter exponential family, as functions of
// its mean mu.
//
// If the variance of an observation x is proportional to V(mu), the derivative of its cost is
// (mu - x) / V(mu). So the cost of a segment decreases below the weighted mean and increases above
// it, and the difference of two costs has at most one extremum. Pruning requires only these two
// properties; the cost need not be convex.
#pragma once

#include <cmath>

#include "changepoint/costs/cost_pieces.hpp"

namespace rocpath {

// The half deviance of several families is a multiple of h(u) = u - log(1 + u), where u is the
// relative distance between the mean and mu. Requires: reference > 0.
inline double half_deviance(double value, double reference) {
  // log1p is accurate near the reference, where the terms cancel, and log far below it.
  const double beyond = (value - reference) / reference;
  const double log_ratio = beyond < -0.5 ? std::log(value / reference) : std::log1p(beyond);
  return beyond - log_ratio;
}

// log(1 + u) for the root u < 0 of h(u) = level, by Newton's method from outside the root: the
// function is convex, so no iterate passes the root.
inline double log_root_below(double level) {
  double log_ratio = -(level + std::sqrt(2 * level));
  for (int step = 0; step < 30 && log_ratio < 0.0; ++step) {
    const double rise = std::expm1(log_ratio);
    const double move = (rise - log_ratio - level) / rise;
    log_ratio -= move;
    if (std::fabs(move) <= 1e-15 * std::fabs(log_ratio)) break;
  }
  return log_ratio;
}

// The root u > 0 of h(u) = level.
inline double root_above(double level) {
  double beyond = level + std::sqrt(2 * level);
  for (int step = 0; step < 30 && beyond > 0.0; ++step) {
    const double move = (beyond - std::log1p(beyond) - level) * (1 + beyond) / beyond;
    beyond -= move;
    if (std::fabs(move) <= 1e-15 * beyond) break;
  }
  return beyond;
}

// The functions that costs of exponential families share. A cost defines, besides its
// properties:
// - excess, lower_root, upper_root, merge and reported, as in `normal_cost.hpp`;
// - excess_bounds(piece, mu): bounds of the excess, which are faster to compute;
// - inside(mu): the nearest mean where all costs are finite. The sign of the difference of two
//   infinite costs with the same counts would depend on rounding.
template <class Cost>
struct ExponentialFamily {
  static constexpr bool reports_base = false;

  static bool is_within(const CostPiece& piece, double mu, double gap) {
    const Range bounds = Cost::excess_bounds(piece, mu);
    if (bounds.high <= gap) return true;
    return bounds.low <= gap && Cost::excess(piece, mu) <= gap;
  }

  static double difference(const CostPiece& a, const CostPiece& b, double mu) {
    const double at = Cost::inside(mu);
    return (a.base - b.base) + (Cost::excess(a, at) - Cost::excess(b, at));
  }
  // The bounds usually determine the sign without a logarithm.
  static double sign_of_difference(const CostPiece& a, const CostPiece& b, double mu) {
    const double at = Cost::inside(mu);
    const Range of_a = Cost::excess_bounds(a, at), of_b = Cost::excess_bounds(b, at);
    if (const double most = (a.base - b.base) + (of_a.high - of_b.low); most < 0.0) return most;
    if (const double least = (a.base - b.base) + (of_a.low - of_b.high); least > 0.0) return least;
    return Cost::difference(a, b, at);
  }
  static double slope_of_difference(const CostPiece& a, const CostPiece& b, double mu) {
    constexpr CostProperties own = Cost::properties;
    static_assert(own.variance[0] == 0.0);
    const double variance_per_mean =
        (own.variance[1] + own.variance[2] * mu) / (2 * own.deviance_unit);
    return ((a.weight - b.weight) - (a.counts - b.counts) / mu) / variance_per_mean;
  }
  static double turning_point(const CostPiece& a, const CostPiece& b) {
    return (a.counts - b.counts) / (a.weight - b.weight);
  }
};

}  // namespace rocpath
