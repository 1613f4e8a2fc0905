// Thresholds as linear functions of the step, with the jumps of FP and TP at them. Distinct lines
// are found by sorting, in O(B log B).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "lines/aum_piece.hpp"
#include "lines/exact_aum.hpp"
#include "numerics/sorting.hpp"

namespace rocpath {

// One threshold as a function of the step: T(s) = intercept + s * slope.
struct Line {
  double intercept;
  double slope;

  double at(double step) const { return std::fma(step, slope, intercept); }
};

// A line with the jumps of FP and TP at its threshold, as integer multiples of a unit
// (integer_units.hpp).
struct ErrorLine : Line {
  std::int64_t fp = 0;  // increase of FP as the threshold passes the line, in fp_unit
  std::int64_t tp = 0;  // increase of TP, in tp_unit
};

// Sums of FP and TP over some lines, usually all below a threshold.
struct ErrorSums {
  std::int64_t fp = 0;
  std::int64_t tp = 0;

  void operator+=(const ErrorSums& other) {
    fp += other.fp;
    tp += other.tp;
  }
};

// The largest absolute value of some numbers, or NaN if one of them is NaN. Absolute values are
// compared by their bits, which have the same order with NaN above all others: a maximum of
// integers, unlike one of float64 numbers that may be NaN, is computed in vector registers.
class LargestSize {
 public:
  void add(double number) {
    bits_ = std::max(bits_, std::bit_cast<std::int64_t>(std::fabs(number)));
  }
  double value() const { return std::bit_cast<double>(bits_); }

 private:
  std::int64_t bits_ = 0;
};

inline double largest_size(std::span<const double> numbers) {
  LargestSize largest;
  for (const double number : numbers) largest.add(number);
  return largest.value();
}

// Precision of the sums of lines outside a box: double-double numbers that may be rounded,
// double-double numbers that are exact, or additional exact sums.
enum class OutsideSums { rounded, unrounded, exact };

// Input of the searches: four arrays of the same length.
struct LineArrays {
  std::span<const double> intercept;
  std::span<const double> slope;
  std::span<const std::int64_t> fp;
  std::span<const std::int64_t> tp;
  double fp_unit;
  double tp_unit;
  double divisor = 1.0;  // divisor of AUM, since the unit of rates is not a float64
  OutsideSums outside_sums = OutsideSums::unrounded;

  std::size_t size() const { return intercept.size(); }
  ErrorLine operator[](std::size_t k) const { return {{intercept[k], slope[k]}, fp[k], tp[k]}; }
};

// Lines in their order just after step `from`. There may be more lines outside, which stay below or
// above all of these and are represented by sums.
struct ErrorLines {
  Vector<ErrorLine> line;
  double fp_unit = 1.0;
  double tp_unit = 1.0;
  double divisor = 1.0;
  ErrorSums total;   // sums over all lines, including those outside
  ErrorSums below;   // sums over the outside lines that stay below
  AUMPiece outside;  // contribution of the lines outside to AUM
  OutsideSums outside_sums = OutsideSums::unrounded;
  std::shared_ptr<const ExactAUM> exact_outside;  // the same as `outside`, for OutsideSums::exact
  bool is_outside_monotone = true;
  double from = 0.0;

  std::size_t size() const { return line.size(); }
  const ErrorLine& operator[](std::size_t k) const { return line[k]; }

  // Copy the sums of the lines outside.
  void take_outside(const ErrorLines& others) {
    total = others.total;
    for (const ErrorLine& one : others.line) {
      total.fp -= one.fp;
      total.tp -= one.tp;
    }
    below = others.below;
    outside = others.outside;
    exact_outside = others.exact_outside;
  }
  void take_outside(const LineArrays&) {}

  // Add the lines and sums of another subset of all lines.
  void add_part(const ErrorLines& part) {
    line.insert(line.end(), part.line.begin(), part.line.end());
    total += part.total;
    below += part.below;
    outside.add(part.outside);
    if (part.exact_outside) add_exact_outside(*part.exact_outside);
  }

  void add_exact_outside(ExactAUM sums) {
    if (exact_outside) sums.add(*exact_outside);
    exact_outside = std::make_shared<const ExactAUM>(std::move(sums));
  }

  // Count every line several times, by multiplying the units. The sums over the outside lines
  // already include all of them, so they are divided by the same factor.
  void count_each(std::size_t times) {
    const auto factor = static_cast<std::int64_t>(times);
    fp_unit *= static_cast<double>(factor);
    tp_unit *= static_cast<double>(factor);
    total = {total.fp / factor, total.tp / factor};
    below = {below.fp / factor, below.tp / factor};
  }

  // Whether the errors of all lines are monotone, including those outside. If the outside lines are
  // not, AUM may be negative even if the errors of these lines are monotone.
  bool is_monotone() const {
    return is_outside_monotone && std::all_of(line.begin(), line.end(), [](const ErrorLine& one) {
             return one.fp >= 0 && one.tp >= 0;
           });
  }
};

// Distinct lines in their order just after step 0: by intercept, then by slope. Equal lines never
// separate, so they become one line with the sum of their jumps.
inline ErrorLines distinct_lines(const LineArrays& input) {
  Vector<std::uint32_t> order = sorted_order(input.intercept);
  for (auto first = order.begin(); first != order.end();) {
    const double intercept = input.intercept[*first];
    const auto last = std::find_if(
        first + 1, order.end(), [&](std::uint32_t k) { return input.intercept[k] != intercept; });
    std::sort(first, last,
              [&](std::uint32_t a, std::uint32_t b) { return input.slope[a] < input.slope[b]; });
    first = last;
  }
  ErrorLines result;
  result.fp_unit = input.fp_unit;
  result.tp_unit = input.tp_unit;
  result.divisor = input.divisor;
  result.line.reserve(order.size());
  for (const std::uint32_t k : order) {
    const bool is_equal = !result.line.empty() &&
                          result.line.back().intercept == input.intercept[k] &&
                          result.line.back().slope == input.slope[k];
    if (!is_equal) result.line.push_back({{input.intercept[k], input.slope[k]}, 0, 0});
    result.line.back().fp += input.fp[k];
    result.line.back().tp += input.tp[k];
    result.total += {input.fp[k], input.tp[k]};
  }
  return result;
}

}  // namespace rocpath
