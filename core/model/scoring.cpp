#include "model/scoring.hpp"

#include <algorithm>

#include "base/stop.hpp"

namespace gossamer {

Places::Places(std::span<const std::int64_t> features) : features_(features) {
  const std::int64_t last = features.empty() ? -1 : features.back();
  if (last >= std::max<std::int64_t>(1 << 20, 64 * static_cast<std::int64_t>(features.size()))) return;
  table_.assign(static_cast<std::size_t>(last + 1), none);
  for (std::size_t p = 0; p < features.size(); ++p) {
    table_[static_cast<std::size_t>(features[p])] = static_cast<std::uint32_t>(p);
  }
}

inline std::uint32_t Places::operator[](std::int32_t feature) const {
  if (!table_.empty()) {
    return static_cast<std::size_t>(feature) < table_.size() ? table_[static_cast<std::size_t>(feature)] : none;
  }
  const auto found = std::lower_bound(features_.begin(), features_.end(), feature);
  if (found == features_.end() || *found != feature) return none;
  return static_cast<std::uint32_t>(found - features_.begin());
}

template <class T>
void score(const SparseWeights& weights, const Places& places, std::span<const std::int64_t> starts,
           const std::int32_t* index, const T* value, std::size_t outputs, double* z) {
  Pace pace;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i, z += outputs) {
    pace.did(static_cast<std::size_t>(starts[i + 1] - starts[i]) + 1);
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

template void score(const SparseWeights&, const Places&, std::span<const std::int64_t>, const std::int32_t*,
                    const float*, std::size_t, double*);
template void score(const SparseWeights&, const Places&, std::span<const std::int64_t>, const std::int32_t*,
                    const double*, std::size_t, double*);

}  // namespace gossamer
