// Every crossing in order: AUM and AUC as functions of the step size (the paper's line search).
//
// The paper keeps a queue of the next crossings of neighbouring lines. Here the steps are cut into
// windows instead: the crossings inside a window are the pairs whose order differs between its two
// ends. An insertion sort from one order to the other names them, a bucket sort puts them in order
// of the step, and the paper's constant-time updates apply them one after the other. A window holds
// a few crossings a line, so memory is O(B), a crossing costs O(1), and an early stop costs at most
// one window too much.
//
// Time O(B log B + I) for I crossings, where the paper has O((B + I) log B).
#pragma once

#include <functional>
#include <future>

#include "order_state.hpp"

namespace rocpath {

enum class Stop { never, first_min_aum, first_max_auc };

struct Limits {
  Stop stop = Stop::never;
  std::uint64_t max_crossings = std::numeric_limits<std::uint64_t>::max();
  double max_step = std::numeric_limits<double>::infinity();
};

// Called now and then during long work; may throw to end it.
using Interrupt = std::function<void()>;

// One step where lines cross; the first row of a path is step 0.
struct SweepRow {
  double step;
  double aum;
  double aum_slope_after;
  double auc;        // at the step, ties joined by a diagonal
  double auc_after;  // just after it
  std::uint64_t n_groups;
  std::uint64_t n_swaps;
  std::uint64_t queue_size;
};

// What happens between two steps: the crossings in order of the step.
struct Window {
  double to = 0.0;
  Vector<Crossing> crossings;
  // Where more lines cross at one step than a window can hold, `to` is that step, and instead of
  // the crossings there is their number and the order of the lines after it.
  std::uint64_t n_dense_swaps = 0;
  Vector<std::uint32_t> dense_order;
};

// Cuts the steps into windows that hold a few crossings a line.
class Windows {
 public:
  explicit Windows(const ErrorLines& lines)
      : lines_(lines), order_(lines.size()), place_(lines.size()), most_(8 * lines.size() + 4096) {
    std::iota(order_.begin(), order_.end(), 0U);
  }

  // The window from the end of the last one to at most `max_step`, with about `target` crossings.
  // The vectors of `window` are used again.
  void next(std::uint64_t target, double max_step, Window& window) {
    window.n_dense_swaps = 0;
    if (is_sparse_) reach_neighbours();
    for (;;) {
      const double next_step = std::nextafter(from_, max_step);
      window.to = std::max(next_step, std::min(from_ + width_, max_step));
      const std::size_t n_placed = collect(window);
      const double expected = static_cast<double>(window.crossings.size()) *
                              static_cast<double>(order_.size()) /
                              static_cast<double>(std::max<std::size_t>(n_placed, 1));
      const double ratio = static_cast<double>(target) / std::max(expected, 1.0);
      if (n_placed == order_.size()) {
        width_ = (window.to - from_) * std::clamp(ratio, 0.25, 8.0);
        is_sparse_ = ratio > 8.0;
        sort_by_step(window);
        break;
      }
      if (window.to == next_step) {
        cross_densely(window);
        break;
      }
      width_ = (window.to - from_) * std::clamp(ratio, 0x1p-20, 0.5);
    }
    for (std::size_t r = 0; r < order_.size(); ++r) order_[r] = place_[r].line;
    from_ = window.to;
  }

 private:
  const ErrorLines& lines_;
  Vector<std::uint32_t> order_;  // after the step `from_`
  Vector<OrderAfter::Place> place_;
  Vector<Crossing> sorted_;
  Vector<std::uint32_t> bucket_start_;
  std::size_t most_;
  double from_ = 0.0;
  double width_ = 0.0;
  bool is_sparse_ = true;

