// Python bindings of the computations on partitions.
#include <nanobind/stl/tuple.h>

#include "aum/partitioned_lines.hpp"
#include "numerics/integer_units.hpp"
#include "numerics/row_sums.hpp"
#include "python/bindings.hpp"
#include "roc/score_pairs.hpp"

namespace rocpath::python {
namespace {

using python::to_dict;
using python::view;

// Lines inside a box and sums of the others, in the format that partitions send. The arrays of
// several partitions can be concatenated.
nb::dict to_dict(const rocpath::ErrorLines& inside) {
  const auto column = [&](auto of) {
    rocpath::Vector<decltype(of(inside.line[0]))> values(inside.size());
    std::transform(inside.line.begin(), inside.line.end(), values.begin(), of);
    return to_array(std::move(values));
  };
  const rocpath::AUMPiece& outside = inside.outside;
  const rocpath::DoubleDouble& intercepts = outside.intercept_sum.parts();
  const rocpath::DoubleDouble& slopes = outside.slope_sum.parts();
  nb::dict columns;
  columns["intercept"] = column([](const rocpath::ErrorLine& line) { return line.intercept; });
  columns["slope"] = column([](const rocpath::ErrorLine& line) { return line.slope; });
  columns["fp"] = column([](const rocpath::ErrorLine& line) { return line.fp; });
  columns["tp"] = column([](const rocpath::ErrorLine& line) { return line.tp; });
  columns["counts"] = to_array(rocpath::Vector<std::int64_t>{inside.total.fp, inside.total.tp,
                                                             inside.below.fp, inside.below.tp});
  columns["sums"] =
      to_array(rocpath::Vector<double>{intercepts.high, intercepts.low, slopes.high, slopes.low,
                                       outside.intercept_size(), outside.slope_size()});
  return columns;
}

// The inverse of `to_dict`. Units and divisor are those of `like`.
rocpath::ErrorLines from_dict(const nb::dict& columns, const Lines& like, double from) {
  const auto floats = [&](const char* name) { return nb::cast<Array<double>>(columns[name]); };
  const auto counts = [&](const char* name) {
    return nb::cast<Array<std::int64_t>>(columns[name]);
  };
  const Lines kept{floats("intercept"), floats("slope"), counts("fp"), counts("tp"),
                   like.fp_unit,        like.tp_unit,    like.divisor};
  rocpath::ErrorLines inside = rocpath::collapse(kept.arrays(), rocpath::Box{});
  inside.total = {};
  const Array<std::int64_t> count = counts("counts");
  for (std::size_t k = 0; k < count.size(); k += 4) {
    inside.total += {count.data()[k], count.data()[k + 1]};
    inside.below += {count.data()[k + 2], count.data()[k + 3]};
  }
  const Array<double> sum = floats("sums");
  for (std::size_t k = 0; k < sum.size(); k += 6) {
    const double* one = sum.data() + k;
    inside.outside.add(rocpath::AUMPiece({one[0], one[1]}, {one[2], one[3]}, one[4], one[5]));
  }
  inside.from = from;
  return inside;
}

nb::dict collapse_lines(const Lines& lines, double low, double high, double lowest,
                        double highest) {
  return to_dict(released(
      [&] { return rocpath::collapse_partition(lines.arrays(), {{low, high}, lowest, highest}); }));
}

nb::dict best_aum_step_of_partitions(
    const Lines& sample, std::size_t n_lines,
    const std::function<nb::dict(double, double, double, double)>& collapse_partitions,
    double max_step) {
  const auto collapse = [&](const rocpath::Box& box) {
    const nb::gil_scoped_acquire gil;
    return from_dict(collapse_partitions(box.steps.low, box.steps.high, box.lowest, box.highest),
                     sample, box.steps.low);
  };
  return to_dict(released([&] {
    const rocpath::PartitionedLines lines{n_lines, sample.arrays(), collapse};
    return rocpath::best_aum_step(lines, max_step, SignalCheck());
  }));
}

Array<std::int64_t> sampled_places(std::size_t n_lines) {
  rocpath::SampledLines sampled(n_lines);
  rocpath::Vector<std::int64_t> place(sampled.size());
  for (std::int64_t& one : place) one = static_cast<std::int64_t>(sampled.next());
  return to_array(std::move(place));
}

std::pair<double, double> level_bracket(const Lines& sample, std::size_t n_lines,
                                        double confidence) {
  const rocpath::Box box =
      released([&] { return rocpath::level_bracket(sample.arrays(), n_lines, confidence); });
  return {box.lowest, box.highest};
}

nb::dict level_inside(const nb::dict& inside, const Lines& like) {
  const rocpath::FoundLevel found = rocpath::level_inside(from_dict(inside, like, 0.0));
  const rocpath::Level& level = found.level;
  nb::dict result;
  result["is_inside"] = found.is_inside;
  result["threshold"] = level.threshold;
  result["counts"] = to_array(rocpath::Vector<std::int64_t>{level.before.fp, level.before.tp,
                                                            level.after.fp, level.after.tp});
  return result;
}

std::pair<double, Array<double>> at_level(const Breakpoints& bp, const Array<double>& prediction,
                                          double threshold, const Array<std::int64_t>& counts,
                                          std::int64_t total_tp) {
  const std::int64_t* count = counts.data();
  rocpath::AtLevel found = released([&] {
    const rocpath::Level level{threshold, {count[0], count[1]}, {count[2], count[3]}};
    return rocpath::at_level(bp.arrays(), view(prediction), level, total_tp);
  });
  return {found.aum, to_array(std::move(found.gradient))};
}

template <class Number>
using Matrix = nb::ndarray<const Number, nb::numpy, nb::ndim<2>, nb::device::cpu>;

template <class Number>
rocpath::MatrixView<Number> view(const Matrix<Number>& matrix) {
  return {matrix.data(), matrix.shape(0), matrix.shape(1), matrix.stride(0), matrix.stride(1)};
}

template <class Number>
Array<double> row_products(const Matrix<Number>& matrix, const Array<double>& coef) {
  return to_array(released([&] { return rocpath::row_products(view(matrix), view(coef)); }));
}

using TwoArrays = std::pair<Array<double>, Array<double>>;

TwoArrays to_pair(rocpath::ColumnSums sums) {
  return {to_array(std::move(sums.high)), to_array(std::move(sums.low))};
}

template <class Number>
TwoArrays column_sums(const Matrix<Number>& matrix, const Array<double>& factor) {
  return to_pair(released([&] { return rocpath::column_sums(view(matrix), view(factor)); }));
}

TwoArrays sparse_column_sums(const Array<std::int64_t>& row_start,
                             const Array<std::int64_t>& column, const Array<double>& entry,
                             const Array<double>& factor, std::size_t n_columns) {
  return to_pair(released([&] {
    return rocpath::column_sums(view(row_start), view(column), view(entry), view(factor),
                                n_columns);
  }));
}

// The steps of `in_units` for jumps in several partitions, which share one unit.
std::tuple<double, double, int> jump_range(const Array<double>& jump) {
  const rocpath::JumpRange range = rocpath::jump_range(view(jump));
  return {range.smallest, range.total, rocpath::lowest_bit(view(jump))};
}

bool are_multiples(const Array<double>& jump, double unit) {
  return rocpath::are_multiples(view(jump), unit);
}

double jump_unit(double smallest, double total, int lowest_bit, bool are_multiples) {
  const rocpath::JumpRange range{smallest, total, lowest_bit};
  return are_multiples && rocpath::has_few_units(range) ? smallest : rocpath::binary_unit(range);
}

Array<std::int64_t> count_units(const Array<double>& jump, double unit) {
  return to_array(std::move(rocpath::count_units(view(jump), unit).count));
}

// The high 64 bits, which are signed, and the low 64 bits.
std::pair<std::int64_t, std::uint64_t> doubled_pairs(const Array<double>& negative,
                                                     const Array<std::int64_t>& negative_count,
                                                     const Array<double>& positive,
                                                     const Array<std::int64_t>& positive_count) {
  const rocpath::int128 doubled = released([&] {
    return rocpath::doubled_pairs({view(negative), view(negative_count)},
                                  {view(positive), view(positive_count)});
  });
  return {static_cast<std::int64_t>(doubled >> 64), static_cast<std::uint64_t>(doubled)};
}

}  // namespace

void bind_partitions(nb::module_& m) {
  m.def("collapse_lines", &collapse_lines, "lines"_a, "low"_a, "high"_a, "lowest"_a, "highest"_a,
        "The lines inside a box of steps and thresholds, and sums of the others.");
  m.def("best_aum_step_of_partitions", &best_aum_step_of_partitions, "sample"_a, "n_lines"_a,
        "collapse_partitions"_a, "max_step"_a,
        "The step with the smallest AUM of lines in partitions.");
  m.def("sampled_places", &sampled_places, "n_lines"_a,
        "Indices of the lines in the sample of n_lines lines.");
  m.def("level_bracket", &level_bracket, "sample"_a, "n_lines"_a, "confidence"_a,
        "Thresholds that bracket the level, where FP reaches FN, estimated from a sample.");
  m.def("level_inside", &level_inside, "inside"_a, "like"_a,
        "The threshold where FP reaches FN, if it lies inside a box.");
  m.def("at_level", &at_level, "bp"_a, "prediction"_a.noconvert(), "threshold"_a,
        "counts"_a.noconvert(), "total_tp"_a,
        "Contribution of a partition to AUM, and the gradient with respect to its predictions.");
  m.def("row_products", &row_products<double>, "matrix"_a.noconvert(), "coef"_a.noconvert(),
        "Product of a matrix and a vector, summed from the first column to the last.");
  m.def("row_products", &row_products<float>, "matrix"_a.noconvert(), "coef"_a.noconvert());
  m.def("column_sums", &column_sums<double>, "matrix"_a.noconvert(), "factor"_a.noconvert(),
        "Weighted sums of the rows of a matrix, as high and low parts.");
  m.def("column_sums", &column_sums<float>, "matrix"_a.noconvert(), "factor"_a.noconvert());
  m.def("sparse_column_sums", &sparse_column_sums, "row_start"_a.noconvert(),
        "column"_a.noconvert(), "entry"_a.noconvert(), "factor"_a.noconvert(), "n_columns"_a,
        "Weighted sums of the rows of a CSR matrix, as high and low parts.");
  m.def("jump_range", &jump_range, "jump"_a.noconvert(),
        "Smallest and total absolute value, and the exponent of the finest binary digit.");
  m.def("are_multiples", &are_multiples, "jump"_a.noconvert(), "unit"_a,
        "Whether all jumps are exact multiples of a unit.");
  m.def("jump_unit", &jump_unit, "smallest"_a, "total"_a, "lowest_bit"_a, "are_multiples"_a,
        "The unit of jumps with this range.");
  m.def("count_units", &count_units, "jump"_a.noconvert(), "unit"_a,
        "Jumps as integer multiples of a unit.");
  m.def("doubled_pairs", &doubled_pairs, "negative"_a.noconvert(), "negative_count"_a.noconvert(),
        "positive"_a.noconvert(), "positive_count"_a.noconvert(),
        "Twice the correctly ranked pairs plus the tied pairs, as high and low 64 bits.");
}

}  // namespace rocpath::python
