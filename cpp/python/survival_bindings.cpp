// Python bindings of the computations on censored times.
#include "python/bindings.hpp"
#include "survival/concordance.hpp"

namespace rocpath::python {
namespace {

std::pair<Array<double>, Array<double>> concordance(const Array<double>& time,
                                                    const Array<bool>& has_event,
                                                    const Array<double>& weight,
                                                    const Array<double>& event_weight,
                                                    const Array<std::int64_t>& stratum,
                                                    const Array<double>& score) {
  rocpath::RowPairs pairs = released([&] {
    return rocpath::concordance(
        {view(time), view(has_event), view(weight), view(event_weight), view(stratum)},
        view(score));
  });
  return {to_array(std::move(pairs.concordant)), to_array(std::move(pairs.comparable))};
}

}  // namespace

void bind_survival(nb::module_& m) {
  m.def("concordance", &concordance, "time"_a.noconvert(), "has_event"_a.noconvert(),
        "weight"_a.noconvert(), "event_weight"_a.noconvert(), "stratum"_a.noconvert(),
        "score"_a.noconvert(),
        "Weights of the concordant and of all comparable pairs that each row is part of.");
}

}  // namespace rocpath::python
