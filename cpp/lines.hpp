// Lines with their jumps of FP and TP, and the order of the lines at a step.
//
// FP and TP are held as whole numbers of a unit (`in_units`), so that sums over lines never drift,
// do not depend on the order of addition, and are zero exactly where they should be.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

#include "exact.hpp"
#include "memory.hpp"

namespace rocpath {

struct WholeNumbers {
  Vector<std::int64_t> count;
  double unit = 1.0;
};

namespace detail {

// Largest power of two that divides `a` exactly, as an exponent.
inline int lowest_bit(double a) {
  int exponent = 0;
  const auto digits =
      static_cast<std::uint64_t>(std::ldexp(std::fabs(std::frexp(a, &exponent)), 53));
  return exponent - 53 + std::countr_zero(digits);
}

}  // namespace detail

// Write every jump as count * unit, with the sum of |count| below 2^62.
//
// The smallest jump is the unit where all others are exact multiples of it (class counts, rates
// 1/n, repeated weights). Otherwise the unit is a power of two: the finest that all jumps share,
// which loses nothing, or, for very many very uneven weights, 2^-61 of their sum. Requires: finite
// values.
inline WholeNumbers in_units(std::span<const double> jump) {
  double smallest = std::numeric_limits<double>::infinity();
  double total = 0.0;
  int lowest_bit = std::numeric_limits<int>::max();
  for (const double a : jump) {
    if (a == 0.0) continue;
    smallest = std::min(smallest, std::fabs(a));
    total += std::fabs(a);
  }
  WholeNumbers result{Vector<std::int64_t>(jump.size()), 1.0};
  if (total == 0.0) return result;

  const auto fill = [&](double unit) {
    result.unit = unit;
    for (std::size_t k = 0; k < jump.size(); ++k)
      result.count[k] = static_cast<std::int64_t>(std::nearbyint(jump[k] / unit));
  };
  const bool is_multiple =
      total / smallest < 0x1p52 &&
      std::all_of(
          jump.begin(), jump.end(),
          [&](double a) { return std::fma(std::nearbyint(a / smallest), smallest, -a) == 0.0; });
  if (is_multiple) {
    fill(smallest);
    return result;
  }
  for (const double a : jump)
    if (a != 0.0) lowest_bit = std::min(lowest_bit, detail::lowest_bit(a));
  int total_exponent = 0;
  std::frexp(total, &total_exponent);
  fill(std::ldexp(1.0, std::max({lowest_bit, total_exponent - 61, -1074})));
  return result;
}

struct ErrorLine : Line {
  std::int64_t fp = 0;  // false positives gained as the threshold passes the line, in fp_unit
  std::int64_t tp = 0;  // true positives gained, in tp_unit
};

struct ErrorLines {
  Vector<ErrorLine> line;
  double fp_unit = 1.0;
  double tp_unit = 1.0;

