// Random orders of rows by a seed: those of NumPy's RandomState(seed).permutation(n), which takes longer to make than
// to use. Mersenne Twister, and Fisher-Yates from the end.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace gossamer {

// The numbers of std::mt19937, made 624 at a time without branches, three times as fast.
class MersenneTwister {
 public:
  explicit MersenneTwister(std::uint32_t seed) {
    for (std::size_t i = 0; i < size; ++i) {
      state_[i] = seed;
      seed = 1812433253u * (seed ^ (seed >> 30)) + static_cast<std::uint32_t>(i) + 1;
    }
  }

  std::uint32_t operator()() {
    if (used_ == size) refill();
    return ready_[used_++];
  }

 private:
  static constexpr std::size_t size = 624, middle = 397;
  std::array<std::uint32_t, size> state_, ready_;
  std::size_t used_ = size;

  void refill() {
    for (std::size_t i = 0; i < size - middle; ++i) twist(i, i + 1, i + middle);
    for (std::size_t i = size - middle; i < size - 1; ++i) twist(i, i + 1, i + middle - size);
    twist(size - 1, 0, middle - 1);
    for (std::size_t i = 0; i < size; ++i) ready_[i] = tempered(state_[i]);
    used_ = 0;
  }
  void twist(std::size_t i, std::size_t next, std::size_t other) {
    const std::uint32_t y = (state_[i] & 0x80000000u) | (state_[next] & 0x7fffffffu);
    state_[i] = state_[other] ^ (y >> 1) ^ ((0u - (y & 1u)) & 0x9908b0dfu);
  }
  static std::uint32_t tempered(std::uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }
};

class Orders {
 public:
  explicit Orders(std::uint32_t seed) : random_(seed) {}

  // Fills `order` with 0 … n − 1 in the next random order; n ≤ 2³².
  void next(std::span<std::int64_t> order) {
    std::iota(order.begin(), order.end(), 0);
    std::size_t last = order.size();
    for (const std::uint32_t partner : draws(order.size())) std::swap(order[--last], order[partner]);
  }

 private:
  MersenneTwister random_;

  // One draw from each of 0 … n − 1, 0 … n − 2, down to 0 … 1. A draw is as many bits as its bound has, and is made
  // again where it is larger: written either way and counted where it is good, as a branch would be guessed wrong.
  std::vector<std::uint32_t> draws(std::size_t n) {
    const std::size_t count = n > 1 ? n - 1 : 0;
    std::vector<std::uint32_t> good(count);
    for (std::size_t made = 0; made < count;) {
      const std::size_t mask = std::bit_ceil(n - made) - 1;
      const std::size_t enough = std::min(count, n - (mask + 1) / 2);  // the bound has a bit less from there on
      while (made < enough) {
        const std::size_t draw = random_() & mask;
        good[made] = static_cast<std::uint32_t>(draw);
        made += draw < n - made;
      }
    }
    return good;
  }
};

}  // namespace gossamer
