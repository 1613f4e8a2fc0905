// The Python face of the core: arrays become spans, results become read-only arrays.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>

#include <chrono>
#include <memory>

#include "aum_path.hpp"
#include "best_auc.hpp"
#include "best_aum.hpp"
#include "interval_path.hpp"
#include "parted_lines.hpp"
#include "roc.hpp"
#include "row_sums.hpp"
#include "segment_models.hpp"
#include "sorting.hpp"
#include "whole_numbers.hpp"

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

// Call a function of the core while other Python threads run.
template <class Function>
auto released(Function function) {
  const nb::gil_scoped_release release;
  return function();
}

// Breakpoints as Python holds them; the core sees them as spans.
struct Breakpoints {
  Array<double> value;
  Array<std::int64_t> example;
  Array<std::int64_t> fp;
  Array<std::int64_t> tp;
  double fp_unit;
  double tp_unit;
  double divisor;
  bool is_monotone;

  rocpath::BreakpointArrays arrays() const {
    return {view(value), view(example), view(fp), view(tp), fp_unit, tp_unit, divisor};
  }
};

// Lines as Python holds them.
struct Lines {
  Array<double> intercept;
  Array<double> slope;
  Array<std::int64_t> fp;
  Array<std::int64_t> tp;
  double fp_unit;
  double tp_unit;
  double divisor;

  rocpath::LineArrays arrays() const {
    return {view(intercept), view(slope), view(fp), view(tp), fp_unit, tp_unit, divisor};
  }
  rocpath::ErrorLines distinct() const { return rocpath::distinct_lines(arrays()); }
  double largest() const {
    return std::max(rocpath::largest_size(view(intercept)), rocpath::largest_size(view(slope)));
  }
};

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
          bp.divisor};
}

nb::dict to_dict(const rocpath::BestAum& best) {
  nb::dict result;
  result["step"] = best.step;
  result["interval"] = std::pair(best.interval.low, best.interval.high);
  result["value"] = best.value;
  return result;
}

nb::dict to_dict(const rocpath::BestAuc& best) {
  nb::dict result;
  result["step"] = best.step;
  result["interval"] = std::pair(best.interval.low, best.interval.high);
  result["value"] = best.value;
  result["bound"] = best.bound;
  return result;
}

nb::dict to_dict(rocpath::AumPath path) {
  nb::dict columns;
  columns["step"] = to_array(std::move(path.step));
  columns["aum"] = to_array(std::move(path.aum));
  columns["aum_slope_after"] = to_array(std::move(path.aum_slope_after));
  return columns;
}

// A path of at most `max_rows` rows, with memory for `n_expected` of them.
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
                       double max_fpr, double min_tpr, const rocpath::AucProgress& progress) {
  return to_dict(released([&] {
    return rocpath::best_auc_step(lines.distinct(), {min_step, max_step}, tolerance,
                                  {max_fpr, min_tpr}, SignalCheck(),
                                  [&](double value, double bound, std::uint64_t n_windows) {
                                    const nb::gil_scoped_acquire gil;
                                    progress(value, bound, n_windows);
                                  });
  }));
}

Array<std::uint32_t> sorted_order(const Array<double>& key) {
  return to_array(released([&] { return rocpath::sorted_order(view(key)); }));
}

nb::dict best_aum_step(const Lines& lines, double max_step) {
  return to_dict(
      released([&] { return rocpath::AumSearch(lines.arrays(), max_step, SignalCheck()).run(); }));
}

nb::dict first_min_aum(const Lines& lines, double max_step) {
  return to_dict(released(
      [&] { return rocpath::first_min_aum_step(lines.distinct(), max_step, SignalCheck()); }));
}

nb::dict aum_path(const Lines& lines, double max_step) {
  return to_dict(
      released([&] { return rocpath::aum_path(lines.distinct(), max_step, SignalCheck()); }));
}

std::uint64_t count_crossings(const Lines& lines) {
  return released([&] { return rocpath::count_crossings(lines.distinct()); });
}

