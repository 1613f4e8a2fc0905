// The area of a region below the ROC curve, as the search for its best step asks for it.
//
// Of the negatives let those count that are first in an order, up to the right border, and of the
// positives those that are last, down to the bottom: the region's area is the sum over right pairs
// of them. No other choice of as many gives a smaller sum, in any order. So with the choice made
// after one step, the sum bounds the area at all others, and it changes only when chosen lines
// cross: in a window of steps the area gains at most what the chosen pairs that cross can gain.
#pragma once

#include <optional>

#include "gain_bound.hpp"
#include "partial_state.hpp"

namespace rocpath {

class PartialAUC {
 public:
  // How much of every line counts.
  struct Chosen {
    Vector<Kinds::Jump> jump;

    const Kinds::Jump& operator[](std::uint32_t line) const { return jump[line]; }
    void prefetch(std::uint32_t line) const { __builtin_prefetch(&jump[line]); }
  };
  struct Scratch {
    explicit Scratch(const PartialAUC&) {}

    Chosen chosen;
    Vector<std::uint32_t> place;
  };

  // Requires: monotone errors.
  PartialAUC(const ErrorLines& lines, const Region& region)
      : lines_(lines), region_(region), start_(lines, region) {}

  int128 doubled_perfect_auc() const {
    return 2 * static_cast<int128>(region_.total().fp) * region_.total().tp;
  }
  int128 doubled(std::span<const std::uint32_t> order) const {
    return start_.doubled_area_of(order);
  }
  int128 doubled_at(double step) const {
    return start_.doubled_area_at(step, order_at(lines_, step));
  }

  int128 doubled_limit() const { return region_.doubled_perfect_area(); }

  // Is it better to walk through a window of so many crossings a line than to split it? Walking
  // costs a few ns a crossing, splitting some hundred a line, and with a tolerance one more split
  // mostly settles it.
  static bool is_to_walk(double n_crossings, double, double tolerance) {
    return n_crossings < (tolerance > 0.0 ? 0.5 : 4.0);
  }

  Gain gain(StepRange range, std::span<const std::uint32_t> from, std::span<const std::uint32_t> to,
            Scratch& scratch) const {
    choose(lines_, from, scratch.chosen);
    const int128 largest = largest_gain<OneSign>(scratch.chosen, from, to, scratch.place);
    const Reach reach(lines_, range, scratch.chosen);
    const auto n_within = static_cast<double>(std::count_if(
        lines_.line.begin(), lines_.line.end(),
        [&](const ErrorLine& line) { return !reach.is_below(line) && !reach.is_above(line); }));
    // Most crossings in the region are of two lines of one class, and change nothing.
    const double doubled_by_crossing =
        2.0 * static_cast<double>(doubled_limit()) / std::max(n_within * n_within, 1.0);
    return {2 * largest + region_.shortfall(), doubled_by_crossing, std::max(n_within, 1.0)};
  }

  StepRange plateau(double step, StepRange domain, const Interrupt& interrupt) const {
    const int128 doubled_area = doubled_at(step);
    // Towards smaller steps, look at the mirror image.
    ErrorLines mirrored = lines_;
    for (ErrorLine& line : mirrored.line) line.slope = -line.slope;
    const PartialAUC mirror(mirrored, region_);
    return {-mirror.end_of_plateau(-step, -domain.low, doubled_area, interrupt),
            end_of_plateau(step, domain.high, doubled_area, interrupt)};
  }

  // Go through a window in small parts, and list the crossings of those that may hold a better one.
  template <class Exceeds>
  std::optional<Walked> walked(const WindowToWalk& window, FoundAUC found, const StepScale& scale,
                               const Exceeds& exceeds, Scratch&, const Interrupt& interrupt) const {
    constexpr double largest = std::numeric_limits<double>::max();
    const StepRange range{window.range.low, std::min(window.range.high, largest)};
    int128 doubled_area = window.doubled_auc;
    const ErrorLines lines = lines_within(range, window.from);
    if (lines.size() == 0) return Walked{found, {}};  // the curve passes below the region
    PartialState state(lines, region_);
    Windows parts(lines);
    Window part;
    Chosen chosen;
    Vector<std::uint32_t> before;
    for (double from = range.low; from < range.high; from = part.to) {
      interrupt();
      before.assign(parts.order().begin(), parts.order().end());
      parts.next(6 * lines.size() + 1024, range.high, part);
      if (part.n_dense_swaps > 0) {
        found.improve(part.to, doubled_at(part.to));
      } else {
        choose(lines, before, chosen);
        int128 bound = doubled_area + region_.shortfall();
        for (const Crossing& crossing : part.crossings)
          bound += 2 * static_cast<int128>(chosen[crossing.lower].fp) * chosen[crossing.upper].tp;
        if (exceeds(bound, found.best)) {
          parts.sort(part);
          state.reorder(before);
          look_into(state, scale, part, from, found);
        } else {
          found.pruned_bound = std::max(found.pruned_bound, bound);
        }
      }
      doubled_area = state.doubled_area_of(parts.order());
    }
    return Walked{found, {}};
  }

 private:
  const ErrorLines& lines_;
  const Region& region_;
  PartialState start_;

  // Where the region is in a range of steps: not above the negatives chosen at its start, nor below
  // the positives. Places are rounded, but never past one another.
  class Reach {
   public:
    Reach(const ErrorLines& lines, StepRange range, const Chosen& chosen) : range_(range) {
      if (!std::isfinite(range.low) || !std::isfinite(range.high)) return;
      double right = -infinity;
      double bottom = infinity;
      for (std::size_t k = 0; k < lines.size(); ++k) {
        const auto& [fp, tp] = chosen[static_cast<std::uint32_t>(k)];
        const auto [low, high] = ends(lines.line[k]);
        if (fp > 0) right = std::max(right, high);
        if (tp > 0) bottom = std::min(bottom, low);
      }
      right_ = right;
      bottom_ = bottom;
    }

