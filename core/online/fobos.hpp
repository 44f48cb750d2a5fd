// Forward-backward splitting and its kin: the state is the weights themselves.
//
//     v = w_t − η_t g_t,   w_{t+1} = prox(v, η_t α)                               (Duchi & Singer, JMLR 2009, Eq. 2-3)
//
// With a box as the penalty it is projected subgradient; with Truncation in place of the prox it is truncated gradient
// (Langford et al. 2009). The penalty must be a sum over features (rows of W); it reaches the features that are not in
// an example lazily, see lazy.hpp. Adaptive is the diagonal AdaGrad form (Duchi, Hazan & Singer 2011): feature j has
// its own step η / (m_j √s_j), s_j = Σ ‖g_j‖² and m_j the largest |x_j| so far, which makes it free of the scale of the
// feature. When m_j grows, W_j shrinks by the same ratio, before it is used (Ross, Mineiro & Langford 2013).
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "base/memory.hpp"
#include "online/lazy.hpp"

namespace gossamer {

// How many outputs: known at compile time for one, at run time otherwise.
template <std::size_t K>
struct Width {
  std::size_t outputs;
  std::size_t operator()() const {
    if constexpr (K == 0) return outputs;
    return K;
  }
};

inline double weight_of(const std::vector<double>& weights, std::size_t j) {
  return weights.empty() ? 1.0 : weights[j];
}

// The numbers at j[0], …, j[3], each `stride` from the next.
[[gnu::always_inline]] inline Quad gather(const double* numbers, const std::int32_t* j, std::size_t stride = 1) {
  const auto at = [=](int n) { return numbers[static_cast<std::size_t>(j[n]) * stride]; };
  return Quad{at(0), at(1), at(2), at(3)};
}

[[gnu::always_inline]] inline Quad weights_of(const std::vector<double>& weights, const std::int32_t* j) {
  return weights.empty() ? spread_four(1.0) : gather(weights.data(), j);
}

// Roomy if it has room for what averaging keeps (averaging.hpp).
template <std::size_t K, class Lazy, bool Roomy = false>
class FobosRule {
 public:
  static constexpr std::size_t width = K;

  FobosRule(Lazy lazy, std::size_t features, std::size_t outputs, double alpha, std::vector<double> weights)
      : lazy_(std::move(lazy)),
        k_{outputs},
        features_(features),
        alpha_(alpha),
        weights_(std::move(weights)),
        slots_(features * stride()) {
    if constexpr (std::is_same_v<Lazy, Constrained>) {
      if (lazy_.allows_zero()) return;
      for (std::size_t j = 0; j < features; ++j) lazy_.catch_up(row(j), 0, 1.0);
    }
  }

