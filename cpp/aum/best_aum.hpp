// The best AUM step for monotone errors, in expected linear time.
//
// AUM is then convex in the step, so the sign of its slope at a step determines on which side the
// minimum is. A random sample of the lines determines where to search: a box of steps and
// thresholds. One pass over all lines reduces those outside the box to sums. For the others, the
// range of steps is narrowed by exact slopes, and swept when few lines remain. The sample affects
// the time, not the result: slopes are used only where the level is inside the box, and a box
// without the minimum is replaced by a larger one.
//
// Expected time O(B); memory O(lines inside the box).
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "aum/searchable_lines.hpp"
#include "sweep/sweep.hpp"

namespace rocpath {

// Sweep to the end of the first minimum of AUM, which may be flat. The errors need not be monotone.
inline FirstMinimum first_min_aum(const ErrorLines& lines, double max_step,
                                  const Interrupt& interrupt) {
  FirstMinimum first_min;
  sweep(lines, {.max_step = max_step}, interrupt, [&](const SweepRow& row) {
    first_min.pass(row.step, row.aum_slope_after);
    return !first_min.is_over();
  });
  return first_min;
}

inline BestAUM first_min_aum_step(const ErrorLines& lines, double max_step,
                                  const Interrupt& interrupt) {
  const FirstMinimum first_min = first_min_aum(lines, max_step, interrupt);
  return best_float64(
      first_min.steps(max_step), max_step, StepScale(lines),
      [&](double step) { return aum_at(lines, step); },
      [&](double step, double other) { return is_aum_less(lines, step, other); });
}

template <SearchableLines AllLines>
class AUMSearch {
 public:
  AUMSearch(const AllLines& lines, double max_step, Interrupt interrupt)
      : lines_(lines),
        max_step_(max_step),
        interrupt_(std::move(interrupt)),
        scale_(lines.size() > many ? sample_of(lines) : all_lines()) {}

  BestAUM run() const {
    const Near near = find(lines_, {0.0, max_step_}, Slope::not_falling);
    const FirstMinimum first = first_min_in(near);
    StepRange steps = first.steps(max_step_);
    // A flat minimum may continue beyond the range.
    std::optional<Near> rest;
    if (first.is_reached() && !first.is_over() && near.steps.high < max_step_) {
      rest = find(lines_, {near.steps.high, max_step_}, Slope::rising);
      steps.high = first_min_in(*rest).steps(max_step_).high;
    }
    // Each set of lines is valid from the float64 before its range to the one after it.
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double last_near = std::nextafter(near.steps.high, infinity);
    const double first_rest = std::nextafter(near.steps.high, 0.0);
    const auto aum = [&](double step) {
      if (step <= last_near) return aum_at(near.lines, step);
      if (step >= std::nextafter(rest->steps.low, 0.0)) return aum_at(rest->lines, step);
      return aum_at(near.lines, near.steps.high);  // AUM is constant between the ranges
    };
    // AUM is convex, so at the later of two steps in different ranges it is not smaller.
    const auto is_less = [&](double step, double before) {
      if (step <= last_near) return is_less_near_level(near.lines, step, before);
      return before >= first_rest && is_less_near_level(rest->lines, step, before);
    };
    return best_float64(steps, max_step_, scale_, aum, is_less);
  }

 private:
  // Lines near the level in a range of steps that contains the wanted one.
  struct Near {
    ErrorLines lines;
    StepRange steps;
  };

  // The condition on the slope of AUM that defines the wanted step: the first after which it holds.
  enum class Slope { not_falling, rising };

  static bool is_reached(double slope, Slope wanted) {
    return wanted == Slope::rising ? slope > 0.0 : slope >= 0.0;
  }

  static constexpr std::size_t few = 64;        // lines that are swept directly
  static constexpr std::size_t not_many = 512;  // lines that are swept if they stay together
  static constexpr std::size_t many = 4096;     // lines for which a sample saves time

  const AllLines& lines_;
  double max_step_;
  Interrupt interrupt_;
  StepScale scale_;

  ErrorLines all_lines() const { return collapse(lines_, Box{{0.0, 0.0}}); }

  // A number that has the sign of the slope of AUM just after a step.
  static double slope_after(const ErrorLines& lines, double step) {
    ErrorLines near = near_level(lines, {step, step}, true);
    near.from = step;
    sort_lines(near);
    return OrderState(near).slope_sign();
  }

  // Whether AUM at a step is less than at the float64 before it. Hardly any lines are near the
  // level between the two.
  static bool is_less_near_level(const ErrorLines& lines, double step, double before) {
    return is_aum_less(near_level(lines, {before, step}, true), step, before);
  }

