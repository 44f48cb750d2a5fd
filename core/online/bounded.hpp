// A box with its own bounds for each feature, in O(nnz · k) an example: nothing moves between examples, and a weight is
// clipped where it changes or is read.
//
//     BoundedRule, BoundedDualRule                   FOBOS (projected subgradient) and RDA
//     BoundedAdaptiveRule, BoundedAdaptiveDualRule   AdaGrad in its two forms and FTRL-Proximal (see fobos.hpp,
//     dual.hpp)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "online/groups.hpp"

namespace gossamer {

// low_j ≤ w_j ≤ high_j, the same for all outputs; a bound may be infinite.
struct Bounds {
  std::vector<double> low, high;
  double clip(std::size_t j, double w) const { return std::min(std::max(w, low[j]), high[j]) + 0.0; }
};

// FOBOS (projected subgradient) with bounds: w ← clip(w − ηg), from clip(0).
class BoundedRule {
 public:
  static constexpr std::size_t width = 0;

  BoundedRule(Bounds bounds, std::size_t features, std::size_t outputs)
      : bounds_(std::move(bounds)), k_(outputs), w_(features * outputs) {
    for (std::size_t i = 0; i < w_.size(); ++i) w_[i] = bounds_.clip(i / k_, 0.0);
  }

  void prefetch(std::size_t j) const { __builtin_prefetch(&w_[j * k_], 1); }
  void begin(double eta) { eta_ = eta; }
  void accumulate(std::size_t j, double x, double* z) const {
    for (std::size_t r = 0; r < k_; ++r) z[r] += x * w_[j * k_ + r];
  }
  void update(std::size_t j, double x, const double* slope) {
    for (std::size_t r = 0; r < k_; ++r) {
      w_[j * k_ + r] = bounds_.clip(j, w_[j * k_ + r] - x * (eta_ * slope[r]));
    }
  }
  void end() {}
  void read(std::size_t j, double* w) const { std::copy_n(&w_[j * k_], k_, w); }
  void add_path(std::size_t j, double n, double* sum) const {
    for (std::size_t r = 0; r < k_; ++r) sum[r] += n * w_[j * k_ + r];
  }
  template <class F>
  void visit(F f) {
    f("weights", w_);
  }

 private:
  Bounds bounds_;
  std::size_t k_;
  double eta_ = 0;
  std::vector<double> w_;
};

// RDA with bounds: w = clip(−c G).
class BoundedDualRule {
 public:
  static constexpr std::size_t width = 0;

  BoundedDualRule(Bounds bounds, std::size_t features, std::size_t outputs)
      : bounds_(std::move(bounds)), k_(outputs), sums_(features * outputs) {}

  void prefetch(std::size_t j) const { __builtin_prefetch(&sums_[j * k_], 1); }
  void begin(double gamma) { clock_.begin(gamma); }
  void accumulate(std::size_t j, double x, double* z) const {
    for (std::size_t r = 0; r < k_; ++r) z[r] += x * weight(j, r);
  }
  void update(std::size_t j, double x, const double* slope) {
    for (std::size_t r = 0; r < k_; ++r) sums_[j * k_ + r] += x * slope[r];
  }
  void end() { clock_.end(); }
  void read(std::size_t j, double* w) const {
    for (std::size_t r = 0; r < k_; ++r) w[r] = weight(j, r);
  }
  template <class F>
  void visit(F f) {
    clock_.visit(f), f("sums", sums_);
  }

 private:
  Bounds bounds_;
  std::size_t k_;
  DualClock clock_{0.0};
  std::vector<double> sums_;  // G

  double weight(std::size_t j, std::size_t r) const { return bounds_.clip(j, -clock_.rate() * sums_[j * k_ + r]); }
};

// AdaGrad with bounds: w ← clip(w − c g), c = η / (m √s); a larger |x| than ever shrinks w and c first.
class BoundedAdaptiveRule {
 public:
  static constexpr std::size_t width = 0;

  BoundedAdaptiveRule(Bounds bounds, std::size_t features, std::size_t outputs)
      : bounds_(std::move(bounds)), k_(outputs), slots_(features * stride()) {
    for (std::size_t j = 0; j < features; ++j) std::fill_n(slot(j) + 2, k_, bounds_.clip(j, 0.0));
  }

