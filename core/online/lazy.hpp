// What happens to a feature in the rounds that do not contain it.
//
// FOBOS applies prox(w, s_t) in every round t, s_t = η_t α. A feature that was away for some rounds catches up when it
// is next needed, in one go wherever mathematics allows:
//
//     advance(s)                     one more round, with this s
//     now()                          a stamp for a feature that is up to date
//     catch_up(w, stamp, weight)     all rounds since the stamp
//     add_path(w, n, weight, sum)    sum += w after each of the last n rounds, for averages (see averaging.hpp)
//     open(w, …), close(w, …)        instead, for what shrinks along a line
//
// Additive: T rounds equal one with Σ s (ℓ1, ℓ2, ℓ∞ of a row, and the sign constraint with ℓ1; FOBOS, Proposition 11).
// Elastic net and berhu keep prefix products and sums of the recent rounds. The rest (sparse group rows; any of these
// with unequal weights) repeat the missed rounds one by one, for the rows that are not zero.
//
// Paths are added up in closed form for ℓ1 (signed or not), ℓ2 of a row, the elastic net with equal weights, the box
// and truncated gradient, the first three from prefix sums that only the averaging kinds (Traced, TracedElasticNet)
// keep. ℓ∞ and sparse group rows, berhu, and the elastic net with unequal weights are followed round by round.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "base/memory.hpp"
#include "catalogue/penalties.hpp"
#include "online/averaging.hpp"

namespace gossamer {

// p.prox over one row, whether p is elementwise or blockwise.
template <class P>
void prox_row(const P& p, std::span<double> w, double s, double weight, Scratch& scratch) {
  if constexpr (requires { p.prox(1.0, 1.0); }) {
    for (double& x : w) x = p.prox(x, s * weight);
  } else {
    p.prox(std::span<const double>(w), w, s, weight, scratch);
  }
}

// p.prox of four numbers
template <class P>
[[gnu::always_inline]] inline Quad prox_four(const P& p, Quad v, Quad s) {
  if constexpr (std::is_same_v<P, L1>) return soft(v, s);
  return Quad{p.prox(v[0], s[0]), p.prox(v[1], s[1]), p.prox(v[2], s[2]), p.prox(v[3], s[3])};
}

inline bool all_zero(std::span<const double> w) {
  return std::all_of(w.begin(), w.end(), [](double x) { return x == 0; });
}

// T rounds equal one round with the sum.
template <class P>
class Additive {
 public:
  explicit Additive(P p) : p_(p) {}
  void advance(double s) { total_ += s; }
  double now() const { return total_; }
  bool full() const { return false; }
  void restart() { total_ = 0; }
  void catch_up(std::span<double> w, double stamp, double weight) const {
    prox_row(p_, w, total_ - stamp, weight, scratch_);
  }
  [[gnu::always_inline]] Quad caught_up(Quad w, Quad stamp, Quad weight) const {
    return prox_four(p_, w, (spread_four(total_) - stamp) * weight);
  }
  void add_path(std::span<const double> w, double n, double weight, const Trail& trail, double* sum) const {
    std::size_t t = trail.before(n);
    add_steps(w, static_cast<double>(trail.rounds() - t), sum, [&](std::span<double> row) {
      const double before = trail.total(t++);
      prox_row(p_, row, trail.total(t) - before, weight, scratch_);
    });
  }
  static constexpr bool lines = shortens<P>;
  bool same_line(double w, double v) const { return w * v > 0; }
  void open(std::span<const double> w, double weight, const Trail& trail, double* m) const {
    add_shortening(p_, w, 1.0, m, [&](double x) { return -trail.opened(x, weight); });
  }
  void close(std::span<const double> w, double stamp, double weight, const Trail& trail, double* m) const {
    add_shortening(p_, w, 1.0, m, [&](double x) { return trail.closed(x, weight, stamp); });
  }
  template <class F>
  void visit(F f) {
    f("lazy_total", total_);
  }

