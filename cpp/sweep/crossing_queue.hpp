// The next crossings of a sweep, in order of the step.
//
// The paper queues the crossings of neighboring lines, at a cost of O(log B) each. Here the steps
// are divided into windows whose crossings are found and sorted together (windows.hpp), at a cost
// of O(1) each. While one window is applied, another thread finds the next one. An early stop
// wastes at most two windows, so the first windows are small if an early stop is likely.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "lines/windows.hpp"
#include "numerics/threads.hpp"

namespace rocpath {

template <class Expect>
class CrossingQueue {
 public:
  // Before the rows of a window are applied, expect(begin, end) is called, possibly on another
  // thread. The index of the first row is at most `begin`, and that of the last row at most `end`.
  CrossingQueue(const ErrorLines& lines, double last_step, std::uint64_t max_crossings,
                bool may_stop_early, Expect expect)
      : n_lines_(lines.size()),
        last_step_(last_step),
        max_crossings_(max_crossings),
        largest_target_(6 * lines.size() + 2048),
        target_(may_stop_early ? lines.size() / 8 + 256 : largest_target_),
        windows_(lines),
        expect_(std::move(expect)) {}

  // The next window of crossings, valid until the next call. The index of its first row is at most
  // `n_rows`. Requires: the last window ends before the last step.
  const Window& next(std::uint64_t n_rows) {
    if (search_.is_pending())
      search_.get();
    else
      find(n_rows);
    std::swap(window_, found_);
    // For few lines, starting a thread takes longer than it saves.
    constexpr std::size_t few = 512;
    const std::uint64_t next_row = n_rows + window_.crossings.size() + 1;
    if (n_lines_ >= few && window_.to < last_step_ && n_found_ < max_crossings_)
      search_ = BackgroundTask<void>(true, [this, next_row] { find(next_row); });
    return window_;
  }

 private:
  std::size_t n_lines_;
  double last_step_;
  std::uint64_t max_crossings_;
  std::uint64_t largest_target_;
  std::uint64_t target_;  // approximate number of crossings of the next window
  std::uint64_t n_found_ = 0;
  Windows windows_;
  Expect expect_;
  Window window_;
  Window found_;
  BackgroundTask<void> search_;  // the last member, so that the others outlive its thread

  void find(std::uint64_t first_row) {
    // Several crossings may share a row, so rows may remain to be found although the number of
    // crossings has reached the limit.
    constexpr std::uint64_t least = 64;
    const std::uint64_t n_left = std::max(max_crossings_, n_found_ + least) - n_found_;
    windows_.next(std::min(target_, n_left), last_step_, found_);
    windows_.sort(found_);
    target_ = std::min(2 * target_, largest_target_);
    n_found_ += found_.crossings.size() + found_.n_dense_swaps;
    expect_(first_row, first_row + found_.crossings.size());
  }
};

}  // namespace rocpath
