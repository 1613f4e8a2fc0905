// Access to all lines for the search for the best AUM step: a random sample, and passes that reduce
// the lines outside a box to sums. A pass takes O(B).
//
// Lines are in memory (LineArrays, ErrorLines) or in partitions (PartitionedLines). This header
// contains the overloads for both, and the concept that every kind of lines satisfies.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <functional>

#include "aum/near_level.hpp"
#include "numerics/threads.hpp"

namespace rocpath {

// The indices of the sampled lines among `n_lines` lines: a random one of every `factor`
// consecutive lines.
class SampledLines {
 public:
  explicit SampledLines(std::size_t n_lines)
      : factor_(static_cast<std::size_t>(0.5 * std::cbrt(static_cast<double>(n_lines)))),
        size_(n_lines / factor_),
        random_(n_lines) {}

  std::size_t factor() const { return factor_; }
  std::size_t size() const { return size_; }

  // Requires: at most `size` calls.
  std::size_t next() {
    const std::size_t place = random_.below(factor_);
    return factor_ * n_drawn_++ + place;
  }

 private:
  std::size_t factor_;
  std::size_t size_;
  Random random_;
  std::size_t n_drawn_ = 0;
};

// Lines in partitions, of which only the sample is in memory.
struct PartitionedLines {
  std::size_t n_lines;
  LineArrays sample;  // the lines of SampledLines(n_lines), in order
  std::function<ErrorLines(const Box&)> collapse_partitions;

  std::size_t size() const { return n_lines; }
};

// The sample, in which each line counts `factor` times. The units are multiplied instead of the
// jumps, which could overflow.
template <class Lines>
ErrorLines sample_of(const Lines& lines) {
  SampledLines sampled(lines.size());
  ErrorLines sample = collapse(lines, 0, 0, Box{});
  sample.count_each(sampled.factor());
  sample.outside_sums = OutsideSums::unrounded;  // a sample need not be exact
  sample.line.resize(sampled.size());
  for (ErrorLine& line : sample.line) {
    line = lines[sampled.next()];
    sample.total += {line.fp, line.tp};
  }
  return sample;
}

// The sums of all lines are unknown here, and are estimated by those of the sample.
inline ErrorLines counted_sample(const LineArrays& lines, std::size_t n_lines) {
  ErrorLines sample = collapse(lines, Box{});
  const ErrorSums total = sample.total;
  sample.count_each(SampledLines(n_lines).factor());
  sample.total = total;
  return sample;
}
inline ErrorLines sample_of(const PartitionedLines& lines) {
  return counted_sample(lines.sample, lines.n_lines);
}

inline ErrorLines collapse(const PartitionedLines& lines, const Box& box) {
  return lines.collapse_partitions(box);
}

// The same as `collapse`, on two cores if there are many lines.
template <class Lines>
ErrorLines collapse_in_parallel(const Lines& lines, const Box& box) {
  const std::size_t half = lines.size() / 2;
  BackgroundTask<ErrorLines> task(half > 100'000, [&] { return collapse(lines, 0, half, box); });
  ErrorLines inside = collapse(lines, half, lines.size(), box);
  inside.add_part(task.get());
  return inside;
}
inline ErrorLines collapse_in_parallel(const PartitionedLines& lines, const Box& box) {
  return lines.collapse_partitions(box);
}

// Lines among which the search can find the best AUM step.
template <class Lines>
concept SearchableLines = requires(const Lines& lines, const Box& box) {
  // Number of lines.
  { lines.size() } -> std::convertible_to<std::size_t>;
  // A random sample that determines where to search first. It affects the time, not the result.
  { sample_of(lines) } -> std::same_as<ErrorLines>;
  // The lines that may enter the box, with sums of those that stay below and above it.
  { collapse(lines, box) } -> std::same_as<ErrorLines>;
  // The same, on two cores if there are many lines.
  { collapse_in_parallel(lines, box) } -> std::same_as<ErrorLines>;
};

static_assert(SearchableLines<LineArrays> && SearchableLines<ErrorLines> &&
              SearchableLines<PartitionedLines>);

}  // namespace rocpath
