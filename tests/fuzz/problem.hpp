// A problem consists of lines and their jumps, and can be printed as Python code that creates it.
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
  std::vector<std::int64_t> example;  // the example of each line
  double divisor = 1.0;  // divisor of all jumps, since rates such as 1/3 are not float64 numbers

  std::size_t size() const { return intercept.size(); }
  bool is_monotone() const {
    return std::all_of(fp_diff.begin(), fp_diff.end(), [](double x) { return x >= 0.0; }) &&
           std::all_of(fn_diff.begin(), fn_diff.end(), [](double x) { return x <= 0.0; });
  }
};

// The shortest text that is parsed as the same number.
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

// Labels determine the rates. Predictions and their direction are the negative intercepts and
// slopes.
inline std::string rates_as_python(const Problem& problem) {
  std::vector<double> label, prediction, direction;
  for (std::size_t k = 0; k < problem.size(); ++k) {
    label.push_back(problem.fn_diff[k] < 0.0 ? 1.0 : 0.0);
    prediction.push_back(-problem.intercept[k]);
    direction.push_back(-problem.slope[k]);
  }
  return "Lines.from_predictions(ErrorBreakpoints.from_labels(" + text_list(label) + "), " +
         text_list(prediction) + ", " + text_list(direction) + ")";
}

inline std::string as_python(const Problem& problem) {
  if (problem.divisor != 1.0) return rates_as_python(problem);
  return "Lines(" + text_list(problem.intercept) + ", " + text_list(problem.slope) + ", " +
         text_list(problem.fp_diff) + ", " + text_list(problem.fn_diff) + ")";
}

}  // namespace fuzz
