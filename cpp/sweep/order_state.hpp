// AUM and AUC of lines in a given order, updated when lines exchange places.
//
// For lines in the order q_1, ..., q_B, with FP and FN before each of them, and M = min(FP, FN):
//   AUM(s) = sum_b T_{q_b}(s) (M_b - M_{b+1}) = intercept_sum + s * slope_sum     (eq. AUM_s)
//   AUC    = sum_{i,j} fp_i tp_j [T_j < T_i], ties one half, over total FP * total TP  (eq. AUC1)
// The sums of AUM have 106 bits, and are computed exactly where they cancel (exact_aum.hpp); AUC is
// an integer. A crossing takes O(1); memory O(B).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "lines/ranks.hpp"
#include "sweep/aum_of_order.hpp"

namespace rocpath {
class OrderState {
 public:
  // Start from the order in which the lines are stored: just after the step `lines.from`.
  explicit OrderState(const ErrorLines& lines) : lines_(lines), ranks_(lines.size()) { renew(); }

  std::span<const std::uint32_t> order() const { return ranks_.order(); }
  const AUMPiece& aum() const { return aum_; }
  // Twice the sum over pairs, as a multiple of fp_unit * tp_unit.
  int128 doubled_auc() const { return doubled_auc_; }
  // Number of pairs of neighbors that will cross at a later step: the size of the paper's queue.
  std::size_t n_converging() const { return n_converging_; }
  // Number of times that the two sums of AUM have changed.
  std::uint64_t n_aum_changes() const { return n_aum_changes_; }
  // The slope of AUM, accurate to the last digits of a float64; its sign is exact.
  double slope() const { return aum_.is_slope_in_doubt() ? exact_aum().slope() : aum_.slope(); }
  // A number with the exact sign of the slope, which takes less time to compute.
  double slope_sign() const { return aum_.is_sign_in_doubt() ? exact_aum().slope() : aum_.slope(); }
  ExactAUM exact_aum() const { return rocpath::exact_aum(lines_, order()); }

  // The paper's update: two neighbors exchange ranks, and only the slot between them changes.
  // Returns whether AUM or AUC may have changed.
  bool swap_neighbors(const Crossing& crossing) {
    slope_room_ = 0.0;
    const std::size_t middle = ranks_.rank(crossing.upper);
    const ErrorLine& a = lines_.line[crossing.lower];
    const ErrorLine& b = lines_.line[crossing.upper];
    ranks_.place(crossing.upper, middle - 1);
    ranks_.place(crossing.lower, middle);
    update_queue_size(middle);
    // Lines with equal jumps, such as two examples of one class, do not change the rates. If the
    // same error is the smaller one in all slots around them, AUM does not change either.
    const bool is_same_jump = a.fp == b.fp && a.tp == b.tp;
    if (is_same_jump && is_away_from_level(middle)) return false;
    const Slot old_slot = slot_[middle];
    if (!is_same_jump) {
      doubled_auc_ += auc_change(a, b);
      set_slot(middle, slot_[middle - 1], b);
    }
    update_aum(a, b, old_slot, middle);
    return true;
  }

  // Prefetch the memory that later crossings read: lines and ranks first, then slots, which depend
  // on ranks.
  void prefetch_lines(const Crossing& crossing) const {
    __builtin_prefetch(&lines_.line[crossing.lower]);
    __builtin_prefetch(&lines_.line[crossing.upper]);
    ranks_.prefetch_rank(crossing.lower);
    ranks_.prefetch_rank(crossing.upper);
  }
  void prefetch_slot(const Crossing& crossing) const {
    __builtin_prefetch(&slot_[ranks_.rank(crossing.upper)]);
  }

  // Upper bound on how much the slope of AUM between the last crossings, which round to the same
  // step, may have differed from the slopes before and after all of them; 0 for a single crossing.
  double slope_room() const { return slope_room_; }

  // Apply all crossings of one step, and return the number of groups of lines that meet.
  std::size_t apply(std::span<const Crossing> crossings) {
    slope_room_ = 0.0;
    if (crossings.size() == 1) {
      swap_neighbors(crossings[0]);
      return 1;
    }
    for (const Crossing& crossing : crossings)
      doubled_auc_ += auc_change(lines_.line[crossing.lower], lines_.line[crossing.upper]);
    const auto leave = [&](std::size_t first_rank, std::size_t last_rank) {
      const auto group = order().subspan(first_rank, last_rank + 1 - first_rank);
      group_before_.assign(group.begin(), group.end());
      was_one_sided_ = is_one_sided(first_rank, last_rank);
      n_converging_ -= converging_within(first_rank, last_rank);
    };
    const auto arrive = [&](std::size_t first_rank, std::size_t last_rank) {
      fill_slots(first_rank, last_rank);
      // If the same error is the smaller one throughout the group, its order does not matter.
      if (!was_one_sided_ || !is_one_sided(first_rank, last_rank))
        update_aum(first_rank, last_rank);
      n_converging_ += converging_within(first_rank, last_rank);
    };
    return ranks_.apply(crossings, leave, arrive);
  }

