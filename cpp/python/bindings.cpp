// Python bindings of the searches: arrays become spans, results become read-only arrays.
#include "python/bindings.hpp"

#include "auc/best_auc.hpp"
#include "aum/aum_path.hpp"
#include "aum/minimum_near.hpp"
#include "numerics/integer_units.hpp"
#include "numerics/sorting.hpp"
#include "sweep/step_path.hpp"

using namespace rocpath::python;

namespace {

using rocpath::python::to_dict;

Lines lines_of(const Breakpoints& bp, const Array<double>& prediction,
               const Array<double>& direction) {
  rocpath::MovingThresholds moving = released(
      [&] { return rocpath::moving_thresholds(bp.arrays(), view(prediction), view(direction)); });
  return {to_array(std::move(moving.intercept)),
          to_array(std::move(moving.slope)),
          bp.fp,
          bp.tp,
          bp.fp_unit,
          bp.tp_unit,
          bp.divisor,
          moving.largest};
}

nb::dict to_dict(const rocpath::BestAUC& best) {
  nb::dict result;
  result["step"] = best.step;
  result["interval"] = std::pair(best.interval.low, best.interval.high);
  result["value"] = best.value;
  result["bound"] = best.bound;
  return result;
}

nb::dict to_dict(rocpath::AUMPath path) {
  nb::dict columns;
  columns["step"] = to_array(std::move(path.step));
  columns["aum"] = to_array(std::move(path.aum));
  columns["aum_slope_after"] = to_array(std::move(path.aum_slope_after));
  return columns;
}

// A path of at most `max_rows` rows, with memory reserved for `n_expected` rows.
nb::dict sweep(const Lines& lines, rocpath::Stop stop, std::uint64_t max_crossings, double max_step,
               double max_fpr, double min_tpr, std::size_t n_expected, std::size_t max_rows) {
  rocpath::StepPath path = released([&] {
    return rocpath::step_path(lines.distinct(), {stop, max_crossings, max_step, {max_fpr, min_tpr}},
                              SignalCheck(), n_expected, max_rows);
  });
  nb::dict columns;
  columns["step"] = to_array(std::move(path.step));
  columns["aum"] = to_array(std::move(path.aum));
  columns["aum_slope_after"] = to_array(std::move(path.aum_slope_after));
  columns["auc"] = to_array(std::move(path.auc));
  columns["auc_after"] = to_array(std::move(path.auc_after));
  columns["n_groups"] = to_array(std::move(path.n_groups));
  columns["n_swaps"] = to_array(std::move(path.n_swaps));
  columns["queue_size"] = to_array(std::move(path.queue_size));
  columns["end"] = path.end;
  columns["is_too_long"] = path.is_too_long;
  return columns;
}

nb::dict best_auc_step(const Lines& lines, double min_step, double max_step, double tolerance,
                       double max_fpr, double min_tpr, const rocpath::AUCProgress& progress) {
  return to_dict(released([&] {
    return rocpath::best_auc_step(lines.distinct(), {min_step, max_step}, tolerance,
                                  {max_fpr, min_tpr}, SignalCheck(),
                                  [&](double value, double bound, std::uint64_t n_windows) {
                                    const nb::gil_scoped_acquire gil;
                                    progress(value, bound, n_windows);
                                  });
  }));
}

// For callers that search along many directions: no arrays of lines are passed to Python.
nb::dict best_auc_step_along(const Breakpoints& bp, const Array<double>& prediction,
                             const Array<double>& direction, double min_step, double max_step,
                             double tolerance, double max_fpr, double min_tpr) {
  return best_auc_step(lines_of(bp, prediction, direction), min_step, max_step, tolerance, max_fpr,
                       min_tpr, [](double, double, std::uint64_t) {});
}

double largest_size(const Array<double>& numbers) {
  return released([&] { return rocpath::largest_size(view(numbers)); });
}

Array<std::uint32_t> sorted_order(const Array<double>& key) {
  return to_array(released([&] { return rocpath::sorted_order(view(key)); }));
}

nb::dict best_aum_step(const Lines& lines, double max_step) {
  return to_dict(
      released([&] { return rocpath::best_aum_step(lines.arrays(), max_step, SignalCheck()); }));
}

nb::dict first_min_aum(const Lines& lines, double max_step) {
  return to_dict(released(
      [&] { return rocpath::first_min_aum_step(lines.distinct(), max_step, SignalCheck()); }));
}

Array<double> aum_at(const Lines& lines, const Array<double>& step) {
  return to_array(released([&] { return rocpath::aum_at_steps(lines.distinct(), view(step)); }));
}

nb::dict minimum_near(const Lines& lines, double low, double high, double max_step, double slope,
                      double curvature) {
  return to_dict(released([&] {
    return rocpath::minimum_near(lines.distinct(), {low, high}, max_step, {slope, curvature});
  }));
}

double aum_difference(const Lines& lines, double step, double other) {
  return released([&] { return rocpath::aum_difference(lines.distinct(), step, other); });
}

nb::dict aum_path(const Lines& lines, double max_step) {
  return to_dict(
      released([&] { return rocpath::aum_path(lines.distinct(), max_step, SignalCheck()); }));
}

std::uint64_t count_crossings(const Lines& lines, double max_step) {
  return released([&] { return rocpath::count_crossings(lines.distinct(), max_step); });
}

Array<double> thresholds(const Breakpoints& bp, const Array<double>& prediction) {
  return to_array(released([&] { return rocpath::thresholds(bp.arrays(), view(prediction)); }));
}

double aum(const Breakpoints& bp, const Array<double>& prediction) {
  return released([&] { return rocpath::aum(bp.arrays(), view(prediction), bp.is_monotone); });
}

double auc(const Breakpoints& bp, const Array<double>& prediction) {
  return released([&] { return rocpath::auc(bp.arrays(), view(prediction)); });
}

// AUC of labels and scores, without breakpoints.
double label_auc(const Array<bool>& is_positive, const Array<double>& score) {
  return released([&] {
    rocpath::ClassScores scores(score.size());
    for (std::size_t k = 0; k < score.size(); ++k)
      scores.add(score.data()[k], is_positive.data()[k]);
    const auto n_pairs = static_cast<rocpath::int128>(scores.n_negative()) * scores.n_positive();
    return rocpath::rounded_ratio(scores.doubled_pairs(), 2 * n_pairs);
  });
}

Array<double> aum_gradient(const Breakpoints& bp, const Array<double>& prediction) {
  return to_array(released(
      [&] { return rocpath::aum_gradient(bp.arrays(), view(prediction), bp.is_monotone); }));
}

std::pair<Array<double>, Array<double>> aum_derivatives(const Breakpoints& bp,
                                                        const Array<double>& prediction) {
  rocpath::AUMDerivatives both = released(
      [&] { return rocpath::aum_derivatives(bp.arrays(), view(prediction), bp.is_monotone); });
  return {to_array(std::move(both.left)), to_array(std::move(both.right))};
}

std::pair<Array<std::int64_t>, double> in_units(const Array<double>& jump) {
  rocpath::WholeNumbers whole = rocpath::in_units(view(jump));
  return {to_array(std::move(whole.count)), whole.unit};
}

void bind_types(nb::module_& m) {
  using Counts = Array<std::int64_t>;
  nb::class_<Breakpoints>(m, "Breakpoints")
      .def(nb::init<Array<double>, Counts, Counts, Counts, double, double, double, bool>(),
           "value"_a.noconvert(), "example"_a.noconvert(), "fp"_a.noconvert(), "tp"_a.noconvert(),
           "fp_unit"_a, "tp_unit"_a, "divisor"_a, "is_monotone"_a)
      .def("lines", &lines_of, "prediction"_a.noconvert(), "direction"_a.noconvert(),
           "Lines of predictions that move in a direction.")
      .def("thresholds", &thresholds, "prediction"_a.noconvert(),
           "Differences of values and predictions, rounded once.");
  nb::class_<Lines>(m, "Lines")
      .def(nb::init<Array<double>, Array<double>, Counts, Counts, double, double, double>(),
           "intercept"_a.noconvert(), "slope"_a.noconvert(), "fp"_a.noconvert(), "tp"_a.noconvert(),
           "fp_unit"_a, "tp_unit"_a, "divisor"_a)
      .def_ro("intercept", &Lines::intercept, nb::rv_policy::automatic)
      .def_ro("slope", &Lines::slope, nb::rv_policy::automatic)
      .def_prop_ro("largest", &Lines::largest);
  nb::enum_<rocpath::Stop>(m, "Stop")
      .value("never", rocpath::Stop::never)
      .value("first_min_aum", rocpath::Stop::first_min_aum)
      .value("first_max_auc", rocpath::Stop::first_max_auc);
}

void bind_roc(nb::module_& m) {
  m.def("thread_limit", &rocpath::thread_limit, "Maximum number of threads that a search may use.");
  m.def("set_thread_limit", &rocpath::set_thread_limit, "limit"_a,
        "Set the limit of the calling thread; 0 restores that of the process.");
  m.def("largest_size", &largest_size, "numbers"_a.noconvert(),
        "Largest absolute value of some numbers, or NaN if one of them is NaN.");
  m.def("in_units", &in_units, "jump"_a.noconvert(), "Jumps as integer multiples of a unit.");
  m.def("sorted_order", &sorted_order, "key"_a.noconvert(), "Permutation that sorts numbers.");
  m.def("aum", &aum, "bp"_a, "prediction"_a.noconvert(), "Area under min(FP, FN).");
  m.def("auc", &auc, "bp"_a, "prediction"_a.noconvert(), "Area under the ROC curve.");
  m.def("label_auc", &label_auc, "is_positive"_a.noconvert(), "score"_a.noconvert(),
        "Fraction of correctly ranked pairs; ties count one half.");
  m.def("aum_gradient", &aum_gradient, "bp"_a, "prediction"_a.noconvert(),
        "Mean of the one-sided derivatives of AUM with respect to each prediction.");
  m.def("aum_derivatives", &aum_derivatives, "bp"_a, "prediction"_a.noconvert(),
        "Left and right derivatives of AUM with respect to each prediction.");
}

void bind_searches(nb::module_& m) {
  m.def("count_crossings", &count_crossings, "lines"_a, "max_step"_a,
        "Number of pairs of lines that cross at a positive step up to max_step.");
  m.def("sweep", &sweep, "lines"_a, "stop"_a, "max_crossings"_a, "max_step"_a, "max_fpr"_a,
        "min_tpr"_a, "n_expected"_a, "max_rows"_a,
        "AUM and AUC at every crossing, in order of the step.");
  m.def("best_auc_step", &best_auc_step, "lines"_a, "min_step"_a, "max_step"_a, "tolerance"_a,
        "max_fpr"_a, "min_tpr"_a, "progress"_a,
        "The step with the largest AUC, and an upper bound on AUC at all steps.");
  m.def("best_auc_step_along", &best_auc_step_along, "bp"_a, "prediction"_a.noconvert(),
        "direction"_a.noconvert(), "min_step"_a, "max_step"_a, "tolerance"_a, "max_fpr"_a,
        "min_tpr"_a, "The same for predictions that move in a direction.");
  m.def("best_aum_step", &best_aum_step, "lines"_a, "max_step"_a,
        "The step with the smallest AUM, for monotone errors.");
  m.def("first_min_aum", &first_min_aum, "lines"_a, "max_step"_a,
        "The first local minimum of AUM, for any errors.");
  m.def("aum_path", &aum_path, "lines"_a, "max_step"_a,
        "Every kink of AUM as a function of the step.");
  m.def("aum_at", &aum_at, "lines"_a, "step"_a.noconvert(), "AUM at each of some steps.");
  m.def("minimum_near", &minimum_near, "lines"_a, "low"_a, "high"_a, "max_step"_a, "slope"_a,
        "curvature"_a, "The best float64 step at a minimum of AUM plus a quadratic term.");
  m.def("aum_difference", &aum_difference, "lines"_a, "step"_a, "other"_a,
        "AUM at a step minus AUM at another one, times the divisor, with the exact sign.");
}

}  // namespace

NB_MODULE(ROCPATH_MODULE, m) {
  m.doc() = "Compiled core of rocpath; use the functions of the package instead.";
  // Objects that are alive at interpreter exit, for example in a traceback, are not leaks.
  nb::set_leak_warnings(false);
  bind_types(m);
  bind_roc(m);
  bind_searches(m);
  bind_partitions(m);
  bind_survival(m);
  bind_changepoints(m);
  bind_verify(m);
}
