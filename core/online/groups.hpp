// Rules for ‖·‖₂ over groups of features, in O(nnz · k) an example however large the groups.
//
//     Ω(W) = Σ_g ω_g ‖W_g‖₂,   W_g the rows of W in group g, over all outputs
//
// Every rule here only ever scales a whole group (scaled_groups.hpp).
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "online/scaled_groups.hpp"
#include "online/trail.hpp"

namespace gossamer {

// FOBOS with Σ_g ω_g ‖W_g‖₂ (MATH: w_g ← [1 − ηαω_g/‖v_g‖]₊ v_g). The shrinking of missed rounds adds up (FOBOS,
// Proposition 11), so a group catches up when one of its members is next needed. One group of everything is the ℓ2
// norm. O(nnz · k) an example.
class GroupFobosRule {
 public:
  GroupFobosRule(const FeatureGroups& groups, std::size_t features, std::size_t outputs, double alpha)
      : weights_(groups.weights), w_(Partition(groups, features), features, outputs), alpha_(alpha) {}

  void prefetch(std::size_t j) const { w_.prefetch(j); }
  void begin(double eta) { eta_ = eta; }
  void accumulate(std::size_t j, double x, double* z) {
    const std::size_t g = w_.group_of(j);
    if (w_.stamp_of(g) != total_) {
      w_.tidy(g);
      const double factor = factor_of(g);
      if (factor != 1) w_.multiply(g, factor);
      w_.stamp_of(g) = total_;
    }
    w_.accumulate(j, x, z);
  }
  void update(std::size_t j, double x, const double* slope) { w_.update(j, x * eta_, slope); }
  void end() { total_ += eta_ * alpha_; }
  void read(std::size_t j, double* w) const { w_.read(j, w, factor_of(w_.group_of(j))); }
  void assign(std::size_t j, std::size_t g) { w_.assign(j, g); }
  void visit(StateVisitor& f) { total_.visit(f, "total", "total_rest"), w_.visit(f, total_.stamps()); }

 private:
  std::vector<double> weights_;  // ω
  ScaledGroups w_;
  double alpha_, eta_ = 0;
  Total total_;  // Σ ηα; a group's stamp is the total it is up to date with

  double factor_of(std::size_t g) const {
    const double s = (total_ - w_.stamp_of(g)) * weight_of(weights_, g);
    if (s == 0) return 1.0;
    const double norm = w_.norm(g);
    return norm > s ? 1 - s / norm : 0.0;
  }
};

// w ← (1 − ηα) w − ηg, then the projection on ‖w‖₂ ≤ radius (all of W as one vector).
//
//     Pegasos        η = 1/(αt), radius 1/√α or none (Shalev-Shwartz, Singer & Srebro 2007)
//     the ℓ2 ball    α = 0: projected subgradient
//
// O(nnz · k) an example.
class ScaledRule {
 public:
  ScaledRule(std::size_t features, std::size_t outputs, double alpha, double radius)
      : w_(Partition(FeatureGroups{{}, {0, static_cast<std::int64_t>(features)}, {}}, features), features, outputs),
        alpha_(alpha),
        radius_(radius) {}

  void prefetch(std::size_t j) const { w_.prefetch(j); }
  void begin(double eta) {
    eta_ = eta, decayed_ = false;
    w_.tidy(0);
  }
  void accumulate(std::size_t j, double x, double* z) const { w_.accumulate(j, x, z); }
  void update(std::size_t j, double x, const double* slope) {
    decay();
    w_.update(j, x * eta_, slope);
  }
  void end() {
    decay();
    const double norm = w_.norm(0);
    if (norm > radius_) w_.multiply(0, radius_ / norm);
  }
  void read(std::size_t j, double* w) const { w_.read(j, w, 1.0); }
  void visit(StateVisitor& f) { w_.visit(f, up_to(0)); }

 private:
  ScaledGroups w_;
  double alpha_, radius_, eta_ = 0;
  bool decayed_ = false;  // in this round

  // Once a round: after the predictions, before the gradient. The factor is zero in the first round of Pegasos.
  void decay() {
    if (!decayed_ && alpha_ != 0) w_.multiply(0, 1 - eta_ * alpha_);
    decayed_ = true;
  }
};

// The rate c = 1/(γ√t) of RDA. In round t the weights come from the t − 1 rounds before it; before the first, c = 0.
class DualClock {
 public:
  explicit DualClock(double alpha) : alpha_(alpha) {}
  void begin(double gamma) { next_ = gamma; }
  void end() { rounds_ += 1, gamma_ = next_, set(); }
  double rounds() const { return rounds_; }
  double rate() const { return rate_; }
  double t_alpha() const { return rounds_ * alpha_; }
  void visit(StateVisitor& f) {
    f("rounds", rounds_, now), f("gamma", gamma_, at_least_zero);
    set();
  }

 private:
  double alpha_, rounds_ = 0, gamma_ = 0, next_ = 0, rate_ = 0;  // next_: γ of a round that has begun

  // See RdaRule for γ = 0.
  void set() { rate_ = rounds_ > 0 ? 1.0 / std::max(gamma_ * std::sqrt(rounds_), 1e-12 * rounds_ * alpha_) : 0.0; }
};

// RDA with Σ_g ω_g ‖W_g‖₂ or, with one group of everything, the ℓ2 norm or the ℓ2 ball. The state is the sum of
// gradients G with ‖G_g‖² kept up to date, and
//
//     w_g = −c [1 − tαω_g/‖G_g‖]₊ G_g, scaled into the ball.
//
// O(nnz · k) an example.
class GroupRdaRule {
 public:
  GroupRdaRule(const FeatureGroups& groups, std::size_t features, std::size_t outputs, double alpha, double radius)
      : weights_(groups.weights),
        sums_(Partition(groups, features), features, outputs),
        clock_(alpha),
        radius_(radius) {}

  void prefetch(std::size_t j) const { sums_.prefetch(j); }
  void begin(double gamma) { clock_.begin(gamma); }
  void accumulate(std::size_t j, double x, double* z) {
    const std::size_t g = sums_.group_of(j);
    if (sums_.stamp_of(g) != clock_.rounds()) {
      sums_.tidy(g);
      sums_.stamp_of(g) = clock_.rounds();
    }
    const double factor = factor_of(g);
    if (factor != 0) sums_.accumulate(j, x * factor, z);
  }
  void update(std::size_t j, double x, const double* slope) { sums_.update(j, -x, slope); }
  void end() { clock_.end(); }
  void read(std::size_t j, double* w) const { sums_.read(j, w, factor_of(sums_.group_of(j))); }
  void assign(std::size_t j, std::size_t g) { sums_.assign(j, g); }
  void visit(StateVisitor& f) { clock_.visit(f), sums_.visit(f, a_round); }

 private:
  std::vector<double> weights_;  // ω
  ScaledGroups sums_;            // G, with a scale of one
  DualClock clock_;
  double radius_;

  // w_g / G_g
  double factor_of(std::size_t g) const {
    const double norm = sums_.norm(g), threshold = clock_.t_alpha() * weight_of(weights_, g);
    if (norm <= threshold) return 0.0;
    return -std::min(clock_.rate() * (1 - threshold / norm), radius_ / norm);
  }
};

}  // namespace gossamer
