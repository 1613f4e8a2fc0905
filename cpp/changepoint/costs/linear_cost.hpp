// The cost of a line in each segment: the sum of squares around the least-squares line, which need
// not be continuous at changes. An observation has two entries, its value and its time; times
// increase.
//
// Recursive least squares adds an observation in O(1), as the sum of non-negative terms: of the
// squared distance to the line so far, the share that the new line does not fit. Unlike cumulative
// sums of x, t x and t^2, this does not cancel.
#pragma once

#include <cstddef>
#include <vector>

#include "changepoint/settings.hpp"

namespace rocpath {

// The least-squares line through (time, value), and the sum of squares around it.
struct FittedLine {
  double weight = 0.0;
  double time = 0.0;    // mean time
  double value = 0.0;   // mean value
  double spread = 0.0;  // weighted sum of squares of times around their mean
  double slope = 0.0;
  double square = 0.0;

  void add(double x, double t, double w) {
    const double share = w / (weight + w), pull = weight * share;
    const double elapsed = t - time, distance = x - value - slope * elapsed;
    const double spread_after = spread + pull * elapsed * elapsed;
    // The first observation has neither a distance nor a spread, and the second is on the line.
    const double ratio = spread_after > 0.0 ? pull / spread_after : 0.0;
    square += ratio * spread * distance * distance;
    value += share * (x - value);
    time += share * elapsed;
    slope += ratio * elapsed * distance;
    spread = spread_after;
    weight += w;
  }
};

// Lines of many segments that end at the same observation.
class LineStatistics {
 public:
  explicit LineStatistics(const SegmentSettings&) {}

  void resize(std::size_t n_segments) {
    for (auto* field : {&weight_, &time_, &value_, &spread_, &slope_, &square_})
      field->resize(n_segments, 0.0);
  }

  void move(std::size_t from, std::size_t to) {
    for (auto* field : {&weight_, &time_, &value_, &spread_, &slope_, &square_})
      (*field)[to] = (*field)[from];
  }

  // Add an observation to all segments, and their costs to `total`.
  void observe(const double* x, double weight, std::vector<double>& total) {
    const double value = x[0], time = x[1];
    for (std::size_t k = 0; k < weight_.size(); ++k) {
      FittedLine line{weight_[k], time_[k], value_[k], spread_[k], slope_[k], square_[k]};
      line.add(value, time, weight);
      weight_[k] = line.weight;
      time_[k] = line.time;
      value_[k] = line.value;
      spread_[k] = line.spread;
      slope_[k] = line.slope;
      square_[k] = line.square;
      total[k] += line.square;
    }
  }

 private:
  // One array per field, so that the loop over segments is vectorized.
  std::vector<double> weight_, time_, value_, spread_, slope_, square_;
};

struct LinearCost {
  using Statistics = LineStatistics;

  static constexpr CostProperties properties{.name = "linear",
                                             .is_homogeneous = true,
                                             .power = 2,
                                             .n_parameters = 2,
                                             .deviance_unit = 1,
                                             .has_unit = true,
                                             .is_shift_invariant = true,
                                             .uses_time = true,
                                             .min_length = 2};
};

}  // namespace rocpath
