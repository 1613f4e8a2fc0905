// Python bindings of proofs of a largest AUC.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "python/bindings.hpp"
#include "verify/find_proof.hpp"

namespace rocpath::python {
namespace {

using Counts = Array<std::int64_t>;

rocpath::verify::ProofLines proof_lines(const Array<double>& intercept, const Array<double>& slope,
                                        const Counts& fp, const Counts& tp, std::int64_t right,
                                        std::int64_t bottom) {
  const auto list = [](const auto& array) {
    return std::vector(array.data(), array.data() + array.size());
  };
  return {list(intercept), list(slope), list(fp), list(tp), right, bottom};
}

Array<double> prove_auc(const Array<double>& intercept, const Array<double>& slope,
                        const Counts& fp, const Counts& tp, std::int64_t right, std::int64_t bottom,
                        double witness, double bound, bool is_tight, double low, double high) {
  const auto lines = proof_lines(intercept, slope, fp, tp, right, bottom);
  return to_array(released([&] {
    const rocpath::verify::AUCClaim claim(lines, witness, bound, is_tight);
    return rocpath::verify::ProofSearch(lines, claim).run(low, high, SignalCheck());
  }));
}

std::optional<std::size_t> first_gap(const Array<double>& intercept, const Array<double>& slope,
                                     const Counts& fp, const Counts& tp, std::int64_t right,
                                     std::int64_t bottom, double witness, double bound,
                                     bool is_tight, const Array<double>& steps) {
  const auto lines = proof_lines(intercept, slope, fp, tp, right, bottom);
  return released([&] {
    const rocpath::verify::AUCClaim claim(lines, witness, bound, is_tight);
    return rocpath::verify::first_gap(lines, claim, view(steps), SignalCheck());
  });
}

}  // namespace

void bind_verify(nb::module_& m) {
  m.def("prove_auc", &prove_auc, "intercept"_a.noconvert(), "slope"_a.noconvert(),
        "fp"_a.noconvert(), "tp"_a.noconvert(), "right"_a, "bottom"_a, "witness"_a, "bound"_a,
        "is_tight"_a, "low"_a, "high"_a,
        "Steps that prove that no step has a larger AUC than the bound.");
  m.def("first_gap", &first_gap, "intercept"_a.noconvert(), "slope"_a.noconvert(),
        "fp"_a.noconvert(), "tp"_a.noconvert(), "right"_a, "bottom"_a, "witness"_a, "bound"_a,
        "is_tight"_a, "steps"_a.noconvert(),
        "Index of the first window of steps that is not proved, or None.");
}

}  // namespace rocpath::python
