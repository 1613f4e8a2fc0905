// The crossings between two steps that change AUC, given the orders of the lines after both steps.
//
// Two lines change AUC only if one has false positives and the other true positives. Lines of the
// rarer of these two classes are called rare, lines of the other one common; a line may be both.
// The order after the first step is merge-sorted by rank after the second. When two neighboring
// runs are merged, the common lines that a rare line crosses are consecutive at the border of the
// other run, so only pairs that cross are visited.
//
// Time O(B log B) plus one or two nanoseconds per crossing; memory O(B). An insertion sort of all
// lines, most of which belong to one class, took seventy nanoseconds per crossing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "auc/auc_changes.hpp"

namespace rocpath {

// `jumps[line]` is the jump of a line.
template <class Jumps>
class AUCCrossings {
 public:
  // Separate arrays allow several crossing steps to be computed at a time.
  struct CommonLines {
    Vector<std::uint32_t> rank;   // rank after the second step
    Vector<std::uint32_t> place;  // index in `line_`, which is in the order after the first step
    Vector<double> intercept;
    Vector<double> slope;

    void resize(std::size_t n) {
      rank.resize(n);
      place.resize(n);
      intercept.resize(n);
      slope.resize(n);
    }
    void copy(std::size_t to, const CommonLines& source, std::size_t from) {
      rank[to] = source.rank[from];
      place[to] = source.place[from];
      intercept[to] = source.intercept[from];
      slope[to] = source.slope[from];
    }
  };

  AUCCrossings(const ErrorLines& lines, const Jumps& jumps) : lines_(lines), jumps_(jumps) {}

  // Required before `prepare`, and again whenever the jumps have changed.
  void choose_rare_class() {
    std::size_t n_fp = 0;
    std::size_t n_tp = 0;
    for (std::uint32_t line = 0; line < lines_.size(); ++line) {
      n_fp += jumps_[line].fp != 0 ? 1 : 0;
      n_tp += jumps_[line].tp != 0 ? 1 : 0;
    }
    is_tp_rare_ = n_tp < n_fp;
  }

  // Set the orders after the two steps. Required before every `for_each`.
  void prepare(std::span<const std::uint32_t> from, std::span<const std::uint32_t> to) {
    rank_.resize(to.size());
    for (std::size_t r = 0; r < to.size(); ++r) rank_[to[r]] = static_cast<std::uint32_t>(r);
    common_.resize(from.size());
    line_.clear();
    rare_.clear();
    for (std::size_t r = 0; r < from.size(); ++r) {
      prefetch(from, r + detail::ahead);
      add_line(from[r]);
    }
    common_.resize(line_.size());
    left_.resize(line_.size());
  }

  // Call visit(rare, begin, end, is_rising) for the common lines from `begin` to `end`, all of
  // which the rare line crosses: upward if it is rising, otherwise downward.
  template <class Visit>
  void for_each(Visit&& visit, const Interrupt& interrupt) {
    sort({0, line_.size()}, {0, rare_.size()}, visit, interrupt);
  }

  const CommonLines& common() const { return common_; }

  // Whether all common lines have the same jumps, and so the same effect on AUC.
  bool are_alike() const { return are_alike_; }

  // The crossing of a rare line and common line k; its step is not computed.
  Crossing crossing(std::uint32_t rare, std::size_t k, bool is_rising) const {
    const std::uint32_t other = line_[common_.place[k]];
    return is_rising ? Crossing{0.0, rare, other} : Crossing{0.0, other, rare};
  }

  // Twice the change of AUC when a rare line crosses common line k. A pair of lines that are both
  // rare and common is visited twice but counts once.
  int128 doubled_auc_change(std::uint32_t rare, std::size_t k, bool is_rising) const {
    const Jump& a = jumps_[rare];
    const Jump& b = jumps_[line_[common_.place[k]]];
    if (!is_rising && is_of_both_classes(a) && is_of_both_classes(b)) return 0;
    const int128 change = static_cast<int128>(a.fp) * b.tp - static_cast<int128>(b.fp) * a.tp;
    return is_rising ? 2 * change : -2 * change;
  }

 private:
  struct RareLine {
    std::uint32_t rank;      // rank after the second step
    std::uint32_t n_common;  // number of common lines below it after the first step
    std::uint32_t line;
  };
  // Consecutive elements of `common_` or `rare_`.
  struct Run {
    std::size_t begin;
    std::size_t end;

    std::size_t size() const { return end - begin; }
  };

  const ErrorLines& lines_;
  const Jumps& jumps_;
  bool is_tp_rare_ = true;
  bool are_alike_ = true;
  Vector<std::uint32_t> rank_;  // rank of every line after the second step
  CommonLines common_;
  Vector<std::uint32_t> line_;  // the common lines in their order after the first step
  Vector<RareLine> rare_;
  CommonLines left_;  // memory for merging
  Vector<RareLine> left_rare_;

  static bool is_of_both_classes(const Jump& jump) { return jump.fp != 0 && jump.tp != 0; }

  void prefetch(std::span<const std::uint32_t> order, std::size_t r) const {
    if (r >= order.size()) return;
    detail::prefetch(lines_, order, r);
    jumps_.prefetch(order[r]);
    __builtin_prefetch(&rank_[order[r]]);
  }

