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
//
// Averages (see averaging.hpp): between touches G and, but for RDA, c are constant, so that paths have closed forms for
// ℓ1 (signed or not), ℓ2 of a row and the box, except where RDA's ρ meets the last two. The other penalties, and RDA
// with γ = 0, are followed round by round. If γ changes between rounds, all paths are added up: O(d) a change.
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
  static constexpr std::size_t width = K;

  RdaRule(P p, std::size_t features, std::size_t outputs, double alpha, std::vector<double> weights, double rho)
      : p_(p),
        k_{outputs},
        alpha_(alpha),
        rho_(rho),
        weights_(std::move(weights)),
        w_(outputs),
        sums_(features * outputs) {}

  void prefetch(std::size_t j) const { __builtin_prefetch(&sums_[j * k_()], 1); }
  void begin(double gamma) {
    if (rounds_ > 0) {
      now_ = RootPoint(rounds_);
      rate_ = rate(gamma_, rounds_);
      t_alpha_ = rounds_ * alpha_;
      extra_ = gamma_ * rho_ * now_.root;
    }
    gamma_ = gamma;
  }
  void accumulate(std::size_t j, double x, double* z) {
    if constexpr (K == 1) {
      double w;
      weights(j, &w);
      *z += x * w;
    } else {
      weights(j, w_.data());
      for (std::size_t r = 0; r < k_(); ++r) z[r] += x * w_[r];
    }
  }
  void update(std::size_t j, double x, const double* slope) {
    for (std::size_t r = 0; r < k_(); ++r) sums_[j * k_() + r] += x * slope[r];
  }
  void end() { rounds_ += 1; }
  void read(std::size_t j, double* w) const {
    if (rounds_ == 0) return start(j, w);
    weights_at(rounds_, j, {w, k_()});
  }
  bool settles(double gamma) const { return gamma != gamma_; }
  void add_path(std::size_t j, double n, double* total) const {
    const double before = rounds_ - n, a = weight_of(weights_, j) * alpha_;
    const bool plain_rate = gamma_ > 0 && gamma_ * gamma_ >= 1e-24 * alpha_ * alpha_ * rounds_;  // c = 1/(γ√t)
    if constexpr (shortens<P>) {
      if (plain_rate && (rho_ == 0 || !std::is_same_v<P, L2>)) {
        add_shortening(p_, sum(j), -1.0, total, [&](double size) { return shrinking_sum(size, a, before); });
        return;
      }
    } else if constexpr (std::is_same_v<P, Box>) {
      if (plain_rate && rho_ == 0) {
        for (std::size_t r = 0; r < k_(); ++r) total[r] += boxed_sum(-sum(j)[r], before);
        return;
      }
    }
    double t = before;
    add_steps(sum(j), n, total, [&](std::span<double> w) { weights_at(t += 1, j, w); });
  }
  template <class F>
  void visit(F f) {
    f("rounds", rounds_), f("gamma", gamma_), f("sums", sums_);
  }

 private:
  P p_;
  Width<K> k_;
  double alpha_, rho_, rate_ = 0, t_alpha_ = 0, extra_ = 0;
  double rounds_ = 0, gamma_ = 0;
  RootPoint now_;  // the round before this one
  std::vector<double> weights_;
  std::vector<double> w_;     // weights of the feature at hand
  std::vector<double> sums_;  // G
  mutable Scratch scratch_;

  std::span<const double> sum(std::size_t j) const { return {&sums_[j * k_()], k_()}; }
  void weights(std::size_t j, double* w) const {
    if (rounds_ == 0) return start(j, w);
    dual_weights(p_, sum(j), {w, k_()}, rate_, t_alpha_, extra_, weight_of(weights_, j), scratch_);
  }
  // 1 / (γ√t); without the strongly convex helper (γ = 0) the penalty must be strongly convex itself, and a huge rate
  // stands for the limit.
  double rate(double gamma, double t) const { return 1.0 / std::max(gamma * std::sqrt(t), 1e-12 * t * alpha_); }
  void weights_at(double t, std::size_t j, std::span<double> w) const {
    dual_weights(p_, sum(j), w, rate(gamma_, t), t * alpha_, gamma_ * rho_ * std::sqrt(t), weight_of(weights_, j),
                 scratch_);
  }
  RootPoint point(double t) const { return t == now_.t ? now_ : RootPoint(t); }
  // Σ [size/(γ√t) − ρ − (a/γ)√t]₊ over the rounds after `before`
  double shrinking_sum(double size, double a, double before) const {
    const double push = gamma_ * rho_;
    double last = rounds_;
    if (size <= a * last + push * point(last).root) {  // zero by now; since the root of a t + γρ√t = size
      if (size <= a * before) return 0.0;
      const double root = 2 * size / (push + std::sqrt(push * push + 4 * a * size));
      last = std::clamp(std::floor(root * root), before, last);
    }
    const RootSums roots = root_sums(before, point(last));
    return (size * roots.inverse - a * roots.direct) / gamma_ - rho_ * (last - before);
  }
  // Σ of v/(γ√t) held in the box over the rounds after `before`: it is on the bound behind it, then free, then on the
  // bound before it.
  double boxed_sum(double v, double before) const {
    const double size = std::fabs(v), high = v > 0 ? p_.high : -p_.low, low = v > 0 ? p_.low : -p_.high;
    auto reached = [&](double bound) {  // the last round with v/(γ√t) at or beyond it
      if (bound <= 0) return rounds_;
      const double root = size / (gamma_ * bound);
      return std::clamp(std::floor(root * root), before, rounds_);
    };
    const double freed = reached(high), held = std::max(freed, reached(low));
    double sum = size / gamma_ * root_sums(freed, point(held)).inverse;
    if (freed > before) sum += (freed - before) * high;
    if (held < rounds_) sum += (rounds_ - held) * low;
    return v > 0 ? sum : -sum;
  }
  void start(std::size_t j, double* w) const {
    std::fill_n(w, k_(), 0.0);
    prox_row(p_, {w, k_()}, 0.0, weight_of(weights_, j), scratch_);
  }
};

