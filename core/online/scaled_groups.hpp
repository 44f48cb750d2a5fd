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
#include <stdexcept>
#include <vector>

#include "base/blocks.hpp"
#include "online/row_penalty.hpp"

namespace gossamer {

// Groups of features as the user gave them: a partition, and a weight ω each (none: all ones). No starts: every
// feature is a group. Groups that grow need not hold all features: a feature gets its group before it is first seen.
struct FeatureGroups {
  std::vector<std::int64_t> members, starts;
  std::vector<double> weights;
  bool grows = false;

  std::size_t count() const { return starts.empty() ? 0 : starts.size() - 1; }
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

// Which group a feature is in, and who else is. In groups that grow, a feature is a member once it has been changed:
// what is done with the members does not depend on when others were announced.
class Partition {
 public:
  Partition(const FeatureGroups& groups, std::size_t features) : features_(features) {
    if (groups.starts.empty()) return;
    whole_ = groups.starts.size() == 2 && !groups.grows, grows_ = groups.grows;
    if (whole_) return;
    places_.resize(features), ends_.resize(groups.count());
    for (std::size_t g = 0; g < count(); ++g) {
      for (auto m = groups.starts[g]; m < groups.starts[g + 1]; ++m) {
        const auto j = static_cast<std::size_t>(groups.members[m]);
        if (j >= features) throw std::invalid_argument("there is no such feature");
        places_[j].group = static_cast<std::uint32_t>(g);
        if (!grows_) join(j);
      }
    }
  }
  std::size_t count() const { return whole_ ? 1 : places_.empty() ? features_ : ends_.size(); }
  std::size_t of(std::size_t j) const { return whole_ ? 0 : places_.empty() ? j : places_[j].group; }
  std::size_t size(std::size_t g) const { return whole_ ? features_ : places_.empty() ? 1 : ends_[g].size; }
  template <class F>
  void each(std::size_t g, F f) const {
    if (whole_) {
      for (std::size_t j = 0; j < features_; ++j) f(j);
    } else if (places_.empty()) {
      f(g);
    } else {
      for (std::uint32_t j = ends_[g].first; j != nobody; j = places_[j].next) f(static_cast<std::size_t>(j));
    }
  }
  // Says which group a feature will be in.
  void assign(std::size_t j, std::size_t g) {
    if (!grows_ || j >= features_ || g >= count()) throw std::invalid_argument("there is no such feature or group");
    if (places_[j].group == g) return;
    if (places_[j].next != waiting) throw std::invalid_argument("a feature in use cannot change its group");
    places_[j].group = static_cast<std::uint32_t>(g);
  }
  // A feature is about to be changed.
  void touch(std::size_t j) {
    if (grows_ && places_[j].next == waiting) join(j);
  }
  void visit(StateVisitor& f) {
    if (!grows_) return;
    std::vector<double> shown;  // members and their groups, in the order in which sums go through them
    for (std::size_t g = 0; g < count(); ++g) {
      each(g, [&](std::size_t j) { shown.insert(shown.end(), {static_cast<double>(j), static_cast<double>(g)}); });
    }
    const std::vector<double> before = shown;
    f.growing("members", shown, {{below(features_)}, {below(count())}});
    f.demand("members", "a feature is in two groups", [&] {
      std::vector<bool> there(features_);
      for (std::size_t i = 0; i < shown.size(); i += 2) {
        if (there[static_cast<std::size_t>(shown[i])]) return false;
        there[static_cast<std::size_t>(shown[i])] = true;
      }
      return true;
    });
    if (shown == before) return;
    for (Place& place : places_) place.next = waiting;
    ends_.assign(ends_.size(), {});
    for (std::size_t i = 0; i < shown.size(); i += 2) {
      const auto j = static_cast<std::size_t>(shown[i]);
      places_[j].group = static_cast<std::uint32_t>(shown[i + 1]);
      join(j);
    }
  }

 private:
  static constexpr std::uint32_t nobody = ~0u, waiting = nobody - 1;
  struct Place {
    std::uint32_t group = 0, next = waiting;  // the next member of the group
  };
  struct Ends {
    std::uint32_t first = nobody, last = nobody;
    std::size_t size = 0;
  };

  std::size_t features_;
  bool whole_ = false, grows_ = false;  // one group of everything: no tables
  std::vector<Place> places_;           // none: every feature is a group
  std::vector<Ends> ends_;

  static Range below(std::size_t most) { return whole_up_to(static_cast<double>(most) - 1); }
  void join(std::size_t j) {
    Ends& ends = ends_[places_[j].group];
    const auto now = static_cast<std::uint32_t>(j);
    ends.size++ == 0 ? ends.first = now : places_[ends.last].next = now;
    ends.last = now, places_[j].next = nobody;
  }
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
  void assign(std::size_t j, std::size_t g) { partition_.assign(j, g); }
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
    partition_.touch(j);
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
    partition_.visit(f);
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
