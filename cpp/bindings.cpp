// The Python face of the core: arrays become spans, results become read-only arrays.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>

#include <chrono>
#include <memory>

#include "aum_path.hpp"
#include "best_auc.hpp"
#include "best_aum.hpp"
#include "interval_path.hpp"
#include "roc.hpp"
#include "segment_models.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T>
using Array = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> view(const Array<T>& array) {
  return {array.data(), array.size()};
}

template <class T>
Array<T> to_array(rocpath::Vector<T> values) {
  auto kept = std::make_unique<rocpath::Vector<T>>(std::move(values));
  const T* first = kept->data();
  const std::size_t size = kept->size();
  nb::capsule owner(kept.release(),
                    [](void* p) noexcept { delete static_cast<rocpath::Vector<T>*>(p); });
  return Array<T>(first, {size}, owner);
}

// Lets Ctrl-C through, a few times a second.
class SignalCheck {
 public:
  void operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(200);
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }

 private:
  std::chrono::steady_clock::time_point next_ =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
};

rocpath::BreakpointArrays breakpoints(const Array<double>& value,
                                      const Array<std::int64_t>& example,
                                      const Array<std::int64_t>& fp, const Array<std::int64_t>& tp,
                                      double fp_unit, double tp_unit) {
  return {view(value), view(example), view(fp), view(tp), fp_unit, tp_unit};
}

rocpath::LineArrays line_arrays(const Array<double>& intercept, const Array<double>& slope,
                                const Array<std::int64_t>& fp, const Array<std::int64_t>& tp,
                                double fp_unit, double tp_unit) {
  return {view(intercept), view(slope), view(fp), view(tp), fp_unit, tp_unit};
}

rocpath::ErrorLines distinct_lines(const Array<double>& intercept, const Array<double>& slope,
                                   const Array<std::int64_t>& fp, const Array<std::int64_t>& tp,
                                   double fp_unit, double tp_unit) {
  return rocpath::distinct_lines(line_arrays(intercept, slope, fp, tp, fp_unit, tp_unit));
}

nb::dict to_dict(const rocpath::BestAum& best) {
  nb::dict result;
  result["step"] = best.step;
  result["interval"] = std::pair(best.interval.low, best.interval.high);
  result["value"] = best.value;
  return result;
}

nb::dict to_dict(rocpath::Changes changes) {
  nb::dict columns;
  columns["position"] = to_array(std::move(changes.position));
  columns["is_tied"] = to_array(std::move(changes.is_tied));
  return columns;
}

struct SweepColumns {
  rocpath::Vector<double> step, aum, aum_slope_after, auc, auc_after;
  rocpath::Vector<std::int64_t> n_swaps;
  rocpath::Vector<std::int32_t> n_groups, queue_size;

  void reserve(std::size_t n_rows) {
    for (auto* column : {&step, &aum, &aum_slope_after, &auc, &auc_after}) column->reserve(n_rows);
    n_swaps.reserve(n_rows);
    for (auto* column : {&n_groups, &queue_size}) column->reserve(n_rows);
  }

