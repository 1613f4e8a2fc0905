// The best segmentations for costs with several parameters per segment: the means of several
// columns, mean and variance, or a line.
//
// Optimal partitioning over the last change, with the pruning of PELT (Killick et al. 2012): a last
// change at s that costs more up to t than a change at t itself is never optimal after t, because
// adding a change never increases the cost. With 0..K changes the same holds within each number of
// changes. Time: the number of remaining candidates, summed over the data. If changes are frequent,
// there are as many candidates as observations in a few segments; without changes, the time is
// quadratic. Data are not stored. Memory: the candidates and the changes they share. Labels are
// enforced as in `segmentation.hpp`, by two layers of candidates inside regions that require a
// change.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "changepoint/costs/cost_function.hpp"
#include "changepoint/segmenter.hpp"

namespace rocpath {

// A cost that is updated by one observation at a time, for many segments at once.
template <class Cost>
concept StatisticsCost = requires(typename Cost::Statistics segments, const double* x,
                                  double weight, std::vector<double>& total, std::size_t n) {
  segments.resize(n);
  segments.move(n, n);
  segments.observe(x, weight, total);
};

// Starts of the last segment that may still be best, with the costs of these segments.
template <StatisticsCost Cost>
class Candidates {
 public:
  explicit Candidates(const SegmentSettings& settings)
      : settings_(&settings), segments_(settings) {}

  std::size_t size() const { return start_.size(); }

  // Add a segment that begins at `start` with the change `node`. `before` is the cost up to there,
  // including the penalty.
  void add(std::int32_t start, double before, std::int32_t node) {
    start_.push_back(start);
    node_.push_back(node);
    before_.push_back(before);
    total_.push_back(before);
    dead_from_.push_back(std::numeric_limits<std::int32_t>::max());
    segments_.resize(size());
  }

  void observe(const double* x, double weight) {
    total_ = before_;
    segments_.observe(x, weight, total_);
  }

  // The best segment that ends before `end` and is long enough.
  BestPiece best(std::int32_t end) const {
    BestPiece best;
    const auto shortest = static_cast<std::int32_t>(settings_->min_length);
    for (std::size_t k = 0; k < size() && start_[k] + shortest <= end; ++k)
      best.improve(total_[k], node_[k]);
    return best;
  }

  // Drop candidates that a change at `end`, with cost `bound` before it, dominates. Such a change
  // can be used only once its segment is long enough.
  void prune(std::int32_t end, double bound) {
    const auto shortest = static_cast<std::int32_t>(settings_->min_length);
    std::size_t kept = 0;
    for (std::size_t k = 0; k < size(); ++k) {
      if (start_[k] + shortest <= end && total_[k] > bound)
        dead_from_[k] = std::min(dead_from_[k], end + shortest);
      if (dead_from_[k] <= end) continue;
      if (kept < k) move(k, kept);
      ++kept;
    }
    shrink(kept);
  }

  void clear() { shrink(0); }

  template <class Act>
  void for_each_node(Act&& act) {
    for (std::int32_t& node : node_) act(node);
  }

 private:
  void move(std::size_t from, std::size_t to) {
    start_[to] = start_[from];
    node_[to] = node_[from];
    before_[to] = before_[from];
    total_[to] = total_[from];
    dead_from_[to] = dead_from_[from];
    segments_.move(from, to);
  }

  void shrink(std::size_t size) {
    start_.resize(size);
    node_.resize(size);
    before_.resize(size);
    total_.resize(size);
    dead_from_.resize(size);
    segments_.resize(size);
  }