 private:
  P p_;
  Shared total_;  // Σ s
  mutable Scratch scratch_;
};

// No shrinking between rounds, but a constraint on each weight that holds after every update.
class Constrained {
 public:
  explicit Constrained(Box box) : box_(box) {}
  void advance(double) {}
  double now() const { return 0; }
  bool full() const { return false; }
  void restart() {}
  void catch_up(std::span<double> w, double, double) const {
    for (double& x : w) x = box_.prox(x, 0.0);
  }
  static constexpr bool lines = false;
  void add_path(std::span<const double> w, double n, double, double* sum) const {
    for (std::size_t r = 0; r < w.size(); ++r) sum[r] += n * w[r];
  }
  bool allows_zero() const { return box_.prox(0.0, 0.0) == 0; }
  template <class F>
  void visit(F) {}

 private:
  Box box_;
};

// The s of every round since the last restart. Features stamp the round; when the record is full all catch up.
class Record {
 public:
  explicit Record(std::size_t features) : limit_(std::max<std::size_t>(features, 1 << 16)) {}
  double now() const { return static_cast<double>(s_.size()); }
  bool full() const { return s_.size() >= limit_; }
  static constexpr bool lines = false;

 protected:
  std::vector<double> s_;
  std::size_t limit_;

  std::size_t before(double n) const { return s_.size() - std::min(static_cast<std::size_t>(n), s_.size()); }
  // add_path, round by round
  template <class P>
  void step_path(const P& p, std::span<const double> w, double n, double weight, double* sum, Scratch& scratch) const {
    std::size_t t = before(n);
    add_steps(w, static_cast<double>(s_.size() - t), sum,
              [&](std::span<double> row) { prox_row(p, row, s_[t++], weight, scratch); });
  }
};

// Repeats the missed rounds one by one.
template <class P>
class Stepwise : public Record {
 public:
  Stepwise(P p, std::size_t features) : Record(features), p_(p) {}
  void advance(double s) { s_.push_back(s); }
  void restart() { s_.clear(); }
  void catch_up(std::span<double> w, double stamp, double weight) const {
    for (std::size_t t = static_cast<std::size_t>(stamp); t < s_.size() && !all_zero(w); ++t) {
      prox_row(p_, w, s_[t], weight, scratch_);
    }
  }
  void add_path(std::span<const double> w, double n, double weight, double* sum) const {
    step_path(p_, w, n, weight, sum, scratch_);
  }
  template <class F>
  void visit(F f) {
    f("lazy_steps", s_);
  }

 private:
  P p_;
  mutable Scratch scratch_;
};

// ρ|w| + (1 − ρ)½w²: with a_t = s_t ρ, b_t = s_t (1 − ρ), P_t = Π (1 + b), A_t = Σ a_t P_{t−1},
// |w_now| = [|w_then| P_then − (A_now − A_then)]₊ / P_now.
class LazyElasticNet : public Record {
 public:
  LazyElasticNet(ElasticNet p, std::size_t features) : Record(features), ratio_(p.l1_ratio) { restart(); }
  void advance(double s) {
    const double product = product_.back(), sum = sum_.back();
    s_.push_back(s);
    sum_.push_back(sum + s * ratio_ * product);
    product_.push_back(product * (1 + s * (1 - ratio_)));
  }
  bool full() const { return Record::full() || product_.back() > 1e100; }
  void restart() { s_.clear(), product_.assign(1, 1.0), sum_.assign(1, 0.0); }
  void catch_up(std::span<double> w, double stamp, double) const {
    const std::size_t then = static_cast<std::size_t>(stamp);
    if (then == s_.size()) return;
    const double shrink = sum_.back() - sum_[then];
    for (double& x : w) x = soft(x * product_[then], shrink) / product_.back();
  }
  template <class F>
  void visit(F f) {
    f("lazy_steps", s_), f("lazy_product", product_), f("lazy_sum", sum_);
  }

