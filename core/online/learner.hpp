// Online learning: one loop over examples, whatever the rule that changes the weights.
//
//     z = W'x + b;   loss ℓ(z, y) and its slope;   the rule moves the weights of the features in x
//
// A rule holds the state of one method with one penalty. It says by `width` = 1 that it has one output (0: any number),
// and sees one round at a time:
//
//     begin(η)               a round starts with this step
//     accumulate(j, x, z)    z += x · W_j, with W_j brought up to date
//     update(j, x, slope)    the gradient x · slope arrives at feature j
//     peek(j), move(j, w, x, slope)
//                            instead of both, for one output: W_j as it stands now, changing nothing, and the gradient
//                            x · slope at a feature whose weight was seen to be w. The state is written once a round.
//                            peek_four (and, if the rule likes, move_four) handles four features at once. If there is
//                            meet(j, x), it comes first and says what the value will be
//     end()                  the round is over: whatever happens to the features that were not in it
//     read(j, w)             W_j as it stands now, changing nothing
//     visit(f)               f(name, a double, a vector of them, or slots) for all of its state, to save and restore it
//     read_average(j, w)     only if it averages (averaging.hpp): the mean of W_j as it stood after each round
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/memory.hpp"
#include "base/pack.hpp"
#include "base/side_by_side.hpp"
#include "catalogue/losses.hpp"

namespace gossamer {

// A block of examples: CSR rows, targets, importance and step of each.
template <class T>
struct Examples {
  std::size_t count;           // number of rows
  const std::int64_t* begins;  // where each row begins
  const std::int64_t* ends;    // and ends, so that rows may come in any order
  const std::int32_t* index;   // features
  const T* value;              // their values
  const double* y;             // targets, one or more a row
  std::size_t targets;         // how many targets a row
  const double* weight;        // importance of each row, or null for all ones
  const double* step;          // η of each row
};

// A loss as the loop needs it: value and slope at once, for all outputs of an example.
class LossCall {
 public:
  virtual ~LossCall() = default;
  virtual double operator()(std::span<const double> z, const double* y, std::span<double> slope) const = 0;
  // The same for several lanes, whose outputs follow one another: one loss a lane (see lanes.hpp).
  virtual void operator()(std::span<const double> z, const double* y, std::span<double> slope,
                          std::span<double> losses) const {
    const std::size_t k = z.size() / losses.size();
    for (std::size_t i = 0; i < losses.size(); ++i)
      losses[i] = (*this)(z.subspan(i * k, k), y, slope.subspan(i * k, k));
  }
  // A slope beyond which the loss is steep rather than far off: the intercept does not take larger ones for a scale.
  virtual double tame_slope() const { return std::numeric_limits<double>::infinity(); }
};

std::unique_ptr<LossCall> make_loss_call(const ScalarLoss& loss);
std::unique_ptr<LossCall> make_loss_call(const MulticlassLoss& loss);

// The intercept: never penalised. It takes scale-free steps, half the largest slope so far over the root of the sum of
// squared slopes, so that it learns at the same pace whatever the scale of the features and of the targets.
class Intercept {
 public:
  explicit Intercept(std::size_t outputs) : b_(outputs), largest_(outputs), squares_(outputs) {}

  std::span<const double> values() const { return b_; }
  void update(std::span<const double> slope, double tame) {
    for (std::size_t r = 0; r < b_.size(); ++r) {
      largest_[r] = std::max(largest_[r], std::min(std::fabs(slope[r]), tame));
      squares_[r] += slope[r] * slope[r];
      const double root = std::sqrt(squares_[r]);
      b_[r] -= 0.5 * largest_[r] * slope[r] / (root > 0 ? root : 1.0);
    }
  }
  template <class F>
  void visit(F f) {
    f("intercept", std::span(b_)), f("intercept_largest", std::span(largest_));
    f("intercept_squares", std::span(squares_));
  }

