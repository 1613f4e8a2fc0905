// Count the correctly ranked pairs of a positive and a negative score.
//
// A score represents as many rows as its count, or one row if there are no counts. Counts may be
// weights as integer multiples of a unit, so the product of two counts may not fit into 64 bits.
//
// Time O(n) for n sorted scores, without additional memory; scores that are not sorted take O(n log
// n) and O(n) memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "numerics/exact.hpp"
#include "numerics/sorting.hpp"

namespace rocpath {

struct CountedScores {
  std::span<const double> score;        // strictly increasing
  std::span<const std::int64_t> count;  // empty if all counts are one

  std::int64_t count_of(std::size_t k) const { return count.empty() ? 1 : count[k]; }
};

// Twice the number of correctly ranked pairs plus the number of tied pairs.
inline int128 doubled_pairs(const CountedScores& negative, const CountedScores& positive) {
  int128 doubled = 0;
  std::int64_t below = 0;
  std::size_t next = 0;  // index of the first negative that is not below
  for (std::size_t k = 0; k < positive.score.size(); ++k) {
    const double score = positive.score[k];
    while (next < negative.score.size() && negative.score[next] < score)
      below += negative.count_of(next++);
    const bool is_tied = next < negative.score.size() && negative.score[next] == score;
    const std::int64_t up_to = below + (is_tied ? negative.count_of(next) : 0);
    doubled += static_cast<int128>(positive.count_of(k)) * (below + up_to);
  }
  return doubled;
}

// The scores of the rows of two classes. Memory O(rows).
class ClassScores {
 public:
  explicit ClassScores(std::size_t n_rows) : negative_(n_rows), positive_(n_rows) {}

  // Requires: at most `n_rows` calls. There is no branch, because it would be mispredicted for
  // labels in random order.
  void add(double score, bool is_positive) {
    negative_[n_negative_] = score;
    positive_[n_positive_] = score;
    n_positive_ += is_positive;
    n_negative_ += !is_positive;
  }

  std::size_t n_negative() const { return n_negative_; }
  std::size_t n_positive() const { return n_positive_; }

  // Sort the scores, and return twice the number of correctly ranked pairs plus the number of tied
  // pairs.
  int128 doubled_pairs() {
    UnfilledVector<double> buffer(std::max(n_negative_, n_positive_));
    const std::span<double> negative(negative_.data(), n_negative_);
    const std::span<double> positive(positive_.data(), n_positive_);
    sort_values(negative, buffer);
    sort_values(positive, buffer);
    int128 doubled = 0;
    std::size_t below = 0;
    std::size_t up_to = 0;
    for (const double score : positive) {
      while (below < n_negative_ && negative[below] < score) ++below;
      up_to = std::max(up_to, below);
      while (up_to < n_negative_ && negative[up_to] == score) ++up_to;
      doubled += static_cast<int128>(below + up_to);
    }
    return doubled;
  }

 private:
  UnfilledVector<double> negative_;
  UnfilledVector<double> positive_;
  std::size_t n_negative_ = 0;
  std::size_t n_positive_ = 0;
};

}  // namespace rocpath