  void append(const rocpath::SweepRow& row) {
    step.push_back(row.step);
    aum.push_back(row.aum);
    aum_slope_after.push_back(row.aum_slope_after);
    auc.push_back(row.auc);
    auc_after.push_back(row.auc_after);
    n_swaps.push_back(static_cast<std::int64_t>(row.n_swaps));
    n_groups.push_back(static_cast<std::int32_t>(row.n_groups));
    queue_size.push_back(static_cast<std::int32_t>(row.queue_size));
  }
};

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "Compiled core of rocpath; use the functions of the package instead.";

  nb::enum_<rocpath::Stop>(m, "Stop")
      .value("never", rocpath::Stop::never)
      .value("first_min_aum", rocpath::Stop::first_min_aum)
      .value("first_max_auc", rocpath::Stop::first_max_auc);

  m.def(
      "in_units",
      [](Array<double> jump) {
        rocpath::WholeNumbers whole = rocpath::in_units(view(jump));
        return std::pair(to_array(std::move(whole.count)), whole.unit);
      },
      "jump"_a.noconvert(), "Write every jump as a whole number of one unit.");

  m.def(
      "aum",
      [](Array<double> value, Array<std::int64_t> example, Array<std::int64_t> fp,
         Array<std::int64_t> tp, double fp_unit, double tp_unit, Array<double> prediction,
         bool is_monotone) {
        const nb::gil_scoped_release release;
        return rocpath::aum(breakpoints(value, example, fp, tp, fp_unit, tp_unit), view(prediction),
                            is_monotone);
      },
      "value"_a.noconvert(), "example"_a.noconvert(), "fp"_a.noconvert(), "tp"_a.noconvert(),
      "fp_unit"_a, "tp_unit"_a, "prediction"_a.noconvert(), "is_monotone"_a,
      "Area under min(FP, FN).");

  m.def(
      "aum_derivatives",
      [](Array<double> value, Array<std::int64_t> example, Array<std::int64_t> fp,
         Array<std::int64_t> tp, double fp_unit, double tp_unit, Array<double> prediction,
         bool is_monotone) {
        rocpath::AumDerivatives derivatives;
        {
          const nb::gil_scoped_release release;
          derivatives = rocpath::aum_derivatives(
              breakpoints(value, example, fp, tp, fp_unit, tp_unit), view(prediction), is_monotone);
        }
        return std::pair(to_array(std::move(derivatives.left)),
                         to_array(std::move(derivatives.right)));
      },
      "value"_a.noconvert(), "example"_a.noconvert(), "fp"_a.noconvert(), "tp"_a.noconvert(),
      "fp_unit"_a, "tp_unit"_a, "prediction"_a.noconvert(), "is_monotone"_a,
      "Left and right derivatives of AUM in every prediction.");

  m.def(
      "aum_gradient",
      [](Array<double> value, Array<std::int64_t> example, Array<std::int64_t> fp,
         Array<std::int64_t> tp, double fp_unit, double tp_unit, Array<double> prediction,
         bool is_monotone) {
        rocpath::Vector<double> gradient;
        {
          const nb::gil_scoped_release release;
          gradient = rocpath::aum_gradient(breakpoints(value, example, fp, tp, fp_unit, tp_unit),
                                           view(prediction), is_monotone);
        }
        return to_array(std::move(gradient));
      },
      "value"_a.noconvert(), "example"_a.noconvert(), "fp"_a.noconvert(), "tp"_a.noconvert(),
      "fp_unit"_a, "tp_unit"_a, "prediction"_a.noconvert(), "is_monotone"_a,
      "Mean of the two derivatives of AUM in every prediction.");

  m.def(
      "auc",
      [](Array<double> value, Array<std::int64_t> example, Array<std::int64_t> fp,
         Array<std::int64_t> tp, double fp_unit, double tp_unit, Array<double> prediction) {
        const nb::gil_scoped_release release;
        return rocpath::auc(breakpoints(value, example, fp, tp, fp_unit, tp_unit),
                            view(prediction));
      },
      "value"_a.noconvert(), "example"_a.noconvert(), "fp"_a.noconvert(), "tp"_a.noconvert(),
      "fp_unit"_a, "tp_unit"_a, "prediction"_a.noconvert(), "Area under the ROC curve.");

  m.def(
      "count_crossings",
      [](Array<double> intercept, Array<double> slope, Array<std::int64_t> fp,
         Array<std::int64_t> tp, double fp_unit, double tp_unit) {
        const nb::gil_scoped_release release;
        return rocpath::count_crossings(distinct_lines(intercept, slope, fp, tp, fp_unit, tp_unit));
      },
      "intercept"_a.noconvert(), "slope"_a.noconvert(), "fp"_a.noconvert(), "tp"_a.noconvert(),
      "fp_unit"_a, "tp_unit"_a, "Number of pairs of lines that cross at a positive step.");

  m.def(
      "sweep",
      [](Array<double> intercept, Array<double> slope, Array<std::int64_t> fp,
         Array<std::int64_t> tp, double fp_unit, double tp_unit, rocpath::Stop stop,
         std::uint64_t max_crossings, double max_step, std::size_t n_expected,
         std::size_t max_rows) {
        SweepColumns path;
        double end = 0.0;
        bool is_too_long = false;
        {
          const nb::gil_scoped_release release;
          const rocpath::ErrorLines lines =
              distinct_lines(intercept, slope, fp, tp, fp_unit, tp_unit);
          path.reserve(n_expected);
          end = rocpath::sweep(lines, {stop, max_crossings, max_step}, SignalCheck(),
                               [&](const rocpath::SweepRow& row) {
                                 is_too_long = path.step.size() == max_rows;
                                 if (!is_too_long) path.append(row);
                                 return !is_too_long;
                               });
        }
        nb::dict columns;
        columns["step"] = to_array(std::move(path.step));
        columns["aum"] = to_array(std::move(path.aum));
        columns["aum_slope_after"] = to_array(std::move(path.aum_slope_after));
        columns["auc"] = to_array(std::move(path.auc));
        columns["auc_after"] = to_array(std::move(path.auc_after));
        columns["n_groups"] = to_array(std::move(path.n_groups));
        columns["n_swaps"] = to_array(std::move(path.n_swaps));
        columns["queue_size"] = to_array(std::move(path.queue_size));
        columns["end"] = end;
        columns["is_too_long"] = is_too_long;
        return columns;
      },
      "intercept"_a.noconvert(), "slope"_a.noconvert(), "fp"_a.noconvert(), "tp"_a.noconvert(),
      "fp_unit"_a, "tp_unit"_a, "stop"_a, "max_crossings"_a, "max_step"_a, "n_expected"_a,
      "max_rows"_a, "AUM and AUC at every crossing, in order of the step.");

  m.def(
      "best_auc_step",
      [](Array<double> intercept, Array<double> slope, Array<std::int64_t> fp,
         Array<std::int64_t> tp, double fp_unit, double tp_unit, double min_step, double max_step,
         double tolerance, std::function<void(double, double, std::uint64_t)> progress) {
        rocpath::BestAuc best;
        {
          const nb::gil_scoped_release release;
          const rocpath::ErrorLines lines =
              distinct_lines(intercept, slope, fp, tp, fp_unit, tp_unit);
          best = rocpath::AucSearch(lines, {min_step, max_step})
                     .run(tolerance, SignalCheck(), [&](double value, double bound, auto n) {
                       const nb::gil_scoped_acquire gil;
                       progress(value, bound, n);
                     });
        }
        nb::dict result;
        result["step"] = best.step;
        result["interval"] = std::pair(best.interval.low, best.interval.high);
        result["value"] = best.value;
        result["bound"] = best.bound;
        return result;
      },
      "intercept"_a.noconvert(), "slope"_a.noconvert(), "fp"_a.noconvert(), "tp"_a.noconvert(),
      "fp_unit"_a, "tp_unit"_a, "min_step"_a, "max_step"_a, "tolerance"_a, "progress"_a,
      "The step with the largest AUC, and a bound on all others.");

  m.def(
      "best_aum_step",
      [](Array<double> intercept, Array<double> slope, Array<std::int64_t> fp,
         Array<std::int64_t> tp, double fp_unit, double tp_unit, double max_step) {
        rocpath::BestAum best;
        {
          const nb::gil_scoped_release release;
          const rocpath::LineArrays lines = line_arrays(intercept, slope, fp, tp, fp_unit, tp_unit);
          best = rocpath::AumSearch(lines, max_step, SignalCheck()).run();
        }
        return to_dict(best);
      },
      "intercept"_a.noconvert(), "slope"_a.noconvert(), "fp"_a.noconvert(), "tp"_a.noconvert(),
      "fp_unit"_a, "tp_unit"_a, "max_step"_a,
      "The step with the smallest AUM, for monotone errors.");

  m.def(
      "first_min_aum",
      [](Array<double> intercept, Array<double> slope, Array<std::int64_t> fp,
         Array<std::int64_t> tp, double fp_unit, double tp_unit, double max_step) {
        rocpath::BestAum best;
        {
          const nb::gil_scoped_release release;
          best = rocpath::first_min_aum(distinct_lines(intercept, slope, fp, tp, fp_unit, tp_unit),
                                        max_step, SignalCheck());
        }
        return to_dict(best);
      },
      "intercept"_a.noconvert(), "slope"_a.noconvert(), "fp"_a.noconvert(), "tp"_a.noconvert(),
      "fp_unit"_a, "tp_unit"_a, "max_step"_a, "The first local minimum of AUM, for any errors.");

  m.def(
      "aum_path",
      [](Array<double> intercept, Array<double> slope, Array<std::int64_t> fp,
         Array<std::int64_t> tp, double fp_unit, double tp_unit, double max_step) {
        rocpath::AumPath path;
        {
          const nb::gil_scoped_release release;
          const rocpath::ErrorLines lines =
              distinct_lines(intercept, slope, fp, tp, fp_unit, tp_unit);
          path = rocpath::AumPathSearch(lines, SignalCheck()).run(lines, max_step);
        }
        nb::dict columns;
        columns["step"] = to_array(std::move(path.step));
        columns["aum"] = to_array(std::move(path.aum));
        columns["aum_slope_after"] = to_array(std::move(path.aum_slope_after));
        return columns;
      },
      "intercept"_a.noconvert(), "slope"_a.noconvert(), "fp"_a.noconvert(), "tp"_a.noconvert(),
      "fp_unit"_a, "tp_unit"_a, "max_step"_a, "Every kink of AUM as a function of the step.");

  nb::enum_<rocpath::SegmentCost>(m, "SegmentCost")
      .value("normal", rocpath::SegmentCost::normal)
      .value("poisson", rocpath::SegmentCost::poisson);

  nb::enum_<rocpath::SegmentConstraint>(m, "SegmentConstraint")
      .value("none", rocpath::SegmentConstraint::none)
      .value("up_down", rocpath::SegmentConstraint::up_down);

  m.def(
      "segment",
      [](Array<double> x, Array<double> weight, std::size_t max_changes, rocpath::SegmentCost cost,
         rocpath::SegmentConstraint constraint) {
        rocpath::Changes changes;
        {
          const nb::gil_scoped_release release;
          changes = rocpath::segment({view(x), view(weight)}, max_changes, cost, constraint,
                                     SignalCheck());
        }
        return to_dict(std::move(changes));
      },
      "x"_a.noconvert(), "weight"_a.noconvert(), "max_changes"_a, "cost"_a, "constraint"_a,
      "The best changes for 0..max_changes of them, one model after the other.");

  m.def(
      "segment_penalty",
      [](Array<double> x, Array<double> weight, double penalty, rocpath::SegmentCost cost,
         rocpath::SegmentConstraint constraint) {
        rocpath::Changes changes;
        {
          const nb::gil_scoped_release release;
          changes = rocpath::segment_penalty({view(x), view(weight)}, penalty, cost, constraint,
                                             SignalCheck());
        }
        return to_dict(std::move(changes));
      },
      "x"_a.noconvert(), "weight"_a.noconvert(), "penalty"_a, "cost"_a, "constraint"_a,
      "The best changes for a penalty on each.");

  m.def(
      "fit_models",
      [](Array<double> x, Array<double> weight, Array<std::int32_t> position,
         Array<std::int32_t> is_tied, Array<std::int64_t> n_changes, rocpath::SegmentCost cost) {
        rocpath::ModelFits fits;
        {
          const nb::gil_scoped_release release;
          fits = rocpath::fit_models({view(x), view(weight)}, view(position), view(is_tied),
                                     view(n_changes), cost);
        }
        return std::pair(to_array(std::move(fits.cost)), to_array(std::move(fits.mean)));
      },
      "x"_a.noconvert(), "weight"_a.noconvert(), "position"_a.noconvert(), "is_tied"_a.noconvert(),
      "n_changes"_a.noconvert(), "cost"_a, "Costs of the models, and means of their segments.");

  m.def(
      "largest_interval_penalty",
      [](Array<double> feature, Array<double> low, Array<double> high) {
        const nb::gil_scoped_release release;
        return rocpath::IntervalDescent({view(feature), view(low), view(high)}).largest_penalty();
      },
      "feature"_a.noconvert(), "low"_a.noconvert(), "high"_a.noconvert(),
      "The smallest L1 penalty for which interval regression has no coefficients.");

  m.def(
      "interval_path",
      [](Array<double> feature, Array<double> low, Array<double> high, Array<double> penalty,
         double tolerance, std::size_t max_steps) {
        rocpath::IntervalPath path;
        {
          const nb::gil_scoped_release release;
          path = rocpath::interval_path({view(feature), view(low), view(high)}, view(penalty),
                                        tolerance, max_steps, SignalCheck());
        }
        nb::dict columns;
        columns["coefficient"] = to_array(std::move(path.coefficient));
        columns["intercept"] = to_array(std::move(path.intercept));
        columns["violation"] = to_array(std::move(path.violation));
        columns["n_steps"] = to_array(std::move(path.n_steps));
        return columns;
      },
      "feature"_a.noconvert(), "low"_a.noconvert(), "high"_a.noconvert(), "penalty"_a.noconvert(),
      "tolerance"_a, "max_steps"_a, "Interval regression for decreasing L1 penalties.");
}
