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
// ℓ1 (signed or not), ℓ2 of a row and the box (with RDA's ρ = 0). The other penalties are followed round by round. If
// RDA's γ changes between rounds, all paths are added up: O(d) a change.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "base/memory.hpp"
#include "online/fobos.hpp"

namespace gossamer {

// w = prox(−c G, c t α) for one row, with some more of ℓ1 first (which is exact for ℓ1, its kin and the sparse group)
template <class P>
void dual_weights(const P& p, std::span<const double> sum, std::span<double> w, double c, double t_alpha, double extra,
                  double weight, Scratch& scratch) {
  for (std::size_t r = 0; r < w.size(); ++r) w[r] = extra == 0 ? -c * sum[r] : soft(-c * sum[r], c * extra);
  prox_row(p, w, c * t_alpha, weight, scratch);
}

// Roomy if it is averaged: a trail, and room for what averaging keeps.
template <std::size_t K, class P, bool Roomy = false>
class RdaRule {
 public:
  static constexpr std::size_t width = K;
  static constexpr bool paired = K == 1 && Roomy && shortens<P>;  // averaged in two numbers a feature

  RdaRule(P p, std::size_t features, std::size_t outputs, double alpha, std::vector<double> weights, double rho)
      : p_(p),
        k_{outputs},
        alpha_(alpha),
        rho_(rho),
        trail_(features),
        weights_(std::move(weights)),
        w_(outputs),
        slots_(features * stride()) {}

  void prefetch(std::size_t j) const { __builtin_prefetch(&slots_[j * stride()], 1); }
  void begin(double gamma) {
    if (rounds_ > 0) {
      rate_ = rate(gamma_, rounds_);
      t_alpha_ = rounds_ * alpha_;
      extra_ = gamma_ * rho_ * std::sqrt(rounds_);
    }
    [[maybe_unused]] const bool settling = settles(gamma);
    gamma_ = gamma;
    if constexpr (Roomy) {
      if (settling) restart();
      pushed_ = gamma_ * rho_ * std::sqrt(rounds_);
    }
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
    for (std::size_t r = 0; r < k_(); ++r) slots_[j * stride() + r] += x * slope[r];
  }
  double peek(std::size_t j) const
    requires(K == 1)
  {
    double w;
    weights(j, &w);
    return w;
  }
  [[gnu::always_inline]] Quad peek_four(const std::int32_t* j) const {
    const Quad c = spread_four(rate_);
    Quad w = -c * gather(&slots_[0], j, stride());
    if (extra_ != 0) w = soft(w, c * spread_four(extra_));
    return prox_four(p_, w, c * spread_four(t_alpha_) * weights_of(weights_, j));
  }
  void move(std::size_t j, double, double x, double slope) { slots_[j * stride()] += x * slope; }
  void end() {
    rounds_ += 1;
    if constexpr (Roomy) trail_.push(rounds_, rate(gamma_, rounds_), gamma_ * rho_ * std::sqrt(rounds_));
  }
  void read(std::size_t j, double* w) const {
    if (rounds_ == 0) return start(j, w);
    weights_at(rounds_, j, {w, k_()});
  }
  bool settles(double gamma) const { return gamma != gamma_ || trail_.full(); }
  const double* room(std::size_t j) const
    requires Roomy
  {
    return &slots_[j * stride() + (paired ? 0 : k_())];
  }
  // c_t (|G| − a t − γρ√t), until that is zero
  void open(std::size_t j, double* m) const
    requires shortens<P>
  {
    const double a = weight_of(weights_, j) * alpha_;
    add_shortening(p_, sum(j), -1.0, m, [&](double x) { return alive(x, a, rounds_) ? -trail_.line(x, a) : 0.0; });
  }
  void close(std::size_t j, double n, double* m) const {
    if constexpr (paired) {
      if (marked(slots_[j * stride() + 1])) close_lines(j, sum(j), 0.0, m);
    } else {
      close_lines(j, sum(j), rounds_ - n, m);
    }
  }
  // Here a feature is G and m, whose mark says whether a line is open. The line so far gives way to the next.
  void slide(std::size_t j, double, double x, double slope)
    requires paired
  {
    double* slot = &slots_[j * stride()];
    if (marked(slot[1])) close_lines(j, sum(j), 0.0, slot + 1);
    slot[0] += x * slope;
    open(j, slot + 1);
    slot[1] = mark(slot[1], alive(size(slot[0]), weight_of(weights_, j) * alpha_, rounds_));
  }
  [[gnu::always_inline]] void slide_four(const std::int32_t* j, Quad, Quad x, double slope)
    requires(paired && std::is_same_v<P, L1>)
  {
    const Quad a = weights_of(weights_, j) * spread_four(alpha_), g = gather(&slots_[0], j, 2);
    const Quad m = gather(&slots_[1], j, 2);
    const Quad least = a * spread_four(rounds_) + spread_four(pushed_);
    const QuadBits alive = (g > least) | (g < -least);
    if (any(marked(m) & ~alive)) {  // one that ended on the way
      for (int n = 0; n < 4; ++n) slide(static_cast<std::size_t>(j[n]), 0.0, x[n], slope);
      return;
    }
    const Quad h = g + x * spread_four(slope);
    const QuadBits lives = (h > least) | (h < -least);
    const Quad by = select(lives, trail_.line(h, a)) - select(alive, trail_.line(g, a));
    const Quad marks = mark(m + by, lives);
    for (int n = 0; n < 4; ++n) {
      double* slot = &slots_[static_cast<std::size_t>(j[n]) * 2];
      slot[0] = h[n], slot[1] = marks[n];
    }
  }
  void add_path(std::size_t j, double n, double* total) const {
    if constexpr (std::is_same_v<P, Box>) {
      if (gamma_ > 0 && rho_ == 0) {
        for (std::size_t r = 0; r < k_(); ++r) total[r] += boxed_sum(-sum(j)[r], rounds_ - n);
        return;
      }
    }
    double t = rounds_ - n;
    add_steps(sum(j), n, total, [&](std::span<double> w) { weights_at(t += 1, j, w); });
  }
  template <class F>
  void visit(F f) {
    f("rounds", rounds_), f("gamma", gamma_), f("sums", slots_);
    if constexpr (Roomy) trail_.visit(f);
  }

