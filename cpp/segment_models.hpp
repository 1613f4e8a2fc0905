// All segment costs by name: for each, the search for changes, and the fit of a model with given
// changes.
#pragma once

#include <memory>
#include <string_view>
#include <tuple>

#include "compensated_sum.hpp"
#include "fpop.hpp"
#include "normal_cost.hpp"
#include "poisson_cost.hpp"
#include "segmentation.hpp"

namespace rocpath {

// To add a cost, write a header like `normal_cost.hpp` and add its name here.
using SegmentCosts = std::tuple<NormalCost, PoissonCost>;

// Call `act` with a value of every cost.
template <class Act>
void for_each_cost(Act&& act) {
  std::apply([&](auto... cost) { (act(cost), ...); }, SegmentCosts{});
}

// Call `make` with a value of the cost of that name. Requires: it exists.
template <class Made, class Make>
Made with_cost(std::string_view name, Make&& make) {
  Made made;
  for_each_cost([&](auto cost) {
    if (name == cost.name) made = make(cost);
  });
  return made;
}

inline std::unique_ptr<Segmenter> make_segmenter(std::string_view cost_name, bool is_up_down,
                                                 SegmentSettings settings) {
  using Made = std::unique_ptr<Segmenter>;
  return with_cost<Made>(cost_name, [&]<class Cost>(Cost) -> Made {
    if (is_up_down) return std::make_unique<SegmentSearch<Cost, UpDownChange>>(std::move(settings));
    if (settings.has_penalty && settings.min_length == 1 && settings.regions.empty())
      return std::make_unique<FPOPSearch<Cost>>(settings);
    return std::make_unique<SegmentSearch<Cost, AnyChange>>(std::move(settings));
  });
}

// The cost of x[start..end) as a function of its mean.
template <class Cost>
CostPiece fit_segment(const Observations& data, std::size_t start, std::size_t end) {
  const double origin = data.x[start];
  CompensatedSum weight, moment, base;
  for (std::size_t t = start; t < end; ++t) {
    weight.add(data.weight[t]);
    moment.add(data.weight[t] * (data.x[t] - origin));
  }
  const double mean = origin + moment.value() / weight.value();
  if constexpr (Cost::reports_base)
    for (std::size_t t = start; t < end; ++t)
      base.add(Cost::excess({0.0, data.weight[t], data.x[t], data.weight[t] * data.x[t]}, mean));
  return {base.value(), weight.value(), mean, mean * weight.value()};
}

struct ModelFits {
  Vector<double> cost;  // of each model
  Vector<double> mean;  // of each segment, concatenated
};

// Fits models to data that arrive in chunks.
class ModelFitter {
 public:
  virtual ~ModelFitter() = default;
  virtual void push(const Observations& data) = 0;
  virtual ModelFits finish() = 0;
};

// Segments that a constraint ties share one mean. Requires: model k has n_changes[k] of the
// positions, in increasing order.
template <class Cost>
class FitOfCost final : public ModelFitter {
 public:
  FitOfCost(std::span<const std::int32_t> position, std::span<const std::int32_t> is_tied,
            std::span<const std::int64_t> n_changes) {
    std::size_t next = 0;
    for (const std::int64_t count : n_changes) {
      Model model;
      std::size_t n_segments = 1;
      for (std::int64_t k = 0; k < count; ++k, ++next) {
        if (is_tied[next] == 0) {
          model.stretches.push_back({static_cast<std::size_t>(position[next]), n_segments, {}});
          n_segments = 0;
        }
        ++n_segments;
      }
      model.stretches.push_back({std::numeric_limits<std::size_t>::max(), n_segments, {}});
      models_.push_back(std::move(model));
    }
  }

  void push(const Observations& data) override {
    for (Model& model : models_) {
      for (std::size_t start = 0; start < data.size();) {
        Stretch& stretch = model.stretches[model.next];
        const std::size_t end = std::min(stretch.end - n_seen_, data.size());
        const CostPiece fit = fit_segment<Cost>(data, start, end);
        if (stretch.fit.weight == 0.0)
          stretch.fit = fit;
        else
          Cost::merge(stretch.fit, fit);
        if (stretch.end - n_seen_ == end) ++model.next;
        start = end;
      }
    }
    n_seen_ += data.size();
  }

  ModelFits finish() override {
    ModelFits fits;
    for (const Model& model : models_) {
      CompensatedSum total;
      for (const Stretch& stretch : model.stretches) {
        total.add(Cost::reported(stretch.fit));
        fits.mean.insert(fits.mean.end(), stretch.n_segments, stretch.fit.mean);
      }
      fits.cost.push_back(total.value());
    }
    return fits;
  }

 private:
  // Tied segments, up to `end`.
  struct Stretch {
    std::size_t end;
    std::size_t n_segments;
    CostPiece fit;
  };
  struct Model {
    std::vector<Stretch> stretches;
    std::size_t next = 0;
  };
  std::vector<Model> models_;
  std::size_t n_seen_ = 0;
};

inline std::unique_ptr<ModelFitter> make_fitter(std::string_view cost_name,
                                                std::span<const std::int32_t> position,
                                                std::span<const std::int32_t> is_tied,
                                                std::span<const std::int64_t> n_changes) {
  using Made = std::unique_ptr<ModelFitter>;
  return with_cost<Made>(cost_name, [&]<class Cost>(Cost) -> Made {
    return std::make_unique<FitOfCost<Cost>>(position, is_tied, n_changes);
  });
}

}  // namespace rocpath
