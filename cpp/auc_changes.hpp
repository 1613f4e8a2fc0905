// How AUC changes with the order of the lines, and how far around a step it does not.
#pragma once

#include <map>

#include "windows.hpp"

namespace rocpath {

// The jumps of every line. Lines of equal jumps are of one kind, so that for labels a small number
// a line and two pairs of jumps take the place of all of them, and stay in the cache.
class Kinds {
 public:
  struct Jump {
    std::int64_t fp;
    std::int64_t tp;
  };

  explicit Kinds(const ErrorLines& lines) : kind_(lines.size()) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> number_of;
    for (std::size_t k = 0; k < lines.size(); ++k) {
      const ErrorLine& line = lines.line[k];
      const auto number = static_cast<std::uint32_t>(jump_.size());
      const auto [found, is_new] = number_of.try_emplace({line.fp, line.tp}, number);
      if (is_new) jump_.push_back({line.fp, line.tp});
      kind_[k] = found->second;
    }
  }

  const Jump& operator[](std::uint32_t line) const { return jump_[kind_[line]]; }
  std::span<const std::uint32_t> kind() const { return kind_; }

  // Twice the AUC in this order.
  int128 doubled_auc(std::span<const std::uint32_t> order) const {
    int128 doubled = 0;
    std::int64_t tp_below = 0;
    for (const std::uint32_t line : order) {
      const auto& [fp, tp] = (*this)[line];
      doubled += static_cast<int128>(fp) * (2 * tp_below + tp);
      tp_below += tp;
    }
    return doubled;
  }

  // Twice the change of AUC at a crossing.
  int128 doubled_auc_change(const Crossing& crossing) const {
    const Jump& a = (*this)[crossing.lower];
    const Jump& b = (*this)[crossing.upper];
    return 2 * (static_cast<int128>(a.fp) * b.tp - static_cast<int128>(b.fp) * a.tp);
  }

  bool is_monotone() const {
    return std::all_of(jump_.begin(), jump_.end(),
                       [](const Jump& jump) { return jump.fp >= 0 && jump.tp >= 0; });
  }

 private:
  Vector<std::uint32_t> kind_;
  Vector<Jump> jump_;
};

namespace detail {

// The first step after `from` where AUC changes, or the limit.
inline double end_of_plateau(const ErrorLines& lines, const Kinds& jumps, double from, double limit,
                             const Interrupt& interrupt) {
  Windows parts(lines, from, order_after(lines, from), jumps.kind());
  Window part;
  const double end = std::min(limit, std::numeric_limits<double>::max());
  while (from < end) {
    interrupt();
    parts.next(lines.size() / 8 + 64, end, part);
    if (part.n_dense_swaps > 0) return part.to;
    parts.sort(part);
    int128 change = 0;
    for (std::size_t k = 0; k < part.crossings.size(); ++k) {
      change += jumps.doubled_auc_change(part.crossings[k]);
      const bool is_last =
          k + 1 == part.crossings.size() || part.crossings[k + 1].step != part.crossings[k].step;
      if (is_last && change != 0) return part.crossings[k].step;
    }
    from = part.to;
  }
  return limit;
}

}  // namespace detail

// The interval around a step without a change of AUC.
inline StepRange auc_plateau(const ErrorLines& lines, const Kinds& jumps, double step,
                             StepRange domain, const Interrupt& interrupt) {
  const Vector<std::uint32_t> order = order_after(lines, step);
  if (doubled_auc_at(lines, step, order) != jumps.doubled_auc(order)) return {step, step};
  // Towards smaller steps, look at the mirror image.
  ErrorLines mirrored = lines;
  for (ErrorLine& line : mirrored.line) line.slope = -line.slope;
  return {-detail::end_of_plateau(mirrored, jumps, -step, -domain.low, interrupt),
          detail::end_of_plateau(lines, jumps, step, domain.high, interrupt)};
}

}  // namespace rocpath
