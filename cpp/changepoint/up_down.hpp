// The smallest cost after a change, as a function of the mean after it.
//
// Without a constraint it is the smallest cost over all means before the change, a constant. With
// the up-down constraint (Hocking et al. 2020: background, peak, background, ...) it is the
// smallest cost over all means up to mu for a change upward, and over all means from mu on for a
// change downward. Such a cumulative minimum is constant after a minimum and otherwise equal to the
// function itself: there both means are equal, as the constraint allows, and the two segments are
// fitted as one. Time: the number of pieces of the function.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "changepoint/change_tree.hpp"
#include "changepoint/costs/mean_functions.hpp"

namespace rocpath {

enum class Direction { up, down };

// A change at `position` that costs `penalty`.
struct ChangeHere {
  std::int32_t position;
  double penalty;
  // Whether to include pieces that have already been offered to the same function.
  bool is_full;
};

template <class FunctionsOfCost>
struct AnyChange {
  using Functions = FunctionsOfCost;
  using Function = typename Functions::Function;
  static constexpr bool is_up_down = false;

  static BestPiece best(const Function& function) { return Functions::best(function); }

  static void offer(const Function& from, Direction, const ChangeHere& change, ChangeTree& tree,
                    Function& offer) {
    offer.clear();
    const BestPiece before = best(from);
    const double cost = before.value + change.penalty;
    if (!(cost < infinite_cost)) return;
    const std::int32_t node = tree.make(change.position, before.node, false);
    offer.push_back(Functions::constant(cost, from[0].low, from.back().high, node));
  }
};

template <class Cost>
struct UpDownChange {
  using Functions = MeanFunctions<Cost>;
  static constexpr bool is_up_down = true;

  static BestPiece best(const CostFunction& function) {
    BestPiece best;
    for (const FunctionPiece& piece : function)
      if (piece.cost.base <= best.value)
        best.improve(value_at<Cost>(piece.cost, piece.best_mean()), piece.node);
    return best;
  }

  static void offer(const CostFunction& from, Direction direction, const ChangeHere& change,
                    ChangeTree& tree, CostFunction& offer) {
    offer.clear();
    if (!(change.penalty < infinite_cost)) return;
    FunctionPiece level = none;
    const bool is_up = direction == Direction::up;
    for (std::size_t k = 0; k < from.size(); ++k)
      travel(is_up ? from[k] : from[from.size() - 1 - k], is_up, change, level, tree, offer);
    if (!is_up) std::reverse(offer.begin(), offer.end());
    for (FunctionPiece& piece : offer) piece.cost.base += change.penalty;
  }

 private:
  static constexpr FunctionPiece none{{.base = infinite_cost}, 0.0, 0.0, -1, true};

  // Process one piece. `level` is the current constant, or none while the cumulative minimum is the
  // function itself.
  static void travel(const FunctionPiece& piece, bool is_up, const ChangeHere& change,
                     FunctionPiece& level, ChangeTree& tree, CostFunction& offer) {
    const double near = is_up ? piece.low : piece.high;
    const double far = is_up ? piece.high : piece.low;
    const double turn = piece.best_mean();
    const double gap = level.cost.base - piece.cost.base;
    if (!(gap > 0.0 && Cost::is_within(piece.cost, turn, gap))) {
      emit(offer, level, near, far);
      return;
    }
    if (piece.is_new || change.is_full)
      offer_itself(piece, near, turn, gap, is_up, change, level, tree, offer);
    else
      // This piece has already been offered to the same function, which has received the same data
      // since. That function is below the piece, and so below the level up to the turning point.
      // Skipping that part halves the time.
      emit(offer, level, near, turn);
    level = none;
    if (turn == far) return;
    level.cost = {.base = value_at<Cost>(piece.cost, turn)};
    level.node = tree.make(change.position, piece.node, false);
    emit(offer, level, turn, far);
  }

  static void offer_itself(const FunctionPiece& piece, double near, double turn, double gap,
                           bool is_up, const ChangeHere& change, const FunctionPiece& level,
                           ChangeTree& tree, CostFunction& offer) {
    double leave = near;
    if (!Cost::is_within(piece.cost, near, gap)) {
      leave = is_up ? Cost::lower_root(piece.cost, gap) : Cost::upper_root(piece.cost, gap);
      leave = std::clamp(leave, std::min(near, turn), std::max(near, turn));
      emit(offer, level, near, leave);
    }
    if (leave == turn) return;
    FunctionPiece same = piece;
    same.node = tree.make(change.position, piece.node, true);
    same.is_new = true;
    emit(offer, same, leave, turn);
  }

  static void emit(CostFunction& offer, FunctionPiece piece, double from, double to) {
    if (from == to || !(piece.cost.base < infinite_cost)) return;
    piece.low = std::min(from, to);
    piece.high = std::max(from, to);
    offer.append(piece);
  }
};

}  // namespace rocpath