  void prefetch(std::size_t j) const { __builtin_prefetch(&slots_[j * stride()], 1); }
  void begin(double eta) { eta_ = eta; }
  void accumulate(std::size_t j, double x, double* z) {
    double *s = slot(j), *w = s + 2;
    if (const double size = std::fabs(x); size > s[1]) {
      for (std::size_t r = 0; r < k_ && s[1] > 0; ++r) w[r] = bounds_.clip(j, w[r] * (s[1] / size));
      s[1] = size;
    }
    for (std::size_t r = 0; r < k_; ++r) z[r] += x * w[r];
  }
  void update(std::size_t j, double x, const double* slope) {
    double *s = slot(j), *w = s + 2;
    for (std::size_t r = 0; r < k_; ++r) s[0] += (x * slope[r]) * (x * slope[r]);
    if (s[0] == 0) return;
    const double c = eta_ / (s[1] * std::sqrt(s[0]));
    for (std::size_t r = 0; r < k_; ++r) w[r] = bounds_.clip(j, w[r] - c * x * slope[r]);
  }
  void end() {}
  void read(std::size_t j, double* w) const { std::copy_n(&slots_[j * stride() + 2], k_, w); }
  void add_path(std::size_t j, double n, double* sum) const {
    for (std::size_t r = 0; r < k_; ++r) sum[r] += n * slots_[j * stride() + 2 + r];
  }
  template <class F>
  void visit(F f) {
    f("slots", slots_);
  }

 private:
  Bounds bounds_;
  std::size_t k_;
  double eta_ = 0;
  std::vector<double> slots_;  // a feature: s, m, its weights

  std::size_t stride() const { return 2 + k_; }
  double* slot(std::size_t j) { return &slots_[j * stride()]; }
};

// AdaGrad's dual form, w = clip(−c G), and FTRL-Proximal, where c = η / (β + √s) and G gains −σ w.
template <bool Proximal>
class BoundedAdaptiveDualRule {
 public:
  static constexpr std::size_t width = 0;

  BoundedAdaptiveDualRule(Bounds bounds, std::size_t features, std::size_t outputs, double beta)
      : bounds_(std::move(bounds)), k_(outputs), beta_(beta), slots_(features * stride()) {}

  void prefetch(std::size_t j) const { __builtin_prefetch(&slots_[j * stride()], 1); }
  void begin(double eta) { eta_ = eta; }
  void accumulate(std::size_t j, double x, double* z) {
    double* s = slot(j);
    if (const double size = std::fabs(x); !Proximal && size > s[1]) s[2] *= s[1] / size, s[1] = size;
    for (std::size_t r = 0; r < k_; ++r) z[r] += x * weight(j, r);
  }
  void update(std::size_t j, double x, const double* slope) {
    double *s = slot(j), *sum = s + 3, before = std::sqrt(s[0]);
    for (std::size_t r = 0; r < k_; ++r) s[0] += (x * slope[r]) * (x * slope[r]);
    if (s[0] == 0) return;
    const double root = std::sqrt(s[0]), sigma = Proximal ? (root - before) / eta_ : 0.0;
    for (std::size_t r = 0; r < k_; ++r) sum[r] += x * slope[r] - sigma * weight(j, r);
    s[2] = eta_ / (Proximal ? beta_ + root : s[1] * root);
  }
  void end() {}
  void read(std::size_t j, double* w) const {
    for (std::size_t r = 0; r < k_; ++r) w[r] = weight(j, r);
  }
  void add_path(std::size_t j, double n, double* total) const {
    for (std::size_t r = 0; r < k_; ++r) total[r] += n * weight(j, r);
  }
  template <class F>
  void visit(F f) {
    f("slots", slots_);
  }

 private:
  Bounds bounds_;
  std::size_t k_;
  double beta_, eta_ = 0;
  std::vector<double> slots_;  // a feature: s; m (FTRL: not used); c; G

  std::size_t stride() const { return 3 + k_; }
  double* slot(std::size_t j) { return &slots_[j * stride()]; }
  double weight(std::size_t j, std::size_t r) const {
    const double* s = &slots_[j * stride()];
    return bounds_.clip(j, -s[2] * s[3 + r]);
  }
};

}  // namespace gossamer
