// Windows of consecutive steps, each with its crossings.
//
// The crossings between two steps are the inversions between the orders of the lines there. An
// insertion sort from one order to the other enumerates them, in time and memory proportional to
// the lines and the crossings. The width of a window is chosen such that it contains a few
// crossings per line.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "lines/crossings.hpp"
#include "numerics/interrupt.hpp"

namespace rocpath {

// Memory for `sort_by_step`, which is reused.
struct CrossingSort {
  Vector<Crossing> sorted;
  Vector<std::uint32_t> bucket;  // bucket of each crossing
  Vector<std::uint32_t> bucket_start;
};

namespace detail {

// Number of lines by which prefetching runs ahead. Lines are not read in the order in which they
// are stored; with 10^5 of them, waiting for memory took two thirds of the time of a window.
constexpr std::size_t ahead = 16;

inline void prefetch(const ErrorLines& lines, std::span<const std::uint32_t> order, std::size_t k) {
  if (k < order.size()) __builtin_prefetch(&lines.line[order[k]]);
}

// A bucket usually has two or three crossings, for which std::sort is slow.
inline void sort_bucket(std::span<Crossing> bucket) {
  const auto is_earlier = [](const Crossing& a, const Crossing& b) { return a.step < b.step; };
  if (bucket.size() > 16) return std::sort(bucket.begin(), bucket.end(), is_earlier);
  for (std::size_t k = 1; k < bucket.size(); ++k) {
    const Crossing moving = bucket[k];
    std::size_t place = k;
    for (; place > 0 && is_earlier(moving, bucket[place - 1]); --place)
      bucket[place] = bucket[place - 1];
    bucket[place] = moving;
  }
}

}  // namespace detail

// A range of steps, divided into buckets of equal width.
class StepBuckets {
 public:
  StepBuckets(StepRange range, std::size_t n_buckets)
      : low_(range.low),
        scale_(static_cast<double>(n_buckets) / (range.high - range.low)),
        last_(static_cast<double>(n_buckets - 1)) {}

  // The bucket of a step, which never decreases with the step; 0 if the place is NaN.
  std::uint32_t operator()(double step) const {
    const double place = (step - low_) * scale_;
    const double positive = place > 0.0 ? place : 0.0;
    return static_cast<std::uint32_t>(
        static_cast<std::int32_t>(positive < last_ ? positive : last_));
  }