double aum(const Breakpoints& bp, const Array<double>& prediction) {
  return released([&] { return rocpath::aum(bp.arrays(), view(prediction), bp.is_monotone); });
}

double auc(const Breakpoints& bp, const Array<double>& prediction) {
  return released([&] { return rocpath::auc(bp.arrays(), view(prediction)); });
}

Array<double> aum_gradient(const Breakpoints& bp, const Array<double>& prediction) {
  return to_array(released(
      [&] { return rocpath::aum_gradient(bp.arrays(), view(prediction), bp.is_monotone); }));
}

std::pair<Array<double>, Array<double>> aum_derivatives(const Breakpoints& bp,
                                                        const Array<double>& prediction) {
  rocpath::AumDerivatives both = released(
      [&] { return rocpath::aum_derivatives(bp.arrays(), view(prediction), bp.is_monotone); });
  return {to_array(std::move(both.left)), to_array(std::move(both.right))};
}

// Lines inside a box and sums of the others, as they travel: those of several parts are their
// arrays end to end.
nb::dict to_dict(const rocpath::ErrorLines& inside) {
  const auto column = [&](auto of) {
    rocpath::Vector<decltype(of(inside.line[0]))> values(inside.size());
    std::transform(inside.line.begin(), inside.line.end(), values.begin(), of);
    return to_array(std::move(values));
  };
  const rocpath::AumPiece& outside = inside.outside;
  nb::dict columns;
  columns["intercept"] = column([](const rocpath::ErrorLine& line) { return line.intercept; });
  columns["slope"] = column([](const rocpath::ErrorLine& line) { return line.slope; });
  columns["fp"] = column([](const rocpath::ErrorLine& line) { return line.fp; });
  columns["tp"] = column([](const rocpath::ErrorLine& line) { return line.tp; });
  columns["counts"] = to_array(rocpath::Vector<std::int64_t>{inside.total.fp, inside.total.tp,
                                                             inside.below.fp, inside.below.tp});
  columns["sums"] = to_array(rocpath::Vector<double>{
      outside.intercept_sum.high, outside.intercept_sum.low, outside.slope_sum.high,
      outside.slope_sum.low, outside.intercept_size(), outside.slope_size()});
  return columns;
}

// Units and divisor are those of `like`.
rocpath::ErrorLines from_dict(const nb::dict& columns, const Lines& like, double from) {
  const auto floats = [&](const char* name) { return nb::cast<Array<double>>(columns[name]); };
  const auto counts = [&](const char* name) {
    return nb::cast<Array<std::int64_t>>(columns[name]);
  };
  const Lines kept{floats("intercept"), floats("slope"), counts("fp"), counts("tp"),
                   like.fp_unit,        like.tp_unit,    like.divisor};
  rocpath::ErrorLines inside = rocpath::collapse(kept.arrays(), rocpath::Box{});
  inside.total = {};
  const Array<std::int64_t> count = counts("counts");
  for (std::size_t k = 0; k < count.size(); k += 4) {
    inside.total += {count.data()[k], count.data()[k + 1]};
    inside.below += {count.data()[k + 2], count.data()[k + 3]};
  }
  const Array<double> sum = floats("sums");
  for (std::size_t k = 0; k < sum.size(); k += 6) {
    const double* one = sum.data() + k;
    inside.outside.add(rocpath::AumPiece({one[0], one[1]}, {one[2], one[3]}, one[4], one[5]));
  }
  inside.from = from;
  return inside;
}

nb::dict collapse_lines(const Lines& lines, double low, double high, double lowest,
                        double highest) {
  return to_dict(released(
      [&] { return rocpath::collapsed_part(lines.arrays(), {{low, high}, lowest, highest}); }));
}

