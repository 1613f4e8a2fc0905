// AUM and AUC of lines in a given order, and how they change when lines exchange places.
//
// For lines in the order q_1, ..., q_B with FP and FN before each of them, and M = min(FP, FN):
//   AUM(s) = sum_b T_{q_b}(s) (M_b - M_{b+1}) = intercept_sum + s * slope_sum     (eq. AUM_s)
//   AUC    = sum_{i,j} fp_i tp_j [T_j < T_i], ties one half, over total FP * total TP  (eq. AUC1)
// The two sums of AUM are kept in double-double arithmetic and the AUC as an integer, so neither
// drifts, however many crossings are applied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "crossings.hpp"

namespace rocpath {

class OrderState {
 public:
  // Start from the order in which the lines are stored: just after step 0.
  explicit OrderState(const ErrorLines& lines)
      : lines_(lines),
        order_(lines.size()),
        rank_(lines.size()),
        displacement_(lines.size(), 0),
        doubled_perfect_auc_(as_double(2 * static_cast<int128>(lines.total.fp) * lines.total.tp)) {
    std::iota(order_.begin(), order_.end(), 0U);
    may_underflow_ = std::any_of(lines.line.begin(), lines.line.end(), [](const ErrorLine& line) {
      return line.slope != 0.0 && std::fabs(line.slope) < 0x1p-800;
    });
    renew();
  }

  std::span<const std::uint32_t> order() const { return order_; }
  const AumPiece& aum() const { return aum_; }
  // Twice the sum over pairs, an integer in fp_unit * tp_unit.
  int128 doubled_auc() const { return doubled_auc_; }
  // Neighbours that will cross at some later step: the size of the paper's interval queue.
  std::size_t n_converging() const { return n_converging_; }

  double auc(int128 doubled) const { return as_double(doubled) / doubled_perfect_auc_; }

  // Is AUM the same function of the step as before? Products of denormal slopes cannot tell.
  bool is_same_aum(const AumPiece& before) const {
    return !may_underflow_ && is_same(before, aum_);
  }

  // The slope of AUM; its sign is exact.
  double slope() const { return aum_.is_slope_in_doubt() ? exact_slope() : aum_.slope(); }

  // The paper's update: two neighbours exchange ranks; only the slot between them changes.
  void swap_neighbours(std::uint32_t lower, std::uint32_t upper) {
    const std::size_t middle = rank_[upper];
    const ErrorLine& a = lines_.line[lower];
    const ErrorLine& b = lines_.line[upper];
    n_converging_ -= converging_around(middle);
    // Lines with equal jumps, as two examples of one class, exchange places and nothing else.
    if (a.fp != b.fp || a.tp != b.tp) {
      doubled_auc_ += auc_change(a, b);
      const Slot old_slot = slot_[middle];
      slot_[middle] = next_slot(slot_[middle - 1], b);
      update_aum(a, b, old_slot, middle);
    } else {
      update_aum(a, b, slot_[middle], middle);
    }
    place(upper, middle - 1);
    place(lower, middle);
    n_converging_ += converging_around(middle);
  }

  // Fetch what coming crossings will touch: with many lines, waiting for memory takes most of the
  // time. The first call is for far crossings, the second for nearer ones, whose ranks are there.
  void prefetch_lines(const Crossing& crossing) const {
    __builtin_prefetch(&lines_.line[crossing.lower]);
    __builtin_prefetch(&lines_.line[crossing.upper]);
    __builtin_prefetch(&rank_[crossing.lower]);
    __builtin_prefetch(&rank_[crossing.upper]);
  }
  void prefetch_ranks(const Crossing& crossing) const {
    __builtin_prefetch(&slot_[rank_[crossing.upper]]);
    __builtin_prefetch(&order_[rank_[crossing.upper]]);
  }

  // Apply all crossings of one step; returns how many groups of lines met. Lines that meet in one
  // point move as a block: swapping pair by pair would visit orders that no step attains.
  std::size_t apply(std::span<const Crossing> crossings) {
    if (crossings.size() == 1) {
      swap_neighbours(crossings[0].lower, crossings[0].upper);
      return 1;
    }
    touched_.clear();
    for (const Crossing& crossing : crossings) {
      move(crossing.lower, 1);
      move(crossing.upper, -1);
      doubled_auc_ += auc_change(lines_.line[crossing.lower], lines_.line[crossing.upper]);
    }
    std::sort(touched_.begin(), touched_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return rank_[a] < rank_[b]; });
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());

