// Sums of squares of columns around their means, for many segments that end at the same
// observation. Welford's update avoids cancellation.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include "changepoint/settings.hpp"

namespace rocpath {

// A cost that depends on the sums of squares of the columns of a segment around their means.
template <class Cost>
concept ColumnCost = requires(std::span<const double> floor, double weight, double square) {
  // The contribution of a column; `floor` is the smallest variance of the column.
  { Cost::of_column(weight, square, floor[0]) } -> std::same_as<double>;
};

template <class Cost>  // a ColumnCost, which is incomplete where it names this class
class ColumnStatistics {
 public:
  explicit ColumnStatistics(const SegmentSettings& settings)
      : floor_(settings.floor), mean_(settings.floor.size()), square_(settings.floor.size()) {}

  void resize(std::size_t n_segments) {
    weight_.resize(n_segments, 0.0);
    for (auto& column : mean_) column.resize(n_segments, 0.0);
    for (auto& column : square_) column.resize(n_segments, 0.0);
  }

  void move(std::size_t from, std::size_t to) {
    weight_[to] = weight_[from];
    for (std::size_t j = 0; j < mean_.size(); ++j) {
      mean_[j][to] = mean_[j][from];
      square_[j][to] = square_[j][from];
    }
  }

  // Add an observation to all segments, and their costs to `total`.
  void observe(const double* x, double weight, std::vector<double>& total) {
    const std::size_t n = weight_.size();
    share_.resize(n);
    for (std::size_t k = 0; k < n; ++k) {
      weight_[k] += weight;
      share_[k] = weight / weight_[k];
    }
    for (std::size_t j = 0; j < mean_.size(); ++j) {
      double* mean = mean_[j].data();
      double* square = square_[j].data();
      const double value = x[j], floor = floor_[j];
      for (std::size_t k = 0; k < n; ++k) {
        const double distance = value - mean[k];
        square[k] += (weight_[k] - weight) * share_[k] * distance * distance;
        mean[k] += share_[k] * distance;
        total[k] += Cost::of_column(weight_[k], square[k], floor);
      }
    }
  }

 private:
  std::vector<double> floor_, weight_, share_;
  std::vector<std::vector<double>> mean_, square_;  // indexed by column, then segment
};

}  // namespace rocpath
