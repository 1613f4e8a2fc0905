// AUM as a piecewise linear function of the step, represented by its kinks.
//
// Ranges of steps are halved, and in each half only the lines near the level are kept, until few
// lines remain. A sweep of these finds the kinks: the crossings at which the slope of AUM changes.
// B lines of binary labels have about B kinks among up to B^2 / 2 crossings; the time is about
// O(B log B) and the memory O(B). For other errors, the lines between the lowest and the highest
// threshold at which FP meets FN are kept, so the time depends on the distance between these.
#pragma once

#include <cstddef>
#include <utility>

#include "aum/near_level.hpp"
#include "sweep/sweep.hpp"

namespace rocpath {

struct AUMPath {
  Vector<double> step;
  Vector<double> aum;
  Vector<double> aum_slope_after;

  void append(double at, double value, double slope) {
    step.push_back(at);
    aum.push_back(value);
    aum_slope_after.push_back(slope);
  }
};

class AUMPathSearch {
 public:
  AUMPathSearch(const ErrorLines& lines, Interrupt interrupt)
      : scale_(lines), is_monotone_(lines.is_monotone()), interrupt_(std::move(interrupt)) {}

  AUMPath run(const ErrorLines& lines, double max_step) {
    search(lines, {0.0, max_step});
    return std::move(path_);
  }

 private:
  StepScale scale_;
  bool is_monotone_;
  Interrupt interrupt_;
  AUMPath path_;

  // `n_stuck` is the number of consecutive halvings that have not reduced the number of lines.
  void search(const ErrorLines& lines, StepRange steps, int n_stuck = 0) {
    constexpr std::size_t few = 48;
    constexpr std::size_t not_many = 512;
    const double middle = scale_.middle(steps);
    if (lines.size() <= few || !is_inside(middle, steps)) return sweep_range(lines, steps);
    interrupt_();
    for (const StepRange half : {StepRange{steps.low, middle}, StepRange{middle, steps.high}}) {
      const ErrorLines near = near_level(lines, half, is_monotone_);
      // Near a point where many lines meet, a half contains as many lines as the whole range, at
      // any scale. Sweeping all crossings then takes less time than further halving.
      const bool is_stuck = 10 * near.size() > 7 * lines.size();
      if (is_stuck && (near.size() <= not_many || n_stuck >= 5))
        sweep_range(near, half);
      else
        search(near, half, is_stuck ? n_stuck + 1 : 0);
    }
  }

  void sweep_range(ErrorLines lines, StepRange steps) {
    lines.from = steps.low;
    sort_lines(lines);
    double slope = 0.0;
    bool is_start = true;
    sweep(lines, {.max_step = steps.high}, interrupt_, [&](const SweepRow& row) {
      // The start of a range is not a kink, but the start of the path is its first row.
      const bool is_kink = is_start ? path_.step.empty() : row.aum_slope_after != slope;
      if (is_kink) path_.append(row.step, row.aum, row.aum_slope_after);
      slope = row.aum_slope_after;
      is_start = false;
      return true;
    });
  }
};

inline AUMPath aum_path(const ErrorLines& lines, double max_step, const Interrupt& interrupt) {
  return with_certain_sums(lines, [&](const ErrorLines& some) {
    return AUMPathSearch(some, interrupt).run(some, max_step);
  });
}

}  // namespace rocpath
