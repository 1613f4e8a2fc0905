// Comparison of the sweep and the AUM path with the expected rows.
#pragma once

#include "partial_truth.hpp"
#include "report.hpp"

namespace fuzz {

template <class Int>
class PathCheck {
 public:
  PathCheck(const Expected<Int>& expected, const CoreUnderTest& core, Report& report)
      : expected_(expected), core_(core), report_(report) {}

  void sweep(const SweepLimits& limits) {
    call_ = [&] { return sweep_call(limits); };
    const Sweep got = core_.sweep(limits);
    const std::size_t n_possible = expected_.n_rows_until(limits.max_step);
    const std::size_t n_rows = n_rows_until_stop(limits, n_possible);
    if (got.row.size() != n_rows) {
      fail("sweep rows", expected_steps(n_rows), got_steps(got.row));
      return;
    }
    for (std::size_t k = 0; k < n_rows; ++k) check_row(expected_.rows()[k], got.row[k], k == 0);
    const ExpectedRow& last = expected_.rows()[n_rows - 1];
    double end = n_rows < n_possible || is_stopped(limits, n_rows) ? last.step : limits.max_step;
    if (expected_.after(last).n_converging == 0) end = infinity;
    if (got.end != end) fail("sweep end", text(end), text(got.end));
  }

  // Check the partial areas of all rows. The other columns do not depend on the region.
  template <class Number>
  void partial_sweep(const PartialAreas<Int, Number>& areas) {
    const PartialRates& rates = areas.rates();
    call_ = [&] { return "sweep(lines" + rates_text(rates) + ")"; };
    const Sweep got = core_.sweep({}, rates.max_fpr(), rates.min_tpr());
    const auto& rows = expected_.rows();
    if (got.row.size() != rows.size())
      return fail("partial sweep rows", expected_steps(rows.size()), got_steps(got.row));
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const Area<Number> expected_at = k == 0 ? areas.at(truth().locate(0.0))
                                              : areas.area_between(rows[k].before, rows[k].after);
      check_area("partial sweep auc", rows[k], areas.value(expected_at), got.row[k].auc);
      check_area("partial sweep auc_after", rows[k], areas.value(areas.on_stretch(rows[k].after)),
                 got.row[k].auc_after);
    }
  }

  void aum_path(double max_step) {
    call_ = [&] { return "aum_path(lines" + limit_text("max_step", max_step) + ")"; };
    const std::vector<Kink> got = core_.aum_path(max_step);
    const std::size_t n_rows = expected_.n_rows_until(max_step);
    std::size_t n_seen = 0;
    for (std::size_t k = 0; k < n_rows; ++k) {
      const ExpectedRow& row = expected_.rows()[k];
      if (k > 0 && !expected_.is_kink(row)) continue;
      const bool is_there = n_seen < got.size() && got[n_seen].step == row.step;
      if (!is_there && k > 0 && is_below_rounding(row)) continue;
      if (!is_there) return fail("aum_path steps", expected_kinks(n_rows), got_steps(got));
      const Kink& kink = got[n_seen++];
      if (!expected_.is_aum(kink.aum, row))
        fail("aum_path aum", at(row) + expected_.aum_text(row.step), text(kink.aum));
      if (!expected_.is_slope(kink.aum_slope_after, expected_.after(row)))
        fail("aum_path slope", at(row) + expected_.slope_text(expected_.after(row)),
             text(kink.aum_slope_after));
    }
    if (n_seen != got.size()) fail("aum_path steps", expected_kinks(n_rows), got_steps(got));
  }

  // AUM at the steps of rows and at the float64 numbers next to them.
  void aum_at(double max_step) {
    std::vector<double> steps;
    for (const ExpectedRow& row : expected_.rows())
      for (const double step : {row.step, std::nextafter(row.step, 0.0),
                                std::nextafter(row.step, infinity), 1.5 * row.step})
        if (step <= std::min(max_step, largest)) steps.push_back(step);
    call_ = [&] { return "aum_path(lines).aum_at(" + text_list(steps) + ")"; };
    const std::vector<double> got = core_.aum_at(steps);
    for (std::size_t k = 0; k < steps.size(); ++k)
      if (!expected_.is_aum(got[k], steps[k]))
        return fail("aum_at", expected_.aum_text(steps[k]), text(got[k]));
  }

 private:
  const Expected<Int>& expected_;
  const CoreUnderTest& core_;
  Report& report_;
  CallText call_;

  const BruteForce<Int>& truth() const { return expected_.truth(); }

  void fail(const std::string& what, const std::string& expected, const std::string& got) {
    report_.fail(what, call_(), expected, got);
  }

  // Whether the rule stops the sweep after this many rows.
  bool is_stopped(const SweepLimits& limits, std::size_t n_rows) const {
    const ExpectedRow& row = expected_.rows()[n_rows - 1];
    if (n_rows > limits.max_crossings) return true;
    if (limits.stop == StopRule::first_min_aum) {
      const int sign = truth().slope_sign(row.after);
      return sign > 0 || (sign == 0 && truth().is_monotone());
    }
    if (limits.stop == StopRule::first_max_auc) {
      const Int before = n_rows == 1 ? truth().doubled_auc(truth().locate(0.0))
                                     : expected_.before(row).doubled_auc;
      return expected_.after(row).doubled_auc < before;
    }
    return false;
  }

