// The best AUC step, with a certificate: branch and bound over the step.
//
// AUC is a sum over pairs of lines that changes only when they cross. In a window of steps it never
// exceeds its value at the start plus the gains of the pairs that cross inside, and these are the
// pairs whose order differs between the two ends: a merge sort adds up their gains in O(B log B).
// The window with the largest bound is split until few lines cross inside; then its crossings are
// listed in order, and AUC is known everywhere in it. The search ends when no bound exceeds the
// best value found by more than the tolerance.
//
// Only steps that a float64 can take count: a value is attained strictly between two crossings
// that differ as float64 numbers. Memory O(B): the orders at the ends of at most 64 windows.
#pragma once

#include <future>
#include <memory>
#include <queue>

#include "gain_bound.hpp"
#include "windows.hpp"

namespace rocpath {

// Told now and then: best value so far, bound, number of windows.
using AucProgress = std::function<void(double, double, std::uint64_t)>;

struct BestAuc {
  double step;         // strictly inside the interval, or its only point
  StepRange interval;  // around the step, where AUC keeps the best value
  double value;
  double bound;  // no step has a larger AUC
};

class AucSearch {
 public:
  AucSearch(const ErrorLines& lines, StepRange domain)
      : lines_(lines), domain_(domain), scale_(lines), jumps_(lines), gain_bound_(jumps_) {
    double n_fp = 0.0;
    double n_tp = 0.0;
    for (const ErrorLine& line : lines.line) {
      n_fp += line.fp != 0 ? 1.0 : 0.0;
      n_tp += line.tp != 0 ? 1.0 : 0.0;
    }
    doubled_perfect_auc_ =
        static_cast<double>(2 * static_cast<int128>(lines.total.fp) * lines.total.tp);
    mean_pair_ = doubled_perfect_auc_ / (n_fp * n_tp);
  }

  BestAuc run(double tolerance, const Interrupt& interrupt, const AucProgress& progress) {
    const auto doubled_tolerance = static_cast<int128>(tolerance * doubled_perfect_auc_);
    // Walking costs a few ns a crossing, splitting some hundred a line, and with a tolerance one
    // more split mostly settles it.
    const double few_crossings = (tolerance > 0.0 ? 0.5 : 4.0) * static_cast<double>(lines_.size());
    improve(0.0, doubled_auc_at(lines_, 0.0, order_after(lines_, 0.0)));
    const SharedOrder start = shared_order(domain_.low, 0);
    const SharedOrder end = shared_order(domain_.high, 0);
    try_step(domain_.low, *start);
    try_step(domain_.high, *end);
    keep(bounded(domain_, start, end, 0));
    while (!windows_.empty() && windows_.top().bound > best_ + doubled_tolerance) {
      const AucWindow window = windows_.top();
      windows_.pop();
      interrupt();
      progress(auc(best_), auc(window.bound), n_windows_);
      if (window.n_crossings < few_crossings)
        walk(window, doubled_tolerance, interrupt);
      else
        split(window, doubled_tolerance, few_crossings);
    }
    const int128 bound = windows_.empty() ? best_ : std::max(best_, windows_.top().bound);
    // In the middle of its plateau a step is farthest from every crossing.
    const StepRange interval = plateau(interrupt);
    const double step =
        is_inside(scale_.middle(interval), interval) ? scale_.middle(interval) : best_step_;
    return {step, interval, auc(best_), auc(std::max(bound, pruned_bound_))};
  }

 private:
  using Order = Vector<std::uint32_t>;
  using SharedOrder = std::shared_ptr<const Order>;

  // Steps after `range.low`, up to `range.high`.
  struct AucWindow {
    StepRange range{};
    SharedOrder from;  // the orders at both ends, unless there are too many windows to keep them
    SharedOrder to;
    int128 auc = 0;            // doubled, just after the start
    int128 bound = 0;          // doubled, for every step inside
    double n_crossings = 0.0;  // of lines that change AUC, about

    bool operator<(const AucWindow& other) const { return bound < other.bound; }
  };

