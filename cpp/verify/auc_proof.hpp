// A proof that no float64 step has a larger AUC than the one found: an increasing list of steps.
//
// Two lines cross at most once. A pair of a negative and a positive that is ranked wrongly at both
// ends of a window of steps is therefore ranked wrongly at every step inside. If these pairs are so
// many that the others cannot exceed the claimed AUC, no step inside has a larger one. A list of
// steps such that this holds between each two of them, and whose own AUC is not larger, is a proof
// (docs/searches.md). For partial AUC, pairs have weights.
//
// This header checks such a list in O(B log B) for each window. It uses nothing of the searches,
// and of the core only the arithmetic. The same check in Python is search/verify.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "numerics/exact.hpp"
#include "numerics/ratio.hpp"
#include "numerics/sorting.hpp"

namespace rocpath::verify {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Distinct lines with non-negative jumps, in units such that the borders of the region are
// integers: the area up to FP = `right` and above TP = `bottom` counts.
struct ProofLines {
  std::vector<double> intercept, slope;
  std::vector<std::int64_t> fp, tp;
  std::int64_t right = 0;
  std::int64_t bottom = 0;

  std::size_t size() const { return intercept.size(); }
  int128 total_fp() const { return std::accumulate(fp.begin(), fp.end(), int128{0}); }
  int128 total_tp() const { return std::accumulate(tp.begin(), tp.end(), int128{0}); }
};

// Lines by increasing threshold at a step, which may be infinite, and the rank of each; lines with
// equal thresholds have the same rank.
struct Ranking {
  double step = 0.0;
  std::vector<std::uint32_t> order, rank;
};

namespace detail {

// The sign of the threshold of line i minus that of line j, without rounding.
inline int compare_at(const ProofLines& lines, std::size_t i, std::size_t j, double step) {
  const auto sign = [](double a, double b) { return (a > b) - (a < b); };
  if (std::isinf(step)) {
    const int by_slope = sign(lines.slope[i], lines.slope[j]);
    if (by_slope != 0) return step > 0.0 ? by_slope : -by_slope;
    return sign(lines.intercept[i], lines.intercept[j]);
  }
  ExactSum difference;
  difference.add_product(lines.intercept[i], 1.0);
  difference.add_product(lines.intercept[j], -1.0);
  difference.add_product(lines.slope[i], step);
  difference.add_product(lines.slope[j], -step);
  return difference.sign();
}

// floor(a * a / b). Requires: 0 <= a <= b < 2^126, b > 0.
inline int128 squared_over(int128 a, int128 b) {
  if (a == b) return b;
  int128 quotient = 0;
  int128 remainder = 0;
  const auto add = [&](int128 more) {
    const bool is_carried = remainder >= b - more;
    remainder = is_carried ? remainder - (b - more) : remainder + more;
    quotient += is_carried ? 1 : 0;
  };
  for (int bit = 126; bit >= 0; --bit) {
    quotient *= 2;
    add(remainder);
    if ((a >> bit & 1) != 0) add(a);
  }
  return quotient;
}

}  // namespace detail

inline Ranking ranking_at(const ProofLines& lines, double step) {
  Ranking result{step, std::vector<std::uint32_t>(lines.size()),
                 std::vector<std::uint32_t>(lines.size())};
  // A rounded threshold, or slope, never reverses the order of two lines.
  std::vector<double> key(lines.size());
  for (std::size_t k = 0; k < key.size(); ++k)
    key[k] = std::isinf(step) ? std::copysign(1.0, step) * lines.slope[k]
                              : std::fma(step, lines.slope[k], lines.intercept[k]);
  const auto order = sorted_order(key);
  std::copy(order.begin(), order.end(), result.order.begin());
  std::uint32_t rank = 0;
  for (auto first = result.order.begin(); first != result.order.end();) {
    const auto last = std::find_if(first + 1, result.order.end(),
                                   [&](std::uint32_t k) { return key[k] != key[*first]; });
    if (last - first > 1)
      std::sort(first, last, [&](std::uint32_t a, std::uint32_t b) {
        return detail::compare_at(lines, a, b, step) < 0;
      });
    for (auto one = first; one != last; ++one) {
      const bool is_new = one == first || detail::compare_at(lines, one[-1], *one, step) != 0;
      rank += is_new && one != result.order.begin() ? 1 : 0;
      result.rank[*one] = rank;
    }
    first = last;
  }
  return result;
}

// Twice the area of the region below the curve at a finite step, where tied lines are one segment.
// Where a border cuts a segment, it is rounded down by less than one.
inline int128 doubled_area(const ProofLines& lines, const Ranking& at) {
  int128 area = 0;
  std::int64_t fp = 0, tp = 0;
  for (std::size_t k = 0; k < at.order.size() && fp < lines.right;) {
    std::int64_t width = 0, rise = 0;
    for (const std::uint32_t rank = at.rank[at.order[k]];
         k < at.order.size() && at.rank[at.order[k]] == rank; ++k) {
      width += lines.fp[at.order[k]];
      rise += lines.tp[at.order[k]];
    }
    const std::int64_t inside = std::min(width, lines.right - fp);
    const std::int64_t low = tp - lines.bottom;
    if (width > 0 && inside == width && low >= 0) {
      area += static_cast<int128>(width) * (2 * static_cast<int128>(low) + rise);
    } else if (width > 0 && low + rise > 0) {
      // The part inside the region is a trapezoid, or a triangle that begins at the bottom.
      const int128 product = static_cast<int128>(width) * rise;
      const int128 top = static_cast<int128>(low) * width + static_cast<int128>(inside) * rise;
      if (low >= 0) area += 2 * static_cast<int128>(inside) * low;
      if (rise > 0 && top > 0)
        area += detail::squared_over(low >= 0 ? static_cast<int128>(inside) * rise : top, product);
    }
    fp += width;
    tp += rise;
  }
  return area;
}

// Sums over ranks of a changing array.
class RankSums {
 public:
  explicit RankSums(std::size_t n) : sum_(n + 1) {}
  void add(std::size_t rank, std::int64_t amount) {
    for (std::size_t k = rank + 1; k < sum_.size(); k += k & -k) sum_[k] += amount;
  }
  std::int64_t before(std::size_t rank) const {
    std::int64_t total = 0;
    for (std::size_t k = rank; k > 0; k -= k & -k) total += sum_[k];
    return total;
  }

