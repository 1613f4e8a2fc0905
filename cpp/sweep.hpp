// Every crossing in order: AUM and AUC as functions of the step size (the paper's line search).
//
// The paper keeps a queue of the next crossings of neighboring lines. Here the steps are cut into
// windows instead, whose crossings are found and sorted together (windows.hpp), and the paper's
// constant-time updates apply them one after the other (order_state.hpp). Memory is O(B), a
// crossing costs O(1), and an early stop costs at most two windows too much.
//
// Time O(B log B + I) for I crossings, where the paper has O((B + I) log B).
#pragma once

#include <future>
#include <optional>

#include "first_min.hpp"
#include "order_state.hpp"
#include "partial_state.hpp"
#include "windows.hpp"

namespace rocpath {

enum class Stop { never, first_min_aum, first_max_auc };

struct Limits {
  Stop stop = Stop::never;
  std::uint64_t max_crossings = std::numeric_limits<std::uint64_t>::max();
  double max_step = std::numeric_limits<double>::infinity();
  RegionRates region{};  // of which AUC is the area; for monotone errors, unless it is everywhere
};

// AUC of the order that a sweep has reached, or of a region's part of it; always doubled.
class SweptAUC {
 public:
  SweptAUC(const ErrorLines& lines, const RegionRates& rates)
      : region_(lines.total, rates),
        doubled_perfect_(as_double(2 * static_cast<int128>(lines.total.fp) * lines.total.tp)) {
    if (rates.is_everywhere()) return;
    partial_.emplace(lines, region_);
    doubled_perfect_ = as_double(2 * static_cast<int128>(region_.total().fp) * region_.total().tp);
  }

  double operator()(int128 doubled) const { return as_double(doubled) / doubled_perfect_; }

  int128 after(const OrderState& state) const {
    return partial_ ? partial_->doubled_area() : state.doubled_auc();
  }
  int128 at_start(const ErrorLines& lines, const OrderState& state) const {
    return partial_ ? partial_->doubled_area_at(lines.from, state.order())
                    : doubled_auc_at(lines, lines.from, state.order());
  }

  // Go with the order through a row. Returns four times AUC at it, where lines that meet are tied.
  int128 pass(std::span<const Crossing> row, int128 before, const OrderState& state) {
    return partial_ ? 2 * partial_->apply(row) : before + state.doubled_auc();
  }
  int128 pass(std::span<const std::uint32_t> order, int128 before, const OrderState& state) {
    if (!partial_) return before + state.doubled_auc();
    const int128 at = partial_->doubled_area_between(order);
    partial_->reorder(order);
    return 2 * at;
  }

 private:
  Region region_;
  std::optional<PartialState> partial_;
  double doubled_perfect_;

  static double as_double(int128 n) {
    const auto narrow = static_cast<std::int64_t>(n);
    return narrow == n ? static_cast<double>(narrow) : static_cast<double>(n);
  }
};

// One step where lines cross; the first row of a path is step 0.
struct SweepRow {
  double step;
  double aum;
  double aum_slope_after;  // its sign is exact
  double auc;              // at the step, ties joined by a diagonal
  double auc_after;        // just after it
  std::uint64_t n_groups;
  std::uint64_t n_swaps;
  std::uint64_t queue_size;
};

// Hand every row, beginning with the start, to `emit(row)` until it returns false or a limit is
// reached. Returns the step up to which the rows tell everything: infinity when no line crosses
// another after the last row. Requires: at least one line, positive total FP and TP, max_step >= 0.
//
// Rows from `begin` to `end` are announced by expect(begin, end), possibly on another thread while
// rows before `begin` are emitted; there may be fewer of them.
template <class Emit, class Expect = decltype([](std::uint64_t, std::uint64_t) {})>
double sweep(const ErrorLines& lines, const Limits& limits, const Interrupt& interrupt, Emit&& emit,
             Expect expect = {}) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  OrderState state(lines);
  SweptAUC swept_auc(lines, limits.region);
  Windows windows(lines);
  const bool is_monotone = lines.is_monotone();
  FirstMinimum first_min;
  // A slope that is not zero must not become so.
  const auto rate = [&](double counts) {
    constexpr double tiny = std::numeric_limits<double>::denorm_min();
    const double divided = counts / lines.divisor;
    return counts != 0.0 && divided == 0.0 ? std::copysign(tiny, counts) : divided;
  };
  // AUM and AUC after the last row. Most crossings leave both alone, and what they take is spared.
  AUMPiece last_aum = state.aum();
  std::uint64_t n_aum_changes = state.n_aum_changes();
  double slope = rate(state.slope());
  int128 last_doubled_auc = swept_auc.at_start(lines, state);
  double last_auc = swept_auc(last_doubled_auc);
  std::uint64_t n_rows = 0;

