// The random number generator of the searches. It affects their running time, not their results.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rocpath {

// A linear congruential generator (Knuth's MMIX constants), whose high bits are random enough to
// draw samples. The same seed draws the same numbers on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // A random integer below `size`. Requires: size < 2^32.
  std::size_t below(std::size_t size) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>((state_ >> 32) % size);
  }

 private:
  std::uint64_t state_;
};

}  // namespace rocpath
