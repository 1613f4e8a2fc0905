// AUM and AUC as functions of the step by brute force: all pairs of lines, in exact fractions.
//
// Every pair of lines that are not parallel meets at one step. These steps divide the real numbers,
// including negative ones, into intervals ("stretches") on which the order of the lines does not
// change. On each stretch, the rank of a line is the number of lines below it, and AUM and AUC are
// computed from their definitions.
#pragma once

#include <numeric>

#include "exact.hpp"
#include "problem.hpp"

namespace fuzz {

// The location of a step: on a stretch, or at the point before it.
struct Location {
  std::size_t stretch;  // the stretch that begins at or before the step
  bool is_on_point;     // whether the step is exactly the point where the stretch begins
};

template <class Int>
class BruteForce {
 public:
  // AUM and AUC between two points.
  struct Stretch {
    Int aum_intercept{};  // AUM = intercept + s * slope
    Int aum_slope{};
    Int doubled_auc{};           // twice the sum over pairs
    std::size_t n_converging{};  // number of pairs of neighbors that will meet
  };

  // Pairs of lines that meet at one exact step.
  struct Point {
    Fraction<Int> step;
    std::size_t first_pair, last_pair;
  };
  struct Pair {
    Fraction<Int> step;
    std::size_t lower, upper;  // line indices before the step
  };

  explicit BruteForce(const Problem& problem) : divisor_(problem.divisor) {
    read(problem);
    find_points();
    walk();
  }

  std::size_t n_lines() const { return line_.size(); }
  // Equal lines with jumps of opposite signs may be monotone after they are merged.
  bool is_monotone() const {
    return std::all_of(line_.begin(), line_.end(), [](const ExactLine& line) {
      return sign_of(line.fp) >= 0 && sign_of(line.tp) >= 0;
    });
  }
  const std::vector<Point>& points() const { return point_; }
  const std::vector<Pair>& pairs() const { return pair_; }
  // FP and TP of a line, by its index in `Pair`.
  std::pair<Int, Int> jumps(std::size_t k) const { return {line_[k].fp, line_[k].tp}; }
  // Stretch k lies before point k.
  const Stretch& stretch(std::size_t k) const { return stretch_[k]; }
  Int doubled_perfect_auc() const { return 2 * total_fp_ * total_tp_; }

  // At a point all pairs that meet are tied, and count one half.
  Int doubled_auc_at_point(std::size_t k) const {
    return (stretch_[k].doubled_auc + stretch_[k + 1].doubled_auc) / 2;
  }
  Int doubled_auc(Location at) const {
    return at.is_on_point ? doubled_auc_at_point(at.stretch - 1) : stretch_[at.stretch].doubled_auc;
  }
  Location locate(double step) const {
    const auto after = std::partition_point(point_.begin(), point_.end(), [&](const Point& point) {
      return point.step.below < step || (point.step.is_float && point.step.below == step);
    });
    const auto k = static_cast<std::size_t>(after - point_.begin());
    return {k, k > 0 && point_[k - 1].step.is_float && point_[k - 1].step.below == step};
  }

  int slope_sign(std::size_t stretch) const { return sign_of(stretch_[stretch].aum_slope); }

  // AUM on a stretch, at a float64 step or at a point, as an exact fraction.
  ExactValue exact_aum(const Stretch& at, double step) const {
    const Digits s = digits_of(step);
    ExactValue value{Wide(at.aum_intercept), intercept_exponent_, divisor_};
    value.add(Wide(at.aum_slope) * s.digits, slope_exponent_ + s.exponent);
    value.exponent += jump_exponent_;
    return value;
  }
  ExactValue exact_aum_at_point(std::size_t k) const {
    const Fraction<Int>& step = point_[k].step;
    ExactValue value{Wide(stretch_[k].aum_intercept) * step.denominator, intercept_exponent_,
                     divisor_, Wide(step.denominator)};
    value.add(Wide(stretch_[k].aum_slope) * step.numerator, intercept_exponent_);
    value.exponent += jump_exponent_;
    return value;
  }
  ExactValue exact_slope(const Stretch& at) const {
    return {Wide(at.aum_slope), slope_exponent_ + jump_exponent_, divisor_};
  }

  // AUM rounded, and a bound on its error that exceeds the rounding error of the largest term.
  long double aum(const Stretch& at, double step) const {
    return scaled(at.aum_intercept, intercept_exponent_ + jump_exponent_) / divisor_ +
           static_cast<long double>(step) * slope(at);
  }
  long double aum_doubt(const Stretch& at, double step) const {
    const long double first = scaled(at.aum_intercept, intercept_exponent_ + jump_exponent_);
    const long double second = static_cast<long double>(step) * slope(at);
    // `rounded` keeps 64 binary digits, even if a long double has more.
    constexpr long double unit = std::max(std::numeric_limits<long double>::epsilon(), 0x1p-63L);
    return 8.0L * unit * (std::fabs(first / divisor_) + std::fabs(second));
  }
  long double slope(const Stretch& at) const {
    return scaled(at.aum_slope, slope_exponent_ + jump_exponent_) / divisor_;
  }