  // Update the areas, then ask the stop rule; false ends the sweep.
  const auto finish_row = [&](double step, int128 auc_at, std::uint64_t n_groups,
                              std::uint64_t n_swaps) {
    const int128 auc_before = std::exchange(last_doubled_auc, swept_auc.after(state));
    const int128 auc_after = last_doubled_auc;
    if (auc_after != auc_before) last_auc = swept_auc(auc_after);
    const double slope_before = slope;
    const bool is_kink = state.n_aum_changes() != n_aum_changes;
    if (is_kink) slope = rate(state.slope());
    const double aum = aum_at_kink(last_aum, slope_before, state.aum(), slope, step);
    if (is_kink) {
      last_aum = state.aum();
      n_aum_changes = state.n_aum_changes();
    }
    ++n_rows;
    const SweepRow row{.step = step,
                       // Rounding the step may put convex AUM just below zero.
                       .aum = (is_monotone ? std::max(aum, 0.0) : aum) / lines.divisor,
                       .aum_slope_after = slope,
                       .auc = auc_at == 2 * auc_after ? last_auc : 0.5 * swept_auc(auc_at),
                       .auc_after = last_auc,
                       .n_groups = n_groups,
                       .n_swaps = n_swaps,
                       .queue_size = state.n_converging()};
    const bool goes_on = emit(row);
    if (!goes_on || n_rows > limits.max_crossings) return false;
    switch (limits.stop) {
      case Stop::first_min_aum:
        first_min.pass(step, row.aum, slope);
        // Convex AUM that has stopped falling never falls again; any other may.
        return !(is_monotone ? first_min.is_reached() : first_min.is_over());
      case Stop::first_max_auc:
        return auc_after >= auc_before;
      default:
        return true;
    }
  };
  const auto end_after = [&](double step) { return state.n_converging() == 0 ? infinity : step; };

  const double start = lines.from;
  if (!finish_row(start, 2 * last_doubled_auc, 0, 0)) return end_after(start);
  constexpr std::size_t near = 12;
  constexpr std::size_t far = 24;
  const double last_step = std::min(limits.max_step, std::numeric_limits<double>::max());
  const std::uint64_t largest_target = 4 * lines.size() + 2048;
  std::uint64_t target = limits.stop == Stop::never ? largest_target : lines.size() / 8 + 256;
  std::uint64_t n_found = 0;
  // The next window; its first row is `row` at the latest.
  const auto find_next = [&](Window& window, std::uint64_t row) {
    // Crossings that share a row may leave rows to find when the limit seems to be reached.
    const std::uint64_t n_left = std::max(limits.max_crossings, n_found + 64) - n_found;
    windows.next(std::min(target, n_left), last_step, window);
    windows.sort(window);
    target = std::min(2 * target, largest_target);
    n_found += window.crossings.size() + window.n_dense_swaps;
    expect(row, row + window.crossings.size());
  };
  // While one window is applied, another thread finds the next one; for few lines it is not worth
  // it.
  const bool has_two_threads = lines.size() >= 512;
  Window window;
  Window next_window;
  std::future<void> search;
  if (state.n_converging() > 0 && last_step > start) find_next(next_window, n_rows);
  for (double step = start; state.n_converging() > 0 && step < last_step;) {
    interrupt();
    if (search.valid()) search.get();
    if (step == next_window.to) find_next(next_window, n_rows);
    std::swap(window, next_window);
    next_window.to = step = window.to;
    if (has_two_threads && step < last_step && n_found < limits.max_crossings)
      search = std::async(std::launch::async, find_next, std::ref(next_window),
                          n_rows + window.crossings.size() + 1);
    if (window.n_dense_swaps > 0) {
      const std::size_t n_groups = state.reorder(window.dense_order);
      const int128 auc_at = swept_auc.pass(window.dense_order, last_doubled_auc, state);
      if (!finish_row(step, auc_at, n_groups, window.n_dense_swaps)) return end_after(step);
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
      const std::span<const Crossing> row = crossings.first(n_swaps);
      const std::size_t n_groups = state.apply(row);
      const int128 auc_at = swept_auc.pass(row, last_doubled_auc, state);
      crossings = crossings.subspan(n_swaps);
      if (!finish_row(at, auc_at, n_groups, n_swaps)) return end_after(at);
    }
  }
  return std::isfinite(limits.max_step) ? end_after(limits.max_step) : infinity;
}

