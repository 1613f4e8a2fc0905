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

class Windows {
 public:
  explicit Windows(const ErrorLines& lines)
      : lines_(lines), place_(lines.size()), most_(8 * lines.size() + 4096) {}

  // The crossings in (from, to], sorted by step, where `to` is chosen to hold about `target` of
  // them and does not exceed `max_step`. An empty result with is_dense() means that more cross at
  // the single step `to` than a window can hold.
  std::span<const Crossing> next(std::span<const std::uint32_t> order, double from,
                                 std::uint64_t target, double max_step) {
    is_dense_ = false;
    if (is_sparse_) reach_neighbours(order, from);
    for (;;) {
      to_ = std::min(from + width_, max_step);
      if (!(to_ > from)) to_ = std::nextafter(from, max_step);
      const std::size_t n_placed = collect(order);
      const auto n_found = static_cast<double>(crossings_.size());
      const bool fits = n_placed == order.size();
      const double expected = n_found * static_cast<double>(order.size()) /
                              static_cast<double>(std::max<std::size_t>(n_placed, 1));
      const double ratio = static_cast<double>(target) / std::max(expected, 1.0);
      if (fits) {
        width_ = (to_ - from) * std::clamp(ratio, 0.25, 8.0);
        is_sparse_ = ratio > 8.0;
        sort_by_step(from);
        return crossings_;
      }
      if (to_ <= std::nextafter(from, max_step)) {
        is_dense_ = true;
        return {};
      }
      width_ = (to_ - from) * std::clamp(ratio, 0x1p-20, 0.5);
    }
  }

  double to() const { return to_; }
  bool is_dense() const { return is_dense_; }

 private:
  const ErrorLines& lines_;
  std::vector<OrderAfter::Place> place_;
  std::vector<Crossing> crossings_;
  std::vector<Crossing> sorted_;
  std::vector<std::uint32_t> bucket_start_;
  std::vector<double> neighbour_step_;
  std::size_t most_;
  double width_ = 0.0;
  double to_ = 0.0;
  bool is_dense_ = false;
  bool is_sparse_ = true;

  // At least up to the median of the next crossings of neighbours, so that every window moves on.
  void reach_neighbours(std::span<const std::uint32_t> order, double from) {
    neighbour_step_.clear();
    for (std::size_t r = 1; r < order.size(); ++r) {
      const Line& lower = lines_.line[order[r - 1]];
      const Line& upper = lines_.line[order[r]];
      if (lower.slope > upper.slope) neighbour_step_.push_back(crossing_step(lower, upper));
    }
    if (neighbour_step_.empty()) return;
    const auto median =
        neighbour_step_.begin() + static_cast<std::ptrdiff_t>(neighbour_step_.size() / 2);
    std::nth_element(neighbour_step_.begin(), median, neighbour_step_.end());
    width_ = std::max(width_, *median - from);
  }

  // Insertion sort towards the order after `to_`; every exchange is a crossing. Returns how many
  // lines were placed before the window was full.
  std::size_t collect(std::span<const std::uint32_t> order) {
    const OrderAfter order_after(lines_, to_);
    crossings_.clear();
    for (std::size_t k = 0; k < order.size(); ++k) {
      const OrderAfter::Place moving = order_after.place(order[k]);
      std::size_t rank = k;
      for (; rank > 0 && order_after.have_crossed(place_[rank - 1], moving); --rank) {
        crossings_.push_back({0.0, place_[rank - 1].line, moving.line});
        place_[rank] = place_[rank - 1];
      }
      place_[rank] = moving;
      if (crossings_.size() > most_) return k;
    }
    return order.size();
  }

