// Select the lines that can meet the level in a range of steps, and replace all others by sums.
//
// The slope of AUM changes only where FP meets FN. Within a range of steps, lines that stay below
// the lowest such threshold or above the highest one add a fixed linear function to AUM. A search
// replaces them by two sums, and continues with the same problem on fewer lines. Expected time
// O(B), or O(B log B) if errors are not monotone.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "lines/crossings.hpp"
#include "roc/level.hpp"

namespace rocpath {

// A range of steps and a range of thresholds. If the steps end at infinity, thresholds are divided
// by the step: they keep their order, and are linear functions of 1 / step.
struct Box {
  StepRange steps{0.0, 0.0};
  double lowest = -std::numeric_limits<double>::infinity();
  double highest = std::numeric_limits<double>::infinity();
};

// The lowest and the highest threshold of a line within a range of steps. The range is extended by
// one float64 at each end, because crossings that round to an end may be outside of it.
class LinePlaces {
 public:
  explicit LinePlaces(StepRange steps) : is_finite_(std::isfinite(steps.high)) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    low_ = steps.low > 0.0 ? std::nextafter(steps.low, 0.0) : steps.low;
    // The end is rounded up, so that the whole range is covered.
    high_ =
        std::nextafter(is_finite_ ? steps.high : std::nextafter(1.0 / low_, infinity), infinity);
  }

  struct Places {
    double lowest;
    double highest;
  };

  // Places are correctly rounded, so strict inequalities between them also hold for the exact
  // places.
  Places operator()(const Line& line) const {
    const double first = is_finite_ ? line.at(low_) : line.slope;
    const double last = is_finite_ ? line.at(high_) : std::fma(high_, line.intercept, line.slope);
    return {std::min(first, last), std::max(first, last)};
  }

  double width() const { return high_ - low_; }

 private:
  bool is_finite_;
  double low_;
  double high_;
};

namespace detail {

// Sums of jump * intercept and jump * slope.
class JumpSums {
 public:
  void add(std::int64_t jump, const Line& line) {
    if (jump == 0) return;
    const double count = static_cast<double>(jump);
    intercept_.add_product(count, line.intercept);
    slope_.add_product(count, line.slope);
    // A count above 2^53 is rounded, so the rest is added separately.
    const auto rest = static_cast<double>(jump - static_cast<std::int64_t>(count));
    if (rest != 0.0) {
      intercept_.add_product(rest, line.intercept);
      slope_.add_product(rest, line.slope);
    }
    intercept_size_ += std::fabs(count * line.intercept);
    slope_size_ += std::fabs(count * line.slope);
  }

  AUMPiece times(double unit) const {
    return AUMPiece(intercept_.sum() * unit, slope_.sum() * unit,
                    AUMPiece::size_of_product(intercept_size_, unit),
                    AUMPiece::size_of_product(slope_size_, unit));
  }

 private:
  CompensatedSum intercept_;
  CompensatedSum slope_;
  double intercept_size_ = 0.0;
  double slope_size_ = 0.0;
};

// Whether all numbers are multiples of a unit that is large enough for exact double-double sums.
template <class Get>
bool are_sums_unrounded(std::size_t size, Get get, int count_bits) {
  LargestSize largest;
  for (std::size_t k = 0; k < size; ++k) largest.add(get(k));
  if (largest.value() == 0.0) return true;
  constexpr int sum_bits = 95;  // 106, less 11 for the sum of a block in `collapse`
  const int exponent = std::ilogb(largest.value()) + 1 + count_bits - sum_bits;
  if (exponent < -1022) return false;
  const double unit = std::ldexp(1.0, exponent);
  for (std::size_t k = 0; k < size; ++k)
    if (std::fmod(get(k), unit) != 0.0) return false;
  return true;
}

}  // namespace detail

