// Rules for ‖·‖₂ over groups of features, in O(nnz · k) an example however large the groups.
//
//     Ω(W) = Σ_g ω_g ‖W_g‖₂,   W_g the rows of W in group g, over all outputs
//
// Every rule here only ever scales a whole group, so a weight is kept as w_j = scale_g · u_j: scaling a group is one
// multiplication, and its norm is |scale_g| ‖u_g‖ with ‖u_g‖² kept up to date as members change. A group that reaches
// zero starts a new generation; members of an older one read as zero.
//
// Rounding: Σ u² is kept in two doubles and summed afresh once a group has had as many changes as it has members, so
// that it neither drifts nor cancels, at a cost of O(1) a change.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "base/blocks.hpp"
#include "online/row_penalty.hpp"

namespace gossamer {

// Groups of features as the user gave them: a partition, and a weight ω each (none: all ones). No starts: every
// feature is a group.
struct FeatureGroups {
  std::vector<std::int64_t> members, starts;
  std::vector<double> weights;

  static FeatureGroups whole(std::size_t features) {
    FeatureGroups one{std::vector<std::int64_t>(features), {0, static_cast<std::int64_t>(features)}, {}};
    std::iota(one.members.begin(), one.members.end(), 0);
    return one;
  }
  // The same as blocks of a row-major matrix. They point into this object.
  Blocks blocks(std::size_t features, std::size_t outputs) const {
    if (starts.size() == 2) return {1, features * outputs, {}, {}};
    return {features, outputs, members, starts};
  }
};

// Which group a feature is in, and who else is.
class Partition {
 public:
  Partition(const FeatureGroups& groups, std::size_t features) : features_(features) {
    if (groups.starts.size() == 2) {
      whole_ = true;
    } else if (!groups.starts.empty()) {
      members_ = groups.members, starts_ = groups.starts, of_.resize(features);
      for (std::size_t g = 0; g < count(); ++g) each(g, [&](std::size_t j) { of_[j] = static_cast<std::uint32_t>(g); });
    }
  }
  std::size_t count() const { return whole_ ? 1 : starts_.empty() ? features_ : starts_.size() - 1; }
  std::size_t of(std::size_t j) const { return whole_ ? 0 : of_.empty() ? j : of_[j]; }
  std::size_t size(std::size_t g) const {
    if (whole_) return features_;
    return starts_.empty() ? 1 : static_cast<std::size_t>(starts_[g + 1] - starts_[g]);
  }
  template <class F>
  void each(std::size_t g, F f) const {
    if (whole_) {
      for (std::size_t j = 0; j < features_; ++j) f(j);
    } else if (starts_.empty()) {
      f(g);
    } else {
      for (auto m = starts_[g]; m < starts_[g + 1]; ++m) f(static_cast<std::size_t>(members_[m]));
    }
  }

 private:
  std::size_t features_;
  bool whole_ = false;                          // one group of everything: no tables
  std::vector<std::int64_t> members_, starts_;  // none: every feature is a group
  std::vector<std::uint32_t> of_;
};

// A sum of many terms that come and go, in two doubles: what is added and later taken away leaves nothing behind.
inline void add_exactly(double* sum, double x) {
  const double total = sum[0] + x, part = total - sum[0];
  sum[1] += (sum[0] - (total - part)) + (x - part);
  sum[0] = total;
}
inline double total_of(const double* sum) { return std::max(sum[0] + sum[1], 0.0); }

// Weights as scale_g · u_j.
class ScaledGroups {
 public:
  ScaledGroups(Partition partition, std::size_t features, std::size_t outputs)
      : partition_(std::move(partition)),
        k_(outputs),
        groups_(partition_.count() * fields),
        slots_(features * (outputs + 1)) {
    for (std::size_t g = 0; g < partition_.count(); ++g) group(g)[scale] = 1;
  }

  std::size_t group_of(std::size_t j) const { return partition_.of(j); }
  double norm(std::size_t g) const { return std::fabs(group(g)[scale]) * std::sqrt(total_of(group(g) + squares)); }
  double& stamp_of(std::size_t g) { return group(g)[stamp]; }  // for the rule to use
  double stamp_of(std::size_t g) const { return group(g)[stamp]; }
  void prefetch(std::size_t j) const { __builtin_prefetch(&slots_[j * (k_ + 1)], 1); }