  // Widen at least up to the median of the next crossings of neighbours, so that windows move on.
  void reach_neighbours() {
    Vector<double> step;
    for (std::size_t r = 1; r < order_.size(); ++r) {
      const Line& lower = lines_.line[order_[r - 1]];
      const Line& upper = lines_.line[order_[r]];
      if (lower.slope > upper.slope) step.push_back(crossing_step(lower, upper));
    }
    if (step.empty()) return;
    const auto median = step.begin() + static_cast<std::ptrdiff_t>(step.size() / 2);
    std::nth_element(step.begin(), median, step.end());
    width_ = std::max(width_, *median - from_);
  }

  // Insertion sort towards the order after the window; every exchange is a crossing. Returns how
  // many lines were placed before the window was full.
  std::size_t collect(Window& window) {
    const OrderAfter order_after(lines_, window.to);
    window.crossings.clear();
    for (std::size_t k = 0; k < order_.size(); ++k) {
      const OrderAfter::Place moving = order_after.place(order_[k]);
      std::size_t rank = k;
      for (; rank > 0 && order_after.have_crossed(place_[rank - 1], moving); --rank) {
        window.crossings.push_back({0.0, place_[rank - 1].line, moving.line});
        place_[rank] = place_[rank - 1];
      }
      place_[rank] = moving;
      if (window.crossings.size() > most_) return k;
    }
    return order_.size();
  }

  // Only the order after the window: a merge sort, whatever the number of crossings.
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

  // Mostly two or three crossings, for which the library's sort is slow.
  static void sort_bucket(std::span<Crossing> bucket) {
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

  void sort_by_step(Window& window) {
    for (Crossing& crossing : window.crossings)
      crossing.step = crossing_step(lines_.line[crossing.lower], lines_.line[crossing.upper]);
    const std::size_t n_buckets = window.crossings.size() + 1;
    const double scale = static_cast<double>(n_buckets) / (window.to - from_);
    const auto bucket = [&](const Crossing& crossing) {
      const double place = (crossing.step - from_) * scale;
      return place < static_cast<double>(n_buckets) ? static_cast<std::size_t>(place)
                                                    : n_buckets - 1;
    };
    bucket_start_.assign(n_buckets, 0);
    for (const Crossing& crossing : window.crossings) ++bucket_start_[bucket(crossing)];
    std::exclusive_scan(bucket_start_.begin(), bucket_start_.end(), bucket_start_.begin(), 0U);
    sorted_.resize(window.crossings.size());
    for (const Crossing& crossing : window.crossings)
      sorted_[bucket_start_[bucket(crossing)]++] = crossing;
    std::size_t begin = 0;
    for (const std::uint32_t end : bucket_start_) {
      if (end - begin > 1) sort_bucket(std::span(sorted_).subspan(begin, end - begin));
      begin = end;
    }
    window.crossings.swap(sorted_);
  }
};

// Twice the AUC at step 0, where lines of equal intercept are tied.
inline int128 doubled_auc_at_zero(const ErrorLines& lines) {
  int128 doubled_auc = 0;
  std::int64_t tp_below = 0;
  for (std::size_t begin = 0, end = 0; begin < lines.size(); begin = end) {
    std::int64_t fp = 0;
    std::int64_t tp = 0;
    for (; end < lines.size() && lines.line[end].intercept == lines.line[begin].intercept; ++end) {
      fp += lines.line[end].fp;
      tp += lines.line[end].tp;
    }
    doubled_auc += static_cast<int128>(fp) * (2 * tp_below + tp);
    tp_below += tp;
  }
  return doubled_auc;
}

// Hand every row to `emit(row)` until it returns false or a limit is reached. Returns the step up
// to which the rows tell everything: infinity when no line crosses another after the last row.
// Requires: at least one line, positive total FP and TP, max_step >= 0.
template <class Emit>
double sweep(const ErrorLines& lines, const Limits& limits, const Interrupt& interrupt,
             Emit&& emit) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  OrderState state(lines);
  Windows windows(lines);
  const bool is_monotone = std::all_of(lines.line.begin(), lines.line.end(), [](const auto& line) {
    return line.fp >= 0 && line.tp >= 0;
  });
  constexpr int unknown = 2;
  int slope_sign = unknown;
  std::uint64_t n_rows = 0;

