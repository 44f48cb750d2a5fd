// Predictions of a sparse model: z_i = b + Σ_j x_ij W_j over the features that have weights; the others are skipped.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gossamer {

class Scorer {
 public:
  // Views of the non-zero weights, which must outlive it: features increase, and feature p has entries
  // starts[p] … starts[p + 1] − 1.
  Scorer(std::span<const std::int64_t> features, std::span<const std::int64_t> starts,
         std::span<const std::int32_t> output, std::span<const double> value);

  // Adds X W to z, row-major n × outputs; rows are entries rows[i] … rows[i + 1] − 1. T is float or double.
  template <class T>
  void score(std::span<const std::int64_t> rows, std::span<const std::int32_t> index, std::span<const T> x,
             std::span<double> z) const;

 private:
  std::span<const std::int64_t> features_, starts_;
  std::span<const std::int32_t> output_;
  std::span<const double> value_;
  // Where each feature is, if that is small compared with the model; else it is found by bisection, so that a model
  // file cannot claim memory by naming a large feature.
  std::vector<std::uint32_t> table_;

  std::size_t place_of(std::int32_t feature) const;
};

}  // namespace gossamer
