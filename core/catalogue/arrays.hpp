// The catalogue over whole arrays: one call handles a matrix (row-major, d × k). Float and double forms are compiled in
// arrays.cpp.
#pragma once

#include <cstdint>
#include <span>

#include "base/blocks.hpp"
#include "catalogue/penalties.hpp"

namespace gossamer {

// Penalties. There is one weight per block; an empty span means all ones. The blocks of a sum over single numbers are
// its rows.
template <class T>
double value(const BlockPenalties::Variant& penalty, const T* w, const Blocks& blocks, std::span<const double> weights);
template <class T>
double dual(const BlockPenalties::Variant& penalty, const T* v, const Blocks& blocks, std::span<const double> weights);
template <class T>
void prox(const BlockPenalties::Variant& penalty, const T* v, T* out, const Blocks& blocks, double step,
          std::span<const double> weights);

// Sets: every block is projected by itself.
template <class T>
void project(const Set& set, const T* v, T* out, const Blocks& blocks);

}  // namespace gossamer