 private:
  std::vector<double> b_, largest_, squares_;
};

// What the outside sees of a learner.
class Learner {
 public:
  virtual ~Learner() = default;
  virtual void learn(const Examples<double>& examples, const LossCall& loss) = 0;
  virtual void learn(const Examples<float>& examples, const LossCall& loss) = 0;
  virtual void read(std::span<double> weights, std::span<double> intercept) const = 0;  // row-major d × k
  // Their averages over the rounds, w̄_T = (1/T) Σ_{t=1..T} w_{t+1}; throws unless the learner was made to average.
  virtual void read_average(std::span<double> weights, std::span<double> intercept) const = 0;
  // The same of some features only, in their order.
  using Some = std::span<const std::int32_t>;
  virtual void read_some(Some features, std::span<double> weights, std::span<double> intercept) const = 0;
  virtual void read_some_average(Some features, std::span<double> weights, std::span<double> intercept) const = 0;
  // `grows` is the vector that holds the values, or null where their count is fixed.
  using Visitor = void (*)(void* context, const char* name, std::span<double> values, std::vector<double>* grows);
  virtual void visit(Visitor f, void* context) = 0;

  std::size_t features() const { return features_; }
  std::size_t outputs() const { return outputs_; }
  double rounds() const { return counts_[0]; }       // t
  double weight_seen() const { return counts_[1]; }  // Σ weights of the examples
  double loss_seen() const { return counts_[2]; }    // Σ weight · loss before learning from the example
  // Whether all examples since it was made had features that exist and finite margins. An entry that is not finite
  // spoils the margin, whatever the weights are.
  bool sound() const { return sound_; }

 protected:
  Learner(std::size_t features, std::size_t outputs) : features_(features), outputs_(outputs), counts_(3) {}
  std::size_t features_, outputs_;
  std::vector<double> counts_;
  bool sound_ = true;
};

// Shows all kinds of state to a visitor.
struct StateVisitor {
  Learner::Visitor f;
  void* context;

  void operator()(const char* name, std::vector<double>& values) const { f(context, name, values, &values); }
  void operator()(const char* name, std::span<double> values) const { f(context, name, values, nullptr); }
  void operator()(const char* name, Slots& slots) const { f(context, name, slots.all(), nullptr); }
  void operator()(const char* name, double& value) const { f(context, name, {&value, 1}, nullptr); }
  void operator()(const char* name, Shared& shared) const {
    double value = shared;
    f(context, name, {&value, 1}, nullptr);
    shared = value;
  }
};

// Asks for entries begin … end − 1 of an array, a cache line at a time.
template <class T>
void fetch(const T* entries, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t line = 64 / sizeof(T);
  for (std::int64_t n = begin; n < end; n += line) __builtin_prefetch(entries + n, 0);
}

template <class Rule>
constexpr bool peeks = requires(const Rule& rule) { rule.peek(std::size_t{}); };

template <class Rule>
constexpr bool averages = requires(const Rule& rule, double* w) { rule.read_average(std::size_t{}, w); };

template <class Rule>
class Engine final : public Learner {
 public:
  Engine(Rule rule, std::size_t features, std::size_t outputs, bool fit_intercept)
      : Learner(features, outputs),
        rule_(std::move(rule)),
        intercept_(fit_intercept ? outputs : 0),
        large_(features * outputs > 1 << 17) {
    if (averages<Rule>) intercept_sum_.resize(intercept_.values().size());
  }

  void learn(const Examples<double>& examples, const LossCall& loss) override { run_fitting(examples, loss); }
  void learn(const Examples<float>& examples, const LossCall& loss) override { run_fitting(examples, loss); }

  void read(std::span<double> weights, std::span<double> intercept) const override {
    for (std::size_t j = 0; j < features_; ++j) rule_.read(j, weights.data() + j * outputs_);
    read_intercept(intercept);
  }
  void read_average(std::span<double> weights, std::span<double> intercept) const override {
    for (std::size_t j = 0; j < features_; ++j) read_average_of(j, weights.data() + j * outputs_);
    read_average_intercept(intercept);
  }
  void read_some(Some features, std::span<double> weights, std::span<double> intercept) const override {
    double* to = weights.data();
    for (const std::int32_t j : features) rule_.read(static_cast<std::size_t>(j), to), to += outputs_;
    read_intercept(intercept);
  }
  void read_some_average(Some features, std::span<double> weights, std::span<double> intercept) const override {
    double* to = weights.data();
    for (const std::int32_t j : features) read_average_of(static_cast<std::size_t>(j), to), to += outputs_;
    read_average_intercept(intercept);
  }