  std::size_t n_rows_until_stop(const SweepLimits& limits, std::size_t n_possible) const {
    std::size_t n = 1;
    while (n < n_possible && !is_stopped(limits, n)) ++n;
    return n;
  }

  void check_row(const ExpectedRow& row, const Row& got, bool is_start) {
    const auto& after = expected_.after(row);
    if (got.step != row.step) return fail("sweep step", text(row.step), text(got.step));
    if (!expected_.is_aum(got.aum, row))
      fail("sweep aum", at(row) + expected_.aum_text(row.step), text(got.aum));
    if (!expected_.is_slope(got.aum_slope_after, after))
      fail("sweep slope", at(row) + expected_.slope_text(after), text(got.aum_slope_after));
    // All lines that meet in the row count as tied, even if the exact step is not a float64.
    const Int doubled_auc = is_start ? truth().doubled_auc(truth().locate(0.0))
                                     : (expected_.before(row).doubled_auc + after.doubled_auc) / 2;
    if (!expected_.is_auc(got.auc, doubled_auc))
      fail("sweep auc", at(row) + expected_.auc_text(doubled_auc), text(got.auc));
    if (!expected_.is_auc(got.auc_after, after.doubled_auc))
      fail("sweep auc_after", at(row) + expected_.auc_text(after.doubled_auc), text(got.auc_after));
    check_count("sweep queue_size", row, after.n_converging, got.queue_size);
    check_count("sweep n_swaps", row, is_start ? 0 : n_swaps(row), got.n_swaps);
    check_count("sweep n_groups", row, is_start ? 0 : n_groups(row), got.n_groups);
  }

  void check_area(const char* what, const ExpectedRow& row, long double expected, double got) {
    if (!is_near_area(got, expected))
      fail(what, at(row) + text(static_cast<double>(expected)), text(got));
  }

  void check_count(const char* what, const ExpectedRow& row, std::size_t expected,
                   std::uint64_t got) {
    if (expected != got) fail(what, at(row) + std::to_string(expected), std::to_string(got));
  }

  std::size_t first_pair(const ExpectedRow& row) const {
    return truth().points()[row.before].first_pair;
  }
  std::size_t last_pair(const ExpectedRow& row) const {
    return truth().points()[row.after - 1].last_pair;
  }
  std::size_t n_swaps(const ExpectedRow& row) const { return last_pair(row) - first_pair(row); }

  // Lines that exchange places, directly or through others, are one group.
  std::size_t n_groups(const ExpectedRow& row) const {
    std::vector<std::size_t> group(truth().n_lines());
    std::iota(group.begin(), group.end(), std::size_t{0});
    const auto root = [&](std::size_t k) {
      while (group[k] != k) k = group[k] = group[group[k]];
      return k;
    };
    std::size_t n_joined = 0, n_moved = 0;
    std::vector<bool> has_moved(truth().n_lines());
    for (std::size_t k = first_pair(row); k < last_pair(row); ++k) {
      const auto& pair = truth().pairs()[k];
      for (const std::size_t line : {pair.lower, pair.upper})
        if (!has_moved[line]) has_moved[line] = ++n_moved > 0;
      const std::size_t a = root(pair.lower), b = root(pair.upper);
      if (a != b) group[a] = b, ++n_joined;
    }
    return n_moved - n_joined;
  }

  // A kink whose two slopes round to the same float64 need not be listed. Nonzero slopes up to 1.5
  // times the smallest float64 round to the smallest float64.
  bool is_below_rounding(const ExpectedRow& row) const {
    const auto before = truth().slope(expected_.before(row));
    const auto after = truth().slope(expected_.after(row));
    return std::fabs(after - before) <= 0x1p-51L * std::fabs(before) + 1.5L * tiny;
  }

  static std::string at(const ExpectedRow& row) { return "at step " + text(row.step) + ": "; }

  static std::string limit_text(const char* name, double limit) {
    return std::isinf(limit) ? "" : ", " + std::string(name) + "=" + text(limit);
  }
  static std::string sweep_call(const SweepLimits& limits) {
    std::string call = "sweep(lines" + limit_text("max_step", limits.max_step);
    if (limits.stop == StopRule::first_min_aum) call += ", stop='first_min_aum'";
    if (limits.stop == StopRule::first_max_auc) call += ", stop='first_max_auc'";
    if (limits.max_crossings < std::numeric_limits<std::uint64_t>::max())
      call += ", max_crossings=" + std::to_string(limits.max_crossings);
    return call + ")";
  }
  std::string expected_steps(std::size_t n_rows) const {
    std::vector<double> step;
    for (std::size_t k = 0; k < n_rows; ++k) step.push_back(expected_.rows()[k].step);
    return text_list(step);
  }
  std::string expected_kinks(std::size_t n_rows) const {
    std::vector<double> step{0.0};
    for (std::size_t k = 1; k < n_rows; ++k)
      if (expected_.is_kink(expected_.rows()[k])) step.push_back(expected_.rows()[k].step);
    return text_list(step);
  }
  template <class Rows>
  static std::string got_steps(const Rows& rows) {
    std::vector<double> step;
    for (const auto& row : rows) step.push_back(row.step);
    return text_list(step);
  }
};

}  // namespace fuzz
