// Adapter of the core for the checker. No other file depends on the types of the core. A problem is
// passed on in the same way as by the Python package: jumps are integer multiples of a unit, and
// thresholds whose products would underflow are scaled up by a power of two.
#pragma once

#include <auc/best_auc.hpp>
#include <aum/aum_path.hpp>
#include <aum/best_aum.hpp>
#include <aum/minimum_near.hpp>
#include <numerics/integer_units.hpp>
#include <roc/roc.hpp>

#include "problem.hpp"

namespace fuzz {

struct Row {
  double step, aum, aum_slope_after, auc, auc_after;
  std::uint64_t n_groups, n_swaps, queue_size;
};
struct Sweep {
  std::vector<Row> row;
  double end;
};
struct Kink {
  double step, aum, aum_slope_after;
};
struct Best {
  double step, low, high, value, bound;
};
enum class StopRule { never, first_min_aum, first_max_auc };
struct SweepLimits {
  StopRule stop = StopRule::never;
  std::uint64_t max_crossings = std::numeric_limits<std::uint64_t>::max();
  double max_step = std::numeric_limits<double>::infinity();
};
struct Derivatives {
  std::vector<double> left, right;
};

class CoreUnderTest {
 public:
  explicit CoreUnderTest(const Problem& problem)
      : intercept_(problem.intercept),
        slope_(problem.slope),
        fp_(rocpath::in_units(problem.fp_diff)),
        is_monotone_(problem.is_monotone()),
        divisor_(problem.divisor) {
    std::vector<double> tp_diff = problem.fn_diff;
    for (double& x : tp_diff) x = 0.0 - x;
    tp_ = rocpath::in_units(tp_diff);
    scale_up();
    lines_ = rocpath::distinct_lines(arrays());
  }

  // Whether the core represents jumps without rounding, as the package documents it for all others
  // than those that it rejects.
  static bool holds(const std::vector<double>& jump) {
    const rocpath::WholeNumbers whole = rocpath::in_units(jump);
    for (std::size_t k = 0; k < jump.size(); ++k)
      if (static_cast<double>(whole.count[k]) * whole.unit != jump[k]) return false;
    return true;
  }

  Sweep sweep(const SweepLimits& limits, double max_fpr = 1.0, double min_tpr = 0.0) const {
    Sweep result;
    const auto emit = [&](const rocpath::SweepRow& row) {
      result.row.push_back({row.step, row.aum * unit_, slope_in_unit(row.aum_slope_after), row.auc,
                            row.auc_after, row.n_groups, row.n_swaps, row.queue_size});
      return true;
    };
    const auto stop = static_cast<rocpath::Stop>(limits.stop);
    result.end = rocpath::sweep(
        lines_, {stop, limits.max_crossings, limits.max_step, {max_fpr, min_tpr}}, [] {}, emit);
    return result;
  }

  // The global minimum for monotone errors, the first local one for others.
  Best best_aum_step(double max_step) const {
    const auto nothing = [] {};
    const rocpath::LineArrays arrays = this->arrays();
    const rocpath::BestAUM best = is_monotone_
                                      ? rocpath::best_aum_step(arrays, max_step, nothing)
                                      : rocpath::first_min_aum_step(lines_, max_step, nothing);
    const double value = best.value * unit_;
    return {best.step, best.interval.low, best.interval.high, value, value};
  }

  std::vector<Kink> aum_path(double max_step) const {
    const rocpath::AUMPath path = rocpath::aum_path(lines_, max_step, [] {});
    std::vector<Kink> kinks;
    for (std::size_t k = 0; k < path.step.size(); ++k)
      kinks.push_back({path.step[k], path.aum[k] * unit_, slope_in_unit(path.aum_slope_after[k])});
    return kinks;
  }

  std::vector<double> aum_at(const std::vector<double>& steps) const {
    std::vector<double> aum;
    for (const double one : rocpath::aum_at_steps(lines_, steps)) aum.push_back(one * unit_);
    return aum;
  }

  // The best float64 step at a minimum of AUM.
  Best minimum_near(double low, double high, double max_step) const {
    const rocpath::BestAUM best = rocpath::minimum_near(lines_, {low, high}, max_step, {});
    const double value = best.value * unit_;
    return {best.step, best.interval.low, best.interval.high, value, value};
  }

