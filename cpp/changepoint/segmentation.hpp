// The best segmentations with 0..K changes, or the best one for a penalty on each change;
// optionally with the up-down constraint, labels as constraints, and a minimum segment length.
//
// Dynamic programming over the data with one cost function for each state: a number of changes, or
// background and peak, or a single state. A change leads from one state to the next. Costs are
// functions of a mean (cost_function.hpp) or of a robust center (robust_functions.hpp). Data arrive
// in chunks and are not stored. Time: the pieces of the functions, usually a few tens, summed over
// states and data. Memory: the pieces and the changes they share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "changepoint/min_length.hpp"
#include "changepoint/segmenter.hpp"
#include "changepoint/up_down.hpp"

namespace rocpath {

template <class Change>
class SegmentSearch final : public Segmenter {
  using Functions = typename Change::Functions;
  using Function = typename Functions::Function;

 public:
  explicit SegmentSearch(SegmentSettings settings)
      : settings_(std::move(settings)),
        has_labels_(!settings_.regions.empty()),
        n_states_(!settings_.has_penalty ? settings_.max_changes + 1
                  : Change::is_up_down   ? 2
                                         : 1),
        rules_(std::move(settings_.regions)),
        cost_functions_(settings_) {
    if (!settings_.has_penalty) settings_.penalty = 0.0;
    for (auto* layers : {&functions_, &offers_})
      for (auto& layer : *layers) layer.resize(n_states_);
    if (settings_.min_length == 1) {
      functions_[0][0] = cost_functions_.start();
    } else {
      young_.emplace(settings_.min_length, n_states_);
      young_->at(0, 0, 0) = cost_functions_.start();
    }
  }

  void push(const Observations& data, const Interrupt& check) override {
    for (std::size_t k = 0; k < data.size(); ++k) {
      const double x = data.x[k], weight = data.weight[k];
      if (young_) enter();
      if (position_ > 0) change();
      if (has_labels_) apply_peak_labels();
      add_observation(cost_functions_.observation(x, weight));
      ++position_;
      if (tree_.is_full()) collect();
      if (k % 64 == 0) check();
    }
  }

  Changes finish() override {
    if (young_) enter();
    Changes changes;
    BestPiece overall;
    for (const Function& function : functions_[0]) {
      const BestPiece found = Change::best(function);
      if (settings_.has_penalty)
        overall.improve(found.value, found.node);
      else
        append(changes, found);
    }
    if (settings_.has_penalty) append(changes, overall);
    return changes;
  }

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  std::size_t state_after(std::size_t state) const {
    if (state + 1 < n_states_) return state + 1;
    return settings_.has_penalty ? 0 : none;
  }

  void append(Changes& changes, const BestPiece& found) const {
    if (found.value < infinite_cost)
      tree_.append_to(changes, found.node);
    else
      changes.n_changes.push_back(-1);
  }

  void change() {
    const LabelRegion* region = has_labels_ ? rules_.of_change(position_) : nullptr;
    if (region != nullptr && region->needs_change()) n_layers_ = 2;
    const bool is_plain = region == nullptr && n_layers_ == 1 && !young_;
    // All offers are computed before any function is lowered.
    for_each_change(region, [&](std::size_t layer, std::size_t state, Function& target) {
      const bool is_full = !is_plain || !was_plain_ || target.empty();
      Function& from = functions_[layer][state];
      Change::offer(from, state % 2 == 0 ? Direction::up : Direction::down,
                    {position_, settings_.penalty, is_full}, tree_, offers_[layer][state]);
      if constexpr (Change::is_up_down)
        for (auto& piece : from) piece.is_new = false;
    });
    for_each_change(region, [&](std::size_t layer, std::size_t state, Function& target) {
      cost_functions_.lower(target, offers_[layer][state]);
      offers_[layer][state].clear();
    });
    was_plain_ = is_plain;
    if (region != nullptr && region->needs_change() && region->last == position_)
      drop_first_layer();
  }

  // Call `act` with the layer and state of every change that is allowed, and the function that it
  // leads to.
  template <class Act>
  void for_each_change(const LabelRegion* region, Act&& act) {
    for (std::size_t layer = 0; layer < n_layers_; ++layer) {
      for (std::size_t state = 0; state < n_states_; ++state) {
        const std::size_t next = state_after(state);
        if (next == none) continue;
        if (functions_[layer][state].empty() && offers_[layer][state].empty()) continue;
        const int to = region == nullptr
                           ? static_cast<int>(layer)
                           : region->layer_after(static_cast<int>(layer), state % 2 == 0);
        if (to >= 0)
          act(layer, state, young_ ? young_->at(to, next, position_) : functions_[to][next]);
      }
    }
  }

  // Peaks are the odd states.
  void apply_peak_labels() {
    rules_.for_peaks_at(position_, [&](const LabelRegion& region) {
      was_plain_ = false;
      if (region.kind == LabelKind::peaks) n_layers_ = 2;
      for (std::size_t state = 1; state < n_states_; state += 2) {
        pass_on(functions_[0][state], functions_[1][state], region.kind);
        if (young_)
          for (std::size_t age = 0; age < settings_.min_length; ++age)
            pass_on(young_->at(0, state, age), young_->at(1, state, age), region.kind);
      }
      if (region.kind == LabelKind::peaks && region.last == position_) drop_first_layer();
    });
  }

  void pass_on(Function& first, Function& second, LabelKind kind) {
    if (kind == LabelKind::peaks) cost_functions_.lower(second, first);
    first.clear();
  }

  void drop_first_layer() {
    std::swap(functions_[0], functions_[1]);
    for (Function& function : functions_[1]) function.clear();
    if (young_) young_->drop_first_layer();
    n_layers_ = 1;
    was_plain_ = false;
  }

  void add_observation(const typename Functions::Data& observation) {
    for (std::size_t layer = 0; layer < n_layers_; ++layer)
      for (Function& function : functions_[layer]) cost_functions_.add(function, observation);
    if (young_) young_->add(cost_functions_, observation);
  }

  // Add segments that have reached the minimum length.
  void enter() {
    if (position_ == 0) return;
    const auto recent = young_->last_observations(cost_functions_);
    for (std::size_t layer = 0; layer < n_layers_; ++layer)
      for (std::size_t state = 0; state < n_states_; ++state) {
        Function& grown = young_->at(layer, state, position_);
        if (grown.empty()) continue;
        cost_functions_.add(grown, recent);
        cost_functions_.lower(functions_[layer][state], grown);
        grown.clear();
      }
  }

  void collect() {
    tree_.collect([&](auto&& act) {
      const auto act_on = [&](Function& function) {
        for (auto& piece : function) act(piece.node);
      };
      for (auto& layer : functions_)
        for (Function& function : layer) act_on(function);
      if (young_) young_->for_each(act_on);
    });
  }

  SegmentSettings settings_;
  bool has_labels_;
  std::size_t n_states_;
  LabelRules rules_;
  Functions cost_functions_;
  ChangeTree tree_;
  std::array<std::vector<Function>, 2> functions_, offers_;  // indexed by layer, then state
  std::optional<YoungSegments<Functions>> young_;
  std::size_t n_layers_ = 1;
  bool was_plain_ = false;  // whether each function was offered to the next one at the last change
  std::int32_t position_ = 0;
};

}  // namespace rocpath