  void prefetch(std::size_t j) const { __builtin_prefetch(&slots_[j * stride()], 1); }
  void begin(double eta) {
    eta_ = eta;
    if (lazy_.full()) settle();
  }
  void accumulate(std::size_t j, double x, double* z) {
    double* slot = &slots_[j * stride()];
    lazy_.catch_up({slot + 1, k_()}, slot[0], weight_of(weights_, j));
    slot[0] = lazy_.now();
    for (std::size_t r = 0; r < k_(); ++r) z[r] += x * slot[1 + r];
  }
  void update(std::size_t j, double x, const double* slope) {
    double* slot = &slots_[j * stride()];
    for (std::size_t r = 0; r < k_(); ++r) slot[1 + r] -= x * (eta_ * slope[r]);
    if constexpr (std::is_same_v<Lazy, Constrained>) lazy_.catch_up({slot + 1, k_()}, 0, 1.0);
  }
  double peek(std::size_t j) const
    requires(K == 1)
  {
    const double* slot = &slots_[j * stride()];
    double w = slot[1];
    lazy_.catch_up({&w, 1}, slot[0], weight_of(weights_, j));
    return w;
  }
  [[gnu::always_inline]] Quad peek_four(const std::int32_t* j) const {
    if constexpr (requires(Quad w) { lazy_.caught_up(w, w, w); }) {
      const Quad stamps = gather(&slots_[0], j, stride()), w = gather(&slots_[1], j, stride());
      return lazy_.caught_up(w, stamps, weights_of(weights_, j));
    }
    const auto at = [&](int n) { return peek(static_cast<std::size_t>(j[n])); };
    return Quad{at(0), at(1), at(2), at(3)};
  }
  void move(std::size_t j, double w, double x, double slope) {
    double* slot = &slots_[j * stride()];
    slot[0] = lazy_.now();
    slot[1] = w - x * (eta_ * slope);
    if constexpr (std::is_same_v<Lazy, Constrained>) lazy_.catch_up({slot + 1, 1}, 0, 1.0);
  }
  void end() { lazy_.advance(eta_ * alpha_); }
  void read(std::size_t j, double* w) const {
    const double* slot = &slots_[j * stride()];
    std::copy_n(slot + 1, k_(), w);
    lazy_.catch_up({w, k_()}, slot[0], weight_of(weights_, j));
  }
  bool settles(double) const { return lazy_.full(); }
  const double* room(std::size_t j) const
    requires Roomy
  {
    return &slots_[j * stride() + 1 + k_()];
  }
  void add_path(std::size_t j, double n, double* sum) const {
    lazy_.add_path({&slots_[j * stride() + 1], k_()}, n, weight_of(weights_, j), sum);
  }
  void open(std::size_t j, double* m) const
    requires Lazy::lines
  {
    lazy_.open({&slots_[j * stride() + 1], k_()}, weight_of(weights_, j), m);
  }
  void close(std::size_t j, double, double* m) const {
    const double* slot = &slots_[j * stride()];
    lazy_.close({slot + 1, k_()}, slot[0], weight_of(weights_, j), m);
  }
  // Here the room holds m in its second place; the first is not used.
  void slide(std::size_t j, double w, double x, double slope)
    requires(K == 1 && Lazy::lines && Roomy)
  {
    double* slot = &slots_[j * stride()];
    const double v = w - x * (eta_ * slope);
    if (lazy_.same_line(w, v)) {
      slot[3] += lazy_.rounds() * (w - v);
      slot[0] = lazy_.now(), slot[1] = v;
    } else if (slot[1] != 0 || v != 0) {
      change_line(j, v);
    }
  }
  template <class F>
  void visit(F f) {
    f("slots", slots_), lazy_.visit(f);
  }

 private:
  Lazy lazy_;
  Width<K> k_;
  std::size_t features_;
  Shared alpha_, eta_;
  std::vector<double> weights_;  // of the penalty, one a feature, or none
  Slots slots_;                  // a feature: its stamp, then its weights

  std::size_t stride() const { return (1 + Roomy) * (k_() + 1); }
  std::span<double> row(std::size_t j) { return {&slots_[j * stride() + 1], k_()}; }

  // The line so far has ended, and the one of v begins; rare, and kept out of the hot loop.
  [[gnu::noinline]] void change_line(std::size_t j, double v) {
    double* slot = &slots_[j * stride()];
    close(j, 0.0, slot + 3);
    slot[0] = lazy_.now(), slot[1] = v;
    open(j, slot + 3);
  }

  // Brings every feature up to date and starts the record anew.
  void settle() {
    for (std::size_t j = 0; j < features_; ++j) {
      lazy_.catch_up(row(j), slots_[j * stride()], weight_of(weights_, j));
      slots_[j * stride()] = 0;
    }
    lazy_.restart();
  }
};

// ℓ1 for one output, in one number a feature: every round takes as much off a weight as off any other, so that one that
// was w when Λ = Σ s was Λ' is soft(v, Λ) ever after, where v = w ± Λ' is the level of Λ that makes it zero.
//
// Roomy if it is averaged (averaging.hpp): then a feature is its level, or 0 where no line is open, and m. The line of
// level v is v n ∓ Σ Λ after n rounds.
template <class P, bool Roomy = false>
  requires std::is_same_v<P, L1> || std::is_same_v<P, NonNegativeL1>
class LevelRule {
 public:
  static constexpr std::size_t width = 1;

