// Exponentiated gradient with both signs (Kivinen & Warmuth 1997), radius r:
//
//     w = w⁺ − w⁻,   w±_j ∝ w±_j e^{∓η g_j},   Σ_j (w⁺_j + w⁻_j) = r,   from the uniform start w = 0.
//
// Each output (column of W) is normalised to r by itself. With a_j = −Σ η g_j the weights are
//
//     w_j = r sinh(a_j) / Σ_i cosh(a_i),
//
// so the state is a and, for each output, the normaliser, kept up to date in O(nnz · k) an example.
//
// Overflow: cosh is kept times e^{−m}, with m near the largest |a|. Rounding: the normaliser is kept in two doubles and
// summed afresh after as many changes as there are features (O(1) a change), when an |a| has grown far beyond m, and
// when it has fallen so far that what is left of it has lost its digits. The last two take O(d), and need steps that
// move an |a| by 20 or more: not with steps that learn anything.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "online/groups.hpp"

namespace gossamer {

class ExponentiatedGradientRule {
 public:
  ExponentiatedGradientRule(std::size_t features, std::size_t outputs, double radius)
      : features_(features),
        k_(outputs),
        radius_(radius),
        factors_(outputs),
        columns_(outputs * fields),
        slots_(features * outputs * 2) {
    for (std::size_t r = 0; r < k_; ++r) sum_afresh(r);
  }

  void prefetch(std::size_t j) const { __builtin_prefetch(&slots_[j * k_ * 2], 1); }
  void begin(double eta) {
    eta_ = eta;
    for (std::size_t r = 0; r < k_; ++r) factors_[r] = factor(r);
  }
  void accumulate(std::size_t j, double x, double* z) const {
    const double* s = &slots_[j * k_ * 2];
    for (std::size_t r = 0; r < k_; ++r) z[r] += x * (factors_[r] * sinh_of(s + 2 * r));
  }
  void update(std::size_t j, double x, const double* slope) {
    double* s = &slots_[j * k_ * 2];
    for (std::size_t r = 0; r < k_; ++r, s += 2) {
      if (slope[r] == 0) continue;
      double* c = column(r);
      s[0] -= x * (eta_ * slope[r]);
      if (std::fabs(s[0]) > c[shift] + 300) {
        sum_afresh(r);
        continue;
      }
      const double old = s[1];
      s[1] = cosh_of(s[0], c[shift]);
      add_exactly(c + sum, s[1]);
      c[peak] = std::max(c[peak], c[sum]);
      add_exactly(c + sum, -old);
      c[changes] += 1;
    }
  }
  void end() {
    for (std::size_t r = 0; r < k_; ++r) {
      const double* c = column(r);
      if (c[changes] >= static_cast<double>(features_) || total_of(c + sum) < 1e-10 * c[peak]) sum_afresh(r);
    }
  }
  void read(std::size_t j, double* w) const {
    for (std::size_t r = 0; r < k_; ++r) w[r] = factor(r) * sinh_of(&slots_[(j * k_ + r) * 2]);
  }
  void visit(StateVisitor& f) {
    f("columns", std::span(columns_), Per::learner, {{at_least_zero, 2}, {any_number}, {at_least_zero}, {counted}});
    f("slots", std::span(slots_), Per::learner, {{any_number}, {at_least_zero}});
    f.demand("slots", "it does not fit 'columns'", [&] {
      for (std::size_t r = 0; r < k_; ++r) {
        if (!(total_of(column(r) + sum) > 0) && features_ > 0) return false;
        for (std::size_t i = r; i < features_ * k_; i += k_) {
          if (!about(slots_[2 * i + 1], cosh_of(slots_[2 * i], column(r)[shift]))) return false;
        }
      }
      return true;
    });
  }

 private:
  // of an output: m, Σ cosh(a) e^{−m} (two numbers), the largest it was, the changes since it was summed afresh
  enum Field { shift, sum, peak = 3, changes, fields };

  std::size_t features_, k_;
  double radius_, eta_ = 0;
  std::vector<double> factors_;  // radius / Σ, of this round
  std::vector<double> columns_;  // see Field
  std::vector<double> slots_;    // a weight: a, cosh(a) e^{−m}

  double* column(std::size_t r) { return &columns_[r * fields]; }
  double factor(std::size_t r) const { return radius_ / total_of(&columns_[r * fields + sum]); }
  static double cosh_of(double a, double m) { return 0.5 * (std::exp(a - m) + std::exp(-a - m)); }
  static double sinh_of(const double* slot) { return slot[0] == 0 ? 0.0 : std::tanh(slot[0]) * slot[1]; }

  void sum_afresh(std::size_t r) {
    double* c = column(r);
    double top = 0;
    for (std::size_t i = r; i < features_ * k_; i += k_) top = std::max(top, std::fabs(slots_[2 * i]));
    c[shift] = top, c[sum] = c[sum + 1] = c[changes] = 0;
    for (std::size_t i = r; i < features_ * k_; i += k_) {
      slots_[2 * i + 1] = cosh_of(slots_[2 * i], top);
      add_exactly(c + sum, slots_[2 * i + 1]);
    }
    c[peak] = c[sum];
  }
};

}  // namespace gossamer
