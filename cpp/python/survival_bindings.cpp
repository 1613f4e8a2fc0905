// Python bindings of the computations on censored times.
#include "python/bindings.hpp"
#include "survival/concordance.hpp"

namespace rocpath::python {
namespace {

nb::dict concordance(const Array<double>& time, const Array<bool>& has_event,
                     const Array<double>& weight, const Array<double>& event_weight,
                     const Array<std::int64_t>& stratum, const Array<double>& score) {
  rocpath::RowPairs pairs = released([&] {
    return rocpath::concordance(
        {view(time), view(has_event), view(weight), view(event_weight), view(stratum)},
        view(score));
  });
  nb::dict columns;
  columns["concordant"] = to_array(std::move(pairs.concordant));
  columns["comparable"] = to_array(std::move(pairs.comparable));
  columns["early_concordant"] = to_array(std::move(pairs.early_concordant));
  columns["early_comparable"] = to_array(std::move(pairs.early_comparable));
  return columns;
}

}  // namespace

void bind_survival(nb::module_& m) {
  m.def("concordance", &concordance, "time"_a.noconvert(), "has_event"_a.noconvert(),
        "weight"_a.noconvert(), "event_weight"_a.noconvert(), "stratum"_a.noconvert(),
        "score"_a.noconvert(),
        "Weights of the concordant and of all comparable pairs of each row.");
}

}  // namespace rocpath::python
