// The rank of every line, updated when lines cross. Time O(1) for a single crossing; a row of k
// crossings takes O(k log k).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

#include "lines/crossings.hpp"

namespace rocpath {

class Ranks {
 public:
  explicit Ranks(std::size_t n_lines) : order_(n_lines), rank_(n_lines), displacement_(n_lines, 0) {
    std::iota(order_.begin(), order_.end(), 0U);
    std::iota(rank_.begin(), rank_.end(), 0U);
  }

  std::span<const std::uint32_t> order() const { return order_; }
  std::size_t size() const { return order_.size(); }
  std::uint32_t operator[](std::size_t rank) const { return order_[rank]; }
  std::size_t rank(std::uint32_t line) const { return rank_[line]; }

  void prefetch_rank(std::uint32_t line) const { __builtin_prefetch(&rank_[line]); }

  void place(std::uint32_t line, std::size_t rank) {
    order_[rank] = line;
    rank_[line] = static_cast<std::uint32_t>(rank);
  }

  void reorder(std::span<const std::uint32_t> order) {
    for (std::size_t r = 0; r < order.size(); ++r) place(order[r], r);
  }

  // Apply all crossings of one step, and return the number of groups of lines that meet. Lines that
  // meet in one point move as a block: swapping pairs would visit orders that no step attains.
  // `leave` and `arrive` are called with the first and last rank of each block before and after it
  // moves.
  template <class Leave, class Arrive>
  std::size_t apply(std::span<const Crossing> crossings, Leave leave, Arrive arrive) {
    touched_.clear();
    for (const Crossing& crossing : crossings) {
      move(crossing.lower, 1);
      move(crossing.upper, -1);
    }
    std::sort(touched_.begin(), touched_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return rank_[a] < rank_[b]; });
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());

    std::size_t n_groups = 0;
    for (std::size_t begin = 0; begin < touched_.size(); ++n_groups) {
      const std::size_t first_rank = rank_[touched_[begin]];
      std::size_t end = begin;
      std::size_t last_rank = first_rank;
      do {
        last_rank = std::max(last_rank, new_rank(touched_[end]));
        ++end;
      } while (first_rank + (end - begin) <= last_rank);
      leave(first_rank, last_rank);
      for (const std::uint32_t line : std::span(touched_).subspan(begin, end - begin)) {
        place(line, new_rank(line));
        displacement_[line] = 0;
      }
      arrive(first_rank, last_rank);
      begin = end;
    }
    return n_groups;
  }

 private:
  Vector<std::uint32_t> order_;  // rank -> line
  Vector<std::uint32_t> rank_;   // line -> rank
  Vector<std::int64_t> displacement_;
  Vector<std::uint32_t> touched_;

  void move(std::uint32_t line, std::int64_t by) {
    if (displacement_[line] == 0) touched_.push_back(line);
    displacement_[line] += by;
  }

  std::size_t new_rank(std::uint32_t line) const {
    return static_cast<std::size_t>(static_cast<std::int64_t>(rank_[line]) + displacement_[line]);
  }
};

}  // namespace rocpath
