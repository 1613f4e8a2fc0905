// Which line stands where at a step, and which lines pass each other between two steps.
#pragma once

#include "lines.hpp"

namespace rocpath {

struct StepRange {
  double low;
  double high;
};

inline bool is_inside(double step, StepRange range) {
  return step > range.low && step < range.high;
}

// Where to cut a range of steps, which may be infinite, in two.
class StepScale {
 public:
  explicit StepScale(const ErrorLines& lines) : scale_(typical_step(lines)) {}

  // The step at a share of the way from the start of the range to its end; the way to infinity is
  // as long as that to the typical step.
  double within(StepRange range, double share) const {
    const auto place = [&](double step) {
      return std::isinf(step) ? std::copysign(1.0, step) : step / (scale_ + std::fabs(step));
    };
    const double at = (1.0 - share) * place(range.low) + share * place(range.high);
    return scale_ * at / (1.0 - std::fabs(at));
  }

  // A step well inside the range, equal to one of its ends only where no float64 lies between.
  double middle(StepRange range) const {
    const double step = within(range, 0.5);
    if (is_inside(step, range) && std::isfinite(step)) return step;
    // Halve the number of float64 numbers in between instead.
    constexpr double largest = std::numeric_limits<double>::max();
    const auto bits = [](double x) {
      const auto raw = std::bit_cast<std::int64_t>(x);
      return raw < 0 ? std::numeric_limits<std::int64_t>::min() - raw : raw;
    };
    const std::int64_t low = bits(std::clamp(range.low, -largest, largest));
    const std::int64_t high = bits(std::clamp(range.high, -largest, largest));
    const std::int64_t mean = low / 2 + high / 2 + (low % 2 + high % 2) / 2;
    return std::bit_cast<double>(mean < 0 ? std::numeric_limits<std::int64_t>::min() - mean : mean);
  }

 private:
  double scale_;

  // The step at which thresholds have typically moved as far as they are apart.
  static double typical_step(const ErrorLines& lines) {
    const auto spread = [&](auto of) {
      double low = std::numeric_limits<double>::infinity();
      double high = -low;
      double sum = 0.0;
      for (const ErrorLine& line : lines.line) {
        low = std::min(low, of(line));
        high = std::max(high, of(line));
      }
      const double middle = 0.5 * low + 0.5 * high;
      for (const ErrorLine& line : lines.line) sum += std::fabs(of(line) - middle);
      return sum;
    };
    const double step = spread([](const ErrorLine& line) { return line.intercept; }) /
                        spread([](const ErrorLine& line) { return line.slope; });
    return std::isfinite(step) && step > 0.0 ? step : 1.0;
  }
};

// Two lines that exchange places: `lower` is below before the step, and above after it.
struct Crossing {
  double step;
  std::uint32_t lower;
  std::uint32_t upper;
};

// The order of the lines just after a step: all crossings at or before it have happened.
class OrderAfter {
 public:
  OrderAfter(const ErrorLines& lines, double step)
      : lines_(lines),
        step_(step),
        next_step_(std::nextafter(step, std::numeric_limits<double>::infinity())) {}

  // A line's places at the step and at the next float64, correctly rounded: where two lines stand
  // in one strict order at both, they stand so in between.
  struct Place {
    double at;
    double next;
    std::uint32_t line;
    std::uint32_t kind = 0;  // for the caller's use
  };

  Place place(std::uint32_t line) const {
    return {lines_.line[line].at(step_), lines_.line[line].at(next_step_), line};
  }

  // Have two lines, `lower` below `upper` at some earlier step, exchanged places?
  bool have_crossed(const Place& lower, const Place& upper) const {
    if (upper.at < lower.at && upper.next < lower.next) return true;
    if (lower.at < upper.at && lower.next < upper.next) return false;
    const ErrorLine& a = lines_.line[lower.line];
    const ErrorLine& b = lines_.line[upper.line];
    return a.slope > b.slope && crossing_step(a, b) <= step_;
  }

