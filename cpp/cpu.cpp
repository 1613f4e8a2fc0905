// The instructions that this processor has, queried before a core that needs them is loaded.
#include <nanobind/nanobind.h>

#include "fma_check.hpp"

namespace {

bool has_avx2_and_fma() {
#if defined(__x86_64__) || defined(_M_X64)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

}  // namespace

NB_MODULE(_cpu, m) {
  m.def("has_avx2_and_fma", &has_avx2_and_fma,
        "Whether the processor and the system can run the faster core.");
  // Compiled with the options of the base core, and so a test of what that calls.
  m.def("n_wrong_fma", &rocpath::n_wrong_fma,
        "How many of n random products std::fma gets wrong in the base core.");
}
