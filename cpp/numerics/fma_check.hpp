// A test of std::fma, on which the exact arithmetic of the core depends. On processors without an
// FMA instruction, the C library computes it, and not every library does so correctly: that of
// MinGW rounds the product to 64 bits first.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "numerics/random.hpp"

namespace rocpath {

// The number of products, out of n products of random 53-bit integers, for which std::fma returns a
// wrong rounding error.
inline std::int64_t n_wrong_fma(std::int64_t n) {
  std::int64_t n_wrong = 0;
  Random random(0);
  const auto draw = [&] {
    constexpr std::size_t half = std::size_t{1} << 26;
    const std::size_t high = half + random.below(half);
    return static_cast<std::int64_t>(high * half + random.below(half));
  };
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t a = draw();
    const std::int64_t b = draw();
    // `volatile` keeps the compiler from computing the answer itself.
    const volatile double x = static_cast<double>(a);
    const volatile double y = static_cast<double>(b);
    const double product = x * y;
    const auto error =
        static_cast<double>(static_cast<__int128>(a) * b - static_cast<__int128>(product));
    if (std::fma(x, y, -product) != error) ++n_wrong;
  }
  return n_wrong;
}

}  // namespace rocpath