 private:
  double low_;
  double scale_;
  double last_;
};

// Set the step and the bucket of every crossing. Blocks allow steps to be computed in vector
// registers.
inline void set_steps(const ErrorLines& lines, const StepBuckets& buckets,
                      std::span<Crossing> crossings, std::span<std::uint32_t> bucket) {
  constexpr std::size_t block = 64;
  std::array<double, block> lower_intercept{}, lower_slope{}, upper_intercept{}, upper_slope{};
  std::array<double, block> step;
  std::array<std::int64_t, block> is_in_doubt;
  for (std::size_t begin = 0; begin < crossings.size(); begin += block) {
    const std::span<Crossing> some =
        crossings.subspan(begin, std::min(block, crossings.size() - begin));
    for (std::size_t k = 0; k < some.size(); ++k) {
      const Crossing& coming = crossings[std::min(begin + k + detail::ahead, crossings.size() - 1)];
      __builtin_prefetch(&lines.line[coming.lower]);
      __builtin_prefetch(&lines.line[coming.upper]);
      const Line& lower = lines.line[some[k].lower];
      const Line& upper = lines.line[some[k].upper];
      lower_intercept[k] = lower.intercept;
      lower_slope[k] = lower.slope;
      upper_intercept[k] = upper.intercept;
      upper_slope[k] = upper.slope;
    }
    for (std::size_t k = 0; k < block; ++k) {
      const QuickStep quick = quick_crossing_step({lower_intercept[k], lower_slope[k]},
                                                  {upper_intercept[k], upper_slope[k]});
      step[k] = quick.step;
      is_in_doubt[k] = quick.is_in_doubt ? 1 : 0;
    }
    for (std::size_t k = 0; k < some.size(); ++k) {
      Crossing& crossing = some[k];
      crossing.step = is_in_doubt[k] == 0
                          ? step[k]
                          : crossing_step(lines.line[crossing.lower], lines.line[crossing.upper]);
      bucket[begin + k] = buckets(crossing.step);
    }
  }
}

// Compute the steps of crossings within a range, and sort the crossings by them. The bucket sort
// takes O(n) if the steps are spread over the range.
inline void sort_by_step(const ErrorLines& lines, StepRange range, Vector<Crossing>& crossings,
                         CrossingSort& scratch) {
  // With one bucket per crossing, sorting the buckets takes a fifth longer; with four per crossing,
  // reading them does.
  const std::size_t n_buckets = 2 * crossings.size() + 1;
  scratch.bucket.resize(crossings.size());
  set_steps(lines, StepBuckets(range, n_buckets), crossings, scratch.bucket);
  scratch.bucket_start.assign(n_buckets, 0);
  for (const std::uint32_t bucket : scratch.bucket) ++scratch.bucket_start[bucket];
  std::exclusive_scan(scratch.bucket_start.begin(), scratch.bucket_start.end(),
                      scratch.bucket_start.begin(), 0U);
  scratch.sorted.resize(crossings.size());
  for (std::size_t k = 0; k < crossings.size(); ++k)
    scratch.sorted[scratch.bucket_start[scratch.bucket[k]]++] = crossings[k];
  std::size_t begin = 0;
  for (const std::uint32_t end : scratch.bucket_start) {
    if (end - begin > 1) detail::sort_bucket(std::span(scratch.sorted).subspan(begin, end - begin));
    begin = end;
  }
  crossings.swap(scratch.sorted);
}

// The crossings between two steps.
struct Window {
  double to = 0.0;
  Vector<Crossing> crossings;
  // If more lines cross at one step than a window can contain, `to` is that step, `crossings` is
  // empty, and the number of crossings and the order of the lines after them are stored instead.
  std::uint64_t n_dense_swaps = 0;
  Vector<std::uint32_t> dense_order;
};

// Remove and return the crossings of the first step. Requires: sorted crossings.
inline std::span<const Crossing> take_row(std::span<const Crossing>& crossings) {
  std::size_t size = 1;
  while (size < crossings.size() && crossings[size].step == crossings[0].step) ++size;
  const std::span<const Crossing> row = crossings.first(size);
  crossings = crossings.subspan(size);
  return row;
}

// Divides the steps into windows with a few crossings per line.
class Windows {
 public:
  // Start after the step `lines.from`, in the order in which the lines are stored.
  explicit Windows(const ErrorLines& lines) : Windows(lines, lines.from, {}) {
    order_.resize(lines.size());
    std::iota(order_.begin(), order_.end(), 0U);
  }

  // Start from the order after a step. If kinds of lines are given, crossings of two lines of the
  // same kind are not listed.
  Windows(const ErrorLines& lines, double from, Vector<std::uint32_t> order,
          std::span<const std::uint32_t> kind = {})
      : lines_(lines),
        kind_(kind),
        order_(std::move(order)),
        place_(lines.size()),
        most_(12 * lines.size() + 4096),
        from_(from) {}

  // The order after the last window.
  std::span<const std::uint32_t> order() const { return order_; }

