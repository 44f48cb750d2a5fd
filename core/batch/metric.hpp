// Products of the columns of a working set, with weights per row and output: the curvature of a model in which the
// outputs do not meet,
//
//     C[j][i][r] = Σ_n h_nr x_nj x_ni,
//
// in float: it only says where to go, and every step ends with an exact gradient. One column more, of ones, is the
// intercept.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/lines.hpp"

namespace gossamer {

class Metric {
 public:
  // The columns of `x` with these numbers, and one of ones; k outputs.
  Metric(const Lines& x, std::span<const std::size_t> columns, std::size_t k, unsigned threads);

  // How many bytes it would take.
  static double bytes(std::size_t n, std::size_t columns, std::size_t k) {
    const double c = static_cast<double>(columns) + 1;
    return c * (8.0 * static_cast<double>(n) + 4.0 * c * static_cast<double>(k + 7));
  }

  std::size_t columns() const { return columns_; }  // with that of ones, the last
  // C from h (n × k)
  void build(std::span<const double> h);
  // G (columns × k) = Xᵀ S, S n × k
  void gradient(std::span<const double> S, std::span<double> G) const;
  // Z (n × k) = X W
  void margins(std::span<const double> W, std::span<double> Z) const;
  // C[j][i][r] of one pair
  const float* pair(std::size_t j, std::size_t i) const { return &C_[(j * columns_ + i) * floats_]; }
  // R[i][r] += C[j][i][r] δ[r] for all i; R has `width()` floats per column.
  void add(std::size_t j, const float* delta, float* R) const;
  std::size_t width() const { return floats_; }

 private:
  std::size_t n_, columns_, stride_, k_, doubles_, floats_;  // the last two: k rounded up to whole vectors
  unsigned threads_;
  std::vector<double> x_;  // n × stride
  std::vector<float> C_;
};

}  // namespace gossamer