 private:
  std::vector<std::int64_t> sum_;
};

// Upper bound on twice the area at all steps strictly between two steps: weights of negatives times
// weights of positives, less the pairs that are ranked wrongly throughout. The weights are those
// of the lines inside the region just after the first step; any other weights give a bound too.
inline int128 doubled_bound(const ProofLines& lines, const Ranking& from, const Ranking& to) {
  const std::size_t n = lines.size();
  std::vector<std::uint32_t> order = from.order;
  for (auto first = order.begin(); first != order.end();) {  // the order just after the first step
    const auto last = std::find_if(
        first + 1, order.end(), [&](std::uint32_t k) { return from.rank[k] != from.rank[*first]; });
    if (last - first > 1)
      std::sort(first, last,
                [&](std::uint32_t a, std::uint32_t b) { return to.rank[a] < to.rank[b]; });
    first = last;
  }
  std::vector<std::int64_t> fp(n), tp(n);
  std::int64_t left = lines.right;
  for (const std::uint32_t k : order) left -= fp[k] = std::min(left, lines.fp[k]);
  left = static_cast<std::int64_t>(lines.total_tp()) - lines.bottom;
  for (std::size_t k = n; k-- > 0;) left -= tp[order[k]] = std::min(left, lines.tp[order[k]]);
  // From the highest rank at the start down: positives that are not below a negative at the start
  // are entered, and those that are not below it at the end are counted.
  RankSums entered(n);
  int128 bound = 2 * static_cast<int128>(lines.right) * (lines.total_tp() - lines.bottom);
  std::int64_t n_entered = 0;
  for (std::size_t end = n; end > 0;) {
    std::size_t begin = end;
    while (begin > 0 && from.rank[order[begin - 1]] == from.rank[order[end - 1]]) --begin;
    for (std::size_t k = begin; k < end; ++k) {
      const std::uint32_t line = order[k];
      if (tp[line] != 0) entered.add(to.rank[line], tp[line]);
      n_entered += tp[line];
    }
    for (std::size_t k = begin; k < end; ++k) {
      const std::uint32_t line = order[k];
      if (fp[line] == 0) continue;
      const std::int64_t wrong = n_entered - entered.before(to.rank[line]);
      bound -= 2 * static_cast<int128>(fp[line]) * wrong;
      // A line with jumps of both classes contributes the area below its own segment.
      const auto [f, t] = std::pair<int128, int128>(lines.fp[line], lines.tp[line]);
      const int128 both = fp[line] * t + tp[line] * f - f * t;
      if (both > 0) bound += detail::squared_over(both, f * t) + (both == f * t ? 0 : 1);
    }
    end = begin;
  }
  return bound;
}

}  // namespace rocpath::verify