  LevelRule(P p, std::size_t features, double alpha, std::vector<double> weights)
      : p_(p),
        features_(features),
        limit_(std::max<std::size_t>(features, 1 << 16)),
        alpha_(alpha),
        weights_(std::move(weights)),
        slots_(features * stride) {}

  void prefetch(std::size_t j) const { __builtin_prefetch(&slots_[j * stride], 1); }
  void begin(double eta) {
    if (settles(eta)) settle();
    eta_ = eta;
    next_ = total_ + eta_ * alpha_;
  }
  double peek(std::size_t j) const { return p_.prox(slots_[j * stride], total_ * weight_of(weights_, j)); }
  [[gnu::always_inline]] Quad peek_four(const std::int32_t* j) const {
    return prox_four(p_, gather(&slots_[0], j, stride), spread_four(total_) * weights_of(weights_, j));
  }
  void move(std::size_t j, double w, double x, double slope) {
    slots_[j] = level(w - x * (eta_ * slope), weight_of(weights_, j));
  }
  [[gnu::always_inline]] void move_four(const std::int32_t* j, Quad w, Quad x, double slope) {
    const Quad v = levels(w - x * spread_four(eta_ * slope), weights_of(weights_, j));
    for (int n = 0; n < 4; ++n) slots_[static_cast<std::size_t>(j[n])] = v[n];
  }
  void end() {
    total_ = next_;
    if constexpr (Roomy) trail_.push(total_);
  }
  void read(std::size_t j, double* w) const { *w = peek(j); }
  template <class F>
  void visit(F f) {
    f("levels", slots_), f("lazy_total", total_);
    if constexpr (Roomy) trail_.visit(f);
  }

  // What averaging asks for.
  bool settles(double) const { return Roomy && trail_.rounds() >= limit_; }
  const double* room(std::size_t j) const
    requires Roomy
  {
    return &slots_[j * stride];
  }
  void open(std::size_t j, double* m) const
    requires Roomy
  {
    *m -= line(slots_[j * stride], weight_of(weights_, j));
  }
  void close(std::size_t j, double, double* m) const {
    const double v = slots_[j * stride], weight = weight_of(weights_, j);
    if (v != 0) *m += peek(j) != 0 ? line(v, weight) : ended(v, weight);
  }
  // The line so far gives way to the next, unless that is gone by the end of the round.
  void slide(std::size_t j, double w, double x, double slope)
    requires Roomy
  {
    double* slot = &slots_[j * stride];
    const double weight = weight_of(weights_, j), v = level(w - x * (eta_ * slope), weight);
    close(j, 0.0, slot + 1);
    slot[0] = p_.prox(v, next_ * weight) != 0 ? v : 0.0;
    if (slot[0] != 0) slot[1] -= line(v, weight);
  }
  // By selection: no branch but for lines that ended on the way.
  [[gnu::always_inline]] void slide_four(const std::int32_t* j, Quad w, Quad x, double slope) {
    const Quad weight = weights_of(weights_, j), zero = spread_four(0.0);
    double* slot[4];
    for (int n = 0; n < 4; ++n) slot[n] = &slots_[static_cast<std::size_t>(j[n]) * 2];
    const Pack a = load(slot[0]), b = load(slot[1]), c = load(slot[2]), d = load(slot[3]);
    const Quad old{a[0], b[0], c[0], d[0]}, m{a[1], b[1], c[1], d[1]};
    if (any((old != zero) & (w == zero))) {
      for (int n = 0; n < 4; ++n) slide(static_cast<std::size_t>(j[n]), w[n], x[n], slope);
      return;
    }
    const Quad v = levels(w - x * spread_four(eta_ * slope), weight), least = spread_four(next_) * weight;
    const QuadBits lives = two_sided ? (v > least) | (v < -least) : v > least;
    const Quad now = select(lives, v), sum = weight * spread_four(trail_.sum_so_far());
    const Quad before = select(old != zero, signed_like(old, sum)), after = select(lives, signed_like(now, sum));
    const Quad sums = m + (spread_four(trail_.rounds_so_far()) * (old - now) - (before - after));
    for (int n = 0; n < 4; ++n) {
      const Pack both{now[n], sums[n]};
      std::memcpy(slot[n], &both, sizeof both);
    }
  }

