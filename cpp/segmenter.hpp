// What a search for segmentations is told, is given and gives.
#pragma once

#include <span>
#include <vector>

#include "change_tree.hpp"
#include "cost_pieces.hpp"
#include "interrupt.hpp"
#include "label_rules.hpp"

namespace rocpath {

struct Observations {
  std::span<const double> x;
  std::span<const double> weight;

  std::size_t size() const { return x.size(); }
};

struct SegmentSettings {
  Range means;  // of all data; not a single point
  bool has_penalty;
  double penalty;           // of a change, if there is one
  std::size_t max_changes;  // otherwise
  std::size_t min_length;   // at least 1
  std::vector<LabelRegion> regions;
};

// A search that is given the data piece by piece.
class Segmenter {
 public:
  virtual ~Segmenter() = default;
  // Requires: positive weights, x within the means. `check` is called now and then.
  virtual void push(const Observations& data, const Interrupt& check) = 0;
  // The changes of the best models: one for a penalty, otherwise one for each number of changes.
  virtual Changes finish() = 0;
};

}  // namespace rocpath