nb::dict best_aum_step_in_parts(
    const Lines& sample, std::size_t n_lines,
    const std::function<nb::dict(double, double, double, double)>& collapse_parts,
    double max_step) {
  const auto collapse = [&](const rocpath::Box& box) {
    const nb::gil_scoped_acquire gil;
    return from_dict(collapse_parts(box.steps.low, box.steps.high, box.lowest, box.highest), sample,
                     box.steps.low);
  };
  return to_dict(released([&] {
    const rocpath::PartedLines lines{n_lines, sample.arrays(), collapse};
    return rocpath::AumSearch(lines, max_step, SignalCheck()).run();
  }));
}

Array<std::int64_t> sampled_places(std::size_t n_lines) {
  rocpath::SampledLines sampled(n_lines);
  rocpath::Vector<std::int64_t> place(sampled.size());
  for (std::int64_t& one : place) one = static_cast<std::int64_t>(sampled.next());
  return to_array(std::move(place));
}

std::pair<double, double> level_bracket(const Lines& sample, std::size_t n_lines,
                                        double confidence) {
  const rocpath::Box box =
      released([&] { return rocpath::level_bracket(sample.arrays(), n_lines, confidence); });
  return {box.lowest, box.highest};
}

nb::dict level_inside(const nb::dict& inside, const Lines& like) {
  const rocpath::FoundLevel found = rocpath::level_inside(from_dict(inside, like, 0.0));
  const rocpath::Level& level = found.level;
  nb::dict result;
  result["is_inside"] = found.is_inside;
  result["threshold"] = level.threshold;
  result["counts"] = to_array(rocpath::Vector<std::int64_t>{level.before.fp, level.before.tp,
                                                            level.after.fp, level.after.tp});
  return result;
}

std::pair<double, Array<double>> at_level(const Breakpoints& bp, const Array<double>& prediction,
                                          double threshold, const Array<std::int64_t>& counts,
                                          std::int64_t total_tp) {
  const std::int64_t* count = counts.data();
  rocpath::AtLevel found = released([&] {
    const rocpath::Level level{threshold, {count[0], count[1]}, {count[2], count[3]}};
    return rocpath::at_level(bp.arrays(), view(prediction), level, total_tp);
  });
  return {found.aum, to_array(std::move(found.gradient))};
}

template <class Number>
using Matrix = nb::ndarray<const Number, nb::numpy, nb::ndim<2>, nb::device::cpu>;

template <class Number>
rocpath::MatrixView<Number> view(const Matrix<Number>& matrix) {
  return {matrix.data(), matrix.shape(0), matrix.shape(1), matrix.stride(0), matrix.stride(1)};
}

template <class Number>
Array<double> row_products(const Matrix<Number>& matrix, const Array<double>& coef) {
  return to_array(released([&] { return rocpath::row_products(view(matrix), view(coef)); }));
}

using TwoArrays = std::pair<Array<double>, Array<double>>;

TwoArrays to_pair(rocpath::PairSums sums) {
  return {to_array(std::move(sums.high)), to_array(std::move(sums.low))};
}

template <class Number>
TwoArrays column_sums(const Matrix<Number>& matrix, const Array<double>& factor) {
  return to_pair(released([&] { return rocpath::column_sums(view(matrix), view(factor)); }));
}

TwoArrays sparse_column_sums(const Array<std::int64_t>& row_start,
                             const Array<std::int64_t>& column, const Array<double>& entry,
                             const Array<double>& factor, std::size_t n_columns) {
  return to_pair(released([&] {
    return rocpath::column_sums(view(row_start), view(column), view(entry), view(factor),
                                n_columns);
  }));
}

std::pair<Array<std::int64_t>, double> in_units(const Array<double>& jump) {
  rocpath::WholeNumbers whole = rocpath::in_units(view(jump));
  return {to_array(std::move(whole.count)), whole.unit};
}

void bind_parts(nb::module_& m);
void bind_segmentation(nb::module_& m);

}  // namespace

