// When two lines cross, and the order of the lines at and after a step. An order takes O(B), or O(B
// log B) if many thresholds are close together (sorting.hpp).
//
// Equal steps. Two crossings are at the same step if the float64 numbers nearest to them are equal.
// `crossing_step` returns that number, correctly rounded, so it depends only on the crossing and
// not on the pair of lines it was computed from; it is monotone in the crossing; and scaling the
// lines scales it. Hence a pair of lines crosses exactly once, lines through one point cross in one
// row, and there is no tolerance to tune. Zero is an exception: a crossing after step 0 that
// underflows is moved to the smallest float64 above 0, because it must remain after the start.
//
// After a step. The order *after* a float64 step is the one where all crossings have happened whose
// nearest float64 is not beyond it (`order_after`). The lines have this order at every float64
// strictly between two consecutive crossing steps. *At* exactly that float64, some crossings that
// round to it may not have happened yet (`order_at`): if it is shared by several crossings, this
// order may occur at no other float64.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "lines/crossing_step.hpp"

namespace rocpath {

// Two lines that exchange places: `lower` is below before the step, and above after it.
struct Crossing {
  double step;
  std::uint32_t lower;
  std::uint32_t upper;
};

// The order of the lines after a step.
class OrderAfter {
 public:
  OrderAfter(const ErrorLines& lines, double step)
      : lines_(lines),
        step_(step),
        next_step_(std::nextafter(step, std::numeric_limits<double>::infinity())) {}

  // The thresholds of a line at the step and at the next float64, correctly rounded: two lines in
  // the same strict order at both are in that order in between.
  struct Place {
    double at;
    double next;
    std::uint32_t line;
    std::uint32_t kind = 0;  // kind of the line, set by the caller
  };

  Place place(std::uint32_t line) const {
    return {lines_.line[line].at(step_), lines_.line[line].at(next_step_), line};
  }

  // Whether two lines, `lower` below `upper` at some earlier step, have exchanged places.
  bool have_crossed(const Place& lower, const Place& upper) const {
    if (upper.at < lower.at && upper.next < lower.next) return true;
    if (lower.at < upper.at && lower.next < upper.next) return false;
    const ErrorLine& a = lines_.line[lower.line];
    const ErrorLine& b = lines_.line[upper.line];
    return a.slope > b.slope && crossing_step(a, b) <= step_;
  }

  // Whether line i is below line j. After their crossing, the line with the smaller slope is below.
  // Equal lines are in the order of their indices.
  bool is_below(std::uint32_t i, std::uint32_t j) const {
    const ErrorLine& a = lines_.line[i];
    const ErrorLine& b = lines_.line[j];
    if (a.slope == b.slope) return a.intercept != b.intercept ? a.intercept < b.intercept : i < j;
    return (crossing_step(a, b) <= step_) == (a.slope < b.slope);
  }

  // Upper bound on how much two lines approach each other before the next float64.
  double approach(double steepest) const { return 2.0 * steepest * (next_step_ - step_); }

