// The catalogue over whole arrays: one call handles a matrix (row-major, d × k) or n examples. Float and double forms
// are compiled in arrays.cpp.
#pragma once

#include <cstdint>
#include <span>

#include "base/blocks.hpp"
#include "catalogue/kl.hpp"
#include "catalogue/penalties.hpp"

namespace gossamer {

// Penalties. Weights are one a row (elementwise) or one a block (blockwise); an empty span means all ones.
template <class T>
double value(const Elementwise& penalty, const T* w, const Blocks& rows, std::span<const double> weights);
template <class T>
double dual(const Elementwise& penalty, const T* v, const Blocks& rows, std::span<const double> weights);
template <class T>
void prox(const Elementwise& penalty, const T* v, T* out, const Blocks& rows, double step,
          std::span<const double> weights);

template <class T>
double value(const Blockwise& penalty, const T* w, const Blocks& blocks, std::span<const double> weights);
template <class T>
double dual(const Blockwise& penalty, const T* v, const Blocks& blocks, std::span<const double> weights);
template <class T>
void prox(const Blockwise& penalty, const T* v, T* out, const Blocks& blocks, double step,
          std::span<const double> weights);

// Sets: every block is projected by itself.
template <class T>
void project(const Set& set, const T* v, T* out, const Blocks& blocks);

// Compiled in arrays.cpp too, so that no numeric loop is built with the flags of the bindings.
#define GOSSAMER_COMPILED_ELSEWHERE(T)                                                                              \
  extern template bool all_finite(std::span<const T>);                                                              \
  extern template void project_weighted_l1_ball(std::span<const T>, std::span<T>, double, std::span<const double>); \
  extern template void project_group_l2_ball(const T*, T*, const Blocks&, double);                                  \
  extern template void project_group_linf_ball(const T*, T*, const Blocks&, double);                                \
  extern template void prox_kl(std::span<const T>, std::span<T>, double, std::span<const double>);
GOSSAMER_COMPILED_ELSEWHERE(float)
GOSSAMER_COMPILED_ELSEWHERE(double)
#undef GOSSAMER_COMPILED_ELSEWHERE

// Whether the entries of a sparse matrix are finite and their columns lie in 0 … columns − 1.
template <class T, class I>
bool valid_entries(std::span<const I> index, std::span<const T> value, std::int64_t columns);

}  // namespace gossamer
