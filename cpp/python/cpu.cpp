// Query the instruction sets of this processor before a core that needs them is loaded.
#include <nanobind/nanobind.h>

#include "numerics/fma_check.hpp"

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
        "Whether the processor and the operating system support the core with AVX2 and FMA.");
  // This file is compiled with the options of the base core, so std::fma is the same function.
  m.def("n_wrong_fma", &rocpath::n_wrong_fma,
        "Number of errors of std::fma in the base core, out of n random products.");
}
