// What is expected of the core, from the brute force: rows of a path, and how near is near enough.
//
// Steps, counts, signs and zeros must be exact. Values of AUM, AUC and slopes are float64 and may
// be off by a few units in their last place, and by 2^-85 of the largest sum they came from.
#pragma once

#include "brute_force.hpp"
#include "core_under_test.hpp"

namespace fuzz {

// Crossings that round to one float64 share a row. One after step 0 that underflows is put at the
// smallest float64, so that it stays after 0.
template <class Int>
double row_step(const Fraction<Int>& step) {
  return step.nearest != 0.0 ? step.nearest : sign_of(step.numerator) * tiny;
}

struct ExpectedRow {
  double step = 0.0;
  std::size_t before = 0;  // stretches
  std::size_t after = 0;
};

template <class Int>
class Expected {
 public:
  using Stretch = typename BruteForce<Int>::Stretch;
  // Terms of a sum may be off by the smallest unit, each.
  static constexpr double underflow = 16 * tiny;

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

  // Is it AUM at a step of this stretch?
  bool is_aum(double got, const Stretch& at, double step) const {
    if (is_monotone_ && !(got >= 0.0)) return false;
    if (got == 0.0 && truth_.aum_sign(at, step) == 0) return true;
    const long double value = truth_.template aum<long double>(at, step);
    const long double size = truth_.aum_size(step);
    if (is_near(got, value, size, 0x1p-62L * size)) return is_zero_right(got, value, at, step);
    const auto exact = truth_.template aum<__float128>(at, step);
    const auto difference = static_cast<long double>(exact - static_cast<__float128>(got));
    return is_near(0.0, difference, size, 0.0L, static_cast<long double>(exact)) &&
           is_zero_right(got, value, at, step);
  }

  // AUM at a row, whose float64 step may lie on either side of the exact one: that of a stretch
  // next to it, where that is not below zero.
  bool is_aum(double got, const ExpectedRow& row) const {
    for (std::size_t k = row.before; k <= row.after; ++k) {
      const Stretch& at = truth_.stretch(k);
      if (is_aum(got, at, row.step)) return true;
      if (truth_.is_monotone() && got == 0.0 && truth_.aum_sign(at, row.step) <= 0) return true;
    }
    return false;
  }

  // AUM at the last step, carried on from a row, and so to the last digits of AUM there.
  bool is_aum_after(double got, const ExpectedRow& row, double step) const {
    if (is_monotone_ && got < 0.0) return false;
    const auto aum = [&](const Stretch& at, double s) {
      return static_cast<long double>(truth_.template aum<__float128>(at, s));
    };
    const long double value = aum(after(row), step);
    const long double next = aum(after(row), row.step);
    long double largest_size = std::max(std::fabs(value), std::fabs(next));
    long double largest_gap = 0.0L;
    for (std::size_t k = row.before; k < row.after; ++k) {
      const long double here = aum(truth_.stretch(k), row.step);
      largest_size = std::max(largest_size, std::fabs(here));
      largest_gap = std::max(largest_gap, std::fabs(here - next));
    }
    const long double room =
        largest_gap + 0x1p-49L * largest_size + 0x1p-85L * truth_.aum_size(step) + underflow;
    return std::fabs(got - value) <= room;
  }

  bool is_slope(double got, const Stretch& at) const {
    const long double value = truth_.template slope<long double>(at);
    if (std::fabs(value) >= underflow && sign_of(at.aum_slope) != (got > 0.0) - (got < 0.0))
      return false;
    return is_near(got, value, truth_.slope_size(), 0.0L);
  }

  long double auc(const Int& doubled) const {
    const Rounded top = rounded(doubled), bottom = rounded(truth_.doubled_perfect_auc());
    return std::ldexp(top.digits / bottom.digits, top.exponent - bottom.exponent);
  }
  bool is_auc(double got, const Int& doubled) const {
    const long double value = auc(doubled);
    return std::fabs(got - value) <= 0x1p-51L * std::fabs(value);
  }

  std::string aum_text(const Stretch& at, double step) const {
    return text(static_cast<double>(truth_.template aum<__float128>(at, step)));
  }
  std::string aum_text(const ExpectedRow& row) const {
    return aum_text(truth_.stretch(truth_.locate(row.step).stretch), row.step);
  }
  std::string slope_text(const Stretch& at) const {
    return text(static_cast<double>(truth_.template slope<long double>(at)));
  }
  std::string auc_text(const Int& doubled) const { return text(static_cast<double>(auc(doubled))); }

 private:
  BruteForce<Int> truth_;
  bool is_monotone_;
  std::vector<ExpectedRow> row_;

  // `doubt` is by how much `value` itself may be off.
  static bool is_near(double got, long double value, long double size, long double doubt,
                      long double scale) {
    const long double room = 0x1p-51L * std::fabs(scale) + 0x1p-85L * size + underflow;
    return std::fabs(got - value) + doubt <= room;
  }
  static bool is_near(double got, long double value, long double size, long double doubt) {
    return is_near(got, value, size, doubt, value);
  }

  // Zero is zero; so may be what is lost beside the terms it is the sum of.
  bool is_zero_right(double got, long double value, const Stretch& at, double step) const {
    if (std::fabs(got) <= underflow || std::fabs(value) > 0x1p-40L * truth_.aum_size(step))
      return true;
    return truth_.aum_sign(at, step) != 0;
  }
};

}  // namespace fuzz
