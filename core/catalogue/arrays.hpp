// The catalogue over whole arrays: one call handles a matrix (row-major, d × k) or n examples. Float and double forms
// are compiled in arrays.cpp.
#pragma once

#include <cstdint>
#include <span>

#include "base/blocks.hpp"
#include "catalogue/penalties.hpp"

namespace gossamer {

// Penalties. Weights are one per row (elementwise) or one per block (blockwise); an empty span means all ones.
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

}  // namespace gossamer
