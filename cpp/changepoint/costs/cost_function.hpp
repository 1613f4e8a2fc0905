// The smallest cost of the data so far, as a piecewise function of the mean mu of the last segment.
//
// Functional pruning (Rigaill 2015; Maidstone et al. 2017): every piece belongs to one start of
// the last segment, which is kept only while it is optimal for some mu. Later data are added to all
// pieces, so a start that is not optimal at some mu never becomes optimal there.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "changepoint/costs/cost_pieces.hpp"

namespace rocpath {

struct FunctionPiece {
  CostPiece cost;
  double low;
  double high;
  std::int32_t node;  // node of the last change in a ChangeTree
  bool is_new;        // whether the piece was added since the function was last offered

  bool is_constant() const { return cost.weight == 0.0; }
  bool has(double mean) const { return low <= mean && mean <= high; }
  double best_mean() const { return std::clamp(cost.mean, low, high); }
};

// The pieces of a function in order of the mean. A function has no gaps, but an offer to lower it
// may have some. Either is empty if no segmentation is possible. Pieces are stored in a vector with
// free space at both ends, where most insertions occur.
class CostFunction {
 public:
  CostFunction() = default;
  explicit CostFunction(const FunctionPiece& piece) { push_back(piece); }

  bool empty() const { return first_ == last_; }
  std::size_t size() const { return last_ - first_; }
  FunctionPiece* begin() { return pieces_.data() + first_; }
  FunctionPiece* end() { return pieces_.data() + last_; }
  const FunctionPiece* begin() const { return pieces_.data() + first_; }
  const FunctionPiece* end() const { return pieces_.data() + last_; }
  FunctionPiece& operator[](std::size_t k) { return pieces_[first_ + k]; }
  const FunctionPiece& operator[](std::size_t k) const { return pieces_[first_ + k]; }
  FunctionPiece& back() { return pieces_[last_ - 1]; }
  const FunctionPiece& back() const { return pieces_[last_ - 1]; }

  void clear() { first_ = last_ = pieces_.size() / 2; }
  void pop_front(std::size_t n) { first_ += n; }
  void pop_back(std::size_t n) { last_ -= n; }
  void push_front(const FunctionPiece& piece) {
    if (first_ == 0) make_room();
    pieces_[--first_] = piece;
  }
  void push_back(const FunctionPiece& piece) {
    if (last_ == pieces_.size()) make_room();
    pieces_[last_++] = piece;
  }
  // Add a piece at an end, or extend the piece there if it has the same last change.
  void append(const FunctionPiece& piece) {
    if (empty() || back().node != piece.node) {
      push_back(piece);
      return;
    }
    back().low = std::min(back().low, piece.low);
    back().high = std::max(back().high, piece.high);
  }
  void prepend(const FunctionPiece& piece) {
    if (empty() || pieces_[first_].node != piece.node)
      push_front(piece);
    else
      pieces_[first_].low = piece.low;
  }
  void swap(CostFunction& other) {
    pieces_.swap(other.pieces_);
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
  }

 private:
  // This function is not inlined, so that its callers are. Without a constraint, this saves a tenth
  // of the time.
  [[gnu::noinline]] void make_room() {
    std::vector<FunctionPiece> roomy(4 * size() + 16);
    const std::size_t first = (roomy.size() - size()) / 2;
    std::copy(begin(), end(), roomy.data() + first);
    last_ = first + size();
    first_ = first;
    pieces_.swap(roomy);
  }

  std::vector<FunctionPiece> pieces_;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
};

struct BestPiece {
  double value = infinite_cost;
  std::int32_t node = -1;

  // Of equal values, the first is kept. There are no branches, because the best piece cannot be
  // predicted, and mispredictions took a fifth of the time.
  void improve(double other, std::int32_t other_node) {
    const auto is_better = static_cast<std::int32_t>(other < value);
    node ^= (node ^ other_node) & -is_better;
    value = std::min(value, other);
  }
};

// Lowers a function to the pointwise minimum of the function and an offer.
template <class Cost>
class Lowering {
 public:
  // Replace the function by the offer wherever the offer is smaller.
  void lower(CostFunction& function, const CostFunction& offer) {
    if (offer.empty()) return;
    if (function.empty()) {
      function = offer;
      return;
    }
    if (offer.size() == 1 && offer[0].is_constant() && offer[0].low == function[0].low &&
        offer[0].high == function.back().high) {
      lower_to_constant(function, offer[0].cost.base, offer[0].node);
      return;
    }
    lowered_.clear();
    std::size_t k = 0;
    double low = function[0].low;
    for (const FunctionPiece& offered : offer) {
      for (; function[k].high <= offered.low; low = function[k++].high)
        take(function[k], low, function[k].high);
      take(function[k], low, offered.low);
      low = std::max(low, offered.low);
      while (low < offered.high) {
        const double high = std::min(function[k].high, offered.high);
        if (offered.is_constant())
          choose_below(function[k], offered, low, high);
        else
          choose(function[k], offered, low, high);
        low = high;
        if (function[k].high == high && ++k == function.size()) break;
      }
      if (k == function.size()) break;
    }
    for (; k < function.size(); low = function[k++].high) take(function[k], low, function[k].high);
    function.swap(lowered_);
  }

  // Replace the function by a constant, the cost after a change, wherever it is smaller.
  void lower_to_constant(CostFunction& function, double value, std::int32_t node) {
    const double low = function[0].low, high = function.back().high;
    FunctionPiece offered{{.base = value}, low, high, node, true};
    if (!cut_ends(function, value)) {
      lowered_.clear();
      for (const FunctionPiece& old : function) choose_below(old, offered, old.low, old.high);
      function.swap(lowered_);
      return;
    }
    offered.low = function.back().high;
    if (offered.low < high) function.push_back(offered);
    offered.low = low;
    offered.high = function[0].low;
    if (low < offered.high) function.push_front(offered);
  }