 protected:
  double ratio_;
  std::vector<double> product_, sum_;  // P and A after 0, 1, … rounds
};

// berhu: beyond γ it decays like ℓ2² with P_t = Π (1 + s/γ); from the round in which that would land at or under γ it
// is ℓ1, for good.
class LazyBerhu : public Record {
 public:
  LazyBerhu(Berhu p, std::size_t features) : Record(features), gamma_(p.gamma) { restart(); }
  void advance(double s) {
    const double product = product_.back(), sum = sum_.back();
    s_.push_back(s);
    sum_.push_back(sum + s);
    product_.push_back(product * (1 + s / gamma_));
  }
  bool full() const { return Record::full() || product_.back() > 1e100; }
  void restart() { s_.clear(), product_.assign(1, 1.0), sum_.assign(1, 0.0); }
  void catch_up(std::span<double> w, double stamp, double) const {
    const std::size_t then = static_cast<std::size_t>(stamp);
    if (then == s_.size()) return;
    for (double& x : w) {
      std::size_t switched = then;  // rounds before this one decay like ℓ2²
      if (std::fabs(x) > gamma_) {
        const double landing = std::fabs(x) * product_[then] / gamma_;  // the product that lands on γ
        const auto at =
            std::lower_bound(product_.begin() + static_cast<std::ptrdiff_t>(then) + 1, product_.end(), landing);
        switched = static_cast<std::size_t>(at - product_.begin()) - 1;
        x *= product_[then] / product_[switched];
      }
      x = soft(x, sum_.back() - sum_[switched]);
    }
  }
  void add_path(std::span<const double> w, double n, double weight, double* sum) const {
    Scratch none;
    step_path(Berhu{gamma_}, w, n, weight, sum, none);
  }
  template <class F>
  void visit(F f) {
    f("lazy_steps", s_), f("lazy_product", product_), f("lazy_sum", sum_);
  }

 private:
  double gamma_;
  std::vector<double> product_, sum_;  // P and Σ s after 0, 1, … rounds
};

// Truncated gradient: every K-th round trnc(w, K s, θ): soft-thresholded where |w| ≤ θ, unchanged above.
class Truncation {
 public:
  Truncation(std::size_t period, double threshold) : period_(period), threshold_(threshold) {}
  void advance(double s) {
    rounds_ += 1;
    if (static_cast<std::size_t>(double{rounds_}) % period_ == 0) total_ += s * static_cast<double>(period_);
  }
  double now() const { return total_; }
  bool full() const { return false; }
  void restart() { total_ = 0; }
  void catch_up(std::span<double> w, double stamp, double weight) const {
    for (double& x : w) {
      if (std::fabs(x) <= threshold_) x = soft(x, (total_ - stamp) * weight);
    }
  }
  static constexpr bool lines = true;
  bool same_line(double w, double v) const {
    return w * v > 0 && (std::fabs(w) <= threshold_) == (std::fabs(v) <= threshold_);
  }
  void open(std::span<const double> w, double weight, const Trail& trail, double* m) const {
    add(w, m, [&](double size) { return -trail.opened(size, weight); }, -trail.rounds_so_far());
  }
  void close(std::span<const double> w, double stamp, double weight, const Trail& trail, double* m) const {
    add(w, m, [&](double size) { return trail.closed(size, weight, stamp); }, trail.rounds_so_far());
  }
  template <class F>
  void visit(F f) {
    f("lazy_total", total_), f("lazy_rounds", rounds_);
  }

 private:
  std::size_t period_;
  double threshold_;
  Shared total_, rounds_;  // Σ of the truncations, t

