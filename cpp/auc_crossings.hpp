// The crossings between two steps that change AUC, given the orders of the lines after them.
//
// Two lines change AUC only if one has false positives and the other true ones. The lines of the
// rarer of these two classes, the seekers, look for the others that they cross: the order after the
// first step is sorted by rank in the second one, and when two neighboring runs are merged, the
// others that a seeker crosses stand side by side at the border of the other run. So no pair is
// looked at that does not cross: O(B log B) and the crossings, of which each costs a nanosecond or
// two. An insertion sort of all lines, of which most are of one class, took seventy.
#pragma once

#include "auc_changes.hpp"

namespace rocpath {

class AUCCrossings {
 public:
  // Lines that are looked for. In arrays, so that many crossing steps are computed at a time.
  struct Others {
    Vector<std::uint32_t> rank;   // after the second step
    Vector<std::uint32_t> place;  // among the others, after the first step
    Vector<double> intercept;
    Vector<double> slope;

    void resize(std::size_t n) {
      rank.resize(n);
      place.resize(n);
      intercept.resize(n);
      slope.resize(n);
    }
    void take(std::size_t k, const Others& from, std::size_t k_there) {
      rank[k] = from.rank[k_there];
      place[k] = from.place[k_there];
      intercept[k] = from.intercept[k_there];
      slope[k] = from.slope[k_there];
    }
  };

  AUCCrossings(const ErrorLines& lines, const Kinds& jumps) : lines_(lines), jumps_(jumps) {
    std::size_t n_fp = 0;
    std::size_t n_tp = 0;
    for (const ErrorLine& line : lines.line) {
      n_fp += line.fp != 0 ? 1 : 0;
      n_tp += line.tp != 0 ? 1 : 0;
    }
    is_tp_rarer_ = n_tp < n_fp;
  }

  void prepare(std::span<const std::uint32_t> from, std::span<const std::uint32_t> to) {
    rank_.resize(to.size());
    for (std::size_t r = 0; r < to.size(); ++r) rank_[to[r]] = static_cast<std::uint32_t>(r);
    others_.resize(from.size());
    line_.resize(from.size());
    seeker_.clear();
    std::uint32_t n_others = 0;
    for (std::size_t r = 0; r < from.size(); ++r) {
      detail::prefetch(lines_, from, r + detail::ahead);
      if (r + detail::ahead < from.size()) {
        jumps_.prefetch(from[r + detail::ahead]);
        __builtin_prefetch(&rank_[from[r + detail::ahead]]);
      }
      const std::uint32_t line = from[r];
      const Kinds::Jump& jump = jumps_[line];
      if ((is_tp_rarer_ ? jump.tp : jump.fp) != 0) seeker_.push_back({rank_[line], n_others, line});
      if ((is_tp_rarer_ ? jump.fp : jump.tp) == 0) continue;
      are_alike_ = n_others == 0 || (are_alike_ && &jump == &jumps_[line_[0]]);
      others_.rank[n_others] = rank_[line];
      others_.place[n_others] = n_others;
      others_.intercept[n_others] = lines_.line[line].intercept;
      others_.slope[n_others] = lines_.line[line].slope;
      line_[n_others++] = line;
    }
    others_.resize(n_others);
    line_.resize(n_others);
    left_.resize(n_others);
  }

  const Others& others() const { return others_; }
  // Have all others the same jumps, so that they change AUC alike?
  bool are_alike() const { return are_alike_; }
  // Of a seeker and the other number k; its step is not yet known.
  Crossing crossing(std::uint32_t seeker, std::size_t k, bool is_rising) const {
    const std::uint32_t other = line_[others_.place[k]];
    return is_rising ? Crossing{0.0, seeker, other} : Crossing{0.0, other, seeker};
  }

  // Twice what it changes when a seeker crosses the other number k, rising above it or not. Two
  // that are both seekers and others meet twice, of which one counts.
  int128 doubled_auc_change(std::uint32_t seeker, std::size_t k, bool is_rising) const {
    const Kinds::Jump& a = jumps_[seeker];
    const Kinds::Jump& b = jumps_[line_[others_.place[k]]];
    if (!is_rising && is_both(a) && is_both(b)) return 0;
    const int128 change = static_cast<int128>(a.fp) * b.tp - static_cast<int128>(b.fp) * a.tp;
    return is_rising ? 2 * change : -2 * change;
  }

  // Calls visit(seeker, begin, end, is_rising) for the others from `begin` to `end`, all of which
  // the seeker crosses, rising above them or sinking below. Once after `prepare`.
  template <class Visit>
  void for_each(Visit&& visit, const Interrupt& interrupt) {
    sort({0, line_.size()}, {0, seeker_.size()}, visit, interrupt);
  }

 private:
  struct Seeker {
    std::uint32_t rank;
    std::uint32_t place;  // how many others are below after the first step
    std::uint32_t line;
  };
  struct Run {
    std::size_t begin;
    std::size_t end;

    std::size_t size() const { return end - begin; }
  };

  static bool is_both(const Kinds::Jump& jump) { return jump.fp != 0 && jump.tp != 0; }

