// Predictions of a sparse model: z_i = b + Σ_j x_ij W_j over the features that have weights; the others are skipped.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace gossamer {

// Non-zero weights by feature: feature p has entries starts[p] … starts[p + 1] − 1.
struct SparseWeights {
  std::span<const std::int64_t> features;  // increasing
  std::span<const std::int64_t> starts;
  std::span<const std::int32_t> output;
  std::span<const double> value;
};

// Finds the place of a feature: by a table if that is small compared with the model, else by bisection, so that a model
// file cannot claim memory by naming a large feature.
class Places {
 public:
  explicit Places(std::span<const std::int64_t> features);
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t operator[](std::int32_t feature) const;

 private:
  std::span<const std::int64_t> features_;
  std::vector<std::uint32_t> table_;
};

// Adds X W to z, row-major n × outputs; rows are entries starts[i] … starts[i + 1] − 1. T is float or double.
template <class T>
void score(const SparseWeights& weights, const Places& places, std::span<const std::int64_t> starts,
           const std::int32_t* index, const T* value, std::size_t outputs, double* z);

}  // namespace gossamer
