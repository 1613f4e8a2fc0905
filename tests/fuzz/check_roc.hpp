// Comparison of AUM, AUC and the one-sided derivatives at step 0 with brute force.
#pragma once

#include "expected.hpp"
#include "jumps.hpp"
#include "report.hpp"

namespace fuzz {

// The area below |min(FP, FN)| at step 0: AUM itself, unless errors may be negative.
inline long double area_without_signs(const Problem& problem) {
  std::vector<std::size_t> order(problem.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return problem.intercept[a] < problem.intercept[b];
  });
  long double fp = 0.0L, fn = 0.0L, area = 0.0L;
  for (const double jump : problem.fn_diff) fn -= jump;
  for (std::size_t rank = 0; rank + 1 < order.size(); ++rank) {
    fp += problem.fp_diff[order[rank]];
    fn += problem.fn_diff[order[rank]];
    const long double low = problem.intercept[order[rank]];
    area += std::fabs(std::min(fp, fn)) * (problem.intercept[order[rank + 1]] - low);
  }
  return area / problem.divisor;
}

// The expected results are those of the lines whose intercepts are the thresholds; `aum` and `auc`
// are those of the core.
template <class Int>
void check_aum_and_auc(const Problem& problem, const Expected<Int>& expected, double aum,
                       double auc, Report& report) {
  const auto& truth = expected.truth();
  const Location start = truth.locate(0.0);
  const auto& stretch = truth.stretch(start.stretch);
  const long double exact = truth.aum(stretch, 0.0);
  // The error of a sum of rounded terms is relative to the sum of their absolute values.
  if (std::fabs(aum - exact) > 0x1p-48L * area_without_signs(problem) + 16.0L * tiny ||
      (expected.is_monotone() && aum < 0.0))
    report.fail("aum", "aum(bp, zeros), breakpoints at the intercepts", expected.aum_text(0.0),
                text(aum));
  if (!expected.is_auc(auc, truth.doubled_auc(start)))
    report.fail("auc", "auc(bp, zeros), breakpoints at the intercepts",
                expected.auc_text(truth.doubled_auc(start)), text(auc));
}

// The derivative with respect to a prediction is the slope of AUM if only the lines of its example
// move.
template <class Int>
void check_derivatives(const Problem& problem, const Derivatives& got, Report& report) {
  long double size = 0.0L;
  for (std::size_t k = 0; k < problem.size(); ++k)
    size += (std::fabs(problem.fp_diff[k]) + std::fabs(problem.fn_diff[k])) / problem.divisor;
  for (std::size_t example = 0; example < got.left.size(); ++example)
    for (const bool is_left : {true, false}) {
      Problem moved = problem;
      const double sign = is_left ? -1.0 : 1.0;
      for (std::size_t k = 0; k < problem.size(); ++k)
        moved.slope[k] = problem.example[k] == static_cast<std::int64_t>(example) ? -sign : 0.0;
      const BruteForce<Int> truth(moved);
      const auto& after = truth.stretch(truth.locate(0.0).stretch);
      const long double exact = sign * truth.slope(after);
      const double one = is_left ? got.left[example] : got.right[example];
      if (std::fabs(one - exact) > 0x1p-49L * size)
        report.fail(is_left ? "left derivative" : "right derivative",
                    "aum_derivatives(bp, zeros), example " + std::to_string(example),
                    text(static_cast<double>(exact)), text(one));
    }
}

// A threshold is a value minus a prediction, rounded once. Areas, derivatives and lines must use
// the same number, so that thresholds that are tied after rounding are tied for all of them.
template <class Int>
void check_rounded(const Problem& problem, const Problem& rounded,
                   const std::vector<double>& prediction, Report& report) {
  if (CoreUnderTest::intercepts(problem, prediction) != rounded.intercept)
    report.fail("intercepts", "Lines.from_predictions(bp, " + text_list(prediction) + ", zeros)",
                text_list(rounded.intercept),
                text_list(CoreUnderTest::intercepts(problem, prediction)));
  check_aum_and_auc(rounded, Expected<Int>(rounded), CoreUnderTest::aum(problem, prediction),
                    CoreUnderTest::auc(problem, prediction), report);
  check_derivatives<Int>(rounded, CoreUnderTest::aum_derivatives(problem, prediction), report);
}

// Predictions in tenths, like most thresholds of the problems with many ties.
inline void check_predictions(const Problem& problem, Random& random, Report& report) {
  std::vector<double> prediction(static_cast<std::size_t>(problem.example.back()) + 1);
  for (double& x : prediction) x = static_cast<double>(random.from(-9, 9)) / 10.0;
  Problem rounded = problem;
  for (std::size_t k = 0; k < problem.size(); ++k)
    rounded.intercept[k] -= prediction[static_cast<std::size_t>(problem.example[k])];
  if (is_narrow(rounded))
    check_rounded<Narrow>(problem, rounded, prediction, report);
  else
    check_rounded<Wide>(problem, rounded, prediction, report);
}

}  // namespace fuzz
