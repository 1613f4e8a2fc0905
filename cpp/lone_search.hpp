// The search for a penalty without constraint, labels or a shortest length: one cost function.
//
// Many newcomers win the means at both ends and lose them to the next one. So a newcomer waits
// outside, without pieces and without a node, and is settled only where it survives: a fifth of
// the time less than lowering the function as `segmentation.hpp` does.
#pragma once

#include "cost_function.hpp"
#include "segmenter.hpp"

namespace rocpath {

template <class Cost>
class LoneFunction {
 public:
  explicit LoneFunction(Range means)
      : means_(means), inner_({{}, means.low, means.high, -1, true}) {}

  // A segment may begin at `position`.
  void change(std::int32_t position, double penalty, ChangeTree& tree) {
    const double value = std::min(least_.value, newcomer_.cost.base);
    const double level = value + penalty;
    if (!(level < infinite_cost)) return;
    if (survives(level) || newcomer_.cost.base < least_.value) settle(tree);
    const std::int32_t before = least_.node;
    if (Lowering<Cost>::cut_ends(inner_, level)) {
      newcomer_ = {{.base = level}, position, before};
      return;
    }
    // The newcomer before has lost everything, this one wins all that is not inside.
    const std::int32_t node = tree.make(position, before, false);
    const Range inside{inner_[0].low, inner_.back().high};
    lowering_.lower_to_constant(inner_, level, node);
    surround({{.base = level}, 0.0, 0.0, node, true}, inside);
    newcomer_ = {};
  }

  void add(const CostPiece& observation) {
    least_ = rocpath::add<Cost>(inner_, observation);
    if (newcomer_.cost.base < infinite_cost) Cost::merge(newcomer_.cost, observation);
  }

  // The last change of the best segmentation.
  std::int32_t best(ChangeTree& tree) {
    settle(tree);
    return least_.node;
  }

  template <class Act>
  void for_each_node(Act&& act) {
    for (FunctionPiece& piece : inner_) act(piece.node);
    act(newcomer_.before);
    act(least_.node);
  }

 private:
  struct Newcomer {
    CostPiece cost{.base = infinite_cost};
    std::int32_t position = 0;
    std::int32_t before = -1;
  };

  bool survives(double level) const {
    const double gap = level - newcomer_.cost.base;
    if (!(gap > 0.0)) return false;
    const double low = inner_[0].low, high = inner_.back().high;
    const double mean = newcomer_.cost.mean;
    return (means_.low < low && (mean < low || Cost::is_within(newcomer_.cost, low, gap))) ||
           (high < means_.high && (mean > high || Cost::is_within(newcomer_.cost, high, gap)));
  }

  // Give the newcomer a node and its pieces.
  void settle(ChangeTree& tree) {
    if (!(newcomer_.cost.base < infinite_cost)) return;
    const std::int32_t node = tree.make(newcomer_.position, newcomer_.before, false);
    surround({newcomer_.cost, 0.0, 0.0, node, true}, {inner_[0].low, inner_.back().high});
    least_.improve(newcomer_.cost.base, node);
    newcomer_ = {};
  }

  // Give a piece the means outside.
  void surround(FunctionPiece piece, const Range& inside) {
    piece.low = inside.high;
    piece.high = means_.high;
    if (piece.low < piece.high) inner_.append(piece);
    piece.low = means_.low;
    piece.high = inside.low;
    if (!(piece.low < piece.high)) return;
    if (inner_[0].node == piece.node)
      inner_[0].low = piece.low;
    else
      inner_.push_front(piece);
  }

  Range means_;
  CostFunction inner_;  // of all means but those of the newcomer
  Newcomer newcomer_;
  BestPiece least_{0.0, -1};  // of the inner pieces
  Lowering<Cost> lowering_;
};

template <class Cost>
class LoneSearch final : public Segmenter {
 public:
  explicit LoneSearch(const SegmentSettings& settings)
      : penalty_(settings.penalty), function_(settings.means) {}

  void push(const Observations& data, const Interrupt& check) override {
    std::uint32_t n_runs = 0;
    for (std::size_t k = 0; k < data.size();) {
      const double x = data.x[k];
      // A change inside a run of equal values never helps; for penalty 0 it would not hurt either.
      if (position_ > 0 && x != last_x_) function_.change(position_, penalty_, tree_);
      double weight = 0.0;
      for (; k < data.size() && data.x[k] == x; ++k, ++position_) weight += data.weight[k];
      function_.add({0.0, weight, x, weight * x});
      last_x_ = x;
      if (tree_.is_full()) tree_.collect([&](auto&& act) { function_.for_each_node(act); });
      if (++n_runs % 256 == 0) check();
    }
  }

  Changes finish() override {
    Changes changes;
    tree_.append_to(changes, function_.best(tree_));
    return changes;
  }

 private:
  double penalty_;
  LoneFunction<Cost> function_;
  ChangeTree tree_;
  std::int32_t position_ = 0;
  double last_x_ = 0.0;
};

}  // namespace rocpath