  // Halve the range, and reduce lines away from the level to sums, until few lines remain.
  template <class HasReached>
  Near halved(Near near, HasReached has_reached) const {
    // If all coefficients are zero, all lines meet at the start of the range: halving toward it
    // would continue down to the smallest float64.
    if (near.lines.size() > few && has_reached(near.lines, near.steps.low)) {
      near.steps.high = near.steps.low;
      near.lines = near_level(near.lines, near.steps, true);
    }
    while (near.lines.size() > few) {
      interrupt_();
      const double step = scale_.middle(near.steps);
      if (!is_inside(step, near.steps)) break;
      (has_reached(near.lines, step) ? near.steps.high : near.steps.low) = step;
      if (!(near.steps.low > 0.0) && std::isinf(near.steps.high)) continue;
      const std::size_t n_before = near.lines.size();
      near.lines = near_level(near.lines, near.steps, true);
      // Lines that meet in one point, or are equal, are not separated at any scale.
      if (near.lines.size() <= not_many && 10 * near.lines.size() > 7 * n_before) break;
    }
    return near;
  }

  // A range of steps that contains the wanted one: the wanted slope is not reached after its start,
  // unless that is the start of `steps`, and is reached after its end, unless that is the end of
  // `steps`.
  template <SearchableLines Lines>
  Near find(const Lines& lines, StepRange steps, Slope wanted) const {
    if (lines.size() > many)
      for (double confidence = 3.0; confidence < 100.0; confidence *= 4.0) {
        const Box box = box_by_sample(lines, steps, 0.0, confidence);
        if (!(box.steps.low > 0.0) && std::isinf(box.steps.high)) break;
        const ErrorLines inside = collapse_in_parallel(lines, box);
        if (inside.line.empty()) continue;
        if (2 * inside.size() > lines.size()) break;
        Near near = find(inside, box.steps, wanted);
        if (holds(near, steps, wanted, box)) return near;
      }
    return halved({collapse(lines, Box{{steps.low, steps.low}}), steps},
                  [wanted](const ErrorLines& some, double step) {
                    return is_reached(slope_after(some, step), wanted);
                  });
  }

  // Whether a range found inside a box is valid for all lines: the level must remain inside the
  // box, and the slope must change its sign within the range.
  static bool holds(const Near& near, StepRange steps, Slope wanted, const Box& box) {
    const Box level = level_box(near.lines, near.steps);
    if (!(level.lowest > box.lowest && level.highest < box.highest)) return false;
    const auto [low, high] = near.steps;
    return (low == steps.low || !is_reached(slope_after(near.lines, low), wanted)) &&
           (high == steps.high || is_reached(slope_after(near.lines, high), wanted));
  }

  // Standard errors of the slope of AUM and of FP - FN, as estimated from a sample.
  struct SampleError {
    double slope = 0.0;
    double excess = 0.0;
  };

  static SampleError sample_error(const ErrorLines& sample, double step) {
    const double level = level_box(sample, {step, step}).lowest;
    SampleError squares;
    for (const ErrorLine& line : sample.line) {
      const double fp = static_cast<double>(line.fp) * sample.fp_unit;
      const double tp = static_cast<double>(line.tp) * sample.tp_unit;
      const double weight = line.at(step) < level ? fp : tp;
      squares.slope += weight * weight * line.slope * line.slope;
      squares.excess += fp * fp + tp * tp;
    }
    // The standard error of a proportion is at most 1/2 over the square root of the sample size.
    return {std::sqrt(squares.slope), 0.5 * std::sqrt(squares.excess)};
  }

  static auto reaches(double slope) {
    return
        [slope](const ErrorLines& lines, double step) { return slope_after(lines, step) >= slope; };
  }

  // Steps where the slope of AUM is within +-slope, and the thresholds of the level there, as
  // estimated from a sample.
  template <SearchableLines Lines>
  Box box_by_sample(const Lines& lines, StepRange steps, double slope, double confidence) const {
    const ErrorLines sample = sample_of(lines);
    const double rough = halved(inside_box(sample, steps, 0.0, confidence), reaches(0.0)).steps.low;
    const SampleError error = sample_error(sample, rough);
    const double bound = slope + confidence * error.slope;
    const Near near = inside_box(sample, steps, bound, confidence);
    BackgroundTask<double> task(near.lines.size() > 1000,
                                [&] { return halved(near, reaches(-bound)).steps.low; });
    const double high = halved(near, reaches(bound)).steps.high;
    return level_box(sample, {task.get(), high}, confidence * error.excess);
  }

  // The lines that can be near the level where the slope of AUM is within +-slope, as estimated
  // from a smaller sample.
  Near inside_box(const ErrorLines& lines, StepRange steps, double slope, double confidence) const {
    if (lines.size() > many) {
      const Box box = box_by_sample(lines, steps, slope, confidence);
      if (box.steps.low > 0.0 || std::isfinite(box.steps.high)) {
        ErrorLines inside = collapse(lines, box);
        if (!inside.line.empty()) return {std::move(inside), box.steps};
      }
    }
    return {lines, steps};
  }

  FirstMinimum first_min_in(Near near) const {
    near.lines.from = near.steps.low;
    sort_lines(near.lines);
    return first_min_aum(near.lines, near.steps.high, interrupt_);
  }
};

// The best AUM step of monotone errors.
template <SearchableLines Lines>
BestAUM best_aum_step(const Lines& lines, double max_step, const Interrupt& interrupt) {
  return with_certain_sums(
      lines, [&](const Lines& some) { return AUMSearch(some, max_step, interrupt).run(); });
}

}  // namespace rocpath