  void visit(Visitor f, void* context) override {
    const StateVisitor each{f, context};
    each("counts", std::span(counts_));
    intercept_.visit(each);
    if (averages<Rule>) each("intercept_sum", std::span(intercept_sum_));
    rule_.visit(each);
  }

 private:
  Rule rule_;
  Intercept intercept_;
  std::vector<double> intercept_sum_;  // over the rounds, if it averages
  bool large_;                         // whether the state is beyond the near caches

  void read_intercept(std::span<double> intercept) const {
    const auto b = intercept_.values();
    for (std::size_t r = 0; r < outputs_; ++r) intercept[r] = b.empty() ? 0.0 : b[r];
  }
  void read_average_of([[maybe_unused]] std::size_t j, [[maybe_unused]] double* w) const {
    if constexpr (averages<Rule>) {
      rule_.read_average(j, w);
    } else {
      throw std::logic_error("this learner was not made to average");
    }
  }
  void read_average_intercept(std::span<double> intercept) const {
    const double rounds = std::max(counts_[0], 1.0);
    for (std::size_t r = 0; r < outputs_; ++r) intercept[r] = intercept_sum_.empty() ? 0.0 : intercept_sum_[r] / rounds;
  }

  // The loop that fits the processor: for wide vectors only where they pay.
  template <class T>
  void run_fitting(const Examples<T>& examples, const LossCall& loss) {
    if constexpr (peeks<Rule>) {
      if (has_wide_vectors()) return run_wide(examples, loss);
    }
    run(examples, loss);
  }

#ifdef GOSSAMER_WIDE
  template <class T>
  [[gnu::target("avx2"), gnu::flatten]] void run_wide(const Examples<T>& examples, const LossCall& loss) {
    run(examples, loss);
  }
#else
  template <class T>
  void run_wide(const Examples<T>& examples, const LossCall& loss) {
    run(examples, loss);
  }
#endif

  // Throws where a row has features that are not there: the rows before it have been learned from.
  template <class T>
  void run(const Examples<T>& examples, const LossCall& loss) {
    std::vector<double> many(Rule::width == 1 ? 0 : 2 * outputs_), seen;
    double one[2];
    const std::span<double> z(Rule::width == 1 ? one : many.data(), outputs_), slope(z.data() + outputs_, outputs_);
    const double tame = loss.tame_slope();
    for (std::size_t i = 0; i < examples.count; ++i) {
      const double weight = examples.weight ? examples.weight[i] : 1.0;
      if (weight == 0) continue;
      fetch_ahead(examples, i);
      const auto b = intercept_.values();
      for (std::size_t r = 0; r < outputs_; ++r) z[r] = b.empty() ? 0.0 : b[r];
      rule_.begin(examples.step[i]);
      const Row<T> row(examples, i);
      if (!row.within(features_)) {
        sound_ = false;
        throw std::out_of_range("an example has a feature that the learner has not");
      }
      add_margins(row, z.data(), seen);
      for (const double margin : z) sound_ = sound_ && std::isfinite(margin);
      counts_[0] += 1;
      counts_[1] += weight;
      counts_[2] += weight * loss(z, examples.y + i * examples.targets, slope);
      if (weight != 1) {
        for (double& s : slope) s *= weight;
      }
      update(row, slope.data(), seen);
      if (!b.empty()) intercept_.update(slope, tame);
      if constexpr (averages<Rule>) {
        for (std::size_t r = 0; r < b.size(); ++r) intercept_sum_[r] += b[r];
      }
      rule_.end();
    }
  }

  // One example: n features and their values.
  template <class T>
  struct Row {
    const std::int32_t* index;
    const T* value;
    std::size_t n;

