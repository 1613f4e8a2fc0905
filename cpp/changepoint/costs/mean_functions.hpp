// Operations of the search (segmentation.hpp) on cost functions of the last segment's mean.
#pragma once

#include <cstdint>

#include "changepoint/costs/cost_function.hpp"
#include "changepoint/settings.hpp"

namespace rocpath {

template <class Cost>
class MeanFunctions {
 public:
  using Function = CostFunction;
  using Data = CostPiece;

  explicit MeanFunctions(const SegmentSettings& settings) : means_(settings.means) {}

  Function start() const { return Function({{}, means_.low, means_.high, -1, true}); }

  static FunctionPiece constant(double value, double low, double high, std::int32_t node) {
    return {{.base = value}, low, high, node, true};
  }

  // A piece may have its minimum outside of its interval. There, another piece is at most as large,
  // so the smallest base is still the minimum of the function.
  static BestPiece best(const Function& function) {
    BestPiece best;
    for (const FunctionPiece& piece : function) best.improve(piece.cost.base, piece.node);
    return best;
  }

  static Data observation(double x, double weight) { return {0.0, weight, x, weight * x}; }
  static void merge(Data& data, const Data& more) { Cost::merge(data, more); }
  static void add(Function& function, const Data& data) {
    for (FunctionPiece& piece : function) Cost::merge(piece.cost, data);
  }
  void lower(Function& function, const Function& offer) { lowering_.lower(function, offer); }

 private:
  Range means_;
  Lowering<Cost> lowering_;
};

}  // namespace rocpath
