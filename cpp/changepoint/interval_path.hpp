// Interval regression: minimize the mean squared hinge loss plus alpha times the L1 norm of the
// coefficients, for a decreasing sequence of alphas, each starting from the previous solution.
//
//   loss(w, b) = mean over i of max(0, low_i - f_i)^2 + max(0, f_i - high_i)^2,  f = b + X w,
//
// where low and high are the limits of the intervals, moved inward by the margin (so low may exceed
// high), possibly infinite. The proximal Newton method replaces the loss by its second-order
// expansion, which is exact as long as no prediction crosses a limit. Coordinate descent minimizes
// the expansion plus the L1 term over the active coefficients, and a line search follows. A
// solution is accepted if no coordinate violates the optimality conditions by more than the
// tolerance. An iteration with k active coefficients takes O(n k^2 + n p); there are a few for each
// alpha.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "numerics/memory.hpp"

namespace rocpath {

struct IntervalData {
  std::span<const double> feature;  // standardized features, in column-major order
  std::span<const double> low;
  std::span<const double> high;

  std::size_t n_rows() const { return low.size(); }
  std::size_t n_features() const { return feature.size() / low.size(); }
  std::span<const double> column(std::size_t j) const {
    return feature.subspan(j * n_rows(), n_rows());
  }
};

struct IntervalPath {
  Vector<double> coefficient;  // coefficients for each alpha, concatenated
  Vector<double> intercept;
  Vector<double> violation;  // largest violation of the optimality conditions
  Vector<std::int64_t> n_steps;
};

class IntervalDescent {
 public:
  explicit IntervalDescent(const IntervalData& data)
      : data_(data),
        coefficient_(data.n_features()),
        gradient_(data.n_features()),
        fitted_(data.n_rows()),
        slope_(data.n_rows()) {
    update_slopes();
  }

  // The smallest alpha for which all coefficients are zero.
  double largest_alpha() {
    solve(std::numeric_limits<double>::infinity(), 0.0, 100, [] {});
    double largest = 0.0;
    for (const double slope : gradient_) largest = std::max(largest, std::fabs(slope));
    return largest;
  }

  // Minimize the objective, and return the largest violation of the optimality conditions.
  template <class Check>
  double solve(double alpha, double tolerance, std::size_t max_steps, Check check) {
    double violation = update_gradient(alpha);
    for (n_steps_ = 0; n_steps_ < max_steps && violation > tolerance; ++n_steps_) {
      update_curvature();
      minimize_expansion(alpha, 0.01 * violation);
      if (!search_line(alpha)) break;
      violation = update_gradient(alpha);
      check();
    }
    return violation;
  }

  const std::vector<double>& coefficient() const { return coefficient_; }
  double intercept() const { return intercept_; }
  std::size_t n_steps() const { return n_steps_; }  // number of steps of the last call of `solve`

 private:
  double n() const { return static_cast<double>(data_.n_rows()); }

  void update_slopes() {
    for (std::size_t i = 0; i < fitted_.size(); ++i)
      slope_[i] = 2.0 * (std::max(0.0, fitted_[i] - data_.high[i]) -
                         std::max(0.0, data_.low[i] - fitted_[i]));
  }

  // Update the gradient and the active coefficients, and return the largest violation.
  double update_gradient(double alpha) {
    intercept_gradient_ = std::reduce(slope_.begin(), slope_.end()) / n();
    double violation = std::fabs(intercept_gradient_);
    active_.clear();
    for (std::size_t j = 0; j < coefficient_.size(); ++j) {
      const auto x = data_.column(j);
      gradient_[j] = std::inner_product(x.begin(), x.end(), slope_.begin(), 0.0) / n();
      const double own = coefficient_[j] == 0.0
                             ? std::max(0.0, std::fabs(gradient_[j]) - alpha)
                             : std::fabs(gradient_[j] + std::copysign(alpha, coefficient_[j]));
      violation = std::max(violation, own);
      if (own > 0.0 || coefficient_[j] != 0.0) active_.push_back(j);
    }
    return violation;
  }

  // Compute the second derivatives with respect to the intercept, which comes first, and the active
  // coefficients.
  void update_curvature() {
    const std::size_t size = active_.size() + 1;
    std::vector<double> weighted(data_.n_rows(), 0.0);
    curvature_.assign(size * size, 0.0);
    for (std::size_t a = 0; a < size; ++a) {
      double bound = 0.0;
      for (std::size_t i = 0; i < weighted.size(); ++i) {
        const double n_acting = (fitted_[i] > data_.high[i]) + (fitted_[i] < data_.low[i]);
        const double x = a == 0 ? 1.0 : data_.column(active_[a - 1])[i];
        weighted[i] = 2.0 * n_acting * x / n();
        bound += 2.0 * x * x / n();
      }
      for (std::size_t b = 0; b <= a; ++b) {
        double sum = 0.0;
        if (b == 0) {
          sum = std::reduce(weighted.begin(), weighted.end());
        } else {
          const auto x = data_.column(active_[b - 1]);
          for (std::size_t i = 0; i < x.size(); ++i) sum += weighted[i] * x[i];
        }
        curvature_[a * size + b] = curvature_[b * size + a] = sum;
      }
      // Without this term, the minimum of the expansion would not be unique if no prediction is
      // outside its interval, or if features are equal.
      curvature_[a * size + a] += 1e-9 * bound;
    }
  }