  // W_g ← factor · W_g
  void multiply(std::size_t g, double factor) {
    double* s = group(g);
    if (factor == 0 || total_of(s + squares) == 0) {
      s[scale] = 1, s[squares] = s[squares + 1] = s[changes] = 0;
      s[generation] += 1;
    } else {
      s[scale] *= factor;
      if (std::fabs(s[scale]) < 1e-100) sum_afresh(g);
    }
  }
  // Sums Σ u² afresh if it is time to. Call it between rounds or before the first update of one.
  void tidy(std::size_t g) {
    if (group(g)[changes] >= static_cast<double>(partition_.size(g))) sum_afresh(g);
  }
  // z += x · W_j
  void accumulate(std::size_t j, double x, double* z) const {
    const double* s = group(partition_.of(j));
    const double* u = &slots_[j * (k_ + 1)];
    if (u[0] != s[generation]) return;
    for (std::size_t r = 0; r < k_; ++r) z[r] += x * (s[scale] * u[1 + r]);
  }
  // W_j ← W_j − step · slope
  void update(std::size_t j, double step, const double* slope) {
    double* s = group(partition_.of(j));
    double* u = &slots_[j * (k_ + 1)];
    if (u[0] != s[generation]) std::fill_n(u + 1, k_, 0.0), u[0] = s[generation];
    const double scaled = step / s[scale];
    for (std::size_t r = 0; r < k_; ++r) {
      const double old = u[1 + r];
      u[1 + r] -= scaled * slope[r];
      add_exactly(s + squares, u[1 + r] * u[1 + r]);
      add_exactly(s + squares, -old * old);
    }
    s[changes] += 1;
  }
  void read(std::size_t j, double* w, double factor) const {
    const double* s = group(partition_.of(j));
    const double* u = &slots_[j * (k_ + 1)];
    const bool live = factor != 0 && u[0] == s[generation];
    for (std::size_t r = 0; r < k_; ++r) w[r] = live ? factor * (s[scale] * u[1 + r]) + 0.0 : 0.0;
  }
  template <class F>
  void visit(F f) {
    f("groups", groups_), f("slots", slots_);
  }

 private:
  // of a group: Σ u² takes two, the changes since it was summed afresh, a stamp of the rule
  enum Field { scale, squares, generation = 3, changes, stamp, fields };

  Partition partition_;
  std::size_t k_;
  std::vector<double> groups_;  // see Field
  Slots slots_;                 // a feature: its generation, then its u

  double* group(std::size_t g) { return &groups_[g * fields]; }
  const double* group(std::size_t g) const { return &groups_[g * fields]; }

  // Σ u² from the members, with the scale folded into them.
  void sum_afresh(std::size_t g) {
    double* s = group(g);
    const double factor = s[scale];
    s[scale] = 1, s[squares] = s[squares + 1] = s[changes] = 0;
    partition_.each(g, [&](std::size_t j) {
      double* u = &slots_[j * (k_ + 1)];
      if (u[0] != s[generation]) return;
      for (std::size_t r = 1; r <= k_; ++r) {
        u[r] *= factor;
        add_exactly(s + squares, u[r] * u[r]);
      }
    });
  }
};

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
  template <class F>
  void visit(F f) {
    f("total", total_), w_.visit(f);
  }

 private:
  std::vector<double> weights_;  // ω
  ScaledGroups w_;
  double alpha_, eta_ = 0, total_ = 0;  // total: Σ ηα; a group's stamp is the total it is up to date with

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
  template <class F>
  void visit(F f) {
    w_.visit(f);
  }

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
  void begin(double gamma) { gamma_ = gamma; }
  void end() { rounds_ += 1, set(); }
  double rounds() const { return rounds_; }
  double rate() const { return rate_; }
  double t_alpha() const { return rounds_ * alpha_; }
  template <class F>
  void visit(F f) {
    f("rounds", rounds_), f("gamma", gamma_);
    set();
  }

 private:
  double alpha_, rounds_ = 0, gamma_ = 0, rate_ = 0;

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
  template <class F>
  void visit(F f) {
    clock_.visit(f), sums_.visit(f);
  }

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
