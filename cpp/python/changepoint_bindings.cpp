// Python bindings for changepoints: segmentation, and interval regression of penalties.
#include "changepoint/interval_path.hpp"
#include "changepoint/segment_models.hpp"
#include "python/bindings.hpp"

namespace rocpath::python {
namespace {

nb::dict to_dict(rocpath::Changes changes) {
  nb::dict columns;
  columns["change"] = to_array(std::move(changes.position));
  columns["is_tied"] = to_array(std::move(changes.is_tied));
  columns["n_changes"] = to_array(std::move(changes.n_changes));
  return columns;
}

nb::dict to_dict(rocpath::IntervalPath path) {
  nb::dict columns;
  columns["coefficient"] = to_array(std::move(path.coefficient));
  columns["intercept"] = to_array(std::move(path.intercept));
  columns["violation"] = to_array(std::move(path.violation));
  columns["n_steps"] = to_array(std::move(path.n_steps));
  return columns;
}

void push(Segmenter& segmenter, const Array<double>& x, const Array<double>& weight) {
  released([&] { segmenter.push({view(x), view(weight)}, SignalCheck()); });
}

void push_to_fitter(ModelFitter& fitter, const Array<double>& x, const Array<double>& weight) {
  released([&] { fitter.push({view(x), view(weight)}); });
}

nb::dict finish_fits(ModelFitter& fitter) {
  ModelFits fits = released([&] { return fitter.finish(); });
  nb::dict columns;
  columns["cost"] = to_array(std::move(fits.cost));
  columns["segment_cost"] = to_array(std::move(fits.segment_cost));
  columns["mean"] = to_array(std::move(fits.mean));
  return columns;
}

std::vector<double> copied(const Array<double>& values) {
  const std::span<const double> all = view(values);
  return {all.begin(), all.end()};
}

std::unique_ptr<Segmenter> segmenter(const char* cost, bool is_up_down,
                                     std::pair<double, double> means, bool has_penalty,
                                     double penalty, std::size_t max_changes,
                                     std::size_t min_length, double threshold,
                                     const Array<double>& floor, const Array<std::int32_t>& first,
                                     const Array<std::int32_t>& last,
                                     const Array<std::int32_t>& kind) {
  return make_segmenter(cost, is_up_down,
                        {{means.first, means.second},
                         has_penalty,
                         penalty,
                         max_changes,
                         min_length,
                         label_regions(view(first), view(last), view(kind)),
                         threshold,
                         copied(floor)});
}

std::unique_ptr<ModelFitter> model_fitter(const char* cost, double threshold,
                                          const Array<double>& floor,
                                          const Array<std::int32_t>& change,
                                          const Array<std::int32_t>& is_tied,
                                          const Array<std::int64_t>& n_changes) {
  const SegmentSettings settings{{}, false, 0.0, 0, 1, {}, threshold, copied(floor)};
  return make_fitter(cost, settings, view(change), view(is_tied), view(n_changes));
}

nb::dict segment_costs() {
  nb::dict costs;
  for_each_cost([&](auto cost) {
    const CostProperties& own = cost.properties;
    nb::dict properties;
    properties["is_homogeneous"] = own.is_homogeneous;
    properties["power"] = own.power;
    properties["n_parameters"] = own.n_parameters;
    properties["deviance_unit"] = own.deviance_unit;
    properties["has_unit"] = own.has_unit;
    properties["is_shift_invariant"] = own.is_shift_invariant;
    properties["least_x"] = own.least_x;
    properties["most_x"] = own.most_x;
    properties["variance"] = nb::make_tuple(own.variance[0], own.variance[1], own.variance[2]);
    properties["threshold"] = own.threshold;
    properties["uses_time"] = own.uses_time;
    properties["min_length"] = own.min_length;
    properties["allows_columns"] = ColumnCost<decltype(cost)>;
    properties["allows_constraint"] =
        !StatisticsCost<decltype(cost)> && !RobustLoss<decltype(cost)>;
    costs[own.name] = properties;
  });
  return costs;
}

double largest_alpha(const Array<double>& feature, const Array<double>& low,
                     const Array<double>& high) {
  return released(
      [&] { return IntervalDescent({view(feature), view(low), view(high)}).largest_alpha(); });
}

nb::dict interval_path(const Array<double>& feature, const Array<double>& low,
                       const Array<double>& high, const Array<double>& alpha, double tolerance,
                       std::size_t max_steps) {
  return to_dict(released([&] {
    return rocpath::interval_path({view(feature), view(low), view(high)}, view(alpha), tolerance,
                                  max_steps, SignalCheck());
  }));
}

}  // namespace

void bind_changepoints(nb::module_& m) {
  nb::enum_<LabelKind>(m, "LabelKind")
      .value("no_change", LabelKind::no_change)
      .value("one_change", LabelKind::one_change)
      .value("at_least_one_change", LabelKind::at_least_one_change)
      .value("no_peaks", LabelKind::no_peaks)
      .value("peaks", LabelKind::peaks)
      .value("peak_start", LabelKind::peak_start)
      .value("peak_end", LabelKind::peak_end);
  nb::class_<Segmenter>(m, "Segmenter")
      .def("push", &push, "x"_a.noconvert(), "weight"_a.noconvert(), "Add the next observations.")
      .def(
          "finish", [](Segmenter& search) { return to_dict(search.finish()); },
          "Return the changes of the best models, concatenated.");
  nb::class_<ModelFitter>(m, "ModelFitter")
      .def("push", &push_to_fitter, "x"_a.noconvert(), "weight"_a.noconvert(),
           "Add the next observations.")
      .def("finish", &finish_fits,
           "Return the costs of the models, and the costs and means of their segments.");

  m.def("segmenter", &segmenter, "cost"_a, "is_up_down"_a, "means"_a, "has_penalty"_a, "penalty"_a,
        "max_changes"_a, "min_length"_a, "threshold"_a, "floor"_a.noconvert(),
        "first"_a.noconvert(), "last"_a.noconvert(), "kind"_a.noconvert(),
        "Return a search for the best changes, with labels of `kind` from `first` to `last`.");
  m.def("model_fitter", &model_fitter, "cost"_a, "threshold"_a, "floor"_a.noconvert(),
        "change"_a.noconvert(), "is_tied"_a.noconvert(), "n_changes"_a.noconvert(),
        "Return a fitter of models with given changes.");
  m.def("segment_costs", &segment_costs, "Return the properties of the segment costs by name.");
  m.def("largest_alpha", &largest_alpha, "feature"_a.noconvert(), "low"_a.noconvert(),
        "high"_a.noconvert(),
        "Return the smallest L1 penalty for which all coefficients are zero.");
  m.def("interval_path", &interval_path, "feature"_a.noconvert(), "low"_a.noconvert(),
        "high"_a.noconvert(), "alpha"_a.noconvert(), "tolerance"_a, "max_steps"_a,
        "Fit interval regression for decreasing L1 penalties.");
}

}  // namespace rocpath::python
