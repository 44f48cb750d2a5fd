// What the hot rules share: the ℓ1 norm with one output, four features at a time.
#pragma once

#include <cmath>
#include <cstring>
#include <vector>

#include "base/pack.hpp"
#include "base/side_by_side.hpp"
#include "online/methods.hpp"

namespace gossamer {

// The numbers at j[0], …, j[3], each `stride` from the next.
[[gnu::always_inline]] inline Quad gather(const double* numbers, const std::int32_t* j, std::size_t stride = 1) {
  const auto at = [=](int n) { return numbers[static_cast<std::size_t>(j[n]) * stride]; };
  return Quad{at(0), at(1), at(2), at(3)};
}

// f(), compiled for wide vectors too where the processor has them (1.3 to 2 times as fast; the same bits).
#ifdef GOSSAMER_WIDE
template <class F>
[[gnu::target("avx2"), gnu::flatten]] auto for_wide_vectors(F f) {
  return f();
}
#endif
template <class F>
[[gnu::always_inline]] inline auto for_this_processor(F f) {
#ifdef GOSSAMER_WIDE
  if (has_wide_vectors()) return for_wide_vectors(f);
#endif
  return f();
}

class HotRule : public Rule {
 public:
  void prefetch(std::span<const std::int32_t> features) const override {
    for (const std::int32_t j : features) __builtin_prefetch(&slots_[static_cast<std::size_t>(j) * stride_], 1);
  }

 protected:
  HotRule(const Weights& weights, const Setup& setup, std::size_t stride)
      : weights_(weights), features_(setup.features), stride_(stride), slots_(setup.features * stride) {}

  Weights weights_;  // of the penalty, one per feature, or none
  std::size_t features_, stride_;
  Slots slots_;
  std::vector<double> seen_;  // the weights of the example's features, as they were when it came

  [[gnu::always_inline]] Quad weights_of(const std::int32_t* j) const {
    return weights_.empty() ? spread_four(1.0) : gather(weights_.data(), j);
  }

  // Fills `seen_`, by fours (of j) and one by one, and returns Σ x w; summed in several registers, so that no addition
  // waits for the one before.
  template <class Fours, class One>
  [[gnu::always_inline]] double peek_all(const Row& row, Fours fours, One one) {
    if (seen_.size() < row.size()) seen_.resize(2 * row.size());
    double* to = seen_.data();
    const double* x = row.x;
    const std::int32_t* j = row.index.data();
    Quad sums = {};
    double rest = 0;
    std::size_t k = 0;
    for (; k + 4 <= row.size(); k += 4) {
      const Quad w = fours(j + k);
      store_four(to + k, w);
      sums += load_four(x + k) * w;
    }
    for (; k < row.size(); ++k) {
      to[k] = one(row[k]);
      rest += x[k] * to[k];
    }
    return rest + ((sums[0] + sums[2]) + (sums[1] + sums[3]));
  }
  // The features again, with the weights that were seen.
  template <class Fours, class One>
  [[gnu::always_inline]] void move_all(const Row& row, Fours fours, One one) {
    const double *w = seen_.data(), *x = row.x;
    std::size_t k = 0;
    for (; k + 4 <= row.size(); k += 4) fours(row.index.data() + k, load_four(w + k), load_four(x + k));
    for (; k < row.size(); ++k) one(row[k], w[k], x[k]);
  }
};

}  // namespace gossamer