  const SegmentSettings* settings_;
  std::vector<std::int32_t> start_, node_, dead_from_;
  std::vector<double> before_, total_;
  typename Cost::Statistics segments_;
};

template <StatisticsCost Cost>
class PeltSearch final : public Segmenter {
 public:
  explicit PeltSearch(SegmentSettings settings)
      : settings_(std::move(settings)),
        n_states_(settings_.has_penalty ? 1 : settings_.max_changes + 1),
        rules_(std::move(settings_.regions)) {
    if (!settings_.has_penalty) settings_.penalty = 0.0;
    for (auto& layer : candidates_) layer.assign(n_states_, Candidates<Cost>(settings_));
    for (auto* layers : {&best_, &offers_})
      for (auto& layer : *layers) layer.resize(n_states_);
    candidates_[0][0].add(0, 0.0, -1);
  }
  // Candidates refer to the settings.
  PeltSearch(const PeltSearch&) = delete;
  PeltSearch& operator=(const PeltSearch&) = delete;

  void push(const Observations& data, const Interrupt& check) override {
    if (data.size() == 0) return;
    const std::size_t n_entries = data.x.size() / data.size();
    for (std::size_t t = 0; t < data.size(); ++t) {
      for (std::size_t layer = 0; layer < n_layers_; ++layer)
        for (auto& state : candidates_[layer])
          state.observe(data.x.data() + t * n_entries, data.weight[t]);
      ++position_;
      end_segments();
      begin_segments();
      if (tree_.is_full()) collect();
      if (t % 64 == 0) check();
    }
  }

  Changes finish() override {
    Changes changes;
    for (const BestPiece& best : best_[0]) {
      if (best.value < infinite_cost)
        tree_.append_to(changes, best.node);
      else
        changes.n_changes.push_back(-1);
    }
    return changes;
  }

 private:
  // Find the best last segment that ends here, for each number of changes.
  void end_segments() {
    for (std::size_t layer = 0; layer < n_layers_; ++layer)
      for (std::size_t k = 0; k < n_states_; ++k)
        best_[layer][k] = candidates_[layer][k].best(position_);
  }

  // Add a candidate that starts here, where labels allow a change.
  void begin_segments() {
    const LabelRegion* region = rules_.of_change(position_);
    if (region != nullptr && region->needs_change()) n_layers_ = 2;
    for (std::size_t from = 0; from < n_layers_; ++from) {
      const auto to = region == nullptr ? static_cast<int>(from)
                                        : region->layer_after(static_cast<int>(from), true);
      if (to < 0) continue;
      for (std::size_t k = 0; k < n_states_; ++k) {
        const std::size_t next = settings_.has_penalty ? k : k + 1;
        const BestPiece& best = best_[from][k];
        if (next < n_states_ && best.value < infinite_cost)
          offers_[to][next].improve(best.value + settings_.penalty, best.node);
      }
    }
    for (std::size_t layer = 0; layer < n_layers_; ++layer)
      for (std::size_t k = 0; k < n_states_; ++k) accept(candidates_[layer][k], offers_[layer][k]);
    if (region != nullptr && region->needs_change() && region->last == position_)
      drop_first_layer();
  }

  void accept(Candidates<Cost>& candidates, BestPiece& offer) {
    if (offer.value < infinite_cost) {
      candidates.prune(position_, offer.value);
      candidates.add(position_, offer.value, tree_.make(position_, offer.node, false));
    }
    offer = {};
  }

  void drop_first_layer() {
    candidates_[0].swap(candidates_[1]);
    for (auto& state : candidates_[1]) state.clear();
    for (BestPiece& best : best_[1]) best = {};
    n_layers_ = 1;
  }

  void collect() {
    tree_.collect([&](auto&& act) {
      for (auto& layer : candidates_)
        for (auto& state : layer) state.for_each_node(act);
      for (auto& layer : best_)
        for (BestPiece& best : layer) act(best.node);
    });
  }

  SegmentSettings settings_;
  std::size_t n_states_;
  LabelRules rules_;
  ChangeTree tree_;
  std::array<std::vector<Candidates<Cost>>, 2> candidates_;  // indexed by layer, then changes
  std::array<std::vector<BestPiece>, 2> best_, offers_;
  std::size_t n_layers_ = 1;
  std::int32_t position_ = 0;
};

}  // namespace rocpath