// AdaGrad in its dual form and FTRL-Proximal.
template <std::size_t K, class P, bool Proximal>
class AdaptiveDualRule {
 public:
  static constexpr std::size_t width = K;

  AdaptiveDualRule(P p, std::size_t features, std::size_t outputs, double alpha, std::vector<double> weights,
                   double beta)
      : p_(p),
        k_{outputs},
        alpha_(alpha),
        beta_(beta),
        weights_(std::move(weights)),
        w_(outputs),
        slots_(features * (outputs * (1 + Proximal) + 3)) {}

  void prefetch(std::size_t j) const { __builtin_prefetch(&slots_[j * stride()], 1); }
  void begin(double eta) { eta_ = eta; }
  void accumulate(std::size_t j, double x, double* z) {
    double* s = &slots_[j * stride()];
    if constexpr (Proximal) {
      weights(s, s + 3 + k_(), j);
      for (std::size_t r = 0; r < k_(); ++r) z[r] += x * s[3 + k_() + r];
    } else if constexpr (K == 1) {
      double w;
      weights(s, &w, j);
      *z += x * w;
    } else {
      weights(s, w_.data(), j);
      for (std::size_t r = 0; r < k_(); ++r) z[r] += x * w_[r];
    }
  }
  void update(std::size_t j, double x, const double* slope) {
    double* s = &slots_[j * stride()];
    double squares = 0;
    for (std::size_t r = 0; r < k_(); ++r) squares += (x * slope[r]) * (x * slope[r]);
    if (squares == 0) return;
    for (std::size_t r = 0; r < k_(); ++r) s[3 + r] += x * slope[r];
    s[0] += squares;
    const double root = std::sqrt(s[0]);
    if constexpr (Proximal) {  // s[1] holds the root before
      const double sigma = (root - s[1]) / eta_;
      for (std::size_t r = 0; r < k_(); ++r) s[3 + r] -= sigma * s[3 + k_() + r];
      s[1] = root;
      s[2] = eta_ / (beta_ + root);
    } else {
      s[1] = std::max(s[1], std::fabs(x));
      s[2] = eta_ / (s[1] * root);
    }
  }
  void end() { rounds_ += 1; }
  void read(std::size_t j, double* w) const { weights(&slots_[j * stride()], w, j); }
  void add_path(std::size_t j, double n, double* sum) const {
    const double* s = &slots_[j * stride()];
    const double c = s[2], a = alpha_ * weight_of(weights_, j), before = rounds_ - n;
    const std::span<const double> g{s + 3, k_()};
    if constexpr (shortens<P>) {
      add_shortening(p_, g, -1.0, sum, [&](double size) {
        const double start = c * (size - a * before);
        return start > 0 ? arithmetic_sum(start, c * a, n) : 0.0;
      });
    } else if constexpr (std::is_same_v<P, Box>) {
      for (std::size_t r = 0; r < k_(); ++r) sum[r] += n * p_.prox(-c * g[r], 0.0);
    } else {
      double t = before;
      add_steps(g, n, sum, [&](std::span<double> w) {
        dual_weights(p_, g, w, c, (t += 1) * alpha_, 0.0, weight_of(weights_, j), scratch_);
      });
    }
  }
  template <class F>
  void visit(F f) {
    f("rounds", rounds_), f("eta", eta_), f("slots", slots_);
  }

 private:
  P p_;
  Width<K> k_;
  double alpha_, beta_, rounds_ = 0, eta_ = 0;
  std::vector<double> weights_;
  std::vector<double> w_;      // weights of the feature at hand
  std::vector<double> slots_;  // a feature: s; m (FTRL: √s); c; G; FTRL: the weights it had when last read
  mutable Scratch scratch_;

  std::size_t stride() const { return k_() * (1 + Proximal) + 3; }
  void weights(const double* s, double* w, std::size_t j) const {
    dual_weights(p_, {s + 3, k_()}, {w, k_()}, s[2], rounds_ * alpha_, 0.0, weight_of(weights_, j), scratch_);
  }
};

}  // namespace gossamer
