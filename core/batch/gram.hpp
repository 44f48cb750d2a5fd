// Products of dense columns with weights per row, Σ_i h_i x_ia x_ib.
#pragma once

#include <span>

#include "base/lines.hpp"

namespace gossamer {

inline bool is_dense(const Lines& x) {
  return std::visit([](const auto& lines) { return requires { DenseLines{lines}; }; }, x);
}

// The pairs b ≤ a of the columns with these numbers, at pairs[a · m + b].
void gram(const Lines& x, std::span<const std::size_t> columns, std::span<const double> h, std::span<double> pairs,
          unsigned threads);

}  // namespace gossamer