  void add_line(std::uint32_t line) {
    const Jump& jump = jumps_[line];
    const auto n_common = static_cast<std::uint32_t>(line_.size());
    if ((is_tp_rare_ ? jump.tp : jump.fp) != 0) rare_.push_back({rank_[line], n_common, line});
    if ((is_tp_rare_ ? jump.fp : jump.tp) == 0) return;
    are_alike_ = n_common == 0 || (are_alike_ && jump == jumps_[line_[0]]);
    common_.rank[n_common] = rank_[line];
    common_.place[n_common] = n_common;
    common_.intercept[n_common] = lines_.line[line].intercept;
    common_.slope[n_common] = lines_.line[line].slope;
    line_.push_back(line);
  }

  template <class Visit>
  void sort(Run common, Run rare, Visit& visit, const Interrupt& interrupt) {
    constexpr std::size_t few = 8;
    if (common.size() <= few) return sort_few(common, rare, visit);
    constexpr std::size_t many = 10'000;
    if (common.size() > many) interrupt();
    const std::size_t middle = common.begin + common.size() / 2;
    const auto middle_rare = static_cast<std::size_t>(
        std::partition_point(rare_iterator(rare.begin), rare_iterator(rare.end),
                             [&](const RareLine& one) { return one.n_common <= middle; }) -
        rare_.begin());
    sort({common.begin, middle}, {rare.begin, middle_rare}, visit, interrupt);
    sort({middle, common.end}, {middle_rare, rare.end}, visit, interrupt);
    visit_rising({rare.begin, middle_rare}, {middle, common.end}, visit);
    visit_sinking({middle_rare, rare.end}, {common.begin, middle}, visit);
    merge_common(common, middle);
    merge_rare(rare, middle_rare);
  }

  // For few common lines, compare all pairs, then sort by insertion.
  template <class Visit>
  void sort_few(Run common, Run rare, Visit& visit) {
    for (std::size_t i = rare.begin; i < rare.end; ++i) {
      const RareLine& one = rare_[i];
      for (std::size_t k = common.begin; k < common.end; ++k) {
        const bool is_rising = k >= one.n_common;
        const bool is_crossed = is_rising ? common_.rank[k] < one.rank : common_.rank[k] > one.rank;
        if (is_crossed) visit(one.line, k, k + 1, is_rising);
      }
    }
    for (std::size_t k = common.begin + 1; k < common.end; ++k) {
      left_.copy(0, common_, k);
      std::size_t to = k;
      for (; to > common.begin && common_.rank[to - 1] > left_.rank[0]; --to)
        common_.copy(to, common_, to - 1);
      common_.copy(to, left_, 0);
    }
    std::sort(rare_iterator(rare.begin), rare_iterator(rare.end),
              [](const RareLine& a, const RareLine& b) { return a.rank < b.rank; });
  }

  // Visit the rare lines of a run that rise above common lines of the next run.
  template <class Visit>
  void visit_rising(Run rare, Run common, Visit& visit) {
    std::size_t i = rare.end;
    while (i > rare.begin && rare_[i - 1].rank > common_.rank[common.begin]) --i;
    for (std::size_t end = common.begin; i < rare.end; ++i) {
      while (end < common.end && common_.rank[end] < rare_[i].rank) ++end;
      visit(rare_[i].line, common.begin, end, true);
    }
  }

  // Visit the rare lines of a run that sink below common lines of the previous run.
  template <class Visit>
  void visit_sinking(Run rare, Run common, Visit& visit) {
    std::size_t i = rare.begin;
    while (i < rare.end && rare_[i].rank < common_.rank[common.end - 1]) ++i;
    for (std::size_t begin = common.end; i-- > rare.begin;) {
      while (begin > common.begin && common_.rank[begin - 1] > rare_[i].rank) --begin;
      visit(rare_[i].line, begin, common.end, false);
    }
  }

  // Merge two neighboring runs. Lines below the second run are already in place.
  void merge_common(Run both, std::size_t middle) {
    std::size_t to = middle;
    while (to > both.begin && common_.rank[to - 1] > common_.rank[middle]) --to;
    const std::size_t n_left = middle - to;
    for (std::size_t k = 0; k < n_left; ++k) left_.copy(k, common_, to + k);
    std::size_t left = 0;
    for (std::size_t right = middle; left < n_left; ++to) {
      const bool is_right = right < both.end && common_.rank[right] < left_.rank[left];
      if (is_right)
        common_.copy(to, common_, right++);
      else
        common_.copy(to, left_, left++);
    }
  }

  void merge_rare(Run both, std::size_t middle) {
    if (middle == both.begin || middle == both.end) return;
    std::size_t to = middle;
    while (to > both.begin && rare_[to - 1].rank > rare_[middle].rank) --to;
    left_rare_.assign(rare_iterator(to), rare_iterator(middle));
    std::size_t right = middle;
    for (const RareLine& one : left_rare_) {
      while (right < both.end && rare_[right].rank < one.rank) rare_[to++] = rare_[right++];
      rare_[to++] = one;
    }
  }

  auto rare_iterator(std::size_t k) { return rare_.begin() + static_cast<std::ptrdiff_t>(k); }
};

}  // namespace rocpath
