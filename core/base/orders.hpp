// Random orders of rows by a seed: those of NumPy's RandomState(seed).permutation(n).
//
// For the 20,000 rows of RCV1 an order takes 0.15 ms here and 0.34 ms there, of a FOBOS fit of 2.5 ms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace gossamer {

class Orders {
 public:
  explicit Orders(std::uint32_t seed) : random_(seed) {}

  // Fills `order` with 0 … n − 1 in the next random order; n ≤ 2³².
  void next(std::span<std::int64_t> order);

 private:
  std::mt19937 random_;

  std::vector<std::uint32_t> draws(std::size_t n);
};

}  // namespace gossamer
