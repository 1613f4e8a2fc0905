// Costs of a segment as functions of its mean, and how data, levels and other costs act on them.
//
// Every function that segmentation needs is kept as base + weight * deviance(mean, mu): its
// smallest value, the total weight and the weighted mean of the data it sums over. Adding an
// observation is Welford's update, which cancels nothing, so a cost is exact to a few ulps of
// itself and not of the sum of squares of the data. A constant has weight 0.
//
// Normal:  deviance(m, mu) = (mu - m)^2, the sum of squares.
// Poisson: deviance(m, mu) = mu - m - m log(mu / m), the Poisson loss less its value for mu = x.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace rocpath {

struct CostPiece {
  double base = 0.0;
  double weight = 0.0;
  double mean = 0.0;
  double counts = 0.0;  // weight * mean; only for Poisson, where it is a sum without rounding
};

struct Range {
  double low = 0.0;
  double high = 0.0;
};

namespace detail {

// The zero of an increasing or decreasing function between two places where its signs differ:
// Newton's method, halving the bracket where a step leaves it.
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

// a log(b / c), with 0 log 0 = 0.
inline double times_log_ratio(double a, double b, double c) {
  return a == 0.0 ? 0.0 : a * std::log(b / c);
}

}  // namespace detail

struct NormalCost {
  static double excess(const CostPiece& piece, double mu) {
    return piece.weight * (mu - piece.mean) * (mu - piece.mean);
  }

  static bool is_within(const CostPiece& piece, double mu, double gap) {
    return excess(piece, mu) <= gap;
  }

  static void add(CostPiece& piece, double x, double weight) {
    const double total = piece.weight + weight;
    const double distance = x - piece.mean;
    const double share = weight / total;
    piece.base += piece.weight * share * distance * distance;
    piece.mean += share * distance;
    piece.weight = total;
  }

  // Where the excess is at most `gap`. Requires: gap >= 0, weight > 0.
  static double lower_root(const CostPiece& piece, double gap) {
    return piece.mean - std::sqrt(gap / piece.weight);
  }
  static double upper_root(const CostPiece& piece, double gap) {
    return piece.mean + std::sqrt(gap / piece.weight);
  }

  static double difference(const CostPiece& a, const CostPiece& b, double mu) {
    return (a.base - b.base) + (excess(a, mu) - excess(b, mu));
  }
  static double sign_of_difference(const CostPiece& a, const CostPiece& b, double mu) {
    return difference(a, b, mu);
  }
  static double slope_of_difference(const CostPiece& a, const CostPiece& b, double mu) {
    return 2 * (a.weight * (mu - a.mean) - b.weight * (mu - b.mean));
  }
  // Where the difference has its only turning point; not a number or infinite if it has none.
  static double turning_point(const CostPiece& a, const CostPiece& b) {
    return (a.weight * a.mean - b.weight * b.mean) / (a.weight - b.weight);
  }
};

struct PoissonCost {
  static double excess(const CostPiece& piece, double mu) {
    if (piece.mean == 0.0) return piece.weight * mu;
    // Near the mean the two terms cancel; far below it, their sum with 1 does.
    const double beyond = (mu - piece.mean) / piece.mean;
    const double log_ratio = beyond < -0.5 ? std::log(mu / piece.mean) : std::log1p(beyond);
    return std::max(0.0, piece.counts * (beyond - log_ratio));
  }

  // u - log(1 + u) lies between u^2 / 2 and u^2 / (2 + 2u), which mostly decides without it.
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

  static void add(CostPiece& piece, double x, double weight) {
    const double total = piece.weight + weight;
    const double counts = piece.counts + weight * x;
    const double mean = counts / total;
    if (piece.mean > 0.0) {
      const double growth = weight / total * (x - piece.mean) / piece.mean;
      piece.base -= piece.counts * std::log1p(growth);
    }
    piece.base += detail::times_log_ratio(weight * x, x, mean);
    piece = {piece.base, total, mean, counts};
  }

  // Solves r - 1 - log r = gap / (weight * mean) for r = mu / mean below 1, in log r, by Newton
  // from outside: the function is convex, so the steps never pass the root.
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

  // As the difference, but right only in its sign.
  static double sign_of_difference(const CostPiece& a, const CostPiece& b, double mu) {
    if (mu > 0.0) {
      const Range of_a = excess_bounds(a, mu), of_b = excess_bounds(b, mu);
      if (const double most = (a.base - b.base) + (of_a.high - of_b.low); most < 0.0) return most;
      if (const double least = (a.base - b.base) + (of_a.low - of_b.high); least > 0.0)
        return least;
    }
    return difference(a, b, mu);
  }

  // Near mu = 0 the logarithms decide: the limit is infinite unless they cancel.
  static double difference(const CostPiece& a, const CostPiece& b, double mu) {
    if (mu > 0.0) return (a.base - b.base) + (excess(a, mu) - excess(b, mu));
    if (a.counts != b.counts) return std::copysign(infinity, a.counts - b.counts);
    return (a.base - b.base) + detail::times_log_ratio(a.counts, a.mean, b.mean);
  }
  static double slope_of_difference(const CostPiece& a, const CostPiece& b, double mu) {
    return (a.weight - b.weight) - (a.counts - b.counts) / mu;
  }
  static double turning_point(const CostPiece& a, const CostPiece& b) {
    return (a.counts - b.counts) / (a.weight - b.weight);
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
};

// The value at mu of a whole piece.
template <class Cost>
double value_at(const CostPiece& piece, double mu) {
  return piece.base + Cost::excess(piece, mu);
}

// Where within [low, high] the piece is at most `level`: an interval, since the piece is convex;
// empty, with high < low, if nowhere. A piece no better than the level at its best is nowhere.
template <class Cost>
Range below_level(const CostPiece& piece, double level, double low, double high) {
  const Range nowhere{high, low};
  const double gap = level - piece.base;
  if (!(gap > 0.0)) return nowhere;
  // Roots are found only where an end is cut off, which happens once for each new piece.
  const bool has_low = Cost::is_within(piece, low, gap);
  const bool has_high = Cost::is_within(piece, high, gap);
  if (has_low && has_high) return {low, high};
  if (!has_low && piece.mean <= low) return nowhere;
  if (!has_high && piece.mean >= high) return nowhere;
  return {has_low ? low : std::clamp(Cost::lower_root(piece, gap), low, high),
          has_high ? high : std::clamp(Cost::upper_root(piece, gap), low, high)};
}

}  // namespace rocpath
