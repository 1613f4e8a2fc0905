// The best segmentations by robust losses of the distance to a segment's center.
//
// Functional pruning as in `cost_function.hpp` (Fearnhead & Rigaill 2019): the smallest cost of the
// data so far as a function of the last segment's center, here in pieces that are quadratic. An
// observation x adds a square within the threshold of x, and a constant (biweight) or linear
// (Huber) function beyond: it cuts at most two pieces. A change offers a constant. Time: the
// pieces, usually a few tens, summed over the data; for a number of changes the function without a
// change has a piece for each observation, which makes the search quadratic.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <vector>

#include "segmenter.hpp"

namespace rocpath {

// square * center^2 + slope * center + constant
struct Quadratic {
  double square = 0.0;
  double slope = 0.0;
  double constant = 0.0;

  double operator()(double center) const { return (square * center + slope) * center + constant; }
  void add(const Quadratic& other) {
    square += other.square;
    slope += other.slope;
    constant += other.constant;
  }
};

// A loss of the distance to the center.
template <class Loss>
concept RobustLoss = requires(double x, double weight, double threshold) {
  // The loss of x if the center is far below it, within the threshold of it, and far above it.
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
  std::int32_t node;  // the last change, in a ChangeTree

  // Where the piece is smallest.
  double best_center() const {
    if (cost.square > 0.0) return std::clamp(-cost.slope / (2 * cost.square), low, high);
    return cost(low) <= cost(high) ? low : high;
  }
};

template <RobustLoss Loss>
class RobustSearch {
 public:
  RobustSearch(SegmentSettings settings, double threshold)
      : settings_(std::move(settings)), threshold_(threshold) {
    n_states_ = settings_.has_penalty ? 1 : settings_.max_changes + 1;
    functions_.resize(n_states_);
    functions_[0].push_back({{}, settings_.means.low, settings_.means.high, -1});
  }

  void push(const Observations& data, const Interrupt& check) {
    for (std::size_t t = 0; t < data.size(); ++t) {
      if (position_ > 0) change();
      for (auto& function : functions_) add(function, data.x[t], data.weight[t]);
      ++position_;
      if (tree_.is_full()) collect();
      if (t % 64 == 0) check();
    }
  }

  Changes finish() const {
    Changes changes;
    for (const auto& function : functions_) {
      const Best best = smallest(function);
      if (best.value < infinite_cost)
        tree_.append_to(changes, best.node);
      else
        changes.n_changes.push_back(-1);
    }
    return changes;
  }

 private:
  using Function = std::vector<RobustPiece>;
  struct Best {
    double value = infinite_cost;
    std::int32_t node = -1;
  };

  static Best smallest(const Function& function) {
    Best best;
    for (const RobustPiece& piece : function) {
      const double value = piece.cost(piece.best_center());
      if (value < best.value) best = {value, piece.node};
    }
    return best;
  }

  // From the largest number of changes down, so that each state sees the one before it as it was.
  void change() {
    for (std::size_t state = n_states_; state-- > 0;) {
      if (!settings_.has_penalty && state == 0) break;
      const Best before = smallest(functions_[settings_.has_penalty ? 0 : state - 1]);
      const double level = before.value + (settings_.has_penalty ? settings_.penalty : 0.0);
      if (level < infinite_cost)
        lower(functions_[state], level, tree_.make(position_, before.node, false));
    }
  }

  // Lower the function to a constant wherever that is smaller.
  void lower(Function& function, double level, std::int32_t node) {
    const RobustPiece offered{{0.0, 0.0, level}, settings_.means.low, settings_.means.high, node};
    if (function.empty()) {
      function.push_back(offered);
      return;
    }
    next_.clear();
    for (const RobustPiece& piece : function) lower_piece(piece, offered);
    function.swap(next_);
  }

  void lower_piece(const RobustPiece& piece, const RobustPiece& offered) {
    const double level = offered.cost.constant;
    const double center = piece.best_center();
    if (!(piece.cost(center) < level)) {
      take(offered, piece.low, piece.high);
      return;
    }
    // Convex, so below the level on an interval around its smallest place.
    const double from = piece.cost(piece.low) <= level ? piece.low : root(piece, level, center, -1);
    const double to = piece.cost(piece.high) <= level ? piece.high : root(piece, level, center, 1);
    take(offered, piece.low, from);
    take(piece, from, to);
    take(offered, to, piece.high);
  }

  // Where the piece is at the level, below (side -1) or above (side 1) its smallest place.
  static double root(const RobustPiece& piece, double level, double center, int side) {
    const auto& [square, slope, constant] = piece.cost;
    if (square > 0.0) {
      const double turn = -slope / (2 * square);
      const double gap = level - piece.cost(turn);
      return std::clamp(turn + side * std::sqrt(std::max(gap, 0.0) / square), piece.low,
                        piece.high);
    }
    if (slope == 0.0) return side < 0 ? piece.low : piece.high;
    const double at = center + (level - piece.cost(center)) / slope;
    return std::clamp(at, piece.low, piece.high);
  }

  void take(const RobustPiece& piece, double low, double high) {
    if (!(low < high)) return;
    // Constants offered now lie side by side; older pieces of one node differ in cost.
    if (!next_.empty() && next_.back().node == piece.node &&
        next_.back().cost.square == piece.cost.square &&
        next_.back().cost.slope == piece.cost.slope &&
        next_.back().cost.constant == piece.cost.constant) {
      next_.back().high = high;
      return;
    }
    next_.push_back(piece);
    next_.back().low = low;
    next_.back().high = high;
  }

  void add(Function& function, double x, double weight) {
    const double low = x - threshold_, high = x + threshold_;
    const Quadratic far_below = Loss::below(x, weight, threshold_);
    const Quadratic near = Loss::near(x, weight, threshold_);
    const Quadratic far_above = Loss::above(x, weight, threshold_);
    next_.clear();
    for (const RobustPiece& piece : function) {
      // The part of the piece below, within and above the threshold of x.
      const double from = std::clamp(low, piece.low, piece.high);
      const double to = std::clamp(high, piece.low, piece.high);
      add_part(piece, far_below, piece.low, from);
      add_part(piece, near, from, to);
      add_part(piece, far_above, to, piece.high);
    }
    function.swap(next_);
  }

  void add_part(RobustPiece piece, const Quadratic& loss, double low, double high) {
    if (!(low < high)) return;
    piece.cost.add(loss);
    piece.low = low;
    piece.high = high;
    next_.push_back(piece);
  }

  void collect() {
    tree_.collect([&](auto&& act) {
      for (Function& function : functions_)
        for (RobustPiece& piece : function) act(piece.node);
    });
  }

  SegmentSettings settings_;
  double threshold_;
  std::size_t n_states_ = 1;
  std::vector<Function> functions_;  // by number of changes
  Function next_;
  ChangeTree tree_;
  std::int32_t position_ = 0;
};

}  // namespace rocpath