 private:
  const ErrorLines& lines_;
  double step_;
  double next_step_;
};

// Sort the items, and return the number of inversions: pairs with `has_crossed(left, right)` in the
// input order. Merge sort, O(n log n).
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

// Number of pairs of lines that cross after the start and up to a step, which may be infinite.
inline std::uint64_t count_crossings(const ErrorLines& lines, double to) {
  if (std::isinf(to)) {
    Vector<double> slope(lines.size());
    std::transform(lines.line.begin(), lines.line.end(), slope.begin(),
                   [](const ErrorLine& line) { return line.slope; });
    return sort_and_count(slope, [](double left, double right) { return left > right; });
  }
  const OrderAfter after(lines, to);
  Vector<OrderAfter::Place> place(lines.size());
  for (std::uint32_t k = 0; k < place.size(); ++k) place[k] = after.place(k);
  return sort_and_count(place,
                        [&](const auto& a, const auto& b) { return after.have_crossed(a, b); });
}

// Which of two lines is below at a finite step: -1 for the first one, 1 for the second one, 0 if
// they meet.
inline int compare_at(const Line& a, const Line& b, double step) {
  const double left = a.at(step);
  const double right = b.at(step);
  if (left != right) return left < right ? -1 : 1;  // correctly rounded, so certain
  if (a.intercept == b.intercept && a.slope == b.slope) return 0;
  ExactSum difference;
  difference.add_product(1.0, a.intercept);
  difference.add_product(-1.0, b.intercept);
  difference.add_product(step, a.slope);
  difference.add_product(-step, b.slope);
  return difference.sign();
}

inline bool is_tied_at(const Line& a, const Line& b, double step) {
  return step == 0.0 ? a.intercept == b.intercept : compare_at(a, b, step) == 0;
}

// Twice the AUC at a step, given the order at it; pairs of lines that are tied there count one
// half.
inline int128 doubled_auc_at(const ErrorLines& lines, double step,
                             std::span<const std::uint32_t> order) {
  int128 doubled = 0;
  std::int64_t tp_below = 0;
  for (std::size_t begin = 0, end = 1; begin < order.size(); begin = end++) {
    const ErrorLine& first = lines.line[order[begin]];
    ErrorSums tied{first.fp, first.tp};
    for (; end < order.size() && is_tied_at(first, lines.line[order[end]], step); ++end)
      tied += {lines.line[order[end]].fp, lines.line[order[end]].tp};
    doubled += static_cast<int128>(tied.fp) * (static_cast<int128>(2) * tp_below + tied.tp);
    tp_below += tied.tp;
  }
  return doubled;
}

// Memory for the functions below, which is reused for the same lines.
struct OrderBuffers {
  Vector<double> key;
  SortBuffers sort;
  double steepest = -1.0;  // largest absolute slope of all lines; negative if not known yet
};

// Sort by the rounded keys, then by `is_below` where the difference of neighboring keys is not
// larger than their rounding error and `approach`. Tied lines must have an order too: otherwise the
// implementation of std::sort would determine the order of summation, and with it the rounding
// errors.
template <class IsBelow>
Vector<std::uint32_t> order_by(OrderBuffers& buffers, double approach, IsBelow is_below,
                               Vector<std::uint32_t> order) {
  const Vector<double>& key = buffers.key;
  order = sorted_order(key, buffers.sort, std::move(order));
  if (order.empty()) return order;
  const double largest = std::max(std::fabs(key[order.front()]), std::fabs(key[order.back()]));
  const double margin = approach + 0x1p-52 * largest;
  for (auto first = order.begin(); first != order.end();) {
    auto last = first + 1;
    while (last != order.end() && !(key[*last] - key[last[-1]] > margin)) ++last;
    if (last - first > 1) std::sort(first, last, is_below);
    first = last;
  }
  return order;
}

// The exact order of the lines after a step, which may be infinite. The memory of `order` is
// reused.
inline Vector<std::uint32_t> order_after(const ErrorLines& lines, double step,
                                         OrderBuffers& buffers, Vector<std::uint32_t> order = {}) {
  Vector<double>& key = buffers.key;
  key.resize(lines.size());
  if (std::isinf(step)) {
    for (std::size_t k = 0; k < lines.size(); ++k)
      key[k] = std::copysign(1.0, step) * lines.line[k].slope;
    const auto is_below = [&](std::uint32_t i, std::uint32_t j) {
      const double intercept = lines.line[i].intercept;
      const double other = lines.line[j].intercept;
      return key[i] != key[j] ? key[i] < key[j] : intercept != other ? intercept < other : i < j;
    };
    return order_by(buffers, 0.0, is_below, std::move(order));
  }
  for (std::size_t k = 0; k < lines.size(); ++k) key[k] = lines.line[k].at(step);
  if (buffers.steepest < 0.0)
    for (const ErrorLine& line : lines.line)
      buffers.steepest = std::max(buffers.steepest, std::fabs(line.slope));
  const OrderAfter after(lines, step);
  const auto is_below = [&](std::uint32_t i, std::uint32_t j) { return after.is_below(i, j); };
  return order_by(buffers, after.approach(buffers.steepest), is_below, std::move(order));
}

inline Vector<std::uint32_t> order_after(const ErrorLines& lines, double step) {
  OrderBuffers buffers;
  return order_after(lines, step, buffers);
}

// The exact order of the lines at a finite step.
inline Vector<std::uint32_t> order_at(const ErrorLines& lines, double step) {
  OrderBuffers buffers;
  for (const ErrorLine& line : lines.line) buffers.key.push_back(line.at(step));
  const auto is_below = [&](std::uint32_t i, std::uint32_t j) {
    const int side = compare_at(lines.line[i], lines.line[j], step);
    return side != 0 ? side < 0 : i < j;
  };
  return order_by(buffers, 0.0, is_below, {});
}

}  // namespace rocpath
