// Lines with their jumps of FP and TP, and how to sort by a float64 key.
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

#include "aum_piece.hpp"
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

// FP and TP of all lines below some place.
struct ErrorSums {
  std::int64_t fp = 0;
  std::int64_t tp = 0;

  void operator+=(const ErrorSums& other) {
    fp += other.fp;
    tp += other.tp;
  }
};

// The input as arrays; the four have one length.
struct LineArrays {
  std::span<const double> intercept;
  std::span<const double> slope;
  std::span<const std::int64_t> fp;
  std::span<const std::int64_t> tp;
  double fp_unit;
  double tp_unit;

  std::size_t size() const { return intercept.size(); }
  ErrorLine operator[](std::size_t k) const { return {{intercept[k], slope[k]}, fp[k], tp[k]}; }
};

// Lines in their order just after step `from`. Lines outside of them, if any, stay below or above
// all of them and are known by their sums alone.
struct ErrorLines {
  Vector<ErrorLine> line;
  double fp_unit = 1.0;
  double tp_unit = 1.0;
  ErrorSums total;   // of all lines, those outside included
  ErrorSums below;   // of the lines outside that are below
  AumPiece outside;  // what the lines outside add to AUM
  double from = 0.0;

  std::size_t size() const { return line.size(); }
  const ErrorLine& operator[](std::size_t k) const { return line[k]; }

  // Sums of the lines that are outside of others already.
  void take_outside(const ErrorLines& others) {
    total = others.total;
    for (const ErrorLine& one : others.line) {
      total.fp -= one.fp;
      total.tp -= one.tp;
    }
    below = others.below;
    outside = others.outside;
  }
  void take_outside(const LineArrays&) {}

  // Add lines, and sums, of another part of all lines.
  void add_part(const ErrorLines& part) {
    line.insert(line.end(), part.line.begin(), part.line.end());
    total += part.total;
    below += part.below;
    outside.add(part.outside);
  }

  bool is_monotone() const {
    return std::all_of(line.begin(), line.end(),
                       [](const ErrorLine& one) { return one.fp >= 0 && one.tp >= 0; });
  }
};

// Memory for `sorted_order`, to be used again: fresh memory costs more than the sort.
struct SortBuffers {
  struct Item {
    std::uint32_t place;
    std::uint32_t index;
  };
  Vector<Item> items;
  Vector<Item> sorted;
};

// Permutation that sorts `key`, equal keys in input order. A radix sort on 33 bits of the place
// between the smallest and the largest key, which leaves little to do for a comparison sort: O(n)
// unless the keys crowd together. Requires: finite keys, or infinite ones but no NaN.
inline Vector<std::uint32_t> sorted_order(std::span<const double> key, SortBuffers& buffers,
                                          Vector<std::uint32_t> order = {}) {
  using Item = SortBuffers::Item;
  auto& [items, sorted] = buffers;
  constexpr unsigned bits = 11;
  constexpr std::size_t n_buckets = std::size_t{1} << bits;
  constexpr double n_places = 0x1p32;
  const auto [low, high] = std::minmax_element(key.begin(), key.end());
  const double scale = key.empty() ? 0.0 : 0.5 * n_places / (0.5 * *high - 0.5 * *low);
  const auto place = [&, smallest = key.empty() ? 0.0 : *low](double x) {
    const double moved = (0.5 * x - 0.5 * smallest) * (2.0 * scale);  // never decreases with x
    if (!(moved > 0.0)) return 0U;
    return moved < n_places ? static_cast<std::uint32_t>(moved) : ~0U;
  };
  std::array<std::array<std::uint32_t, n_buckets>, 3> histogram{};
  items.resize(key.size());
  for (std::size_t k = 0; k < key.size(); ++k) {
    items[k] = {place(key[k]), static_cast<std::uint32_t>(k)};
    for (unsigned pass = 0; pass < 3; ++pass)
      ++histogram[pass][(items[k].place >> (pass * bits)) & (n_buckets - 1)];
  }
  sorted.resize(key.size());
  for (unsigned pass = 0; pass < 3; ++pass) {
    auto& start = histogram[pass];
    std::exclusive_scan(start.begin(), start.end(), start.begin(), std::uint32_t{0});
    for (const Item& item : items)
      sorted[start[(item.place >> (pass * bits)) & (n_buckets - 1)]++] = item;
    items.swap(sorted);
  }
  order.resize(key.size());
  std::transform(items.begin(), items.end(), order.begin(),
                 [](const Item& item) { return item.index; });
  for (std::size_t begin = 0, end = 1; begin < items.size(); begin = end++) {
    while (end < items.size() && items[end].place == items[begin].place) ++end;
    if (end - begin > 1)
      std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(begin),
                       order.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](std::uint32_t a, std::uint32_t b) { return key[a] < key[b]; });
  }
  return order;
}

inline Vector<std::uint32_t> sorted_order(std::span<const double> key) {
  SortBuffers buffers;
  return sorted_order(key, buffers);
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
  ErrorLines result;
  result.fp_unit = input.fp_unit;
  result.tp_unit = input.tp_unit;
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
