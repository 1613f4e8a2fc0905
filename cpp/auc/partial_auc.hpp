// The partial AUC of a region, as the area that the search for the best AUC step maximizes
// (auc_area.hpp).
//
// The area is bounded in the same way as the whole AUC, with jumps reduced to their weights in the
// region after the start of a window (region_weights.hpp). The same enumeration of crossings
// therefore bounds it in thousands of bins (auc_bins.hpp). In windows with few crossings, only the
// lines that can enter the region are followed from crossing to crossing (partial_state.hpp). Time
// O(B log B) for a bound, and O(1) for each crossing that is followed; memory O(B).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "auc/auc_bins.hpp"
#include "auc/gain_bound.hpp"
#include "auc/partial_plateau.hpp"

namespace rocpath {

class PartialAUC {
 public:
  // Memory of one thread, which is reused.
  struct Scratch {
    explicit Scratch(const PartialAUC& area) : crossings(area.lines_, weights) {}
    Scratch(const Scratch&) = delete;  // the crossings refer to the weights

    RegionWeights weights;
    AUCCrossings<RegionWeights> crossings;
    Vector<std::uint32_t> place;
  };

  // Requires: monotone errors.
  PartialAUC(const ErrorLines& lines, const Region& region)
      : lines_(lines), region_(region), start_(lines, region) {
    LargestSize largest;
    for (const ErrorLine& line : lines.line) {
      largest.add(line.intercept);
      largest.add(line.slope);
    }
    largest_number_ = largest.value();
  }

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

  // Compare measured times, in nanoseconds per line: enumerating the crossings that change the
  // area, and sorting and bounding every part.
  static bool is_worth_enumerating(double n_crossings, double n_parts_needed, double) {
    return n_crossings < few_crossings ||
           200.0 + 1.25 * n_crossings < 60.0 * std::min(n_parts_needed, 16.0);
  }

  Gain gain(StepRange, std::span<const std::uint32_t> from, std::span<const std::uint32_t> to,
            Scratch& scratch) const {
    scratch.weights.choose(lines_, region_, from);
    const int128 largest = largest_gain<OneSign>(scratch.weights, from, to, scratch.place);
    const double n_pairs =
        static_cast<double>(scratch.weights.n_fp()) * static_cast<double>(scratch.weights.n_tp());
    const double doubled_mean_pair = static_cast<double>(doubled_limit()) / std::max(n_pairs, 1.0);
    return {2 * largest + region_.shortfall(), doubled_mean_pair,
            static_cast<double>(lines_.size())};
  }

  StepRange plateau(double step, StepRange domain, const Interrupt& interrupt) const {
    return partial_plateau(lines_, region_, step, domain, doubled_at(step), interrupt);
  }

  // Examine the steps of a window if it has few crossings. Otherwise bound the area in many bins.
  template <class Exceeds>
  std::optional<Enumeration> enumerate(const OrderedWindow& window, FoundAUC found,
                                       const StepScale& scale, const Exceeds& exceeds,
                                       Scratch& scratch, const Interrupt& interrupt) const {
    const double n_lines = static_cast<double>(lines_.size());
    if (window.n_crossings < few_crossings) {
      examine_window(window, found, scale, exceeds, interrupt);
      return Enumeration{found, {}};
    }
    const double n_bins = std::clamp(window.n_crossings * n_lines / 8.0, 16.0, 4096.0);
    const StepBins bins(window.range, static_cast<std::size_t>(n_bins));
    if (!bins.are_wide(largest_number_)) return {};
    scratch.weights.choose(lines_, region_, window.from);
    scratch.crossings.choose_rare_class();
    scratch.crossings.prepare(window.from, window.to);
    const Vector<int128> bound = bin_bounds(lines_, bins, window.doubled_auc + region_.shortfall(),
                                            scratch.crossings, interrupt);
    const auto best = std::max_element(bound.begin(), bound.end());
    if (exceeds(*best, found.best)) {
      const auto k = static_cast<std::size_t>(best - bound.begin());
      const double step = scale.middle(bins.steps(k, k + 1));
      found.improve(step, doubled_at(step));
    }
    const double n_listed = few_crossings / window.n_crossings * n_bins;
    const double most_together = std::clamp(n_listed, 1.0, n_bins / 4.0);
    return open_bins(bins, bound, static_cast<std::size_t>(most_together), exceeds, found);
  }

 private:
  const ErrorLines& lines_;
  const Region& region_;
  PartialState start_;
  double largest_number_;
  static constexpr double few_crossings = 3.0;  // per line, below which all steps are examined

  // Update `found` with all float64 steps of a window. It is divided into smaller windows with a
  // few crossings per line that can enter the region.
  template <class Exceeds>
  void examine_window(const OrderedWindow& window, FoundAUC& found, const StepScale& scale,
                      const Exceeds& exceeds, const Interrupt& interrupt) const {
    constexpr double largest = std::numeric_limits<double>::max();
    const StepRange range{window.range.low, std::min(window.range.high, largest)};
    const ErrorLines lines = lines_in_region(lines_, region_, range, window.from);
    if (lines.size() == 0) return;  // the curve is below the region
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
  }

  // Upper bound on twice the increase of the area at the crossings of a window.
  int128 largest_gain_of(const Window& window, const RegionWeights& weights) const {
    int128 doubled = region_.shortfall();
    for (const Crossing& crossing : window.crossings)
      doubled += 2 * static_cast<int128>(weights[crossing.lower].fp) * weights[crossing.upper].tp;
    return doubled;
  }

  // Update `found` with the float64 steps of a window after `since`: the step of every row of
  // crossings, and the steps between two rows. Requires: sorted crossings, and the state before
  // them.
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
      // A tie of two lines is never better than both the order before it and the order after it.
      const bool is_single = row.size() == 1 && state.doubled_area() <= found.best;
      if (is_single) state.swap_neighbors(row.front());
      const bool is_better = is_single && state.doubled_area() > found.best;
      if (is_better) found.improve(step, state.doubled_area_at_swap(step, row.front()));
      if (!is_single) found.improve(step, state.apply_at(step, row));
      since = step;
    }
    if (since == window.to) return;
    examine_between({since, window.to});
    found.improve(window.to, state.doubled_area());
  }
};

}  // namespace rocpath
