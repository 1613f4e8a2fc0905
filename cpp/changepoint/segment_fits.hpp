// The costs and centers of models whose changes are given.
//
// Data arrive in chunks. For each segment, only the mean and its cost are stored, except for robust
// costs, which store the observations. Time: linear in the data for each model, or O(n log n) for a
// segment of n observations with a robust cost.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "changepoint/costs/column_statistics.hpp"
#include "changepoint/costs/linear_cost.hpp"
#include "changepoint/costs/mean_functions.hpp"
#include "changepoint/costs/normal_cost.hpp"
#include "changepoint/costs/robust_functions.hpp"
#include "numerics/compensated_sum.hpp"
#include "numerics/memory.hpp"

namespace rocpath {

// The cost of a column in the rows from `start` to `end`, as a function of its mean.
template <class Cost>
CostPiece fit_rows(const Observations& data, std::size_t start, std::size_t end,
                   std::size_t column = 0) {
  const std::size_t n_columns = data.x.size() / data.size();
  const auto x = [&](std::size_t t) { return data.x[t * n_columns + column]; };
  const double origin = x(start);
  CompensatedSum weight, moment, base;
  for (std::size_t t = start; t < end; ++t) {
    weight.add(data.weight[t]);
    moment.add(data.weight[t] * (x(t) - origin));
  }
  const double mean = origin + moment.value() / weight.value();
  if constexpr (Cost::reports_base)
    for (std::size_t t = start; t < end; ++t)
      base.add(Cost::excess({0.0, data.weight[t], x(t), data.weight[t] * x(t)}, mean));
  return {base.value(), weight.value(), mean, mean * weight.value()};
}

// Add the fit of more rows to the fit of a segment, which may be empty.
template <class Cost>
void merge_fit(CostPiece& fit, const CostPiece& more) {
  if (fit.weight == 0.0)
    fit = more;
  else
    Cost::merge(fit, more);
}

template <class Cost>
class MeanFit {
 public:
  explicit MeanFit(const SegmentSettings&) {}
  void add(const Observations& data, std::size_t start, std::size_t end) {
    merge_fit<Cost>(fit_, fit_rows<Cost>(data, start, end));
  }
  double finish(std::vector<double>& center) const {
    center = {fit_.mean};
    return Cost::reported(fit_);
  }

 private:
  CostPiece fit_;
};

template <ColumnCost Cost>
class ColumnFit {
 public:
  explicit ColumnFit(const SegmentSettings& settings)
      : floor_(settings.floor), fits_(settings.floor.size()) {}
  void add(const Observations& data, std::size_t start, std::size_t end) {
    for (std::size_t j = 0; j < fits_.size(); ++j)
      merge_fit<NormalCost>(fits_[j], fit_rows<NormalCost>(data, start, end, j));
  }
  double finish(std::vector<double>& center) const {
    double cost = 0.0;
    center.clear();
    for (std::size_t j = 0; j < fits_.size(); ++j) {
      cost += Cost::of_column(fits_[j].weight, fits_[j].base, floor_[j]);
      center.push_back(fits_[j].mean);
    }
    return cost;
  }

 private:
  std::vector<double> floor_;
  std::vector<CostPiece> fits_;  // one fit for each column
};

// The center of a line has three entries: mean value, slope and mean time.
class LineFit {
 public:
  explicit LineFit(const SegmentSettings&) {}
  void add(const Observations& data, std::size_t start, std::size_t end) {
    for (std::size_t t = start; t < end; ++t)
      line_.add(data.x[2 * t], data.x[2 * t + 1], data.weight[t]);
  }
  double finish(std::vector<double>& center) const {
    center = {line_.value, line_.slope, line_.time};
    return line_.square;
  }

