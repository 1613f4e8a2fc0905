// The best segmentations by costs whose segments have several parameters: several columns, or mean
// and variance.
//
// Optimal partitioning over the last change, with the pruning of PELT (Killick et al. 2012): a last
// change at s that costs more up to t than a change at t itself is never the best again, as adding
// a change never increases a cost. With 0..K changes the same holds within each number of changes.
// Time: the candidates that are left, summed over the data; a few segments' lengths if changes keep
// coming, but quadratic without changes. Data are not kept; memory: the candidates, and the best
// last change for each observation and number of changes.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "change_tree.hpp"
#include "interrupt.hpp"

namespace rocpath {

// A cost of segments by the sums of squares of their columns around the means.
template <class Cost>
concept ColumnCost = requires(std::span<const double> floor, double weight, double square) {
  // What a column adds; `floor` is the smallest variance of the column.
  { Cost::of_column(weight, square, floor[0]) } -> std::same_as<double>;
};

struct PeltSettings {
  std::size_t n_columns;
  std::size_t min_length;
  bool has_penalty;
  double penalty;             // of a change, if there is one
  std::size_t max_changes;    // otherwise
  std::vector<double> floor;  // smallest variance of each column
};

// Starts of the last segment that may still be best, and that segment's means and sums of squares
// (Welford's update, which cancels nothing).
template <ColumnCost Cost>
class Candidates {
 public:
  explicit Candidates(const PeltSettings& settings)
      : settings_(&settings), mean_(settings.n_columns), square_(settings.n_columns) {}

  std::size_t size() const { return start_.size(); }
  std::int32_t start(std::size_t k) const { return start_[k]; }
  double total(std::size_t k) const { return total_[k]; }

  // A segment that begins at `start`; `before` is the cost up to there, with the penalty.
  void add(std::int32_t start, double before) {
    start_.push_back(start);
    before_.push_back(before);
    total_.push_back(before);
    weight_.push_back(0.0);
    dead_from_.push_back(std::numeric_limits<std::int32_t>::max());
    for (std::size_t j = 0; j < mean_.size(); ++j) {
      mean_[j].push_back(0.0);
      square_[j].push_back(0.0);
    }
  }

  void observe(const double* x, double weight) {
    const std::size_t n = size();
    share_.resize(n);
    for (std::size_t k = 0; k < n; ++k) {
      weight_[k] += weight;
      share_[k] = weight / weight_[k];
      total_[k] = before_[k];
    }
    for (std::size_t j = 0; j < mean_.size(); ++j) {
      double* mean = mean_[j].data();
      double* square = square_[j].data();
      const double value = x[j], floor = settings_->floor[j];
      for (std::size_t k = 0; k < n; ++k) {
        const double distance = value - mean[k];
        square[k] += (weight_[k] - weight) * share_[k] * distance * distance;
        mean[k] += share_[k] * distance;
        total_[k] += Cost::of_column(weight_[k], square[k], floor);
      }
    }
  }

  // The best segment that ends before `end` and is long enough.
  std::size_t best(std::int32_t end) const {
    std::size_t found = none;
    const auto shortest = static_cast<std::int32_t>(settings_->min_length);
    for (std::size_t k = 0; k < size() && start_[k] + shortest <= end; ++k)
      if (found == none || total_[k] < total_[found]) found = k;
    return found;
  }

  // Drop what a change at `end`, where the cost before it is `bound`, makes useless. Such a change
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

  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

 private:
  void move(std::size_t from, std::size_t to) {
    start_[to] = start_[from];
    before_[to] = before_[from];
    total_[to] = total_[from];
    weight_[to] = weight_[from];
    dead_from_[to] = dead_from_[from];
    for (std::size_t j = 0; j < mean_.size(); ++j) {
      mean_[j][to] = mean_[j][from];
      square_[j][to] = square_[j][from];
    }
  }

  void shrink(std::size_t size) {
    start_.resize(size);
    before_.resize(size);
    total_.resize(size);
    weight_.resize(size);
    dead_from_.resize(size);
    for (auto& column : mean_) column.resize(size);
    for (auto& column : square_) column.resize(size);
  }

  const PeltSettings* settings_;
  std::vector<std::int32_t> start_, dead_from_;
  std::vector<double> before_, total_, weight_, share_;
  std::vector<std::vector<double>> mean_, square_;  // by column, then candidate
};

template <ColumnCost Cost>
class PeltSearch {
 public:
  explicit PeltSearch(PeltSettings settings) : settings_(std::move(settings)) {
    n_states_ = settings_.has_penalty ? 1 : settings_.max_changes + 1;
    for (std::size_t k = 0; k < n_states_; ++k) candidates_.emplace_back(settings_);
    last_change_.resize(n_states_);
    best_.assign(n_states_, std::numeric_limits<double>::infinity());
    candidates_[0].add(0, 0.0);
  }

  // Take observations one after the other, each with all its columns. Requires: positive weights.
  void push(std::span<const double> x, std::span<const double> weight, const Interrupt& check) {
    for (std::size_t t = 0; t < weight.size(); ++t) {
      for (auto& state : candidates_) state.observe(x.data() + t * settings_.n_columns, weight[t]);
      ++position_;
      end_segments();
      if (t % 64 == 0) check();
    }
  }

  Changes finish() const {
    Changes changes;
    for (std::size_t k = 0; k < n_states_; ++k) append(changes, k);
    return changes;
  }

 private:
  // The best last segment that ends here, for each number of changes; then segments that begin.
  void end_segments() {
    for (std::size_t k = 0; k < n_states_; ++k) {
      const std::size_t found = candidates_[k].best(position_);
      const bool is_found = found != Candidates<Cost>::none;
      best_[k] = is_found ? candidates_[k].total(found) : infinite;
      last_change_[k].push_back(is_found ? candidates_[k].start(found) : -1);
    }
    for (std::size_t k = n_states_; k-- > 0;) {
      const std::size_t before = settings_.has_penalty ? 0 : k - 1;
      if (!settings_.has_penalty && k == 0) break;
      if (!(best_[before] < infinite)) continue;
      const double penalty = settings_.has_penalty ? settings_.penalty : 0.0;
      // Candidates hold the penalty of their change, so that the bound does too.
      if (!(best_[before] + penalty < infinite)) continue;
      candidates_[k].prune(position_, best_[before] + penalty);
      candidates_[k].add(position_, best_[before] + penalty);
    }
  }

  void append(Changes& changes, std::size_t state) const {
    const auto first = static_cast<std::ptrdiff_t>(changes.position.size());
    std::int32_t end = position_;
    while (true) {
      const std::int32_t start = end == 0 ? -1 : last_change_[state][end - 1];
      if (start < 0) {
        changes.position.resize(first);
        changes.n_changes.push_back(-1);
        changes.is_tied.assign(changes.position.size(), 0);
        return;
      }
      if (start == 0) break;
      changes.position.push_back(start);
      end = start;
      if (!settings_.has_penalty) --state;
    }
    std::reverse(changes.position.begin() + first, changes.position.end());
    changes.n_changes.push_back(static_cast<std::int64_t>(changes.position.size()) - first);
    changes.is_tied.assign(changes.position.size(), 0);
  }

  static constexpr double infinite = std::numeric_limits<double>::infinity();

  PeltSettings settings_;
  std::size_t n_states_ = 1;
  std::vector<Candidates<Cost>> candidates_;            // by number of changes
  std::vector<std::vector<std::int32_t>> last_change_;  // by number of changes, then end
  std::vector<double> best_;
  std::int32_t position_ = 0;
};

}  // namespace rocpath
