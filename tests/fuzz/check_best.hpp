// Comparison of the best steps with the expected ones.
#pragma once

#include "partial_truth.hpp"
#include "report.hpp"

namespace fuzz {

struct Domain {
  double low, high;

  bool holds(double step) const { return low <= step && step <= high; }
};

template <class Int>
class BestCheck {
 public:
  BestCheck(const Expected<Int>& expected, const CoreUnderTest& core, Report& report)
      : expected_(expected), truth_(expected.truth()), core_(core), report_(report) {}

  // The first minimum, which for monotone errors is the global one, at a float64 step. The best of
  // the float64 steps next to it must be returned, with AUM at exactly that step. AUM of
  // non-monotone errors may decrease at all steps.
  void best_aum_step(double max_step) {
    call_ = [&] { return "best_aum_step(lines" + limit_text(max_step) + ")"; };
    const Best got = core_.best_aum_step(max_step);
    const auto& rows = expected_.rows();
    const std::size_t n_rows = expected_.n_rows_until(max_step);
    std::size_t rise = 0;
    while (rise < n_rows && truth_.slope_sign(rows[rise].after) <= 0) ++rise;
    std::size_t start = rise;
    while (start > 0 && truth_.slope_sign(rows[start - 1].after) == 0) --start;
    // If AUM never stops decreasing, it is smallest at the last step: `max_step` or the largest
    // float64.
    const double last = std::min(max_step, largest);
    const double low = start < n_rows ? rows[start].step : last;
    const double high = rise < n_rows ? rows[rise].step : start < n_rows ? max_step : last;
    check_best_aum({low, high}, max_step, got);
    // A path finds its minima from its rows.
    call_ = [&] { return "aum_path(lines" + limit_text(max_step) + ").first_min"; };
    check_best_aum({low, high}, max_step, core_.minimum_near(low, high, max_step));
  }

  void check_best_aum(Domain minimum, double max_step, const Best& got) {
    const auto [low, high] = minimum;
    if (std::nextafter(low, infinity) < high) {
      check_interval("best_aum_step", {low, high}, got);
    } else {
      check_interval("best_aum_step", {got.step, got.step}, got);
      check_best_of_neighbors({low, high}, max_step, got);
    }
    if (!(0.0 <= got.step && got.step <= std::min(max_step, largest)))
      return fail("best_aum_step step outside", "0 to " + text(max_step), text(got.step));
    if (!expected_.is_aum(got.value, got.step))
      fail("best_aum_step value", expected_.aum_text(got.step), text(got.value));
  }

  void best_auc_step(Domain domain, double tolerance) {
    call_ = [&] { return auc_call(domain, tolerance) + ")"; };
    check_best(WholeAreas<Int>(expected_), domain, tolerance,
               core_.best_auc_step(domain.low, domain.high, tolerance));
  }

  template <class Number>
  void best_auc_step(Domain domain, double tolerance, const PartialAreas<Int, Number>& areas) {
    const PartialRates& rates = areas.rates();
    call_ = [&] { return auc_call(domain, tolerance) + rates_text(rates) + ")"; };
    check_best(
        areas, domain, tolerance,
        core_.best_auc_step(domain.low, domain.high, tolerance, rates.max_fpr(), rates.min_tpr()));
  }

 private:
  const Expected<Int>& expected_;
  const BruteForce<Int>& truth_;
  const CoreUnderTest& core_;
  Report& report_;
  CallText call_;

  void fail(const std::string& what, const std::string& expected, const std::string& got) {
    report_.fail(what, call_(), expected, got);
  }
  static std::string limit_text(double max_step) {
    return std::isinf(max_step) ? "" : ", max_step=" + text(max_step);
  }
  static std::string auc_call(Domain domain, double tolerance) {
    return "best_auc_step(lines" + limit_text(domain.high) +
           (domain.low < 0.0 ? ", two_sided=True" : "") +
           (tolerance > 0.0 ? ", tol=" + text(tolerance) : "");
  }
  static std::string interval_text(Domain interval) {
    return "(" + text(interval.low) + ", " + text(interval.high) + ")";
  }