 private:
  struct ExactLine {
    Int intercept, slope, fp, tp;
  };
  std::vector<ExactLine> line_;  // distinct lines, in their order before all points
  int intercept_exponent_ = 0, slope_exponent_ = 0, jump_exponent_ = 0;
  Int total_fp_{}, total_tp_{};
  double divisor_;
  std::vector<Pair> pair_;
  std::vector<Point> point_;
  std::vector<Stretch> stretch_;
  std::vector<std::size_t> rank_, order_;

  static long double scaled(const Int& x, int exponent) {
    const Rounded top = rounded(x);
    return std::ldexp(top.digits, top.exponent + exponent);
  }

  void read(const Problem& problem) {
    BitRange intercepts, slopes, jumps;
    intercepts.add(problem.intercept);
    slopes.add(problem.slope);
    jumps.add(problem.fp_diff);
    jumps.add(problem.fn_diff);
    intercept_exponent_ = intercepts.exponent();
    slope_exponent_ = slopes.exponent();
    jump_exponent_ = jumps.exponent();
    for (std::size_t k = 0; k < problem.size(); ++k) {
      line_.push_back({whole<Int>(problem.intercept[k], intercept_exponent_),
                       whole<Int>(problem.slope[k], slope_exponent_),
                       whole<Int>(problem.fp_diff[k], jump_exponent_),
                       -whole<Int>(problem.fn_diff[k], jump_exponent_)});
      total_fp_ += line_.back().fp;
      total_tp_ += line_.back().tp;
    }
    merge_equal();
  }

  // Equal lines never separate, so they are merged into one line with the sum of their jumps.
  void merge_equal() {
    std::sort(line_.begin(), line_.end(), [](const ExactLine& a, const ExactLine& b) {
      return a.slope != b.slope ? a.slope > b.slope : a.intercept < b.intercept;
    });
    std::size_t n_distinct = 0;
    for (const ExactLine& line : line_) {
      ExactLine* last = n_distinct == 0 ? nullptr : &line_[n_distinct - 1];
      if (last && last->slope == line.slope && last->intercept == line.intercept) {
        last->fp += line.fp;
        last->tp += line.tp;
      } else {
        line_[n_distinct++] = line;
      }
    }
    line_.resize(n_distinct);
  }

  void find_points() {
    pair_.reserve(line_.size() * (line_.size() - 1) / 2);
    for (std::size_t i = 0; i < line_.size(); ++i)
      for (std::size_t j = i + 1; j < line_.size(); ++j) {
        if (line_[i].slope == line_[j].slope) continue;
        // Line i has the larger slope, and is the lower one before they meet.
        pair_.push_back(
            {{line_[j].intercept - line_[i].intercept, line_[i].slope - line_[j].slope}, i, j});
        pair_.back().step.round(intercept_exponent_ - slope_exponent_);
      }
    std::sort(pair_.begin(), pair_.end(),
              [](const Pair& a, const Pair& b) { return a.step.compare(b.step) < 0; });
    for (std::size_t k = 0; k < pair_.size(); ++k) {
      if (point_.empty() || point_.back().step.compare(pair_[k].step) != 0)
        point_.push_back({pair_[k].step, k, k});
      point_.back().last_pair = k + 1;
    }
  }

  void walk() {
    rank_.resize(line_.size());
    order_.resize(line_.size());
    std::iota(rank_.begin(), rank_.end(), std::size_t{0});
    stretch_.reserve(point_.size() + 1);
    add_stretch();
    for (const Point& point : point_) {
      for (std::size_t k = point.first_pair; k < point.last_pair; ++k) {
        ++rank_[pair_[k].lower];
        --rank_[pair_[k].upper];
      }
      add_stretch();
    }
  }

  void add_stretch() {
    for (std::size_t k = 0; k < line_.size(); ++k) order_[rank_[k]] = k;
    Stretch stretch;
    Int fp = 0, tp = 0;
    for (std::size_t rank = 0; rank < order_.size(); ++rank) {
      const ExactLine& line = line_[order_[rank]];
      if (rank > 0) {
        const ExactLine& below = line_[order_[rank - 1]];
        const Int fn = total_tp_ - tp;
        const Int& min_error = fp < fn ? fp : fn;
        stretch.aum_intercept += min_error * (line.intercept - below.intercept);
        stretch.aum_slope += min_error * (line.slope - below.slope);
        if (below.slope > line.slope) ++stretch.n_converging;
      }
      stretch.doubled_auc += line.fp * (2 * tp + line.tp);
      fp += line.fp;
      tp += line.tp;
    }
    stretch_.push_back(std::move(stretch));
  }
};

// Whether all sums and products in `BruteForce` fit into 128 bits.
inline bool is_narrow(const Problem& problem) {
  BitRange intercepts, slopes, jumps;
  intercepts.add(problem.intercept);
  slopes.add(problem.slope);
  jumps.add(problem.fp_diff);
  jumps.add(problem.fn_diff);
  const auto n_bits = static_cast<int>(std::bit_width(problem.size()));
  const int error_bits = jumps.width() + n_bits;
  const int value_bits = std::max(intercepts.width(), slopes.width()) + 1;
  return value_bits <= 62 && error_bits + value_bits + n_bits <= 126 && 2 * error_bits + 2 <= 126;
}

}  // namespace fuzz