  const ErrorLines& lines_;
  StepRange domain_;
  StepScale scale_;
  Kinds jumps_;
  GainBound gain_bound_;
  double doubled_perfect_auc_ = 1.0;
  double mean_pair_ = 1.0;
  std::array<OrderBuffers, 2> sort_;  // memory for two threads, to be used again
  std::array<Vector<std::uint32_t>, 2> place_;
  std::priority_queue<AucWindow> windows_;
  int128 best_ = std::numeric_limits<std::int64_t>::min();
  int128 pruned_bound_ = best_;
  double best_step_ = 0.0;
  std::uint64_t n_windows_ = 0;

  double auc(int128 doubled) const { return static_cast<double>(doubled) / doubled_perfect_auc_; }

  // Twice the AUC in this order.
  int128 auc_of(const Order& order) const {
    int128 doubled = 0;
    std::int64_t tp_below = 0;
    for (const std::uint32_t line : order) {
      const auto& [fp, tp] = jumps_[line];
      doubled += static_cast<int128>(fp) * (2 * tp_below + tp);
      tp_below += tp;
    }
    return doubled;
  }

  void try_step(double step, const Order& order) {
    if (std::isfinite(step)) improve(step, doubled_auc_at(lines_, step, order));
  }

  void improve(double step, int128 doubled_auc) {
    if (doubled_auc <= best_) return;
    best_ = doubled_auc;
    best_step_ = step;
  }

  // AUC is constant in the range: take a step inside, if there is one.
  void improve_inside(StepRange range, int128 doubled_auc) {
    if (doubled_auc <= best_) return;
    const double step = scale_.middle(range);
    if (is_inside(step, range)) improve(step, doubled_auc);
  }

  SharedOrder shared_order(double step, std::size_t thread) {
    return std::make_shared<const Order>(order_after(lines_, step, sort_[thread]));
  }

  AucWindow bounded(StepRange range, SharedOrder from, SharedOrder to, std::size_t thread) {
    const int128 start = auc_of(*from);
    const int128 gain = 2 * gain_bound_(*from, *to, place_[thread]);
    const int128 loss = start + gain - auc_of(*to);
    return {range, std::move(from), std::move(to),
            start, start + gain,    static_cast<double>(gain + loss) / mean_pair_};
  }

  // Keep a window, unless it cannot hold anything better.
  void keep(AucWindow window) {
    constexpr std::size_t most_with_orders = 64;
    ++n_windows_;
    if (window.bound <= best_) return;
    if (windows_.size() >= most_with_orders) window.from = window.to = nullptr;
    windows_.push(std::move(window));
  }

