// The partial AUC of a region, for the search of its best step (auc_area.hpp).
//
// The increase of the area in a window of steps is bounded as that of the whole AUC, with the jumps
// reduced to their weights in the region after the start of the window (region_weights.hpp). Only
// lines that can enter the region in a window are enumerated, in smaller windows of a few crossings
// a line; windows whose bound is too small are skipped without sorting their crossings.
#pragma once

#include "gain_bound.hpp"
#include "partial_plateau.hpp"

namespace rocpath {

class PartialAUC {
 public:
  // Memory that is used again.
  struct Scratch {
    explicit Scratch(const PartialAUC&) {}

    RegionWeights weights;
    Vector<std::uint32_t> place;
  };

  // Requires: monotone errors.
  PartialAUC(const ErrorLines& lines, const Region& region)
      : lines_(lines), region_(region), start_(lines, region) {}

  int128 doubled_perfect_auc() const {
    return 2 * static_cast<int128>(region_.total().fp) * region_.total().tp;
  }
  int128 doubled(std::span<const std::uint32_t> order) const {
    return start_.doubled_area_of(order);
  }
  int128 doubled_at(double step) const {
    return start_.doubled_area_at(step, order_at(lines_, step));
  }
  int128 doubled_limit() const { return region_.doubled_perfect_area(); }

  // Enumerating costs a few nanoseconds a crossing, splitting some hundred a line; with a tolerance
  // one more split mostly suffices.
  static bool is_worth_enumerating(double n_crossings, double, double tolerance) {
    return n_crossings < (tolerance > 0.0 ? 0.5 : 4.0);
  }

  Gain gain(StepRange range, std::span<const std::uint32_t> from, std::span<const std::uint32_t> to,
            Scratch& scratch) const {
    scratch.weights.choose(lines_, region_, from);
    const int128 largest = largest_gain<OneSign>(scratch.weights, from, to, scratch.place);
    const RegionExtent extent(lines_, range, scratch.weights);
    const auto n_within = static_cast<double>(std::count_if(
        lines_.line.begin(), lines_.line.end(),
        [&](const ErrorLine& line) { return !extent.is_below(line) && !extent.is_above(line); }));
    // Most crossings in the region are of two lines of one class and change nothing.
    const double doubled_by_crossing =
        2.0 * static_cast<double>(doubled_limit()) / std::max(n_within * n_within, 1.0);
    return {2 * largest + region_.shortfall(), doubled_by_crossing, std::max(n_within, 1.0)};
  }

  StepRange plateau(double step, StepRange domain, const Interrupt& interrupt) const {
    return partial_plateau(lines_, region_, step, domain, doubled_at(step), interrupt);
  }

  template <class Exceeds>
  std::optional<Enumeration> enumerate(const OrderedWindow& window, FoundAUC found,
                                       const StepScale& scale, const Exceeds& exceeds, Scratch&,
                                       const Interrupt& interrupt) const {
    constexpr double largest = std::numeric_limits<double>::max();
    const StepRange range{window.range.low, std::min(window.range.high, largest)};
    const ErrorLines lines = lines_in_region(lines_, region_, range, window.from);
    if (lines.size() == 0) return Enumeration{found, {}};  // the curve is below the region
    PartialState state(lines, region_);
    Windows windows(lines);
    Window part;
    Vector<std::uint32_t> order_before;
    int128 doubled_area = window.doubled_auc;
    for (double from = range.low; from < range.high; from = part.to) {
      interrupt();
      order_before.assign(windows.order().begin(), windows.order().end());
      windows.next(6 * lines.size() + 1024, range.high, part);
      if (part.n_dense_swaps > 0) {
        found.improve(part.to, doubled_at(part.to));
      } else {
        const int128 bound =
            doubled_area + largest_gain_of(part, RegionWeights(lines, region_, order_before));
        if (exceeds(bound, found.best)) {
          windows.sort(part);
          state.reorder(order_before);
          examine_steps(state, scale, part, from, found);
        } else {
          found.pruned_bound = std::max(found.pruned_bound, bound);
        }
      }
      doubled_area = state.doubled_area_of(windows.order());
    }
    return Enumeration{found, {}};
  }

 private:
  const ErrorLines& lines_;
  const Region& region_;
  PartialState start_;

  // Twice the increase of the area at the crossings of a window, at most.
  int128 largest_gain_of(const Window& window, const RegionWeights& weights) const {
    int128 doubled = region_.shortfall();
    for (const Crossing& crossing : window.crossings)
      doubled += 2 * static_cast<int128>(weights[crossing.lower].fp) * weights[crossing.upper].tp;
    return doubled;
  }

  // Improve `found` by the float64 steps of a window after `since`: between any two rows of
  // crossings, and at every row. Requires: sorted crossings, and the state before them.
  void examine_steps(PartialState& state, const StepScale& scale, const Window& window,
                     double since, FoundAUC& found) const {
    const auto examine_between = [&](StepRange range) {
      if (state.doubled_area() <= found.best) return;
      const double step = scale.middle(range);
      if (is_inside(step, range)) found.improve(step, state.doubled_area());
    };
    for (std::span<const Crossing> rest = window.crossings; !rest.empty();) {
      const std::span<const Crossing> row = take_row(rest);
      const double step = row.front().step;
      examine_between({since, step});
      // A tie of two lines is not better than both the orders before and after it.
      const bool is_single = row.size() == 1 && state.doubled_area() <= found.best;
      if (is_single) state.swap_neighbors(row.front());
      const bool is_better = is_single && state.doubled_area() > found.best;
      if (is_better) found.improve(step, doubled_at(step));
      if (!is_single) found.improve(step, state.apply_at(step, row));
      since = step;
    }
    if (since == window.to) return;
    examine_between({since, window.to});
    found.improve(window.to, state.doubled_area());
  }
};

}  // namespace rocpath
