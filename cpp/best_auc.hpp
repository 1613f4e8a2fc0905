// The best AUC step, with a certificate: branch and bound over the step.
//
// AUC is a sum over pairs of lines that changes only when they cross. In a window of steps it never
// exceeds its value at the start plus the gains of the pairs that cross inside, and these are the
// pairs whose order differs between the two ends: their gains are added up in O(B log B)
// (gain_bound.hpp). The window with the largest bound is split until few lines cross inside; then
// its crossings are listed in order, and AUC is known everywhere in it. Two windows are explored at
// a time, each on a core of its own. The search ends when no bound exceeds the best value found by
// more than the tolerance.
//
// Only steps that a float64 can take count. AUC at such a step is that of the lines as real
// numbers: what it is between two crossings that differ as float64 numbers, if one lies strictly
// between; and what it is at the float64 of a crossing, where crossings that round to it may be
// still to come. Memory O(B): the orders at the ends of at most 64 windows.
#pragma once

#include <future>
#include <memory>
#include <queue>

#include "gain_bound.hpp"

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
  AucSearch(const ErrorLines& lines, StepRange domain, double tolerance)
      : lines_(lines),
        domain_(domain),
        tolerance_(tolerance),
        scale_(lines),
        jumps_(lines),
        gain_bound_(jumps_) {
    double n_fp = 0.0;
    double n_tp = 0.0;
    for (const ErrorLine& line : lines.line) {
      n_fp += line.fp != 0 ? 1.0 : 0.0;
      n_tp += line.tp != 0 ? 1.0 : 0.0;
    }
    doubled_perfect_auc_ =
        static_cast<double>(2 * static_cast<int128>(lines.total.fp) * lines.total.tp);
    mean_pair_ = doubled_perfect_auc_ / (n_fp * n_tp);
    constexpr double all = 0x1p125;  // more than any AUC
    doubled_tolerance_ = static_cast<int128>(std::min(tolerance * doubled_perfect_auc_, all));
    const int128 at_start = doubled_auc_at(0.0);
    found_ = {at_start, 0.0, at_start};
  }

  BestAuc run(const Interrupt& interrupt, const AucProgress& progress) {
    // Walking costs a few ns a crossing, splitting some hundred a line, and with a tolerance one
    // more split mostly settles it.
    const double few_crossings =
        (tolerance_ > 0.0 ? 0.5 : 4.0) * static_cast<double>(lines_.size());
    // Lines that cross before all float64 steps have crossed.
    constexpr double largest = std::numeric_limits<double>::max();
    const StepRange all_steps{std::max(domain_.low, -largest), domain_.high};
    try_step(all_steps.low);
    try_step(all_steps.high);
    keep(bounded(all_steps, shared_order(all_steps.low, 0), shared_order(all_steps.high, 0), 0));
    while (is_open()) {
      interrupt();
      progress(auc(found_.best), auc(windows_.top().bound), n_windows_);
      explore_two(few_crossings, interrupt);
    }
    const int128 bound =
        windows_.empty() ? found_.best : std::max(found_.best, windows_.top().bound);
    // In the middle of its plateau a step is farthest from every crossing.
    const StepRange interval = auc_plateau(lines_, jumps_, found_.step, domain_, interrupt);
    return {scale_.inside(interval, found_.step), interval, auc(found_.best),
            auc(std::max(bound, found_.pruned_bound))};
  }

 private:
  using Order = Vector<std::uint32_t>;

  // The lines just after a step, and twice the AUC there.
  struct OrderAndAuc {
    Order order;
    int128 auc;
  };
  using SharedOrder = std::shared_ptr<const OrderAndAuc>;

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
  double tolerance_;
  StepScale scale_;
  Kinds jumps_;
  GainBound gain_bound_;
  double doubled_perfect_auc_ = 1.0;
  double mean_pair_ = 1.0;
  int128 doubled_tolerance_ = 0;
  std::array<OrderBuffers, 2> sort_;  // memory for two threads, to be used again
  std::array<Vector<std::uint32_t>, 2> place_;
  std::priority_queue<AucWindow> windows_;
  FoundAuc found_{};
  std::uint64_t n_windows_ = 0;

  double auc(int128 doubled) const { return static_cast<double>(doubled) / doubled_perfect_auc_; }

  void try_step(double step) {
    if (std::isfinite(step)) found_.improve(step, doubled_auc_at(step));
  }

  int128 doubled_auc_at(double step) const {
    return rocpath::doubled_auc_at(lines_, step, order_at(lines_, step));
  }

  // Is a bound more than the tolerance above a value, in whole numbers or as float64 numbers?
  bool exceeds(int128 bound, int128 best) const {
    return bound > best + doubled_tolerance_ || auc(bound) > auc(best) + tolerance_;
  }

  bool is_open() const { return !windows_.empty() && exceeds(windows_.top().bound, found_.best); }

  SharedOrder shared_order(double step, std::size_t thread) {
    Order order = order_after(lines_, step, sort_[thread]);
    const int128 auc = jumps_.doubled_auc(order);
    return std::make_shared<const OrderAndAuc>(std::move(order), auc);
  }

  AucWindow bounded(StepRange range, SharedOrder from, SharedOrder to, std::size_t thread) {
    const int128 start = from->auc;
    const int128 gain = 2 * gain_bound_(from->order, to->order, place_[thread]);
    const int128 loss = start + gain - to->auc;
    return {range, std::move(from), std::move(to),
            start, start + gain,    static_cast<double>(gain + loss) / mean_pair_};
  }

  // Keep a window, unless it cannot hold anything better.
  void keep(AucWindow window) {
    constexpr std::size_t most_with_orders = 64;
    ++n_windows_;
    if (window.bound <= found_.best) return;
    if (windows_.size() >= most_with_orders) window.from = window.to = nullptr;
    windows_.push(std::move(window));
  }

  // Into as many parts as it takes, about, to bring their bounds down to what counts.
  Vector<double> cuts(const AucWindow& window) const {
    const auto gain = static_cast<double>(window.bound - window.auc);
    const auto room =
        static_cast<double>(std::max<int128>(found_.best + doubled_tolerance_ - window.auc, 1));
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

  // The parts of a window, in order; none if its end is the only float64 in it.
  std::vector<AucWindow> parts(const AucWindow& window, std::size_t thread) {
    const Vector<double> cut = cuts(window);
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

  // What comes of a window: smaller ones, or the best step in it.
  struct Explored {
    std::vector<AucWindow> parts;
    FoundAuc found;
  };

  Explored explored(const AucWindow& window, double few_crossings, std::size_t thread,
                    const Interrupt& interrupt) {
    if (window.n_crossings < few_crossings) return {{}, walked(window, interrupt)};
    Explored split{parts(window, thread), found_};
    const double end = window.range.high;
    if (split.parts.empty() && std::isfinite(end)) split.found.improve(end, doubled_auc_at(end));
    return split;
  }

  // Explore the window with the largest bound, and the next one too, each on a core of its own.
  void explore_two(double few_crossings, const Interrupt& interrupt) {
    const AucWindow first = pop();
    std::future<Explored> other;
    if (is_open()) {
      const auto policy = lines_.size() < 512 ? std::launch::deferred : std::launch::async;
      other = std::async(
          policy, [=, this, second = pop()] { return explored(second, few_crossings, 1, [] {}); });
    }
    const Explored one = explored(first, few_crossings, 0, interrupt);
    if (other.valid()) take(other.get());
    take(one);
  }

  AucWindow pop() {
    AucWindow window = windows_.top();
    windows_.pop();
    return window;
  }

  void take(const Explored& one) {
    found_.improve(one.found.step, one.found.best);
    found_.pruned_bound = std::max(found_.pruned_bound, one.found.pruned_bound);
    for (const AucWindow& part : one.parts) {
      if (part.auc > found_.best) try_step(part.range.low);
      keep(part);
    }
  }

  // Go through a window in small parts, and list the crossings of those that may hold a better one.
  FoundAuc walked(const AucWindow& window, const Interrupt& interrupt) const {
    constexpr double largest = std::numeric_limits<double>::max();
    const double end = std::min(window.range.high, largest);
    double from = window.range.low;
    Windows parts(lines_, from,
                  window.from ? window.from->order : order_after(lines_, window.range.low),
                  jumps_.kind());
    Window part;
    int128 doubled_auc = window.auc;
    FoundAuc found = found_;
    while (from < end) {
      interrupt();
      parts.next(6 * lines_.size() + 1024, end, part);
      if (part.n_dense_swaps > 0) {
        doubled_auc = jumps_.doubled_auc(part.dense_order);
        found.improve(part.to, doubled_auc_at(part.to));
      } else {
        int128 gain = 0;
        int128 change = 0;
        for (const Crossing& crossing : part.crossings) {
          gain += std::max<int128>(jumps_.doubled_auc_change(crossing), 0);
          change += jumps_.doubled_auc_change(crossing);
        }
        if (exceeds(doubled_auc + gain, found.best)) {
          parts.sort(part);
          look_into(lines_, jumps_, scale_, part, from, doubled_auc, found);
        } else {
          found.pruned_bound = std::max(found.pruned_bound, doubled_auc + gain);
        }
        doubled_auc += change;
      }
      from = part.to;
    }
    return found;
  }
};

}  // namespace rocpath
