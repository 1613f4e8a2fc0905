// Best segmentations whose means go up, down, up, down, ...: background, peak, background.
//
// Functional pruning under constraints (Hocking et al. 2020). The cost of the data so far is kept
// as a function of the last mean mu, in pieces. A change upwards offers the smallest cost over all
// means up to mu (`running_min`), one downwards over all means from mu on. Such an offer is
// constant after a minimum, and elsewhere equals the function itself: there both means are equal,
// as the constraint allows, and the two segments are fitted as one. A piece remembers its changes
// as a chain of nodes; nodes that no piece can reach are thrown away, so memory stays near K times
// the number of pieces plus the changes they share. Time: the number of pieces, summed over K and
// the data.
#pragma once

#include <array>

#include "segmentation.hpp"

namespace rocpath {

// A change, and the ones before it.
struct ChangeNode {
  std::int32_t position;
  std::int32_t before;  // -1 for none
  bool is_tied;
};

struct UpDownPiece {
  CostPiece cost;
  double low;
  double high;
  std::int32_t node;

  double best_mean() const { return std::clamp(cost.mean, low, high); }
};

using UpDownFunction = std::vector<UpDownPiece>;  // by mean, without gaps

enum class Direction { up, down };

namespace detail {

class ChangeTree {
 public:
  std::int32_t make(std::int32_t position, std::int32_t before, bool is_tied) {
    nodes_.push_back({position, before, is_tied});
    return static_cast<std::int32_t>(nodes_.size() - 1);
  }

  bool is_full() const { return nodes_.size() >= limit_; }

  // Keep only what the functions can reach. A node stands after the ones before it, so one pass
  // moves them all.
  void collect(std::span<UpDownFunction> functions) {
    std::vector<std::int32_t> place(nodes_.size(), -1);
    for (const UpDownFunction& function : functions)
      for (const UpDownPiece& piece : function)
        for (auto node = piece.node; node >= 0 && place[node] < 0; node = nodes_[node].before)
          place[node] = 0;
    std::int32_t n_kept = 0;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      if (place[k] < 0) continue;
      ChangeNode node = nodes_[k];
      if (node.before >= 0) node.before = place[node.before];
      nodes_[n_kept] = node;
      place[k] = n_kept++;
    }
    nodes_.resize(n_kept);
    for (UpDownFunction& function : functions)
      for (UpDownPiece& piece : function)
        if (piece.node >= 0) piece.node = place[piece.node];
    limit_ = std::max<std::size_t>(std::size_t{1} << 16, 2 * nodes_.size());
  }

  void append_to(Changes& changes, std::int32_t node) const {
    const auto first = changes.position.size();
    for (; node >= 0; node = nodes_[node].before) {
      changes.position.push_back(nodes_[node].position);
      changes.is_tied.push_back(nodes_[node].is_tied);
    }
    const auto start = static_cast<std::ptrdiff_t>(first);
    std::reverse(changes.position.begin() + start, changes.position.end());
    std::reverse(changes.is_tied.begin() + start, changes.is_tied.end());
  }

 private:
  std::vector<ChangeNode> nodes_;
  std::size_t limit_ = std::size_t{1} << 16;
};

}  // namespace detail

template <class Cost>
class UpDown {
 public:
  explicit UpDown(Range means) : means_(means) {}

  UpDownFunction start() const { return {{{}, means_.low, means_.high, -1}}; }

  // The smallest cost of a change at `position` to each mean, `penalty` included.
  void running_min(const UpDownFunction& from, Direction direction, std::int32_t position,
                   double penalty, UpDownFunction& offer) {
    offer.clear();
    UpDownPiece level = none_;
    const bool is_up = direction == Direction::up;
    for (std::size_t k = 0; k < from.size(); ++k)
      step(is_up ? from[k] : from[from.size() - 1 - k], is_up, position, level, offer);
    if (!is_up) std::reverse(offer.begin(), offer.end());
    for (UpDownPiece& piece : offer) piece.cost.base += penalty;
  }

  // Lower the function to the offer wherever that is smaller.
  void lower(UpDownFunction& function, const UpDownFunction& offer) {
    if (function.empty()) {
      function = offer;
      return;
    }
    lowered_.clear();
    double low = means_.low;
    for (std::size_t i = 0, j = 0; i < function.size() && j < offer.size();) {
      const double high = std::min(function[i].high, offer[j].high);
      choose(function[i], offer[j], low, high);
      low = high;
      const bool ends_offer = offer[j].high == high;
      if (function[i].high == high) ++i;
      if (ends_offer) ++j;
    }
    function.swap(lowered_);
  }

  static void add(UpDownFunction& function, double x, double weight) {
    for (UpDownPiece& piece : function) Cost::add(piece.cost, x, weight);
  }

  static std::pair<double, std::int32_t> best(const UpDownFunction& function) {
    std::pair best{std::numeric_limits<double>::infinity(), std::int32_t{-1}};
    for (const UpDownPiece& piece : function) {
      const double value = value_at<Cost>(piece.cost, piece.best_mean());
      if (value < best.first) best = {value, piece.node};
    }
    return best;
  }

  detail::ChangeTree tree;

