// Segments that are still shorter than the shortest length allowed.
//
// What a change offers waits until the segment is long enough, and then competes with the data of
// the segment so far added. It is no constant by then, which is all the pruning that a shortest
// length costs: comparisons need roots of a difference, and min_length functions wait.
#pragma once

#include "cost_function.hpp"

namespace rocpath {

// The sum of the last observations, as many as there is room for. Two stacks make a queue whose sum
// is never found by taking away: sums over the older half end at its newest, and one running sum
// holds the rest.
template <class Cost>
class LastObservations {
 public:
  explicit LastObservations(std::size_t size) : recent_(size) {}

  void add(const CostPiece& observation) {
    recent_[n_added_ % recent_.size()] = observation;
    Cost::merge(newer_, observation);
    if (++n_added_ % recent_.size() != 0) return;
    // All of a round is here: sums from each of its observations to the last.
    for (std::size_t k = recent_.size() - 1; k-- > 0;) {
      CostPiece sum = recent_[k];
      Cost::merge(sum, recent_[k + 1]);
      recent_[k] = sum;
    }
    newer_ = {};
  }

  CostPiece sum() const {
    const std::size_t k = n_added_ % recent_.size();
    if (k == 0) return recent_[0];
    CostPiece sum = recent_[k];
    Cost::merge(sum, newer_);
    return sum;
  }

 private:
  // From n_added % size on: sums of the round before; before that, the observations of this one.
  std::vector<CostPiece> recent_;
  CostPiece newer_;
  std::size_t n_added_ = 0;
};

template <class Cost>
class YoungSegments {
 public:
  YoungSegments(std::size_t min_length, std::size_t n_states)
      : min_length_(min_length), last_observations_(min_length) {
    for (auto& layer : offers_) layer.assign(n_states, std::vector<CostFunction>(min_length));
  }

  // What was offered at `position`, or min_length before it.
  CostFunction& at(std::size_t layer, std::size_t state, std::size_t position) {
    return offers_[layer][state][position % min_length_];
  }

  void add(const CostPiece& observation) { last_observations_.add(observation); }

  CostPiece last_observations() const { return last_observations_.sum(); }

  template <class Act>
  void for_each(Act&& act) {
    for (auto& layer : offers_)
      for (auto& state : layer)
        for (CostFunction& offer : state) act(offer);
  }

  void drop_first_layer() {
    offers_[0].swap(offers_[1]);
    for (auto& state : offers_[1])
      for (CostFunction& offer : state) offer.clear();
  }

 private:
  std::size_t min_length_;
  LastObservations<Cost> last_observations_;
  std::array<std::vector<std::vector<CostFunction>>, 2> offers_;  // by layer, state and position
};

}  // namespace rocpath
