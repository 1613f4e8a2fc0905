// One problem: lines with their jumps, and how to print it as Python that makes it again.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

namespace fuzz {

struct Problem {
  std::string_view family;
  std::uint64_t seed = 0;
  std::vector<double> intercept, slope, fp_diff, fn_diff;
  std::vector<std::int64_t> example;  // whose line it is

  std::size_t size() const { return intercept.size(); }
  bool is_monotone() const {
    return std::all_of(fp_diff.begin(), fp_diff.end(), [](double x) { return x >= 0.0; }) &&
           std::all_of(fn_diff.begin(), fn_diff.end(), [](double x) { return x <= 0.0; });
  }
};

// The shortest digits that give the number back.
inline std::string text(double x) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), x).ptr;
  return {digits.data(), end};
}

template <class Values>
std::string text_list(const Values& values) {
  std::string list;
  for (const auto& x : values) list += (list.empty() ? "" : ", ") + text(static_cast<double>(x));
  return "[" + list + "]";
}

inline std::string as_python(const Problem& problem) {
  return "Lines(" + text_list(problem.intercept) + ", " + text_list(problem.slope) + ", " +
         text_list(problem.fp_diff) + ", " + text_list(problem.fn_diff) + ")";
}

}  // namespace fuzz
