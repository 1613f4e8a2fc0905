// Interface between the branch-and-bound search for the best AUC step and the area that it
// maximizes.
//
// The area is the whole AUC (whole_auc.hpp) or the partial AUC of a region (partial_auc.hpp). Areas
// are doubled, so that they are integers although ties count one half.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lines/steps.hpp"
#include "numerics/interrupt.hpp"

namespace rocpath {

// The best step found so far.
struct FoundAUC {
  int128 best;  // doubled AUC at `step`
  double step;
  int128 pruned_bound;  // bound on the doubled AUC at steps skipped because of the tolerance

  void improve(double at, int128 doubled_auc) {
    if (doubled_auc <= best) return;
    best = doubled_auc;
    step = at;
  }
};

// Upper bound on the increase of the area in a window of steps, and the cost of enumerating it.
struct Gain {
  int128 doubled;
  double doubled_by_crossing;  // average doubled change at one crossing
  double n_lines;              // number of lines to visit
};

// A window of steps after `range.low`, up to `range.high`.
struct OrderedWindow {
  StepRange range;
  std::span<const std::uint32_t> from;  // order of the lines after `range.low`
  std::span<const std::uint32_t> to;    // order of the lines after `range.high`
  int128 doubled_auc;                   // doubled AUC just after `range.low`
  double n_crossings;                   // estimated number of crossings per visited line
};

// The result of enumerating the crossings of a window.
struct Enumeration {
  struct OpenRange {
    StepRange range;
    int128 bound;  // upper bound on the doubled AUC
  };
  FoundAUC found;
  std::vector<OpenRange> open;  // ranges of steps that may contain a better step
};

// An area that the search can maximize; its values are doubled.
template <class Area>
concept AUCArea = requires(
    const Area& area, double number, StepRange range, std::span<const std::uint32_t> order,
    const OrderedWindow& window, const FoundAUC& found, const StepScale& scale,
    bool (*exceeds)(int128, int128), typename Area::Scratch& scratch, const Interrupt& interrupt) {
  // Memory of one thread, reused for every window.
  requires std::constructible_from<typename Area::Scratch, const Area&>;
  // Twice the total FP times the total TP: the doubled area that corresponds to AUC = 1.
  { area.doubled_perfect_auc() } -> std::same_as<int128>;
  // An upper bound on the area in any order of the lines.
  { area.doubled_limit() } -> std::same_as<int128>;
  // The area in an order without ties.
  { area.doubled(order) } -> std::same_as<int128>;
  // The area at a finite step, where lines that meet are tied.
  { area.doubled_at(number) } -> std::same_as<int128>;
  // An upper bound on the increase after range.low, up to range.high, given the two orders.
  { area.gain(range, order, order, scratch) } -> std::same_as<Gain>;
  // Whether enumerating a window is cheaper than splitting it, given the crossings per line, the
  // number of equal parts whose bounds would be small enough, and the tolerance.
  { Area::is_worth_enumerating(number, number, number) } -> std::same_as<bool>;
  // Find the best step in a window, except in its open ranges. Return nothing if splitting the
  // window is better.
  {
    area.enumerate(window, found, scale, exceeds, scratch, interrupt)
  } -> std::same_as<std::optional<Enumeration>>;
  // The interval around a step, within a range, on which the area is constant.
  { area.plateau(number, range, interrupt) } -> std::same_as<StepRange>;
};

}  // namespace rocpath
