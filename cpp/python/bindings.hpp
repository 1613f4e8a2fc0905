// Conversions for the Python bindings: arrays become spans, and results become read-only arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>

#include <chrono>
#include <memory>
#include <optional>

#include "aum/best_aum.hpp"
#include "roc/roc.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace rocpath::python {

template <class T>
using Array = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> view(const Array<T>& array) {
  return {array.data(), array.size()};
}

template <class T, class Memory>
Array<T> to_array(std::vector<T, Memory> values) {
  using Values = std::vector<T, Memory>;
  auto kept = std::make_unique<Values>(std::move(values));
  const T* first = kept->data();
  const std::size_t size = kept->size();
  nb::capsule owner(kept.release(), [](void* p) noexcept { delete static_cast<Values*>(p); });
  return Array<T>(first, {size}, owner);
}

// Checks for Ctrl-C a few times a second.
class SignalCheck {
 public:
  void operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(200);
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }

 private:
  std::chrono::steady_clock::time_point next_ =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
};

// Call a function of the core without the GIL, so that other Python threads can run.
template <class Function>
auto released(Function function) {
  const nb::gil_scoped_release release;
  return function();
}

// Breakpoints that keep their NumPy arrays alive; the core reads the arrays as spans.
struct Breakpoints {
  Array<double> value;
  Array<std::int64_t> example;
  Array<std::int64_t> fp;
  Array<std::int64_t> tp;
  double fp_unit;
  double tp_unit;
  double divisor;
  bool is_monotone;

  rocpath::BreakpointArrays arrays() const {
    return {view(value), view(example), view(fp), view(tp), fp_unit, tp_unit, divisor};
  }
};

// Lines that keep their NumPy arrays alive.
struct Lines {
  Array<double> intercept;
  Array<double> slope;
  Array<std::int64_t> fp;
  Array<std::int64_t> tp;
  double fp_unit;
  double tp_unit;
  double divisor;
  std::optional<double> measured = {};  // value of `largest`, if known

  rocpath::LineArrays arrays() const {
    return {view(intercept), view(slope), view(fp), view(tp), fp_unit, tp_unit, divisor};
  }
  rocpath::ErrorLines distinct() const { return rocpath::distinct_lines(arrays()); }
  // The largest absolute value of all intercepts and slopes.
  double largest() const {
    if (measured) return *measured;
    return std::max(rocpath::largest_size(view(intercept)), rocpath::largest_size(view(slope)));
  }
};

inline nb::dict to_dict(const BestAUM& best) {
  nb::dict result;
  result["step"] = best.step;
  result["interval"] = std::pair(best.interval.low, best.interval.high);
  result["value"] = best.value;
  return result;
}

// Defined in other files: bindings of the computations on partitions and on censored times, and of
// changepoint detection.
void bind_partitions(nb::module_& m);
void bind_survival(nb::module_& m);
void bind_changepoints(nb::module_& m);
void bind_verify(nb::module_& m);

}  // namespace rocpath::python
