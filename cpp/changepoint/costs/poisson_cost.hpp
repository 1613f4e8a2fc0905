// The Poisson cost mu - x log mu, minus its value at mu = x:
// deviance(m, mu) = mu - m - m log(mu / m).
#pragma once

#include <algorithm>
#include <cmath>

#include "changepoint/costs/exponential_family.hpp"

namespace rocpath {

struct PoissonCost : ExponentialFamily<PoissonCost> {
  static constexpr CostProperties properties{.name = "poisson",
                                             .is_homogeneous = true,
                                             .power = 1,
                                             .n_parameters = 1,
                                             .deviance_unit = 0.5,
                                             .has_unit = false,
                                             .is_shift_invariant = false,
                                             .least_x = 0.0,
                                             .variance = {0.0, 1.0, 0.0}};

  static double inside(double mu) { return mu; }

  static double excess(const CostPiece& piece, double mu) {
    if (piece.mean == 0.0) return piece.weight * mu;
    return std::max(0.0, piece.counts * half_deviance(mu, piece.mean));
  }

  // u - log(1 + u) is between u^2 / 2 and u^2 / (2 + 2u).
  static Range excess_bounds(const CostPiece& piece, double mu) {
    if (piece.mean == 0.0 || mu == 0.0) return {excess(piece, mu), excess(piece, mu)};
    const double distance = mu - piece.mean;
    const double one = piece.weight * distance * distance / (2 * piece.mean);
    const double other = one * piece.mean / mu;
    return {std::min(one, other), std::max(one, other)};
  }

  static double lower_root(const CostPiece& piece, double gap) {
    if (piece.mean == 0.0) return 0.0;
    return piece.mean * std::exp(log_root_below(gap / piece.counts));
  }
  static double upper_root(const CostPiece& piece, double gap) {
    if (piece.mean == 0.0) return gap / piece.weight;
    return piece.mean * (1 + root_above(gap / piece.counts));
  }

  static void merge(CostPiece& piece, const CostPiece& more) {
    const double total = piece.weight + more.weight;
    const double counts = piece.counts + more.counts;
    const double mean = counts / total;
    double base = piece.base + more.base;
    if (piece.mean > 0.0) {
      const double growth = more.weight / total * (more.mean - piece.mean) / piece.mean;
      // Near -1, digits of the ratio are lost in the growth.
      const double log_ratio = growth < -0.999 ? std::log(mean / piece.mean) : std::log1p(growth);
      base -= piece.counts * log_ratio;
    }
    if (more.counts > 0.0) base += more.counts * std::log(more.mean / mean);
    piece = {base, total, mean, counts};
  }

  // At mu = 0, the limit is infinite unless the logarithms cancel.
  static double difference(const CostPiece& a, const CostPiece& b, double mu) {
    if (mu > 0.0) return ExponentialFamily::difference(a, b, mu);
    if (a.counts != b.counts) return std::copysign(infinite_cost, a.counts - b.counts);
    const double logs = a.counts == 0.0 ? 0.0 : a.counts * std::log(a.mean / b.mean);
    return (a.base - b.base) + logs;
  }
  static double sign_of_difference(const CostPiece& a, const CostPiece& b, double mu) {
    return mu > 0.0 ? ExponentialFamily::sign_of_difference(a, b, mu) : difference(a, b, mu);
  }

  // The reported cost excludes terms that do not depend on mu.
  static double reported(const CostPiece& piece) {
    return piece.counts > 0.0 ? piece.counts - piece.counts * std::log(piece.mean) : 0.0;
  }
};

}  // namespace rocpath