 private:
  FittedLine line_;
};

template <RobustLoss Loss>
class RobustFit {
 public:
  explicit RobustFit(const SegmentSettings& settings) : threshold_(settings.threshold) {}
  void add(const Observations& data, std::size_t start, std::size_t end) {
    x_.insert(x_.end(), data.x.begin() + start, data.x.begin() + end);
    weight_.insert(weight_.end(), data.weight.begin() + start, data.weight.begin() + end);
  }
  double finish(std::vector<double>& center) const {
    const auto [low, high] = std::minmax_element(x_.begin(), x_.end());
    center = {*low};
    if (*low < *high) {
      SegmentSettings settings{{*low, *high}, false, 0.0, 0, 1, {}, threshold_, {}};
      RobustFunctions<Loss> functions(settings);
      const auto total = sum(functions, 0, x_.size());
      double least = infinite_cost;
      for (const RobustPiece& piece : total) {
        const double at = piece.best_center(), value = piece.cost(at);
        if (value < least) {
          least = value;
          center[0] = at;
        }
      }
    }
    // The losses are summed directly, without the cancellation of quadratic functions.
    CompensatedSum cost;
    for (std::size_t t = 0; t < x_.size(); ++t)
      cost.add(weight_[t] * Loss::loss(x_[t] - center[0], threshold_));
    return cost.value();
  }

 private:
  // The two halves are summed recursively, so that each piece is copied log n times.
  typename RobustFunctions<Loss>::Data sum(RobustFunctions<Loss>& functions, std::size_t start,
                                           std::size_t end) const {
    if (end - start == 1) return functions.observation(x_[start], weight_[start]);
    const std::size_t middle = start + (end - start) / 2;
    auto total = sum(functions, start, middle);
    functions.add(total, sum(functions, middle, end));
    return total;
  }

  double threshold_;
  std::vector<double> x_, weight_;
};

struct ModelFits {
  Vector<double> cost;          // cost of each model
  Vector<double> segment_cost;  // cost of each segment, concatenated; tied segments count as one
  Vector<double> mean;          // mean of each segment, concatenated
};

// Fits models to data that arrive in chunks.
class ModelFitter {
 public:
  virtual ~ModelFitter() = default;
  virtual void push(const Observations& data) = 0;
  virtual ModelFits finish() = 0;
};

// Fits models with one kind of cost. Segments tied by a constraint share one mean. Requires: model
// k has the next n_changes[k] positions, in increasing order.
template <class Fit>
class FitOfCost final : public ModelFitter {
 public:
  FitOfCost(const SegmentSettings& settings, std::span<const std::int32_t> position,
            std::span<const std::int32_t> is_tied, std::span<const std::int64_t> n_changes) {
    std::size_t next = 0;
    for (const std::int64_t count : n_changes) {
      Model model;
      std::size_t n_segments = 1;
      for (std::int64_t k = 0; k < count; ++k, ++next) {
        if (is_tied[next] == 0) {
          model.stretches.push_back(
              {static_cast<std::size_t>(position[next]), n_segments, Fit(settings)});
          n_segments = 0;
        }
        ++n_segments;
      }
      model.stretches.push_back(
          {std::numeric_limits<std::size_t>::max(), n_segments, Fit(settings)});
      models_.push_back(std::move(model));
    }
  }

  void push(const Observations& data) override {
    for (Model& model : models_) {
      for (std::size_t start = 0; start < data.size();) {
        Stretch& stretch = model.stretches[model.next];
        const std::size_t end = std::min(stretch.end - n_seen_, data.size());
        stretch.fit.add(data, start, end);
        if (stretch.end - n_seen_ == end) ++model.next;
        start = end;
      }
    }
    n_seen_ += data.size();
  }

  ModelFits finish() override {
    ModelFits fits;
    std::vector<double> center;
    for (const Model& model : models_) {
      CompensatedSum total;
      for (const Stretch& stretch : model.stretches) {
        fits.segment_cost.push_back(stretch.fit.finish(center));
        total.add(fits.segment_cost.back());
        for (std::size_t k = 0; k < stretch.n_segments; ++k)
          fits.mean.insert(fits.mean.end(), center.begin(), center.end());
      }
      fits.cost.push_back(total.value());
    }
    return fits;
  }

 private:
  // Consecutive tied segments, up to `end`.
  struct Stretch {
    std::size_t end;
    std::size_t n_segments;
    Fit fit;
  };
  struct Model {
    std::vector<Stretch> stretches;
    std::size_t next = 0;
  };
  std::vector<Model> models_;
  std::size_t n_seen_ = 0;
};

}  // namespace rocpath
