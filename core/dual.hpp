// Regularised dual averaging and its kin: the state is the sum of gradients G, and weights are read from it on demand,
//
//     w_{t+1} = argmin_w <G_t, w> + t α Ω(w) + ‖w‖² / (2 c) = prox(−c G_t, c t α),
//
// so no feature ever has to catch up. The rate c is
//
//     RDA       1 / (γ √t), with γρ√t more of ℓ1 (Xiao 2009, Eq. 8-10; h = ½‖w‖² + ρ‖w‖₁, β_t = γ√t)
//     AdaGrad   η / (m_j √s_j): one a feature, s_j = Σ ‖g_j‖², m_j the largest |x_j| so far (Duchi, Hazan & Singer
//     2011) FTRL      η / (β + √s_j), and G gains −σ w in each round so that w_t is the centre (McMahan 2011)
//
// The penalty must be a sum over features (rows of W).
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "fobos.hpp"

namespace gossamer {

// w = prox(−c G, c t α) for one row, with some more of ℓ1 first (which is exact for ℓ1, its kin and the sparse group)
template <class P>
void dual_weights(const P& p, std::span<const double> sum, std::span<double> w, double c, double t_alpha, double extra,
                  double weight, Scratch& scratch) {
  for (std::size_t r = 0; r < w.size(); ++r) w[r] = soft(-c * sum[r], c * extra);
  prox_row(p, w, c * t_alpha, weight, scratch);
}

template <std::size_t K, class P>
class RdaRule {
 public:
  RdaRule(P p, std::size_t features, std::size_t outputs, double alpha, std::vector<double> weights, double rho)
      : p_(p),
        k_{outputs},
        alpha_(alpha),
        rho_(rho),
        weights_(std::move(weights)),
        state_(2),
        w_(outputs),
        sums_(features * outputs) {}

  void prefetch(std::size_t j) const { __builtin_prefetch(&sums_[j * k_()], 1); }
  void begin(double gamma) {
    if (state_[0] > 0) {
      const double root = std::sqrt(state_[0]);
      rate_ = rate(state_[1]);
      t_alpha_ = state_[0] * alpha_;
      extra_ = state_[1] * rho_ * root;
    }
    state_[1] = gamma;
  }
  void accumulate(std::size_t j, double x, double* z) {
    if (state_[0] == 0) {
      start(j, w_.data());
    } else {
      dual_weights(p_, sum(j), std::span(w_.data(), k_()), rate_, t_alpha_, extra_, weight_of(weights_, j), scratch_);
    }
    for (std::size_t r = 0; r < k_(); ++r) z[r] += x * w_[r];
  }
  void update(std::size_t j, double x, const double* slope) {
    for (std::size_t r = 0; r < k_(); ++r) sums_[j * k_() + r] += x * slope[r];
  }
  void end() { state_[0] += 1; }
  void read(std::size_t j, double* w) const {
    if (state_[0] == 0) return start(j, w);
    dual_weights(p_, sum(j), {w, k_()}, rate(state_[1]), state_[0] * alpha_, state_[1] * rho_ * std::sqrt(state_[0]),
                 weight_of(weights_, j), scratch_);
  }
  template <class F>
  void visit(F f) {
    f("rounds_gamma", state_), f("sums", sums_);
  }

 private:
  P p_;
  Width<K> k_;
  double alpha_, rho_, rate_ = 0, t_alpha_ = 0, extra_ = 0;
  std::vector<double> weights_;
  std::vector<double> state_;  // t, the last γ
  std::vector<double> w_;      // weights of the feature at hand
  std::vector<double> sums_;   // G
  mutable Scratch scratch_;

  std::span<const double> sum(std::size_t j) const { return {&sums_[j * k_()], k_()}; }
  // 1 / (γ√t); without the strongly convex helper (γ = 0) the penalty must be strongly convex itself, and a huge rate
  // stands for the limit.
  double rate(double gamma) const { return 1.0 / std::max(gamma * std::sqrt(state_[0]), 1e-12 * state_[0] * alpha_); }
  void start(std::size_t j, double* w) const {
    std::fill_n(w, k_(), 0.0);
    prox_row(p_, {w, k_()}, 0.0, weight_of(weights_, j), scratch_);
  }
};

// AdaGrad in its dual form and FTRL-Proximal.
template <std::size_t K, class P, bool Proximal>
class AdaptiveDualRule {
 public:
  AdaptiveDualRule(P p, std::size_t features, std::size_t outputs, double alpha, std::vector<double> weights,
                   double beta)
      : p_(p),
        k_{outputs},
        alpha_(alpha),
        beta_(beta),
        weights_(std::move(weights)),
        state_(2),
        w_(outputs),
        slots_(features * (outputs * (1 + Proximal) + 2)) {}

  void prefetch(std::size_t j) const { __builtin_prefetch(&slots_[j * stride()], 1); }
  void begin(double eta) { state_[1] = eta; }
  void accumulate(std::size_t j, double x, double* z) {
    double* s = &slots_[j * stride()];
    double* w = Proximal ? s + 2 + k_() : w_.data();
    weights(s, w, j);
    for (std::size_t r = 0; r < k_(); ++r) z[r] += x * w[r];
  }
  void update(std::size_t j, double x, const double* slope) {
    double* s = &slots_[j * stride()];
    const double before = s[0];
    for (std::size_t r = 0; r < k_(); ++r) s[0] += (x * slope[r]) * (x * slope[r]);
    if constexpr (!Proximal) s[1] = std::max(s[1], std::fabs(x));
    for (std::size_t r = 0; r < k_(); ++r) s[2 + r] += x * slope[r];
    if constexpr (Proximal) {
      const double sigma = (std::sqrt(s[0]) - std::sqrt(before)) / state_[1];
      for (std::size_t r = 0; r < k_(); ++r) s[2 + r] -= sigma * s[2 + k_() + r];
    }
  }
  void end() { state_[0] += 1; }
  void read(std::size_t j, double* w) const { weights(&slots_[j * stride()], w, j); }
  template <class F>
  void visit(F f) {
    f("rounds_eta", state_), f("slots", slots_);
  }

 private:
  P p_;
  Width<K> k_;
  double alpha_, beta_;
  std::vector<double> weights_;
  std::vector<double> state_;  // t, η
  std::vector<double> w_;      // weights of the feature at hand
  std::vector<double> slots_;  // a feature: s, m, G, and for FTRL the weights it had when last read
  mutable Scratch scratch_;

  std::size_t stride() const { return k_() * (1 + Proximal) + 2; }
  void weights(const double* s, double* w, std::size_t j) const {
    double c = 0;
    if (s[0] > 0) c = Proximal ? state_[1] / (beta_ + std::sqrt(s[0])) : state_[1] / (s[1] * std::sqrt(s[0]));
    dual_weights(p_, {s + 2, k_()}, {w, k_()}, c, state_[0] * alpha_, 0.0, weight_of(weights_, j), scratch_);
  }
};

}  // namespace gossamer
