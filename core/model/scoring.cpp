#include "model/scoring.hpp"

#include <algorithm>

#include "base/stop.hpp"

namespace gossamer {

Scorer::Scorer(std::span<const std::int64_t> features, std::span<const std::int64_t> starts,
               std::span<const std::int32_t> output, std::span<const double> value)
    : features_(features), starts_(starts), output_(output), value_(value) {
  const std::int64_t last = features.empty() ? -1 : features.back();
  if (last >= std::max<std::int64_t>(1 << 20, 64 * static_cast<std::int64_t>(features.size()))) return;
  table_.assign(static_cast<std::size_t>(last + 1), static_cast<std::uint32_t>(features.size()));
  for (std::size_t p = 0; p < features.size(); ++p) {
    table_[static_cast<std::size_t>(features[p])] = static_cast<std::uint32_t>(p);
  }
}

// The number of features if it has no weight.
inline std::size_t Scorer::place_of(std::int32_t feature) const {
  if (!table_.empty()) {
    const auto j = static_cast<std::size_t>(feature);
    return j < table_.size() ? table_[j] : features_.size();
  }
  const auto found = std::lower_bound(features_.begin(), features_.end(), feature);
  return found == features_.end() || *found != feature ? features_.size()
                                                       : static_cast<std::size_t>(found - features_.begin());
}

template <class T>
void Scorer::score(std::span<const std::int64_t> rows, std::span<const std::int32_t> index, std::span<const T> x,
                   std::span<double> z) const {
  const std::size_t count = rows.size() - 1, outputs = count == 0 ? 0 : z.size() / count;
  StopWatch watch;
  for (std::size_t i = 0; i < count; ++i) {
    watch.did(static_cast<std::size_t>(rows[i + 1] - rows[i]) + 1);
    double* out = &z[i * outputs];
    for (auto n = static_cast<std::size_t>(rows[i]); n < static_cast<std::size_t>(rows[i + 1]); ++n) {
      const std::size_t p = place_of(index[n]);
      if (p == features_.size()) continue;
      for (auto m = static_cast<std::size_t>(starts_[p]); m < static_cast<std::size_t>(starts_[p + 1]); ++m) {
        out[output_[m]] += static_cast<double>(x[n]) * value_[m];
      }
    }
  }
}

template void Scorer::score(std::span<const std::int64_t>, std::span<const std::int32_t>, std::span<const float>,
                            std::span<double>) const;
template void Scorer::score(std::span<const std::int64_t>, std::span<const std::int32_t>, std::span<const double>,
                            std::span<double>) const;

}  // namespace gossamer
