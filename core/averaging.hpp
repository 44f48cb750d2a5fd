// The exact average of the iterates, w̄_T = (1/T) Σ_{t=1..T} w_{t+1}: the weights as they stand after each round.
//
// It costs no more than the features in an example either. Between two touches a feature follows a curve that is known
// beforehand, so it is enough to add up that piece of its path when it is next touched. A rule says how:
//
//     add_path(j, n, sum)    sum += W_j after each of the last n rounds, for a feature touched before them for the
//                            last time: what its last update did shows after the first of them
//     settles(step)          optional: begin(step) changes what add_path says of the rounds before, so that all paths
//                            have to be added up first
//
// Rules whose paths have a closed form add them up at the cost of a few operations, at most a bisection; the others
// walk through the rounds one by one, for the rows that are not zero (see lazy.hpp, fobos.hpp, dual.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "penalties.hpp"

namespace gossamer {

// A rule that also averages its weights. One without add_path is averaged by adding up all weights in every round:
// exact as well, but O(d) a round; Averaged<Rule> is all it takes.
template <class Rule>
class Averaged {
 public:
  static constexpr std::size_t width = Rule::width;

  Averaged(Rule rule, std::size_t features, std::size_t outputs)
      : rule_(std::move(rule)), features_(features), outputs_(outputs), slots_(features * (outputs + 1)) {}

  void prefetch(std::size_t j) const {
    rule_.prefetch(j);
    __builtin_prefetch(&slots_[j * stride()], 1);
  }
  void begin(double step) {
    if constexpr (requires { rule_.settles(step); }) {
      if (rule_.settles(step)) {
        for (std::size_t j = 0; j < features_; ++j) add_path(j);
      }
    }
    rule_.begin(step);
  }
  void accumulate(std::size_t j, double x, double* z) {
    if constexpr (lazy) add_path(j);
    rule_.accumulate(j, x, z);
  }
  void update(std::size_t j, double x, const double* slope) { rule_.update(j, x, slope); }
  void end() {
    rule_.end();
    rounds_ += 1;
    if constexpr (!lazy) {
      std::vector<double> w(outputs_);
      for (std::size_t j = 0; j < features_; ++j) {
        rule_.read(j, w.data());
        for (std::size_t r = 0; r < outputs_; ++r) slots_[j * stride() + 1 + r] += w[r];
      }
    }
  }
  void read(std::size_t j, double* w) const { rule_.read(j, w); }

  // The average weights of feature j; before the first round, the weights.
  void read_average(std::size_t j, double* w) const {
    if (rounds_ == 0) return rule_.read(j, w);
    const double* slot = &slots_[j * stride()];
    std::copy_n(slot + 1, outputs_, w);
    if constexpr (lazy) rule_.add_path(j, rounds_ - slot[0], w);
    for (std::size_t r = 0; r < outputs_; ++r) w[r] /= rounds_;
  }
  template <class F>
  void visit(F f) {
    rule_.visit(f), f("average_rounds", rounds_), f("average_slots", slots_);
  }

 private:
  static constexpr bool lazy = requires(const Rule& rule, double* sum) { rule.add_path(std::size_t{}, 1.0, sum); };

  Rule rule_;
  std::size_t features_, outputs_;
  double rounds_ = 0;
  std::vector<double> slots_;  // a feature: the rounds that are in its sum, then the sum of its weights over them

  std::size_t stride() const { return (width == 0 ? outputs_ : width) + 1; }
  void add_path(std::size_t j) {
    double* slot = &slots_[j * stride()];
    rule_.add_path(j, rounds_ - slot[0], slot + 1);
    slot[0] = rounds_;
  }
};

// Penalties under which a row only loses length, in a way that depends on its length alone.
template <class P>
constexpr bool shortens = std::is_same_v<P, L1> || std::is_same_v<P, NonNegativeL1> || std::is_same_v<P, L2>;

// Adds the path of a row that sets out as sign · v, where `lengths(x)` is the sum of the lengths that follow on x.
template <class P, class Lengths>
  requires shortens<P>
void add_shortening(const P&, std::span<const double> v, double sign, double* sum, Lengths lengths) {
  if constexpr (std::is_same_v<P, L2>) {
    const double norm = norm2(v);
    const double ratio = norm > 0 ? sign * lengths(norm) / norm : 0.0;
    for (std::size_t r = 0; r < v.size(); ++r) sum[r] += ratio * v[r];
  } else if constexpr (std::is_same_v<P, NonNegativeL1>) {
    for (std::size_t r = 0; r < v.size(); ++r) sum[r] += lengths(std::max(sign * v[r], 0.0));
  } else {
    for (std::size_t r = 0; r < v.size(); ++r) sum[r] += std::copysign(lengths(std::fabs(v[r])), sign * v[r]);
  }
}

// Adds the path of a row round by round; `next(w)` is a round, and zero stays zero.
template <class Next>
void add_steps(std::span<const double> w, double rounds, double* sum, Next next) {
  thread_local std::vector<double> row;
  row.assign(w.begin(), w.end());
  for (; rounds > 0; --rounds) {
    next(std::span<double>(row));
    if (std::all_of(row.begin(), row.end(), [](double x) { return x == 0; })) return;
    for (std::size_t r = 0; r < row.size(); ++r) sum[r] += row[r];
  }
}

// Σ_{i=1..n} [x − i s]₊
inline double arithmetic_sum(double x, double s, double n) {
  if (x <= n * s) n = x > s ? std::ceil(x / s) - 1 : 0.0;
  return n * (x - s * (n + 1) / 2);
}

// A running sum together with what rounding took from it, so that the difference of two of them is as good as adding up
// what lies between.
struct PrefixSum {
  double sum = 0, rest = 0;

