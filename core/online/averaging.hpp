// The exact average of the iterates, w̄_T = (1/T) Σ_{t=1..T} w_{t+1}: the weights as they stand after each round.
//
// It costs no more than the features in an example either. Between two touches a feature follows a curve that is known
// beforehand, so it is enough to add up that piece of its path when it is next touched. A rule says how:
//
//     add_path(j, n, sum)    sum += W_j after each of the last n rounds, for a feature touched before them for the
//                            last time: what its last update did shows after the first of them
//     open(j, m), close(j, n, m)
//                            instead, where W_j is A u_t + B v_t with running sums of u and v: at a touch m −= A Σu + B
//                            Σv with the sums up to then, and at the next m += the same with the sums up to its end.
//                            Nothing has to be kept of the moment of the touch
//     slide(j, w, x, slope)  optional, for one output: a move (learner.hpp) that keeps m right by itself, in the room;
//                            also slide_four
//     settles(step)          optional: begin(step) changes what is said of the rounds before, so that all paths have to
//                            be added up first; afterwards the running sums start from zero
//     room(j)                optional: 1 + outputs numbers beside the state of feature j, so that both are one access
//
// Rules whose paths have a closed form add them up at the cost of a few operations, at most a bisection; the others
// walk through the rounds one by one, for the rows that are not zero (see lazy.hpp, fobos.hpp, dual.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "base/pack.hpp"
#include "catalogue/penalties.hpp"

namespace gossamer {

// A yes or no in the last bit of a number, where it changes no more than rounding does.
inline bool marked(double x) { return std::bit_cast<std::uint64_t>(x) & 1; }
inline double mark(double x, bool yes) {
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(x) & ~1ULL) | yes);
}
[[gnu::always_inline]] inline QuadBits marked(Quad x) { return -(reinterpret_cast<QuadBits>(x) & 1); }
[[gnu::always_inline]] inline Quad mark(Quad x, QuadBits yes) {
  return reinterpret_cast<Quad>((reinterpret_cast<QuadBits>(x) & ~INT64_C(1)) | (yes & 1));
}

template <class Rule>
constexpr bool slides = requires(Rule& rule) { rule.slide(std::size_t{}, 1.0, 1.0, 1.0); };

// A rule that also averages its weights. One without add_path is averaged by adding up all weights in every round:
// exact as well, but O(d) a round; Averaged<Rule> is all it takes.
template <class Rule>
class Averaged {
 public:
  static constexpr std::size_t width = Rule::width;

  Averaged(Rule rule, std::size_t features, std::size_t outputs)
      : rule_(std::move(rule)), features_(features), outputs_(outputs), slots_(roomy ? 0 : features * (outputs + 1)) {}

  void prefetch(std::size_t j) const {
    rule_.prefetch(j);
    if constexpr (!roomy) __builtin_prefetch(slot(j), 1);
  }
  void begin(double step) {
    if constexpr (requires { rule_.settles(step); }) {
      if (rounds_ > 0 && rule_.settles(step)) {
        for (std::size_t j = 0; j < features_; ++j) add_path(j);
      }
    }
    rule_.begin(step);
  }
  void accumulate(std::size_t j, double x, double* z) {
    if constexpr (lazy) add_path(j);
    rule_.accumulate(j, x, z);
  }
  double peek(std::size_t j) const
    requires slides<Rule>
  {
    return rule_.peek(j);
  }
  [[gnu::always_inline]] Quad peek_four(const std::int32_t* j) const { return rule_.peek_four(j); }
  void move(std::size_t j, double w, double x, double slope) { rule_.slide(j, w, x, slope); }
  [[gnu::always_inline]] void move_four(const std::int32_t* j, Quad w, Quad x, double slope)
    requires requires(Rule& rule) { rule.slide_four(j, w, x, slope); }
  {
    rule_.slide_four(j, w, x, slope);
  }
  void update(std::size_t j, double x, const double* slope) {
    rule_.update(j, x, slope);
    if constexpr (lines) rule_.open(j, slot(j) + 1);
  }
  void end() {
    rule_.end();
    rounds_ += 1;
    if constexpr (!lazy) {
      std::vector<double> w(outputs_);
      for (std::size_t j = 0; j < features_; ++j) {
        rule_.read(j, w.data());
        for (std::size_t r = 0; r < outputs_; ++r) slot(j)[1 + r] += w[r];
      }
    }
  }
  void read(std::size_t j, double* w) const { rule_.read(j, w); }

  // The average weights of feature j; before the first round, the weights.
  void read_average(std::size_t j, double* w) const {
    if (rounds_ == 0) return rule_.read(j, w);
    std::copy_n(slot(j) + 1, outputs_, w);
    if constexpr (lazy) add_path(j, w);
    for (std::size_t r = 0; r < outputs_; ++r) w[r] /= rounds_;
  }
  template <class F>
  void visit(F f) {
    rule_.visit(f), f("average_rounds", rounds_), f("average_slots", slots_);
  }

