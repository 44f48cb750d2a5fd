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

}  // namespace gossamer
