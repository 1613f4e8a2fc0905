// The best AUM step for monotone errors, in linear time.
//
// AUM is then convex in the step, so the sign of its slope at a step tells on which side the
// minimum lies. A random sample of the lines says where to look: a box of steps and thresholds. One
// pass over all lines turns those outside the box into sums; on the others the range of steps is
// narrowed by exact slopes, and swept when few lines are left. The sample decides the time, not the
// answer: slopes are used only where the level lies inside the box, and a box without the minimum
// is replaced by a larger one.
//
// Expected time O(B); memory O(lines inside the box).
#pragma once

#include <optional>

#include "near_level.hpp"
#include "sweep.hpp"

namespace rocpath {

struct BestAum {
  StepRange interval{};  // all steps with the smallest AUM
  double step = 0.0;     // one of them, inside if there is an inside
  double value = 0.0;
  double slope_before = 0.0;  // of AUM, to the left of the interval; not positive
  double slope_after = 0.0;   // and to its right; not negative
};

// The smallest AUM, given the row after which it does not fall: on a flat stretch that of the
// stretch, which the rounded start of it may just miss.
inline double value_of(const SweepRow& row) {
  return row.aum_slope_after == 0.0 ? row.aum_after : row.aum;
}

class AumSearch {
 public:
  AumSearch(const LineArrays& lines, double max_step, Interrupt interrupt)
      : lines_(lines),
        max_step_(max_step),
        interrupt_(std::move(interrupt)),
        scale_(lines.size() > many ? thinned(lines) : all_lines()) {}

  BestAum run() const {
    const Near near = find(lines_, {0.0, max_step_}, 0);
    const Walk walk = walked(near);
    if (!walk.reached) {  // AUM falls up to the last step
      const double value = walk.last.aum + walk.last.aum_slope_after * (max_step_ - walk.last.step);
      return {{max_step_, max_step_}, max_step_, value, walk.last.aum_slope_after, 0.0};
    }
    const SweepRow& first = *walk.reached;
    BestAum best{{first.step, max_step_}, first.step, value_of(first), walk.slope_before, 0.0};
    // A flat minimum may go on beyond the range.
    const bool is_open = !walk.risen && near.steps.high < max_step_;
    const Walk rest = is_open ? walked(find(lines_, {near.steps.high, max_step_}, 1)) : walk;
    if (rest.risen) {
      best.interval.high = rest.risen->step;
      best.slope_after = rest.risen->aum_slope_after;
    }
    const double middle = scale_.middle(best.interval);
    if (is_inside(middle, best.interval)) best.step = middle;
    return best;
  }

 private:
  // Lines near the level in a range of steps that holds the one in question.
  struct Near {
    ErrorLines lines;
    StepRange steps;
  };

  // What a walk through such a range meets.
  struct Walk {
    std::optional<SweepRow> reached;  // the first row after which AUM does not fall
    std::optional<SweepRow> risen;    // the first row after which it rises
    double slope_before = 0.0;
    SweepRow last{};
  };

  static constexpr std::size_t few = 64;  // lines to sweep
  static constexpr std::size_t not_many = 512;
  static constexpr std::size_t many = 4096;  // lines worth a sample

  const LineArrays& lines_;
  double max_step_;
  Interrupt interrupt_;
  StepScale scale_;

  ErrorLines all_lines() const { return collapse(lines_, Box{{0.0, 0.0}}); }

  static OrderState state_after(const ErrorLines& lines, double step, ErrorLines& at_level) {
    at_level = near_level(lines, {step, step}, true);
    sort_lines(at_level);
    return OrderState(at_level);
  }

  static double slope_after(const ErrorLines& lines, double step) {
    ErrorLines at_level;
    return state_after(lines, step, at_level).aum().slope();
  }

  static int slope_sign_after(const ErrorLines& lines, double step) {
    ErrorLines at_level;
    return state_after(lines, step, at_level).slope_sign();
  }

  // Halve the range, and forget lines away from the level, until few are left.
  template <class HasReached>
  Near halved(Near near, HasReached has_reached) const {
    while (near.lines.size() > few) {
      interrupt_();
      const double step = scale_.middle(near.steps);
      if (!is_inside(step, near.steps)) break;
      (has_reached(near.lines, step) ? near.steps.high : near.steps.low) = step;
      if (!(near.steps.low > 0.0) && std::isinf(near.steps.high)) continue;
      const std::size_t n_before = near.lines.size();
      near.lines = near_level(near.lines, near.steps, true);
      // Where many lines meet in one point, or repeat, they stay at any scale.
      if (near.lines.size() <= not_many && 10 * near.lines.size() > 7 * n_before) break;
    }
    return near;
  }

  // A range of steps at whose start the slope's sign is below `least` (0 or 1), and at whose end it
  // is not, as far as the range does not begin or end with `steps`.
  template <class Lines>
  Near find(const Lines& lines, StepRange steps, int least) const {
    if (lines.size() > many)
      for (double confidence = 3.0; confidence < 100.0; confidence *= 4.0) {
        const Box box = box_by_sample(lines, steps, 0.0, confidence);
        if (!(box.steps.low > 0.0) && std::isinf(box.steps.high)) break;
        const ErrorLines inside = collapsed(lines, box);
        if (inside.line.empty()) continue;
        if (2 * inside.size() > lines.size()) break;
        Near near = find(inside, box.steps, least);
        if (holds(near, steps, least, box)) return near;
      }
    return halved({collapse(lines, Box{{steps.low, steps.low}}), steps},
                  [least](const ErrorLines& some, double step) {
                    return slope_sign_after(some, step) >= least;
                  });
  }