    std::size_t n_groups = 0;
    for (std::size_t begin = 0; begin < touched_.size(); ++n_groups) {
      const std::size_t first_rank = rank_[touched_[begin]];
      std::size_t end = begin;
      std::size_t last_rank = first_rank;
      do {
        last_rank = std::max(last_rank, new_rank(touched_[end]));
        ++end;
      } while (first_rank + (end - begin) <= last_rank);
      reorder_block(std::span(touched_).subspan(begin, end - begin), first_rank);
      begin = end;
    }
    return n_groups;
  }

  // Take a wholly new order; returns how many groups of neighbours changed.
  std::size_t reorder(std::span<const std::uint32_t> order) {
    std::size_t n_groups = 0;
    std::size_t reach = 0;
    for (std::size_t r = 0; r < order.size(); ++r) {
      const std::size_t old_rank = rank_[order[r]];
      if (r == reach && old_rank != r) ++n_groups;
      reach = std::max({reach, old_rank + 1, r + 1});
    }
    std::copy(order.begin(), order.end(), order_.begin());
    renew();
    return n_groups;
  }

 private:
  struct Slot {
    std::int64_t fp = 0;  // FP and TP between two ranks: sums over the lines below
    std::int64_t tp = 0;
    bool is_fp_smaller = true;  // than FN
  };

  const ErrorLines& lines_;
  Vector<std::uint32_t> order_;  // rank -> line
  Vector<std::uint32_t> rank_;   // line -> rank
  Vector<Slot> slot_;            // slot r lies below rank r; slot B above all
  Vector<std::int64_t> displacement_;
  Vector<std::uint32_t> touched_;
  AumPiece aum_;
  bool may_underflow_ = false;
  int128 doubled_auc_ = 0;
  std::size_t n_converging_ = 0;
  double doubled_perfect_auc_;

  static double as_double(int128 n) {
    const auto narrow = static_cast<std::int64_t>(n);
    return narrow == n ? static_cast<double>(narrow) : static_cast<double>(n);
  }

  // Twice the gain in AUC when `lower` rises above `upper`.
  static int128 auc_change(const ErrorLine& lower, const ErrorLine& upper) {
    return 2 *
           (static_cast<int128>(lower.fp) * upper.tp - static_cast<int128>(upper.fp) * lower.tp);
  }

  std::int64_t false_negatives(const Slot& slot) const { return lines_.total.tp - slot.tp; }

  bool is_fp_smaller(const Slot& slot) const {
    return compare_multiples(slot.fp, lines_.fp_unit, false_negatives(slot), lines_.tp_unit) <= 0;
  }

  // The slot above a line that stands above `slot`.
  Slot next_slot(const Slot& slot, const ErrorLine& line) const {
    Slot next{slot.fp + line.fp, slot.tp + line.tp, true};
    next.is_fp_smaller = is_fp_smaller(next);
    return next;
  }

  DoubleDouble min_error(const Slot& slot) const {
    return slot.is_fp_smaller ? from_integer(slot.fp) * lines_.fp_unit
                              : from_integer(false_negatives(slot)) * lines_.tp_unit;
  }

  // Eq. D_update, for lines a and b that exchange places around the slot `middle`. Where the same
  // one of the two errors is the smaller in all slots around, the four minima cancel exactly.
  void update_aum(const Line& a, const Line& b, const Slot& old_slot, std::size_t middle) {
    const bool is_fp = old_slot.is_fp_smaller;
    if (is_fp == slot_[middle].is_fp_smaller && is_fp == slot_[middle - 1].is_fp_smaller &&
        is_fp == slot_[middle + 1].is_fp_smaller)
      return;
    const DoubleDouble minima = min_error(slot_[middle - 1]) + min_error(slot_[middle + 1]) -
                                min_error(old_slot) - min_error(slot_[middle]);
    aum_.add(minima, b.intercept, b.slope);
    aum_.add(-minima, a.intercept, a.slope);
  }

  bool is_converging(std::size_t upper_rank) const {
    return lines_.line[order_[upper_rank - 1]].slope > lines_.line[order_[upper_rank]].slope;
  }

  // Among the three pairs of neighbours that a swap at `middle` touches.
  std::size_t converging_around(std::size_t middle) const {
    return std::size_t{is_converging(middle)} +
           std::size_t{middle >= 2 && is_converging(middle - 1)} +
           std::size_t{middle + 1 < order_.size() && is_converging(middle + 1)};
  }

  std::size_t converging_within(std::size_t first_rank, std::size_t last_rank) const {
    std::size_t count = 0;
    for (std::size_t r = std::max<std::size_t>(first_rank, 1);
         r <= std::min(last_rank + 1, order_.size() - 1); ++r)
      if (is_converging(r)) ++count;
    return count;
  }

  void place(std::uint32_t line, std::size_t rank) {
    order_[rank] = line;
    rank_[line] = static_cast<std::uint32_t>(rank);
  }

  void move(std::uint32_t line, std::int64_t by) {
    if (displacement_[line] == 0) touched_.push_back(line);
    displacement_[line] += by;
  }

  std::size_t new_rank(std::uint32_t line) const {
    return static_cast<std::size_t>(static_cast<std::int64_t>(rank_[line]) + displacement_[line]);
  }

  // What the lines at these ranks add to AUM.
  AumPiece contribution(std::size_t first_rank, std::size_t last_rank) const {
    AumPiece piece;
    for (std::size_t r = first_rank; r <= last_rank; ++r) {
      const Line& line = lines_.line[order_[r]];
      piece.add(min_error(slot_[r]) - min_error(slot_[r + 1]), line.intercept, line.slope);
    }
    return piece;
  }

  void fill_slots(std::size_t first_rank, std::size_t last_rank) {
    for (std::size_t r = first_rank; r <= last_rank; ++r)
      slot_[r + 1] = next_slot(slot_[r], lines_.line[order_[r]]);
  }

  void reorder_block(std::span<const std::uint32_t> block, std::size_t first_rank) {
    const std::size_t last_rank = first_rank + block.size() - 1;
    AumPiece change;
    change.subtract(contribution(first_rank, last_rank));
    n_converging_ -= converging_within(first_rank, last_rank);
    for (const std::uint32_t line : block) {
      place(line, new_rank(line));
      displacement_[line] = 0;
    }
    fill_slots(first_rank, last_rank);
    change.add(contribution(first_rank, last_rank));
    if (!change.is_nothing()) aum_.add(change);
    n_converging_ += converging_within(first_rank, last_rank);
  }

  // Everything from the order alone.
  void renew() {
    const std::size_t n_lines = lines_.size();
    slot_.assign(n_lines + 1, Slot{lines_.below.fp, lines_.below.tp, true});
    for (std::size_t r = 0; r < n_lines; ++r) place(order_[r], r);
    fill_slots(0, n_lines - 1);
    aum_ = contribution(0, n_lines - 1);
    aum_.add(lines_.outside);
    doubled_auc_ = 0;
    for (std::size_t r = 0; r < n_lines; ++r)
      doubled_auc_ += static_cast<int128>(lines_.line[order_[r]].fp) *
                      (static_cast<int128>(slot_[r].tp) + slot_[r + 1].tp);
    n_converging_ = converging_within(0, n_lines - 1);
  }

  double exact_slope() const {
    ExactSum sum;
    sum.add_product(lines_.outside.slope_sum.high, 1.0);
    sum.add_product(lines_.outside.slope_sum.low, 1.0);
    const auto add = [&](const Slot& slot, double slope) {
      const bool is_fp = slot.is_fp_smaller;
      const double unit = is_fp ? lines_.fp_unit : lines_.tp_unit;
      const DoubleDouble count = from_integer(is_fp ? slot.fp : false_negatives(slot));
      for (const double part : {count.high, count.low}) {
        const DoubleDouble product = two_product(part, unit);
        sum.add_product(product.high, slope);
        sum.add_product(product.low, slope);
      }
    };
    for (std::size_t r = 0; r < order_.size(); ++r) {
      const double slope = lines_.line[order_[r]].slope;
      add(slot_[r], slope);
      add(slot_[r + 1], -slope);
    }
    return sum.value();
  }
};

}  // namespace rocpath
