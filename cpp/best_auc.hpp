// The best AUC step, with a certificate: branch and bound over the step.
//
// AUC is a sum over pairs of lines that changes only when they cross. In a window of steps it never
// exceeds its value at the start plus the gains of the pairs that cross inside, and these are the
// pairs whose order differs between the two ends: their gains are added up in O(B log B)
// (gain_bound.hpp). The window with the largest bound is split, until it is cheaper to name the
// crossings inside: they bound AUC in thousands of parts at a time (auc_bins.hpp), and where they
// are few they are listed in order, and AUC is known everywhere. What is the area of an order, and
// what it gains, is asked of `Area`: all of AUC (whole_auc.hpp) or that of a region
// (partial_auc.hpp). Two windows are explored at a time, each on a core of its own. The search ends
// when no bound exceeds the best value found by more than the tolerance.
//
// Only steps that a float64 can take count. AUC at such a step is that of the lines as real
// numbers: what it is between two crossings that differ as float64 numbers, if one lies strictly
// between; and what it is at the float64 of a crossing, where crossings that round to it may be
// still to come. Memory O(B): the orders at the ends of at most 64 windows.
#pragma once

#include <memory>
#include <queue>

#include "partial_auc.hpp"
#include "threads.hpp"
#include "whole_auc.hpp"

namespace rocpath {

// Called from time to time with the best value so far, the bound and the number of windows.
using AucProgress = std::function<void(double, double, std::uint64_t)>;

struct BestAUC {
  double step;         // strictly inside the interval, or its only point
  StepRange interval;  // around the step, where AUC keeps the best value
  double value;
  double bound;  // no step has a larger AUC
};

template <AUCArea Area>
class AUCSearch {
 public:
  // `area` is of the same lines.
  AUCSearch(const ErrorLines& lines, const Area& area, StepRange domain, double tolerance)
      : lines_(lines),
        area_(area),
        domain_(domain),
        tolerance_(tolerance),
        scale_(lines),
        scratch_{typename Area::Scratch(area), typename Area::Scratch(area)} {
    doubled_perfect_auc_ = static_cast<double>(area.doubled_perfect_auc());
    constexpr double all = 0x1p125;  // more than any AUC
    doubled_tolerance_ = static_cast<int128>(std::min(tolerance * doubled_perfect_auc_, all));
    const double start = std::clamp(0.0, domain.low, domain.high);
    const int128 at_start = area_.doubled_at(start);
    found_ = {at_start, start, at_start};
  }

  BestAUC run(const Interrupt& interrupt, const AucProgress& progress) {
    // Lines that cross before all float64 steps have crossed.
    constexpr double largest = std::numeric_limits<double>::max();
    const StepRange all_steps{std::max(domain_.low, -largest), domain_.high};
    try_step(all_steps.low);
    try_step(all_steps.high);
    keep(bounded(all_steps, shared_order(all_steps.low, 0), shared_order(all_steps.high, 0), 0));
    while (is_open()) {
      interrupt();
      progress(auc(found_.best), auc(windows_.top().bound), n_windows_);
      explore_two(interrupt);
    }
    const int128 bound =
        windows_.empty() ? found_.best : std::max(found_.best, windows_.top().bound);
    // In the middle of its plateau a step is farthest from every crossing.
    const StepRange interval = area_.plateau(found_.step, domain_, interrupt);
    return {scale_.inside(interval, found_.step), interval, auc(found_.best),
            auc(std::max(bound, std::min(found_.pruned_bound, area_.doubled_limit())))};
  }

 private:
  using Order = Vector<std::uint32_t>;

  // The lines just after a step, and twice the AUC there.
  struct OrderAndAUC {
    Order order;
    int128 auc;
  };
  using SharedOrder = std::shared_ptr<const OrderAndAUC>;

