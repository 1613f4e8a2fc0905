// Products of a matrix with a vector from the right or from the left, which do not depend on how
// the rows are partitioned.
//
// Every row is summed from the first column to the last, regardless of the memory layout, so that
// its prediction does not depend on where it is stored. Sums over rows have about 106 bits: for
// numbers with few digits they are exact, and partial sums can be added in any order.
//
// Time O(rows * columns). Rows with factor 0 are skipped in sums over rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "numerics/compensated_sum.hpp"
#include "numerics/memory.hpp"

namespace rocpath {

// A dense matrix in memory; strides are in entries.
template <class Number>
struct MatrixView {
  const Number* first;
  std::size_t n_rows;
  std::size_t n_columns;
  std::ptrdiff_t row_stride;
  std::ptrdiff_t column_stride;

  const Number* row(std::size_t k) const {
    return first + static_cast<std::ptrdiff_t>(k) * row_stride;
  }
};

template <class Number>
Vector<double> row_products(const MatrixView<Number>& matrix, std::span<const double> coef) {
  // Several rows are summed at a time, so that no addition waits for the previous one.
  constexpr std::size_t block = 64;
  Vector<double> product(matrix.n_rows);
  for (std::size_t begin = 0; begin < matrix.n_rows; begin += block) {
    const std::size_t size = std::min(block, matrix.n_rows - begin);
    std::array<double, block> sum{};
    for (std::size_t j = 0; j < matrix.n_columns; ++j) {
      const Number* entry =
          matrix.row(begin) + static_cast<std::ptrdiff_t>(j) * matrix.column_stride;
      for (std::size_t k = 0; k < size; ++k, entry += matrix.row_stride)
        sum[k] += static_cast<double>(*entry) * coef[j];
    }
    std::copy_n(sum.begin(), size, product.begin() + static_cast<std::ptrdiff_t>(begin));
  }
  return product;
}

// One compensated sum for every column, as unevaluated pairs high + low. The two arrays allow
// several columns to be added at a time.
struct ColumnSums {
  Vector<double> high;
  Vector<double> low;

  explicit ColumnSums(std::size_t size) : high(size), low(size) {}

  void add(std::size_t j, double a, double b) {
    CompensatedSum::add_product(a, b, high[j], low[j]);
  }
};

template <class Number>
ColumnSums column_sums(const MatrixView<Number>& matrix, std::span<const double> factor) {
  ColumnSums sums(matrix.n_columns);
  // Rows are processed in blocks, so that memory is read consecutively in both layouts.
  constexpr std::size_t block = 256;
  for (std::size_t begin = 0; begin < matrix.n_rows; begin += block) {
    const std::size_t end = std::min(begin + block, matrix.n_rows);
    for (std::size_t k = begin; k < end; ++k) {
      if (factor[k] == 0.0) continue;
      const Number* entry = matrix.row(k);
      for (std::size_t j = 0; j < matrix.n_columns; ++j, entry += matrix.column_stride)
        sums.add(j, static_cast<double>(*entry), factor[k]);
    }
  }
  return sums;
}

// The same for the entries of a CSR matrix.
inline ColumnSums column_sums(std::span<const std::int64_t> row_start,
                              std::span<const std::int64_t> column, std::span<const double> entry,
                              std::span<const double> factor, std::size_t n_columns) {
  ColumnSums sums(n_columns);
  for (std::size_t k = 0; k < factor.size(); ++k) {
    if (factor[k] == 0.0) continue;
    const auto end = static_cast<std::size_t>(row_start[k + 1]);
    for (auto i = static_cast<std::size_t>(row_start[k]); i < end; ++i)
      sums.add(static_cast<std::size_t>(column[i]), entry[i], factor[k]);
  }
  return sums;
}

}  // namespace rocpath
