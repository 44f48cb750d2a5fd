#include "base/checks.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <type_traits>

#include "base/threads.hpp"

namespace gossamer {

// x − x is 0 for a finite x and NaN otherwise.
template <class T>
bool all_finite(std::span<const T> v) {
  constexpr std::size_t lanes = 8;
  T lane[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= v.size(); i += lanes) {
    for (std::size_t r = 0; r < lanes; ++r) lane[r] += v[i + r] - v[i + r];
  }
  for (; i < v.size(); ++i) lane[0] += v[i] - v[i];
  return std::all_of(lane, lane + lanes, [](T x) { return x == T(0); });
}

// Out of 0 … limit − 1 means that i or limit − 1 − i has its highest bit set.
template <class T, class I>
bool valid_entries(std::span<const I> index, std::span<const T> value, std::int64_t columns) {
  using U = std::make_unsigned_t<I>;
  constexpr U highest = U{1} << (8 * sizeof(I) - 1);
  const U last = static_cast<U>(std::min<std::int64_t>(columns, std::numeric_limits<I>::max())) - 1;
  std::atomic<bool> valid = columns > 0 || index.empty();
  in_parts(index.size(), 1 << 17, all_threads(), [&](std::size_t begin, std::size_t end) {
    U bits = 0;
    for (std::size_t n = begin; n < end; ++n) bits |= static_cast<U>(index[n]) | (last - static_cast<U>(index[n]));
    if ((bits & highest) != 0 || !all_finite(value.subspan(begin, end - begin))) valid = false;
  });
  return valid;
}

#define GOSSAMER_CHECKS(T)                                                                      \
  template bool all_finite(std::span<const T>);                                                 \
  template bool valid_entries(std::span<const std::int32_t>, std::span<const T>, std::int64_t); \
  template bool valid_entries(std::span<const std::int64_t>, std::span<const T>, std::int64_t);
GOSSAMER_CHECKS(float)
GOSSAMER_CHECKS(double)
#undef GOSSAMER_CHECKS

}  // namespace gossamer
