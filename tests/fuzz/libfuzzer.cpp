// Target for libFuzzer: interpret arbitrary bytes as lines or a sequence, and check that all calls
// terminate without undefined behavior.
//
// Only properties that need no expected values are checked: order of steps, finite numbers, bounds.
#include <array>
#include <changepoint/segment_models.hpp>
#include <cstdio>
#include <cstring>

#include "core_under_test.hpp"

namespace {

class Bytes {
 public:
  Bytes(const std::uint8_t* first, std::size_t size) : next_(first), left_(size) {}

  bool is_empty() const { return left_ == 0; }
  template <class T>
  T take() {
    T value{};
    const std::size_t size = std::min(sizeof(T), left_);
    std::memcpy(&value, next_, size);
    next_ += size;
    left_ -= size;
    return value;
  }
  double finite_number() {
    const double any = take<double>();
    return std::isfinite(any) ? any : 1.0;
  }
  // A coordinate of a line: an arbitrary float64 below 1e200, the limit of the package, or a small
  // number, so that ties occur too.
  double coordinate(bool is_any) {
    const double any = is_any ? take<double>() : static_cast<double>(take<std::int8_t>()) / 8.0;
    return std::fabs(any) < 1e200 ? any : 1.0;
  }

 private:
  const std::uint8_t* next_;
  std::size_t left_;
};

void require(bool is_true, const char* what, const fuzz::Problem& problem) {
  if (is_true) return;
  std::printf("FAILED: %s\n  lines = %s\n", what, fuzz::as_python(problem).c_str());
  std::fflush(stdout);
  __builtin_trap();
}

fuzz::Problem lines_from(Bytes& bytes, std::uint8_t kind) {
  fuzz::Problem problem;
  double fp_sum = 0.0, tp_sum = 0.0;
  while (!bytes.is_empty() && problem.size() < 200) {
    problem.example.push_back(static_cast<std::int64_t>(problem.size()));
    problem.intercept.push_back(bytes.coordinate((kind & 1) != 0));
    problem.slope.push_back(bytes.coordinate((kind & 2) != 0));
    const auto jumps = bytes.take<std::uint8_t>();
    const double unit = (kind & 4) != 0 ? 0.1 : 1.0;
    const bool has_signs = (kind & 8) != 0;
    const double fp = has_signs ? (jumps & 15) - 5.0 : jumps & 3;
    const double tp = has_signs ? (jumps >> 4) - 5.0 : jumps >> 6;
    problem.fp_diff.push_back(fp * unit);
    problem.fn_diff.push_back(-tp * unit);
    fp_sum += fp;
    tp_sum += tp;
  }
  if (!problem.fp_diff.empty()) {  // both totals must be positive
    problem.fp_diff.front() += std::max(0.0, 1.0 - fp_sum);
    problem.fn_diff.back() -= std::max(0.0, 1.0 - tp_sum);
  }
  return problem;
}

template <class Rows>
void require_increasing_steps(const Rows& rows, const fuzz::Problem& problem) {
  for (std::size_t k = 1; k < rows.size(); ++k)
    require(rows[k - 1].step < rows[k].step, "steps increase", problem);
}

void search(Bytes bytes, std::uint8_t kind) {
  const double max_step =
      (kind & 16) != 0 ? std::fabs(bytes.finite_number()) : std::numeric_limits<double>::infinity();
  const fuzz::Problem problem = lines_from(bytes, kind);
  if (problem.size() == 0) return;
  const fuzz::CoreUnderTest core(problem);
  fuzz::SweepLimits limits;
  limits.max_step = max_step;
  require_increasing_steps(core.sweep(limits).row, problem);
  require_increasing_steps(core.aum_path(max_step), problem);
  core.best_aum_step(max_step);
  const double tolerance = (kind & 64) != 0 ? 0.125 : 0.0;
  const fuzz::Best best =
      core.best_auc_step((kind & 32) != 0 ? -max_step : 0.0, max_step, tolerance);
  require(std::isfinite(best.step) && best.low <= best.step && best.step <= best.high,
          "the best AUC step is finite and in its interval", problem);
  require(best.value <= best.bound, "the best AUC is not above its bound", problem);
  fuzz::CoreUnderTest::aum(problem);
  fuzz::CoreUnderTest::auc(problem);
  fuzz::CoreUnderTest::aum_derivatives(problem);
}

// The package passes sequences with absolute values of at most 1, and positive weights.
void segment(Bytes bytes, std::uint8_t kind) {
  const double penalty = std::fabs(bytes.finite_number());
  const std::array<const char*, 5> costs{"normal", "poisson", "exponential", "binomial",
                                         "variance"};
  const std::size_t cost = (kind & 1) != 0 ? 1 + (kind >> 5) % 4 : 0;
  std::vector<double> x, weight;
  while (!bytes.is_empty() && x.size() < 200) {
    const double value = static_cast<double>(bytes.take<std::int8_t>()) / 128.0;
    x.push_back(cost == 0 ? value : std::fabs(value));
    if (cost == 2 || cost == 4) x.back() = std::max(x.back(), 1e-100);
    weight.push_back((kind & 2) != 0 ? 1.0 + static_cast<double>(bytes.take<std::uint8_t>()) : 1.0);
  }
  if (x.empty()) return;
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  const auto n = static_cast<std::int32_t>(x.size());
  const bool is_up_down = (kind & 4) != 0;
  rocpath::SegmentSettings settings{{*low, *low < *high ? *high : *low + 1.0}, true, penalty,
                                    std::min<std::size_t>(x.size() - 1, 8),    1,    {}};
  if ((kind & 8) != 0) settings.min_length = std::min<std::size_t>(x.size(), 3);
  // The first half of each third of the sequence has a label.
  if ((kind & 16) != 0)
    for (std::int32_t first = 1; first < n; first += n / 3 + 1)
      settings.regions.push_back(
          {first, std::min(n - 1, first + n / 6),
           static_cast<rocpath::LabelKind>(std::abs(first + n) % (is_up_down ? 7 : 3))});
  for (const bool has_penalty : {true, false}) {
    settings.has_penalty = has_penalty;
    const auto search = rocpath::make_segmenter(costs[cost], is_up_down, settings);
    search->push({x, weight}, [] {});
    search->finish();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const auto kind = bytes.take<std::uint8_t>();
  if ((kind & 128) != 0)
    segment(bytes, kind);
  else
    search(bytes, kind);
  return 0;
}
