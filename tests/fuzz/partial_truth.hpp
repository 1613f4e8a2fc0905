// The partial area as a function of the step, from its definition, in exact fractions.
#pragma once

#include "expected.hpp"

namespace fuzz {

// The rates of a region, max_fpr and min_tpr, as fractions of small integers.
struct PartialRates {
  std::int64_t fpr_numerator = 1, tpr_numerator = 0, denominator = 1;

  double max_fpr() const {
    return static_cast<double>(fpr_numerator) / static_cast<double>(denominator);
  }
  double min_tpr() const {
    return static_cast<double>(tpr_numerator) / static_cast<double>(denominator);
  }
};

inline std::string rates_text(const PartialRates& rates) {
  return ", max_fpr=" + text(rates.max_fpr()) + ", min_tpr=" + text(rates.min_tpr());
}

// Twice an area. The fraction is never reduced, which would take longer than all other operations.
template <class Int>
struct Area {
  Int numerator{0};
  Int denominator{1};  // positive

  void add(const Int& top, const Int& bottom) {
    numerator = numerator * bottom + top * denominator;
    denominator *= bottom;
  }
  int compare(const Area& other) const {
    return compare_products(numerator, other.denominator, 0, other.numerator, denominator, 0);
  }
  friend bool operator==(const Area& a, const Area& b) { return a.compare(b) == 0; }
  friend bool operator>(const Area& a, const Area& b) { return a.compare(b) > 0; }
};

// The core rounds the area of a tie that a border cuts to multiples of a unit smaller than this.
constexpr long double partial_unit = 0x1p-112L;

inline bool is_near_area(double got, long double value) {
  return std::fabs(got - value) <= 0x1p-51L * std::fabs(value) + partial_unit;
}

// Whether partial areas fit into 128 bits. The borders cut at most two ties, so a fraction has at
// most four factors, none of which exceeds the denominator times the errors.
inline bool are_areas_narrow(const Problem& problem, const PartialRates& rates) {
  BitRange jumps;
  jumps.add(problem.fp_diff);
  jumps.add(problem.fn_diff);
  const int n_bits = std::bit_width(problem.size()) +
                     std::bit_width(static_cast<std::uint64_t>(rates.denominator));
  return 4 * (jumps.width() + n_bits) + 4 <= 126;
}

// The partial areas that `BestCheck` compares with the core. Requires: monotone errors.
template <class Int, class Number>
class PartialAreas {
 public:
  PartialAreas(const BruteForce<Int>& truth, const PartialRates& rates)
      : truth_(truth), rates_(rates) {
    Number total_fp{0}, total_tp{0};
    for (std::size_t k = 0; k < truth.n_lines(); ++k) {
      const auto [fp, tp] = truth.jumps(k);
      fp_.push_back(Number(fp) * rates.denominator);
      tp_.push_back(Number(tp) * rates.denominator);
      total_fp += Number(fp);
      total_tp += Number(tp);
    }
    right_ = total_fp * rates.fpr_numerator;
    bottom_ = total_tp * rates.tpr_numerator;
    doubled_perfect_ = 2 * (total_fp * rates.denominator) * (total_tp * rates.denominator);
    std::vector<std::size_t> rank(truth.n_lines());
    std::iota(rank.begin(), rank.end(), std::size_t{0});
    ranks_.push_back(rank);
    for (const auto& point : truth.points()) {
      for (std::size_t k = point.first_pair; k < point.last_pair; ++k) {
        ++rank[truth.pairs()[k].lower];
        --rank[truth.pairs()[k].upper];
      }
      ranks_.push_back(rank);
    }
    for (std::size_t k = 0; k < ranks_.size(); ++k) stretch_.push_back(area_between(k, k));
    for (std::size_t k = 0; k + 1 < ranks_.size(); ++k) point_.push_back(area_between(k, k + 1));
  }

