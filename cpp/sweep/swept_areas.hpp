// AUM and AUC along a sweep: the values in each row of the path.
//
// Crossings are applied to the order of the lines (order_state.hpp, and partial_state.hpp for
// partial AUC) in constant time each. AUC is a sum of integers, which is converted to a rate only
// if it has changed; the two sums of AUM (eq. AUM_s) are evaluated at every row. Memory O(B).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "lines/windows.hpp"
#include "numerics/ratio.hpp"
#include "sweep/order_state.hpp"
#include "sweep/partial_state.hpp"

namespace rocpath {

// One step where lines cross; the first row of a path is its start.
struct SweepRow {
  double step;
  double aum;
  double aum_slope_after;    // slope of AUM just after the step; its sign is exact
  double auc;                // AUC at the step, where lines that meet are tied
  double auc_after;          // AUC just after the step
  std::uint64_t n_groups;    // number of groups of lines that meet
  std::uint64_t n_swaps;     // number of pairs of lines that cross
  std::uint64_t queue_size;  // number of pairs of neighbors that will cross later
};

// AUC, or the partial AUC of a region, in the current order of a sweep. Areas are doubled.
class SweptAUC {
 public:
  SweptAUC(const ErrorLines& lines, const RegionRates& rates) : region_(lines.total, rates) {
    if (!rates.is_everywhere()) partial_.emplace(lines, region_);
    const ErrorSums& total = partial_ ? region_.total() : lines.total;
    doubled_perfect_ = 2 * static_cast<int128>(total.fp) * total.tp;
  }

  bool is_partial() const { return partial_.has_value(); }
  double rate(int128 doubled) const { return rounded_ratio(doubled, doubled_perfect_); }

  int128 after(const OrderState& state) const {
    return partial_ ? partial_->doubled_area() : state.doubled_auc();
  }
  int128 at_start(const ErrorLines& lines, const OrderState& state) const {
    return partial_ ? partial_->doubled_area_at(lines.from, state.order())
                    : doubled_auc_at(lines, lines.from, state.order());
  }

  // Apply the crossings that `state` has already applied. Returns four times the AUC at their step,
  // where lines that meet are tied: the whole AUC is the mean of the values before and after.
  int128 apply(std::span<const Crossing> crossings, int128 before, const OrderState& state) {
    return partial_ ? 2 * partial_->apply(crossings) : before + state.doubled_auc();
  }
  int128 reorder(std::span<const std::uint32_t> order, int128 before, const OrderState& state) {
    if (!partial_) return before + state.doubled_auc();
    const int128 at = partial_->doubled_area_between(order);
    partial_->reorder(order);
    return 2 * at;
  }

 private:
  Region region_;
  std::optional<PartialState> partial_;
  int128 doubled_perfect_;
};

class SweptAreas {
 public:
  SweptAreas(const ErrorLines& lines, const RegionRates& rates)
      : lines_(lines),
        is_monotone_(lines.is_monotone()),
        order_(lines),
        auc_(lines, rates),
        aum_(order_.aum()),
        n_aum_changes_(order_.n_aum_changes()),
        slope_(rate_of(order_.slope())),
        doubled_auc_(auc_.at_start(lines, order_)),
        auc_after_(auc_.rate(doubled_auc_)) {}

  SweepRow start() { return row(lines_.from, 2 * doubled_auc_, 0, 0); }

  // Apply all crossings of one step.
  [[gnu::always_inline]] SweepRow apply(std::span<const Crossing> crossings) {
    if (crossings.size() == 1 && !auc_.is_partial()) return apply(crossings.front());
    return apply_row(crossings);
  }

  // Apply a step with too many crossings to be listed.
  SweepRow apply_dense(const Window& window) {
    const std::size_t n_groups = order_.reorder(window.dense_order);
    const int128 auc_at = auc_.reorder(window.dense_order, doubled_auc_, order_);
    return row(window.to, auc_at, n_groups, window.n_dense_swaps);
  }

  // Prefetch memory for crossings that will be applied soon. With 10^5 lines, waiting for it takes
  // most of the time. Ranks are read early, because the second prefetch depends on them.
  void prefetch(std::span<const Crossing> coming) const {
    constexpr std::size_t near = 12;
    constexpr std::size_t far = 24;
    if (coming.size() <= far) return;
    order_.prefetch_lines(coming[far]);
    order_.prefetch_slot(coming[near]);
  }

  // Number of pairs of neighbors that will cross at a later step: the size of the paper's queue.
  std::size_t n_converging() const { return order_.n_converging(); }
  bool is_monotone() const { return is_monotone_; }
  // Whether AUC decreased at the last row.
  bool has_auc_decreased() const { return has_auc_decreased_; }