// Whether the sums of lines outside any box are exact in double-double arithmetic, as for integers
// and other numbers with few significant bits.
template <class Lines>
bool are_sums_unrounded(const Lines& lines) {
  ErrorSums sizes;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const ErrorLine& line = lines[k];
    sizes += {std::abs(line.fp), std::abs(line.tp)};
  }
  const auto digits = [](double unit) {
    int exponent = 0;
    const auto whole = static_cast<std::uint64_t>(std::ldexp(std::frexp(unit, &exponent), 53));
    return 53 - std::countr_zero(whole);
  };
  const int count_bits =
      std::max(digits(lines.fp_unit) + std::bit_width(static_cast<std::uint64_t>(sizes.fp)),
               digits(lines.tp_unit) + std::bit_width(static_cast<std::uint64_t>(sizes.tp)));
  return detail::are_sums_unrounded(
             lines.size(), [&](std::size_t k) { return lines[k].intercept; }, count_bits) &&
         detail::are_sums_unrounded(
             lines.size(), [&](std::size_t k) { return lines[k].slope; }, count_bits);
}

// Call search(lines) with double-double sums of the lines outside a box. If these leave the sign or
// digits of AUM uncertain, call it again with exact sums. The C++ library of WASI does not support
// exceptions, so sums are exact from the beginning there, with the same results.
template <class Lines, class Search>
auto with_certain_sums(Lines lines, Search search) {
  if constexpr (requires { lines.outside_sums; }) {
#ifndef __wasi__
    lines.outside_sums = OutsideSums::rounded;
    try {
      return search(lines);
    } catch (const SumsInDoubt&) {
    }
#endif
    lines.outside_sums = are_sums_unrounded(lines) ? OutsideSums::unrounded : OutsideSums::exact;
  }
  return search(lines);
}

// Keep the lines that may enter a box, and replace the others by sums, in one pass. Results for
// disjoint sets of lines can be added.
// Requires: below the box FP is the smaller error, above it FN, at all steps of the box.
template <class Lines>
ErrorLines collapse(const Lines& lines, std::size_t begin, std::size_t end, const Box& box) {
  ErrorLines result;
  result.fp_unit = lines.fp_unit;
  result.tp_unit = lines.tp_unit;
  result.divisor = lines.divisor;
  result.outside_sums = lines.outside_sums;
  result.from = box.steps.low;
  if (begin == 0) result.take_outside(lines);
  const LinePlaces places(box.steps);
  const bool is_exact = lines.outside_sums == OutsideSums::exact;
  std::optional<ExactAUM> exact;
  if (is_exact) exact.emplace();
  // Sums of short blocks are added in full double-double arithmetic, so that the rounding error
  // does not grow with the square of the number of lines (AUMPiece::rounding).
  constexpr std::size_t block = 1024;
  for (std::size_t first = begin; first < end; first += block) {
    detail::JumpSums below;
    detail::JumpSums above;
    for (std::size_t k = first; k < std::min(first + block, end); ++k) {
      const ErrorLine& line = lines[k];
      const auto [lowest, highest] = places(line);
      result.total += {line.fp, line.tp};
      const bool is_below = highest < box.lowest;
      if (is_below || lowest > box.highest) {
        // Below, min(FP, FN) increases by a line's FP; above, it decreases by its TP.
        if (is_below) result.below += {line.fp, line.tp};
        is_below ? below.add(line.fp, line) : above.add(line.tp, line);
        if (is_exact)
          exact->add(is_below ? -line.fp : line.tp, is_below ? lines.fp_unit : lines.tp_unit,
                     line.intercept, line.slope);
      } else {
        result.line.push_back(line);
      }
    }
    result.outside.add(below.times(-lines.fp_unit));
    result.outside.add(above.times(lines.tp_unit));
  }
  if (is_exact) result.add_exact_outside(*exact);
  return result;
}

template <class Lines>
ErrorLines collapse(const Lines& lines, const Box& box) {
  return collapse(lines, 0, lines.size(), box);
}