 private:
  // Travel over one piece. `level` is the constant that holds so far, or none while the running
  // minimum is the function itself.
  void step(const UpDownPiece& piece, bool is_up, std::int32_t position, UpDownPiece& level,
            UpDownFunction& offer) {
    const double near = is_up ? piece.low : piece.high;
    const double far = is_up ? piece.high : piece.low;
    const double turn = piece.best_mean();
    const double gap = level.cost.base - piece.cost.base;
    if (!(gap > 0.0 && Cost::is_within(piece.cost, turn, gap))) {
      emit(offer, level, near, far);
      return;
    }
    double leave = near;
    if (!Cost::is_within(piece.cost, near, gap)) {
      leave = is_up ? Cost::lower_root(piece.cost, gap) : Cost::upper_root(piece.cost, gap);
      leave = std::clamp(leave, std::min(near, turn), std::max(near, turn));
      emit(offer, level, near, leave);
    }
    UpDownPiece same = piece;
    if (leave != turn) same.node = tree.make(position, piece.node, true);
    emit(offer, same, leave, turn);
    level = none_;
    if (turn == far) return;
    level.cost = {.base = value_at<Cost>(piece.cost, turn)};
    level.node = tree.make(position, piece.node, false);
    emit(offer, level, turn, far);
  }

  static void emit(UpDownFunction& offer, UpDownPiece piece, double from, double to) {
    if (from == to) return;
    piece.low = std::min(from, to);
    piece.high = std::max(from, to);
    append(offer, piece);
  }

  static void append(UpDownFunction& function, const UpDownPiece& piece) {
    if (!function.empty() && function.back().node == piece.node) {
      UpDownPiece& last = function.back();
      last.low = std::min(last.low, piece.low);
      last.high = std::max(last.high, piece.high);
    } else {
      function.push_back(piece);
    }
  }

  // The smaller of two pieces between two means: they cross at most once on each side of the
  // turning point of their difference.
  void choose(const UpDownPiece& old, const UpDownPiece& offered, double low, double high) {
    const double turn = Cost::turning_point(old.cost, offered.cost);
    const bool has_turn = low < turn && turn < high;
    const std::array<double, 3> place{low, has_turn ? turn : high, high};
    for (std::size_t part = 0; part < (has_turn ? 2U : 1U); ++part) {
      const double from = place[part], to = place[part + 1];
      const double before = sign_at(old.cost, offered.cost, from);
      const double after = sign_at(old.cost, offered.cost, to);
      const bool is_old_first = before < 0.0 || (before == 0.0 && after <= 0.0);
      if ((before < 0.0 && after > 0.0) || (before > 0.0 && after < 0.0)) {
        const double cross = detail::root_between(
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

  // Which of two costs is larger at mu. Those that differ only by rounding, as where the same data
  // are split at different places, count as equal, or slivers of pieces would pile up there.
  static double sign_at(const CostPiece& a, const CostPiece& b, double mu) {
    const double difference = Cost::sign_of_difference(a, b, mu);
    return std::fabs(difference) <= 1e-14 * std::max(a.base, b.base) ? 0.0 : difference;
  }

  void take(UpDownPiece piece, double low, double high) {
    if (!(low < high)) return;
    piece.low = low;
    piece.high = high;
    append(lowered_, piece);
  }

  static constexpr UpDownPiece none_{
      {.base = std::numeric_limits<double>::infinity()}, 0.0, 0.0, -1};
  Range means_;
  UpDownFunction lowered_;
};

// As `best_changes`, under the constraint.
template <class Cost, class Check>
Changes best_up_down_changes(const Observations& data, std::size_t max_changes, Check check) {
  UpDown<Cost> search(data.mean_range());
  std::vector<UpDownFunction> function(max_changes + 1);
  UpDownFunction offer;
  function[0] = search.start();
  for (std::size_t t = 0; t < data.size(); ++t) {
    // From many changes to few, so that each function is lowered by one of the data before t.
    for (std::size_t k = std::min(max_changes, t); k > 0; --k) {
      search.running_min(function[k - 1], k % 2 == 1 ? Direction::up : Direction::down,
                         static_cast<std::int32_t>(t), 0.0, offer);
      search.lower(function[k], offer);
      search.add(function[k], data.x[t], data.weight[t]);
    }
    search.add(function[0], data.x[t], data.weight[t]);
    if (search.tree.is_full()) search.tree.collect(function);
    if (t % 64 == 0) check();
  }
  Changes changes;
  for (const UpDownFunction& f : function) search.tree.append_to(changes, search.best(f).second);
  return changes;
}

// As `best_changes_for`, under the constraint.
template <class Cost, class Check>
Changes best_up_down_changes_for(const Observations& data, double penalty, Check check) {
  UpDown<Cost> search(data.mean_range());
  std::array<UpDownFunction, 2> function{search.start(), {}};  // background, peak
  auto& [background, peak] = function;
  UpDownFunction rise, fall;
  for (std::size_t t = 0; t < data.size(); ++t) {
    const auto position = static_cast<std::int32_t>(t);
    if (t > 0 && penalty < std::numeric_limits<double>::infinity()) {
      search.running_min(background, Direction::up, position, penalty, rise);
      if (!peak.empty()) {
        search.running_min(peak, Direction::down, position, penalty, fall);
        search.lower(background, fall);
      }
      search.lower(peak, rise);
    }
    for (UpDownFunction& f : function) search.add(f, data.x[t], data.weight[t]);
    if (search.tree.is_full()) search.tree.collect(function);
    if (t % 1024 == 0) check();
  }
  const auto [background_value, background_node] = search.best(background);
  const auto [peak_value, peak_node] = search.best(peak);
  Changes changes;
  search.tree.append_to(changes, peak_value < background_value ? peak_node : background_node);
  return changes;
}

}  // namespace rocpath
