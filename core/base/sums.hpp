// Sums over contiguous numbers, always in double.
//
// Eight running sums let the compiler use vector instructions without changing the order of additions, so the result is
// the same on every machine and for every vector width.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <span>
#include <type_traits>

#include "base/pack.hpp"

namespace gossamer {

using Eight = double[8];  // running sums or maxima

inline double sum_of(const Eight& lane) {
  return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

// f(i mod 8, v_i) for all i
template <class T, class F>
[[gnu::always_inline]] inline void in_eights(std::span<const T> v, F f) {
  constexpr std::size_t lanes = std::extent_v<Eight>;
  std::size_t i = 0;
  for (; i + lanes <= v.size(); i += lanes) {
    for (std::size_t r = 0; r < lanes; ++r) f(r, static_cast<double>(v[i + r]));
  }
  for (; i < v.size(); ++i) f(i % lanes, static_cast<double>(v[i]));
}

// Σ f(v_i)
template <class T, class F>
double sum_over(std::span<const T> v, F f) {
  Eight sum = {};
  in_eights(v, [&](std::size_t r, double x) { sum[r] += f(x); });
  return sum_of(sum);
}

// max f(v_i), and `least` when v is empty
template <class T, class F>
double max_over(std::span<const T> v, double least, F f) {
  Eight most;
  std::fill(std::begin(most), std::end(most), least);
  in_eights(v, [&](std::size_t r, double x) {
    const double here = f(x);
    most[r] = here > most[r] ? here : most[r];
  });
  return *std::max_element(std::begin(most), std::end(most));
}

// ‖v‖₁
template <class T>
double norm1(std::span<const T> v) {
  return sum_over(v, [](double x) { return std::fabs(x); });
}

// ‖v‖∞
template <class T>
double norm_inf(std::span<const T> v) {
  return max_over(v, 0.0, [](double x) { return std::fabs(x); });
}

// ‖v‖₁ and ‖v‖∞ in one pass
struct Magnitudes {
  double sum, largest;
};

template <class T>
Magnitudes magnitudes(std::span<const T> v) {
  Eight sum = {}, top = {};
  in_eights(v, [&](std::size_t r, double x) {
    const double size = std::fabs(x);
    sum[r] += size;
    top[r] = size > top[r] ? size : top[r];
  });
  return {sum_of(sum), *std::max_element(std::begin(top), std::end(top))};
}

// Σ v_i². Short rows are summed in pairs: the prox of GroupL2 on rows of five takes 113 µs, and 146 µs with lanes.
template <class T>
double sum_of_squares(std::span<const T> v) {
  if (v.size() > 32) return sum_over(v, [](double x) { return x * x; });
  Pack sum = {};
  std::size_t i = 0;
  for (; i + 2 <= v.size(); i += 2) {
    const Pack x{static_cast<double>(v[i]), static_cast<double>(v[i + 1])};
    sum += x * x;
  }
  const double last = i < v.size() ? static_cast<double>(v[i]) : 0.0;
  return (sum[0] + sum[1]) + last * last;
}

// ‖v‖₂, safe where the squares would overflow or underflow; for float and double
template <class T>
double norm2(std::span<const T> v);

// A sum of many terms that are added and later subtracted, kept in two doubles so that nothing is left of them.
inline void add_exactly(double* sum, double x) {
  const double total = sum[0] + x, part = total - sum[0];
  sum[1] += (sum[0] - (total - part)) + (x - part);
  sum[0] = total;
}
inline double total_of(const double* sum) { return std::max(sum[0] + sum[1], 0.0); }

}  // namespace gossamer
