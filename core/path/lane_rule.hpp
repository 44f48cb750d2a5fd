// Lanes of what is hot, the ℓ1 norm with one output: m strengths side by side in one pass.
//
// All lanes see the same examples, so that what depends on the moment of a touch only (stamps, the largest |x_j|) is
// kept once per feature, at its head, and the rest lies side by side, a feature after the other: an example's cache
// lines are fetched once, and the m updates are loops over neighbours, which compile to vector instructions.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "online/hot.hpp"

namespace gossamer {

class LaneRule : public Rule {
 public:
  void read(std::size_t j, double* w) const override { weights_of(j, w); }

 protected:
  // Numbers per feature: at its head, and of each lane.
  LaneRule(const Weights& weights, const Setup& setup, std::size_t head, std::size_t per_lane)
      : m_(setup.lanes()),
        features_(setup.features),
        alphas_(setup.alphas),
        step_factors_(setup.step_factors),
        weights_(weights),
        head_(head),
        stride_(m_ * per_lane),
        heads_(features_ * head),
        slots_(features_ * stride_ + line) {
    while (reinterpret_cast<std::uintptr_t>(&slots_[first_]) % (line * sizeof(double)) != 0) ++first_;
  }

  std::size_t m_, features_;
  std::vector<double> alphas_, step_factors_;
  Weights weights_;  // of the penalty, one per feature, or none

  virtual void weights_of(std::size_t j, double* w) const = 0;
  double* head(std::size_t j) { return &heads_[j * head_]; }
  const double* head(std::size_t j) const { return &heads_[j * head_]; }
  double* numbers(std::size_t j) { return &slots_[first_ + j * stride_]; }
  const double* numbers(std::size_t j) const { return &slots_[first_ + j * stride_]; }
  void visit_features(StateVisitor& f, Record of_head, Record of_lanes) {
    f("heads", heads_, of_head), f("slots", std::span(numbers(0), features_ * stride_), Per::feature, of_lanes);
  }
  std::span<double> all_numbers() { return {numbers(0), features_ * stride_}; }
  double weight(std::size_t j) const { return weight_of(weights_, j); }

  // f(j, x, n) for all features of the row; the state of the next row's is fetched on the way: while it is read from
  // the first on, while it learns from where reading ended.
  template <class F>
  [[gnu::always_inline]] void each(const Row& row, bool reading, F f) const {
    const std::size_t from = reading ? 0 : row.size();
    for (std::size_t n = 0; n < row.size(); ++n) {
      if (from + n < row.next.size()) fetch(static_cast<std::size_t>(row.next[from + n]));
      f(row[n], row.x[n], n);
    }
  }

 private:
  static constexpr std::size_t line = 8;  // doubles in a cache line, where the numbers of the first feature start
  std::size_t head_, stride_, first_ = 0;
  Slots heads_, slots_;

  [[gnu::always_inline]] void fetch(std::size_t j) const {
    if (head_ > 0) __builtin_prefetch(head(j), 1);
    const auto* slot = reinterpret_cast<const char*>(numbers(j));
    for (std::size_t byte = 0; byte < stride_ * sizeof(double); byte += 64) __builtin_prefetch(slot + byte, 1);
  }
};

}  // namespace gossamer
