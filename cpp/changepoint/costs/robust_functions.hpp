// The smallest cost of the data so far as a function of the last segment's center, for robust
// losses of the distance to the center (Fearnhead & Rigaill 2019). The algorithm is that of
// `cost_function.hpp`, but the pieces are quadratic. An observation x adds a square within the
// threshold of x, and a constant (biweight) or linear (Huber) function beyond it, so it cuts at
// most two pieces. Time: the number of pieces, usually a few tens, summed over the data. If the
// number of changes is given, the function without a change has a piece for each observation, so
// the search takes quadratic time.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "changepoint/costs/cost_function.hpp"
#include "changepoint/settings.hpp"

namespace rocpath {

// The function square * center^2 + slope * center + constant.
struct Quadratic {
  double square = 0.0;
  double slope = 0.0;
  double constant = 0.0;

  double operator()(double center) const { return (square * center + slope) * center + constant; }
  bool operator==(const Quadratic&) const = default;
};

inline Quadratic operator+(const Quadratic& a, const Quadratic& b) {
  return {a.square + b.square, a.slope + b.slope, a.constant + b.constant};
}
inline Quadratic operator-(const Quadratic& a, const Quadratic& b) {
  return {a.square - b.square, a.slope - b.slope, a.constant - b.constant};
}

// A loss that depends on the distance to the center.
template <class Loss>
concept RobustLoss = requires(double x, double weight, double threshold) {
  // The loss of x if the center is below x - threshold, near x, and above x + threshold.
  { Loss::below(x, weight, threshold) } -> std::same_as<Quadratic>;
  { Loss::near(x, weight, threshold) } -> std::same_as<Quadratic>;
  { Loss::above(x, weight, threshold) } -> std::same_as<Quadratic>;
};

inline Quadratic weighted_square(double x, double weight) {
  return {weight, -2 * weight * x, weight * x * x};
}

struct RobustPiece {
  Quadratic cost;
  double low;
  double high;
  std::int32_t node;  // node of the last change in a ChangeTree

  // The center where the piece is smallest.
  double best_center() const {
    if (cost.square > 0.0) return std::clamp(-cost.slope / (2 * cost.square), low, high);
    return cost(low) <= cost(high) ? low : high;
  }
};

// Sums and minima of piecewise quadratic functions on the same interval of centers.
template <RobustLoss Loss>
class RobustFunctions {
 public:
  using Function = std::vector<RobustPiece>;
  using Data = Function;  // loss of the observations; empty if there are none

  explicit RobustFunctions(const SegmentSettings& settings)
      : centers_(settings.means), threshold_(settings.threshold) {}

  Function start() const { return {{{}, centers_.low, centers_.high, -1}}; }

  static RobustPiece constant(double value, double low, double high, std::int32_t node) {
    return {{0.0, 0.0, value}, low, high, node};
  }

  static BestPiece best(const Function& function) {
    BestPiece best;
    for (const RobustPiece& piece : function)
      best.improve(piece.cost(piece.best_center()), piece.node);
    return best;
  }

  // The loss of one observation, valid until the next call.
  const Data& observation(double x, double weight) {
    const double from = std::clamp(x - threshold_, centers_.low, centers_.high);
    const double to = std::clamp(x + threshold_, centers_.low, centers_.high);
    observed_.clear();
    append(observed_, {Loss::below(x, weight, threshold_), 0, 0, -1}, centers_.low, from);
    append(observed_, {Loss::near(x, weight, threshold_), 0, 0, -1}, from, to);
    append(observed_, {Loss::above(x, weight, threshold_), 0, 0, -1}, to, centers_.high);
    return observed_;
  }

  void add(Function& function, const Data& data) {
    if (function.empty()) return;
    next_.clear();
    for_each_overlap(function, data,
                     [&](RobustPiece piece, const RobustPiece& loss, double low, double high) {
                       piece.cost = piece.cost + loss.cost;
                       append(next_, piece, low, high);
                     });
    function.swap(next_);
  }

  void merge(Data& data, const Data& more) {
    if (data.empty())
      data = more;
    else
      add(data, more);
  }

  // Replace the function by the offer wherever the offer is smaller.
  void lower(Function& function, const Function& offer) {
    if (offer.empty()) return;
    if (function.empty()) {
      function = offer;
      return;
    }
    next_.clear();
    for_each_overlap(function, offer,
                     [&](const RobustPiece& old, const RobustPiece& offered, double low,
                         double high) { choose(old, offered, low, high); });
    function.swap(next_);
  }

 private:
  // Call `act` with a piece of each function on every interval that both pieces cover.
  template <class Act>
  static void for_each_overlap(const Function& function, const Function& other, Act&& act) {
    std::size_t k = 0;
    for (const RobustPiece& piece : function) {
      double low = piece.low;
      while (low < piece.high) {
        while (k + 1 < other.size() && other[k].high <= low) ++k;
        const bool is_last = k + 1 == other.size();
        const double high = is_last ? piece.high : std::min(piece.high, other[k].high);
        act(piece, other[k], low, high);
        low = high;
      }
    }
  }

  void choose(const RobustPiece& old, const RobustPiece& offered, double low, double high) {
    const Quadratic difference = old.cost - offered.cost;
    const Range cross = roots(difference, low, high);
    const std::array<double, 4> place{low, cross.low, cross.high, high};
    for (std::size_t k = 0; k < 3; ++k) {
      const double from = place[k], to = place[k + 1], middle = from + (to - from) / 2;
      if (!(from < to)) continue;
      // The sign of the difference is constant, except that it may be 0 at single points. If the
      // functions are equal up to rounding, for example because the same data are split at
      // different positions, the old piece is kept; otherwise, many tiny pieces would accumulate.
      const double sign = difference(from) + difference(middle) + difference(to);
      const bool is_old = sign <= 1e-14 * std::fabs(old.cost(middle));
      append(next_, is_old ? old : offered, from, to);
    }
  }

  // The points between low and high where the sign of a quadratic changes; low or high if a root
  // is outside.
  static Range roots(const Quadratic& q, double low, double high) {
    if (q.square == 0.0) {
      if (q.slope == 0.0) return {low, high};
      const double root = std::clamp(-q.constant / q.slope, low, high);
      return {root, root};
    }
    const double turn = -q.slope / (2 * q.square);
    const double squared = -q(turn) / q.square;
    if (!(squared > 0.0)) return {low, high};
    const double distance = std::sqrt(squared);
    return {std::clamp(turn - distance, low, high), std::clamp(turn + distance, low, high)};
  }

  static void append(Function& function, const RobustPiece& piece, double low, double high) {
    if (!(low < high)) return;
    if (function.empty() || function.back().node != piece.node ||
        !(function.back().cost == piece.cost)) {
      function.push_back(piece);
      function.back().low = low;
    }
    function.back().high = high;
  }

  Range centers_;
  double threshold_;
  Function observed_, next_;
};

}  // namespace rocpath
