// The cost of exponential waiting times, log mu + x / mu, minus its value at mu = x:
// deviance(m, mu) = m / mu - 1 - log(m / mu).
#pragma once

#include <algorithm>
#include <cmath>

#include "changepoint/costs/exponential_family.hpp"

namespace rocpath {

// A cost that depends only on the ratio of x and mu, which must be positive. Exponential waiting
// times are from 1e-100 to 1e100, so that no ratio overflows.
template <class Cost>
struct RatioCost : ExponentialFamily<Cost> {
  static double inside(double mu) { return mu; }

  static double excess(const CostPiece& piece, double mu) {
    return std::max(0.0, piece.weight * half_deviance(piece.mean, mu));
  }
  static Range excess_bounds(const CostPiece& piece, double mu) {
    const double beyond = (piece.mean - mu) / mu;
    const double one = piece.weight * beyond * beyond / 2;
    const double other = one / (1 + beyond);
    return {std::min(one, other), std::max(one, other)};
  }

  static double lower_root(const CostPiece& piece, double gap) {
    return piece.mean / (1 + root_above(gap / piece.weight));
  }
  static double upper_root(const CostPiece& piece, double gap) {
    return piece.mean * std::exp(-log_root_below(gap / piece.weight));
  }

  static void merge(CostPiece& piece, const CostPiece& more) {
    const double total = piece.weight + more.weight;
    const double counts = piece.counts + more.counts;
    const double mean = counts / total;
    double base = piece.base + more.base + more.weight * std::log(mean / more.mean);
    if (piece.weight > 0.0) {
      const double growth = more.weight / total * (more.mean - piece.mean) / piece.mean;
      const double log_ratio = growth < -0.5 ? std::log(mean / piece.mean) : std::log1p(growth);
      base += piece.weight * log_ratio;
    }
    piece = {base, total, mean, counts};
  }
};

struct ExponentialCost : RatioCost<ExponentialCost> {
  static constexpr CostProperties properties{.name = "exponential",
                                             .is_homogeneous = true,
                                             .power = 0,
                                             .n_parameters = 1,
                                             .deviance_unit = 0.5,
                                             .has_unit = true,
                                             .is_shift_invariant = false,
                                             .least_x = 1e-100,
                                             .variance = {0.0, 0.0, 1.0}};

  static double reported(const CostPiece& piece) {
    return piece.weight * (1 + std::log(piece.mean));
  }
};

}  // namespace rocpath
