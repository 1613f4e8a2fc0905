// Run searches on several threads at once, to find data races with ThreadSanitizer. There are so
// many lines that every search starts a thread too. The results of all callers must equal those of
// one that may not start a thread.
#include <cstdio>
#include <thread>

#include "core_under_test.hpp"
#include "families.hpp"

namespace {

fuzz::Problem drawn_problem(std::uint64_t seed, std::size_t n) {
  fuzz::Random random(seed);
  fuzz::Problem problem;
  while (problem.size() < n) fuzz::detail::add_grid_line(problem, random, 1 << 20);
  fuzz::detail::count_jumps(problem, random);
  return problem;
}

struct Answers {
  double best_aum, best_auc, path_sum;

  friend bool operator==(const Answers&, const Answers&) = default;
};

Answers answers(const fuzz::CoreUnderTest& core) {
  const double infinity = std::numeric_limits<double>::infinity();
  Answers found{core.best_aum_step(infinity).value, core.best_auc_step(0.0, infinity, 0.0).value,
                0.0};
  fuzz::SweepLimits limits;
  limits.max_crossings = 20'000;
  for (const fuzz::Row& row : core.sweep(limits).row) found.path_sum += row.aum + row.auc;
  for (const fuzz::Kink& kink : core.aum_path(infinity)) found.path_sum += kink.step;
  return found;
}

}  // namespace

int main() {
  std::size_t n_wrong = 0;
  for (const std::size_t n : {600U, 3000U, 250'000U}) {
    const fuzz::CoreUnderTest core(drawn_problem(n, n));
    const auto search = [&] {
      return n < 100'000 ? answers(core) : Answers{core.best_aum_step(4.0).value, 0.0, 0.0};
    };
    rocpath::set_thread_limit(1);
    const Answers expected = search();
    rocpath::set_thread_limit(4);
    std::vector<Answers> found(4);
    std::vector<std::thread> callers;
    for (Answers& one : found)
      callers.emplace_back([&] {
        rocpath::set_thread_limit(4);
        one = search();
      });
    for (std::thread& caller : callers) caller.join();
    for (const Answers& one : found) n_wrong += !(one == expected);
  }
  std::printf("%zu results differ\n", n_wrong);
  return n_wrong == 0 ? 0 : 1;
}
