#pragma once

#include <cstddef>
#include <vector>

namespace gossamer {

// A x = b for a small positive definite A (row-major), by elimination, in place; false if A is not.
inline bool solve(std::vector<double>& A, std::vector<double>& b) {
  const std::size_t m = b.size();
  for (std::size_t i = 0; i < m; ++i) {
    if (!(A[i * m + i] > 0)) return false;
    for (std::size_t r = i + 1; r < m; ++r) {
      const double share = A[r * m + i] / A[i * m + i];
      for (std::size_t q = i; q < m; ++q) A[r * m + q] -= share * A[i * m + q];
      b[r] -= share * b[i];
    }
  }
  for (std::size_t i = m; i-- > 0;) {
    for (std::size_t q = i + 1; q < m; ++q) b[i] -= A[i * m + q] * b[q];
    b[i] /= A[i * m + i];
  }
  return true;
}

}  // namespace gossamer
