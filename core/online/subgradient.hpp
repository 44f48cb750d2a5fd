// Subgradient descent, the baseline that never reaches zero:
//
//     w_{t+1} = w_t − η_t (g_t + α ξ_t),   ξ_t ∈ ∂Ω(w_t).
//
// A feature that was away repeats its missed rounds one by one when it is next needed: there is no shorter way, because
// near zero the weight jumps from side to side. The average of the weights is followed in the same way.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "online/fobos.hpp"

namespace gossamer {

inline double sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; }

// w ← w − s ξ, ξ ∈ ∂Ω(w); the subgradient at zero is zero.
inline void descend(const L1&, std::span<double> w, double s, double weight) {
  for (double& x : w) x -= s * weight * sign(x);
}
inline void descend(const ElasticNet& p, std::span<double> w, double s, double weight) {
  for (double& x : w) x -= s * weight * (p.l1_ratio * sign(x) + (1 - p.l1_ratio) * x);
}
inline void descend(const Berhu& p, std::span<double> w, double s, double weight) {
  for (double& x : w) x -= s * weight * (std::fabs(x) <= p.gamma ? sign(x) : x / p.gamma);
}
inline void descend(const L2&, std::span<double> w, double s, double weight) {
  const double norm = norm2(std::span<const double>(w));
  if (norm > 0) scale_into(std::span<const double>(w), w, 1 - s * weight / norm);
}
inline void descend(const LInf&, std::span<double> w, double s, double weight) {
  const auto top = std::max_element(w.begin(), w.end(), [](double a, double b) { return std::fabs(a) < std::fabs(b); });
  if (top != w.end()) *top -= s * weight * sign(*top);
}
inline void descend(const SparseL2& p, std::span<double> w, double s, double weight) {
  const double norm = norm2(std::span<const double>(w));
  for (double& x : w) x -= s * (p.l1_ratio * sign(x) + (norm > 0 ? (1 - p.l1_ratio) * weight * x / norm : 0.0));
}

template <std::size_t K, class P>
class SubgradientRule {
 public:
  static constexpr std::size_t width = K;

  SubgradientRule(P p, std::size_t features, std::size_t outputs, double alpha, std::vector<double> weights)
      : p_(p),
        k_{outputs},
        features_(features),
        alpha_(alpha),
        weights_(std::move(weights)),
        slots_(features * (outputs + 1)) {}

  void prefetch(std::size_t j) const { __builtin_prefetch(&slots_[j * stride()], 1); }
  void begin(double eta) {
    eta_ = eta;
    if (!full()) return;
    for (std::size_t j = 0; j < features_; ++j) catch_up(j, row(j)), slots_[j * stride()] = 0;
    steps_.clear();
  }
  void accumulate(std::size_t j, double x, double* z) {
    catch_up(j, row(j));
    slots_[j * stride()] = static_cast<double>(steps_.size()) + 1;
    for (std::size_t r = 0; r < k_(); ++r) z[r] += x * row(j)[r];
    descend(p_, row(j), eta_ * alpha_, weight_of(weights_, j));  // the subgradient of this round, at w_t
  }
  void update(std::size_t j, double x, const double* slope) {
    for (std::size_t r = 0; r < k_(); ++r) row(j)[r] -= eta_ * x * slope[r];
  }
  void end() { steps_.push_back(eta_ * alpha_); }
  void read(std::size_t j, double* w) const {
    std::copy_n(&slots_[j * stride() + 1], k_(), w);
    catch_up(j, {w, k_()});
  }
  bool settles(double) const { return full(); }
  void add_path(std::size_t j, double n, double* sum) const {
    const std::size_t seen = static_cast<std::size_t>(slots_[j * stride()]);
    std::size_t t = steps_.size() - std::min(static_cast<std::size_t>(n), steps_.size());
    add_steps({&slots_[j * stride() + 1], k_()}, static_cast<double>(steps_.size() - t), sum,
              [&](std::span<double> row) {
                if (t >= seen) descend(p_, row, steps_[t], weight_of(weights_, j));
                ++t;
              });
  }
  template <class F>
  void visit(F f) {
    f("slots", slots_), f("steps", steps_);
  }

 private:
  P p_;
  Width<K> k_;
  std::size_t features_;
  double alpha_, eta_ = 0;
  std::vector<double> weights_;
  Slots slots_;                // a feature: rounds it has seen, its weights
  std::vector<double> steps_;  // ηα of each recorded round

  bool full() const { return steps_.size() >= std::max<std::size_t>(features_, 1 << 16); }
  std::size_t stride() const { return k_() + 1; }
  std::span<double> row(std::size_t j) { return {&slots_[j * stride() + 1], k_()}; }
  void catch_up(std::size_t j, std::span<double> w) const {
    for (std::size_t t = static_cast<std::size_t>(slots_[j * stride()]); t < steps_.size() && !all_zero(w); ++t) {
      descend(p_, w, steps_[t], weight_of(weights_, j));
    }
  }
};

}  // namespace gossamer