  // Steps after `range.low`, up to `range.high`.
  struct AUCWindow {
    StepRange range{};
    SharedOrder from;  // the orders at both ends, unless not yet known or too many to keep
    SharedOrder to;
    int128 auc = 0;            // doubled, just after the start
    int128 bound = 0;          // doubled, for every step inside
    double n_crossings = 0.0;  // a line to be looked at, about

    // Equal bounds are ordered by position: otherwise the standard library would decide which of
    // several best steps is found.
    bool operator<(const AUCWindow& other) const {
      return bound != other.bound ? bound < other.bound : range.low > other.range.low;
    }
  };

  const ErrorLines& lines_;
  const Area& area_;
  StepRange domain_;
  double tolerance_;
  StepScale scale_;
  double doubled_perfect_auc_ = 1.0;
  int128 doubled_tolerance_ = 0;
  std::array<OrderBuffers, 2> sort_;  // memory for two threads, to be used again
  std::array<typename Area::Scratch, 2> scratch_;
  std::priority_queue<AUCWindow> windows_;
  FoundAUC found_{};
  std::uint64_t n_windows_ = 0;

  double auc(int128 doubled) const { return static_cast<double>(doubled) / doubled_perfect_auc_; }

  void try_step(double step) {
    if (std::isfinite(step)) found_.improve(step, area_.doubled_at(step));
  }

  // Is a bound more than the tolerance above a value, in whole numbers or as float64 numbers?
  bool exceeds(int128 bound, int128 best) const {
    return bound > best + doubled_tolerance_ || auc(bound) > auc(best) + tolerance_;
  }

  bool is_open() const { return !windows_.empty() && exceeds(windows_.top().bound, found_.best); }

  SharedOrder shared_order(double step, std::size_t thread) {
    Order order = order_after(lines_, step, sort_[thread]);
    const int128 auc = area_.doubled(order);
    return std::make_shared<const OrderAndAUC>(std::move(order), auc);
  }

  AUCWindow bounded(StepRange range, SharedOrder from, SharedOrder to, std::size_t thread) {
    const int128 start = from->auc;
    const Gain gain = area_.gain(range, from->order, to->order, scratch_[thread]);
    const int128 bound = start + gain.doubled;
    const int128 loss = bound - to->auc;
    const double n_crossings =
        static_cast<double>(gain.doubled + loss) / (gain.doubled_by_crossing * gain.n_lines);
    return {
        range,      std::move(from), std::move(to), start, std::min(bound, area_.doubled_limit()),
        n_crossings};
  }

  // Keep a window, unless it cannot hold anything better.
  void keep(AUCWindow window) {
    constexpr std::size_t most_with_orders = 64;
    ++n_windows_;
    if (window.bound <= found_.best) return;
    if (windows_.size() >= most_with_orders) window.from = window.to = nullptr;
    windows_.push(std::move(window));
  }

  // Approximate number of parts whose bounds would be below what is of interest.
  double n_parts_needed(const AUCWindow& window) const {
    const auto gain = static_cast<double>(window.bound - window.auc);
    const int128 room = found_.best + doubled_tolerance_ - window.auc;
    return gain / static_cast<double>(std::max<int128>(room, 1));
  }

  Vector<double> cuts(const AUCWindow& window) const {
    const auto n_parts = static_cast<std::size_t>(std::clamp(n_parts_needed(window), 2.0, 8.0));
    Vector<double> cut{window.range.low};
    for (std::size_t k = 1; k < n_parts; ++k) {
      const double step =
          n_parts == 2
              ? scale_.middle(window.range)
              : scale_.within(window.range, static_cast<double>(k) / static_cast<double>(n_parts));
      if (is_inside(step, {cut.back(), window.range.high})) cut.push_back(step);
    }
    if (cut.size() == 1 && is_inside(scale_.middle(window.range), window.range))
      cut.push_back(scale_.middle(window.range));
    cut.push_back(window.range.high);
    return cut;
  }