  // Does a range found inside a box hold for all lines? The level must stay inside the box, and the
  // slope change its sign within the range.
  static bool holds(const Near& near, StepRange steps, int least, const Box& box) {
    const Box level = detail::level_box(near.lines, near.steps);
    if (!(level.lowest > box.lowest && level.highest < box.highest)) return false;
    const auto [low, high] = near.steps;
    return (low == steps.low || slope_sign_after(near.lines, low) < least) &&
           (high == steps.high || slope_sign_after(near.lines, high) >= least);
  }

  // One line in f, drawn at random, each counted f times.
  template <class Lines>
  static ErrorLines thinned(const Lines& lines) {
    const auto n = static_cast<double>(lines.size());
    const auto factor = static_cast<std::int64_t>(0.5 * std::cbrt(n));
    ErrorLines drawn = collapse(lines, 0, 0, Box{});
    drawn.line.resize(lines.size() / static_cast<std::size_t>(factor));
    std::uint64_t random = lines.size();
    for (ErrorLine& line : drawn.line) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      line = lines[static_cast<std::size_t>((static_cast<uint128>(random) * lines.size()) >> 64)];
      line.fp *= factor;
      line.tp *= factor;
      drawn.total += {line.fp, line.tp};
    }
    return drawn;
  }

  // How far a sample's slope at a step and its FP - FN may be off: roots of sums of squares.
  struct SampleError {
    double slope = 0.0;
    double excess = 0.0;
  };

  static SampleError sample_error(const ErrorLines& drawn, double step) {
    const double level = detail::level_box(drawn, {step, step}).lowest;
    SampleError squares;
    for (const ErrorLine& line : drawn.line) {
      const double fp = static_cast<double>(line.fp) * drawn.fp_unit;
      const double tp = static_cast<double>(line.tp) * drawn.tp_unit;
      const double weight = line.at(step) < level ? fp : tp;
      squares.slope += weight * weight * line.slope * line.slope;
      squares.excess += fp * fp + tp * tp;
    }
    // A share of the draws has a standard error of at most one half over the root of their number.
    return {std::sqrt(squares.slope), 0.5 * std::sqrt(squares.excess)};
  }

  // Steps where the slope of AUM lies within +-slope, and thresholds where the level lies then, as
  // far as a sample can tell.
  template <class Lines>
  Box box_by_sample(const Lines& lines, StepRange steps, double slope, double confidence) const {
    const ErrorLines drawn = thinned(lines);
    const double rough = halved(inside_box(drawn, steps, 0.0, confidence), reaches(0.0)).steps.low;
    const SampleError error = sample_error(drawn, rough);
    const double reach = slope + confidence * error.slope;
    const Near near = inside_box(drawn, steps, reach, confidence);
    const auto policy = near.lines.size() > 1000 ? std::launch::async : std::launch::deferred;
    auto task = std::async(policy, [&] { return halved(near, reaches(-reach)).steps.low; });
    const double high = halved(near, reaches(reach)).steps.high;
    return detail::level_box(drawn, {task.get(), high}, confidence * error.excess);
  }

  static auto reaches(double slope) {
    return
        [slope](const ErrorLines& lines, double step) { return slope_after(lines, step) >= slope; };
  }

  // The lines that matter where the slope lies within +-slope, as far as a smaller sample can tell.
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

  // All lines against the box, on two cores if they are many.
  template <class Lines>
  ErrorLines collapsed(const Lines& lines, const Box& box) const {
    const std::size_t half = lines.size() / 2;
    const auto policy = half > 100'000 ? std::launch::async : std::launch::deferred;
    auto task = std::async(policy, [&] { return collapse(lines, 0, half, box); });
    ErrorLines inside = collapse(lines, half, lines.size(), box);
    inside.add_part(task.get());
    return inside;
  }

  Walk walked(Near near) const {
    near.lines.from = near.steps.low;
    sort_lines(near.lines);
    Walk walk;
    const Limits limits{Stop::never, std::numeric_limits<std::uint64_t>::max(), near.steps.high};
    sweep(near.lines, limits, interrupt_, [&](const SweepRow& row) {
      if (!walk.reached && row.aum_slope_after >= 0.0) {
        walk.reached = row;
        walk.slope_before = walk.last.aum_slope_after;
      }
      if (row.aum_slope_after > 0.0) walk.risen = row;
      walk.last = row;
      return !walk.risen;
    });
    return walk;
  }
};

// The first local minimum of AUM, for errors of any kind, by the sweep; nothing else is stored.
inline BestAum first_min_aum(const ErrorLines& lines, double max_step, const Interrupt& interrupt) {
  std::optional<SweepRow> start;  // of a stretch on which AUM does not change, after it fell
  std::optional<SweepRow> rise;
  SweepRow last{};
  double slope_before = 0.0;
  const double end =
      sweep(lines, {Stop::never, std::numeric_limits<std::uint64_t>::max(), max_step}, interrupt,
            [&](const SweepRow& row) {
              if (row.aum_slope_after < 0.0) {
                start.reset();
              } else if (!start) {
                start = row;
                slope_before = last.aum_slope_after;
              }
              if (row.aum_slope_after > 0.0) rise = row;
              last = row;
              return !rise;
            });
  if (!start) {
    const double value = last.aum + last.aum_slope_after * (max_step - last.step);
    return {{max_step, max_step}, max_step, value, last.aum_slope_after, 0.0};
  }
  BestAum best{{start->step, rise ? rise->step : std::min(end, max_step)},
               start->step,
               value_of(*start),
               slope_before,
               rise ? rise->aum_slope_after : 0.0};
  const double middle = StepScale(lines).middle(best.interval);
  if (is_inside(middle, best.interval)) best.step = middle;
  return best;
}

}  // namespace rocpath
