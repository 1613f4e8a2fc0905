// Random jumps of the errors for given lines: labels, weights, rates, or jumps of any sign.
#pragma once

#include <array>
#include <vector>

#include "problem.hpp"

namespace fuzz {

// SplitMix64: a seed determines a problem on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // A number from low to high, inclusive.
  std::int64_t from(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool one_in(std::int64_t n) { return from(1, n) == 1; }

 private:
  std::uint64_t state_;
};

using Draw = void (*)(Problem&, Random&);

namespace detail {

inline double whole_number(Random& random, std::int64_t reach) {
  return static_cast<double>(random.from(-reach, reach));
}

// Jumps of labels: FP increases at negatives, FN decreases at positives; both classes occur.
inline void label_jumps(Problem& problem, Random& random, double fp_size, double fn_size) {
  const std::size_t n = problem.size();
  std::vector<bool> is_positive(n);
  for (std::size_t k = 0; k < n; ++k) is_positive[k] = random.one_in(2);
  is_positive[0] = !is_positive[n - 1];
  for (std::size_t k = 0; k < n; ++k) {
    problem.fp_diff.push_back(is_positive[k] ? 0.0 : fp_size);
    problem.fn_diff.push_back(is_positive[k] ? -fn_size : 0.0);
  }
}

inline void count_jumps(Problem& problem, Random& random) {
  label_jumps(problem, random, 1.0, 1.0);
}

inline void rate_jumps(Problem& problem, Random& random) {
  count_jumps(problem, random);
  double n_negative = 0.0;
  for (const double fp : problem.fp_diff) n_negative += fp;
  for (double& fp : problem.fp_diff) fp /= n_negative;
  for (double& fn : problem.fn_diff) fn /= static_cast<double>(problem.size()) - n_negative;
}

inline void weighted_jumps(Problem& problem, Random& random) {
  count_jumps(problem, random);
  const double divisor = std::array{1.0, 8.0, 10.0}[static_cast<std::size_t>(random.from(0, 2))];
  for (std::size_t k = 0; k < problem.size(); ++k) {
    const double weight = static_cast<double>(random.from(1, 20)) / divisor;
    problem.fp_diff[k] *= weight;
    problem.fn_diff[k] *= weight;
  }
}

// Jumps of any sign, with a positive sum of FP and a negative sum of FN.
inline void wild_jumps(Problem& problem, Random& random) {
  const double divisor = random.one_in(4) ? 10.0 : 1.0;
  for (auto* jump : {&problem.fp_diff, &problem.fn_diff}) {
    const double sign = jump == &problem.fp_diff ? 1.0 : -1.0;
    double sum = 0.0;
    do {
      jump->clear();
      sum = 0.0;
      for (std::size_t k = 0; k < problem.size(); ++k) {
        const double whole = whole_number(random, 3);
        jump->push_back(whole / divisor);
        sum += sign * whole;
      }
    } while (sum <= 0.0);
  }
}

inline void some_jumps(Problem& problem, Random& random) {
  constexpr std::array<Draw, 5> kind{count_jumps, count_jumps, rate_jumps, weighted_jumps,
                                     wild_jumps};
  kind[static_cast<std::size_t>(random.from(0, 4))](problem, random);
}

// Non-negative error functions of every example, which need not be monotone: FP begins with 0, and
// FN ends with 0.
inline void changepoint_jumps(Problem& problem, Random& random, double fp_unit, double fn_unit) {
  const std::size_t n = problem.size();
  problem.fp_diff.assign(n, 0.0);
  problem.fn_diff.assign(n, 0.0);
  std::int64_t fp = 0, fn = 0;
  for (std::size_t k = n; k-- > 0;) {  // FN, in reverse order
    const bool is_last = k + 1 == n || problem.example[k] != problem.example[k + 1];
    if (is_last) fn = 0;
    const std::int64_t before = random.from(0, 2);
    problem.fn_diff[k] = static_cast<double>(fn - before) * fn_unit;
    fn = before;
  }
  for (std::size_t k = 0; k < n; ++k) {
    if (k == 0 || problem.example[k] != problem.example[k - 1]) fp = 0;
    const std::int64_t after = random.from(0, 2);
    problem.fp_diff[k] = static_cast<double>(after - fp) * fp_unit;
    fp = after;
  }
}

inline bool has_errors(const Problem& problem) {
  double fp = 0.0, fn = 0.0;
  for (std::size_t k = 0; k < problem.size(); ++k) {
    fp += problem.fp_diff[k];
    fn += problem.fn_diff[k];
  }
  return fp > 1e-9 && fn < -1e-9;
}

}  // namespace detail

}  // namespace fuzz