 private:
  static constexpr std::size_t stride = 1 + Roomy;
  static constexpr bool two_sided = std::is_same_v<P, L1>;

  P p_;
  std::size_t features_, limit_;  // how many, and how long the trail may get
  Shared alpha_, eta_, total_, next_;
  std::vector<double> weights_;  // of the penalty, one a feature, or none
  Slots slots_;
  Trail trail_;  // if it is averaged

  double level(double w, double weight) const {
    const double rise = total_ * weight;
    return w + (two_sided ? std::copysign(rise, w) : rise);
  }
  [[gnu::always_inline]] Quad levels(Quad w, Quad weight) const {
    const Quad rise = spread_four(total_) * weight;
    return two_sided ? w + signed_like(w, rise) : w + rise;
  }
  // The running sum of the line of level v, now, and up to where it ended.
  double line(double v, double weight) const { return trail_.line(v, weight); }
  double ended(double v, double weight) const {
    const double size = two_sided ? std::fabs(v) : std::max(v, 0.0);
    return std::copysign(trail_.closed(size, weight, 0.0), v);
  }

  // All paths have been added up: the record starts anew.
  void settle() {
    for (std::size_t j = 0; j < features_; ++j) slots_[j * stride] = peek(j);
    total_ = 0;
    trail_.restart();
  }
};

// n rounds of prox(w, s) with one and the same s.
template <class P>
void repeat_prox(const P& p, std::span<double> w, double n, double s, double weight, Scratch& scratch) {
  for (double round = 0; round < n && !all_zero(w); ++round) prox_row(p, w, s, weight, scratch);
}
template <class P>
  requires(std::is_same_v<P, L1> || std::is_same_v<P, NonNegativeL1> || std::is_same_v<P, L2> ||
           std::is_same_v<P, LInf>)
void repeat_prox(const P& p, std::span<double> w, double n, double s, double weight, Scratch& scratch) {
  prox_row(p, w, n * s, weight, scratch);
}
inline void repeat_prox(const ElasticNet& p, std::span<double> w, double n, double s, double weight, Scratch&) {
  const double a = s * weight * p.l1_ratio, b = s * weight * (1 - p.l1_ratio);
  const double growth = std::pow(1 + b, n), sum = b > 0 ? a * std::expm1(n * std::log1p(b)) / b : a * n;
  for (double& x : w) x = std::isfinite(growth) ? soft(x, sum) / growth : 0.0;
}
inline void repeat_prox(const Box& p, std::span<double> w, double, double, double, Scratch&) {
  for (double& x : w) x = p.prox(x, 0.0);
}

// sum += w after each of those n rounds: arithmetic series for ℓ1 (signed or not) and ℓ2 of a row, a constant for the
// box, round by round for the rest.
template <class P>
void add_repeats(const P& p, std::span<const double> w, double n, double s, double weight, double* sum,
                 Scratch& scratch) {
  if constexpr (shortens<P>) {
    add_shortening(p, w, 1.0, sum, [&](double x) { return arithmetic_sum(x, s * weight, n); });
  } else if constexpr (std::is_same_v<P, Box>) {
    for (std::size_t r = 0; r < w.size(); ++r) sum[r] += n * w[r];
  } else {
    add_steps(w, n, sum, [&](std::span<double> row) { prox_row(p, row, s, weight, scratch); });
  }
}

template <std::size_t K, class P, bool Roomy = false>
class AdaptiveRule {
 public:
  static constexpr std::size_t width = K;