 private:
  P p_;
  Width<K> k_;
  Shared alpha_, rho_, rate_, t_alpha_, extra_, rounds_, gamma_, pushed_;
  DualTrail trail_;  // if it is averaged
  std::vector<double> weights_;
  std::vector<double> w_;  // weights of the feature at hand
  Slots slots_;            // a feature: G; if it is averaged m, or the round of the last touch and the sums
  mutable Scratch scratch_;

  std::size_t stride() const { return paired ? 2 : k_() + Roomy * (k_() + 1); }
  std::span<const double> sum(std::size_t j) const { return {&slots_[j * stride()], k_()}; }
  void weights(std::size_t j, double* w) const {  // before the first round: of rate 0
    dual_weights(p_, sum(j), {w, k_()}, rate_, t_alpha_, extra_, weight_of(weights_, j), scratch_);
  }
  // All paths have been added up: the record starts anew. A line that is marked and has ended adds nothing.
  void restart() {
    if constexpr (paired) {
      if (rounds_ > 0) {
        for (std::size_t n = 1; n < slots_.size(); n += 2) slots_[n] = mark(slots_[n], slots_[n - 1] != 0);
      }
    }
    trail_.restart(rounds_);
  }
  // 1 / (γ√t); without the strongly convex helper (γ = 0) the penalty must be strongly convex itself, and a huge rate
  // stands for the limit.
  double rate(double gamma, double t) const { return 1.0 / std::max(gamma * std::sqrt(t), 1e-12 * t * alpha_); }
  void weights_at(double t, std::size_t j, std::span<double> w) const {
    dual_weights(p_, sum(j), w, rate(gamma_, t), t * alpha_, gamma_ * rho_ * std::sqrt(t), weight_of(weights_, j),
                 scratch_);
  }
  // Adds up the lines of those of the sums g that had one in round `before`.
  void close_lines(std::size_t j, std::span<const double> g, double before, double* m) const {
    const double a = weight_of(weights_, j) * alpha_;
    add_shortening(p_, g, -1.0, m, [&](double x) {
      if (!alive(x, a, before)) return 0.0;
      return alive(x, a, rounds_) ? trail_.line(x, a) : trail_.line(x, a, end_of(x, a, before));
    });
  }
  // What of −g counts: all of it, or the positive part.
  static double size(double g) { return std::is_same_v<P, NonNegativeL1> ? std::max(-g, 0.0) : std::fabs(g); }
  bool alive(double x, double a, double t) const { return x > a * t + (rho_ > 0 ? gamma_ * rho_ * std::sqrt(t) : 0.0); }
  // The last round in which something is left of x, now that nothing is: from the root of a t + γρ√t = x.
  double end_of(double x, double a, double before) const {
    const double push = gamma_ * rho_;
    const double root = push > 0 ? 2 * x / (push + std::sqrt(push * push + 4 * a * x)) : 0.0;
    return std::clamp(std::floor(push > 0 ? root * root : x / a), std::max(before, trail_.first()), double{rounds_});
  }
  // Σ of v/(γ√t) held in the box over the rounds after `before`: it is on the bound behind it, then free, then on the
  // bound before it.
  double boxed_sum(double v, double before) const {
    const double size = std::fabs(v), high = v > 0 ? p_.high : -p_.low, low = v > 0 ? p_.low : -p_.high;
    auto reached = [&](double bound) {  // the last round with v/(γ√t) at or beyond it
      if (bound <= 0) return double{rounds_};
      const double root = size / (gamma_ * bound);
      return std::clamp(std::floor(root * root), before, double{rounds_});
    };
    const double freed = reached(high), held = std::max(freed, reached(low));
    double sum = size * trail_.rates(freed, held);
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
template <std::size_t K, class P, bool Proximal, bool Roomy = false>
class AdaptiveDualRule {
 public:
  static constexpr std::size_t width = K;
  static constexpr bool fours = K == 1 && std::is_same_v<P, L1> && !Proximal && !Roomy;

  AdaptiveDualRule(P p, std::size_t features, std::size_t outputs, double alpha, std::vector<double> weights,
                   double beta)
      : p_(p),
        k_{outputs},
        alpha_(alpha),
        beta_(beta),
        weights_(std::move(weights)),
        w_(outputs),
        slots_(features * stride()) {}

  void prefetch(std::size_t j) const { __builtin_prefetch(&slots_[j * stride()], 1); }
  void begin(double eta) { eta_ = eta; }
  void accumulate(std::size_t j, double x, double* z) {
    double* s = &slots_[j * stride()];
    if constexpr (Proximal) {
      weights(s, s + 3 + k_(), j);
      for (std::size_t r = 0; r < k_(); ++r) z[r] += x * s[3 + k_() + r];
      return;
    }
    if (const double size = std::fabs(x); size > s[1]) {  // larger than ever: known before it is used
      s[2] *= s[1] / size;
      s[1] = size;
    }
    if constexpr (K == 1) {
      double w;
      weights(s, &w, j);
      *z += x * w;
    } else {
      weights(s, w_.data(), j);
      for (std::size_t r = 0; r < k_(); ++r) z[r] += x * w_[r];
    }
  }
  void meet(std::size_t j, double x)
    requires fours
  {
    double* s = &slots_[j * stride()];
    if (const double size = std::fabs(x); size > s[1]) s[2] *= s[1] / size, s[1] = size;
  }
  double peek(std::size_t j) const
    requires fours
  {
    double w;
    weights(&slots_[j * stride()], &w, j);
    return w;
  }
  [[gnu::always_inline]] Quad peek_four(const std::int32_t* j) const {
    const Quad c = gather(&slots_[2], j, stride()), a = spread_four(rounds_ * alpha_) * weights_of(weights_, j);
    return soft(-c * gather(&slots_[3], j, stride()), c * a);
  }
  void move(std::size_t j, double, double x, double slope) { update(j, x, &slope); }
  [[gnu::always_inline]] void move_four(const std::int32_t* j, Quad, Quad x, double slope)
    requires fours
  {
    const Quad g = x * spread_four(slope), squares = g * g;
    if (!(least(squares) > 0)) {
      for (int n = 0; n < 4; ++n) update(static_cast<std::size_t>(j[n]), x[n], &slope);
      return;
    }
    const Quad s = gather(&slots_[0], j, stride()) + squares, sum = gather(&slots_[3], j, stride()) + g;
    const Quad c = spread_four(eta_) / (gather(&slots_[1], j, stride()) * root(s));
    for (int n = 0; n < 4; ++n) {
      double* slot = &slots_[static_cast<std::size_t>(j[n]) * stride()];
      slot[0] = s[n], slot[2] = c[n], slot[3] = sum[n];
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
      s[2] = eta_ / (s[1] * root);
    }
  }
  void end() { rounds_ += 1; }
  void read(std::size_t j, double* w) const { weights(&slots_[j * stride()], w, j); }
  const double* room(std::size_t j) const
    requires Roomy
  {
    return &slots_[j * stride() + k_() * (1 + Proximal) + 3];
  }
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
  Shared alpha_, beta_, rounds_, eta_;
  std::vector<double> weights_;
  std::vector<double> w_;  // weights of the feature at hand
  Slots slots_;            // a feature: s; m (FTRL: √s); c; G; FTRL: the weights it had when last read
  mutable Scratch scratch_;

  std::size_t stride() const { return k_() * (1 + Proximal) + 3 + Roomy * (k_() + 1); }
  void weights(const double* s, double* w, std::size_t j) const {
    dual_weights(p_, {s + 3, k_()}, {w, k_()}, s[2], rounds_ * alpha_, 0.0, weight_of(weights_, j), scratch_);
  }
};

}  // namespace gossamer
