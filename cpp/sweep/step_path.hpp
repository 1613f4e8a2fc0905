// The rows of a sweep as columns, with 56 bytes per row. Time: that of the sweep.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "numerics/memory.hpp"
#include "sweep/sweep.hpp"

namespace rocpath {

struct StepPath {
  UnfilledVector<double> step, aum, aum_slope_after, auc, auc_after;
  UnfilledVector<std::int64_t> n_swaps;
  UnfilledVector<std::int32_t> n_groups, queue_size;
  double end = 0.0;  // the step up to which the path is complete
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

  // Make the system provide the memory of rows that are not set yet, by writing to each page.
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

// The path of a sweep, with at most `max_rows` rows. Memory is reserved for `n_expected` rows, at
// least one.
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
  // Obtaining memory takes a third of the time, so the thread that finds crossings touches it.
  // Without such a thread, this would only be another pass. Rows that are set at the same time come
  // before `begin`. While there is memory to touch, no row is beyond `n_expected`, so the columns
  // are not moved.
  const std::uint64_t n_touched = thread_limit() > 1 ? n_expected : 0;
  const auto touch = [&](std::uint64_t begin, std::uint64_t end) {
    path.touch(begin, std::min(end, n_touched));
  };
  path.end = sweep(lines, limits, interrupt, set_row, touch);
  path.resize(n_rows);
  return path;
}

}  // namespace rocpath
