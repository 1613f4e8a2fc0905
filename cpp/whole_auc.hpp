// All of AUC, as the search for its best step asks for it.
#pragma once

#include "gain_bound.hpp"

namespace rocpath {

class WholeAuc {
 public:
  using Scratch = Vector<std::uint32_t>;

  explicit WholeAuc(const ErrorLines& lines)
      : lines_(lines), jumps_(lines), is_monotone_(jumps_.is_monotone()) {
    double n_fp = 0.0;
    double n_tp = 0.0;
    for (const ErrorLine& line : lines.line) {
      n_fp += line.fp != 0 ? 1.0 : 0.0;
      n_tp += line.tp != 0 ? 1.0 : 0.0;
    }
    doubled_mean_pair_ = static_cast<double>(doubled_perfect_auc()) / (n_fp * n_tp);
  }

  int128 doubled_perfect_auc() const {
    return 2 * static_cast<int128>(lines_.total.fp) * lines_.total.tp;
  }
  int128 doubled(std::span<const std::uint32_t> order) const { return jumps_.doubled_auc(order); }
  int128 doubled_at(double step) const {
    return doubled_auc_at(lines_, step, order_at(lines_, step));
  }

  // No order has more. With errors that rise and fall, nobody knows.
  int128 doubled_limit() const {
    return is_monotone_ ? doubled_perfect_auc() : std::numeric_limits<int128>::max();
  }

  // What AUC can gain at most between two steps, given the orders after them.
  Gain gain(StepRange, std::span<const std::uint32_t> from, std::span<const std::uint32_t> to,
            Scratch& place) const {
    const int128 largest = is_monotone_ ? largest_gain<OneSign>(jumps_, from, to, place)
                                        : largest_gain<BothSigns>(jumps_, from, to, place);
    return {2 * largest, doubled_mean_pair_, static_cast<double>(lines_.size())};
  }

  StepRange plateau(double step, StepRange domain, const Interrupt& interrupt) const {
    return auc_plateau(lines_, jumps_, step, domain, interrupt);
  }

  // Go through a window in small parts, and list the crossings of those that may hold a better one.
  template <class Exceeds>
  FoundAuc walked(StepRange range, Vector<std::uint32_t> order, int128 doubled_auc, FoundAuc found,
                  const StepScale& scale, const Exceeds& exceeds,
                  const Interrupt& interrupt) const {
    Windows parts(lines_, range.low, std::move(order), jumps_.kind());
    Window part;
    for (double from = range.low; from < range.high; from = part.to) {
      interrupt();
      parts.next(6 * lines_.size() + 1024, range.high, part);
      if (part.n_dense_swaps > 0) {
        doubled_auc = jumps_.doubled_auc(part.dense_order);
        found.improve(part.to, doubled_at(part.to));
        continue;
      }
      int128 gain = 0;
      int128 change = 0;
      for (const Crossing& crossing : part.crossings) {
        gain += std::max<int128>(jumps_.doubled_auc_change(crossing), 0);
        change += jumps_.doubled_auc_change(crossing);
      }
      if (exceeds(doubled_auc + gain, found.best)) {
        parts.sort(part);
        look_into(lines_, jumps_, scale, part, from, doubled_auc, found);
      } else {
        found.pruned_bound = std::max(found.pruned_bound, doubled_auc + gain);
      }
      doubled_auc += change;
    }
    return found;
  }

 private:
  const ErrorLines& lines_;
  Kinds jumps_;
  bool is_monotone_;
  double doubled_mean_pair_ = 1.0;
};

}  // namespace rocpath
