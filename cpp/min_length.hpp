// Segments that are still shorter than the minimum length.
//
// What a change offers is stored until the segment is long enough; then the data of the segment are
// added and it is compared with the function. It is no longer a constant, so comparisons need the
// roots of a difference; that and the min_length functions that wait are the cost of a minimum
// length.
#pragma once

#include "cost_function.hpp"

namespace rocpath {

// The sum of a fixed number of last observations. A queue made of two stacks, so that nothing is
// ever subtracted: suffix sums of the older observations, and one running sum of the newer ones.
template <class Cost>
class LastObservations {
 public:
  explicit LastObservations(std::size_t size) : recent_(size) {}

  void add(const CostPiece& observation) {
    recent_[n_added_ % recent_.size()] = observation;
    Cost::merge(newer_, observation);
    if (++n_added_ % recent_.size() != 0) return;
    // A round is complete: replace each observation by the sum from it to the last one.
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
  // From n_added % size on, sums of the previous round; before that, observations of this one.
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
