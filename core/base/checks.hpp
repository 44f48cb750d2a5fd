// Checks of numbers that come from Python, for float and double.
#pragma once

#include <cstdint>
#include <span>

namespace gossamer {

// Whether no number is NaN or infinite.
template <class T>
bool all_finite(std::span<const T> v);

// Whether the entries of a sparse matrix are finite and their columns lie in 0 … columns − 1; I is int32 or int64.
template <class T, class I>
bool valid_entries(std::span<const I> index, std::span<const T> value, std::int64_t columns);

// What the arrays of a CSR or CSC matrix are: canonical (the indices of each line increase), valid, or invalid (they
// lead out of the matrix, or to memory that is not theirs).
enum class LineOrder { canonical, valid, invalid };

// Line l has entries starts[l] … starts[l + 1] − 1, each with an index in 0 … length − 1; I is int32 or int64.
template <class I>
LineOrder line_order(std::span<const I> starts, std::span<const I> index, std::int64_t length);

}  // namespace gossamer
