// Optimal partitioning for one penalty, without a constraint, labels or a minimum segment length:
// functional pruning (FPOP; Maidstone et al. 2017) with a single cost function.
//
// The smallest cost of the data so far is a function of the mean mu of the last segment, in pieces
// (cost_function.hpp). A change before the next observation offers the constant (minimum over mu) +
// penalty; the function becomes the minimum of both, and the observation is added to every piece.
// This is faster than the general search (segmentation.hpp) for two reasons:
//
// - Where a change improves a segmentation, no observation next to it fits better into the other
//   segment. So the mean increases only where the observations do, and a new last segment competes
//   for the means above the best one, or for those below, never for both.
// - Many new segments win the means at one end of the range and lose them to the next one. So each
//   end has one pending segment, which gets a piece and a node of the tree only if it survives the
//   next one. This reduces the time by a fifth.
//
// Time: the number of pieces, usually a few tens, summed over the data. Memory: the pieces and the
// changes they share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "changepoint/costs/cost_function.hpp"
#include "changepoint/segmenter.hpp"

namespace rocpath {

template <class Cost>
class FPOPFunction {
 public:
  explicit FPOPFunction(Range means)
      : means_(means), inner_({{}, means.low, means.high, -1, true}) {}

  // Offer a change at `position`, where the observations increase or decrease.
  void offer_change(std::int32_t position, bool is_increase, double penalty, ChangeTree& tree) {
    insert_if_best(tree);
    const double cost = least_ + penalty;
    if (!(cost < infinite_cost)) return;
    if (is_increase)
      offer<true>(highest_, position, cost, tree);
    else
      offer<false>(lowest_, position, cost, tree);
  }

  void add(const CostPiece& observation) {
    least_ = infinite_cost;
    std::size_t k = 0;
    for (FunctionPiece& piece : inner_) {
      Cost::merge(piece.cost, observation);
      // There are no branches here, because the best piece cannot be predicted.
      const auto is_better = static_cast<std::size_t>(piece.cost.base < least_);
      best_ ^= (best_ ^ k) & -is_better;
      least_ = std::min(least_, piece.cost.base);
      ++k;
    }
    if (lowest_.exists()) Cost::merge(lowest_.cost, observation);
    if (highest_.exists()) Cost::merge(highest_.cost, observation);
  }

  // The last change of the best segmentation.
  std::int32_t best(ChangeTree& tree) {
    insert_if_best(tree);
    return inner_[best_].node;
  }

  template <class Act>
  void for_each_node(Act&& act) {
    for (FunctionPiece& piece : inner_) act(piece.node);
    act(lowest_.node_before);
    act(highest_.node_before);
  }

 private:
  // The newest last segment for the means beyond one end of the inner function.
  struct PendingSegment {
    CostPiece cost{.base = infinite_cost};
    std::int32_t position = 0;
    std::int32_t node_before = -1;

    bool exists() const { return cost.base < infinite_cost; }
  };

  Range means_;
  CostFunction inner_;  // costs for all means except those of the pending segments
  PendingSegment lowest_, highest_;
  double least_ = 0.0;    // smallest base of the inner pieces
  std::size_t best_ = 0;  // index of that piece
  Lowering<Cost> lowering_;

  // Let a new segment compete for the means above the best one, or for those below it.
  template <bool is_above>
  void offer(PendingSegment& pending, std::int32_t position, double cost, ChangeTree& tree) {
    if (survives<is_above>(pending.cost, cost)) insert<is_above>(pending, tree);
    pending = {};
    const std::int32_t before = inner_[best_].node;
    const double best_mean = inner_[best_].cost.mean;
    // A piece may have won several intervals of means, some of them without its own mean.
    if (!inner_[best_].has(best_mean)) best_ = piece_with(best_mean);
    if (!trim_end<is_above>(cost))
      lower_everywhere<is_above>(best_mean, cost, tree.make(position, before, false));
    else if (is_above ? inner_.back().high < means_.high : means_.low < inner_[0].low)
      pending = {{.base = cost}, position, before};
  }

  std::size_t piece_with(double mean) const {
    std::size_t k = 0;
    while (k + 1 < inner_.size() && inner_[k].high < mean) ++k;
    return k;
  }

