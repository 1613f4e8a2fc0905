// Compare the core with brute force in exact arithmetic, on small problems with many ties.
#include <cerrno>
#include <csignal>
#include <cstdlib>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#define ROCPATH_HAS_ALARM
#include <unistd.h>
#endif

#include <chrono>
#include <cstring>
#include <ctime>
#include <optional>

#include "checks.hpp"

namespace {

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t n_problems = std::numeric_limits<std::uint64_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
  std::string family;  // empty for all
  std::uint64_t n_shown = 2;
};

constexpr const char* usage =
    "usage: fuzz [--seed N] [--problems N] [--seconds S] [--family NAME] [--show N]\n"
    "Without --problems or --seconds it runs for ten seconds. Families:";

[[noreturn]] void explain(const std::string& fault) {
  std::fprintf(stderr, "%s\n%s", fault.c_str(), usage);
  for (const fuzz::Family& family : fuzz::families)
    std::fprintf(stderr, " %s", std::string(family.name).c_str());
  std::fprintf(stderr, "\n");
  std::exit(2);
}

// An integer from 0 to 2^64 - 1. Without the check of errno, larger numbers would become the
// largest one.
std::uint64_t whole_number(const std::string& name, const char* value) {
  char* end = nullptr;
  errno = 0;
  const std::uint64_t number = std::strtoull(value, &end, 10);
  const bool is_valid = *value >= '0' && *value <= '9' && *end == '\0' && errno == 0;
  if (!is_valid) explain(name + " must be an integer from 0 to 2^64 - 1, got " + value + ".");
  return number;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int k = 1; k < argc; k += 2) {
    const std::string name = argv[k];
    if (k + 1 == argc) explain(name == "--help" ? "" : name + " needs a value.");
    const char* value = argv[k + 1];
    if (name == "--seed")
      options.seed = whole_number(name, value);
    else if (name == "--problems")
      options.n_problems = whole_number(name, value);
    else if (name == "--seconds")
      options.seconds = std::strtod(value, nullptr);
    else if (name == "--family")
      options.family = value;
    else if (name == "--show")
      options.n_shown = whole_number(name, value);
    else
      explain("unknown option " + name + ".");
  }
  const bool is_endless = std::isinf(options.seconds) && options.n_problems + 1 == 0;
  if (is_endless) options.seconds = 10.0;
  return options;
}

// The family with this name, or a random one if the name is empty.
const fuzz::Family& family_of(const std::string& name, fuzz::Random& random) {
  std::int64_t total = 0;
  for (const fuzz::Family& family : fuzz::families) total += family.share;
  std::int64_t place = random.from(0, total - 1);
  for (const fuzz::Family& family : fuzz::families) {
    if (name.empty() ? place < family.share : name == family.name) return family;
    place -= family.share;
  }
  explain("unknown family " + name + ".");
}

volatile std::uint64_t current_seed = 0;
volatile std::sig_atomic_t is_interrupted = 0;

#ifdef ROCPATH_HAS_ALARM
// Report a call that does not terminate, and exit.
void stop_hanging(int) {
  std::array<char, 96> message;
  const int length =
      std::snprintf(message.data(), message.size(),
                    "FAILED: timeout after one minute, at or after seed %llu\n0 passed, 1 failed\n",
                    static_cast<unsigned long long>(current_seed));
  if (write(STDOUT_FILENO, message.data(), static_cast<std::size_t>(length)) < 0) _exit(2);
  _exit(1);
}
#endif

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
#if defined(__GLIBC__)
  // The core allocates many small blocks at once, for which fast bins are slower.
  mallopt(M_MXFAST, 0);
#endif
  for (const int request : {SIGINT, SIGTERM}) std::signal(request, [](int) { is_interrupted = 1; });
#ifdef ROCPATH_HAS_ALARM
  signal(SIGALRM, stop_hanging);
#endif
  fuzz::Report report(options.n_shown);
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  for (std::uint64_t k = 0; k < options.n_problems && !is_interrupted; ++k) {
    if (k % 256 == 0) {
      if (elapsed() > options.seconds) break;
#ifdef ROCPATH_HAS_ALARM
      alarm(60);
#endif
    }
    const std::uint64_t seed = options.seed + k;
    current_seed = seed;
    fuzz::Random random(seed);
    const fuzz::Family& family = family_of(options.family, random);
    fuzz::check(fuzz::make_problem(family, seed, random), random, report);
  }
  // CPU time is used, so that other processes do not affect the result.
  const double minutes = static_cast<double>(std::clock()) / CLOCKS_PER_SEC / 60.0;
  std::printf("seed %llu, %.2f million problems per minute of CPU time\n",
              static_cast<unsigned long long>(options.seed),
              static_cast<double>(report.n_problems()) / 1e6 / minutes);
  report.print_summary();
  return report.n_failed() == 0 ? 0 : 1;
}