  const PartialRates& rates() const { return rates_; }
  const Area<Number>& on_stretch(std::size_t k) const { return stretch_[k]; }
  const Area<Number>& at_point(std::size_t k) const { return point_[k]; }
  const Area<Number>& at(Location at) const {
    return at.is_on_point ? point_[at.stretch - 1] : stretch_[at.stretch];
  }
  bool is_near(const Area<Number>& a, const Area<Number>& b) const {
    return std::fabs(value(a) - value(b)) <= partial_unit;
  }
  long double value(const Area<Number>& area) const {
    const Rounded top = rounded(area.numerator), bottom = rounded(area.denominator),
                  perfect = rounded(doubled_perfect_);
    return std::ldexp(top.digits / bottom.digits / perfect.digits,
                      top.exponent - bottom.exponent - perfect.exponent);
  }

  // Lines that meet between two stretches, directly or through others, are tied.
  Area<Number> area_between(std::size_t before, std::size_t after) const {
    const std::size_t n_lines = truth_.n_lines();
    std::vector<std::size_t> order(n_lines);
    for (std::size_t k = 0; k < n_lines; ++k) order[ranks_[before][k]] = k;
    std::vector<bool> is_joined(n_lines, false);  // whether a rank is tied with the next one
    for (std::size_t p = before; p < after; ++p)
      for (std::size_t k = truth_.points()[p].first_pair; k < truth_.points()[p].last_pair; ++k) {
        const std::size_t a = ranks_[before][truth_.pairs()[k].lower];
        const std::size_t b = ranks_[before][truth_.pairs()[k].upper];
        for (std::size_t r = std::min(a, b); r < std::max(a, b); ++r) is_joined[r] = true;
      }
    Area<Number> area;
    Number x{0}, y{0}, dx{0}, dy{0};
    for (std::size_t r = 0; r < n_lines; ++r) {
      dx += fp_[order[r]];
      dy += tp_[order[r]];
      if (is_joined[r]) continue;
      add_area_below(x, y, dx, dy, area);
      x += dx;
      y += dy;
      dx = dy = 0;
    }
    return area;
  }

 private:
  const BruteForce<Int>& truth_;
  PartialRates rates_;
  // Jumps multiplied by the denominator of the rates, so that the borders are integers too.
  std::vector<Number> fp_, tp_;
  Number right_, bottom_, doubled_perfect_;
  std::vector<std::vector<std::size_t>> ranks_;  // ranks of the lines on every stretch
  std::vector<Area<Number>> stretch_, point_;

  // Add the area between the borders below the straight segment from (x, y) to (x + dx, y + dy). It
  // is a trapezoid or, if the segment crosses the bottom, a triangle whose width is dx / dy times
  // its height.
  void add_area_below(const Number& x, const Number& y, const Number& dx, const Number& dy,
                      Area<Number>& area) const {
    if (dx == 0 || x >= right_ || y + dy <= bottom_) return;
    const bool is_cut = x + dx > right_;
    const Number width = is_cut ? Number(right_ - x) : dx;
    if (y >= bottom_) {
      area.numerator += 2 * width * (y - bottom_) * area.denominator;
      is_cut ? area.add(width * width * dy, dx) : area.add(width * dy, 1);
      return;
    }
    if (!is_cut) return area.add((y + dy - bottom_) * (y + dy - bottom_) * dx, dy);
    const Number height = (y - bottom_) * dx + width * dy;  // height at the right border, times dx
    if (height > 0) area.add(height * height, dx * dy);
  }
};

// The whole AUC, with the same interface as `PartialAreas`.
template <class Int>
class WholeAreas {
 public:
  explicit WholeAreas(const Expected<Int>& expected)
      : expected_(expected), truth_(expected.truth()) {}

  const Int& on_stretch(std::size_t k) const { return truth_.stretch(k).doubled_auc; }
  Int at_point(std::size_t k) const { return truth_.doubled_auc_at_point(k); }
  Int at(Location at) const { return truth_.doubled_auc(at); }
  bool is_near(const Int& a, const Int& b) const { return a == b; }
  long double value(const Int& doubled) const { return expected_.auc(doubled); }

 private:
  const Expected<Int>& expected_;
  const BruteForce<Int>& truth_;
};

}  // namespace fuzz