  const ErrorLines& lines_;
  const Kinds& jumps_;
  bool is_tp_rarer_;
  bool are_alike_ = true;
  Vector<std::uint32_t> rank_;
  Others others_;
  Vector<std::uint32_t> line_;
  Vector<Seeker> seeker_;
  Others left_;  // memory for merging
  Vector<Seeker> left_seeker_;

  template <class Visit>
  void sort(Run others, Run seekers, Visit& visit, const Interrupt& interrupt) {
    constexpr std::size_t few = 8;
    if (others.size() <= few) return sort_few(others, seekers, visit);
    if (others.size() > 10'000) interrupt();
    const std::size_t middle = others.begin + others.size() / 2;
    const auto first = seeker_.begin() + static_cast<std::ptrdiff_t>(seekers.begin);
    const auto last = seeker_.begin() + static_cast<std::ptrdiff_t>(seekers.end);
    const auto middle_seeker = static_cast<std::size_t>(
        std::partition_point(first, last, [&](const Seeker& s) { return s.place <= middle; }) -
        seeker_.begin());
    sort({others.begin, middle}, {seekers.begin, middle_seeker}, visit, interrupt);
    sort({middle, others.end}, {middle_seeker, seekers.end}, visit, interrupt);
    rise({seekers.begin, middle_seeker}, {middle, others.end}, visit);
    sink({middle_seeker, seekers.end}, {others.begin, middle}, visit);
    merge(others, middle);
    merge_seekers(seekers, middle_seeker);
  }

  template <class Visit>
  void sort_few(Run others, Run seekers, Visit& visit) {
    for (std::size_t s = seekers.begin; s < seekers.end; ++s) {
      const Seeker& seeker = seeker_[s];
      for (std::size_t k = others.begin; k < others.end; ++k) {
        const bool is_above = k >= seeker.place;
        const bool is_crossed =
            is_above ? others_.rank[k] < seeker.rank : others_.rank[k] > seeker.rank;
        if (is_crossed) visit(seeker.line, k, k + 1, is_above);
      }
    }
    for (std::size_t k = others.begin + 1; k < others.end; ++k) {
      left_.take(0, others_, k);
      std::size_t to = k;
      for (; to > others.begin && others_.rank[to - 1] > left_.rank[0]; --to)
        others_.take(to, others_, to - 1);
      others_.take(to, left_, 0);
    }
    std::sort(seeker_.begin() + static_cast<std::ptrdiff_t>(seekers.begin),
              seeker_.begin() + static_cast<std::ptrdiff_t>(seekers.end),
              [](const Seeker& a, const Seeker& b) { return a.rank < b.rank; });
  }

  // Seekers of a run that rise above others of the run after it.
  template <class Visit>
  void rise(Run seekers, Run others, Visit& visit) {
    std::size_t s = seekers.end;
    while (s > seekers.begin && seeker_[s - 1].rank > others_.rank[others.begin]) --s;
    for (std::size_t end = others.begin; s < seekers.end; ++s) {
      while (end < others.end && others_.rank[end] < seeker_[s].rank) ++end;
      visit(seeker_[s].line, others.begin, end, true);
    }
  }

  // Seekers of a run that sink below others of the run before it.
  template <class Visit>
  void sink(Run seekers, Run others, Visit& visit) {
    std::size_t s = seekers.begin;
    while (s < seekers.end && seeker_[s].rank < others_.rank[others.end - 1]) ++s;
    for (std::size_t begin = others.end; s-- > seekers.begin;) {
      while (begin > others.begin && others_.rank[begin - 1] > seeker_[s].rank) --begin;
      visit(seeker_[s].line, begin, others.end, false);
    }
  }

  // Merge two neighboring runs; what is in place already stays untouched.
  void merge(Run both, std::size_t middle) {
    std::size_t to = middle;
    while (to > both.begin && others_.rank[to - 1] > others_.rank[middle]) --to;
    const std::size_t n_left = middle - to;
    for (std::size_t k = 0; k < n_left; ++k) left_.take(k, others_, to + k);
    std::size_t left = 0;
    for (std::size_t right = middle; left < n_left; ++to) {
      const bool is_right = right < both.end && others_.rank[right] < left_.rank[left];
      if (is_right)
        others_.take(to, others_, right++);
      else
        others_.take(to, left_, left++);
    }
  }

  void merge_seekers(Run both, std::size_t middle) {
    if (middle == both.begin || middle == both.end) return;
    std::size_t to = middle;
    while (to > both.begin && seeker_[to - 1].rank > seeker_[middle].rank) --to;
    left_seeker_.assign(seeker_.begin() + static_cast<std::ptrdiff_t>(to),
                        seeker_.begin() + static_cast<std::ptrdiff_t>(middle));
    std::size_t right = middle;
    for (const Seeker& seeker : left_seeker_) {
      while (right < both.end && seeker_[right].rank < seeker.rank)
        seeker_[to++] = seeker_[right++];
      seeker_[to++] = seeker;
    }
  }
};

}  // namespace rocpath
