// The paper's line search: AUM and AUC at every crossing, in order of the step size.
//
// Repeat: take the next crossing from the queue (crossing_queue.hpp), update the rates between the
// lines that exchange places (order_state.hpp, eq. D_update), update the two areas
// (swept_areas.hpp, eq. AUM_s and AUC1), and count the neighbors that will still cross.
//
// Time O(B log B + I) for I crossings, where the paper has O((B + I) log B); memory O(B).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "sweep/crossing_queue.hpp"
#include "sweep/first_min.hpp"
#include "sweep/swept_areas.hpp"

namespace rocpath {

enum class Stop { never, first_min_aum, first_max_auc };

struct Limits {
  Stop stop = Stop::never;
  std::uint64_t max_crossings = std::numeric_limits<std::uint64_t>::max();
  double max_step = std::numeric_limits<double>::infinity();
  // The region of partial AUC. Requires: monotone errors, unless it is the whole curve.
  RegionRates region{};
};

// The rule that ends a sweep.
class StopRule {
 public:
  explicit StopRule(const Limits& limits) : limits_(limits) {}

  bool is_met(const SweepRow& row, const SweptAreas& areas) {
    if (++n_rows_ > limits_.max_crossings) return true;
    switch (limits_.stop) {
      case Stop::first_min_aum:
        first_min_.pass(row.step, row.aum_slope_after);
        // Convex AUM that has stopped decreasing never decreases again; any other may.
        return areas.is_monotone() ? first_min_.is_reached() : first_min_.is_over();
      case Stop::first_max_auc:
        return areas.has_auc_decreased();
      default:
        return false;
    }
  }

  std::uint64_t n_rows() const { return n_rows_; }

 private:
  const Limits& limits_;
  FirstMinimum first_min_;
  std::uint64_t n_rows_ = 0;
};

// Pass every row, beginning with the start, to `emit(row)` until it returns false or a limit is
// reached. Returns the step up to which the rows are complete: infinity if no lines cross after the
// last row. Requires: at least one line, positive total FP and TP, max_step >= 0.
//
// Before some rows are emitted, expect(begin, end) is called with upper bounds on the indices of
// the first and the last of them, possibly on another thread while earlier rows are emitted.
template <class Emit, class Expect = decltype([](std::uint64_t, std::uint64_t) {})>
double sweep(const ErrorLines& lines, const Limits& limits, const Interrupt& interrupt, Emit&& emit,
             Expect expect = {}) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double last_step = std::min(limits.max_step, std::numeric_limits<double>::max());
  SweptAreas areas(lines, limits.region);
  StopRule stop_rule(limits);
  CrossingQueue queue(lines, last_step, limits.max_crossings, limits.stop != Stop::never, expect);
  const auto is_last = [&](const SweepRow& row) {
    return !emit(row) || stop_rule.is_met(row, areas);
  };
  const auto end_after = [&](double step) { return areas.n_converging() == 0 ? infinity : step; };

  double step = lines.from;
  if (is_last(areas.start())) return end_after(step);
  while (areas.n_converging() > 0 && step < last_step) {
    interrupt();
    const Window& window = queue.next(stop_rule.n_rows());
    step = window.to;
    if (window.n_dense_swaps > 0 && is_last(areas.apply_dense(window))) return end_after(step);
    for (std::span<const Crossing> coming = window.crossings; !coming.empty();) {
      areas.prefetch(coming);
      const SweepRow row = areas.apply(take_row(coming));
      if (is_last(row)) return end_after(row.step);
    }
  }
  return std::isfinite(limits.max_step) ? end_after(limits.max_step) : infinity;
}

}  // namespace rocpath
