// AUM at given steps, and the best float64 step at a minimum of AUM, for the rows of a path.
//
// Rows contain the float64 steps nearest to crossings, so AUM between them cannot be interpolated
// exactly. Here it is computed from the lines near the level. Time O(B log k) for AUM of labels at
// k steps, and O(B) for one minimum.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "aum/near_level.hpp"
#include "sweep/aum_of_order.hpp"
#include "sweep/first_min.hpp"

namespace rocpath {

namespace detail {

// The steps are sorted. They are halved, and in each half only the lines near the level are kept.
inline void aum_at_sorted(const ErrorLines& lines, bool is_monotone, std::span<const double> step,
                          std::span<double> aum) {
  constexpr std::size_t few = 16;
  if (step.size() == 1 || lines.size() <= few) {
    for (std::size_t k = 0; k < step.size(); ++k) aum[k] = aum_at(lines, step[k]);
    return;
  }
  const std::size_t half = step.size() / 2;
  for (const auto& [begin, n] : {std::pair(std::size_t{0}, half), {half, step.size() - half}}) {
    const std::span<const double> some = step.subspan(begin, n);
    const ErrorLines near = near_level(lines, {some.front(), some.back()}, is_monotone);
    aum_at_sorted(near, is_monotone, some, aum.subspan(begin, n));
  }
}

}  // namespace detail

// AUM of the lines at each of some finite float64 steps, in any order.
inline Vector<double> aum_at_steps(const ErrorLines& lines, std::span<const double> step) {
  Vector<double> result(step.size());
  if (step.empty()) return result;
  const Vector<std::uint32_t> order = sorted_order(step);
  Vector<double> sorted(step.size());
  for (std::size_t k = 0; k < order.size(); ++k) sorted[k] = step[order[k]];
  const Vector<double> aum = with_certain_sums(lines, [&](const ErrorLines& some) {
    Vector<double> at(sorted.size());
    detail::aum_at_sorted(some, some.is_monotone(), sorted, at);
    return at;
  });
  for (std::size_t k = 0; k < order.size(); ++k) result[order[k]] = aum[k];
  return result;
}

// slope * s + curvature * s^2 / 2, added to AUM.
struct QuadraticTerm {
  double slope = 0.0;
  double curvature = 0.0;

  double at(double step) const { return step * (slope + 0.5 * step * curvature); }
  // The value at a step minus that at another one.
  double difference(double step, double other) const {
    return (step - other) * (slope + curvature * (0.5 * step + 0.5 * other));
  }
};

// The best float64 step of a minimum of AUM plus a quadratic term. The minimum is at the steps of a
// range or, if no float64 is inside, next to it. Requires: a minimum there, up to rounding.
inline BestAUM minimum_near(const ErrorLines& lines, StepRange steps, double max_step,
                            const QuadraticTerm& added) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const StepRange around{std::nextafter(steps.low, 0.0),
                         std::min(std::nextafter(steps.high, infinity), max_step)};
  return with_certain_sums(lines, [&](const ErrorLines& all) {
    const ErrorLines near = near_level(all, around, all.is_monotone());
    return best_float64(
        steps, max_step, StepScale(all),
        [&](double step) { return aum_at(near, step) + added.at(step); },
        [&](double step, double other) {
          // Multiplied by the divisor, since a division may underflow.
          const double change = near.divisor * added.difference(step, other);
          return aum_difference(near, step, other) + change < 0.0;
        });
  });
}

}  // namespace rocpath