  // Whether fractions of FP and TP with this denominator are exact in the core.
  bool holds_shares(std::int64_t denominator) const {
    return std::max(lines_.total.fp, lines_.total.tp) < (std::int64_t{1} << 60) / denominator;
  }

  Best best_auc_step(double min_step, double max_step, double tolerance, double max_fpr = 1.0,
                     double min_tpr = 0.0) const {
    const auto nothing = [](double, double, std::uint64_t) {};
    const rocpath::BestAUC best = rocpath::best_auc_step(
        lines_, {min_step, max_step}, tolerance, {max_fpr, min_tpr}, [] {}, nothing);
    return {best.step, best.interval.low, best.interval.high, best.value, best.bound};
  }

  // AUM, AUC and derivatives of breakpoints at the intercepts, and the intercepts of their lines,
  // at predictions, by default zeros.
  using Predictions = std::vector<double>;
  static double aum(const Problem& problem, const Predictions& at = {}) {
    return At(problem, at).aum();
  }
  static double auc(const Problem& problem, const Predictions& at = {}) {
    return At(problem, at).auc();
  }
  static Derivatives aum_derivatives(const Problem& problem, const Predictions& at = {}) {
    return At(problem, at).derivatives();
  }
  static std::vector<double> intercepts(const Problem& problem, const Predictions& at) {
    return At(problem, at).intercepts();
  }

 private:
  std::vector<double> intercept_, slope_;
  rocpath::WholeNumbers fp_, tp_;
  bool is_monotone_;
  double divisor_;
  double unit_ = 1.0;
  rocpath::ErrorLines lines_;

  rocpath::LineArrays arrays() const {
    return {intercept_, slope_, fp_.count, tp_.count, fp_.unit, tp_.unit, divisor_};
  }

  // A nonzero slope remains nonzero, however small it is.
  double slope_in_unit(double slope) const {
    const double scaled = slope * unit_;
    constexpr double smallest = std::numeric_limits<double>::denorm_min();
    return scaled == 0.0 && slope != 0.0 ? std::copysign(smallest, slope) : scaled;
  }

  void scale_up() {
    double largest_size = 0.0;
    for (const auto* values : {&intercept_, &slope_})
      for (const double x : *values) largest_size = std::max(largest_size, std::fabs(x));
    if (!(0.0 < largest_size && largest_size < 1e-240)) return;
    unit_ = std::ldexp(1.0, std::ilogb(largest_size) + 101);
    for (auto* values : {&intercept_, &slope_})
      for (double& x : *values) x /= unit_;
  }

  class At {
   public:
    At(const Problem& problem, const Predictions& prediction)
        : problem_(problem), fp_(rocpath::in_units(problem.fp_diff)), prediction_(prediction) {
      prediction_.resize(static_cast<std::size_t>(problem.example.back()) + 1, 0.0);
      std::vector<double> tp_diff = problem.fn_diff;
      for (double& x : tp_diff) x = 0.0 - x;
      tp_ = rocpath::in_units(tp_diff);
    }
    double aum() const { return rocpath::aum(arrays(), prediction_, problem_.is_monotone()); }
    double auc() const { return rocpath::auc(arrays(), prediction_); }
    Derivatives derivatives() const {
      const auto both = rocpath::aum_derivatives(arrays(), prediction_, problem_.is_monotone());
      return {{both.left.begin(), both.left.end()}, {both.right.begin(), both.right.end()}};
    }
    std::vector<double> intercepts() const {
      const auto moving = rocpath::moving_thresholds(arrays(), prediction_, prediction_);
      return {moving.intercept.begin(), moving.intercept.end()};
    }

   private:
    const Problem& problem_;
    rocpath::WholeNumbers fp_, tp_;
    std::vector<double> prediction_;

    rocpath::BreakpointArrays arrays() const {
      return {problem_.intercept, problem_.example, fp_.count,       tp_.count,
              fp_.unit,           tp_.unit,         problem_.divisor};
    }
  };
};

}  // namespace fuzz
