// An upper bound on the increase of AUC between two steps, given the orders of the lines there.
//
// When line i rises above line j, AUC changes by fp_i tp_j - fp_j tp_i, of which the positive parts
// of both terms count. The sum over all pairs that cross is computed without listing them, in about
// O(B log B) and O(B) memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "auc/auc_changes.hpp"

namespace rocpath {

// Prefix sums of a changing array, efficient if there are more queries than changes. Every level
// stores the prefix sums within blocks of 64 entries of the level below.
template <class Sum>
class PrefixSums {
 public:
  explicit PrefixSums(std::size_t n_entries) {
    for (std::size_t n = n_entries;; n = n / width + 1) {
      level_.emplace_back(n + 1);
      if (n < width) break;
    }
  }

  void add(std::size_t place, const Sum& amount) {
    for (Vector<Sum>& level : level_) {
      const std::size_t end = std::min((place / width + 1) * width, level.size());
      for (std::size_t k = place + 1; k < end; ++k) level[k] += amount;
      place /= width;
    }
  }

  Sum before(std::size_t place) const {
    Sum sum;
    for (const Vector<Sum>& level : level_) {
      sum += level[place];
      place /= width;
    }
    return sum;
  }

 private:
  static constexpr std::size_t width = 64;
  std::vector<Vector<Sum>> level_;
};

// For monotone errors only fp_i tp_j can be positive.
struct OneSign {
  std::int64_t tp = 0;

  OneSign() = default;
  explicit OneSign(const Jump& jump) : tp(jump.tp) {}
  static bool is_entered(const Jump& jump) { return jump.tp != 0; }
  static bool is_queried(const Jump& jump) { return jump.fp != 0; }
  void operator+=(const OneSign& other) { tp += other.tp; }
  int128 gain(const Jump& jump) const { return static_cast<int128>(jump.fp) * tp; }
};

// For other errors: the positive and negative parts of all jumps.
struct BothSigns {
  std::int64_t tp_up = 0;
  std::int64_t tp_down = 0;
  std::int64_t fp_up = 0;
  std::int64_t fp_down = 0;

  BothSigns() = default;
  explicit BothSigns(const Jump& jump)
      : tp_up(std::max<std::int64_t>(jump.tp, 0)),
        tp_down(tp_up - jump.tp),
        fp_up(std::max<std::int64_t>(jump.fp, 0)),
        fp_down(fp_up - jump.fp) {}
  static bool is_entered(const Jump&) { return true; }
  static bool is_queried(const Jump&) { return true; }
  void operator+=(const BothSigns& other) {
    tp_up += other.tp_up;
    tp_down += other.tp_down;
    fp_up += other.fp_up;
    fp_down += other.fp_down;
  }
  int128 gain(const Jump& jump) const {
    const BothSigns own(jump);
    return static_cast<int128>(own.fp_up) * tp_up + static_cast<int128>(own.fp_down) * tp_down +
           static_cast<int128>(own.tp_down) * fp_up + static_cast<int128>(own.tp_up) * fp_down;
  }
};

// Upper bound on the increase of AUC, in units of the jumps. The lines are visited from the highest
// to the lowest in the order `from`, and the jumps of visited lines are summed by their rank in the
// order `to`. Each line thus finds the sum over all lines that were above it and will be below it.
// The memory of `place` is reused.
template <class Signs, class Jumps>
int128 largest_gain(const Jumps& jumps, std::span<const std::uint32_t> from,
                    std::span<const std::uint32_t> to, Vector<std::uint32_t>& place) {
  // Only lines whose jumps are summed need a place. For binary labels, these are the positives.
  place.resize(to.size());
  std::uint32_t n_entered = 0;
  for (std::size_t r = 0; r < to.size(); ++r) {
    if (r + detail::ahead < to.size()) jumps.prefetch(to[r + detail::ahead]);
    place[to[r]] = n_entered;
    n_entered += Signs::is_entered(jumps[to[r]]) ? 1 : 0;
  }
  PrefixSums<Signs> visited(n_entered);
  int128 gain = 0;
  for (std::size_t r = from.size(); r-- > 0;) {
    if (r >= detail::ahead) {
      jumps.prefetch(from[r - detail::ahead]);
      __builtin_prefetch(&place[from[r - detail::ahead]]);
    }
    const Jump& jump = jumps[from[r]];
    const std::uint32_t own_place = place[from[r]];
    if (Signs::is_queried(jump)) gain += visited.before(own_place).gain(jump);
    if (Signs::is_entered(jump)) visited.add(own_place, Signs(jump));
  }
  return gain;
}

}  // namespace rocpath