NB_MODULE(ROCPATH_MODULE, m) {
  m.doc() = "Compiled core of rocpath; use the functions of the package instead.";
  // What is alive when the interpreter ends, as in a traceback, is no fault to tell users of.
  nb::set_leak_warnings(false);

  using Counts = Array<std::int64_t>;
  nb::class_<Breakpoints>(m, "Breakpoints")
      .def(nb::init<Array<double>, Counts, Counts, Counts, double, double, double, bool>(),
           "value"_a.noconvert(), "example"_a.noconvert(), "fp"_a.noconvert(), "tp"_a.noconvert(),
           "fp_unit"_a, "tp_unit"_a, "divisor"_a, "is_monotone"_a)
      .def("lines", &lines_of, "prediction"_a.noconvert(), "direction"_a.noconvert(),
           "The lines of predictions that move in a direction.");
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

  m.def("in_units", &in_units, "jump"_a.noconvert(), "Jumps as whole numbers of one unit.");
  m.def("sorted_order", &sorted_order, "key"_a.noconvert(), "Permutation that sorts numbers.");
  m.def("aum", &aum, "bp"_a, "prediction"_a.noconvert(), "Area under min(FP, FN).");
  m.def("auc", &auc, "bp"_a, "prediction"_a.noconvert(), "Area under the ROC curve.");
  m.def("aum_gradient", &aum_gradient, "bp"_a, "prediction"_a.noconvert(),
        "Mean of the two derivatives of AUM in every prediction.");
  m.def("aum_derivatives", &aum_derivatives, "bp"_a, "prediction"_a.noconvert(),
        "Left and right derivatives of AUM in every prediction.");
  m.def("count_crossings", &count_crossings, "lines"_a,
        "Number of pairs of lines that cross at a positive step.");
  m.def("sweep", &sweep, "lines"_a, "stop"_a, "max_crossings"_a, "max_step"_a, "max_fpr"_a,
        "min_tpr"_a, "n_expected"_a, "max_rows"_a,
        "AUM and AUC at every crossing, in order of the step.");
  m.def("best_auc_step", &best_auc_step, "lines"_a, "min_step"_a, "max_step"_a, "tolerance"_a,
        "max_fpr"_a, "min_tpr"_a, "progress"_a,
        "The step with the largest AUC, and a bound on all others.");
  m.def("best_aum_step", &best_aum_step, "lines"_a, "max_step"_a,
        "The step with the smallest AUM, for monotone errors.");
  m.def("first_min_aum", &first_min_aum, "lines"_a, "max_step"_a,
        "The first local minimum of AUM, for any errors.");
  m.def("aum_path", &aum_path, "lines"_a, "max_step"_a,
        "Every kink of AUM as a function of the step.");

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

  bind_parts(m);
  bind_segmentation(m);
}