  // Up to the threshold a weight follows a line, beyond it stays what it is.
  template <class Line>
  void add(std::span<const double> w, double* m, Line line, double rounds) const {
    for (std::size_t r = 0; r < w.size(); ++r) {
      const double size = std::fabs(w[r]), flat = size * rounds;
      m[r] += std::copysign(1.0, w[r]) * (size <= threshold_ ? line(size) : flat);
    }
  }
};

// Additive or Truncation that remembers its total after every recent round, to add up paths.
template <class Lazy>
class Traced : public Lazy {
 public:
  Traced(Lazy lazy, std::size_t features) : Lazy(std::move(lazy)), limit_(std::max<std::size_t>(features, 1 << 16)) {}
  void advance(double s) {
    Lazy::advance(s);
    trail_.push(Lazy::now());
  }
  bool full() const { return trail_.rounds() >= limit_; }
  void restart() { Lazy::restart(), trail_.restart(); }
  void add_path(std::span<const double> w, double n, double weight, double* sum) const {
    Lazy::add_path(w, n, weight, trail_, sum);
  }
  double rounds() const { return trail_.rounds_so_far(); }
  void open(std::span<const double> w, double weight, double* m) const { Lazy::open(w, weight, trail_, m); }
  void close(std::span<const double> w, double stamp, double weight, double* m) const {
    Lazy::close(w, stamp, weight, trail_, m);
  }
  template <class F>
  void visit(F f) {
    Lazy::visit(f), trail_.visit(f);
  }

 private:
  std::size_t limit_;
  Trail trail_;
};

// The elastic net with prefix sums of 1/P and A/P: |w_t| = (|w_then| P_then + A_then − A_t) / P_t until that is zero.
// It restarts before P is so large that the newest 1/P are lost in their sum.
class TracedElasticNet : public LazyElasticNet {
 public:
  explicit TracedElasticNet(LazyElasticNet lazy) : LazyElasticNet(std::move(lazy)) { restart(); }
  void advance(double s) {
    LazyElasticNet::advance(s);
    const std::size_t last = s_.size() - 1;
    const PrefixSum shares = sums(last, 0).plus(1 / product_.back());
    const PrefixSum ratios = sums(last, 2).plus(sum_.back() / product_.back());
    sums_.insert(sums_.end(), {shares.sum, shares.rest, ratios.sum, ratios.rest});
  }
  bool full() const { return LazyElasticNet::full() || product_.back() > 1e12; }
  void restart() { LazyElasticNet::restart(), sums_.assign(4, 0.0); }
  void add_path(std::span<const double> w, double n, double, double* sum) const {
    const std::size_t then = before(n);
    for (std::size_t r = 0; r < w.size(); ++r) {
      if (w[r] == 0) continue;
      const double top = std::fabs(w[r]) * product_[then] + sum_[then];  // A_t reaches it when the weight reaches zero
      const auto end = std::lower_bound(sum_.begin() + static_cast<std::ptrdiff_t>(then) + 1, sum_.end(), top);
      const std::size_t last = static_cast<std::size_t>(end - sum_.begin()) - 1;
      const double total = top * sums(last, 0).since(sums(then, 0)) - sums(last, 2).since(sums(then, 2));
      sum[r] += std::copysign(total, w[r]);
    }
  }
  template <class F>
  void visit(F f) {
    LazyElasticNet::visit(f), f("lazy_prefix", sums_);
  }

 private:
  std::vector<double> sums_;  // after 0, 1, … rounds: the prefix sum of 1/P, then of A/P

  PrefixSum sums(std::size_t t, std::size_t which) const { return {sums_[4 * t + which], sums_[4 * t + which + 1]}; }
};

// The way to catch up that can also add up paths.
template <class Lazy>
Lazy traced(Lazy lazy, std::size_t) {
  return lazy;
}
template <class P>
Traced<Additive<P>> traced(Additive<P> lazy, std::size_t features) {
  return {std::move(lazy), features};
}
inline Traced<Truncation> traced(Truncation lazy, std::size_t features) { return {lazy, features}; }
inline TracedElasticNet traced(LazyElasticNet lazy, std::size_t) { return TracedElasticNet(std::move(lazy)); }

}  // namespace gossamer
