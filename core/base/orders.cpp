#include "base/orders.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace gossamer {

// Fisher-Yates from the end.
void Orders::next(std::span<std::int64_t> order) {
  std::iota(order.begin(), order.end(), 0);
  std::size_t last = order.size();
  for (const std::uint32_t partner : draws(order.size())) std::swap(order[--last], order[partner]);
}

// One draw from each of 0 … n − 1, 0 … n − 2, down to 0 … 1. A draw has as many bits as its bound, and is repeated if
// it is larger. It is written in either case and counted if it is good, because a branch would often be mispredicted.
std::vector<std::uint32_t> Orders::draws(std::size_t n) {
  const std::size_t count = n > 1 ? n - 1 : 0;
  std::vector<std::uint32_t> good(count);
  for (std::size_t made = 0; made < count;) {
    const std::size_t mask = std::bit_ceil(n - made) - 1;
    const std::size_t enough = std::min(count, n - (mask + 1) / 2);  // the bound has one bit less from there on
    while (made < enough) {
      const std::size_t draw = random_() & mask;
      good[made] = static_cast<std::uint32_t>(draw);
      made += draw < n - made;
    }
  }
  return good;
}

}  // namespace gossamer
