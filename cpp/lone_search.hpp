// The search for a penalty without constraint, labels or a shortest length: one cost function.
//
// Next to a change of a best segmentation no observation would rather belong to the other segment.
// So the mean rises only where the observations do: a newcomer competes for the means above the
// best one so far, or for those below, never for both. That halves the work, and loses nothing.
//
// Many newcomers win the means at their end and lose them to the next one. So a newcomer waits
// outside, without a piece and without a node, and is settled only where it survives: a fifth of
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

  // A segment may begin at `position`, where the observations rise or fall.
  void change(std::int32_t position, bool is_rise, double penalty, ChangeTree& tree) {
    if (std::min(lowest_.cost.base, highest_.cost.base) < least_) settle_best(tree);
    const double level = least_ + penalty;
    if (!(level < infinite_cost)) return;
    if (is_rise)
      enter<true>(highest_, position, level, tree);
    else
      enter<false>(lowest_, position, level, tree);
  }

  void add(const CostPiece& observation) {
    least_ = infinite_cost;
    std::size_t k = 0;
    for (FunctionPiece& piece : inner_) {
      Cost::merge(piece.cost, observation);
      // Without branches: which piece is best cannot be predicted.
      const auto is_better = static_cast<std::size_t>(piece.cost.base < least_);
      best_ ^= (best_ ^ k) & -is_better;
      least_ = std::min(least_, piece.cost.base);
      ++k;
    }
    if (lowest_.is_waiting()) Cost::merge(lowest_.cost, observation);
    if (highest_.is_waiting()) Cost::merge(highest_.cost, observation);
  }

  // The last change of the best segmentation.
  std::int32_t best(ChangeTree& tree) {
    if (std::min(lowest_.cost.base, highest_.cost.base) < least_) settle_best(tree);
    return inner_[best_].node;
  }

  template <class Act>
  void for_each_node(Act&& act) {
    for (FunctionPiece& piece : inner_) act(piece.node);
    act(lowest_.before);
    act(highest_.before);
  }

 private:
  struct Newcomer {
    CostPiece cost{.base = infinite_cost};
    std::int32_t position = 0;
    std::int32_t before = -1;

    bool is_waiting() const { return cost.base < infinite_cost; }
  };

  // Let a newcomer compete for the means above the best one, or for those below.
  template <bool is_above>
  void enter(Newcomer& newcomer, std::int32_t position, double level, ChangeTree& tree) {
    if (survives<is_above>(newcomer.cost, level)) settle<is_above>(newcomer, tree);
    newcomer = {};
    const std::int32_t before = inner_[best_].node;
    const double best_mean = inner_[best_].cost.mean;
    // A piece may have won at several places; some are not where its own mean is.
    if (!inner_[best_].has(best_mean)) best_ = place_of(best_mean);
    if (!cut_end<is_above>(level))
      lower<is_above>(best_mean, level, tree.make(position, before, false));
    else if (is_above ? inner_.back().high < means_.high : means_.low < inner_[0].low)
      newcomer = {{.base = level}, position, before};
  }

  std::size_t place_of(double mean) const {
    std::size_t k = 0;
    while (k + 1 < inner_.size() && inner_[k].high < mean) ++k;
    return k;
  }

  template <bool is_above>
  bool survives(const CostPiece& cost, double level) const {
    const double gap = level - cost.base;
    if (!(gap > 0.0)) return false;
    const double edge = is_above ? inner_.back().high : inner_[0].low;
    return (is_above ? cost.mean > edge : cost.mean < edge) || Cost::is_within(cost, edge, gap);
  }

  // Give a newcomer a node and its piece.
  template <bool is_above>
  void settle(const Newcomer& newcomer, ChangeTree& tree) {
    const std::int32_t node = tree.make(newcomer.position, newcomer.before, false);
    if (is_above) {
      inner_.push_back({newcomer.cost, inner_.back().high, means_.high, node, true});
    } else {
      inner_.push_front({newcomer.cost, means_.low, inner_[0].low, node, true});
      ++best_;
    }
  }

  [[gnu::noinline]] void settle_best(ChangeTree& tree) {
    const bool is_above = highest_.cost.base < lowest_.cost.base;
    Newcomer& newcomer = is_above ? highest_ : lowest_;
    is_above ? settle<true>(newcomer, tree) : settle<false>(newcomer, tree);
    best_ = is_above ? inner_.size() - 1 : 0;
    least_ = newcomer.cost.base;
    newcomer = {};
  }

  // Mostly a newcomer wins at the end and nowhere else. Then take the end off, in place; otherwise
  // do nothing, and say so.
  template <bool is_above>
  bool cut_end(double level) {
    const auto gap = [&](const FunctionPiece& p) { return level - p.cost.base; };
    // The function is continuous: the next piece begins with the same value.
    const auto has_inner_end = [&](const FunctionPiece& p) {
      return Cost::is_within(p.cost, is_above ? p.low : p.high, gap(p));
    };
    const auto is_lost = [&](const FunctionPiece& p) {
      return !(gap(p) > 0.0) || !Cost::is_within(p.cost, p.best_mean(), gap(p));
    };
    constexpr std::size_t inwards = is_above ? -1 : 1;
    std::size_t k = is_above ? inner_.size() - 1 : 0;
    for (; k != best_ && !has_inner_end(inner_[k]); k += inwards)
      if (!is_lost(inner_[k])) return false;
    FunctionPiece& end = inner_[k];
    bool is_kept = gap(end) > 0.0;
    for (std::size_t j = k; j != best_; j += inwards) is_kept &= has_inner_end(inner_[j]);
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

  // Give a newcomer every mean beyond the best one where it is smaller. Rare and long: inlined, it
  // would slow down the rest by a quarter.
  template <bool is_above>
  [[gnu::noinline]] void lower(double best_mean, double level, std::int32_t node) {
    FunctionPiece offered{{.base = level}, means_.low, means_.high, node, true};
    (is_above ? offered.low : offered.high) = best_mean;
    // Rounding may put the best mean at the edge, or just outside.
    if (offered.low < inner_.back().high) lowering_.lower(inner_, CostFunction(offered));
    if (is_above) {
      offered.low = inner_.back().high;
      if (offered.low < offered.high) inner_.append(offered);
    } else {
      offered.high = inner_[0].low;
      if (offered.low < offered.high) inner_.prepend(offered);
    }
  }

  Range means_;
  CostFunction inner_;  // of all means but those of the newcomers
  Newcomer lowest_, highest_;
  double least_ = 0.0;  // base of the inner pieces, that of the best one
  std::size_t best_ = 0;
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
      if (position_ > 0 && x != last_x_) function_.change(position_, x > last_x_, penalty_, tree_);
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