  PrefixSum plus(double x) const {
    const double next = sum + x, added = next - sum;
    return {next, rest + ((sum - (next - added)) + (x - added))};
  }
  double since(const PrefixSum& then) const { return (sum - then.sum) + (rest - then.rest); }
};

// Λ_t = Σ_{s≤t} λ_s and its prefix sums, for the rounds since the last restart.
class Trail {
 public:
  Trail() { restart(); }
  std::size_t rounds() const { return entries_.size() / 3 - 1; }
  double total(std::size_t t) const { return entries_[3 * t]; }
  std::size_t before(double n) const { return rounds() - std::min(static_cast<std::size_t>(n), rounds()); }
  void restart() { entries_.assign(3, 0.0); }
  void push(double total) {
    const PrefixSum sum = sums(rounds()).plus(total);
    entries_.insert(entries_.end(), {total, sum.sum, sum.rest});
  }
  // Σ [x − a (Λ_t − Λ_then)]₊ over the last n rounds, then = before(n).
  double shrinking_sum(double x, double a, double n) const {
    const std::size_t then = before(n), now = rounds();
    const std::size_t last = x <= a * (total(now) - total(then)) ? end(x, a, then) : now;
    const double count = static_cast<double>(last - then);
    return count * x - a * (sums(last).since(sums(then)) - count * total(then));
  }
  template <class F>
  void visit(F f) {
    f("trail", entries_);
  }

 private:
  std::vector<double> entries_;  // after 0, 1, … rounds: Λ, then the prefix sum of Λ

  PrefixSum sums(std::size_t t) const { return {entries_[3 * t + 1], entries_[3 * t + 2]}; }
  // The last round in which something is left of size x, now that nothing is. Λ grows steadily: a search by
  // interpolation, with a halving every third time in case it does not.
  std::size_t end(double x, double a, std::size_t then) const {
    if (x == 0) return then;
    const double start = total(then);
    std::size_t low = then, high = rounds();
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

// Σ 1/√t and Σ √t over first < t ≤ last.
struct RootSums {
  double inverse = 0, direct = 0;
};

// What they need of a round: by Euler and Maclaurin, Σ f(t) = ∫ f + [f/2 + f'/12 − f'''/720 + f⁗'/30240], and the tails
// are these brackets, exact to rounding from round 32 on.
struct RootPoint {
  double t = 0, root = 0, inverse_tail = 0, direct_tail = 0;

  RootPoint() = default;
  explicit RootPoint(double round) : t(round), root(std::sqrt(round)) {
    const double inverse = 1 / root, u = inverse * inverse, u2 = u * u;
    inverse_tail = inverse * (0.5 - u * (1.0 / 24 - u2 * (1.0 / 384 - u2 / 1024)));
    direct_tail = inverse * (1.0 / 24 - u2 * (1.0 / 1920 - u2 / 9216));
  }
};

// The integrals are written as (last − first) times a mean, so that nothing cancels.
inline RootSums root_sums(double first, const RootPoint& last) {
  RootSums sums;
  for (; first < 32 && first < last.t; first += 1) {
    sums.inverse += 1 / std::sqrt(first + 1);
    sums.direct += std::sqrt(first + 1);
  }
  if (first == last.t) return sums;
  const RootPoint from(first);
  const double mean = (last.t - first) / (from.root + last.root);
  sums.inverse += 2 * mean + (last.inverse_tail - from.inverse_tail);
  sums.direct +=
      mean * ((first + from.root * last.root + last.t) * (2.0 / 3) + 0.5) + (last.direct_tail - from.direct_tail);
  return sums;
}

}  // namespace gossamer