 private:
  const ErrorLines& lines_;
  double step_;
  double next_step_;
};

// Number of pairs out of order, with `has_crossed(left, right)` for elements of the input order;
// sorts on the way. Merge sort, O(n log n).
template <class T, class HasCrossed>
std::uint64_t sort_and_count(Vector<T>& items, HasCrossed has_crossed) {
  std::uint64_t count = 0;
  Vector<T> merged(items.size());
  for (std::size_t width = 1; width < items.size(); width *= 2) {
    for (std::size_t begin = 0; begin < items.size(); begin += 2 * width) {
      const std::size_t middle = std::min(begin + width, items.size());
      const std::size_t end = std::min(middle + width, items.size());
      std::size_t left = begin;
      std::size_t right = middle;
      for (std::size_t k = begin; k < end; ++k) {
        const bool take_right =
            left == middle || (right < end && has_crossed(items[left], items[right]));
        if (take_right) count += middle - left;
        merged[k] = items[take_right ? right++ : left++];
      }
    }
    items.swap(merged);
  }
  return count;
}

// How many pairs of lines cross at a positive step.
inline std::uint64_t count_crossings(const ErrorLines& lines) {
  Vector<double> slope(lines.size());
  std::transform(lines.line.begin(), lines.line.end(), slope.begin(),
                 [](const ErrorLine& line) { return line.slope; });
  return sort_and_count(slope, [](double left, double right) { return left > right; });
}

// Which of two lines is below at a finite step: negative for the first, 0 for neither.
inline int compare_at(const Line& a, const Line& b, double step) {
  const double left = a.at(step);
  const double right = b.at(step);
  if (left != right) return left < right ? -1 : 1;  // correctly rounded, so certain
  if (a.intercept == b.intercept && a.slope == b.slope) return 0;
  ExactSum difference;
  difference.add_product(1.0, a.intercept);
  difference.add_product(-1.0, b.intercept);
  difference.add_product(step, a.slope);
  difference.add_product(-step, b.slope);
  return difference.sign();
}

inline bool is_tied_at(const Line& a, const Line& b, double step) {
  return step == 0.0 ? a.intercept == b.intercept : compare_at(a, b, step) == 0;
}

// Twice the AUC at a step, given the order after it; lines that are tied there count one half.
inline int128 doubled_auc_at(const ErrorLines& lines, double step,
                             std::span<const std::uint32_t> order) {
  int128 doubled = 0;
  std::int64_t tp_below = 0;
  for (std::size_t begin = 0, end = 1; begin < order.size(); begin = end++) {
    const ErrorLine& first = lines.line[order[begin]];
    ErrorSums tied{first.fp, first.tp};
    for (; end < order.size() && is_tied_at(first, lines.line[order[end]], step); ++end)
      tied += {lines.line[order[end]].fp, lines.line[order[end]].tp};
    doubled += static_cast<int128>(tied.fp) * (2 * tp_below + tied.tp);
    tp_below += tied.tp;
  }
  return doubled;
}

// Memory for `order_after`, to be used again.
struct OrderBuffers {
  Vector<double> key;
  SortBuffers sort;
};

// The lines in their order just after a step, exactly; the step may be infinite. The memory of
// `order` is used for the result.
inline Vector<std::uint32_t> order_after(const ErrorLines& lines, double step,
                                         OrderBuffers& buffers, Vector<std::uint32_t> order = {}) {
  const bool is_finite = std::isfinite(step);
  Vector<double>& key = buffers.key;
  key.resize(lines.size());
  for (std::size_t k = 0; k < lines.size(); ++k)
    key[k] = is_finite ? lines.line[k].at(step) : std::copysign(1.0, step) * lines.line[k].slope;
  order = sorted_order(key, buffers.sort, std::move(order));
  // Keys are correctly rounded: only equal ones leave the order open.
  for (auto first = order.begin(); first != order.end();) {
    auto last = first + 1;
    while (last != order.end() && key[*last] == key[*first]) ++last;
    if (last - first > 1)
      std::sort(first, last, [&](std::uint32_t i, std::uint32_t j) {
        const ErrorLine& a = lines.line[i];
        const ErrorLine& b = lines.line[j];
        if (!is_finite) return a.intercept < b.intercept;
        const int sign = compare_at(a, b, step);
        return sign != 0 ? sign < 0 : a.slope < b.slope;
      });
    first = last;
  }
  return order;
}

inline Vector<std::uint32_t> order_after(const ErrorLines& lines, double step) {
  OrderBuffers buffers;
  return order_after(lines, step, buffers);
}

// Buffers for `sort_by_step`, to be used again.
struct CrossingSort {
  Vector<Crossing> sorted;
  Vector<std::uint32_t> bucket_start;
};

namespace detail {

// Mostly two or three crossings, for which the library's sort is slow.
inline void sort_bucket(std::span<Crossing> bucket) {
  const auto is_earlier = [](const Crossing& a, const Crossing& b) { return a.step < b.step; };
  if (bucket.size() > 16) return std::sort(bucket.begin(), bucket.end(), is_earlier);
  for (std::size_t k = 1; k < bucket.size(); ++k) {
    const Crossing moving = bucket[k];
    std::size_t place = k;
    for (; place > 0 && is_earlier(moving, bucket[place - 1]); --place)
      bucket[place] = bucket[place - 1];
    bucket[place] = moving;
  }
}

}  // namespace detail

// Compute the steps of crossings within a range, and sort by them. Bucket sort, O(n) where the
// steps are spread over the range.
inline void sort_by_step(const ErrorLines& lines, StepRange range, Vector<Crossing>& crossings,
                         CrossingSort& scratch) {
  for (Crossing& crossing : crossings)
    crossing.step = crossing_step(lines.line[crossing.lower], lines.line[crossing.upper]);
  const std::size_t n_buckets = crossings.size() + 1;
  const double scale = static_cast<double>(n_buckets) / (range.high - range.low);
  const auto bucket = [&](const Crossing& crossing) {
    const double place = (crossing.step - range.low) * scale;
    if (!(place > 0.0)) return std::size_t{0};
    return place < static_cast<double>(n_buckets) ? static_cast<std::size_t>(place) : n_buckets - 1;
  };
  scratch.bucket_start.assign(n_buckets, 0);
  for (const Crossing& crossing : crossings) ++scratch.bucket_start[bucket(crossing)];
  std::exclusive_scan(scratch.bucket_start.begin(), scratch.bucket_start.end(),
                      scratch.bucket_start.begin(), 0U);
  scratch.sorted.resize(crossings.size());
  for (const Crossing& crossing : crossings)
    scratch.sorted[scratch.bucket_start[bucket(crossing)]++] = crossing;
  std::size_t begin = 0;
  for (const std::uint32_t end : scratch.bucket_start) {
    if (end - begin > 1) detail::sort_bucket(std::span(scratch.sorted).subspan(begin, end - begin));
    begin = end;
  }
  crossings.swap(scratch.sorted);
}

}  // namespace rocpath
