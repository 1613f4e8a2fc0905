// The interface of a search for segmentations: settings, data and results.
#pragma once

#include <span>
#include <vector>

#include "changepoint/change_tree.hpp"
#include "changepoint/costs/cost_pieces.hpp"
#include "changepoint/label_rules.hpp"
#include "numerics/interrupt.hpp"

namespace rocpath {

// Rows of one or several columns, and the weight of each.
struct Observations {
  std::span<const double> x;
  std::span<const double> weight;

  std::size_t size() const { return weight.size(); }
};

struct SegmentSettings {
  Range means;  // range of all data; low < high
  bool has_penalty;
  double penalty;           // penalty of a change, if has_penalty
  std::size_t max_changes;  // maximum number of changes, if not has_penalty
  std::size_t min_length;   // minimum segment length, at least 1
  std::vector<LabelRegion> regions;
  double threshold = 1.0;              // threshold of robust costs
  std::vector<double> floor = {1e-6};  // smallest variance of each column
};

// A search whose data arrive in chunks.
class Segmenter {
 public:
  virtual ~Segmenter() = default;
  // Requires: positive weights, x within the means. `check` is called regularly.
  virtual void push(const Observations& data, const Interrupt& check) = 0;
  // The changes of the best models: one for a penalty, otherwise one for each number of changes.
  virtual Changes finish() = 0;
};

}  // namespace rocpath