  void sort_by_step(double from) {
    for (Crossing& crossing : crossings_)
      crossing.step = crossing_step(lines_.line[crossing.lower], lines_.line[crossing.upper]);
    const std::size_t n_buckets = crossings_.size() / 2 + 1;
    const double scale = static_cast<double>(n_buckets) / (to_ - from);
    const auto bucket = [&](const Crossing& crossing) {
      const double place = (crossing.step - from) * scale;
      return place < static_cast<double>(n_buckets) ? static_cast<std::size_t>(place)
                                                    : n_buckets - 1;
    };
    bucket_start_.assign(n_buckets + 1, 0);
    for (const Crossing& crossing : crossings_) ++bucket_start_[bucket(crossing)];
    std::exclusive_scan(bucket_start_.begin(), bucket_start_.end(), bucket_start_.begin(), 0U);
    sorted_.resize(crossings_.size());
    for (const Crossing& crossing : crossings_) sorted_[bucket_start_[bucket(crossing)]++] = crossing;
    std::size_t begin = 0;
    for (std::size_t k = 0; k < n_buckets; ++k) {
      const std::size_t end = bucket_start_[k];
      if (end - begin > 1)
        std::sort(sorted_.begin() + static_cast<std::ptrdiff_t>(begin),
                  sorted_.begin() + static_cast<std::ptrdiff_t>(end),
                  [](const Crossing& a, const Crossing& b) { return a.step < b.step; });
      begin = end;
    }
    crossings_.swap(sorted_);
  }
};

// Take the order after a step at which very many lines cross; returns groups and swaps.
inline std::pair<std::uint64_t, std::uint64_t> cross_all(const ErrorLines& lines, OrderState& state,
                                                         double step) {
  const OrderAfter order_after(lines, step);
  std::vector<OrderAfter::Place> place;
  place.reserve(lines.size());
  for (const std::uint32_t line : state.order()) place.push_back(order_after.place(line));
  const std::uint64_t n_swaps = sort_and_count(place, [&](const auto& left, const auto& right) {
    return order_after.have_crossed(left, right);
  });
  std::vector<std::uint32_t> order(lines.size());
  std::transform(place.begin(), place.end(), order.begin(), [](const auto& p) { return p.line; });
  return {state.reorder(order), n_swaps};
}

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
  std::uint64_t n_rows = 0;

  // Update the areas, then ask the stop rule; false ends the sweep.
  const auto finish_row = [&](double step, const AumPiece& aum_before, int128 auc_before,
                              std::uint64_t n_groups, std::uint64_t n_swaps) {
    const int128 auc_after = state.doubled_auc();
    const bool is_start = n_rows++ == 0;
    const bool goes_on = emit(SweepRow{
        step, aum_at_kink(aum_before, state.aum(), step), state.aum().slope(),
        is_start ? state.auc(auc_before) : 0.5 * state.auc(auc_before + auc_after),
        state.auc(auc_after), n_groups, n_swaps, state.n_converging()});
    if (!goes_on || n_rows > limits.max_crossings) return false;
    switch (limits.stop) {
      case Stop::first_min_aum: return state.slope_sign() < 0;
      case Stop::first_max_auc: return auc_after >= auc_before;
      default: return true;
    }
  };
  const auto end_after = [&](double step) { return state.n_converging() == 0 ? infinity : step; };

  if (!finish_row(0.0, state.aum(), doubled_auc_at_zero(lines), 0, 0)) return end_after(0.0);
  const double last_step = std::min(limits.max_step, std::numeric_limits<double>::max());
  const std::uint64_t largest_target = 4 * lines.size() + 2048;
  std::uint64_t target = limits.stop == Stop::never ? largest_target : lines.size() / 8 + 256;
  double step = 0.0;
  while (state.n_converging() > 0 && step < last_step) {
    interrupt();
    const std::uint64_t n_left = limits.max_crossings - n_rows + 1;
    std::span<const Crossing> crossings =
        windows.next(state.order(), step, std::min(target, n_left), last_step);
    target = std::min(2 * target, largest_target);
    step = windows.to();
    if (windows.is_dense()) {
      const AumPiece aum_before = state.aum();
      const int128 auc_before = state.doubled_auc();
      const auto [n_groups, n_swaps] = cross_all(lines, state, step);
      if (!finish_row(step, aum_before, auc_before, n_groups, n_swaps)) return end_after(step);
    }
    while (!crossings.empty()) {
      const double at = crossings.front().step;
      std::size_t n_swaps = 1;
      while (n_swaps < crossings.size() && crossings[n_swaps].step == at) ++n_swaps;
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
