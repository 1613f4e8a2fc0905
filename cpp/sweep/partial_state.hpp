// Partial AUC of lines in a given order, updated when lines exchange places.
//
// Between two ranks, the ROC curve is at the sums of FP and TP over the lines below. A crossing
// changes the curve only between the ranks that it affects, so an update takes O(1). Memory O(B).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "lines/ranks.hpp"
#include "lines/region.hpp"

namespace rocpath {

class PartialState {
 public:
  // Start from the order in which the lines are stored.
  PartialState(const ErrorLines& lines, const Region& region)
      : lines_(lines), region_(region), ranks_(lines.size()), slot_(lines.size() + 1) {
    jump_.reserve(lines.size());
    for (const ErrorLine& line : lines.line) jump_.push_back(region.scaled(line.fp, line.tp));
    slot_[0] = region.scaled(lines.below.fp, lines.below.tp);
    renew();
  }

  void reorder(std::span<const std::uint32_t> order) {
    ranks_.reorder(order);
    renew();
  }

  // Twice the area in the current order.
  int128 doubled_area() const { return doubled_area_; }

  // Apply all crossings of one step. Returns twice the area at the step, where every group of lines
  // that meet, directly or through other lines, is tied.
  int128 apply(std::span<const Crossing> row) {
    if (row.size() == 1) {
      const std::size_t middle = ranks_.rank(row[0].upper);
      const int128 others = doubled_area_ - contribution(middle - 1, middle);
      const int128 at = others + doubled_area_tied(middle - 1, middle);
      swap_neighbors(row[0]);
      return at;
    }
    return apply(row, [this](std::size_t first_rank, std::size_t last_rank) {
      return doubled_area_tied(first_rank, last_rank);
    });
  }

  // Apply the only crossing of a step. The area at the step does not exceed the larger of the areas
  // before and after it.
  void swap_neighbors(const Crossing& crossing) {
    const std::size_t middle = ranks_.rank(crossing.upper);
    const ErrorSums& low = jump_[crossing.lower];
    const ErrorSums& high = jump_[crossing.upper];
    ranks_.place(crossing.upper, middle - 1);
    ranks_.place(crossing.lower, middle);
    const ErrorSums from = slot_[middle - 1];
    const ErrorSums old = std::exchange(slot_[middle], from);
    slot_[middle] += high;
    if (!region_.is_left(from)) return;
    doubled_area_ += region_.doubled_area(from, high) + region_.doubled_area(slot_[middle], low) -
                     region_.doubled_area(from, low) - region_.doubled_area(old, high);
  }

  // Twice the area at exactly the float64 step of the only crossing of a row, which was just
  // applied: the exact crossing may lie before the step, at it or after it.
  int128 doubled_area_at_swap(double step, const Crossing& crossing) const {
    const Line& lower = lines_.line[crossing.lower];
    const Line& upper = lines_.line[crossing.upper];
    const int side = compare_at(lower, upper, step);
    if (side > 0) return doubled_area_;
    const std::size_t rank = ranks_.rank(crossing.upper);
    const int128 others = doubled_area_ - contribution(rank, rank + 1);
    if (side == 0) return others + doubled_area_tied(rank, rank + 1);
    const ErrorSums& first = jump_[crossing.lower];
    ErrorSums between = slot_[rank];
    between += first;
    return others + region_.doubled_area(slot_[rank], first) +
           region_.doubled_area(between, jump_[crossing.upper]);
  }

  // Apply all crossings of a row. Returns twice the area at exactly its float64 step: crossings
  // that round to the step may lie before it, at it or after it.
  int128 apply_at(double step, std::span<const Crossing> row) {
    return apply(row, [this, step](std::size_t first_rank, std::size_t last_rank) {
      block_.assign(ranks_.order().begin() + static_cast<std::ptrdiff_t>(first_rank),
                    ranks_.order().begin() + static_cast<std::ptrdiff_t>(last_rank) + 1);
      std::sort(block_.begin(), block_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return compare_at(lines_.line[a], lines_.line[b], step) < 0;
      });
      ErrorSums at = slot_[first_rank];
      return add_tied(block_, step, at);
    });
  }