  // Find the next window, from the end of the last one to at most `max_step`, with about `target`
  // crossings, which are not sorted. The memory of `window` is reused.
  void next(std::uint64_t target, double max_step, Window& window) {
    window.n_dense_swaps = 0;
    // The last window predicts how dense the crossings are.
    const double growth =
        static_cast<double>(target) / static_cast<double>(std::max<std::size_t>(n_exchanges_, 1));
    width_ *= std::clamp(growth, 0.25, 8.0);
    const bool was_sparse = growth > 8.0;
    if (was_sparse) reach_neighbors();
    for (;;) {
      const double next_step = std::nextafter(from_, max_step);
      window.to = std::max(next_step, std::min(from_ + width_, max_step));
      const std::size_t n_placed = collect(window);
      if (n_placed == order_.size()) {
        width_ = window.to - from_;
        break;
      }
      if (window.to == next_step) {
        cross_densely(window);
        break;
      }
      // There are too many crossings. The lines placed so far predict their number if they are
      // spread evenly. After a sparse window they are not, and halving finds where they begin.
      const double expected = static_cast<double>(most_) * static_cast<double>(order_.size()) /
                              static_cast<double>(std::max<std::size_t>(n_placed, 1));
      const double ratio = was_sparse ? 0.5 : std::min(static_cast<double>(target) / expected, 0.5);
      // Halve before subtracting: the ends may be the largest numbers of either sign.
      width_ = (0.5 * window.to - 0.5 * from_) * (2.0 * ratio);
    }
    for (std::size_t r = 0; r < order_.size(); ++r) order_[r] = place_[r].line;
    last_from_ = std::exchange(from_, window.to);
  }

  // Sort the crossings of the last window by their steps.
  void sort(Window& window) {
    sort_by_step(lines_, {last_from_, window.to}, window.crossings, scratch_);
  }

 private:
  const ErrorLines& lines_;
  std::span<const std::uint32_t> kind_;
  Vector<std::uint32_t> order_;  // order after the step `from_`
  Vector<OrderAfter::Place> place_;
  CrossingSort scratch_;
  std::size_t most_;  // maximum number of exchanges in a window
  double from_;
  double last_from_ = 0.0;
  double width_ = 0.0;
  std::size_t n_exchanges_ = 0;

  // Widen the window at least to the median of the next crossings of neighbors.
  void reach_neighbors() {
    Vector<double> step;
    for (std::size_t r = 1; r < order_.size(); ++r) {
      detail::prefetch(lines_, order_, r + detail::ahead);
      const Line& lower = lines_.line[order_[r - 1]];
      const Line& upper = lines_.line[order_[r]];
      if (lower.slope > upper.slope) step.push_back(crossing_step(lower, upper));
    }
    if (step.empty()) {
      width_ = std::numeric_limits<double>::infinity();
      return;
    }
    const auto median = step.begin() + static_cast<std::ptrdiff_t>(step.size() / 2);
    std::nth_element(step.begin(), median, step.end());
    width_ = std::max(width_, *median - from_);
  }

  // Sort by insertion into the order after the window; every exchange is a crossing. Returns the
  // number of lines placed before the window is full.
  std::size_t collect(Window& window) {
    const OrderAfter order_after(lines_, window.to);
    window.crossings.clear();
    std::size_t n_exchanges = 0;
    for (std::size_t k = 0; k < order_.size(); ++k) {
      detail::prefetch(lines_, order_, k + detail::ahead);
      if (k + detail::ahead < kind_.size()) __builtin_prefetch(&kind_[order_[k + detail::ahead]]);
      OrderAfter::Place moving = order_after.place(order_[k]);
      moving.kind = kind_.empty() ? order_[k] : kind_[order_[k]];
      std::size_t rank = k;
      for (; rank > 0 && order_after.have_crossed(place_[rank - 1], moving); --rank) {
        if (place_[rank - 1].kind != moving.kind)
          window.crossings.push_back({0.0, place_[rank - 1].line, moving.line});
        place_[rank] = place_[rank - 1];
      }
      place_[rank] = moving;
      n_exchanges += k - rank;
      if (n_exchanges > most_) return k;
    }
    n_exchanges_ = n_exchanges;
    return order_.size();
  }

  // Merge-sort into the order after the window, and count the crossings without listing them.
  void cross_densely(Window& window) {
    const OrderAfter order_after(lines_, window.to);
    window.crossings.clear();
    std::transform(order_.begin(), order_.end(), place_.begin(),
                   [&](std::uint32_t line) { return order_after.place(line); });
    window.n_dense_swaps = sort_and_count(place_, [&](const auto& left, const auto& right) {
      return order_after.have_crossed(left, right);
    });
    window.dense_order.resize(order_.size());
    std::transform(place_.begin(), place_.end(), window.dense_order.begin(),
                   [](const OrderAfter::Place& place) { return place.line; });
  }
};

}  // namespace rocpath
