// What the hot rules share: the ℓ1 norm with one output, four features at a time. (One by one, RCV1 takes 1.13 times as
// long with RDA, 1.24 with FOBOS and FTRL, 1.45 with AdaGrad.)
#pragma once

#include <cmath>
#include <cstring>
#include <vector>

#include "base/pack.hpp"
#include "base/side_by_side.hpp"
#include "online/averaged.hpp"
#include "online/loop.hpp"
#include "online/methods.hpp"

namespace gossamer {

// The numbers at j[0], …, j[3], each `stride` from the next.
[[gnu::always_inline]] inline Quad gather(const double* numbers, const std::int32_t* j, std::size_t stride = 1) {
  const auto at = [=](int n) { return numbers[static_cast<std::size_t>(j[n]) * stride]; };
  return Quad{at(0), at(1), at(2), at(3)};
}

// No rate may be infinite: where nothing was learned the sums are zero, and zero must come out.
inline double safe(double divisor) { return std::max(divisor, 1e-150); }
[[gnu::always_inline]] inline Quad safe(Quad divisor) {
  const Quad least = spread_four(1e-150);
  return divisor < least ? least : divisor;
}

class HotRule : public Rule {
 public:
  static constexpr bool single = true;

  bool has_paths() const override {
    return true;
  }  // path(j, n): the sum of the weights after each of the last n rounds
  // Asks for the next example; of a long one for the first piece only (fetch_ahead).
  void prefetch(std::span<const std::int32_t> features) const override {
    fetch_slots(features, 0, std::min(features.size(), piece));
  }

 protected:
  HotRule(const Weights& weights, const Setup& setup, std::size_t stride)
      : weights_(weights), features_(setup.features), stride_(stride), slots_(setup.features * stride) {}

  // A long example does not fit into the near caches: its features are asked for piece by piece, one piece ahead.
  // (The whole of the next example would drive out the one that is being learned from: 12 ns a feature instead of 8
  // with 5,000 features of 6.4 million.)
  static constexpr std::size_t piece = 512;
  // f(k) for every four of an example. (With this and with_weights, which look at nothing for every four, FOBOS takes
  // 0.9 of the time on RCV1.)
  template <class F>
  [[gnu::always_inline]] void each_four(std::span<const std::int32_t> features, F f) const {
    const std::size_t fours = features.size() - features.size() % 4;
    for (std::size_t k = 0; k < fours;) {
      if (k + piece < features.size()) fetch_slots(features, k + piece, std::min(features.size(), k + 2 * piece));
      for (const std::size_t end = std::min(fours, k + piece); k < end; k += 4) f(k);
    }
  }
  [[gnu::always_inline]] void fetch_slots(std::span<const std::int32_t> features, std::size_t k,
                                          std::size_t end) const {
    for (; k < end; ++k) __builtin_prefetch(&slots_[static_cast<std::size_t>(features[k]) * stride_], 1);
  }

  Weights weights_;  // of the penalty, one per feature, or none
  std::size_t features_, stride_;
  Slots slots_;
  std::vector<double> seen_;  // the weights of the example's features, as they were when it came

  // f(weights), compiled for none too.
  struct NoWeights {};
  template <class F>
  [[gnu::always_inline]] auto with_weights(F f) const {
    return weights_.empty() ? f(NoWeights{}) : f(weights_.data());
  }
  // s times the weights of four features
  [[gnu::always_inline]] static Quad times_weights(Quad s, NoWeights, const std::int32_t*) { return s; }
  [[gnu::always_inline]] static Quad times_weights(Quad s, const double* weights, const std::int32_t* j) {
    return s * gather(weights, j);
  }

  // Fills `seen_`, by fours (of j) and one by one, and returns Σ x w; summed in several registers, so that no addition
  // waits for the one before.
  template <class T, class Fours, class One>
  [[gnu::always_inline]] double peek_all(const RowOf<T>& row, Fours fours, One one) {
    const T* x = row.x;
    const std::size_t n = row.size();
    if (seen_.size() < n) seen_.resize(2 * n);
    double* to = seen_.data();
    const std::int32_t* j = row.index.data();
    Quad sums = {};
    double rest = 0;
    each_four(row.index, [&](std::size_t k) GOSSAMER_INLINE {
      const Quad w = fours(j + k);
      store_four(to + k, w);
      sums += load_four(x + k) * w;
    });
    for (std::size_t k = n - n % 4; k < n; ++k) {
      to[k] = one(static_cast<std::size_t>(j[k]));
      rest += static_cast<double>(x[k]) * to[k];
    }
    return rest + ((sums[0] + sums[2]) + (sums[1] + sums[3]));
  }
  // The features again, with the weights that were seen.
  template <class T, class Fours, class One>
  [[gnu::always_inline]] void move_all(const RowOf<T>& row, Fours fours, One one) {
    const double* w = seen_.data();
    const T* x = row.x;
    const std::int32_t* j = row.index.data();
    const std::size_t n = row.size();
    each_four(row.index, [&](std::size_t k) GOSSAMER_INLINE { fours(j + k, load_four(w + k), load_four(x + k)); });
    for (std::size_t k = n - n % 4; k < n; ++k) one(static_cast<std::size_t>(j[k]), w[k], static_cast<double>(x[k]));
  }
};

// As the setup asks.
template <class R>
std::unique_ptr<Rule> plain_or_averaged(std::unique_ptr<R> rule, const Setup& setup) {
  if (!setup.average) return rule;
  return std::make_unique<Averaged<R>>(std::move(rule), setup);
}

}  // namespace gossamer