 private:
  const ErrorLines& lines_;
  bool is_monotone_;
  OrderState order_;
  SweptAUC auc_;
  // AUM and AUC after the last row.
  AUMPiece aum_;
  std::optional<ExactAUM> exact_aum_;  // the same without rounding, if it was needed
  std::uint64_t n_aum_changes_;
  double slope_;
  int128 doubled_auc_;
  double auc_after_;
  double aum_at_row_ = 0.0;
  bool has_auc_decreased_ = false;

  [[gnu::noinline]] SweepRow apply_row(std::span<const Crossing> crossings) {
    const std::size_t n_groups = order_.apply(crossings);
    const int128 auc_at = auc_.apply(crossings, doubled_auc_, order_);
    return row(crossings.front().step, auc_at, n_groups, crossings.size());
  }

  // Apply the only crossing of a step. Most crossings change neither area; inlining reduces their
  // time by a tenth.
  [[gnu::always_inline]] SweepRow apply(const Crossing& crossing) {
    if (order_.swap_neighbors(crossing))
      return row(crossing.step, doubled_auc_ + order_.doubled_auc(), 1, 1);
    has_auc_decreased_ = false;
    aum_at_row_ = aum_on_piece(crossing.step);
    return {crossing.step, aum_at_row_, slope_, auc_after_,
            auc_after_,    1,           1,      order_.n_converging()};
  }

  // A nonzero slope must not be rounded to zero.
  double rate_of(double slope) const {
    constexpr double tiny = std::numeric_limits<double>::denorm_min();
    const double divided = slope / lines_.divisor;
    return slope != 0.0 && divided == 0.0 ? std::copysign(tiny, slope) : divided;
  }

  SweepRow row(double step, int128 quadrupled_auc, std::uint64_t n_groups, std::uint64_t n_swaps) {
    aum_at_row_ = update_aum(step);
    update_auc();
    const bool is_continuous = quadrupled_auc == 2 * doubled_auc_;
    return {.step = step,
            .aum = aum_at_row_,
            .aum_slope_after = slope_,
            .auc = is_continuous ? auc_after_ : 0.5 * auc_.rate(quadrupled_auc),
            .auc_after = auc_after_,
            .n_groups = n_groups,
            .n_swaps = n_swaps,
            .queue_size = order_.n_converging()};
  }

  // Update the two sums, and return AUM at the step. Most crossings are not kinks and do not change
  // the sums.
  double update_aum(double step) {
    if (order_.n_aum_changes() == n_aum_changes_) return aum_on_piece(step);
    n_aum_changes_ = order_.n_aum_changes();
    const AUMPiece before = std::exchange(aum_, order_.aum());
    const double slope_before = std::exchange(slope_, rate_of(order_.slope()));
    exact_aum_.reset();
    // A crossing may lie on either side of its float64. If AUM is constant before the crossing, or
    // after it, that constant is AUM at the crossing.
    if (slope_ == 0.0) return aum_on_piece(step);
    if (slope_before == 0.0) return aum_at_row_;
    const double left = before.at(step);
    const double right = aum_.at(step);
    // Between crossings that round to the same float64, AUM may have other slopes, on an interval
    // shorter than 2^-52 of the step, or than the distance of subnormal steps.
    const double normal_step = std::max(step, std::numeric_limits<double>::min());
    const bool is_rounded = order_.slope_room() * normal_step > std::fabs(right);
    if (is_rounded || before.is_in_doubt_at(step) || aum_.is_in_doubt_at(step))
      return aum_at(lines_, step);
    // AUM is the larger of the two pieces at a convex kink, and the smaller one at a concave kink.
    return (slope_ >= slope_before ? std::max(left, right) : std::min(left, right)) /
           lines_.divisor;
  }

  // Exact sums are stored until the next kink, because there may be many rows before it.
  double aum_on_piece(double step) {
    if (slope_ == 0.0) step = 0.0;  // so that the value is the same to the last bit
    if (!aum_.is_in_doubt_at(step)) return aum_.at(step) / lines_.divisor;
    if (!exact_aum_) exact_aum_ = order_.exact_aum();
    return exact_aum_->at(step) / lines_.divisor;
  }

  void update_auc() {
    const int128 before = std::exchange(doubled_auc_, auc_.after(order_));
    if (doubled_auc_ != before) auc_after_ = auc_.rate(doubled_auc_);
    has_auc_decreased_ = doubled_auc_ < before;
  }
};

}  // namespace rocpath
