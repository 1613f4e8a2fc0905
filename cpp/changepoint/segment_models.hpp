// All segment costs by name, with the search for changes and the fit of given changes.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "changepoint/costs/binomial_cost.hpp"
#include "changepoint/costs/biweight_cost.hpp"
#include "changepoint/costs/exponential_cost.hpp"
#include "changepoint/costs/geometric_cost.hpp"
#include "changepoint/costs/huber_cost.hpp"
#include "changepoint/costs/linear_cost.hpp"
#include "changepoint/costs/mean_variance_cost.hpp"
#include "changepoint/costs/multivariate_normal_cost.hpp"
#include "changepoint/costs/normal_cost.hpp"
#include "changepoint/costs/poisson_cost.hpp"
#include "changepoint/costs/variance_cost.hpp"
#include "changepoint/fpop.hpp"
#include "changepoint/pelt_search.hpp"
#include "changepoint/segment_fits.hpp"
#include "changepoint/segmentation.hpp"

namespace rocpath {

// To add a cost, write a header like `normal_cost.hpp`, `exponential_cost.hpp`, `biweight_cost.hpp`
// or `multivariate_normal_cost.hpp`, and add the struct here.
using SegmentCosts =
    std::tuple<NormalCost, PoissonCost, ExponentialCost, BinomialCost, GeometricCost, VarianceCost,
               BiweightCost, HuberCost, LinearCost, MultivariateNormalCost, MeanVarianceCost>;

// Call `act` with an object of every cost.
template <class Act>
void for_each_cost(Act&& act) {
  std::apply([&](auto... cost) { (act(cost), ...); }, SegmentCosts{});
}

// Call `make` with an object of the cost with this name. Requires: the name exists.
template <class Made, class Make>
Made with_cost(std::string_view name, Make&& make) {
  Made made;
  for_each_cost([&](auto cost) {
    if (name == cost.properties.name) made = make(cost);
  });
  return made;
}

// Requires: is_up_down is false for robust costs and costs of columns.
inline std::unique_ptr<Segmenter> make_segmenter(std::string_view cost_name, bool is_up_down,
                                                 SegmentSettings settings) {
  using Made = std::unique_ptr<Segmenter>;
  return with_cost<Made>(cost_name, [&]<class Cost>(Cost) -> Made {
    if constexpr (RobustLoss<Cost>) {
      return std::make_unique<SegmentSearch<AnyChange<RobustFunctions<Cost>>>>(std::move(settings));
    } else if constexpr (StatisticsCost<Cost>) {
      return std::make_unique<PeltSearch<Cost>>(std::move(settings));
    } else {
      if (is_up_down)
        return std::make_unique<SegmentSearch<UpDownChange<Cost>>>(std::move(settings));
      if (settings.has_penalty && settings.min_length == 1 && settings.regions.empty())
        return std::make_unique<FPOPSearch<Cost>>(settings);
      return std::make_unique<SegmentSearch<AnyChange<MeanFunctions<Cost>>>>(std::move(settings));
    }
  });
}

// Only the threshold and the floor of `settings` are used. The arrays `position` and `is_tied` are
// concatenated over models, whose numbers of changes are `n_changes`.
inline std::unique_ptr<ModelFitter> make_fitter(std::string_view cost_name,
                                                const SegmentSettings& settings,
                                                std::span<const std::int32_t> position,
                                                std::span<const std::int32_t> is_tied,
                                                std::span<const std::int64_t> n_changes) {
  using Made = std::unique_ptr<ModelFitter>;
  return with_cost<Made>(cost_name, [&]<class Cost>(Cost) -> Made {
    if constexpr (RobustLoss<Cost>)
      return std::make_unique<FitOfCost<RobustFit<Cost>>>(settings, position, is_tied, n_changes);
    else if constexpr (std::same_as<Cost, LinearCost>)
      return std::make_unique<FitOfCost<LineFit>>(settings, position, is_tied, n_changes);
    else if constexpr (ColumnCost<Cost>)
      return std::make_unique<FitOfCost<ColumnFit<Cost>>>(settings, position, is_tied, n_changes);
    else
      return std::make_unique<FitOfCost<MeanFit<Cost>>>(settings, position, is_tied, n_changes);
  });
}

}  // namespace rocpath
