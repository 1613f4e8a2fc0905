// The Poisson cost mu - x log mu, minus its value at mu = x: deviance(m, mu) = mu - m - m log(mu /
// m).
#pragma once

#include "cost_pieces.hpp"

namespace rocpath {

struct PoissonCost {
  static constexpr const char* name = "poisson";
  static constexpr int power = 1;
  static constexpr double least_x = 0.0;
  static constexpr bool is_shift_invariant = false;

  static double excess(const CostPiece& piece, double mu) {
    if (piece.mean == 0.0) return piece.weight * mu;
    // log1p is accurate near the mean, where the terms cancel, and log far below it.
    const double beyond = (mu - piece.mean) / piece.mean;
    const double log_ratio = beyond < -0.5 ? std::log(mu / piece.mean) : std::log1p(beyond);
    return std::max(0.0, piece.counts * (beyond - log_ratio));
  }

  // u - log(1 + u) is between u^2 / 2 and u^2 / (2 + 2u), which usually decides without a
  // logarithm.
  static Range excess_bounds(const CostPiece& piece, double mu) {
    if (piece.mean == 0.0 || mu == 0.0) return {excess(piece, mu), excess(piece, mu)};
    const double distance = mu - piece.mean;
    const double one = piece.weight * distance * distance / (2 * piece.mean);
    const double other = one * piece.mean / mu;
    return {std::min(one, other), std::max(one, other)};
  }
  static bool is_within(const CostPiece& piece, double mu, double gap) {
    const Range bounds = excess_bounds(piece, mu);
    if (bounds.high <= gap) return true;
    return bounds.low <= gap && excess(piece, mu) <= gap;
  }

  // Solves r - 1 - log r = gap / (weight * mean) for r = mu / mean < 1 by Newton's method in log r,
  // from outside: the function is convex, so the iterates never pass the root.
  static double lower_root(const CostPiece& piece, double gap) {
    if (piece.mean == 0.0) return 0.0;
    const double level = gap / piece.counts;
    double log_ratio = -(level + std::sqrt(2 * level));
    for (int step = 0; step < 30 && log_ratio < 0.0; ++step) {
      const double rise = std::expm1(log_ratio);
      const double move = (rise - log_ratio - level) / rise;
      log_ratio -= move;
      if (std::fabs(move) <= 1e-15 * std::fabs(log_ratio)) break;
    }
    return piece.mean * std::exp(log_ratio);
  }
  static double upper_root(const CostPiece& piece, double gap) {
    if (piece.mean == 0.0) return gap / piece.weight;
    const double level = gap / piece.counts;
    double beyond = level + std::sqrt(2 * level);
    for (int step = 0; step < 30 && beyond > 0.0; ++step) {
      const double move = (beyond - std::log1p(beyond) - level) * (1 + beyond) / beyond;
      beyond -= move;
      if (std::fabs(move) <= 1e-15 * beyond) break;
    }
    return piece.mean * (1 + beyond);
  }

  static void merge(CostPiece& piece, const CostPiece& more) {
    const double total = piece.weight + more.weight;
    const double counts = piece.counts + more.counts;
    const double mean = counts / total;
    double base = piece.base + more.base;
    if (piece.mean > 0.0) {
      const double growth = more.weight / total * (more.mean - piece.mean) / piece.mean;
      base -= piece.counts * std::log1p(growth);
    }
    if (more.counts > 0.0) base += more.counts * std::log(more.mean / mean);
    piece = {base, total, mean, counts};
  }

  // At mu = 0 the limit is infinite unless the logarithms cancel.
  static double difference(const CostPiece& a, const CostPiece& b, double mu) {
    if (mu > 0.0) return (a.base - b.base) + (excess(a, mu) - excess(b, mu));
    if (a.counts != b.counts) return std::copysign(infinite_cost, a.counts - b.counts);
    const double logs = a.counts == 0.0 ? 0.0 : a.counts * std::log(a.mean / b.mean);
    return (a.base - b.base) + logs;
  }
  static double sign_of_difference(const CostPiece& a, const CostPiece& b, double mu) {
    if (mu > 0.0) {
      const Range of_a = excess_bounds(a, mu), of_b = excess_bounds(b, mu);
      if (const double most = (a.base - b.base) + (of_a.high - of_b.low); most < 0.0) return most;
      if (const double least = (a.base - b.base) + (of_a.low - of_b.high); least > 0.0)
        return least;
    }
    return difference(a, b, mu);
  }
  static double slope_of_difference(const CostPiece& a, const CostPiece& b, double mu) {
    return (a.weight - b.weight) - (a.counts - b.counts) / mu;
  }
  static double turning_point(const CostPiece& a, const CostPiece& b) {
    return (a.counts - b.counts) / (a.weight - b.weight);
  }

  // Without the terms that do not depend on mu.
  static double reported(const CostPiece& piece) {
    return piece.counts > 0.0 ? piece.counts - piece.counts * std::log(piece.mean) : 0.0;
  }
  static constexpr bool reports_base = false;
};

}  // namespace rocpath