namespace {

void bind_parts(nb::module_& m) {
  m.def("collapse_lines", &collapse_lines, "lines"_a, "low"_a, "high"_a, "lowest"_a, "highest"_a,
        "The lines inside a box of steps and thresholds, and sums of the others.");
  m.def("best_aum_step_in_parts", &best_aum_step_in_parts, "sample"_a, "n_lines"_a,
        "collapse_parts"_a, "max_step"_a, "The step with the smallest AUM of lines in parts.");
  m.def("sampled_places", &sampled_places, "n_lines"_a, "Which lines make the sample of so many.");
  m.def("level_bracket", &level_bracket, "sample"_a, "n_lines"_a, "confidence"_a,
        "Thresholds between which FP reaches FN, as far as a sample can tell.");
  m.def("level_inside", &level_inside, "inside"_a, "like"_a,
        "The threshold where FP reaches FN, if it lies inside a box.");
  m.def("at_level", &at_level, "bp"_a, "prediction"_a.noconvert(), "threshold"_a,
        "counts"_a.noconvert(), "total_tp"_a,
        "What a part adds to AUM, and the gradient in its predictions.");
  m.def("row_products", &row_products<double>, "matrix"_a.noconvert(), "coef"_a.noconvert(),
        "Weighted sums of the columns, one after the other.");
  m.def("row_products", &row_products<float>, "matrix"_a.noconvert(), "coef"_a.noconvert());
  m.def("column_sums", &column_sums<double>, "matrix"_a.noconvert(), "factor"_a.noconvert(),
        "Weighted sums of the rows, as pairs of high and low parts.");
  m.def("column_sums", &column_sums<float>, "matrix"_a.noconvert(), "factor"_a.noconvert());
  m.def("sparse_column_sums", &sparse_column_sums, "row_start"_a.noconvert(),
        "column"_a.noconvert(), "entry"_a.noconvert(), "factor"_a.noconvert(), "n_columns"_a,
        "Weighted sums of the rows of a CSR matrix.");
}

nb::dict to_dict(rocpath::Changes changes) {
  nb::dict columns;
  columns["position"] = to_array(std::move(changes.position));
  columns["is_tied"] = to_array(std::move(changes.is_tied));
  columns["n_changes"] = to_array(std::move(changes.n_changes));
  return columns;
}

void bind_segmentation(nb::module_& m) {
  nb::class_<rocpath::Segmenter>(m, "Segmenter")
      .def(
          "push",
          [](rocpath::Segmenter& segmenter, Array<double> x, Array<double> weight) {
            const nb::gil_scoped_release release;
            segmenter.push({view(x), view(weight)}, SignalCheck());
          },
          "x"_a.noconvert(), "weight"_a.noconvert(), "Take the next observations.")
      .def(
          "finish", [](rocpath::Segmenter& segmenter) { return to_dict(segmenter.finish()); },
          "The changes of the best models, one model after the other.");

  nb::class_<rocpath::ModelFitter>(m, "ModelFitter")
      .def(
          "push",
          [](rocpath::ModelFitter& fitter, Array<double> x, Array<double> weight) {
            const nb::gil_scoped_release release;
            fitter.push({view(x), view(weight)});
          },
          "x"_a.noconvert(), "weight"_a.noconvert(), "Take the next observations.")
      .def(
          "finish",
          [](rocpath::ModelFitter& fitter) {
            rocpath::ModelFits fits = fitter.finish();
            return std::pair(to_array(std::move(fits.cost)), to_array(std::move(fits.mean)));
          },
          "Costs of the models, and means of their segments.");

  m.def(
      "segmenter",
      [](const char* cost, bool is_up_down, std::pair<double, double> means, bool has_penalty,
         double penalty, std::size_t max_changes, std::size_t min_length, Array<std::int32_t> first,
         Array<std::int32_t> last, Array<std::int32_t> kind) {
        return rocpath::make_segmenter(
            cost, is_up_down,
            {{means.first, means.second},
             has_penalty,
             penalty,
             max_changes,
             min_length,
             rocpath::label_regions(view(first), view(last), view(kind))});
      },
      "cost"_a, "is_up_down"_a, "means"_a, "has_penalty"_a, "penalty"_a, "max_changes"_a,
      "min_length"_a, "first"_a.noconvert(), "last"_a.noconvert(), "kind"_a.noconvert(),
      "A search for the best changes; labels of `kind` at first..last.");

  m.def(
      "model_fitter",
      [](const char* cost, Array<std::int32_t> position, Array<std::int32_t> is_tied,
         Array<std::int64_t> n_changes) {
        return rocpath::make_fitter(cost, view(position), view(is_tied), view(n_changes));
      },
      "cost"_a, "position"_a.noconvert(), "is_tied"_a.noconvert(), "n_changes"_a.noconvert(),
      "A fit of given changes.");

  m.def(
      "segment_costs",
      [] {
        nb::dict costs;
        rocpath::for_each_cost([&](auto cost) {
          nb::dict facts;
          facts["power"] = cost.power;
          facts["least_x"] = cost.least_x;
          facts["is_shift_invariant"] = cost.is_shift_invariant;
          costs[cost.name] = facts;
        });
        return costs;
      },
      "The kinds of cost by name, with what Python must know of them.");
}

}  // namespace
