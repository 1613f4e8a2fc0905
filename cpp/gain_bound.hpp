// How much AUC can gain at most between two steps, given the orders of the lines there.
#pragma once

#include "auc_changes.hpp"

namespace rocpath {

// Sums over the entries before a place, where few are added and many are asked for: every level
// holds the sums within blocks of 64 entries of the level below.
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

// Where no jump is negative, only fp_i tp_j is a gain.
struct OneSign {
  std::int64_t tp = 0;

  OneSign() = default;
  explicit OneSign(const Kinds::Jump& jump) : tp(jump.tp) {}
  static bool is_entered(const Kinds::Jump& jump) { return jump.tp != 0; }
  static bool is_asked(const Kinds::Jump& jump) { return jump.fp != 0; }
  void operator+=(const OneSign& other) { tp += other.tp; }
  int128 gain(const Kinds::Jump& jump) const { return static_cast<int128>(jump.fp) * tp; }
};

// Positive and negative parts of all jumps.
struct BothSigns {
  std::int64_t tp_up = 0;
  std::int64_t tp_down = 0;
  std::int64_t fp_up = 0;
  std::int64_t fp_down = 0;

  BothSigns() = default;
  explicit BothSigns(const Kinds::Jump& jump)
      : tp_up(std::max<std::int64_t>(jump.tp, 0)),
        tp_down(tp_up - jump.tp),
        fp_up(std::max<std::int64_t>(jump.fp, 0)),
        fp_down(fp_up - jump.fp) {}
  static bool is_entered(const Kinds::Jump&) { return true; }
  static bool is_asked(const Kinds::Jump&) { return true; }
  void operator+=(const BothSigns& other) {
    tp_up += other.tp_up;
    tp_down += other.tp_down;
    fp_up += other.fp_up;
    fp_down += other.fp_down;
  }
  int128 gain(const Kinds::Jump& jump) const {
    const BothSigns own(jump);
    return static_cast<int128>(own.fp_up) * tp_up + static_cast<int128>(own.fp_down) * tp_down +
           static_cast<int128>(own.tp_down) * fp_up + static_cast<int128>(own.tp_up) * fp_down;
  }
};

// What AUC can gain in a window of steps, and how much work it is to look there.
struct Gain {
  int128 doubled;
  double doubled_by_crossing;  // what one crossing changes, on average
  double n_lines;              // that have to be looked at
};

// A window of steps to be looked into.
struct WindowToWalk {
  StepRange range;
  std::span<const std::uint32_t> from;  // the orders after both ends
  std::span<const std::uint32_t> to;
  int128 doubled_auc;  // just after the start
  double n_crossings;  // a line to be looked at, about
};

// What was found there, and parts that may hold something better still.
struct Walked {
  struct Part {
    StepRange range;
    int128 bound;
  };
  FoundAUC found;
  std::vector<Part> open;
};

// Adds up what the pairs that change their order between two steps can gain at most.
//
// When line i rises above line j, AUC changes by fp_i tp_j - fp_j tp_i, of which the positive parts
// of both terms count. The lines are visited from the top of the first order down, and the jumps of
// those visited are summed by their rank in the second, so that each line finds the sum over all
// lines that were above it and will be below. `place` is memory to be used again.
template <class Signs, class Jumps>
int128 largest_gain(const Jumps& jumps, std::span<const std::uint32_t> from,
                    std::span<const std::uint32_t> to, Vector<std::uint32_t>& place) {
  // Only lines that are entered need a place: for labels, the positives.
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
    const Kinds::Jump& jump = jumps[from[r]];
    const std::uint32_t own_place = place[from[r]];
    if (Signs::is_asked(jump)) gain += visited.before(own_place).gain(jump);
    if (Signs::is_entered(jump)) visited.add(own_place, Signs(jump));
  }
  return gain;
}

}  // namespace rocpath