// The lowest and the highest threshold at which FP may meet FN, for monotone errors: the level of
// the lowest thresholds of the lines, and that of their highest ones. With an excess, the result is
// the range in which FP - FN may be within +-excess.
inline Box level_box(const ErrorLines& lines, StepRange steps, double excess = 0.0) {
  const LinePlaces places(steps);
  const auto level = [&](double reached, auto place) {
    return find_level(
               lines.size(),
               [&](std::size_t k) {
                 const ErrorLine& line = lines.line[k];
                 return WeightedThreshold{place(places(line)), line.fp, line.tp};
               },
               MinError(lines.fp_unit, lines.tp_unit, lines.total.tp, reached), lines.below)
        .threshold;
  };
  if (steps.low == steps.high && excess == 0.0) {
    // A line moves by less than `move` from the float64 before the step to the one after it.
    double steepest = 0.0;
    for (const ErrorLine& line : lines.line) steepest = std::max(steepest, std::fabs(line.slope));
    const double at = level(0.0, [](const auto& p) { return p.lowest; });
    const double move = steepest * (2.0 * places.width()) + 0x1p-52 * std::fabs(at);
    return {steps, at - move, at + move};
  }
  return {steps, level(-excess, [](const auto& p) { return p.lowest; }),
          level(excess, [](const auto& p) { return p.highest; })};
}

// The same for errors that are not monotone: below the box FP - FN is negative, and above it
// positive, wherever the lines are between their lowest and highest thresholds.
inline Box sign_box(const ErrorLines& lines, StepRange steps) {
  const LinePlaces places(steps);
  struct JumpAt {
    double place;
    double size;
  };
  Vector<JumpAt> largest;   // jumps up as early as possible, down as late as possible
  Vector<JumpAt> smallest;  // jumps up as late as possible, down as early as possible
  for (const ErrorLine& line : lines.line) {
    const auto [lowest, highest] = places(line);
    const double size =
        static_cast<double>(line.fp) * lines.fp_unit + static_cast<double>(line.tp) * lines.tp_unit;
    largest.push_back({size > 0.0 ? lowest : highest, size});
    smallest.push_back({size > 0.0 ? highest : lowest, size});
  }
  // Places are rounded, so the exact order of jumps at the same place is unknown. The most extreme
  // order is assumed, so that every implementation of std::sort gives the same box.
  std::sort(largest.begin(), largest.end(), [](const JumpAt& a, const JumpAt& b) {
    return a.place != b.place ? a.place < b.place : a.size > b.size;
  });
  std::sort(smallest.begin(), smallest.end(), [](const JumpAt& a, const JumpAt& b) {
    return a.place != b.place ? a.place < b.place : a.size < b.size;
  });
  const double total_fn = static_cast<double>(lines.total.tp) * lines.tp_unit;
  const double start = static_cast<double>(lines.below.fp) * lines.fp_unit +
                       static_cast<double>(lines.below.tp) * lines.tp_unit - total_fn;
  // Rounding must not hide a change of sign.
  const double slack = 0x1p-40 * (total_fn + static_cast<double>(lines.total.fp) * lines.fp_unit);
  Box box{steps};
  box.lowest = largest.back().place;
  box.highest = smallest.front().place;
  double excess = start;
  for (const JumpAt& jump : largest) {
    excess += jump.size;
    if (excess >= -slack) {
      box.lowest = jump.place;
      break;
    }
  }
  excess = start;
  for (const JumpAt& jump : smallest) {
    if (excess <= slack) box.highest = jump.place;
    excess += jump.size;
  }
  return box;
}

// The lines that can meet the level within a range of steps, in their order after its start.
inline ErrorLines near_level(const ErrorLines& lines, StepRange steps, bool is_monotone) {
  const Box box = is_monotone ? level_box(lines, steps) : sign_box(lines, steps);
  ErrorLines near = collapse(lines, box);
  near.is_outside_monotone = is_monotone;
  return near;
}

// Sort lines into their order after the step `from`.
inline void sort_lines(ErrorLines& lines) {
  const Vector<std::uint32_t> order = order_after(lines, lines.from);
  Vector<ErrorLine> sorted(lines.size());
  std::transform(order.begin(), order.end(), sorted.begin(),
                 [&](std::uint32_t k) { return lines.line[k]; });
  lines.line.swap(sorted);
}

}  // namespace rocpath