  // Update the areas, then ask the stop rule; false ends the sweep.
  const auto finish_row = [&](double step, const AumPiece& aum_before, int128 auc_before,
                              std::uint64_t n_groups, std::uint64_t n_swaps) {
    const int128 auc_after = state.doubled_auc();
    const int128 auc_at = n_rows++ == 0 ? 2 * auc_before : auc_before + auc_after;
    const bool goes_on = emit(SweepRow{
        step, aum_at_kink(aum_before, state.aum(), step), state.aum().slope(),
        0.5 * state.auc(auc_at), state.auc(auc_after), n_groups, n_swaps, state.n_converging()});
    if (!goes_on || n_rows > limits.max_crossings) return false;
    switch (limits.stop) {
      case Stop::first_min_aum:
        if (slope_sign == unknown || !is_same(aum_before, state.aum()))
          slope_sign = state.slope_sign();
        // Convex AUM that has stopped falling never falls again; any other may.
        return slope_sign < 0 || (slope_sign == 0 && !is_monotone);
      case Stop::first_max_auc:
        return auc_after >= auc_before;
      default:
        return true;
    }
  };
  const auto end_after = [&](double step) { return state.n_converging() == 0 ? infinity : step; };

  if (!finish_row(0.0, state.aum(), doubled_auc_at_zero(lines), 0, 0)) return end_after(0.0);
  constexpr std::size_t near = 12;
  constexpr std::size_t far = 24;
  const double last_step = std::min(limits.max_step, std::numeric_limits<double>::max());
  const std::uint64_t largest_target = 4 * lines.size() + 2048;
  std::uint64_t target = limits.stop == Stop::never ? largest_target : lines.size() / 8 + 256;
  std::uint64_t n_found = 0;
  const auto find_next = [&](Window& window) {
    // Crossings that share a row may leave rows to find when the limit seems to be reached.
    const std::uint64_t n_left = std::max(limits.max_crossings, n_found + 64) - n_found;
    windows.next(std::min(target, n_left), last_step, window);
    target = std::min(2 * target, largest_target);
    n_found += window.crossings.size() + window.n_dense_swaps;
  };
  // While one window is applied, another thread finds the next one.
  Window window;
  Window next_window;
  std::future<void> search;
  if (state.n_converging() > 0 && last_step > 0.0) find_next(next_window);
  for (double step = 0.0; state.n_converging() > 0 && step < last_step;) {
    interrupt();
    if (search.valid()) search.get();
    if (step == next_window.to) find_next(next_window);
    std::swap(window, next_window);
    next_window.to = step = window.to;
    if (step < last_step && n_found < limits.max_crossings)
      search = std::async(std::launch::async, find_next, std::ref(next_window));
    if (window.n_dense_swaps > 0) {
      const AumPiece aum_before = state.aum();
      const int128 auc_before = state.doubled_auc();
      const std::size_t n_groups = state.reorder(window.dense_order);
      if (!finish_row(step, aum_before, auc_before, n_groups, window.n_dense_swaps))
        return end_after(step);
    }
    std::span<const Crossing> crossings = window.crossings;
    while (!crossings.empty()) {
      const double at = crossings.front().step;
      std::size_t n_swaps = 1;
      while (n_swaps < crossings.size() && crossings[n_swaps].step == at) ++n_swaps;
      if (crossings.size() > far) {
        state.prefetch_lines(crossings[far]);
        state.prefetch_ranks(crossings[near]);
      }
      const AumPiece aum_before = state.aum();
      const int128 auc_before = state.doubled_auc();
      const std::size_t n_groups = state.apply(crossings.first(n_swaps));
      crossings = crossings.subspan(n_swaps);
      if (!finish_row(at, aum_before, auc_before, n_groups, n_swaps)) return end_after(at);
    }
  }
  return std::isfinite(limits.max_step) ? end_after(limits.max_step) : infinity;
}

}  // namespace rocpath