  // Twice the area at a finite step, given the order at it.
  int128 doubled_area_at(double step, std::span<const std::uint32_t> order) const {
    ErrorSums at = slot_[0];
    return add_tied(order, step, at);
  }

  // Twice the area in any order; the state is not changed.
  int128 doubled_area_of(std::span<const std::uint32_t> order) const {
    ErrorSums at = slot_[0];
    int128 doubled = 0;
    for (const std::uint32_t line : order) {
      if (!region_.is_left(at)) break;
      doubled += region_.doubled_area(at, jump_[line]);
      at += jump_[line];
    }
    return doubled;
  }

  // Twice the area when the groups that differ between this order and another are tied.
  int128 doubled_area_between(std::span<const std::uint32_t> order) const {
    int128 doubled = 0;
    std::size_t begin = 0;
    std::size_t reach = 0;
    for (std::size_t r = 0; r < order.size(); ++r) {
      reach = std::max(reach, ranks_.rank(order[r]));
      if (reach > r) continue;
      doubled += doubled_area_tied(begin, r);
      begin = r + 1;
    }
    return doubled;
  }

 private:
  const ErrorLines& lines_;
  const Region& region_;
  Ranks ranks_;
  Vector<ErrorSums> jump_;  // jumps of every line, in the units of the region
  Vector<ErrorSums> slot_;  // point of the ROC curve below every rank
  Vector<std::uint32_t> block_;
  int128 doubled_area_ = 0;

  void renew() {
    fill_slots(0, ranks_.size() - 1);
    doubled_area_ = contribution(0, ranks_.size() - 1);
  }

  void fill_slots(std::size_t first_rank, std::size_t last_rank) {
    for (std::size_t r = first_rank; r <= last_rank; ++r) {
      slot_[r + 1] = slot_[r];
      slot_[r + 1] += jump_[ranks_[r]];
    }
  }

  int128 contribution(std::size_t first_rank, std::size_t last_rank) const {
    int128 doubled = 0;
    for (std::size_t r = first_rank; r <= last_rank && region_.is_left(slot_[r]); ++r)
      doubled += region_.doubled_area(slot_[r], jump_[ranks_[r]]);
    return doubled;
  }

  int128 doubled_area_tied(std::size_t first_rank, std::size_t last_rank) const {
    const ErrorSums& from = slot_[first_rank];
    const ErrorSums& to = slot_[last_rank + 1];
    return region_.doubled_area(from, {to.fp - from.fp, to.tp - from.tp});
  }

  // Twice the area below the part of the curve that these lines form, given their order at a step.
  // `at` is moved from the start of this part to its end.
  int128 add_tied(std::span<const std::uint32_t> order, double step, ErrorSums& at) const {
    int128 doubled = 0;
    for (std::size_t begin = 0, end = 1; begin < order.size(); begin = end++) {
      if (!region_.is_left(at)) break;
      ErrorSums tied = jump_[order[begin]];
      const Line& first = lines_.line[order[begin]];
      for (; end < order.size() && is_tied_at(first, lines_.line[order[end]], step); ++end)
        tied += jump_[order[end]];
      doubled += region_.doubled_area(at, tied);
      at += tied;
    }
    return doubled;
  }

  template <class AreaAt>
  int128 apply(std::span<const Crossing> row, AreaAt area_at) {
    int128 at = doubled_area_;
    int128 before = 0;
    const auto leave = [&](std::size_t first_rank, std::size_t last_rank) {
      before = contribution(first_rank, last_rank);
      at += area_at(first_rank, last_rank) - before;
    };
    const auto arrive = [&](std::size_t first_rank, std::size_t last_rank) {
      fill_slots(first_rank, last_rank);
      doubled_area_ += contribution(first_rank, last_rank) - before;
    };
    ranks_.apply(row, leave, arrive);
    return at;
  }
};

}  // namespace rocpath