  // Into as many parts as it takes, about, to bring their bounds down to what counts.
  Vector<double> cuts(const AucWindow& window, int128 tolerance) const {
    const auto gain = static_cast<double>(window.bound - window.auc);
    const auto room = static_cast<double>(std::max<int128>(best_ + tolerance - window.auc, 1));
    const auto n_parts = static_cast<std::size_t>(std::clamp(gain / room, 2.0, 8.0));
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

  // The parts of a window, in order; none if nobody can step inside.
  std::vector<AucWindow> parts(const AucWindow& window, int128 tolerance, std::size_t thread) {
    const Vector<double> cut = cuts(window, tolerance);
    std::vector<AucWindow> part;
    SharedOrder from = window.from ? window.from : shared_order(cut.front(), thread);
    for (std::size_t k = 1; k < cut.size() && cut.size() > 2; ++k) {
      const bool is_last = k + 1 == cut.size();
      SharedOrder to = is_last && window.to ? window.to : shared_order(cut[k], thread);
      part.push_back(bounded({cut[k - 1], cut[k]}, from, to, thread));
      from = std::move(to);
    }
    return part;
  }

  // Split the window with the largest bound, and the next one too, each on a core of its own.
  void split(const AucWindow& window, int128 tolerance, double few_crossings) {
    std::future<std::vector<AucWindow>> others;
    if (!windows_.empty() && windows_.top().bound > best_ + tolerance &&
        windows_.top().n_crossings >= few_crossings) {
      others = std::async(std::launch::async, [this, tolerance, other = windows_.top()] {
        return parts(other, tolerance, 1);
      });
      windows_.pop();
    }
    take(parts(window, tolerance, 0));
    if (others.valid()) take(others.get());
  }

  void take(const std::vector<AucWindow>& part) {
    for (const AucWindow& one : part) {
      if (one.auc > best_) try_step(one.range.low, *one.from);
      keep(one);
    }
  }

  // Twice the change of AUC at a crossing.
  int128 auc_change(const Crossing& crossing) const {
    const auto& a = jumps_[crossing.lower];
    const auto& b = jumps_[crossing.upper];
    return 2 * (static_cast<int128>(a.fp) * b.tp - static_cast<int128>(b.fp) * a.tp);
  }

  // Go through a window in small parts, and list the crossings of those that may hold a better one.
  void walk(const AucWindow& window, int128 tolerance, const Interrupt& interrupt) {
    constexpr double largest = std::numeric_limits<double>::max();
    const double end = std::min(window.range.high, largest);
    double from = std::max(window.range.low, -largest);
    Windows parts(lines_, from, window.from ? *window.from : order_after(lines_, window.range.low),
                  jumps_.kind());
    Window part;
    int128 doubled_auc = window.auc;
    while (from < end) {
      interrupt();
      parts.next(6 * lines_.size() + 1024, end, part);
      if (part.n_dense_swaps > 0) {
        doubled_auc = auc_of(part.dense_order);
      } else {
        int128 gain = 0;
        int128 change = 0;
        for (const Crossing& crossing : part.crossings) {
          gain += std::max<int128>(auc_change(crossing), 0);
          change += auc_change(crossing);
        }
        if (doubled_auc + gain > best_ + tolerance) {
          parts.sort(part);
          list(part, from, doubled_auc);
        } else {
          pruned_bound_ = std::max(pruned_bound_, doubled_auc + gain);
        }
        doubled_auc += change;
      }
      from = part.to;
    }
  }

  // Look at every stretch between two crossings.
  void list(const Window& part, double since, int128 doubled_auc) {
    for (const Crossing& crossing : part.crossings) {
      if (crossing.step > since) improve_inside({since, crossing.step}, doubled_auc);
      since = std::max(since, crossing.step);
      doubled_auc += auc_change(crossing);
    }
    improve_inside({since, part.to}, doubled_auc);
  }

  // The interval around the best step without a change of AUC.
  StepRange plateau(const Interrupt& interrupt) const {
    const Order order = order_after(lines_, best_step_);
    if (doubled_auc_at(lines_, best_step_, order) != auc_of(order)) return {best_step_, best_step_};
    // Towards smaller steps, look at the mirror image.
    ErrorLines mirrored = lines_;
    for (ErrorLine& line : mirrored.line) line.slope = -line.slope;
    return {-end_of_plateau(mirrored, -best_step_, -domain_.low, interrupt),
            end_of_plateau(lines_, best_step_, domain_.high, interrupt)};
  }

  double end_of_plateau(const ErrorLines& lines, double from, double limit,
                        const Interrupt& interrupt) const {
    Windows parts(lines, from, order_after(lines, from), jumps_.kind());
    Window part;
    const double end = std::min(limit, std::numeric_limits<double>::max());
    while (from < end) {
      interrupt();
      parts.next(lines.size() / 8 + 64, end, part);
      if (part.n_dense_swaps > 0) return part.to;
      parts.sort(part);
      int128 change = 0;
      for (std::size_t k = 0; k < part.crossings.size(); ++k) {
        change += auc_change(part.crossings[k]);
        const bool is_last =
            k + 1 == part.crossings.size() || part.crossings[k + 1].step != part.crossings[k].step;
        if (is_last && change != 0) return part.crossings[k].step;
      }
      from = part.to;
    }
    return limit;
  }
};

}  // namespace rocpath