  // Replace the order, and return the number of groups of neighbors whose order has changed.
  std::size_t reorder(std::span<const std::uint32_t> order) {
    std::size_t n_groups = 0;
    std::size_t reach = 0;
    for (std::size_t r = 0; r < order.size(); ++r) {
      const std::size_t old_rank = ranks_.rank(order[r]);
      if (r == reach && old_rank != r) ++n_groups;
      reach = std::max({reach, old_rank + 1, r + 1});
    }
    ranks_.reorder(order);
    renew();
    slope_room_ = std::numeric_limits<double>::infinity();
    return n_groups;
  }

 private:
  // The place between two ranks, with the slope of the line above it: a crossing reads both, so
  // they are stored together.
  struct Slot {
    std::int64_t fp = 0;        // sum of FP over the lines below
    std::int64_t tp = 0;        // sum of TP over the lines below
    bool is_fp_smaller = true;  // whether FP <= FN
    double slope = std::numeric_limits<double>::infinity();
  };

  static constexpr double infinity = std::numeric_limits<double>::infinity();
  const ErrorLines& lines_;
  Ranks ranks_;
  Vector<Slot> slot_;  // slot r is below rank r; slot B is above all lines
  AUMPiece aum_;
  std::uint64_t n_aum_changes_ = 0;
  std::uint64_t n_updates_ = 0;  // updates of the sums of AUM since they were last recomputed
  Vector<std::uint32_t> group_before_;  // lines that meet, in their order before the step
  bool was_one_sided_ = false;
  double slope_room_ = 0.0;
  int128 doubled_auc_ = 0;
  std::size_t n_converging_ = 0;

  // Twice the change of AUC when `lower` rises above `upper`.
  static int128 auc_change(const ErrorLine& lower, const ErrorLine& upper) {
    return 2 *
           (static_cast<int128>(lower.fp) * upper.tp - static_cast<int128>(upper.fp) * lower.tp);
  }

  std::int64_t false_negatives(const Slot& slot) const { return lines_.total.tp - slot.tp; }

  bool is_fp_smaller(const Slot& slot) const {
    return compare_multiples(slot.fp, lines_.fp_unit, false_negatives(slot), lines_.tp_unit) <= 0;
  }

  // Set FP and TP of a slot from the one below it and the line between them.
  void set_slot(std::size_t rank, const Slot& below, const ErrorLine& line) {
    Slot& slot = slot_[rank];
    slot.fp = below.fp + line.fp;
    slot.tp = below.tp + line.tp;
    slot.is_fp_smaller = is_fp_smaller(slot);
  }

  DoubleDouble min_error(const Slot& slot) const {
    return slot.is_fp_smaller ? from_integer(slot.fp) * lines_.fp_unit
                              : from_integer(false_negatives(slot)) * lines_.tp_unit;
  }

  // The lines around the slot `middle` no longer converge; each of them has a new neighbor.
  void update_queue_size(std::size_t middle) {
    const double lower = slot_[middle - 1].slope;
    const double upper = slot_[middle].slope;
    const double above = slot_[middle + 1].slope;
    const double below = middle >= 2 ? slot_[middle - 2].slope : -infinity;
    slot_[middle - 1].slope = upper;
    slot_[middle].slope = lower;
    n_converging_ += static_cast<std::size_t>(below > upper) + (lower > above);
    n_converging_ -= static_cast<std::size_t>(below > lower) + (upper > above) + 1;
  }

  // Whether the same error is the smaller one in the slot `middle` and its neighbors.
  bool is_away_from_level(std::size_t middle) const {
    const bool is_fp = slot_[middle].is_fp_smaller;
    return slot_[middle - 1].is_fp_smaller == is_fp && slot_[middle + 1].is_fp_smaller == is_fp;
  }

  // Eq. D_update, for lines a and b that exchange places around the slot `middle`. If the same
  // error is the smaller one in all slots around them, as for almost all crossings, the four minima
  // cancel exactly.
  void update_aum(const Line& a, const Line& b, const Slot& old_slot, std::size_t middle) {
    if (old_slot.is_fp_smaller == slot_[middle].is_fp_smaller && is_away_from_level(middle)) return;
    const DoubleDouble minima = min_error(slot_[middle - 1]) + min_error(slot_[middle + 1]) -
                                min_error(old_slot) - min_error(slot_[middle]);
    if (minima.high == 0.0) return;
    aum_.add(minima, b.intercept, b.slope);
    aum_.add(-minima, a.intercept, a.slope);
    count_update();
  }

