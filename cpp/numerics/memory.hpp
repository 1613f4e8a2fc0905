// Vectors for millions of elements, in huge pages and optionally without initialization.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace rocpath {

// An error that reports how much memory was requested.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::size_t bytes) {
    std::snprintf(message_, sizeof(message_), "%.3g GB of memory could not be allocated.",
                  static_cast<double>(bytes) / 1e9);
  }
  const char* what() const noexcept override { return message_; }

 private:
  char message_[64];  // a std::string would need memory
};

// An allocator that requests huge pages, as NumPy does for its arrays. With pages of 4 KiB,
// obtaining new memory from the system takes as long as the computation itself.
template <class T>
struct HugePages {
  using value_type = T;

  HugePages() = default;
  template <class U>
  HugePages(const HugePages<U>&) {}  // NOLINT: allocators are convertible

  T* allocate(std::size_t n) {
    std::size_t bytes = std::max<std::size_t>(n * sizeof(T), 1);
#ifdef MADV_HUGEPAGE
    constexpr std::size_t huge_page = std::size_t{1} << 21;
    const bool is_large = bytes >= huge_page;
    if (is_large) bytes = (bytes + huge_page - 1) / huge_page * huge_page;
    void* memory = is_large ? std::aligned_alloc(huge_page, bytes) : std::malloc(bytes);
    if (memory != nullptr && is_large) madvise(memory, bytes, MADV_HUGEPAGE);
#else
    void* memory = std::malloc(bytes);
#endif
    if (memory == nullptr) throw OutOfMemory(bytes);
    return static_cast<T*>(memory);
  }

  void deallocate(T* memory, std::size_t) { std::free(memory); }

  friend bool operator==(const HugePages&, const HugePages&) { return true; }
};

template <class T>
using Vector = std::vector<T, HugePages<T>>;

// An allocator that does not initialize new elements, for vectors whose elements are all written
// once. Setting them to zero first would take another pass over the memory.
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
