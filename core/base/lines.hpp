// A matrix by its lines (all rows, or all columns), sparse or dense, float or double.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/threads.hpp"

namespace gossamer {

struct Moments {
  double first = 0, second = 0;
};

// Line l holds value[e] at index[e] for e = starts[l] … starts[l + 1] − 1.
template <class T>
struct SparseLines {
  std::size_t count = 0, length = 0;
  const std::int64_t* starts = nullptr;
  const std::int32_t* index = nullptr;
  const T* value = nullptr;

  std::size_t entries() const { return static_cast<std::size_t>(starts[count] - starts[0]); }
  template <class F>
  void each(std::size_t line, F f) const {
    const std::int64_t end = starts[line + 1];
    for (std::int64_t e = starts[line]; e < end; ++e) {
      f(static_cast<std::size_t>(index[e]), static_cast<double>(value[e]));
    }
  }
  // Σ_i h_i x_i and Σ_i h_i x_i²
  Moments moments(std::size_t line, const double* h) const {
    Moments sum;
    each(line, [&](std::size_t i, double x) {
      const double hx = h[i] * x;
      sum.first += hx, sum.second += hx * x;
    });
    return sum;
  }
  // In two running sums.
  double dot(std::size_t line, const double* v) const {
    const std::int64_t end = starts[line + 1];
    std::int64_t e = starts[line];
    double a = 0, b = 0;
    for (; e + 2 <= end; e += 2) {
      a += static_cast<double>(value[e]) * v[index[e]];
      b += static_cast<double>(value[e + 1]) * v[index[e + 1]];
    }
    if (e < end) a += static_cast<double>(value[e]) * v[index[e]];
    return a + b;
  }
};

// Σ_i x_i v_i and out_i += by x_i, with wide vectors where the processor has them (the same bits).
template <class T>
double dense_dot(const T* x, const double* v, std::size_t n);
template <class T>
void dense_add(const T* x, double by, double* out, std::size_t n);
template <class T>  // out_i += by h_i x_i
void dense_add_products(const T* x, const double* h, double by, double* out, std::size_t n);
template <class T>  // of four lines, one after the other
void dense_add_four(const T* x, const double* by, double* out, std::size_t n);
template <class T>
Moments dense_moments(const T* x, const double* h, std::size_t n);

// One line after the other.
template <class T>
struct DenseLines {
  std::size_t count = 0, length = 0;
  const T* value = nullptr;

  std::size_t entries() const { return count * length; }
  template <class F>
  void each(std::size_t line, F f) const {
    const T* x = value + line * length;
    for (std::size_t i = 0; i < length; ++i) f(i, static_cast<double>(x[i]));
  }
  double dot(std::size_t line, const double* v) const { return dense_dot(value + line * length, v, length); }
  Moments moments(std::size_t line, const double* h) const { return dense_moments(value + line * length, h, length); }
};

// Any of them, looked up once per line: that costs nothing beside the entries.
struct Lines : std::variant<SparseLines<float>, SparseLines<double>, DenseLines<float>, DenseLines<double>> {
  using variant::variant;

  std::size_t count() const {
    return std::visit([](const auto& l) { return l.count; }, *this);
  }
  std::size_t length() const {
    return std::visit([](const auto& l) { return l.length; }, *this);
  }
  std::size_t entries() const {
    return std::visit([](const auto& l) { return l.entries(); }, *this);
  }
  // f(i, x) for the entries of a line, in order
  template <class F>
  void each(std::size_t line, F f) const {
    std::visit([&](const auto& l) { l.each(line, f); }, *this);
  }
  // Σ_i x_i v_i over a line
  double dot(std::size_t line, const double* v) const {
    return std::visit([&](const auto& l) { return l.dot(line, v); }, *this);
  }
  // Σ_i h_i x_i and Σ_i h_i x_i² over a line
  Moments moments(std::size_t line, const double* h) const {
    return std::visit([&](const auto& l) { return l.moments(line, h); }, *this);
  }
  // out = Σ_i x_i V_i, where out and each V_i are k numbers
  void gather(std::size_t line, const double* V, std::size_t k, double* out) const;
  // out_i += by h_i x_i
  void add_products(std::size_t line, const double* h, double by, double* out) const;
  // out_i += x_i w, where w and each out_i are k numbers
  void scatter(std::size_t line, const double* w, std::size_t k, double* out) const;
};

// Lines with the memory they are in.
struct OwnedLines {
  Lines lines;
  std::vector<std::int64_t> starts;
  std::vector<std::int32_t> index;
  std::vector<float> floats;
  std::vector<double> doubles;

  template <class T>
  std::vector<T>& values() {
    if constexpr (std::is_same_v<T, float>)
      return floats;
    else
      return doubles;
  }
};

// The same matrix by its other lines, those that `kept` has a new number ≥ 0 for; −1 leaves one out.
std::unique_ptr<OwnedLines> transposed(const Lines& lines, std::span<const std::int32_t> kept, std::size_t count,
                                       unsigned threads);

// A copy of these lines.
std::unique_ptr<OwnedLines> copied(const Lines& lines, std::span<const std::int64_t> which);

// f(begin, end) over parts of the lines with about 16,384 multiplications each, if each entry takes k; in this
// thread where there are too few of them to outweigh starting another.
template <class F>
void in_line_parts(const Lines& lines, std::size_t k, unsigned threads, F f) {
  const std::size_t count = lines.count(), work = lines.entries() * k;
  const std::size_t per_line = std::max<std::size_t>(1, work / std::max<std::size_t>(1, count));
  in_parts(count, std::max<std::size_t>(1, 16384 / per_line), work < (1 << 17) ? 1 : threads, f);
}

// out = lines · in: out[l] = Σ_i x_li in[i], each of them k numbers.
void product(const Lines& lines, std::span<const double> in, std::size_t k, std::span<double> out, unsigned threads);

}  // namespace gossamer
