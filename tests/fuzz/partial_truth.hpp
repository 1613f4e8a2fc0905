// The partial area as a function of the step by its definition, in exact fractions.
#pragma once

#include "expected.hpp"

namespace fuzz {

using Rational = boost::multiprecision::cpp_rational;

// Left of max_fpr and above min_tpr, as fractions of small numbers.
struct PartialRates {
  std::int64_t fpr_numerator = 1, tpr_numerator = 0, denominator = 1;

  Rational right() const { return Rational(fpr_numerator, denominator); }
  Rational bottom() const { return Rational(tpr_numerator, denominator); }
  double max_fpr() const {
    return static_cast<double>(fpr_numerator) / static_cast<double>(denominator);
  }
  double min_tpr() const {
    return static_cast<double>(tpr_numerator) / static_cast<double>(denominator);
  }
};

// The core rounds the area of a tie that a border cuts to a unit of less than this.
constexpr long double partial_unit = 0x1p-112L;

inline bool is_near_area(double got, long double value) {
  return std::fabs(got - value) <= 0x1p-51L * std::fabs(value) + partial_unit;
}

// What `BestCheck` asks of the whole AUC, of a part of it.
template <class Int>
class PartialAreas {
 public:
  PartialAreas(const BruteForce<Int>& truth, const PartialRates& rates)
      : truth_(truth), rates_(rates) {
    for (std::size_t k = 0; k < truth.n_lines(); ++k) {
      const auto [fp, tp] = truth.jumps(k);
      fpr_.push_back(Rational(Wide(fp)));
      tpr_.push_back(Rational(Wide(tp)));
      total_fp_ += fpr_.back();
      total_tp_ += tpr_.back();
    }
    for (Rational& x : fpr_) x /= total_fp_;
    for (Rational& x : tpr_) x /= total_tp_;
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

  const Rational& on_stretch(std::size_t k) const { return stretch_[k]; }
  const Rational& at_point(std::size_t k) const { return point_[k]; }
  const Rational& at(Location at) const {
    return at.is_on_point ? point_[at.stretch - 1] : stretch_[at.stretch];
  }
  long double value(const Rational& area) const {
    const Rounded top = rounded(Wide(numerator(area))), bottom = rounded(Wide(denominator(area)));
    return std::ldexp(top.digits / bottom.digits, top.exponent - bottom.exponent);
  }

  // Lines that meet between two stretches, directly or through others, are tied.
  Rational area_between(std::size_t before, std::size_t after) const {
    const std::size_t n_lines = truth_.n_lines();
    std::vector<std::size_t> order(n_lines);
    for (std::size_t k = 0; k < n_lines; ++k) order[ranks_[before][k]] = k;
    std::vector<bool> is_joined(n_lines, false);  // with the next rank
    for (std::size_t p = before; p < after; ++p)
      for (std::size_t k = truth_.points()[p].first_pair; k < truth_.points()[p].last_pair; ++k) {
        const std::size_t a = ranks_[before][truth_.pairs()[k].lower];
        const std::size_t b = ranks_[before][truth_.pairs()[k].upper];
        for (std::size_t r = std::min(a, b); r < std::max(a, b); ++r) is_joined[r] = true;
      }
    Rational area = 0, x = 0, y = 0, dx = 0, dy = 0;
    for (std::size_t r = 0; r < n_lines; ++r) {
      dx += fpr_[order[r]];
      dy += tpr_[order[r]];
      if (is_joined[r]) continue;
      area += area_below(x, y, dx, dy);
      x += dx;
      y += dy;
      dx = dy = 0;
    }
    return area;
  }

 private:
  const BruteForce<Int>& truth_;
  PartialRates rates_;
  std::vector<Rational> fpr_, tpr_;
  Rational total_fp_ = 0, total_tp_ = 0;
  std::vector<std::vector<std::size_t>> ranks_;  // on every stretch
  std::vector<Rational> stretch_, point_;

  // Of the straight line from (x, y) by (dx, dy), as the definition has it.
  Rational area_below(const Rational& x, const Rational& y, const Rational& dx,
                      const Rational& dy) const {
    const Rational right = rates_.right(), bottom = rates_.bottom();
    if (dx == 0 || x >= right || y + dy <= bottom) return 0;
    Rational begin = x;
    if (y < bottom) begin = x + (bottom - y) * dx / dy;
    const Rational end = std::min<Rational>(x + dx, right);
    if (begin >= end) return 0;
    const auto height = [&](const Rational& at) -> Rational {
      return y + (at - x) * dy / dx - bottom;
    };
    return (end - begin) * (height(begin) + height(end)) / 2;
  }
};

// All of AUC, in the same words.
template <class Int>
class WholeAreas {
 public:
  explicit WholeAreas(const Expected<Int>& expected)
      : expected_(expected), truth_(expected.truth()) {}

  const Int& on_stretch(std::size_t k) const { return truth_.stretch(k).doubled_auc; }
  Int at_point(std::size_t k) const { return truth_.doubled_auc_at_point(k); }
  Int at(Location at) const { return truth_.doubled_auc(at); }
  long double value(const Int& doubled) const { return expected_.auc(doubled); }

 private:
  const Expected<Int>& expected_;
  const BruteForce<Int>& truth_;
};

}  // namespace fuzz