  // No float64 next to the minimum, and for convex AUM none at all, may have a smaller AUM, and no
  // earlier one next to it may have the same AUM.
  void check_best_of_neighbors(Domain at, double max_step, const Best& got) {
    std::vector<double> steps{at.low, at.high, std::nextafter(at.low, -infinity),
                              std::nextafter(at.high, infinity)};
    if (std::find(steps.begin(), steps.end(), got.step) == steps.end())
      fail("best_aum_step step", "next to " + interval_text(at), text(got.step));
    for (const double step : steps)
      if (step < got.step && step >= 0.0 && compare_aum(step, got.step) == 0)
        fail("best_aum_step first step", text(step), text(got.step));
    if (expected_.is_monotone())
      for (const ExpectedRow& row : expected_.rows()) steps.push_back(row.step);
    for (const double step : steps)
      if (step >= 0.0 && step <= std::min(max_step, largest) && compare_aum(step, got.step) < 0)
        return fail("best_aum_step of all float64 steps", expected_.aum_text(step),
                    expected_.aum_text(got.step));
  }

  // Sign of the exact difference AUM(step) - AUM(other).
  int compare_aum(double step, double other) const {
    const auto& at = truth_.stretch(truth_.locate(step).stretch);
    const auto& there = truth_.stretch(truth_.locate(other).stretch);
    const long double difference = truth_.aum(at, step) - truth_.aum(there, other);
    const long double doubt = truth_.aum_doubt(at, step) + truth_.aum_doubt(there, other);
    if (std::fabs(difference) > doubt) return difference < 0.0L ? -1 : 1;
    ExactValue exact = truth_.exact_aum(at, step);
    const ExactValue less = truth_.exact_aum(there, other);
    exact.add(-less.numerator, less.exponent);
    return exact.sign();
  }

  void check_interval(const std::string& search, Domain expected, const Best& got) {
    if (got.low != expected.low || got.high != expected.high)
      fail(search + " interval", interval_text(expected), interval_text({got.low, got.high}));
    check_inside(search, got);
  }

  void check_inside(const std::string& search, const Best& got) {
    const bool has_inside = std::nextafter(got.low, infinity) < got.high;
    const bool is_right = has_inside ? got.low < got.step && got.step < got.high
                                     : got.low <= got.step && got.step <= got.high;
    if (!is_right)
      fail(search + " step", "inside " + interval_text({got.low, got.high}), text(got.step));
  }

  // The float64 steps of a stretch within the domain, if the first is not after the last.
  Domain steps_of(std::size_t stretch, Domain domain) const {
    const auto& points = truth_.points();
    double low = -largest, high = largest;
    if (stretch > 0) low = points[stretch - 1].step.above();
    if (stretch < points.size()) {
      const Fraction<Int>& end = points[stretch].step;
      high = end.is_float ? std::nextafter(end.below, -infinity) : end.below;
    }
    return {std::max({low, domain.low, -largest}), std::min({high, domain.high, largest})};
  }
  bool has_steps(std::size_t stretch, Domain domain) const {
    const Domain steps = steps_of(stretch, domain);
    return steps.low <= steps.high;
  }
  bool is_step(std::size_t point, Domain domain) const {
    const Fraction<Int>& step = truth_.points()[point].step;
    return step.is_float && domain.holds(step.below);
  }

  template <class Areas>
  void check_best(const Areas& areas, Domain domain, double tolerance, const Best& got) {
    if (!std::isfinite(got.step) || !domain.holds(got.step))
      return fail("best_auc_step step outside", text(domain.low) + " to " + text(domain.high),
                  text(got.step));
    const auto best = largest_auc(areas, domain);
    const Location at = truth_.locate(got.step);
    const auto there = areas.at(at);
    const long double value = areas.value(there);
    if (!is_near_area(got.value, value))
      fail("best_auc_step value at its step", text(static_cast<double>(value)), text(got.value));
    if (tolerance == 0.0 && there != best && areas.value(best) - value > partial_unit)
      fail("best_auc_step value", text(static_cast<double>(areas.value(best))), text(got.value));
    check_bound(areas.value(best), tolerance, got);
    check_plateau(areas, domain, at, there, got);
  }

