// How much AUC can gain at most between two steps, given the orders of the lines there.
#pragma once

#include <map>

#include "crossings.hpp"

namespace rocpath {

// The jumps of every line. Lines of equal jumps are of one kind, so that for labels a small number
// a line and two pairs of jumps take the place of all of them, and stay in the cache.
class Kinds {
 public:
  struct Jump {
    std::int64_t fp;
    std::int64_t tp;
  };

  explicit Kinds(const ErrorLines& lines) : kind_(lines.size()) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> number_of;
    for (std::size_t k = 0; k < lines.size(); ++k) {
      const ErrorLine& line = lines.line[k];
      const auto number = static_cast<std::uint32_t>(jump_.size());
      const auto [found, is_new] = number_of.try_emplace({line.fp, line.tp}, number);
      if (is_new) jump_.push_back({line.fp, line.tp});
      kind_[k] = found->second;
    }
  }

  const Jump& operator[](std::uint32_t line) const { return jump_[kind_[line]]; }
  std::span<const std::uint32_t> kind() const { return kind_; }
  bool is_monotone() const {
    return std::all_of(jump_.begin(), jump_.end(),
                       [](const Jump& jump) { return jump.fp >= 0 && jump.tp >= 0; });
  }

 private:
  Vector<std::uint32_t> kind_;
  Vector<Jump> jump_;
};

// Adds up what the pairs that change their order between two steps can gain at most.
//
// When line i rises above line j, AUC changes by fp_i tp_j - fp_j tp_i, of which the positive parts
// of both terms count. The lines are visited from the top of the first order down; a Fenwick tree
// holds the jumps of those visited by their rank in the second, so that each line finds the sum
// over all lines that were above it and will be below.
class GainBound {
 public:
  explicit GainBound(const Kinds& jumps) : jumps_(jumps), is_monotone_(jumps.is_monotone()) {}

  // `place` is memory to be used again.
  int128 operator()(std::span<const std::uint32_t> from, std::span<const std::uint32_t> to,
                    Vector<std::uint32_t>& place) const {
    return is_monotone_ ? sum<OneSign>(from, to, place) : sum<BothSigns>(from, to, place);
  }

 private:
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

  const Kinds& jumps_;
  bool is_monotone_;

  template <class Jumps>
  int128 sum(std::span<const std::uint32_t> from, std::span<const std::uint32_t> to,
             Vector<std::uint32_t>& place) const {
    // Only lines that are entered need a place in the tree: for labels, the positives.
    place.resize(to.size());
    std::uint32_t n_entered = 0;
    for (const std::uint32_t line : to) {
      place[line] = n_entered;
      if (Jumps::is_entered(jumps_[line])) ++n_entered;
    }
    Vector<Jumps> tree(n_entered + 1);
    int128 gain = 0;
    for (std::size_t r = from.size(); r-- > 0;) {
      const Kinds::Jump& jump = jumps_[from[r]];
      const std::uint32_t own_place = place[from[r]];
      if (Jumps::is_asked(jump)) {
        Jumps below;
        for (std::uint32_t k = own_place; k > 0; k &= k - 1) below += tree[k];
        gain += below.gain(jump);
      }
      if (Jumps::is_entered(jump))
        for (std::size_t k = own_place + 1; k < tree.size(); k += k & (~k + 1))
          tree[k] += Jumps(jump);
    }
    return gain;
  }
};

}  // namespace rocpath
