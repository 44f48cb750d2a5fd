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
//     end()                  the round is over: whatever happens to the features that were not in it
//     read(j, w)             W_j as it stands now, changing nothing
//     visit(f)               f(name, a double, a vector of them, or slots) for all of its state, to save and restore it
//     read_average(j, w)     only if it averages (averaging.hpp): the mean of W_j as it stood after each round
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "losses.hpp"
#include "slots.hpp"

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
  // `grows` is the vector that holds the values, or null where their count is fixed.
  using Visitor = void (*)(void* context, const char* name, std::span<double> values, std::vector<double>* grows);
  virtual void visit(Visitor f, void* context) = 0;

  std::size_t features() const { return features_; }
  std::size_t outputs() const { return outputs_; }
  double rounds() const { return counts_[0]; }       // t
  double weight_seen() const { return counts_[1]; }  // Σ weights of the examples
  double loss_seen() const { return counts_[2]; }    // Σ weight · loss before learning from the example

 protected:
  Learner(std::size_t features, std::size_t outputs) : features_(features), outputs_(outputs), counts_(3) {}
  std::size_t features_, outputs_;
  std::vector<double> counts_;
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
constexpr bool averages = requires(const Rule& rule, double* w) { rule.read_average(std::size_t{}, w); };

template <class Rule>
class Engine final : public Learner {
 public:
  Engine(Rule rule, std::size_t features, std::size_t outputs, bool fit_intercept)
      : Learner(features, outputs), rule_(std::move(rule)), intercept_(fit_intercept ? outputs : 0) {
    if (averages<Rule>) intercept_sum_.resize(intercept_.values().size());
  }

  void learn(const Examples<double>& examples, const LossCall& loss) override { run(examples, loss); }
  void learn(const Examples<float>& examples, const LossCall& loss) override { run(examples, loss); }

  void read(std::span<double> weights, std::span<double> intercept) const override {
    for (std::size_t j = 0; j < features_; ++j) rule_.read(j, weights.data() + j * outputs_);
    const auto b = intercept_.values();
    for (std::size_t r = 0; r < outputs_; ++r) intercept[r] = b.empty() ? 0.0 : b[r];
  }
  void read_average(std::span<double> weights, std::span<double> intercept) const override {
    if constexpr (averages<Rule>) {
      for (std::size_t j = 0; j < features_; ++j) rule_.read_average(j, weights.data() + j * outputs_);
      const double rounds = std::max(counts_[0], 1.0);
      for (std::size_t r = 0; r < outputs_; ++r) {
        intercept[r] = intercept_sum_.empty() ? 0.0 : intercept_sum_[r] / rounds;
      }
    } else {
      throw std::logic_error("this learner was not made to average");
    }
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

  template <class T>
  void run(const Examples<T>& examples, const LossCall& loss) {
    const std::size_t k = outputs_;
    std::vector<double> z(k), slope(k);
    for (std::size_t i = 0; i < examples.count; ++i) {
      const double weight = examples.weight ? examples.weight[i] : 1.0;
      if (weight == 0) continue;
      const std::int64_t begin = examples.begins[i], end = examples.ends[i];
      if (i + 2 < examples.count) {  // rows come in any order: fetch the one after next, then what its features need
        fetch(examples.index, examples.begins[i + 2], examples.ends[i + 2]);
        fetch(examples.value, examples.begins[i + 2], examples.ends[i + 2]);
      }
      if (i + 1 < examples.count) {
        for (std::int64_t n = examples.begins[i + 1]; n < examples.ends[i + 1]; ++n) {
          rule_.prefetch(feature(examples, n));
        }
      }
      const auto b = intercept_.values();
      for (std::size_t r = 0; r < k; ++r) z[r] = b.empty() ? 0.0 : b[r];
      rule_.begin(examples.step[i]);
      if constexpr (Rule::width == 1) {  // two sums in registers, so that no addition waits for the one before
        double even = 0, odd = 0;
        std::int64_t n = begin;
        for (; n + 2 <= end; n += 2) {
          rule_.accumulate(feature(examples, n), static_cast<double>(examples.value[n]), &even);
          rule_.accumulate(feature(examples, n + 1), static_cast<double>(examples.value[n + 1]), &odd);
        }
        if (n < end) rule_.accumulate(feature(examples, n), static_cast<double>(examples.value[n]), &even);
        z[0] += even + odd;
      } else {
        for (std::int64_t n = begin; n < end; ++n) {
          rule_.accumulate(feature(examples, n), static_cast<double>(examples.value[n]), z.data());
        }
      }
      counts_[0] += 1;
      counts_[1] += weight;
      counts_[2] += weight * loss(z, examples.y + i * examples.targets, slope);
      for (double& s : slope) s *= weight;
      if constexpr (Rule::width == 1) {
        const double g = slope[0];
        for (std::int64_t n = begin; n < end; ++n) {
          rule_.update(feature(examples, n), static_cast<double>(examples.value[n]), &g);
        }
      } else {
        for (std::int64_t n = begin; n < end; ++n) {
          rule_.update(feature(examples, n), static_cast<double>(examples.value[n]), slope.data());
        }
      }
      if (!b.empty()) intercept_.update(slope, loss.tame_slope());
      if constexpr (averages<Rule>) {
        for (std::size_t r = 0; r < b.size(); ++r) intercept_sum_[r] += b[r];
      }
      rule_.end();
    }
  }

  template <class T>
  static std::size_t feature(const Examples<T>& examples, std::int64_t n) {
    return static_cast<std::size_t>(examples.index[n]);
  }
};

}  // namespace gossamer