    Row(const Examples<T>& examples, std::size_t i)
        : index(examples.index + examples.begins[i]),
          value(examples.value + examples.begins[i]),
          n(static_cast<std::size_t>(examples.ends[i] - examples.begins[i])) {}
    bool within(std::size_t features) const {
      std::uint32_t largest = 0;  // a negative one is the largest of all
      for (std::size_t k = 0; k < n; ++k) largest = std::max(largest, static_cast<std::uint32_t>(index[k]));
      return n == 0 || largest < features;
    }
    std::size_t feature(std::size_t k) const { return static_cast<std::size_t>(index[k]); }
    Quad four(std::size_t k) const { return Quad{x(k), x(k + 1), x(k + 2), x(k + 3)}; }
    double x(std::size_t k) const { return static_cast<double>(value[k]); }
  };

  // z += W'x; `seen` gets the weights where the rule peeks. One output is summed in several registers, so that no
  // addition waits for the one before.
  template <class T>
  void add_margins(const Row<T>& row, double* z, std::vector<double>& seen) {
    if constexpr (peeks<Rule>) {
      if (seen.size() < row.n) seen.resize(2 * row.n);
      double* to = seen.data();
      if constexpr (requires { rule_.meet(row.feature(0), row.x(0)); }) {
        for (std::size_t k = 0; k < row.n; ++k) rule_.meet(row.feature(k), row.x(k));
      }
      Quad sums = {};
      std::size_t k = 0;
      for (; k + 4 <= row.n; k += 4) {
        const Quad w = rule_.peek_four(row.index + k);
        std::memcpy(to + k, &w, sizeof w);
        sums += row.four(k) * w;
      }
      for (; k < row.n; ++k) {
        to[k] = rule_.peek(row.feature(k));
        *z += row.x(k) * to[k];
      }
      *z += (sums[0] + sums[2]) + (sums[1] + sums[3]);
    } else if constexpr (Rule::width == 1) {
      double even = 0, odd = 0;
      std::size_t k = 0;
      for (; k + 2 <= row.n; k += 2) {
        rule_.accumulate(row.feature(k), row.x(k), &even);
        rule_.accumulate(row.feature(k + 1), row.x(k + 1), &odd);
      }
      if (k < row.n) rule_.accumulate(row.feature(k), row.x(k), &even);
      *z += even + odd;
    } else {
      for (std::size_t k = 0; k < row.n; ++k) rule_.accumulate(row.feature(k), row.x(k), z);
    }
  }

  // The gradient of one example.
  template <class T>
  void update(const Row<T>& row, const double* slope, const std::vector<double>& seen) {
    if constexpr (peeks<Rule>) {
      const double g = *slope, *w = seen.data();
      std::size_t k = 0;
      if constexpr (requires(Quad four) { rule_.move_four(row.index, four, four, g); }) {
        for (; k + 4 <= row.n; k += 4) {
          Quad four;
          std::memcpy(&four, w + k, sizeof four);
          rule_.move_four(row.index + k, four, row.four(k), g);
        }
      }
      for (; k < row.n; ++k) rule_.move(row.feature(k), w[k], row.x(k), g);
    } else if constexpr (Rule::width == 1) {
      const double g = *slope;
      for (std::size_t k = 0; k < row.n; ++k) rule_.update(row.feature(k), row.x(k), &g);
    } else {
      for (std::size_t k = 0; k < row.n; ++k) rule_.update(row.feature(k), row.x(k), slope);
    }
  }

  // Rows come in any order: asks for a row some rounds before its turn and, where the state is too large to be near,
  // for the state of its features a round before. (Inlined by force: GCC drops calls of functions that only prefetch.)
  template <class T>
  [[gnu::always_inline]] void fetch_ahead(const Examples<T>& examples, std::size_t i) const {
    constexpr std::size_t ahead = 4;
    if (i + ahead < examples.count) {
      fetch(examples.index, examples.begins[i + ahead], examples.ends[i + ahead]);
      fetch(examples.value, examples.begins[i + ahead], examples.ends[i + ahead]);
    }
    if (large_ && i + 1 < examples.count) {
      for (std::int64_t n = examples.begins[i + 1]; n < examples.ends[i + 1]; ++n) {
        rule_.prefetch(static_cast<std::size_t>(examples.index[n]));
      }
    }
  }
};

}  // namespace gossamer