  // Whether a pending segment keeps some means when another one is offered for `cost`.
  template <bool is_above>
  bool survives(const CostPiece& pending, double cost) const {
    const double gap = cost - pending.base;
    if (!(gap > 0.0)) return false;
    const double edge = is_above ? inner_.back().high : inner_[0].low;
    const bool is_mean_beyond = is_above ? pending.mean > edge : pending.mean < edge;
    return is_mean_beyond || Cost::is_within(pending, edge, gap);
  }

  // Give a pending segment a node and a piece.
  template <bool is_above>
  void insert(const PendingSegment& pending, ChangeTree& tree) {
    const std::int32_t node = tree.make(pending.position, pending.node_before, false);
    if (is_above) {
      inner_.push_back({pending.cost, inner_.back().high, means_.high, node, true});
    } else {
      inner_.push_front({pending.cost, means_.low, inner_[0].low, node, true});
      ++best_;
    }
  }

  void insert_if_best(ChangeTree& tree) {
    if (std::min(lowest_.cost.base, highest_.cost.base) < least_) insert_best(tree);
  }

  [[gnu::noinline]] void insert_best(ChangeTree& tree) {
    const bool is_above = highest_.cost.base < lowest_.cost.base;
    PendingSegment& pending = is_above ? highest_ : lowest_;
    is_above ? insert<true>(pending, tree) : insert<false>(pending, tree);
    best_ = is_above ? inner_.size() - 1 : 0;
    least_ = pending.cost.base;
    pending = {};
  }

  // Remove the means at the end in place if a new segment wins these and no others, which is the
  // usual case. Otherwise return false and change nothing.
  template <bool is_above>
  bool trim_end(double cost) {
    const auto gap = [&](const FunctionPiece& p) { return cost - p.cost.base; };
    // The function is continuous: the next piece inward begins with the same value.
    const auto keeps_inner_end = [&](const FunctionPiece& p) {
      return Cost::is_within(p.cost, is_above ? p.low : p.high, gap(p));
    };
    const auto is_lost = [&](const FunctionPiece& p) {
      return !(gap(p) > 0.0) || !Cost::is_within(p.cost, p.best_mean(), gap(p));
    };
    constexpr std::size_t inwards = is_above ? -1 : 1;
    std::size_t k = is_above ? inner_.size() - 1 : 0;
    for (; k != best_ && !keeps_inner_end(inner_[k]); k += inwards)
      if (!is_lost(inner_[k])) return false;
    FunctionPiece& end = inner_[k];
    bool is_kept = gap(end) > 0.0;
    for (std::size_t j = k; j != best_; j += inwards) is_kept &= keeps_inner_end(inner_[j]);
    if (!is_kept) return false;
    if (is_above) {
      end.high = std::clamp(Cost::upper_root(end.cost, gap(end)), end.low, end.high);
      inner_.pop_back(inner_.size() - 1 - k);
    } else {
      end.low = std::clamp(Cost::lower_root(end.cost, gap(end)), end.low, end.high);
      inner_.pop_front(k);
    }
    return true;
  }

  // Assign to a new segment every mean beyond the best one at which it is smaller. This function is
  // not inlined, because it is long and rarely called, and would slow down the rest by a quarter.
  template <bool is_above>
  [[gnu::noinline]] void lower_everywhere(double best_mean, double cost, std::int32_t node) {
    FunctionPiece offered{{.base = cost}, means_.low, means_.high, node, true};
    (is_above ? offered.low : offered.high) = best_mean;
    // Because of rounding, the best mean may be at the edge, or just outside.
    if (offered.low < inner_.back().high) lowering_.lower(inner_, CostFunction(offered));
    if (is_above) {
      offered.low = inner_.back().high;
      if (offered.low < offered.high) inner_.append(offered);
    } else {
      offered.high = inner_[0].low;
      if (offered.low < offered.high) inner_.prepend(offered);
    }
  }
};

template <class Cost>
class FPOPSearch final : public Segmenter {
 public:
  explicit FPOPSearch(const SegmentSettings& settings)
      : penalty_(settings.penalty), function_(settings.means) {}

  void push(const Observations& data, const Interrupt& check) override {
    std::uint32_t n_runs = 0;
    for (std::size_t k = 0; k < data.size();) {
      const double x = data.x[k];
      // A change inside a run of equal values is never better; for penalty 0 it would be equal.
      if (position_ > 0 && x != last_x_)
        function_.offer_change(position_, x > last_x_, penalty_, tree_);
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
  FPOPFunction<Cost> function_;
  ChangeTree tree_;
  std::int32_t position_ = 0;
  double last_x_ = 0.0;
};

}  // namespace rocpath
