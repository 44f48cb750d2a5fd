// Features as columns: views of CSC or dense column-major data, nothing copied. Entry e of a column is `at(e)` in row
// `row(e)`, e = 0 … count − 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

namespace gossamer {

template <class T>
struct SparseColumn {
  const std::int32_t* rows;
  const T* values;
  std::size_t count;

  std::size_t row(std::size_t e) const { return static_cast<std::size_t>(rows[e]); }
  double at(std::size_t e) const { return static_cast<double>(values[e]); }
};

template <class T>
struct DenseColumn {
  const T* values;
  std::size_t count;

  std::size_t row(std::size_t e) const { return e; }
  double at(std::size_t e) const { return static_cast<double>(values[e]); }
};

// All ones: the intercept.
struct OnesColumn {
  std::size_t count;

  std::size_t row(std::size_t e) const { return e; }
  double at(std::size_t) const { return 1.0; }
};

// A column times one number a row: a product of two features.
template <class C>
struct ProductColumn {
  C column;
  const double* factor;
  std::size_t count = column.count;

  std::size_t row(std::size_t e) const { return column.row(e); }
  double at(std::size_t e) const { return factor[column.row(e)] * column.at(e); }
};

// f(row, value) for every entry, in order
template <class C, class F>
void each(const C& column, F f) {
  for (std::size_t e = 0; e < column.count; ++e) f(column.row(e), column.at(e));
}

using AnyColumn = std::variant<SparseColumn<double>, DenseColumn<double>, SparseColumn<float>, DenseColumn<float>>;

// A matrix by columns: CSC where rows are given, dense (one column after the other) where they are not.
template <class T>
struct ColumnsOf {
  std::size_t height, columns;
  const std::int64_t* starts;
  const std::int32_t* rows;
  const T* values;

  // f(column j) with the kind of column this is
  template <class F>
  auto visit(std::size_t j, F f) const {
    if (!rows) return f(DenseColumn<T>{values + j * height, height});
    const auto from = static_cast<std::size_t>(starts[j]);
    return f(SparseColumn<T>{rows + from, values + from, static_cast<std::size_t>(starts[j + 1]) - from});
  }
};

using Columns = std::variant<ColumnsOf<double>, ColumnsOf<float>>;

}  // namespace gossamer
