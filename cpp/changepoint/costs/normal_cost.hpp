// The normal cost, the sum of squares: deviance(m, mu) = (mu - m)^2.
#pragma once

#include <cmath>

#include "changepoint/costs/cost_pieces.hpp"

namespace rocpath {

struct NormalCost {
  static constexpr CostProperties properties{.name = "normal",
                                             .is_homogeneous = true,
                                             .power = 2,
                                             .n_parameters = 1,
                                             .deviance_unit = 1,
                                             .has_unit = true,
                                             .is_shift_invariant = true};

  // The cost at mu minus the smallest cost.
  static double excess(const CostPiece& piece, double mu) {
    return piece.weight * (mu - piece.mean) * (mu - piece.mean);
  }
  // Whether the excess is at most `gap`.
  static bool is_within(const CostPiece& piece, double mu, double gap) {
    return excess(piece, mu) <= gap;
  }
  // The points below and above the mean where the excess is `gap`. Requires: gap >= 0, weight > 0.
  static double lower_root(const CostPiece& piece, double gap) {
    return piece.mean - std::sqrt(gap / piece.weight);
  }
  static double upper_root(const CostPiece& piece, double gap) {
    return piece.mean + std::sqrt(gap / piece.weight);
  }

  // Add the data of another piece. Requires: more.weight > 0.
  static void merge(CostPiece& piece, const CostPiece& more) {
    const double total = piece.weight + more.weight;
    const double distance = more.mean - piece.mean;
    const double share = more.weight / total;
    piece.base += more.base + piece.weight * share * distance * distance;
    piece.mean += share * distance;
    piece.weight = total;
  }

  static double difference(const CostPiece& a, const CostPiece& b, double mu) {
    return (a.base - b.base) + (excess(a, mu) - excess(b, mu));
  }
  // The difference, or a bound of the same sign.
  static double sign_of_difference(const CostPiece& a, const CostPiece& b, double mu) {
    return difference(a, b, mu);
  }
  static double slope_of_difference(const CostPiece& a, const CostPiece& b, double mu) {
    return 2 * (a.weight * (mu - a.mean) - b.weight * (mu - b.mean));
  }
  // The only extremum of the difference; NaN or infinite if there is none.
  static double turning_point(const CostPiece& a, const CostPiece& b) {
    return (a.weight * a.mean - b.weight * b.mean) / (a.weight - b.weight);
  }

  // The cost that is reported for a segment, and whether it is computed from `base`.
  static double reported(const CostPiece& piece) { return piece.base; }
  static constexpr bool reports_base = true;
};

}  // namespace rocpath