  // The same for a group of lines that meet, given their order before the step.
  void update_aum(std::size_t first_rank, std::size_t last_rank) {
    const auto group = order().subspan(first_rank, last_rank + 1 - first_rank);
    const ErrorSums below{slot_[first_rank].fp, slot_[first_rank].tp};
    AUMPiece change;
    const auto add = [&](std::int64_t count, double unit, const ErrorLine& line) {
      change.add(from_integer(count) * unit, line.intercept, line.slope);
    };
    const auto subtract = [&](std::int64_t count, double unit, const ErrorLine& line) {
      add(-count, unit, line);
    };
    detail::for_each_aum_term(lines_, below, group, add);
    detail::for_each_aum_term(lines_, below, group_before_, subtract);
    slope_room_ += largest_slope_change(group);
    if (change.may_be_zero() && is_exactly_zero(below, group)) return;
    aum_.add(change);
    count_update();
  }

  // Upper bound on the change of the slope between any two orders of a group: no weight exceeds the
  // jumps of its line.
  double largest_slope_change(std::span<const std::uint32_t> group) const {
    const auto& line = lines_.line;
    double jumps = 0.0;
    double lowest = line[group.front()].slope;
    double highest = lowest;
    for (const std::uint32_t k : group) {
      jumps += std::fabs(static_cast<double>(line[k].fp)) * lines_.fp_unit +
               std::fabs(static_cast<double>(line[k].tp)) * lines_.tp_unit;
      lowest = std::min(lowest, line[k].slope);
      highest = std::max(highest, line[k].slope);
    }
    return jumps * (highest - lowest);
  }

  bool is_exactly_zero(ErrorSums below, std::span<const std::uint32_t> group) const {
    ExactAUM change;
    const auto add = [&](std::int64_t sign) {
      return [&change, sign](std::int64_t count, double unit, const ErrorLine& line) {
        change.add(sign * count, unit, line.intercept, line.slope);
      };
    };
    detail::for_each_aum_term(lines_, below, group, add(1));
    detail::for_each_aum_term(lines_, below, group_before_, add(-1));
    return change.is_zero();
  }

  void count_update() {
    ++n_aum_changes_;
    // The rounding errors of so many updates are within AUMPiece::rounding.
    constexpr std::uint64_t most = std::uint64_t{1} << 24;
    if (++n_updates_ > most) compute_aum();
  }

  // Whether the same error is the smaller one in all slots around these ranks.
  bool is_one_sided(std::size_t first_rank, std::size_t last_rank) const {
    for (std::size_t r = first_rank; r <= last_rank; ++r)
      if (slot_[r].is_fp_smaller != slot_[r + 1].is_fp_smaller) return false;
    return true;
  }

  // 1 if the line at this rank will meet the one below it, otherwise 0. Above all lines, the slope
  // is infinite.
  std::size_t is_converging_below(std::size_t rank) const {
    return rank > 0 && slot_[rank - 1].slope > slot_[rank].slope;
  }

  std::size_t converging_within(std::size_t first_rank, std::size_t last_rank) const {
    std::size_t count = 0;
    for (std::size_t r = first_rank; r <= last_rank + 1; ++r) count += is_converging_below(r);
    return count;
  }

  void fill_slots(std::size_t first_rank, std::size_t last_rank) {
    for (std::size_t r = first_rank; r <= last_rank; ++r) {
      const ErrorLine& line = lines_.line[ranks_[r]];
      slot_[r].slope = line.slope;
      set_slot(r + 1, slot_[r], line);
    }
  }

  // Compute slots, AUM, AUC and the number of converging neighbors from the order.
  void renew() {
    const std::size_t n_lines = lines_.size();
    slot_.assign(n_lines + 1, Slot{lines_.below.fp, lines_.below.tp});
    fill_slots(0, n_lines - 1);
    compute_aum();
    ++n_aum_changes_;
    doubled_auc_ = 0;
    for (std::size_t r = 0; r < n_lines; ++r)
      doubled_auc_ += static_cast<int128>(lines_.line[ranks_[r]].fp) *
                      (static_cast<int128>(slot_[r].tp) + slot_[r + 1].tp);
    n_converging_ = converging_within(0, n_lines - 1);
  }

  void compute_aum() {
    aum_ = inner_aum(lines_, order(), lines_.outside);
    n_updates_ = 0;
  }
};

}  // namespace rocpath
