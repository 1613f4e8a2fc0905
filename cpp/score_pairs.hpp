// Pairs of a positive and a negative in the right order, of scores that are sorted by class.
//
// A score stands for as many rows as its count says, or for one where there are no counts. Counts
// may be weights as whole numbers of a unit, so products of two do not fit into 64 bits.
//
// Time O(scores of both classes), no memory.
#pragma once

#include <span>

#include "exact.hpp"

namespace rocpath {

struct CountedScores {
  std::span<const double> score;        // rising, each once
  std::span<const std::int64_t> count;  // empty if all are one

  std::int64_t count_of(std::size_t k) const { return count.empty() ? 1 : count[k]; }
};

// Twice the pairs in the right order, and once those that are tied.
inline int128 doubled_pairs(const CountedScores& negative, const CountedScores& positive) {
  int128 doubled = 0;
  std::int64_t below = 0;
  std::size_t next = 0;  // the first negative that is not below
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

}  // namespace rocpath
