// Print hashes of the bits of the core's results, one per line. Every platform must print the same
// lines. The program needs only the standard library, so it compiles wherever the core does.
#include <bit>
#include <changepoint/segment_models.hpp>
#include <cstdio>

#include "core_under_test.hpp"
#include "families.hpp"

#ifdef __wasi__
// The C++ library of WASI has no exceptions. The core throws them only if memory is exhausted or
// the thread settings are invalid.
#include <cstdlib>
extern "C" {
void* __cxa_allocate_exception(std::size_t) { std::abort(); }
void __cxa_throw(void*, void*, void* (*)(void*)) { std::abort(); }
}
#endif

namespace {

using fuzz::Problem;
using fuzz::Random;

// FNV-1a of the bytes of 64-bit numbers, the lowest byte first.
class Digest {
 public:
  void add(std::uint64_t number) {
    for (int k = 0; k < 8; ++k) hash_ = (hash_ ^ (number >> (8 * k) & 0xff)) * 0x100000001b3;
  }
  // All NaNs have the same hash, because processors differ in the sign of a NaN.
  void add(double x) { add(x == x ? std::bit_cast<std::uint64_t>(x) : ~std::uint64_t{0}); }
  template <class... Numbers>
  void add_all(Numbers... numbers) {
    (add(numbers), ...);
  }
  void print(const char* call, const char* problem) const {
    std::printf("%-16s %-22s %016llx\n", call, problem, static_cast<unsigned long long>(hash_));
    std::fflush(stdout);
  }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

void add(Digest& digest, const fuzz::Best& best) {
  digest.add_all(best.step, best.low, best.high, best.value, best.bound);
}

void add(Digest& digest, const fuzz::Sweep& sweep) {
  for (const fuzz::Row& row : sweep.row)
    digest.add_all(row.step, row.aum, row.aum_slope_after, row.auc, row.auc_after, row.n_groups,
                   row.n_swaps, row.queue_size);
  digest.add(sweep.end);
}

void add_values(Digest& digest, const Problem& problem) {
  digest.add(fuzz::CoreUnderTest::aum(problem));
  digest.add(fuzz::CoreUnderTest::auc(problem));
  const fuzz::Derivatives both = fuzz::CoreUnderTest::aum_derivatives(problem);
  for (const auto* side : {&both.left, &both.right})
    for (const double x : *side) digest.add(x);
}

constexpr double infinity = std::numeric_limits<double>::infinity();

void print_family(const fuzz::Family& family, std::uint64_t n_problems) {
  Digest values, sweeps, paths, aum_steps, auc_steps, partial_steps;
  for (std::uint64_t seed = 1; seed <= n_problems; ++seed) {
    Random random(seed);
    const Problem problem = fuzz::make_problem(family, seed, random);
    const fuzz::CoreUnderTest core(problem);
    add_values(values, problem);
    for (const auto stop :
         {fuzz::StopRule::never, fuzz::StopRule::first_min_aum, fuzz::StopRule::first_max_auc}) {
      fuzz::SweepLimits limits;
      limits.stop = stop;
      add(sweeps, core.sweep(limits));
    }
    for (const fuzz::Kink& kink : core.aum_path(infinity))
      paths.add_all(kink.step, kink.aum, kink.aum_slope_after);
    add(aum_steps, core.best_aum_step(infinity));
    add(auc_steps, core.best_auc_step(0.0, infinity, 0.0));
    add(auc_steps, core.best_auc_step(-infinity, infinity, 0.125));
    if (problem.is_monotone()) add(partial_steps, core.best_auc_step(0.0, infinity, 0.0, 0.25));
  }
  const std::string name(family.name);
  values.print("roc", name.c_str());
  sweeps.print("sweep", name.c_str());
  paths.print("aum_path", name.c_str());
  aum_steps.print("best_aum_step", name.c_str());
  auc_steps.print("best_auc_step", name.c_str());
  partial_steps.print("partial", name.c_str());
}

// The sum of four uniform numbers, which is exact, whereas functions of the C library differ in the
// last bit.
double bell(Random& random) {
  double sum = 0.0;
  for (int k = 0; k < 4; ++k) sum += std::ldexp(static_cast<double>(random.next() >> 12), -52);
  return sum - 2.0;
}

// One label in ten is positive. Predictions of positives are larger on average, and increase with
// the step.
Problem labeled_lines(std::size_t n) {
  Random random(n);
  Problem problem;
  for (std::size_t k = 0; k < n; ++k) {
    const double label = k % 10 == 0 ? 1.0 : 0.0;
    const double intercept = bell(random) - 0.5 * label;
    fuzz::detail::add_line(problem, intercept, bell(random) - 0.25 * label);
    problem.fp_diff.push_back(1.0 - label);
    problem.fn_diff.push_back(-label);
  }
  return problem;
}

void print_lines(std::size_t n) {
  const Problem problem = labeled_lines(n);
  const fuzz::CoreUnderTest core(problem);
  const std::string name = std::to_string(n) + " lines";
  Digest values, aum_steps;
  add_values(values, problem);
  values.print("roc", name.c_str());
  add(aum_steps, core.best_aum_step(infinity));
  aum_steps.print("best_aum_step", name.c_str());
  if (n > 60'000) return;  // the searches below would take seconds, or minutes in an emulator
  Digest paths, auc_steps, partial_steps;
  for (const fuzz::Kink& kink : core.aum_path(infinity))
    paths.add_all(kink.step, kink.aum, kink.aum_slope_after);
  paths.print("aum_path", name.c_str());
  add(auc_steps, core.best_auc_step(0.0, infinity, 0.0));
  auc_steps.print("best_auc_step", name.c_str());
  if (n > 6'000) return;
  add(partial_steps, core.best_auc_step(0.0, infinity, 0.0, 0.25));
  partial_steps.print("partial", name.c_str());
  Digest sweeps;
  fuzz::SweepLimits limits;
  limits.max_crossings = 100'000;
  add(sweeps, core.sweep(limits));
  sweeps.print("sweep", name.c_str());
}

// Segments of 100 numbers with different levels; counts for the Poisson cost, and numbers between 0
// and 1 for the other exponential families.
void print_segmentations(std::string_view cost, bool uses_time, bool is_up_down) {
  Random random(7);
  const std::size_t n = 3000;
  const bool is_ratio = cost == "exponential" || cost == "binomial" || cost == "variance";
  const bool is_count = cost == "poisson" || is_ratio;
  std::vector<double> x(n), weight(n, 1.0);
  double level = 4.0;
  for (std::size_t k = 0; k < n; ++k) {
    if (k % 100 == 0) level = static_cast<double>(random.from(2, 12));
    x[k] = is_count ? static_cast<double>(random.from(0, static_cast<std::int64_t>(2 * level)))
                    : level + bell(random);
    if (is_ratio) x[k] = (x[k] + 1) / 32;
  }
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  // An observation of a cost that uses times has two entries.
  std::vector<double> entries;
  for (std::size_t k = 0; k < n; ++k) {
    entries.push_back(x[k]);
    if (uses_time) entries.push_back(static_cast<double>(k));
  }
  Digest digest;
  for (const bool has_penalty : {true, false}) {
    const rocpath::SegmentSettings settings{{*low, *high}, has_penalty, 5.0, 20, 1, {}};
    const auto search = rocpath::make_segmenter(cost, is_up_down, settings);
    search->push({entries, weight}, [] {});
    const rocpath::Changes changes = search->finish();
    for (const auto position : changes.position) digest.add(static_cast<std::uint64_t>(position));
    for (const auto tied : changes.is_tied) digest.add(static_cast<std::uint64_t>(tied));
    const auto fitter =
        rocpath::make_fitter(cost, settings, changes.position, changes.is_tied, changes.n_changes);
    fitter->push({entries, weight});
    for (const double mean : fitter->finish().mean) digest.add(mean);
  }
  const std::string name = std::string(cost) + (is_up_down ? " up_down" : "");
  digest.print("segment", name.c_str());
}

}  // namespace

int main() {
  for (const fuzz::Family& family : fuzz::families) print_family(family, 1000);
  for (const std::size_t n : {600, 6'000, 60'000, 600'000, 2'000'000}) print_lines(n);
  rocpath::for_each_cost([](auto cost) {
    const auto& properties = cost.properties;
    print_segmentations(properties.name, properties.uses_time, false);
    if constexpr (requires { cost.reports_base; })
      print_segmentations(properties.name, properties.uses_time, true);
  });
}