  // The largest AUC over all float64 steps in the domain.
  template <class Areas>
  auto largest_auc(const Areas& areas, Domain domain) const {
    auto best = areas.at(truth_.locate(0.0));
    const auto improve = [&](const auto& area) {
      if (area > best) best = area;
    };
    for (std::size_t k = 0; k <= truth_.points().size(); ++k) {
      if (has_steps(k, domain)) improve(areas.on_stretch(k));
      if (k < truth_.points().size() && is_step(k, domain)) improve(areas.at_point(k));
    }
    return best;
  }

  void check_bound(long double best, double tolerance, const Best& got) {
    const long double room =
        0x1p-51L * std::max<long double>(std::fabs(best), std::fabs(got.value)) + partial_unit;
    if (!(got.bound >= got.value && got.bound + room >= best && got.bound <= got.value + tolerance))
      fail("best_auc_step bound",
           "at least " + text(static_cast<double>(best)) + ", at most " + text(tolerance) +
               " above " + text(got.value),
           text(got.bound));
  }

  // The possible ends of the interval of equal AUC around the step. A stretch without a float64
  // step may or may not end the interval, because no float64 step is on it. The same holds for a
  // stretch whose area differs by less than the unit to which the core rounds the area of a tie.
  template <class Areas, class Area>
  void check_plateau(const Areas& areas, Domain domain, Location at, const Area& value,
                     const Best& got) {
    const std::size_t first = at.is_on_point ? at.stretch - 1 : at.stretch;
    const std::vector<double> high = ends(areas, domain, got.step, at.stretch, value, true);
    const std::vector<double> low = ends(areas, domain, got.step, first, value, false);
    const auto is_one_of = [](double x, const std::vector<double>& ends) {
      return std::find(ends.begin(), ends.end(), x) != ends.end();
    };
    if (!is_one_of(got.low, low) || !is_one_of(got.high, high))
      fail("best_auc_step interval", interval_text({low.back(), high.back()}),
           interval_text({got.low, got.high}));
    check_inside("best_auc_step", got);
  }

  template <class Areas, class Area>
  std::vector<double> ends(const Areas& areas, Domain domain, double from, std::size_t stretch,
                           const Area& value, bool is_upwards) const {
    const std::size_t n_points = truth_.points().size();
    std::vector<double> possible;
    if (areas.on_stretch(stretch) != value) {  // the step is at a point
      possible.push_back(from);
      if (has_steps(stretch, domain) && !areas.is_near(areas.on_stretch(stretch), value))
        return possible;
    }
    for (;;) {
      if (is_upwards ? stretch == n_points : stretch == 0) break;
      const std::size_t point = is_upwards ? stretch : stretch - 1;
      const double step = row_step(truth_.points()[point].step);
      if (!domain.holds(step)) break;
      is_upwards ? ++stretch : --stretch;
      // If a border cuts a tie, the area at its point may differ from that of two equal stretches
      // around it.
      const bool is_point_equal = !is_step(point, domain) || areas.at_point(point) == value;
      if (areas.on_stretch(stretch) == value && is_point_equal) continue;
      possible.push_back(step);
      const bool is_point_near = is_point_equal || areas.is_near(areas.at_point(point), value);
      const bool is_stretch_near = areas.is_near(areas.on_stretch(stretch), value);
      if (!is_point_near || (has_steps(stretch, domain) && !is_stretch_near)) return possible;
    }
    possible.push_back(is_upwards ? domain.high : domain.low);
    return possible;
  }
};

}  // namespace fuzz
