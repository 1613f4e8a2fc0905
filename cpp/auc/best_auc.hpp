// The best AUC step, with an upper bound on AUC at all steps: branch and bound over the step.
//
// AUC (eq. AUC1) is a sum over pairs of lines, and changes only when lines cross. In a window of
// steps, it is at most its value at the start plus the gains of the pairs that cross inside. These
// are the pairs whose order differs between the two ends, so the gains are summed in O(B log B)
// (gain_bound.hpp). The window with the largest bound is split until enumerating its crossings is
// cheaper. If there are many crossings, they give bounds for thousands of bins (auc_bins.hpp). If
// there are few, they are sorted, and AUC is computed at every step of the window. The template
// parameter `Area` is the whole AUC (whole_auc.hpp) or the partial AUC of a region
// (partial_auc.hpp). Two windows are explored at a time, each on its own core. The search ends when
// no bound exceeds the best value found by more than the tolerance.
//
// Only float64 steps are considered, and AUC is computed without rounding. It is computed between
// two consecutive crossing steps if a float64 lies strictly between them, and at the float64 of
// every crossing step, where some crossings that round to it may not have happened yet. Time O(B
// log B) for each bound; the number of windows depends on the data. Memory O(B): the orders at the
// ends of at most 64 windows.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "auc/partial_auc.hpp"
#include "auc/whole_auc.hpp"
#include "numerics/ratio.hpp"
#include "numerics/threads.hpp"

namespace rocpath {

// Called regularly with the best AUC found so far, the bound and the number of windows.
using AUCProgress = std::function<void(double, double, std::uint64_t)>;

struct BestAUC {
  double step;         // strictly inside the interval, or its only point
  StepRange interval;  // steps around it with the same AUC
  double value;
  double bound;  // upper bound on AUC at all steps
};

template <AUCArea Area>
class AUCSearch {
 public:
  // Requires: `area` was constructed from the same lines.
  AUCSearch(const ErrorLines& lines, const Area& area, StepRange domain, double tolerance)
      : lines_(lines),
        area_(area),
        domain_(domain),
        tolerance_(tolerance),
        scale_(lines),
        scratch_{typename Area::Scratch(area), typename Area::Scratch(area)} {
    doubled_perfect_auc_ = area.doubled_perfect_auc();
    constexpr double all = 0x1p125;  // more than any doubled AUC
    doubled_tolerance_ =
        static_cast<int128>(std::min(tolerance * static_cast<double>(doubled_perfect_auc_), all));
    const double start = std::clamp(0.0, domain.low, domain.high);
    const int128 at_start = area_.doubled_at(start);
    found_ = {at_start, start, at_start};
  }

  BestAUC run(const Interrupt& interrupt, const AUCProgress& progress) {
    // Crossings before the lowest finite float64 have already happened there.
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
    // The middle of its plateau is the step farthest from any change of AUC.
    const StepRange interval = area_.plateau(found_.step, domain_, interrupt);
    return {scale_.inside(interval, found_.step), interval, auc(found_.best),
            auc(std::max(bound, std::min(found_.pruned_bound, area_.doubled_limit())))};
  }

 private:
  using Order = Vector<std::uint32_t>;

  // The order of the lines just after a step, and twice the AUC there.
  struct OrderAndAUC {
    Order order;
    int128 auc;
  };
  using SharedOrder = std::shared_ptr<const OrderAndAUC>;

  // Steps after `range.low`, up to `range.high`.
  struct AUCWindow {
    StepRange range{};
    SharedOrder from;  // orders after both ends, or null if they are not stored
    SharedOrder to;
    int128 auc = 0;            // doubled AUC just after the start
    int128 bound = 0;          // upper bound on the doubled AUC at all steps inside
    double n_crossings = 0.0;  // estimated number of crossings per visited line

    // Windows with equal bounds are ordered by position. Otherwise the implementation of
    // std::priority_queue would determine which of several best steps is found.
    bool operator<(const AUCWindow& other) const {
      return bound != other.bound ? bound < other.bound : range.low > other.range.low;
    }
  };

  const ErrorLines& lines_;
  const Area& area_;
  StepRange domain_;
  double tolerance_;
  StepScale scale_;
  int128 doubled_perfect_auc_;
  int128 doubled_tolerance_ = 0;
  std::array<OrderBuffers, 2> sort_;  // memory of two threads, which is reused
  std::array<typename Area::Scratch, 2> scratch_;
  std::priority_queue<AUCWindow> windows_;
  FoundAUC found_{};
  std::uint64_t n_windows_ = 0;

  double auc(int128 doubled) const { return rounded_ratio(doubled, doubled_perfect_auc_); }

  void try_step(double step) {
    if (std::isfinite(step)) found_.improve(step, area_.doubled_at(step));
  }

  // Whether a bound exceeds a value by more than the tolerance, as integers or as float64 rates.
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

  // Keep a window if it may contain a better step.
  void keep(AUCWindow window) {
    constexpr std::size_t most_with_orders = 64;
    ++n_windows_;
    if (window.bound <= found_.best) return;
    if (windows_.size() >= most_with_orders) window.from = window.to = nullptr;
    windows_.push(std::move(window));
  }

  // Approximate number of equal parts of a window such that no bound exceeds the best AUC by more
  // than the tolerance.
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

  // The result of exploring a window: smaller windows that remain, and the best step found so far.
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

  // Enumerate the crossings of a window. Returns nothing if splitting it is better.
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

  // Explore a window whose orders are not stored.
  Explored ordered(const AUCWindow& window, std::size_t thread, const Interrupt& interrupt) {
    const auto& [low, high] = window.range;
    AUCWindow same =
        bounded(window.range, shared_order(low, thread), shared_order(high, thread), thread);
    same.bound = std::min(same.bound, window.bound);
    if (exceeds(same.bound, found_.best)) return explored(same, thread, interrupt);
    return {{same}, found_};
  }

  // Explore the two windows with the largest bounds, each on its own core.
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

// The step with the largest AUC in a domain. Requires: monotone errors, unless the region is the
// whole curve.
inline BestAUC best_auc_step(const ErrorLines& lines, StepRange domain, double tolerance,
                             const RegionRates& rates, const Interrupt& interrupt,
                             const AUCProgress& progress) {
  if (rates.is_everywhere())
    return AUCSearch(lines, WholeAUC(lines), domain, tolerance).run(interrupt, progress);
  const Region region(lines.total, rates);
  const PartialAUC area(lines, region);
  return AUCSearch(lines, area, domain, tolerance).run(interrupt, progress);
}

}  // namespace rocpath
