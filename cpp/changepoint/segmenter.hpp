// The interface of a search for segmentations.
#pragma once

#include "changepoint/change_tree.hpp"
#include "changepoint/settings.hpp"
#include "numerics/interrupt.hpp"

namespace rocpath {

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
