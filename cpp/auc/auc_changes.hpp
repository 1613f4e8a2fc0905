// Changes of AUC at crossings, and the interval around a step on which AUC is constant.
//
// Twice the AUC (eq. AUC1) is an integer in units of the jumps. Time O(B) for an order, and O(1)
// for each crossing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "auc/auc_area.hpp"
#include "lines/windows.hpp"

namespace rocpath {

struct Jump {
  std::int64_t fp;
  std::int64_t tp;

  friend bool operator==(const Jump&, const Jump&) = default;
};

// The jumps of every line. Lines with equal jumps are of the same kind and share one entry: binary
// labels need four bytes per line and two pairs of jumps, which stay in the cache.
class JumpKinds {
 public:
  explicit JumpKinds(const ErrorLines& lines) : kind_(lines.size()) {
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
  void prefetch(std::uint32_t line) const { __builtin_prefetch(&kind_[line]); }

  // Twice the AUC in an order without ties.
  int128 doubled_auc(std::span<const std::uint32_t> order) const {
    int128 doubled = 0;
    std::int64_t tp_below = 0;
    for (const std::uint32_t line : order) {
      const auto& [fp, tp] = (*this)[line];
      // The terms with TP before and after the line are added separately, because twice the first
      // could overflow.
      doubled += static_cast<int128>(fp) * tp_below;
      tp_below += tp;
      doubled += static_cast<int128>(fp) * tp_below;
    }
    return doubled;
  }

  // Twice the change of AUC from before a crossing to after it.
  int128 doubled_auc_change(const Crossing& crossing) const {
    const Jump& a = (*this)[crossing.lower];
    const Jump& b = (*this)[crossing.upper];
    return 2 * (static_cast<int128>(a.fp) * b.tp - static_cast<int128>(b.fp) * a.tp);
  }

  bool is_monotone() const {
    return std::all_of(jump_.begin(), jump_.end(),
                       [](const Jump& jump) { return jump.fp >= 0 && jump.tp >= 0; });
  }

 private:
  Vector<std::uint32_t> kind_;
  Vector<Jump> jump_;
};

// Twice the change of AUC from before the crossings of a row to exactly the step of the row. A row
// consists of all crossings that are rounded to one float64 step; they may lie before it, at it or
// after it.
inline int128 doubled_auc_change_up_to(const ErrorLines& lines, const JumpKinds& jumps, double step,
                                       std::span<const Crossing> row) {
  int128 change = 0;
  for (const Crossing& crossing : row) {
    const int side = compare_at(lines.line[crossing.lower], lines.line[crossing.upper], step);
    if (side >= 0) change += jumps.doubled_auc_change(crossing) / (side == 0 ? 2 : 1);
  }
  return change;
}

// Update `found` with the float64 steps of a window after `since`, where twice the AUC is
// `doubled_auc`: the step of every row of crossings, and the steps between two rows. Requires:
// sorted crossings.
inline void examine_steps(const ErrorLines& lines, const JumpKinds& jumps, const StepScale& scale,
                          const Window& window, double since, int128 doubled_auc, FoundAUC& found) {
  const auto examine_between = [&](StepRange range) {
    if (doubled_auc <= found.best) return;
    const double step = scale.middle(range);
    if (is_inside(step, range)) found.improve(step, doubled_auc);
  };
  for (std::span<const Crossing> rest = window.crossings; !rest.empty();) {
    const std::span<const Crossing> row = take_row(rest);
    const double step = row.front().step;
    examine_between({since, step});
    int128 gain = 0;
    int128 change = 0;
    for (const Crossing& crossing : row) {
      const int128 one = jumps.doubled_auc_change(crossing);
      gain += std::max<int128>(one, 0);
      change += one;
    }
    if (doubled_auc + gain > found.best)
      found.improve(step, doubled_auc + doubled_auc_change_up_to(lines, jumps, step, row));
    since = step;
    doubled_auc += change;
  }
  if (since == window.to) return;
  examine_between({since, window.to});
  found.improve(window.to, doubled_auc);
}

namespace detail {

// The first step after `from` where AUC differs from its value just after `from`, or the limit.
inline double end_of_plateau(const ErrorLines& lines, const JumpKinds& jumps, double from,
                             double limit, const Interrupt& interrupt) {
  Vector<std::uint32_t> order = order_after(lines, from);
  const int128 doubled_auc = jumps.doubled_auc(order);
  Windows windows(lines, from, std::move(order), jumps.kind());
  Window window;
  const double end = std::min(limit, std::numeric_limits<double>::max());
  while (from < end) {
    interrupt();
    windows.next(lines.size() / 8 + 64, end, window);
    if (window.n_dense_swaps > 0 &&
        (jumps.doubled_auc(window.dense_order) != doubled_auc ||
         doubled_auc_at(lines, window.to, order_at(lines, window.to)) != doubled_auc))
      return window.to;
    windows.sort(window);
    for (std::span<const Crossing> rest = window.crossings; !rest.empty();) {
      const std::span<const Crossing> row = take_row(rest);
      int128 change = 0;
      for (const Crossing& crossing : row) change += jumps.doubled_auc_change(crossing);
      const double step = row.front().step;
      if (change != 0 || doubled_auc_change_up_to(lines, jumps, step, row) != 0) return step;
    }
    from = window.to;
  }
  return limit;
}

}  // namespace detail

// The interval around a step on whose float64 steps AUC is the same as at the step.
inline StepRange auc_plateau(const ErrorLines& lines, const JumpKinds& jumps, double step,
                             StepRange domain, const Interrupt& interrupt) {
  const int128 doubled_auc = doubled_auc_at(lines, step, order_at(lines, step));
  const auto end = [&](const ErrorLines& some, double from, double limit) {
    if (jumps.doubled_auc(order_after(some, from)) != doubled_auc) return from;
    return detail::end_of_plateau(some, jumps, from, limit, interrupt);
  };
  // Smaller steps correspond to larger steps of the mirrored lines.
  ErrorLines mirrored = lines;
  for (ErrorLine& line : mirrored.line) line.slope = -line.slope;
  return {-end(mirrored, -step, -domain.low), end(lines, step, domain.high)};
}

}  // namespace rocpath