  AdaptiveRule(P p, std::size_t features, std::size_t outputs, double alpha, std::vector<double> weights)
      : p_(p), k_{outputs}, alpha_(alpha), weights_(std::move(weights)), slots_(features * stride()) {
    if constexpr (std::is_same_v<P, Box>) {
      if (p_.prox(0.0, 0.0) == 0) return;
      for (std::size_t j = 0; j < features; ++j) repeat_prox(p_, row(slot(j)), 0, 0, 1.0, scratch_);
    }
  }

  void prefetch(std::size_t j) const { __builtin_prefetch(&slots_[j * stride()], 1); }
  void begin(double eta) { eta_ = eta; }
  void accumulate(std::size_t j, double x, double* z) {
    double* s = slot(j);
    catch_up(s, row(s), j);
    s[0] = rounds_;
    if (const double size = std::fabs(x); size > s[2]) rescale(s, size);
    for (std::size_t r = 0; r < k_(); ++r) z[r] += x * s[4 + r];
  }
  void update(std::size_t j, double x, const double* slope) {
    double* s = slot(j);
    double squares = 0;
    for (std::size_t r = 0; r < k_(); ++r) squares += (x * slope[r]) * (x * slope[r]);
    if (squares == 0) return;
    s[1] += squares;
    s[3] = eta_ / (s[2] * std::sqrt(s[1]));
    for (std::size_t r = 0; r < k_(); ++r) s[4 + r] -= s[3] * x * slope[r];
    if constexpr (std::is_same_v<P, Box>) repeat_prox(p_, row(s), 0, 0, 1.0, scratch_);
  }
  void end() { rounds_ += 1; }
  void read(std::size_t j, double* w) const {
    const double* s = &slots_[j * stride()];
    std::copy_n(s + 4, k_(), w);
    catch_up(s, {w, k_()}, j);
  }
  const double* room(std::size_t j) const
    requires Roomy
  {
    return &slots_[j * stride() + 4 + k_()];
  }
  void add_path(std::size_t j, double n, double* sum) const {
    const double* s = &slots_[j * stride()];
    add_repeats(p_, {s + 4, k_()}, n, alpha_ * s[3], weight_of(weights_, j), sum, scratch_);
  }
  template <class F>
  void visit(F f) {
    f("rounds", rounds_), f("eta", eta_), f("slots", slots_);
  }

 private:
  P p_;
  Width<K> k_;
  Shared alpha_, eta_, rounds_;
  std::vector<double> weights_;
  Slots slots_;  // a feature: the round it is up to date with, s, m, its step, its weights
  mutable Scratch scratch_;

  std::size_t stride() const { return k_() + 4 + Roomy * (k_() + 1); }
  double* slot(std::size_t j) { return &slots_[j * stride()]; }
  std::span<double> row(double* s) { return {s + 4, k_()}; }
  // A larger value than ever: the weights shrink to what they would be had it been known from the start.
  void rescale(double* s, double size) {
    const double ratio = s[2] / size;
    s[2] = size;
    if (ratio == 0) return;
    s[3] *= ratio;
    for (double& w : row(s)) w *= ratio;
    if constexpr (std::is_same_v<P, Box>) repeat_prox(p_, row(s), 0, 0, 1.0, scratch_);
  }
  void catch_up(const double* s, std::span<double> w, std::size_t j) const {
    const double missed = rounds_ - s[0];
    if (missed > 0 && s[3] > 0) repeat_prox(p_, w, missed, alpha_ * s[3], weight_of(weights_, j), scratch_);
  }
};

}  // namespace gossamer
