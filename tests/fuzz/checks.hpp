// All checks of one problem: every search is called with random arguments.
#pragma once

#include "check_best.hpp"
#include "check_paths.hpp"
#include "check_roc.hpp"
#include "families.hpp"

namespace fuzz {

namespace detail {

// With more lines, only the paths and the best AUM step are checked, because the other checks are
// slow.
constexpr std::size_t few_lines = 9;

// Half of the problems have no limit. Otherwise it is at a crossing, next to one, or anywhere.
template <class Int>
double draw_max_step(const Expected<Int>& expected, Random& random) {
  if (random.one_in(2)) return infinity;
  const auto& rows = expected.rows();
  const double step = rows[static_cast<std::size_t>(random.from(0, rows.size() - 1))].step;
  switch (random.from(0, 3)) {
    case 0:
      return std::max(0.0, std::nextafter(step, -infinity));
    case 1:
      return std::min(largest, std::nextafter(step, infinity));
    case 2:
      return static_cast<double>(random.from(0, 16)) / 8.0;
    default:
      return step;
  }
}

inline SweepLimits draw_limits(double max_step, Random& random) {
  SweepLimits limits{.max_step = max_step};
  limits.stop = static_cast<StopRule>(random.from(0, 2));
  if (random.one_in(3)) limits.max_crossings = static_cast<std::uint64_t>(random.from(0, 8));
  return limits;
}

// Draw one or both borders of a region as fractions of small integers.
inline PartialRates draw_rates(const CoreUnderTest& core, Random& random) {
  constexpr std::array<std::int64_t, 7> denominators{2, 3, 4, 5, 8, 10, 20};
  PartialRates rates;
  rates.denominator = denominators[static_cast<std::size_t>(random.from(0, 6))];
  if (!core.holds_shares(rates.denominator)) rates.denominator = 2;
  rates.fpr_numerator = random.from(1, rates.denominator);
  if (rates.fpr_numerator == rates.denominator || random.one_in(3))
    rates.tpr_numerator = random.from(1, rates.denominator - 1);
  return rates;
}

template <class Int>
void check_with(const Problem& problem, Random& random, Report& report) {
  const Expected<Int> expected(problem);
  const CoreUnderTest core(problem);
  const double max_step = draw_max_step(expected, random);
  PathCheck<Int> paths(expected, core, report);
  paths.sweep({});
  if (random.one_in(4)) paths.sweep(draw_limits(max_step, random));
  paths.aum_path(max_step);
  if (random.one_in(8)) paths.aum_at(max_step);
  BestCheck<Int> best(expected, core, report);
  best.best_aum_step(max_step);
  if (problem.size() > few_lines) return;
  const bool is_two_sided = random.one_in(3);
  const double tolerance = random.one_in(4) ? static_cast<double>(random.from(1, 8)) / 16.0 : 0.0;
  best.best_auc_step({is_two_sided ? -max_step : 0.0, max_step}, tolerance);
  if (random.one_in(4))
    check_aum_and_auc(problem, expected, CoreUnderTest::aum(problem), CoreUnderTest::auc(problem),
                      report);
  if (random.one_in(16))
    check_derivatives<Int>(problem, CoreUnderTest::aum_derivatives(problem), report);
  if (random.one_in(32)) check_predictions(problem, random, report);
  if (!problem.is_monotone() || !core.holds_shares(2)) return;
  // The checks of partial AUC take twice as long as all others together.
  if (problem.family != "borders" && !random.one_in(40)) return;
  const PartialRates rates = draw_rates(core, random);
  const auto check_part = [&]<class Number>(const PartialAreas<Int, Number>& areas) {
    paths.partial_sweep(areas);
    best.best_auc_step({is_two_sided ? -max_step : 0.0, max_step}, tolerance / 8.0, areas);
  };
  if (are_areas_narrow(problem, rates))
    check_part(PartialAreas<Int, Narrow>(expected.truth(), rates));
  else
    check_part(PartialAreas<Int, Wide>(expected.truth(), rates));
}

}  // namespace detail

// Whether jumps have too many digits: 61 or more below their sum.
inline bool is_uneven(const std::vector<double>& jump) {
  BitRange digits;
  digits.add(jump);
  Wide sum = 0;
  for (const double x : jump) sum += boost::multiprecision::abs(whole<Wide>(x, digits.exponent()));
  return bit_length(sum) >= 61;
}

inline void check(const Problem& problem, Random& random, Report& report) {
  report.begin(problem);
  for (const auto* jump : {&problem.fp_diff, &problem.fn_diff}) {
    if (CoreUnderTest::holds(*jump)) continue;
    if (is_uneven(*jump)) return report.skip();
    report.fail("jumps rounded", "lines", "exact jumps", "rounded ones");
  }
  if (is_narrow(problem))
    detail::check_with<Narrow>(problem, random, report);
  else
    detail::check_with<Wide>(problem, random, report);
  report.end();
}

}  // namespace fuzz
