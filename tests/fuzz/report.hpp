// Count passed and failed problems, and print failures with the options that reproduce them.
#pragma once

#include <cstdio>
#include <functional>
#include <map>

#include "problem.hpp"

namespace fuzz {

// A function that formats the checked call. It is called only for failures.
using CallText = std::function<std::string()>;

class Report {
 public:
  explicit Report(std::uint64_t n_shown) : n_shown_(n_shown) {}

  void begin(const Problem& problem) {
    problem_ = &problem;
    has_failed_ = false;
  }

  // `call` is the Python call that reproduces the failure, with an argument `lines`.
  void fail(const std::string& what, const std::string& call, const std::string& expected,
            const std::string& got) {
    has_failed_ = true;
    std::uint64_t& n_same = n_failures_[{std::string(problem_->family), what}];
    if (++n_same > n_shown_) return;
    std::printf("FAILED %s: %s\n", std::string(problem_->family).c_str(), what.c_str());
    std::printf("  options:  --family %s --seed %llu --problems 1\n",
                std::string(problem_->family).c_str(),
                static_cast<unsigned long long>(problem_->seed));
    std::printf("  lines = %s\n  call:     %s\n  expected: %s\n  got:      %s\n",
                as_python(*problem_).c_str(), call.c_str(), expected.c_str(), got.c_str());
    std::fflush(stdout);
  }

  // Count a problem that the package rejects.
  void skip() { ++n_rejected_; }

  void end() { ++(has_failed_ ? n_failed_ : n_passed_); }

  std::uint64_t n_problems() const { return n_passed_ + n_failed_ + n_rejected_; }
  std::uint64_t n_failed() const { return n_failed_; }

  void print_summary() const {
    for (const auto& [key, count] : n_failures_)
      std::printf("%10llu  %s: %s\n", static_cast<unsigned long long>(count), key.first.c_str(),
                  key.second.c_str());
    std::printf("%llu rejected as documented\n", static_cast<unsigned long long>(n_rejected_));
    std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(n_passed_),
                static_cast<unsigned long long>(n_failed_));
  }

 private:
  std::uint64_t n_shown_;
  const Problem* problem_ = nullptr;
  bool has_failed_ = false;
  std::uint64_t n_passed_ = 0, n_failed_ = 0, n_rejected_ = 0;
  std::map<std::pair<std::string, std::string>, std::uint64_t> n_failures_;
};

}  // namespace fuzz
