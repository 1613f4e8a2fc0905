// The whole AUC, as the area that the search for the best AUC step maximizes (auc_area.hpp). Time
// O(B log B) for a bound; memory O(B).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "auc/auc_bins.hpp"
#include "auc/gain_bound.hpp"

namespace rocpath {

class WholeAUC {
 public:
  // Memory of one thread, which is reused.
  struct Scratch {
    explicit Scratch(const WholeAUC& area) : crossings(area.lines_, area.jumps_) {
      crossings.choose_rare_class();
    }

    Vector<std::uint32_t> place;
    AUCCrossings<JumpKinds> crossings;
    Window listed;
    CrossingSort sort;
  };

  explicit WholeAUC(const ErrorLines& lines)
      : lines_(lines), jumps_(lines), is_monotone_(jumps_.is_monotone()) {
    Mean fp;
    Mean tp;
    LargestSize largest;
    for (const ErrorLine& line : lines.line) {
      fp.add(line.fp);
      tp.add(line.tp);
      largest.add(line.intercept);
      largest.add(line.slope);
    }
    doubled_mean_pair_ = 2.0 * fp.value() * tp.value();
    largest_number_ = largest.value();
  }

  int128 doubled_perfect_auc() const {
    return 2 * static_cast<int128>(lines_.total.fp) * lines_.total.tp;
  }
  int128 doubled(std::span<const std::uint32_t> order) const { return jumps_.doubled_auc(order); }
  int128 doubled_at(double step) const {
    return doubled_auc_at(lines_, step, order_at(lines_, step));
  }

  // For errors that are not monotone the limit is unknown.
  int128 doubled_limit() const {
    return is_monotone_ ? doubled_perfect_auc() : std::numeric_limits<int128>::max();
  }

  Gain gain(StepRange, std::span<const std::uint32_t> from, std::span<const std::uint32_t> to,
            Scratch& scratch) const {
    const int128 largest = is_monotone_ ? largest_gain<OneSign>(jumps_, from, to, scratch.place)
                                        : largest_gain<BothSigns>(jumps_, from, to, scratch.place);
    return {2 * largest, doubled_mean_pair_, static_cast<double>(lines_.size())};
  }

  StepRange plateau(double step, StepRange domain, const Interrupt& interrupt) const {
    return auc_plateau(lines_, jumps_, step, domain, interrupt);
  }

  // Compare measured times, in nanoseconds per line: merging two orders and enumerating their
  // crossings, and sorting a new order for every part.
  static bool is_worth_enumerating(double n_crossings, double n_parts_needed, double) {
    return n_crossings < few_crossings ||
           80.0 + 1.25 * n_crossings < 50.0 * std::min(n_parts_needed, 16.0);
  }

  // Sort the crossings of a window by their steps if there are few of them. Otherwise bound AUC in
  // many bins, unless they would be too narrow.
  template <class Exceeds>
  std::optional<Enumeration> enumerate(const OrderedWindow& window, FoundAUC found,
                                       const StepScale& scale, const Exceeds& exceeds,
                                       Scratch& scratch, const Interrupt& interrupt) const {
    const double n_crossings = window.n_crossings * static_cast<double>(lines_.size());
    if (n_crossings < most_listed() && list_crossings(window, scratch, interrupt)) {
      examine_steps(lines_, jumps_, scale, scratch.listed, window.range.low, window.doubled_auc,
                    found);
      return Enumeration{found, {}};
    }
    const double n_bins = std::clamp(n_crossings / 8.0, 16.0, 4096.0);
    const StepBins bins(window.range, static_cast<std::size_t>(n_bins));
    if (!bins.are_wide(largest_number_)) return {};
    scratch.crossings.prepare(window.from, window.to);
    const Vector<int128> bound =
        bin_bounds(lines_, bins, window.doubled_auc, scratch.crossings, interrupt);
    const auto best = std::max_element(bound.begin(), bound.end());
    if (exceeds(*best, found.best)) {
      const auto k = static_cast<std::size_t>(best - bound.begin());
      const double step = scale.middle(bins.steps(k, k + 1));
      found.improve(step, doubled_at(step));
    }
    const double n_listed = most_listed() / std::max(n_crossings, 1.0) * n_bins;
    const double most_together = std::clamp(n_listed, 1.0, n_bins / 4.0);
    return open_bins(bins, bound, static_cast<std::size_t>(most_together), exceeds, found);
  }

 private:
  static constexpr double few_crossings = 4.0;  // per line, below which they are sorted by step

  // The mean of the nonzero absolute values.
  struct Mean {
    double sum = 0.0;
    double n = 0.0;

    void add(std::int64_t number) {
      sum += std::fabs(static_cast<double>(number));
      n += number != 0 ? 1.0 : 0.0;
    }
    double value() const { return sum / n; }
  };

  const ErrorLines& lines_;
  JumpKinds jumps_;
  bool is_monotone_;
  double doubled_mean_pair_ = 1.0;
  double largest_number_ = 0.0;

  double most_listed() const { return few_crossings * static_cast<double>(lines_.size()); }

  // List the crossings of a window, sorted by step. Returns false if there are many more than
  // estimated.
  bool list_crossings(const OrderedWindow& window, Scratch& scratch,
                      const Interrupt& interrupt) const {
    Window& listed = scratch.listed;
    listed.to = std::min(window.range.high, std::numeric_limits<double>::max());
    listed.crossings.clear();
    const auto too_many = static_cast<std::size_t>(8.0 * most_listed());
    const auto visit = [&](std::uint32_t rare, std::size_t first, std::size_t last,
                           bool is_rising) {
      for (std::size_t k = first; k < last && listed.crossings.size() < too_many; ++k)
        if (scratch.crossings.doubled_auc_change(rare, k, is_rising) != 0)
          listed.crossings.push_back(scratch.crossings.crossing(rare, k, is_rising));
    };
    scratch.crossings.prepare(window.from, window.to);
    scratch.crossings.for_each(visit, interrupt);
    if (listed.crossings.size() >= too_many) return false;
    sort_by_step(lines_, {window.range.low, listed.to}, listed.crossings, scratch.sort);
    // A crossing beyond all float64 steps does not count.
    while (!listed.crossings.empty() && listed.crossings.back().step > listed.to)
      listed.crossings.pop_back();
    return true;
  }
};

}  // namespace rocpath
