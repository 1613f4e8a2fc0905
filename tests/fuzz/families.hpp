// All families of problems, including those that differ in magnitudes and jumps. A seed and a
// family determine a problem.
#pragma once

#include "shapes.hpp"

namespace fuzz {

namespace detail {

inline void scale(Problem& problem, int intercept_exponent, int slope_exponent) {
  for (double& x : problem.intercept) x = std::ldexp(x, intercept_exponent);
  for (double& x : problem.slope) x = std::ldexp(x, slope_exponent);
}

inline void scales(Problem& problem, Random& random) {
  grid_lines(problem, random, draw_size(random));
  if (random.one_in(3)) divide(problem, 10.0);
  constexpr std::array<int, 3> exponent{-400, 0, 400};
  const auto any = [&] { return exponent[static_cast<std::size_t>(random.from(0, 2))]; };
  const int intercept_exponent = any();
  scale(problem, intercept_exponent, any());
  some_jumps(problem, random);
}

inline void shrink(double& x) { x *= std::numeric_limits<double>::denorm_min(); }

// All values are small multiples of the smallest float64.
inline void denormals(Problem& problem, Random& random) {
  grid_lines(problem, random, draw_size(random));
  for (auto* values : {&problem.intercept, &problem.slope})
    for (double& x : *values) shrink(x);
  some_jumps(problem, random);
}

// Half of the values are small multiples of the smallest float64.
inline void mixed_denormals(Problem& problem, Random& random) {
  grid_lines(problem, random, draw_size(random));
  for (auto* values : {&problem.intercept, &problem.slope})
    for (double& x : *values)
      if (random.one_in(2)) shrink(x);
  some_jumps(problem, random);
}

inline void large_values(Problem& problem, Random& random) {
  const std::size_t n = draw_size(random);
  while (problem.size() < n) add_grid_line(problem, random, 1 << 30);
  some_jumps(problem, random);
}

// Powers of two from 2^-46 to 2^46, so that sums are small relative to their terms.
inline void magnitudes(Problem& problem, Random& random) {
  grid_lines(problem, random, draw_size(random));
  for (auto* values : {&problem.intercept, &problem.slope})
    for (double& x : *values) x = std::ldexp(x, static_cast<int>(random.from(-2, 2)) * 23);
  some_jumps(problem, random);
}

// A product of tens, because std::pow may return other digits on other platforms.
inline double power_of_ten(std::int64_t exponent) {
  double power = 1.0;
  for (std::int64_t k = std::abs(exponent); k > 0; --k)
    power = exponent < 0 ? power / 10.0 : power * 10.0;
  return power;
}

// Powers of ten from 1e-300 to 1e199, the range that the package accepts.
inline void all_magnitudes(Problem& problem, Random& random) {
  grid_lines(problem, random, draw_size(random));
  const std::int64_t reach = random.one_in(2) ? 30 : 300;
  for (auto* values : {&problem.intercept, &problem.slope})
    for (double& x : *values)
      x *= power_of_ten(std::min<std::int64_t>(random.from(-reach, reach), 199));
  some_jumps(problem, random);
}

// One or two lines far beyond the others, like codes for missing values: 1e8 to 3.4e38.
inline void outliers(Problem& problem, Random& random) {
  grid_lines(problem, random, draw_size(random));
  if (random.one_in(3)) divide(problem, static_cast<double>(random.from(3, 10)));
  for (std::int64_t left = random.from(1, 2); left > 0; --left) {
    const auto k = static_cast<std::size_t>(random.from(0, problem.size() - 1));
    const double size = random.one_in(4) ? 3.4e38 : power_of_ten(random.from(8, 30));
    const std::int64_t which = random.from(0, 3);
    if (which != 1) problem.intercept[k] = size * whole_number(random, 2);
    if (which != 2) problem.slope[k] = size * whole_number(random, 2);
  }
  some_jumps(problem, random);
}

// A model of one feature in thirds or tenths whose weight passes zero. Without the rounding of two
// products, all lines would meet there.
inline void slivers(Problem& problem, Random& random) {
  const std::size_t n = draw_size(random);
  const double unit = random.one_in(2) ? 3.0 : 10.0;
  const double weight = whole_number(random, 20) / unit;
  const double change = whole_number(random, 20) / static_cast<double>(random.from(1, 9));
  while (problem.size() < n) {
    const double feature = whole_number(random, 9) / unit;
    const double other = random.one_in(3) ? whole_number(random, 3) : 0.0;
    add_line(problem, -(feature * weight + other), -(feature * change));
  }
  some_jumps(problem, random);
}

// Copies of lines whose jumps cancel completely or in part.
inline void opposite_copies(Problem& problem, Random& random) {
  const std::size_t n = draw_size(random);
  grid_lines(problem, random, (n + 1) / 2);
  do {
    problem.fp_diff.clear();
    problem.fn_diff.clear();
    wild_jumps(problem, random);
  } while (!has_errors(problem));
  for (std::size_t k = 0; problem.size() < n; ++k) {
    add_line(problem, problem.intercept[k], problem.slope[k]);
    const bool is_whole = random.one_in(2);
    problem.fp_diff.push_back(is_whole ? -problem.fp_diff[k] : whole_number(random, 2));
    problem.fn_diff.push_back(is_whole ? -problem.fn_diff[k] : whole_number(random, 2));
  }
  if (!has_errors(problem)) {
    problem.fp_diff[0] += 40.0;
    problem.fn_diff[0] -= 40.0;
  }
}

// Weights from 1e-6 to 1e6, most of which have no common unit.
inline void wild_weights(Problem& problem, Random& random) {
  grid_lines(problem, random, draw_size(random));
  if (random.one_in(2)) divide(problem, 10.0);
  count_jumps(problem, random);
  for (std::size_t k = 0; k < problem.size(); ++k) {
    const double size = power_of_ten(random.from(-6, 6));
    const double weight = size * static_cast<double>(random.from(1, 99)) / 7.0;
    problem.fp_diff[k] *= weight;
    problem.fn_diff[k] *= weight;
  }
}

// Jumps of very different sizes that differ in their last digits, so that their errors almost
// cancel.
inline void uneven_jumps(Problem& problem, Random& random) {
  grid_lines(problem, random, draw_size(random));
  count_jumps(problem, random);
  const std::int64_t reach = random.from(1, 60);
  for (auto* jump : {&problem.fp_diff, &problem.fn_diff})
    for (double& x : *jump) {
      x = std::ldexp(x, -static_cast<int>(random.from(0, reach)));
      if (random.one_in(3)) x *= 1.0 + std::ldexp(1.0, -static_cast<int>(random.from(1, 52)));
    }
}

// Integers next to 2^53, some of which differ by one ulp.
inline void large_neighbors(Problem& problem, Random& random) {
  const std::size_t n = draw_size(random);
  const auto large = [&] {
    const double size = std::ldexp(1.0, 53) * (random.one_in(3) ? 0.7204952 : 1.0);
    const double moved = std::nearbyint(size) + 2.0 * whole_number(random, 2);
    return random.one_in(2) ? -moved : moved;
  };
  while (problem.size() < n) {
    const double intercept = random.one_in(4) ? whole_number(random, 3) : large();
    const double slope = random.one_in(6) ? large() : whole_number(random, 3);
    add_line(problem, intercept, slope);
  }
  some_jumps(problem, random);
}

// Few distinct lines, so that a line has labels of both classes and a border cuts it or its ties.
inline void borders(Problem& problem, Random& random) {
  const auto n = static_cast<std::size_t>(random.from(4, 9));
  const std::int64_t reach = random.from(1, 2);
  while (problem.size() < n) add_grid_line(problem, random, reach);
  random.one_in(2) ? count_jumps(problem, random) : weighted_jumps(problem, random);
}

// Many lines close together, so that the searches split their ranges.
inline void crowds(Problem& problem, Random& random) {
  const auto n = static_cast<std::size_t>(random.from(49, 120));
  if (random.one_in(2)) {
    lines_through(problem, random, n, random.from(1, 3));
  } else {
    const std::int64_t reach = random.from(4, 8);
    while (problem.size() < n) add_grid_line(problem, random, reach);
  }
  some_jumps(problem, random);
}

}  // namespace detail

struct Family {
  std::string_view name;
  Draw draw;
  std::int64_t share;  // relative frequency
};

inline constexpr std::array families{
    Family{"binary", detail::binary, 1000},
    Family{"rates", detail::rates, 1000},
    Family{"weighted", detail::weighted, 1000},
    Family{"several_breakpoints", detail::several_breakpoints, 1000},
    Family{"changepoint_counts", detail::changepoint_counts, 1000},
    Family{"changepoint_rates", detail::changepoint_rates, 1000},
    Family{"wild_signs", detail::wild_signs, 1000},
    Family{"one_point", detail::one_point, 1000},
    Family{"few_points", detail::few_points, 1000},
    Family{"parallel", detail::parallel, 1000},
    Family{"duplicates", detail::duplicates, 1000},
    Family{"tenths", detail::tenths, 1000},
    Family{"thirds", detail::thirds, 1000},
    Family{"near_points", detail::near_points, 1000},
    Family{"scales", detail::scales, 1000},
    Family{"large_values", detail::large_values, 1000},
    Family{"denormals", detail::denormals, 500},
    Family{"mixed_denormals", detail::mixed_denormals, 100},
    Family{"magnitudes", detail::magnitudes, 500},
    Family{"all_magnitudes", detail::all_magnitudes, 200},
    Family{"outliers", detail::outliers, 500},
    Family{"slivers", detail::slivers, 500},
    Family{"opposite_copies", detail::opposite_copies, 500},
    Family{"wild_weights", detail::wild_weights, 500},
    Family{"uneven_jumps", detail::uneven_jumps, 500},
    Family{"large_neighbors", detail::large_neighbors, 500},
    Family{"crowds", detail::crowds, 100},
    Family{"borders", detail::borders, 100},
};

inline Problem make_problem(const Family& family, std::uint64_t seed, Random& random) {
  Problem problem;
  problem.family = family.name;
  problem.seed = seed;
  family.draw(problem, random);
  return problem;
}

}  // namespace fuzz