  // The parts of a window, in order; none if its end is the only float64 in it.
  std::vector<AUCWindow> parts(const AUCWindow& window, std::size_t thread) {
    const Vector<double> cut = cuts(window);
    std::vector<AUCWindow> part;
    SharedOrder from = window.from;
    for (std::size_t k = 1; k < cut.size() && cut.size() > 2; ++k) {
      const bool is_last = k + 1 == cut.size();
      SharedOrder to = is_last ? window.to : shared_order(cut[k], thread);
      part.push_back(bounded({cut[k - 1], cut[k]}, from, to, thread));
      from = std::move(to);
    }
    return part;
  }

  // What comes of a window: smaller ones, or the best step in it.
  struct Explored {
    std::vector<AUCWindow> parts;
    FoundAUC found;
  };

  Explored explored(const AUCWindow& window, std::size_t thread, const Interrupt& interrupt) {
    if (!window.from) return ordered(window, thread, interrupt);
    if (Area::is_worth_enumerating(window.n_crossings, n_parts_needed(window), tolerance_))
      if (auto open = enumerated(window, thread, interrupt)) return *std::move(open);
    Explored split{parts(window, thread), found_};
    const double end = window.range.high;
    if (split.parts.empty() && std::isfinite(end)) split.found.improve(end, area_.doubled_at(end));
    return split;
  }

  // Empty if listing crossings would give no better bounds than a split.
  std::optional<Explored> enumerated(const AUCWindow& window, std::size_t thread,
                                     const Interrupt& interrupt) {
    const auto is_better = [this](int128 bound, int128 best) { return exceeds(bound, best); };
    const auto listed = area_.enumerate(
        {window.range, window.from->order, window.to->order, window.auc, window.n_crossings},
        found_, scale_, is_better, scratch_[thread], interrupt);
    if (!listed) return {};
    Explored open{{}, listed->found};
    for (const Enumeration::OpenRange& part : listed->open)
      open.parts.push_back({part.range, nullptr, nullptr, listed->found.best, part.bound, 0.0});
    return open;
  }

  // What comes of a window whose orders are not at hand.
  Explored ordered(const AUCWindow& window, std::size_t thread, const Interrupt& interrupt) {
    const auto& [low, high] = window.range;
    AUCWindow same =
        bounded(window.range, shared_order(low, thread), shared_order(high, thread), thread);
    same.bound = std::min(same.bound, window.bound);
    if (exceeds(same.bound, found_.best)) return explored(same, thread, interrupt);
    return {{same}, found_};
  }

  // Explore the window with the largest bound, and the next one too, each on a core of its own.
  void explore_two(const Interrupt& interrupt) {
    const AUCWindow first = pop();
    BackgroundTask<Explored> other;
    if (is_open())
      other = BackgroundTask<Explored>(
          lines_.size() >= 512, [this, second = pop()] { return explored(second, 1, [] {}); });
    const Explored one = explored(first, 0, interrupt);
    if (other.is_pending()) take(other.get());
    take(one);
  }

  AUCWindow pop() {
    AUCWindow window = windows_.top();
    windows_.pop();
    return window;
  }

  void take(const Explored& one) {
    found_.improve(one.found.step, one.found.best);
    found_.pruned_bound = std::max(found_.pruned_bound, one.found.pruned_bound);
    for (const AUCWindow& part : one.parts) {
      if (part.auc > found_.best) try_step(part.range.low);
      keep(part);
    }
  }
};

// Requires: monotone errors, unless the region is everywhere.
inline BestAUC best_auc_step(const ErrorLines& lines, StepRange domain, double tolerance,
                             const RegionRates& rates, const Interrupt& interrupt,
                             const AucProgress& progress) {
  if (rates.is_everywhere())
    return AUCSearch(lines, WholeAUC(lines), domain, tolerance).run(interrupt, progress);
  const Region region(lines.total, rates);
  const PartialAUC area(lines, region);
  return AUCSearch(lines, area, domain, tolerance).run(interrupt, progress);
}

}  // namespace rocpath
