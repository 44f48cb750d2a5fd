// Sums over rounds, for the exact average of the iterates (averaged.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "base/state.hpp"
#include "base/sums.hpp"

namespace gossamer {

// Σ_{i=1..n} [x − i s]₊
inline double arithmetic_sum(double x, double s, double n) {
  if (x <= n * s) n = x > s ? std::ceil(x / s) - 1 : 0.0;
  return n * (x - s * (n + 1) / 2);
}

inline bool all_zero(std::span<const double> w) {
  return std::all_of(w.begin(), w.end(), [](double x) { return x == 0; });
}

// Adds the path of a row round by round; `next(w)` is a round. Where zero stays zero, a row that reached it is done.
template <class Next>
void add_steps(std::span<const double> w, double rounds, double* sum, Next next) {
  thread_local std::vector<double> row;
  row.assign(w.begin(), w.end());
  for (; rounds > 0; --rounds) {
    next(std::span<double>(row));
    if (all_zero(row)) return;
    for (std::size_t r = 0; r < row.size(); ++r) sum[r] += row[r];
  }
}

// Σ s over rounds, with what rounding took from it: without that, a million equal steps are 2e-11 off.
class Total {
 public:
  operator double() const { return parts_[0] + parts_[1]; }
  void operator+=(double s) { add_exactly(parts_, s); }
  void clear() { parts_[0] = parts_[1] = 0; }
  // What a feature that was up to date at some time may have kept of it.
  Range stamps() const { return up_to(*this * (1 + 1e-12)); }
  void visit(StateVisitor& f, const char* name, const char* rest) {
    f(name, parts_[0], at_least_zero), f(rest, parts_[1], any_number);
    f.demand(rest, "it is more than rounding", [&] { return std::fabs(parts_[1]) <= 1e-6 * parts_[0]; });
  }

 private:
  double parts_[2] = {0.0, 0.0};
};

// Λ_t = Σ_{s≤t} λ_s and its prefix sums, for the rounds since the last restart.
class Trail {
 public:
  std::size_t rounds() const { return entries_.size() / 2 - 1; }
  void restart() { entries_ = {0.0, 0.0}; }
  void push(double total) {
    const double sum = entries_.back() + total;
    entries_.push_back(total), entries_.push_back(sum);
  }
  // How many rounds there were before the last n.
  std::size_t before(double n) const { return rounds() - std::min(static_cast<std::size_t>(n), rounds()); }
  double step(std::size_t t) const { return total(t + 1) - total(t); }
  // Σ [x − a (Λ_t − start)]₊ over the last n rounds: a line until it reaches zero.
  double line(double x, double a, double start, double n) const {
    const std::size_t then = before(n), last = rounds();
    if (x == 0 || then == last) return 0.0;
    const std::size_t end = x > a * (total(last) - start) ? last : end_of(x, a, start, then, last);
    return static_cast<double>(end - then) * (x + a * start) - a * (sum(end) - sum(then));
  }
  // `total` is Λ now.
  void visit(StateVisitor& f, double total) {
    f.growing("trail", entries_, {{at_least_zero, 2}});
    f.demand("trail", "it is not the sums over the rounds", [&] { return is_of_rounds(total); });
  }

 private:
  std::vector<double> entries_ = {0.0, 0.0};  // after 0, 1, … rounds: Λ, then the sum of Λ up to there

  bool is_of_rounds(double now) const {
    if (entries_.empty()) return false;
    double sum = 0;
    for (std::size_t t = 0; t <= rounds(); ++t) {
      sum += total(t);
      if (total(t) < total(t > 0 ? t - 1 : 0) || !about(this->sum(t), sum)) return false;
    }
    return total(0) == 0 && total(rounds()) == now;
  }
  double total(std::size_t t) const { return entries_[2 * t]; }
  double sum(std::size_t t) const { return entries_[2 * t + 1]; }
  // The last round in low … high in which something is left of x, now that nothing is. Λ grows steadily: a search by
  // interpolation, with a halving every third time in case it does not.
  std::size_t end_of(double x, double a, double start, std::size_t low, std::size_t high) const {
    if (x <= a * (total(low) - start)) return low;
    for (int turn = 1; high - low > 1; ++turn) {
      const double left = x - a * (total(low) - start), right = a * (total(high) - start) - x;
      const double part = turn % 3 == 0 ? 0.5 : left / (left + right);
      const auto step = static_cast<std::ptrdiff_t>(static_cast<double>(high - low) * part);
      const std::size_t middle = std::clamp(low + static_cast<std::size_t>(step), low + 1, high - 1);
      (x > a * (total(middle) - start) ? low : high) = middle;
    }
    return low;
  }
};

// Σ c_t, Σ c_t t and Σ c_t e_t for the rounds since the last restart: the lines c_t (x − a t − e_t) of dual averaging.
class DualTrail {
 public:
  void push(double t, double c, double extra) {
    const double *last = &*(entries_.end() - 3), next[3] = {last[0] + c, last[1] + c * t, last[2] + c * extra};
    entries_.insert(entries_.end(), next, next + 3);
  }
  std::size_t rounds() const { return entries_.size() / 3 - 1; }
  void restart(double t) { entries_.assign(3, 0.0), first_ = t; }
  double first() const { return first_; }  // the round before the first of the record
  // Σ c_s (x − a s − e_s) over t < s ≤ u
  double line(double x, double a, double t, double u) const {
    const double *from = at(t), *to = at(u);
    return x * (to[0] - from[0]) - a * (to[1] - from[1]) - (to[2] - from[2]);
  }
  bool empty() const { return entries_.empty(); }
  bool is_about(const DualTrail& other) const { return std::ranges::equal(entries_, other.entries_, about); }
  void visit(StateVisitor& f) {
    f.growing("trail", entries_, {{at_least_zero, 3}});
    f("trail_first", first_, a_round);
  }

 private:
  double first_ = 0;
  std::vector<double> entries_ = {0.0, 0.0, 0.0};

  // A feature that came after the record began, by growing, was zero before it.
  const double* at(double t) const { return entries_.data() + 3 * static_cast<std::size_t>(std::max(t - first_, 0.0)); }
};

// A record of rounds is this long at most: then all features catch up, which costs as much as one round each.
inline std::size_t longest_record(std::size_t features) { return std::max<std::size_t>(features, 1 << 16); }

}  // namespace gossamer