  // Usually, a constant is smaller only at one end or at both. Then, remove these ends in place,
  // which takes a third of the time of rewriting all pieces; otherwise, return false and change
  // nothing.
  static bool cut_ends(CostFunction& function, double value) {
    const auto gap = [&](const FunctionPiece& p) { return value - p.cost.base; };
    const auto is_lost = [&](const FunctionPiece& p) {
      return !(gap(p) > 0.0) || p.cost.mean <= p.low || p.cost.mean >= p.high;
    };
    const auto has_low = [&](const FunctionPiece& p) {
      return Cost::is_within(p.cost, p.low, gap(p));
    };
    const auto has_high = [&](const FunctionPiece& p) {
      return Cost::is_within(p.cost, p.high, gap(p));
    };
    std::size_t first = 0, last = function.size() - 1;
    // The function is continuous: if a piece ends above the constant, the next one begins above it.
    const bool wins_low = !has_low(function[0]), wins_high = !has_high(function[last]);
    for (; wins_low && first < last && !has_high(function[first]); ++first)
      if (!is_lost(function[first])) return false;
    for (; wins_high && first < last && !has_low(function[last]); --last)
      if (!is_lost(function[last])) return false;
    bool is_kept = gap(function[first]) > 0.0 && gap(function[last]) > 0.0;
    for (std::size_t k = first; k < last; ++k) is_kept &= has_high(function[k]);
    if (!is_kept) return false;
    FunctionPiece& lowest = function[first];
    FunctionPiece& highest = function[last];
    double from = lowest.low, to = highest.high;
    if (wins_low) from = std::clamp(Cost::lower_root(lowest.cost, gap(lowest)), from, lowest.high);
    if (wins_high) to = std::clamp(Cost::upper_root(highest.cost, gap(highest)), highest.low, to);
    if (!(from < lowest.high && to > highest.low && from < to)) return false;
    lowest.low = from;
    highest.high = to;
    function.pop_back(function.size() - 1 - last);
    function.pop_front(first);
    return true;
  }

 private:
  // Keep the old piece where it is at most the offered constant. This is an interval, because the
  // piece decreases below its mean and increases above it.
  void choose_below(const FunctionPiece& old, const FunctionPiece& offered, double low,
                    double high) {
    const double gap = offered.cost.base - old.cost.base;
    if (!(gap > 0.0)) {
      take(offered, low, high);
      return;
    }
    const bool has_low = Cost::is_within(old.cost, low, gap);
    const bool has_high = Cost::is_within(old.cost, high, gap);
    if (has_low && has_high) {
      take(old, low, high);
      return;
    }
    if ((!has_low && old.cost.mean <= low) || (!has_high && old.cost.mean >= high)) {
      take(offered, low, high);
      return;
    }
    // Roots are computed only where an end is removed, about once for each new piece.
    const double from = has_low ? low : std::clamp(Cost::lower_root(old.cost, gap), low, high);
    const double to = has_high ? high : std::clamp(Cost::upper_root(old.cost, gap), low, high);
    if (!(from < to)) {
      take(offered, low, high);
      return;
    }
    take(offered, low, from);
    take(old, from, to);
    take(offered, to, high);
  }

  // Keep the smaller of two pieces between two means. They cross at most once on each side of the
  // extremum of their difference.
  void choose(const FunctionPiece& old, const FunctionPiece& offered, double low, double high) {
    const double turn = Cost::turning_point(old.cost, offered.cost);
    const bool has_turn = low < turn && turn < high;
    const std::array<double, 3> place{low, has_turn ? turn : high, high};
    for (std::size_t part = 0; part < (has_turn ? 2U : 1U); ++part) {
      const double from = place[part], to = place[part + 1];
      const double before = sign_at(old.cost, offered.cost, from);
      const double after = sign_at(old.cost, offered.cost, to);
      const bool is_old_first = before < 0.0 || (before == 0.0 && after <= 0.0);
      if ((before < 0.0 && after > 0.0) || (before > 0.0 && after < 0.0)) {
        const double cross = root_between(
            [&](double mu) { return Cost::difference(old.cost, offered.cost, mu); },
            [&](double mu) { return Cost::slope_of_difference(old.cost, offered.cost, mu); }, from,
            to);
        take(is_old_first ? old : offered, from, cross);
        take(is_old_first ? offered : old, cross, to);
      } else {
        take(is_old_first ? old : offered, from, to);
      }
    }
  }

  // A number with the sign of a - b at mu. Costs that differ only by rounding, for example because
  // the same data are split at different positions, count as equal; otherwise, many tiny pieces
  // would accumulate.
  static double sign_at(const CostPiece& a, const CostPiece& b, double mu) {
    const double difference = Cost::sign_of_difference(a, b, mu);
    return std::fabs(difference) <= 1e-14 * std::max(a.base, b.base) ? 0.0 : difference;
  }

  // Requires: the last piece taken ends at `low`.
  void take(const FunctionPiece& piece, double low, double high) {
    if (!(low < high)) return;
    if (lowered_.empty() || lowered_.back().node != piece.node) {
      lowered_.push_back(piece);
      lowered_.back().low = low;
    }
    lowered_.back().high = high;
  }

  CostFunction lowered_;
};

}  // namespace rocpath
