// Weights of groups of features as w_j = scale_g · u_j, for rules that only ever scale a whole group: scaling is one
// multiplication, and the norm of a group is |scale_g| ‖u_g‖ with ‖u_g‖² kept up to date as members change. A group
// that reaches zero starts a new generation; members of an older one read as zero.
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
  // `stamps` is what the rule keeps for a group.
  void visit(StateVisitor& f, Range stamps) {
    f("groups", std::span(groups_), Per::learner,
      {{any_number}, {at_least_zero}, {any_number}, {counted, 2}, {stamps}});
    f("slots", slots_, {{counted}, {any_number, k_}});
    f.demand("groups", "a group has the scale 0", [&] {
      for (std::size_t g = 0; g < partition_.count(); ++g) {
        if (group(g)[scale] == 0) return false;
      }
      return true;
    });
    f.demand("slots", "a feature is ahead of its group", [&] {
      for (std::size_t j = 0; j < slots_.size() / (k_ + 1); ++j) {
        if (slots_[j * (k_ + 1)] > group(partition_.of(j))[generation]) return false;
      }
      return true;
    });
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

}  // namespace gossamer
