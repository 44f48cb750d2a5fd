// Rules for penalties and sets that couple all features and are not a scaling.
//
//     L1BallRule, SimplexRule     FOBOS (projected subgradient) in O(nnz · k · log d) an example
//     EagerRule, EagerDualRule    FOBOS and RDA with any prox, in O(d · k) and more an example: the prox of the whole
//                                 matrix in every round. Meant for a few thousand weights.
//     KlDualRule                  RDA with the Kullback-Leibler penalty, in O(d · k) an example
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "catalogue/sparse_l1_ball.hpp"
#include "catalogue/sparse_simplex.hpp"
#include "online/groups.hpp"

namespace gossamer {

// prox of a whole row-major d × k matrix: out = argmin ½‖W − V‖² + s Ω(W); out is not v.
using WholeProx = std::function<void(const double* v, double* out, double s)>;

// FOBOS with {‖W‖₁ ≤ radius} or {W ≥ 0, Σ W = radius}, all of W as one vector: w ← Π(w − ηg). A round collects its
// changes and makes one step. It starts at Π(0).
template <class Set>
class SparseSetRule {
 public:
  SparseSetRule(std::size_t features, std::size_t outputs, double radius)
      : k_(outputs), w_(features * outputs, radius) {}

  void prefetch(std::size_t) const {}
  void begin(double eta) { eta_ = eta, indices_.clear(), deltas_.clear(); }
  void accumulate(std::size_t j, double x, double* z) const {
    for (std::size_t r = 0; r < k_; ++r) z[r] += x * w_[j * k_ + r];
  }
  void update(std::size_t j, double x, const double* slope) {
    for (std::size_t r = 0; r < k_; ++r) {
      const double delta = -x * (eta_ * slope[r]);
      if (delta != 0) indices_.push_back(static_cast<std::int64_t>(j * k_ + r)), deltas_.push_back(delta);
    }
  }
  void end() { w_.update(indices_, deltas_); }
  void read(std::size_t j, double* w) const {
    for (std::size_t r = 0; r < k_; ++r) w[r] = w_[j * k_ + r];
  }
  void visit(StateVisitor& f) { w_.visit(f); }

 private:
  std::size_t k_;
  double eta_ = 0;
  Set w_;
  std::vector<std::int64_t> indices_;  // the changes of this round
  std::vector<double> deltas_;
};

using L1BallRule = SparseSetRule<SparseL1Ball>;
using SimplexRule = SparseSetRule<SparseSimplex>;

// FOBOS with any prox: w ← prox(w − ηg, ηα) over the whole matrix in every round, from prox(0, 0).
class EagerRule {
 public:
  EagerRule(WholeProx prox, std::size_t features, std::size_t outputs, double alpha)
      : prox_(std::move(prox)), k_(outputs), alpha_(alpha), w_(features * outputs), next_(features * outputs) {
    step(0.0);
  }

  void prefetch(std::size_t) const {}
  void begin(double eta) { eta_ = eta; }
  void accumulate(std::size_t j, double x, double* z) const {
    for (std::size_t r = 0; r < k_; ++r) z[r] += x * w_[j * k_ + r];
  }
  void update(std::size_t j, double x, const double* slope) {
    for (std::size_t r = 0; r < k_; ++r) w_[j * k_ + r] -= x * (eta_ * slope[r]);
  }
  void end() { step(eta_ * alpha_); }
  void read(std::size_t j, double* w) const { std::copy_n(&w_[j * k_], k_, w); }
  void visit(StateVisitor& f) { f("weights", std::span(w_), Per::learner, {{any_number}}); }

 private:
  WholeProx prox_;
  std::size_t k_;
  double alpha_, eta_ = 0;
  std::vector<double> w_, next_;

  void step(double s) {
    prox_(w_.data(), next_.data(), s);
    w_.swap(next_);
  }
};

// What the rules share whose weights are all computed anew, from the sum of gradients G, after every round.
class DualWeights {
 public:
  DualWeights(std::size_t features, std::size_t outputs, double alpha)
      : k_(outputs), clock_(alpha), w_(features * outputs), sums_(features * outputs) {}

  void prefetch(std::size_t) const {}
  void begin(double gamma) { clock_.begin(gamma); }
  void accumulate(std::size_t j, double x, double* z) const {
    for (std::size_t r = 0; r < k_; ++r) z[r] += x * w_[j * k_ + r];
  }
  void update(std::size_t j, double x, const double* slope) {
    for (std::size_t r = 0; r < k_; ++r) sums_[j * k_ + r] += x * slope[r];
  }
  void read(std::size_t j, double* w) const { std::copy_n(&w_[j * k_], k_, w); }
  void visit(StateVisitor& f) {
    clock_.visit(f);
    f("weights", std::span(w_), Per::learner, {{any_number}});
    f("sums", std::span(sums_), Per::learner, {{any_number}});
  }

 protected:
  std::size_t k_;
  DualClock clock_;
  std::vector<double> w_, sums_;
};

// RDA with any prox: w = prox(−c G, c t α).
class EagerDualRule : public DualWeights {
 public:
  EagerDualRule(WholeProx prox, std::size_t features, std::size_t outputs, double alpha)
      : DualWeights(features, outputs, alpha), prox_(std::move(prox)), v_(features * outputs) {
    prox_(v_.data(), w_.data(), 0.0);
  }
  void end() {
    clock_.end();
    for (std::size_t i = 0; i < v_.size(); ++i) v_[i] = -clock_.rate() * sums_[i];
    prox_(v_.data(), w_.data(), clock_.rate() * clock_.t_alpha());
  }

 private:
  WholeProx prox_;
  std::vector<double> v_;
};

// RDA with Ω(w) = Σ w_j log(w_j / p_j) on the simplex, all of W as one vector. Ω is strongly convex by itself, so no
// other term helps it (β_t = 0, γ is not used): w_j ∝ p_j exp(−G_j / (tα)) (Xiao 2009, §3). Needs α > 0.
class KlDualRule : public DualWeights {
 public:
  KlDualRule(std::vector<double> prior, std::size_t features, std::size_t outputs, double alpha)
      : DualWeights(features, outputs, alpha), prior_(std::move(prior)) {
    w_ = prior_;
  }
  void end() {
    clock_.end();
    double top = -infinity, sum = 0;
    for (std::size_t i = 0; i < w_.size(); ++i) {
      w_[i] = -sums_[i] / clock_.t_alpha();
      if (prior_[i] > 0) top = std::max(top, w_[i]);
    }
    for (std::size_t i = 0; i < w_.size(); ++i) {
      w_[i] = prior_[i] > 0 ? prior_[i] * std::exp(w_[i] - top) : 0.0;
      sum += w_[i];
    }
    for (double& w : w_) w /= sum;
  }

 private:
  std::vector<double> prior_;
};

}  // namespace gossamer
