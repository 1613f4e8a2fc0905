// The geometric cost (1 + x) log(1 + mu) - x log mu of numbers x of failures before a success,
// minus its value at mu = x. The variance of such counts, mu + mu^2, exceeds that of Poisson
// counts.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "changepoint/costs/exponential_family.hpp"

namespace rocpath {

struct GeometricCost : ExponentialFamily<GeometricCost> {
  static constexpr CostProperties properties{.name = "geometric",
                                             .is_homogeneous = false,
                                             .n_parameters = 1,
                                             .deviance_unit = 0.5,
                                             .has_unit = false,
                                             .is_shift_invariant = false,
                                             .least_x = 0.0,
                                             .variance = {0.0, 1.0, 1.0}};

  static double inside(double mu) { return std::max(mu, std::numeric_limits<double>::min()); }

  static double excess(const CostPiece& piece, double mu) {
    const double failures =
        piece.mean > 0.0 ? piece.counts * half_deviance(mu, piece.mean) : piece.weight * mu;
    const double trials = (piece.weight + piece.counts) * half_deviance(1 + mu, 1 + piece.mean);
    return std::max(0.0, failures - trials);
  }
  static Range excess_bounds(const CostPiece& piece, double mu) {
    return {excess(piece, mu), excess(piece, mu)};
  }

  static double lower_root(const CostPiece& piece, double gap) {
    return piece.mean > 0.0 ? root(piece, gap, 0.0, piece.mean) : 0.0;
  }
  static double upper_root(const CostPiece& piece, double gap) {
    double high = 2 * piece.mean + 1;
    while (excess(piece, high) < gap && high < 1e300) high *= 2;
    return root(piece, gap, piece.mean, high);
  }

  static void merge(CostPiece& piece, const CostPiece& more) {
    const double total = piece.weight + more.weight, counts = piece.counts + more.counts;
    const double mean = counts / total;
    double base = piece.base + more.base + excess(more, inside(mean));
    if (piece.weight > 0.0) base += excess(piece, inside(mean));
    piece = {base, total, mean, counts};
  }

  static double reported(const CostPiece& piece) {
    const double failures = piece.counts > 0.0 ? piece.counts * std::log(piece.mean) : 0.0;
    return (piece.weight + piece.counts) * std::log1p(piece.mean) - failures;
  }

 private:
  static double root(const CostPiece& piece, double gap, double low, double high) {
    return root_between(
        [&](double mu) { return excess(piece, mu) - gap; },
        [&](double mu) { return piece.weight * (mu - piece.mean) / (mu * (1 + mu)); }, low, high);
  }
};

}  // namespace rocpath
