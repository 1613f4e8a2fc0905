// The interval around a step on which the partial AUC of a region is constant.
//
// Ranges of steps are widened from the step, and only the lines that enter the region in a range
// are swept. Time: that of sweeping the crossings in the region up to the ends of the interval.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "auc/region_weights.hpp"
#include "sweep/partial_state.hpp"

namespace rocpath {

class PartialPlateau {
 public:
  PartialPlateau(const ErrorLines& lines, const Region& region)
      : lines_(lines), region_(region), start_(lines, region) {}

  // The first step at or after `from` where twice the area differs from `doubled_area`, or the
  // limit.
  double end(double from, double limit, int128 doubled_area, const Interrupt& interrupt) const {
    const double last = std::min(limit, std::numeric_limits<double>::max());
    Vector<std::uint32_t> order = order_after(lines_, from);
    double width = narrow_width(from, order, last);
    while (start_.doubled_area_of(order) == doubled_area) {
      if (!(from < last)) return limit;
      const double to = std::max(std::nextafter(from, last), std::min(from + width, last));
      const double changed = first_change({from, to}, order, doubled_area, interrupt);
      if (changed <= to) return changed;
      order = order_after(lines_, to);
      from = to;
      width *= 8.0;
    }
    return from;
  }

 private:
  const ErrorLines& lines_;
  const Region& region_;
  PartialState start_;

  // The width of a range with few crossings.
  double narrow_width(double from, const Vector<std::uint32_t>& order, double last) const {
    if (!(from < last)) return 0.0;
    Windows windows(lines_, from, order);
    Window window;
    windows.next(lines_.size() / 8 + 64, last, window);
    return window.to - from;
  }

  // The first step in a range where the area differs from that after its start, or infinity. The
  // area after the end of the range is not examined: crossings that round to the end may lie beyond
  // it, where other lines are in the region.
  double first_change(StepRange range, std::span<const std::uint32_t> order, int128 doubled_area,
                      const Interrupt& interrupt) const {
    const ErrorLines lines = lines_in_region(lines_, region_, range, order);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (lines.size() == 0) return infinity;
    PartialState state(lines, region_);
    const auto is_changed = [&](double step, int128 at) {
      return at != doubled_area || (step < range.high && state.doubled_area() != doubled_area);
    };
    Windows windows(lines);
    Window window;
    for (double from = range.low; from < range.high; from = window.to) {
      interrupt();
      windows.next(lines.size() / 8 + 64, range.high, window);
      if (window.n_dense_swaps > 0) {
        state.reorder(window.dense_order);
        const int128 at = state.doubled_area_at(window.to, order_at(lines, window.to));
        if (is_changed(window.to, at)) return window.to;
      }
      windows.sort(window);
      for (std::span<const Crossing> rest = window.crossings; !rest.empty();) {
        const std::span<const Crossing> row = take_row(rest);
        const double step = row.front().step;
        const int128 at = state.apply_at(step, row);
        if (is_changed(step, at)) return step;
      }
    }
    return infinity;
  }
};

// The interval around a step, within a domain, where the area is the same as at the step.
inline StepRange partial_plateau(const ErrorLines& lines, const Region& region, double step,
                                 StepRange domain, int128 doubled_area,
                                 const Interrupt& interrupt) {
  // Smaller steps correspond to larger steps of the mirrored lines.
  ErrorLines mirrored = lines;
  for (ErrorLine& line : mirrored.line) line.slope = -line.slope;
  const double low =
      -PartialPlateau(mirrored, region).end(-step, -domain.low, doubled_area, interrupt);
  return {low, PartialPlateau(lines, region).end(step, domain.high, doubled_area, interrupt)};
}

}  // namespace rocpath
