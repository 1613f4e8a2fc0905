// The changes of every piece of a cost function, as linked lists that share their first changes.
//
// A piece refers to its last change, and every change to the one before. Changes that no piece can
// reach are removed regularly, so memory is proportional to the changes of the best models, not to
// the data. A new change takes amortized O(1).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "numerics/memory.hpp"

namespace rocpath {

// The changes of all models, concatenated; with a change at t, a segment begins at x[t]. `is_tied`
// marks changes at which the constraint makes the means on both sides equal. A model that does not
// exist has -1 changes.
struct Changes {
  Vector<std::int32_t> position;
  Vector<std::int32_t> is_tied;
  Vector<std::int64_t> n_changes;
};

class ChangeTree {
 public:
  std::int32_t make(std::int32_t position, std::int32_t before, bool is_tied) {
    nodes_.push_back({position, before, is_tied});
    return static_cast<std::int32_t>(nodes_.size() - 1);
  }

  bool is_full() const { return nodes_.size() >= limit_; }

  // Remove nodes that cannot be reached. `for_each_node(f)` must call f(node) for the last change
  // of every piece, by reference; it is called twice. A node is stored after its predecessors, so
  // one pass moves them all.
  template <class ForEachNode>
  void collect(ForEachNode&& for_each_node) {
    std::vector<std::int32_t> place(nodes_.size(), unreached);
    for_each_node([&](std::int32_t& last) {
      for (auto node = last; node >= 0 && place[node] == unreached; node = nodes_[node].before)
        place[node] = 0;
    });
    std::int32_t n_kept = 0;
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      if (place[k] == unreached) continue;
      Node node = nodes_[k];
      if (node.before >= 0) node.before = place[node.before];
      nodes_[n_kept] = node;
      place[k] = n_kept++;
    }
    nodes_.resize(n_kept);
    for_each_node([&](std::int32_t& last) {
      if (last >= 0) last = place[last];
    });
    limit_ = std::max(least_limit, 2 * nodes_.size());
  }

  void append_to(Changes& changes, std::int32_t node) const {
    const auto start = static_cast<std::ptrdiff_t>(changes.position.size());
    for (; node >= 0; node = nodes_[node].before) {
      changes.position.push_back(nodes_[node].position);
      changes.is_tied.push_back(nodes_[node].is_tied);
    }
    std::reverse(changes.position.begin() + start, changes.position.end());
    std::reverse(changes.is_tied.begin() + start, changes.is_tied.end());
    changes.n_changes.push_back(static_cast<std::int64_t>(changes.position.size()) - start);
  }

 private:
  struct Node {
    std::int32_t position;
    std::int32_t before;  // index of the previous change, or -1
    bool is_tied;
  };
  static constexpr std::int32_t unreached = -1;
  // Large enough that collecting takes negligible time, and small enough for the cache.
  static constexpr std::size_t least_limit = std::size_t{1} << 14;

  std::vector<Node> nodes_;
  std::size_t limit_ = least_limit;
};

}  // namespace rocpath
