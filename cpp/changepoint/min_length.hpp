// Segments that are still shorter than the minimum length.
//
// The cost function that a change offers is stored until the segment is long enough. Then the data
// of the segment are added, and the function is compared with the current one. It is no longer
// constant, so the comparison needs the roots of a difference. These roots, and the memory for
// min_length stored functions, are the additional cost of a minimum length.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace rocpath {

// The sum over a fixed number of most recent observations. A queue of two stacks avoids
// subtractions: suffix sums of the older observations, and one running sum of the newer ones.
template <class Functions>
class LastObservations {
 public:
  using Data = typename Functions::Data;

  explicit LastObservations(std::size_t size) : recent_(size) {}

  void add(Functions& functions, const Data& observation) {
    recent_[n_added_ % recent_.size()] = observation;
    functions.merge(newer_, observation);
    if (++n_added_ % recent_.size() != 0) return;
    // A round is complete: replace each observation by the sum from it to the last one.
    for (std::size_t k = recent_.size() - 1; k-- > 0;) {
      functions.merge(recent_[k], recent_[k + 1]);
    }
    newer_ = {};
  }

  Data sum(Functions& functions) const {
    const std::size_t k = n_added_ % recent_.size();
    Data sum = recent_[k];
    if (k > 0) functions.merge(sum, newer_);
    return sum;
  }

 private:
  // Sums of the previous round from index n_added % size on, and observations of this round before
  // it.
  std::vector<Data> recent_;
  Data newer_;
  std::size_t n_added_ = 0;
};

template <class Functions>
class YoungSegments {
 public:
  using Function = typename Functions::Function;
  using Data = typename Functions::Data;

  YoungSegments(std::size_t min_length, std::size_t n_states)
      : min_length_(min_length), last_observations_(min_length) {
    for (auto& layer : offers_) layer.assign(n_states, std::vector<Function>(min_length));
  }

  // The function offered at `position` or, until it is replaced, min_length positions before.
  Function& at(std::size_t layer, std::size_t state, std::size_t position) {
    return offers_[layer][state][position % min_length_];
  }

  void add(Functions& functions, const Data& observation) {
    last_observations_.add(functions, observation);
  }

  Data last_observations(Functions& functions) const { return last_observations_.sum(functions); }

  template <class Act>
  void for_each(Act&& act) {
    for (auto& layer : offers_)
      for (auto& state : layer)
        for (Function& offer : state) act(offer);
  }

  void drop_first_layer() {
    offers_[0].swap(offers_[1]);
    for (auto& state : offers_[1])
      for (Function& offer : state) offer.clear();
  }

 private:
  std::size_t min_length_;
  LastObservations<Functions> last_observations_;
  std::array<std::vector<std::vector<Function>>, 2> offers_;  // by layer, state and position
};

}  // namespace rocpath
