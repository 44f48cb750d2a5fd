// Features as columns: views of CSC or dense column-major data, nothing copied. A column is walked entry by entry with
// `each(f)`, f(row, value).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace gossamer {

template <class T>
struct SparseColumn {
  const std::int32_t* row;
  const T* value;
  std::size_t count;

  template <class F>
  void each(F f) const {
    for (std::size_t e = 0; e < count; ++e) f(static_cast<std::size_t>(row[e]), static_cast<double>(value[e]));
  }
};

template <class T>
struct DenseColumn {
  const T* value;
  std::size_t count;

  template <class F>
  void each(F f) const {
    for (std::size_t i = 0; i < count; ++i) f(i, static_cast<double>(value[i]));
  }
};

// All ones: the intercept.
struct OnesColumn {
  std::size_t count;

  template <class F>
  void each(F f) const {
    for (std::size_t i = 0; i < count; ++i) f(i, 1.0);
  }
};

// A column times one number a row: a product of two features.
template <class C>
struct ProductColumn {
  C column;
  const double* factor;

  template <class F>
  void each(F f) const {
    column.each([&](std::size_t i, double x) { f(i, factor[i] * x); });
  }
};

using AnyColumn = std::variant<SparseColumn<double>, DenseColumn<double>, SparseColumn<float>, DenseColumn<float>>;

// A matrix by columns: CSC where `row` is given, dense (one column after the other) where it is not.
template <class T>
struct ColumnsOf {
  std::size_t rows, columns;
  const std::int64_t* start;
  const std::int32_t* row;
  const T* value;

  // f(column j) with the kind of column this is
  template <class F>
  auto visit(std::size_t j, F f) const {
    if (row) {
      const auto from = static_cast<std::size_t>(start[j]);
      return f(SparseColumn<T>{row + from, value + from, static_cast<std::size_t>(start[j + 1]) - from});
    }
    return f(DenseColumn<T>{value + j * rows, rows});
  }
};

using Columns = std::variant<ColumnsOf<double>, ColumnsOf<float>>;

}  // namespace gossamer