 private:
  static constexpr bool lines = requires(const Rule& rule, double* m) { rule.open(std::size_t{}, m); };
  static constexpr bool lazy = lines || requires(const Rule& rule, double* m) { rule.add_path(std::size_t{}, 1.0, m); };
  static constexpr bool roomy = requires(Rule& rule) { rule.room(std::size_t{}); };

  Rule rule_;
  std::size_t features_, outputs_;
  double rounds_ = 0;
  Slots slots_;  // a feature: the round of its last touch, then the sum of its weights; unless the rule has room for it

  const double* slot(std::size_t j) const {
    if constexpr (roomy) return rule_.room(j);
    return &slots_[j * (outputs_ + 1)];
  }
  double* slot(std::size_t j) { return const_cast<double*>(std::as_const(*this).slot(j)); }
  void add_path(std::size_t j, double* sum) const {
    const double away = rounds_ - slot(j)[0];
    if constexpr (lines) {
      rule_.close(j, away, sum);
    } else {
      rule_.add_path(j, away, sum);
    }
  }
  void add_path(std::size_t j) {
    add_path(j, slot(j) + 1);
    if constexpr (!slides<Rule>) slot(j)[0] = rounds_;
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
    for (std::size_t r = 0; r < v.size(); ++r) {
      const double length = lengths(std::fabs(v[r]));
      sum[r] += sign * v[r] > 0 ? length : -length;
    }
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

// Λ_t = Σ_{s≤t} λ_s and its prefix sums, for the rounds since the last restart: the lines of a size x that loses λ_t a
// in round t, x + a Λ_then − a Λ_t.
class Trail {
 public:
  std::size_t rounds() const { return entries_.size() / 2 - 1; }
  double total(std::size_t t) const { return entries_[2 * t]; }
  std::size_t before(double n) const { return rounds() - std::min(static_cast<std::size_t>(n), rounds()); }
  void restart() { entries_ = {0.0, 0.0}, total_ = sum_ = rounds_ = 0.0; }
  void push(double total) {
    rounds_ += 1, total_ = total, sum_ += total;
    entries_.push_back(total_), entries_.push_back(sum_);
  }
  // The running sum of the line of a size x of now …
  double opened(double x, double a) const { return x == 0 ? 0.0 : rounds_ * (x + a * total_) - a * sum_; }
  // … and of one that was x when Λ was `then`, up to where it reached zero.
  double closed(double x, double a, double then) const {
    if (x == 0) return 0.0;
    if (x > a * (total_ - then)) return rounds_ * (x + a * then) - a * sum_;
    const std::size_t end = end_of(x, a, then);
    return static_cast<double>(end) * (x + a * then) - a * entries_[2 * end + 1];
  }
  // The same of the line that is at zero where Λ is v, on either side.
  double line(double v, double a) const { return rounds_ * v - std::copysign(a * sum_, v); }
  double rounds_so_far() const { return rounds_; }
  double sum_so_far() const { return sum_; }
  template <class F>
  void visit(F f) {
    f("trail", entries_);
    rounds_ = static_cast<double>(rounds()), total_ = total(rounds()), sum_ = entries_.back();
  }

 private:
  std::vector<double> entries_ = {0.0, 0.0};  // after 0, 1, … rounds: Λ, then the sum of Λ up to there
  Shared rounds_, total_, sum_;               // the newest of them

  // The last round in which something is left of a size x that has been shrinking since `start`, now that nothing is.
  // Λ grows steadily: a search by interpolation, with a halving every third time in case it does not.
  std::size_t end_of(double x, double a, double start) const {
    std::size_t low = 0, high = rounds();
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
  explicit DualTrail(std::size_t features) : limit_(std::max<std::size_t>(features, 1 << 16)) {}
  void push(double t, double c, double extra) {
    now_[0] += c, now_[1] += c * t, now_[2] += c * extra;
    for (const double sum : now_) entries_.push_back(sum);
  }
  bool full() const { return entries_.size() / 3 > limit_; }
  void restart(double t) {
    entries_.assign(3, 0.0), first_ = t;
    std::fill_n(now_, 3, 0.0);
  }
  // The running sum of the line of size x, now and up to round t.
  double line(double x, double a) const { return x * now_[0] - a * now_[1] - now_[2]; }
  [[gnu::always_inline]] Quad line(Quad x, Quad a) const {  // of both signs
    return x * spread_four(now_[0]) - signed_like(x, a * spread_four(now_[1]) + spread_four(now_[2]));
  }
  double line(double x, double a, double t) const { return x * at(t)[0] - a * at(t)[1] - at(t)[2]; }
  double rates() const { return now_[0]; }
  double first() const { return first_; }
  double rates(double t, double u) const { return at(u)[0] - at(t)[0]; }  // Σ c over t < s ≤ u
  template <class F>
  void visit(F f) {
    f("trail", entries_), f("trail_first", first_);
    std::copy_n(entries_.end() - 3, 3, now_);
  }

 private:
  std::size_t limit_;
  double first_ = 0;  // the round before the first of the record
  double now_[3] = {};
  std::vector<double> entries_ = {0.0, 0.0, 0.0};

  const double* at(double t) const { return entries_.data() + 3 * static_cast<std::size_t>(t - first_); }
};

}  // namespace gossamer
