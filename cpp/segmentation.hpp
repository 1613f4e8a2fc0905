// The best segmentations with 0..K changes, and the best one for a penalty on each change.
//
// Functional pruning (Rigaill 2015; Maidstone et al. 2017). A candidate is a place where the last
// segment may have begun. Its cost is a function of that segment's mean mu; a candidate is kept
// only while it is the best one for some mu. A new candidate starts as a constant, so against it an
// old one keeps an interval of mu. Time is the number of candidates kept, usually a few, summed
// over the data: O(K n log n) in practice, O(K n^2) at worst. Memory: 4 K n bytes of back pointers.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cost_pieces.hpp"
#include "memory.hpp"

namespace rocpath {

struct Observations {
  std::span<const double> x;
  std::span<const double> weight;

  std::size_t size() const { return x.size(); }

  // All means of segments lie here. Never a single point, which no interval could cover.
  Range mean_range() const {
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    return {*low, *low < *high ? *high : *low + 1.0};
  }
};

struct Best {
  double value = 0.0;
  std::int32_t start = 0;
};

// The candidates for the start of the last segment, and which of them is best for which mean.
template <class Cost>
class Candidates {
 public:
  explicit Candidates(Range means) : means_(means) {}

  void clear() {
    candidates_.clear();
    intervals_.clear();
  }

  // From here on a segment may begin at `start`, after `value` paid for the data before.
  void offer(double value, std::int32_t start) {
    const auto newcomer = static_cast<std::uint32_t>(candidates_.size());
    candidates_.push_back({{.base = value}, start, 0});
    if (newcomer == 0) {
      intervals_.assign(1, {means_.high, newcomer});
      return;
    }
    next_intervals_.clear();
    double low = means_.low;
    for (const auto& [high, owner] : intervals_) {
      const Range kept = below_level<Cost>(candidates_[owner].piece, value, low, high);
      if (kept.low < kept.high) {
        extend(low, kept.low, newcomer);
        extend(kept.low, kept.high, owner);
        extend(kept.high, high, newcomer);
      } else {
        extend(low, high, newcomer);
      }
      low = high;
    }
    intervals_.swap(next_intervals_);
    drop_unused();
  }

  void add(double x, double weight) {
    for (Candidate& candidate : candidates_) Cost::add(candidate.piece, x, weight);
  }

  // The earliest start among the best.
  Best best() const {
    Best best{candidates_[0].piece.base, candidates_[0].start};
    for (const Candidate& candidate : candidates_)
      if (candidate.piece.base < best.value) best = {candidate.piece.base, candidate.start};
    return best;
  }

 private:
  struct Candidate {
    CostPiece piece;
    std::int32_t start;
    std::uint32_t place;
  };
  // From the end of the interval before it.
  struct Interval {
    double end;
    std::uint32_t owner;
  };

  void extend(double low, double high, std::uint32_t owner) {
    if (!(low < high)) return;
    if (!next_intervals_.empty() && next_intervals_.back().owner == owner)
      next_intervals_.back().end = high;
    else
      next_intervals_.push_back({high, owner});
  }

  void drop_unused() {
    constexpr std::uint32_t unused = 0, used = 1;
    for (Candidate& candidate : candidates_) candidate.place = unused;
    for (const Interval& interval : intervals_) candidates_[interval.owner].place = used;
    std::uint32_t n_used = 0;
    for (Candidate& candidate : candidates_)
      candidate.place = candidate.place == used ? n_used++ : dropped;
    if (n_used == candidates_.size()) return;
    for (Interval& interval : intervals_) interval.owner = candidates_[interval.owner].place;
    std::erase_if(candidates_, [](const Candidate& c) { return c.place == dropped; });
  }

  static constexpr std::uint32_t dropped = std::numeric_limits<std::uint32_t>::max();
  Range means_;
  std::vector<Candidate> candidates_;  // by start
  std::vector<Interval> intervals_, next_intervals_;
};

// The change positions of each model, one model after the other; a change at t begins a segment
// at x[t]. `is_tied` says that a constraint holds the means on both sides equal.
struct Changes {
  Vector<std::int32_t> position;
  Vector<std::int32_t> is_tied;
};

// The best changes for 0..max_changes of them. Requires: 0 <= max_changes < n, positive weights.
template <class Cost, class Check>
Changes best_changes(const Observations& data, std::size_t max_changes, Check check) {
  const std::size_t n = data.size();
  Candidates<Cost> candidates(data.mean_range());
  // value[t]: the smallest cost of the first t observations, for the current number of changes.
  std::vector<double> value(n + 1), next_value(n + 1);
  CostPiece whole;
  for (std::size_t t = 0; t < n; ++t) {
    Cost::add(whole, data.x[t], data.weight[t]);
    value[t + 1] = whole.base;
  }
  std::vector<Vector<std::int32_t>> last_start(max_changes + 1);
  for (std::size_t k = 1; k <= max_changes; ++k) {
    candidates.clear();
    last_start[k].resize(n + 1 - k);
    for (std::size_t t = k; t < n; ++t) {
      candidates.offer(value[t], static_cast<std::int32_t>(t));
      candidates.add(data.x[t], data.weight[t]);
      const Best best = candidates.best();
      next_value[t + 1] = best.value;
      last_start[k][t + 1 - k] = best.start;
      if (t % 1024 == 0) check();
    }
    value.swap(next_value);
  }
  Changes changes;
  changes.position.resize(max_changes * (max_changes + 1) / 2);
  changes.is_tied.assign(changes.position.size(), 0);
  for (std::size_t k = 1; k <= max_changes; ++k) {
    auto end = static_cast<std::size_t>(n);
    for (std::size_t j = k; j > 0; --j) {
      end = static_cast<std::size_t>(last_start[j][end - j]);
      changes.position[k * (k - 1) / 2 + j - 1] = static_cast<std::int32_t>(end);
    }
  }
  return changes;
}

// The changes with the smallest cost + penalty * (number of changes). Requires: penalty >= 0.
template <class Cost, class Check>
Changes best_changes_for(const Observations& data, double penalty, Check check) {
  const std::size_t n = data.size();
  Candidates<Cost> candidates(data.mean_range());
  Vector<std::int32_t> last_start(n);
  double value = 0.0;
  for (std::size_t t = 0; t < n; ++t) {
    if (t == 0 || value + penalty < std::numeric_limits<double>::infinity())
      candidates.offer(t == 0 ? 0.0 : value + penalty, static_cast<std::int32_t>(t));
    candidates.add(data.x[t], data.weight[t]);
    const Best best = candidates.best();
    value = best.value;
    last_start[t] = best.start;
    if (t % 1024 == 0) check();
  }
  Changes changes;
  for (auto start = last_start[n - 1]; start > 0; start = last_start[start - 1])
    changes.position.push_back(start);
  std::reverse(changes.position.begin(), changes.position.end());
  changes.is_tied.assign(changes.position.size(), 0);
  return changes;
}

}  // namespace rocpath