// The rows of a sweep by columns.
struct StepPath {
  UnfilledVector<double> step, aum, aum_slope_after, auc, auc_after;
  UnfilledVector<std::int64_t> n_swaps;
  UnfilledVector<std::int32_t> n_groups, queue_size;
  double end = 0.0;
  bool is_too_long = false;

  void resize(std::size_t n_rows) {
    for_each_column([&](auto& column) { column.resize(n_rows); });
  }

  void set(std::size_t k, const SweepRow& row) {
    step[k] = row.step;
    aum[k] = row.aum;
    aum_slope_after[k] = row.aum_slope_after;
    auc[k] = row.auc;
    auc_after[k] = row.auc_after;
    n_swaps[k] = static_cast<std::int64_t>(row.n_swaps);
    n_groups[k] = static_cast<std::int32_t>(row.n_groups);
    queue_size[k] = static_cast<std::int32_t>(row.queue_size);
  }

  // Have the system find memory for rows that are not yet set, by writing to each of its pages.
  void touch(std::size_t begin, std::size_t end_row) {
    for_each_column([&](auto& column) {
      constexpr std::size_t page = 4096 / sizeof(column[0]);
      for (std::size_t k = begin; k < end_row; k += page) column[k] = 0;
    });
  }

 private:
  template <class Function>
  void for_each_column(Function function) {
    for (auto* column : {&step, &aum, &aum_slope_after, &auc, &auc_after}) function(*column);
    for (auto* column : {&n_groups, &queue_size}) function(*column);
    function(n_swaps);
  }
};

// The path of a sweep, with memory for `n_expected` rows, at least one, and at most `max_rows`.
inline StepPath step_path(const ErrorLines& lines, const Limits& limits, const Interrupt& interrupt,
                          std::size_t n_expected, std::size_t max_rows) {
  StepPath path;
  path.resize(n_expected);
  std::size_t n_rows = 0;
  const auto set_row = [&](const SweepRow& row) {
    path.is_too_long = n_rows == max_rows;
    if (path.is_too_long) return false;
    if (n_rows == path.step.size()) path.resize(2 * n_rows);
    path.set(n_rows++, row);
    return true;
  };
  // Fresh memory takes a third of the time, so the thread that finds rows fetches it for them. Rows
  // that are set meanwhile come before `begin`: while there is anything to touch, none is beyond
  // `n_expected`, and the columns stay where they are.
  const auto touch = [&](std::uint64_t begin, std::uint64_t end) {
    path.touch(begin, std::min<std::uint64_t>(end, n_expected));
  };
  path.end = sweep(lines, limits, interrupt, set_row, touch);
  path.resize(n_rows);
  return path;
}

}  // namespace rocpath
