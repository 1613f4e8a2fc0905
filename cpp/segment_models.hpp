// Segmentation for a kind of cost, with or without the up-down constraint, and its fit: the means
// and the cost of given changes, from the data alone.
#pragma once

#include "exact.hpp"
#include "up_down.hpp"

namespace rocpath {

enum class SegmentCost { normal, poisson };
enum class SegmentConstraint { none, up_down };

template <class Check>
Changes segment(const Observations& data, std::size_t max_changes, SegmentCost cost,
                SegmentConstraint constraint, Check check) {
  if (constraint == SegmentConstraint::up_down)
    return cost == SegmentCost::normal
               ? best_up_down_changes<NormalCost>(data, max_changes, check)
               : best_up_down_changes<PoissonCost>(data, max_changes, check);
  return cost == SegmentCost::normal ? best_changes<NormalCost>(data, max_changes, check)
                                     : best_changes<PoissonCost>(data, max_changes, check);
}

template <class Check>
Changes segment_penalty(const Observations& data, double penalty, SegmentCost cost,
                        SegmentConstraint constraint, Check check) {
  if (constraint == SegmentConstraint::up_down)
    return cost == SegmentCost::normal
               ? best_up_down_changes_for<NormalCost>(data, penalty, check)
               : best_up_down_changes_for<PoissonCost>(data, penalty, check);
  return cost == SegmentCost::normal ? best_changes_for<NormalCost>(data, penalty, check)
                                     : best_changes_for<PoissonCost>(data, penalty, check);
}

// A sum that keeps what each addition rounds away.
class CompensatedSum {
 public:
  void add(double a) {
    const DoubleDouble sum = two_sum(sum_, a);
    sum_ = sum.high;
    rest_ += sum.low;
  }
  double value() const { return sum_ + rest_; }

 private:
  double sum_ = 0.0;
  double rest_ = 0.0;
};

struct SegmentFit {
  double mean = 0.0;
  double cost = 0.0;
};

// The mean of x[start..end) and its cost: the sum of squares around it, or mu - x log mu.
inline SegmentFit fit_segment(const Observations& data, std::size_t start, std::size_t end,
                              SegmentCost cost) {
  const double origin = data.x[start];
  CompensatedSum weight, moment;
  for (std::size_t t = start; t < end; ++t) {
    weight.add(data.weight[t]);
    moment.add(data.weight[t] * (data.x[t] - origin));
  }
  const double mean = origin + moment.value() / weight.value();
  if (cost == SegmentCost::poisson) {
    const double total = mean * weight.value();
    return {mean, total > 0.0 ? total - total * std::log(mean) : 0.0};
  }
  CompensatedSum squares;
  for (std::size_t t = start; t < end; ++t)
    squares.add(data.weight[t] * (data.x[t] - mean) * (data.x[t] - mean));
  return {mean, squares.value()};
}

struct ModelFits {
  Vector<double> cost;  // of each model
  Vector<double> mean;  // of each segment, one model after the other
};

// Fit every model; segments that a constraint ties get one mean. Requires: model k has n_changes[k]
// of the positions, in increasing order.
inline ModelFits fit_models(const Observations& data, std::span<const std::int32_t> position,
                            std::span<const std::int32_t> is_tied,
                            std::span<const std::int64_t> n_changes, SegmentCost cost) {
  ModelFits fits;
  std::size_t next = 0;
  for (const std::int64_t count : n_changes) {
    CompensatedSum total;
    std::size_t start = 0;
    std::size_t n_segments = 1;
    const std::size_t end_of_model = next + static_cast<std::size_t>(count);
    for (; next <= end_of_model; ++next) {
      const bool is_last = next == end_of_model;
      if (!is_last && is_tied[next] != 0) {
        ++n_segments;
        continue;
      }
      const std::size_t end = is_last ? data.size() : static_cast<std::size_t>(position[next]);
      const SegmentFit fit = fit_segment(data, start, end, cost);
      total.add(fit.cost);
      fits.mean.insert(fits.mean.end(), n_segments, fit.mean);
      start = end;
      n_segments = 1;
      if (is_last) break;
    }
    fits.cost.push_back(total.value());
  }
  return fits;
}

}  // namespace rocpath
