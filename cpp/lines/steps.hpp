// Ranges of steps, and steps inside them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "lines/lines.hpp"

namespace rocpath {

struct StepRange {
  double low;
  double high;
};

inline bool is_inside(double step, StepRange range) {
  return step > range.low && step < range.high;
}

// Chooses steps inside a range, which may be infinite. The typical step of the lines is found in
// O(B).
class StepScale {
 public:
  explicit StepScale(const ErrorLines& lines) : scale_(typical_step(lines)) {}

  // The step at a fraction of the way from the start of the range to its end, where infinity is as
  // far from the typical step as the typical step is from 0.
  double within(StepRange range, double share) const {
    const auto place = [&](double step) {
      return std::isinf(step) ? std::copysign(1.0, step) : step / (scale_ + std::fabs(step));
    };
    const double at = (1.0 - share) * place(range.low) + share * place(range.high);
    return scale_ * at / (1.0 - std::fabs(at));
  }

  // The step to return for a range on which the value is constant: its middle. For an infinite
  // range, the step is near the finite end, because predictions lose digits at large steps. If no
  // float64 is inside, the result is `otherwise`.
  double inside(StepRange range, double otherwise) const {
    double step = middle(range);
    if (std::isinf(range.high) && range.low >= 0.0) step = std::min(step, 2.0 * range.low + scale_);
    if (std::isinf(range.low) && range.high <= 0.0)
      step = std::max(step, 2.0 * range.high - scale_);
    return is_inside(step, range) ? step : otherwise;
  }

  // The step at which to split a range. It is an end of the range only if no float64 is inside.
  double middle(StepRange range) const {
    const double step = within(range, 0.5);
    if (is_inside(step, range) && std::isfinite(step)) return step;
    // Otherwise, return the median of the float64 numbers inside.
    constexpr double largest = std::numeric_limits<double>::max();
    const auto bits = [](double x) {
      const auto raw = std::bit_cast<std::int64_t>(x);
      return raw < 0 ? std::numeric_limits<std::int64_t>::min() - raw : raw;
    };
    const std::int64_t low = bits(std::clamp(range.low, -largest, largest));
    const std::int64_t high = bits(std::clamp(range.high, -largest, largest));
    const std::int64_t mean = low / 2 + high / 2 + (low % 2 + high % 2) / 2;
    return std::bit_cast<double>(mean < 0 ? std::numeric_limits<std::int64_t>::min() - mean : mean);
  }

 private:
  double scale_;

  // The step at which thresholds have typically moved by their distance from each other.
  static double typical_step(const ErrorLines& lines) {
    const auto spread = [&](auto of) {
      double low = std::numeric_limits<double>::infinity();
      double high = -low;
      double sum = 0.0;
      for (const ErrorLine& line : lines.line) {
        low = std::min(low, of(line));
        high = std::max(high, of(line));
      }
      const double middle = 0.5 * low + 0.5 * high;
      for (const ErrorLine& line : lines.line) sum += std::fabs(of(line) - middle);
      return sum;
    };
    const double step = spread([](const ErrorLine& line) { return line.intercept; }) /
                        spread([](const ErrorLine& line) { return line.slope; });
    return std::isfinite(step) && step > 0.0 ? step : 1.0;
  }
};

}  // namespace rocpath
