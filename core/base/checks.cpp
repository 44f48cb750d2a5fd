#include "base/checks.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/side_by_side.hpp"
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

// Where indices do not increase, a line must begin. Both are counted, as a loop over all entries compiles to vector
// code and a loop over short lines does not.
template <class I>
LineOrder line_order(std::span<const I> starts, std::span<const I> index, std::int64_t length) {
  if (starts.empty() || starts.front() != 0) return LineOrder::invalid;
  bool falls = false;
  for (std::size_t l = 1; l < starts.size(); ++l) falls |= starts[l] < starts[l - 1];
  if (falls || static_cast<std::uint64_t>(starts.back()) > index.size()) return LineOrder::invalid;
  using U = std::make_unsigned_t<I>;
  constexpr U highest = U{1} << (8 * sizeof(I) - 1);
  const auto count = static_cast<std::size_t>(starts.back());
  const U last = static_cast<U>(std::min<std::int64_t>(length, std::numeric_limits<I>::max())) - 1;
  std::atomic<bool> in_range = length > 0 || count == 0;
  std::atomic<std::size_t> all_drops = 0;
  in_parts(count, 1 << 17, all_threads(), [&](std::size_t begin, std::size_t end) {
    const auto [bits, drops] = for_this_processor([=] {
      const U first = static_cast<U>(index[begin]);
      U bits = first | (last - first), drops = begin > 0 && index[begin] <= index[begin - 1];
      for (std::size_t n = begin + 1; n < end; ++n) {
        bits |= static_cast<U>(index[n]) | (last - static_cast<U>(index[n]));
        drops += index[n] <= index[n - 1];
      }
      return std::pair(bits, drops);
    });
    if ((bits & highest) != 0) in_range = false;
    all_drops += drops;
  });
  if (!in_range) return LineOrder::invalid;
  std::size_t drops_at_starts = 0;
  for (std::size_t l = 0; l + 1 < starts.size(); ++l) {
    const auto n = static_cast<std::size_t>(starts[l]);
    if (n > 0 && starts[l] < starts[l + 1]) drops_at_starts += index[n] <= index[n - 1];
  }
  return all_drops == drops_at_starts ? LineOrder::canonical : LineOrder::valid;
}

template LineOrder line_order(std::span<const std::int32_t>, std::span<const std::int32_t>, std::int64_t);
template LineOrder line_order(std::span<const std::int64_t>, std::span<const std::int64_t>, std::int64_t);

#define GOSSAMER_CHECKS(T)                                                                      \
  template bool all_finite(std::span<const T>);                                                 \
  template bool valid_entries(std::span<const std::int32_t>, std::span<const T>, std::int64_t); \
  template bool valid_entries(std::span<const std::int64_t>, std::span<const T>, std::int64_t);
GOSSAMER_CHECKS(float)
GOSSAMER_CHECKS(double)
#undef GOSSAMER_CHECKS

}  // namespace gossamer
