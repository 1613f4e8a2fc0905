// The order of float64 keys.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

#include "memory.hpp"

namespace rocpath {

// Memory for `sorted_order`, to be used again: fresh memory costs more than the sort.
struct SortBuffers {
  struct Item {
    std::uint32_t place;
    std::uint32_t index;
  };
  Vector<Item> items;
  Vector<Item> sorted;
};

// Permutation that sorts `key`, equal keys in input order. A radix sort on 33 bits of the place
// between the smallest and the largest key, which leaves little to do for a comparison sort: O(n)
// unless the keys crowd together. Requires: finite keys, or infinite ones but no NaN.
inline Vector<std::uint32_t> sorted_order(std::span<const double> key, SortBuffers& buffers,
                                          Vector<std::uint32_t> order = {}) {
  order.resize(key.size());
  constexpr std::size_t few = 400;  // counting by 3 * 2048 buckets would take longer
  if (key.size() < few) {
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return key[a] != key[b] ? key[a] < key[b] : a < b;
    });
    return order;
  }
  using Item = SortBuffers::Item;
  auto& [items, sorted] = buffers;
  constexpr unsigned bits = 11;
  constexpr std::size_t n_buckets = std::size_t{1} << bits;
  constexpr double n_places = 0x1p32;
  const auto [low, high] = std::minmax_element(key.begin(), key.end());
  const double scale = key.empty() ? 0.0 : 0.5 * n_places / (0.5 * *high - 0.5 * *low);
  const auto place = [&, smallest = key.empty() ? 0.0 : *low](double x) {
    const double moved = (0.5 * x - 0.5 * smallest) * (2.0 * scale);  // never decreases with x
    if (!(moved > 0.0)) return 0U;
    return moved < n_places ? static_cast<std::uint32_t>(moved) : ~0U;
  };
  std::array<std::array<std::uint32_t, n_buckets>, 3> histogram{};
  items.resize(key.size());
  for (std::size_t k = 0; k < key.size(); ++k) {
    items[k] = {place(key[k]), static_cast<std::uint32_t>(k)};
    for (unsigned pass = 0; pass < 3; ++pass)
      ++histogram[pass][(items[k].place >> (pass * bits)) & (n_buckets - 1)];
  }
  sorted.resize(key.size());
  for (unsigned pass = 0; pass < 3; ++pass) {
    auto& start = histogram[pass];
    std::exclusive_scan(start.begin(), start.end(), start.begin(), std::uint32_t{0});
    for (const Item& item : items)
      sorted[start[(item.place >> (pass * bits)) & (n_buckets - 1)]++] = item;
    items.swap(sorted);
  }
  std::transform(items.begin(), items.end(), order.begin(),
                 [](const Item& item) { return item.index; });
  for (std::size_t begin = 0, end = 1; begin < items.size(); begin = end++) {
    while (end < items.size() && items[end].place == items[begin].place) ++end;
    if (end - begin > 1)
      std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(begin),
                       order.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](std::uint32_t a, std::uint32_t b) { return key[a] < key[b]; });
  }
  return order;
}

inline Vector<std::uint32_t> sorted_order(std::span<const double> key) {
  SortBuffers buffers;
  return sorted_order(key, buffers);
}

}  // namespace rocpath
