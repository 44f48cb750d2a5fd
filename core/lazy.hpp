// What happens to a feature in the rounds that do not contain it.
//
// FOBOS applies prox(w, s_t) in every round t, s_t = η_t α. A feature that was away for some rounds catches up when it
// is next needed, in one go wherever mathematics allows:
//
//     advance(s)                     one more round, with this s
//     now()                          a stamp for a feature that is up to date
//     catch_up(w, stamp, weight)     all rounds since the stamp
//
// Additive: T rounds equal one with Σ s (ℓ1, ℓ2, ℓ∞ of a row, and the sign constraint with ℓ1; FOBOS, Proposition 11).
// Elastic net and berhu keep prefix products and sums of the recent rounds. The rest (sparse group rows; any of these
// with unequal weights) repeat the missed rounds one by one, for the rows that are not zero.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "penalties.hpp"

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

inline bool all_zero(std::span<const double> w) {
  return std::all_of(w.begin(), w.end(), [](double x) { return x == 0; });
}

// T rounds equal one round with the sum.
template <class P>
class Additive {
 public:
  explicit Additive(P p) : p_(p), total_(1) {}
  void advance(double s) { total_[0] += s; }
  double now() const { return total_[0]; }
  bool full() const { return false; }
  void restart() {}
  void catch_up(std::span<double> w, double stamp, double weight) const {
    if (total_[0] > stamp) prox_row(p_, w, total_[0] - stamp, weight, scratch_);
  }
  template <class F>
  void visit(F f) {
    f("lazy_total", total_);
  }

 private:
  P p_;
  std::vector<double> total_;  // Σ s, one number
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

 protected:
  std::vector<double> s_;
  std::size_t limit_;
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

 private:
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
  Truncation(std::size_t period, double threshold) : period_(period), threshold_(threshold), state_(2) {}
  void advance(double s) {
    state_[1] += 1;
    if (static_cast<std::size_t>(state_[1]) % period_ == 0) state_[0] += s * static_cast<double>(period_);
  }
  double now() const { return state_[0]; }
  bool full() const { return false; }
  void restart() {}
  void catch_up(std::span<double> w, double stamp, double weight) const {
    if (state_[0] == stamp) return;
    for (double& x : w) {
      if (std::fabs(x) <= threshold_) x = soft(x, (state_[0] - stamp) * weight);
    }
  }
  template <class F>
  void visit(F f) {
    f("lazy_total", state_);
  }

 private:
  std::size_t period_;
  double threshold_;
  std::vector<double> state_;  // Σ of the truncations, rounds
};

}  // namespace gossamer
