// Families of problems that differ in the arrangement of their lines, most of them with many ties.
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "jumps.hpp"

namespace fuzz {

namespace detail {

inline std::int64_t small_reach(Random& random) {
  constexpr std::array<std::int64_t, 6> reach{1, 2, 3, 5, 8, 20};
  return reach[static_cast<std::size_t>(random.from(0, 5))];
}

inline void add_line(Problem& problem, double intercept, double slope) {
  problem.example.push_back(static_cast<std::int64_t>(problem.size()));
  problem.intercept.push_back(intercept);
  problem.slope.push_back(slope);
}

// The order in which arguments of a call are evaluated depends on the compiler, so they are drawn
// one at a time.
inline void add_grid_line(Problem& problem, Random& random, std::int64_t reach) {
  const double intercept = whole_number(random, reach);
  const double slope = whole_number(random, reach);
  add_line(problem, intercept, slope);
}

inline void grid_lines(Problem& problem, Random& random, std::size_t n) {
  const std::int64_t reach = small_reach(random);
  while (problem.size() < n) add_grid_line(problem, random, reach);
}

// The number of lines: usually 2 to 9, and sometimes up to 60, for the paths and the best AUM step.
inline std::size_t draw_size(Random& random) {
  if (random.one_in(400)) return static_cast<std::size_t>(random.from(10, 60));
  return static_cast<std::size_t>(random.from(2, 9));
}

inline void binary(Problem& problem, Random& random) {
  grid_lines(problem, random, draw_size(random));
  count_jumps(problem, random);
}

// Jumps k / F and j / T, with F and T the numbers of negatives and positives, as k T and j F.
inline void rates(Problem& problem, Random& random) {
  grid_lines(problem, random, draw_size(random));
  count_jumps(problem, random);
  double n_negative = 0.0;
  for (const double fp : problem.fp_diff) n_negative += fp;
  const double n_positive = static_cast<double>(problem.size()) - n_negative;
  for (double& fp : problem.fp_diff) fp *= n_positive;
  for (double& fn : problem.fn_diff) fn *= n_negative;
  problem.divisor = n_positive * n_negative;
}

inline void weighted(Problem& problem, Random& random) {
  grid_lines(problem, random, draw_size(random));
  weighted_jumps(problem, random);
}

inline void wild_signs(Problem& problem, Random& random) {
  grid_lines(problem, random, draw_size(random));
  wild_jumps(problem, random);
}

// Examples with several breakpoints each: parallel lines at different values.
inline void example_lines(Problem& problem, Random& random) {
  const std::size_t n = draw_size(random);
  const std::int64_t reach = small_reach(random);
  for (std::int64_t example = 0; problem.size() < n; ++example) {
    const double slope = whole_number(random, reach);
    double intercept = whole_number(random, reach);
    for (std::int64_t left = random.from(1, 4); left > 0 && problem.size() < n; --left) {
      add_line(problem, intercept, slope);
      problem.example.back() = example;
      intercept += static_cast<double>(random.from(1, 3));
    }
  }
}

inline void several_breakpoints(Problem& problem, Random& random) {
  example_lines(problem, random);
  random.one_in(2) ? count_jumps(problem, random) : weighted_jumps(problem, random);
}

inline void changepoint_counts(Problem& problem, Random& random) {
  example_lines(problem, random);
  do changepoint_jumps(problem, random, 1.0, 1.0);
  while (!has_errors(problem));
}

inline void changepoint_rates(Problem& problem, Random& random) {
  example_lines(problem, random);
  const double fp_unit = 1.0 / static_cast<double>(random.from(2, 12));
  const double fn_unit = 1.0 / static_cast<double>(random.from(2, 12));
  do changepoint_jumps(problem, random, fp_unit, fn_unit);
  while (!has_errors(problem));
}

// Lines through few points (s, t), whose step is a fraction of small numbers.
inline void lines_through(Problem& problem, Random& random, std::size_t n, std::int64_t n_points) {
  struct Through {
    double rise, run, level;  // the step is rise / run
  };
  std::array<Through, 3> points;
  for (Through& point : points) {  // members in braces are evaluated in order
    point = Through{static_cast<double>(random.from(-2, 9)), static_cast<double>(random.from(1, 7)),
                    whole_number(random, 4)};
  }
  while (problem.size() < n) {
    const Through& point = points[static_cast<std::size_t>(random.from(0, n_points - 1))];
    const double k = whole_number(random, 12);
    add_line(problem, point.level - point.rise * k, point.run * k);
  }
}

inline void one_point(Problem& problem, Random& random) {
  lines_through(problem, random, draw_size(random), 1);
  some_jumps(problem, random);
}

inline void few_points(Problem& problem, Random& random) {
  lines_through(problem, random, draw_size(random), 3);
  some_jumps(problem, random);
}

inline void parallel(Problem& problem, Random& random) {
  const std::size_t n = draw_size(random);
  const std::array<double, 2> slope{whole_number(random, 3), whole_number(random, 3)};
  while (problem.size() < n) {
    const double intercept = whole_number(random, 6);
    add_line(problem, intercept, slope[static_cast<std::size_t>(random.from(0, 1))]);
  }
  some_jumps(problem, random);
}

inline void duplicates(Problem& problem, Random& random) {
  const std::size_t n = draw_size(random);
  grid_lines(problem, random, 2);
  while (problem.size() < n) {
    const auto k = static_cast<std::size_t>(random.from(0, problem.size() - 1));
    if (random.one_in(3))
      add_grid_line(problem, random, 3);
    else
      add_line(problem, problem.intercept[k], problem.slope[k]);
  }
  some_jumps(problem, random);
}

inline void divide(Problem& problem, double by) {
  for (auto* values : {&problem.intercept, &problem.slope})
    for (double& x : *values) x /= by;
}

inline void tenths(Problem& problem, Random& random) {
  grid_lines(problem, random, draw_size(random));
  divide(problem, 10.0);
  some_jumps(problem, random);
}

inline void thirds(Problem& problem, Random& random) {
  grid_lines(problem, random, draw_size(random));
  divide(problem, static_cast<double>(random.from(3, 49)));
  some_jumps(problem, random);
}

// Ties, except that the last digit of some numbers is changed.
inline void nudge(Problem& problem, Random& random) {
  for (auto* values : {&problem.intercept, &problem.slope})
    for (double& x : *values)
      if (x != 0.0 && random.one_in(3))
        x = std::nextafter(x, random.one_in(2) ? 0.0 : std::numeric_limits<double>::infinity());
}

inline void near_points(Problem& problem, Random& random) {
  const std::size_t n = draw_size(random);
  lines_through(problem, random, n, random.from(1, 3));
  if (random.one_in(2)) divide(problem, 10.0);
  nudge(problem, random);
  some_jumps(problem, random);
}

}  // namespace detail

}  // namespace fuzz
