// Expected results of the core, from brute force: the rows of a path, and the tolerances.
//
// Steps, counts, signs and zeros must be exact, and AUC must be the nearest float64. Values of AUM
// and slopes are float64 and may have a relative error of 2^-50, or an absolute error of 16 times
// the smallest float64.
#pragma once

#include "brute_force.hpp"
#include "core_under_test.hpp"

namespace fuzz {

// Crossings that round to the same float64 share a row. A crossing after step 0 that underflows is
// moved to the smallest float64, so that it remains after 0.
template <class Int>
double row_step(const Fraction<Int>& step) {
  return step.nearest != 0.0 ? step.nearest : sign_of(step.numerator) * tiny;
}

struct ExpectedRow {
  double step = 0.0;
  std::size_t before = 0;  // index of the stretch
  std::size_t after = 0;
};

template <class Int>
class Expected {
 public:
  using Stretch = typename BruteForce<Int>::Stretch;

  explicit Expected(const Problem& problem) : truth_(problem), is_monotone_(problem.is_monotone()) {
    const std::size_t start = truth_.locate(0.0).stretch;
    row_.push_back({0.0, start, start});
    for (std::size_t k = start; k < truth_.points().size(); ++k) {
      const double step = row_step(truth_.points()[k].step);
      if (std::isinf(step)) break;
      if (row_.back().step != step) row_.push_back({step, k, k});
      row_.back().after = k + 1;
    }
  }

  const BruteForce<Int>& truth() const { return truth_; }
  bool is_monotone() const { return is_monotone_; }
  const std::vector<ExpectedRow>& rows() const { return row_; }
  const Stretch& after(const ExpectedRow& row) const { return truth_.stretch(row.after); }
  const Stretch& before(const ExpectedRow& row) const { return truth_.stretch(row.before); }
  bool is_kink(const ExpectedRow& row) const {
    return before(row).aum_slope != after(row).aum_slope;
  }
  std::size_t n_rows_until(double max_step) const {
    std::size_t n = 1;
    while (n < row_.size() && row_[n].step <= max_step) ++n;
    return n;
  }

  // Exact AUM at a float64 step.
  ExactValue exact_aum(double step) const {
    return truth_.exact_aum(truth_.stretch(truth_.locate(step).stretch), step);
  }

  // Whether a result is AUM at this float64 step.
  bool is_aum(double got, double step) const {
    if (std::isnan(got) || (is_monotone_ && got < 0.0)) return false;
    const Stretch& at = truth_.stretch(truth_.locate(step).stretch);
    const long double value = truth_.aum(at, step);
    const long double room = 0x1p-51L * std::fabs(value) - truth_.aum_doubt(at, step);
    if (std::fabs(got - value) <= room) return true;
    const ExactValue exact = truth_.exact_aum(at, step);
    if (std::isinf(got)) return got > 0.0 ? exact.is_at_least(largest) : exact.is_at_most(-largest);
    return exact.is_at_most(got) && exact.is_at_least(got);
  }

  // Whether a result is AUM at a row: between its crossings, or between these and their float64
  // step.
  bool is_aum(double got, const ExpectedRow& row) const {
    if (is_aum(got, row.step)) return true;
    if (!std::isfinite(got) || (is_monotone_ && got < 0.0)) return false;
    const ExactValue at_step = exact_aum(row.step);
    bool is_above = at_step.is_at_most(got), is_below = at_step.is_at_least(got);
    for (std::size_t k = row.before; k < row.after; ++k) {
      const ExactValue at_point = truth_.exact_aum_at_point(k);
      is_above = is_above || at_point.is_at_most(got);
      is_below = is_below || at_point.is_at_least(got);
    }
    return is_above && is_below;
  }

  bool is_slope(double got, const Stretch& at) const {
    const long double value = truth_.slope(at);
    if (sign_of(at.aum_slope) != (got > 0.0) - (got < 0.0)) return false;
    if (std::fabs(got - value) <= 0x1p-51L * std::fabs(value)) return true;
    const ExactValue exact = truth_.exact_slope(at);
    return exact.is_at_most(got) && exact.is_at_least(got);
  }

  long double auc(const Int& doubled) const {
    const Rounded top = rounded(doubled), bottom = rounded(truth_.doubled_perfect_auc());
    return std::ldexp(top.digits / bottom.digits, top.exponent - bottom.exponent);
  }
  bool is_auc(double got, const Int& doubled) const {
    // AUC is rounded once, so it is the nearest float64.
    Fraction<Int> ratio{doubled, truth_.doubled_perfect_auc()};
    ratio.round(0);
    return got == ratio.nearest;
  }

  std::string aum_text(double step) const {
    const auto& at = truth_.stretch(truth_.locate(step).stretch);
    return "about " + text(static_cast<double>(truth_.aum(at, step))) + " at step " + text(step);
  }
  std::string slope_text(const Stretch& at) const {
    return text(static_cast<double>(truth_.slope(at)));
  }
  std::string auc_text(const Int& doubled) const { return text(static_cast<double>(auc(doubled))); }

 private:
  BruteForce<Int> truth_;
  bool is_monotone_;
  std::vector<ExpectedRow> row_;
};

}  // namespace fuzz