    bool is_above(const Line& line) const { return is_bounded() && ends(line).first > right_; }
    bool is_below(const Line& line) const { return is_bounded() && ends(line).second < bottom_; }

   private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    StepRange range_;
    double right_ = infinity;
    double bottom_ = -infinity;

    bool is_bounded() const { return right_ < infinity || bottom_ > -infinity; }
    std::pair<double, double> ends(const Line& line) const {
      return std::minmax({line.at(range_.low), line.at(range_.high)});
    }
  };

  void choose(const ErrorLines& lines, std::span<const std::uint32_t> order, Chosen& chosen) const {
    chosen.jump.resize(lines.size());
    ErrorSums at = region_.scaled(lines.below.fp, lines.below.tp);
    for (std::size_t r = 0; r < order.size(); ++r) {
      if (r + detail::ahead < order.size()) {
        chosen.prefetch(order[r + detail::ahead]);
        detail::prefetch(lines, order, r + detail::ahead);
      }
      const ErrorLine& line = lines.line[order[r]];
      const ErrorSums jump = region_.scaled(line.fp, line.tp);
      const ErrorSums inside = region_.inside(at, jump);
      chosen.jump[order[r]] = {inside.fp, inside.tp};
      at += jump;
    }
  }

  // The lines that come into the region somewhere in a range of steps, in their order after its
  // start, with the sums of those below.
  ErrorLines lines_within(StepRange range, std::span<const std::uint32_t> order) const {
    Chosen chosen;
    choose(lines_, order, chosen);
    const Reach reach(lines_, range, chosen);
    ErrorLines within;
    within.total = lines_.total;
    within.from = range.low;
    for (const std::uint32_t number : order) {
      const ErrorLine& line = lines_.line[number];
      if (reach.is_below(line))
        within.below += {line.fp, line.tp};
      else if (!reach.is_above(line))
        within.line.push_back(line);
    }
    return within;
  }

  // Look at the float64 steps of a window, after `since`: in every stretch between two rows of
  // crossings, and at every row. Requires: sorted crossings, the state before them.
  void look_into(PartialState& state, const StepScale& scale, const Window& part, double since,
                 FoundAUC& found) const {
    const auto improve_inside = [&](StepRange range) {
      if (state.doubled_area() <= found.best) return;
      const double step = scale.middle(range);
      if (is_inside(step, range)) found.improve(step, state.doubled_area());
    };
    for (std::span<const Crossing> rest = part.crossings; !rest.empty();) {
      const std::span<const Crossing> row = take_row(rest);
      const double step = row.front().step;
      improve_inside({since, step});
      // A tie of two is not better than what is before and after it.
      const bool is_single = row.size() == 1 && state.doubled_area() <= found.best;
      if (is_single) state.swap_neighbors(row.front());
      const bool is_better = is_single && state.doubled_area() > found.best;
      if (is_better) found.improve(step, doubled_at(step));
      if (!is_single) found.improve(step, state.apply_at(step, row));
      since = step;
    }
    if (since == part.to) return;
    improve_inside({since, part.to});
    found.improve(part.to, state.doubled_area());
  }

  // The first step from `from` on where the area is not what is given, or the limit.
  double end_of_plateau(double from, double limit, int128 doubled_area,
                        const Interrupt& interrupt) const {
    const double end = std::min(limit, std::numeric_limits<double>::max());
    Vector<std::uint32_t> order = order_after(lines_, from);
    double width = width_of_part(from, order, end);
    while (doubled(order) == doubled_area) {
      if (!(from < end)) return limit;
      const double to = std::max(std::nextafter(from, end), std::min(from + width, end));
      const double changed = first_change({from, to}, order, doubled_area, interrupt);
      if (changed <= to) return changed;
      order = order_after(lines_, to);
      from = to;
      width *= 8.0;
    }
    return from;
  }

  // The width of a range with few crossings.
  double width_of_part(double from, const Vector<std::uint32_t>& order, double end) const {
    if (!(from < end)) return 0.0;
    Windows parts(lines_, from, order);
    Window part;
    parts.next(lines_.size() / 8 + 64, end, part);
    return part.to - from;
  }

  // The first step in a range where the area is not what it is after its start, or infinity. What
  // it is after the end is left out: crossings of that name may lie beyond, where other lines are
  // in the region.
  double first_change(StepRange range, std::span<const std::uint32_t> order, int128 doubled_area,
                      const Interrupt& interrupt) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const ErrorLines lines = lines_within(range, order);
    if (lines.size() == 0) return infinity;
    PartialState state(lines, region_);
    const auto is_changed_after = [&](double step) {
      return step < range.high && state.doubled_area() != doubled_area;
    };
    Windows parts(lines);
    Window part;
    for (double from = range.low; from < range.high; from = part.to) {
      interrupt();
      parts.next(lines.size() / 8 + 64, range.high, part);
      if (part.n_dense_swaps > 0) {
        state.reorder(part.dense_order);
        const int128 at = state.doubled_area_at(part.to, order_at(lines, part.to));
        if (at != doubled_area || is_changed_after(part.to)) return part.to;
      }
      parts.sort(part);
      for (std::span<const Crossing> rest = part.crossings; !rest.empty();) {
        const std::span<const Crossing> row = take_row(rest);
        const double step = row.front().step;
        const int128 at = state.apply_at(step, row);
        if (at != doubled_area || is_changed_after(step)) return step;
      }
    }
    return infinity;
  }
};

}  // namespace rocpath
