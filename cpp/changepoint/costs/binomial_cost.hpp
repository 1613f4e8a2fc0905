// The cost of a fraction x of successes in `weight` trials, -x log p - (1 - x) log(1 - p), minus
// its value at p = x. It is the sum of the Poisson costs of the fractions of successes and
// failures.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "changepoint/costs/poisson_cost.hpp"

namespace rocpath {

struct BinomialCost : ExponentialFamily<BinomialCost> {
  static constexpr CostProperties properties{.name = "binomial",
                                             .is_homogeneous = false,
                                             .n_parameters = 1,
                                             .deviance_unit = 0.5,
                                             .has_unit = false,
                                             .is_shift_invariant = false,
                                             .least_x = 0.0,
                                             .most_x = 1.0,
                                             .variance = {0.0, 1.0, -1.0}};

  static double inside(double p) {
    return std::clamp(p, std::numeric_limits<double>::min(),
                      1 - std::numeric_limits<double>::epsilon() / 2);
  }

  static double excess(const CostPiece& piece, double p) {
    return PoissonCost::excess(piece, p) + PoissonCost::excess(failures(piece), complement(p));
  }
  static Range excess_bounds(const CostPiece& piece, double p) {
    const Range one = PoissonCost::excess_bounds(piece, p);
    const Range other = PoissonCost::excess_bounds(failures(piece), complement(p));
    return {one.low + other.low, one.high + other.high};
  }

  // Each Poisson cost is at most the sum, so the roots of the sum are between those of each Poisson
  // cost. The latter are bounded: if u - log(1 + u) = level, then u and |log(1 + u)| are at most
  // level + sqrt(2 level).
  static double lower_root(const CostPiece& piece, double gap) {
    if (piece.mean == 0.0) return 0.0;
    const CostPiece failed = failures(piece);
    const double by_successes = piece.mean * std::exp(-root_bound(piece, gap));
    const double by_failures = piece.mean - failed.mean * root_bound(failed, gap);
    return root_from(piece, failed.mean == 0.0 ? by_successes : std::max(by_successes, by_failures),
                     gap);
  }
  static double upper_root(const CostPiece& piece, double gap) {
    const CostPiece failed = failures(piece);
    if (failed.mean == 0.0) return 1.0;
    const double by_successes = piece.mean * (1 + root_bound(piece, gap));
    const double by_failures = piece.mean - failed.mean * std::expm1(-root_bound(failed, gap));
    return root_from(piece, piece.mean == 0.0 ? by_failures : std::min(by_successes, by_failures),
                     gap);
  }

  static void merge(CostPiece& piece, const CostPiece& more) {
    if (piece.weight == 0.0) {
      piece = {piece.base + more.base, more.weight, more.mean, more.counts};
      return;
    }
    CostPiece failed = failures(piece);
    PoissonCost::merge(failed, failures(more));
    PoissonCost::merge(piece, more);
    piece.base += failed.base;
  }

  static double reported(const CostPiece& piece) {
    return minus_log(piece) + minus_log(failures(piece));
  }

 private:
  // The interval of means of a constant sequence may extend above 1.
  static double complement(double p) { return std::max(0.0, 1 - p); }

  // The failures of the same trials. Their base is 0, because `piece.base` includes both costs.
  static CostPiece failures(const CostPiece& piece) {
    const double mean = complement(piece.mean);
    return {0.0, piece.weight, mean, piece.weight * mean};
  }

  static double root_bound(const CostPiece& piece, double gap) {
    const double level = gap / piece.counts;
    return level + std::sqrt(2 * level);
  }
  // Newton's method from outside the root: the excess is convex, so no iterate passes the root.
  static double root_from(const CostPiece& piece, double p, double gap) {
    const bool is_lower = p < piece.mean;
    for (int step = 0; step < 30 && 0.0 < p && p < 1.0 && p != piece.mean; ++step) {
      const double slope = piece.weight * (p - piece.mean) / (p * (1 - p));
      const double move = (excess(piece, p) - gap) / slope;
      p -= move;
      if (is_lower != (p < piece.mean) || std::fabs(move) <= 1e-15 * p) break;
    }
    return p;
  }

  static double minus_log(const CostPiece& piece) {
    return piece.counts > 0.0 ? -piece.counts * std::log(piece.mean) : 0.0;
  }
};

}  // namespace rocpath
