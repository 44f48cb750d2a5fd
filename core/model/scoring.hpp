// Predictions of a sparse model: z_i = b + Σ_j x_ij W_j over the features that have weights; the others are passed
// over.
#pragma once

#include <algorithm>
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

// Finds the place of a feature: by a table where that is small beside what the model holds, else by bisection, so that
// a model cannot claim memory by naming a large feature.
class Places {
 public:
  explicit Places(std::span<const std::int64_t> features) : features_(features) {
    const std::int64_t last = features.empty() ? -1 : features.back();
    if (last >= std::max<std::int64_t>(1 << 20, 64 * static_cast<std::int64_t>(features.size()))) return;
    table_.assign(static_cast<std::size_t>(last + 1), none);
    for (std::size_t p = 0; p < features.size(); ++p) {
      table_[static_cast<std::size_t>(features[p])] = static_cast<std::uint32_t>(p);
    }
  }
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t operator[](std::int32_t feature) const {
    if (!table_.empty()) {
      return static_cast<std::size_t>(feature) < table_.size() ? table_[static_cast<std::size_t>(feature)] : none;
    }
    const auto found = std::lower_bound(features_.begin(), features_.end(), feature);
    if (found == features_.end() || *found != feature) return none;
    return static_cast<std::uint32_t>(found - features_.begin());
  }

 private:
  std::span<const std::int64_t> features_;
  std::vector<std::uint32_t> table_;
};

// Adds X W to z, row-major n × outputs; rows are entries starts[i] … starts[i + 1] − 1.
template <class T>
void score(const SparseWeights& weights, const Places& places, std::span<const std::int64_t> starts,
           const std::int32_t* index, const T* value, std::size_t outputs, double* z) {
  for (std::size_t i = 0; i + 1 < starts.size(); ++i, z += outputs) {
    for (std::int64_t n = starts[i]; n < starts[i + 1]; ++n) {
      const std::uint32_t p = places[index[n]];
      if (p == Places::none) continue;
      const double x = static_cast<double>(value[n]);
      for (std::int64_t m = weights.starts[p]; m < weights.starts[p + 1]; ++m) {
        z[weights.output[static_cast<std::size_t>(m)]] += x * weights.value[static_cast<std::size_t>(m)];
      }
    }
  }
}

}  // namespace gossamer