  std::size_t size() const { return line.size(); }
};

// The input as arrays; the four have one length.
struct LineArrays {
  std::span<const double> intercept;
  std::span<const double> slope;
  std::span<const std::int64_t> fp;
  std::span<const std::int64_t> tp;
  double fp_unit;
  double tp_unit;
};

// Permutation that sorts `key`, equal keys in input order. Radix sort: O(n), 32 bytes an element.
inline Vector<std::uint32_t> sorted_order(std::span<const double> key) {
  struct Item {
    std::uint64_t key;
    std::uint32_t index;
  };
  constexpr unsigned bits = 11;
  constexpr std::size_t n_buckets = std::size_t{1} << bits;
  constexpr unsigned n_passes = (64 + bits - 1) / bits;
  Vector<Item> items(key.size());
  Vector<std::array<std::uint32_t, n_buckets>> histogram(n_passes);
  for (std::size_t k = 0; k < key.size(); ++k) {
    // Order-preserving bits; adding zero turns -0.0 into 0.0.
    const auto raw = std::bit_cast<std::uint64_t>(key[k] + 0.0);
    const std::uint64_t ordered = (raw >> 63) != 0 ? ~raw : raw | (std::uint64_t{1} << 63);
    items[k] = {ordered, static_cast<std::uint32_t>(k)};
    for (unsigned pass = 0; pass < n_passes; ++pass)
      ++histogram[pass][(ordered >> (pass * bits)) & (n_buckets - 1)];
  }
  Vector<Item> sorted(key.size());
  for (unsigned pass = 0; pass < n_passes; ++pass) {
    auto& start = histogram[pass];
    if (std::find(start.begin(), start.end(), key.size()) != start.end()) continue;
    std::exclusive_scan(start.begin(), start.end(), start.begin(), std::uint32_t{0});
    for (const Item& item : items)
      sorted[start[(item.key >> (pass * bits)) & (n_buckets - 1)]++] = item;
    items.swap(sorted);
  }
  Vector<std::uint32_t> order(key.size());
  std::transform(items.begin(), items.end(), order.begin(),
                 [](const Item& item) { return item.index; });
  return order;
}

// Distinct lines in their order just after step 0: by intercept, then by slope. Equal lines never
// part, so they become one line with the sum of their jumps.
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
  ErrorLines result{{}, input.fp_unit, input.tp_unit};
  result.line.reserve(order.size());
  for (const std::uint32_t k : order) {
    const bool is_equal = !result.line.empty() &&
                          result.line.back().intercept == input.intercept[k] &&
                          result.line.back().slope == input.slope[k];
    if (!is_equal) result.line.push_back({{input.intercept[k], input.slope[k]}, 0, 0});
    result.line.back().fp += input.fp[k];
    result.line.back().tp += input.tp[k];
  }
  return result;
}

// Two lines that exchange places: `lower` is below before the step, and above after it.
struct Crossing {
  double step;
  std::uint32_t lower;
  std::uint32_t upper;
};

// The order of the lines just after a step: all crossings at or before it have happened.
class OrderAfter {
 public:
  OrderAfter(const ErrorLines& lines, double step)
      : lines_(lines),
        step_(step),
        next_step_(std::nextafter(step, std::numeric_limits<double>::infinity())) {}

  // A line's places at the step and at the next float64, correctly rounded: where two lines stand
  // in one strict order at both, they stand so in between.
  struct Place {
    double at;
    double next;
    std::uint32_t line;
  };

  Place place(std::uint32_t line) const {
    return {lines_.line[line].at(step_), lines_.line[line].at(next_step_), line};
  }

  // Have two lines, `lower` below `upper` at some earlier step, exchanged places?
  bool have_crossed(const Place& lower, const Place& upper) const {
    if (upper.at < lower.at && upper.next < lower.next) return true;
    if (lower.at < upper.at && lower.next < upper.next) return false;
    const ErrorLine& a = lines_.line[lower.line];
    const ErrorLine& b = lines_.line[upper.line];
    return a.slope > b.slope && crossing_step(a, b) <= step_;
  }

 private:
  const ErrorLines& lines_;
  double step_;
  double next_step_;
};

// Number of pairs out of order, with `has_crossed(left, right)` for elements of the input order;
// sorts on the way. Merge sort, O(n log n).
template <class T, class HasCrossed>
std::uint64_t sort_and_count(Vector<T>& items, HasCrossed has_crossed) {
  std::uint64_t count = 0;
  Vector<T> merged(items.size());
  for (std::size_t width = 1; width < items.size(); width *= 2) {
    for (std::size_t begin = 0; begin < items.size(); begin += 2 * width) {
      const std::size_t middle = std::min(begin + width, items.size());
      const std::size_t end = std::min(middle + width, items.size());
      std::size_t left = begin;
      std::size_t right = middle;
      for (std::size_t k = begin; k < end; ++k) {
        const bool take_right =
            left == middle || (right < end && has_crossed(items[left], items[right]));
        if (take_right) count += middle - left;
        merged[k] = items[take_right ? right++ : left++];
      }
    }
    items.swap(merged);
  }
  return count;
}

// How many pairs of lines cross at a positive step.
inline std::uint64_t count_crossings(const ErrorLines& lines) {
  Vector<double> slope(lines.size());
  std::transform(lines.line.begin(), lines.line.end(), slope.begin(),
                 [](const ErrorLine& line) { return line.slope; });
  return sort_and_count(slope, [](double left, double right) { return left > right; });
}

}  // namespace rocpath
