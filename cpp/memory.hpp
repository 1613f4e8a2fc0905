// Vectors for millions of elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace rocpath {

// Asks for huge pages, as numpy does for its arrays: fetching fresh memory from the system 4 KiB
// at a time costs as much as the work done on it.
template <class T>
struct HugePages {
  using value_type = T;

  HugePages() = default;
  template <class U>
  HugePages(const HugePages<U>&) {}  // NOLINT: allocators convert

  T* allocate(std::size_t n) {
    constexpr std::size_t huge_page = std::size_t{1} << 21;
    const bool is_large = n * sizeof(T) >= huge_page;
    const std::size_t bytes = is_large ? (n * sizeof(T) + huge_page - 1) / huge_page * huge_page
                                       : std::max<std::size_t>(n * sizeof(T), 1);
    void* memory = is_large ? std::aligned_alloc(huge_page, bytes) : std::malloc(bytes);
    if (memory == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (is_large) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(memory);
  }

  void deallocate(T* memory, std::size_t) { std::free(memory); }

  friend bool operator==(const HugePages&, const HugePages&) { return true; }
};

template <class T>
using Vector = std::vector<T, HugePages<T>>;

// Leaves new elements as they are, for what is written once, from end to end: zeros first would go
// over all of the memory once more.
template <class T>
struct Unfilled : HugePages<T> {
  template <class U>
  struct rebind {
    using other = Unfilled<U>;
  };

  template <class U>
  void construct(U* element) noexcept {
    ::new (static_cast<void*>(element)) U;
  }
};

template <class T>
using UnfilledVector = std::vector<T, Unfilled<T>>;

}  // namespace rocpath