  // Set `move_` to the minimum of the expansion plus the L1 term.
  void minimize_expansion(double alpha, double tolerance) {
    const std::size_t size = active_.size() + 1;
    move_.assign(size, 0.0);
    std::vector<double> slope(size, intercept_gradient_);  // gradient of the expansion at `move_`
    for (std::size_t a = 1; a < size; ++a) slope[a] = gradient_[active_[a - 1]];
    for (int round = 0; round < 10'000; ++round) {
      double violation = 0.0;
      for (std::size_t a = 0; a < size; ++a) {
        const double bend = curvature_[a * size + a];
        const double old = a == 0 ? 0.0 : coefficient_[active_[a - 1]] + move_[a];
        const double target = bend * old - slope[a];
        const double kept = a == 0 ? std::fabs(target) : std::max(0.0, std::fabs(target) - alpha);
        const double moved = std::copysign(kept, target) / bend - old;
        if (moved == 0.0) continue;
        violation = std::max(violation, std::fabs(moved) * bend);
        move_[a] += moved;
        for (std::size_t b = 0; b < size; ++b) slope[b] += moved * curvature_[a * size + b];
      }
      if (violation <= tolerance) break;
    }
  }

  // Backtracking line search along `move_`. Returns whether the objective decreases.
  bool search_line(double alpha) {
    std::vector<double> direction(data_.n_rows(), move_[0]);
    double expected = move_[0] * intercept_gradient_;
    for (std::size_t a = 0; a < active_.size(); ++a) {
      const auto x = data_.column(active_[a]);
      const double moved = move_[a + 1], old = coefficient_[active_[a]];
      for (std::size_t i = 0; i < x.size(); ++i) direction[i] += moved * x[i];
      expected += moved * gradient_[active_[a]];
      if (moved != 0.0) expected += alpha * (std::fabs(old + moved) - std::fabs(old));
    }
    for (double step = 1.0; step > 1e-9; step /= 2) {
      if (change_of_objective(direction, step, alpha) > 0.01 * step * expected) continue;
      intercept_ += step * move_[0];
      for (std::size_t a = 0; a < active_.size(); ++a)
        coefficient_[active_[a]] += step * move_[a + 1];
      for (std::size_t i = 0; i < fitted_.size(); ++i) fitted_[i] += step * direction[i];
      update_slopes();
      return true;
    }
    return false;
  }

  double change_of_objective(std::span<const double> direction, double step, double alpha) const {
    const auto loss = [](double beyond) { return beyond > 0.0 ? beyond * beyond : 0.0; };
    double change = 0.0;
    for (std::size_t i = 0; i < fitted_.size(); ++i) {
      const double moved = fitted_[i] + step * direction[i];
      change += (loss(data_.low[i] - moved) - loss(data_.low[i] - fitted_[i])) +
                (loss(moved - data_.high[i]) - loss(fitted_[i] - data_.high[i]));
    }
    change /= n();
    for (std::size_t a = 0; a < active_.size(); ++a) {
      const double old = coefficient_[active_[a]], moved = step * move_[a + 1];
      if (moved != 0.0) change += alpha * (std::fabs(old + moved) - std::fabs(old));
    }
    return change;
  }

  IntervalData data_;
  std::vector<double> coefficient_, gradient_, fitted_, slope_;
  std::vector<std::size_t> active_;
  std::vector<double> curvature_, move_;
  double intercept_ = 0.0;
  double intercept_gradient_ = 0.0;
  std::size_t n_steps_ = 0;
};

// Solve for every alpha. The tolerance is in units of the gradient. Requires: decreasing alphas.
template <class Check>
IntervalPath interval_path(const IntervalData& data, std::span<const double> alpha,
                           double tolerance, std::size_t max_steps, Check check) {
  IntervalDescent descent(data);
  descent.largest_alpha();
  IntervalPath path;
  for (const double one : alpha) {
    path.violation.push_back(descent.solve(one, tolerance, max_steps, check));
    path.n_steps.push_back(static_cast<std::int64_t>(descent.n_steps()));
    path.intercept.push_back(descent.intercept());
    path.coefficient.insert(path.coefficient.end(), descent.coefficient().begin(),
                            descent.coefficient().end());
  }
  return path;
}

}  // namespace rocpath
