// A rule: the state of one method with one penalty, and how it changes the weights. It sees one example at a time.
//
//     margins(row, step, z)    a round starts with this step: z += Σ x_j W_j, with W_j brought up to date
//     learn(row, slopes)       the gradient x_j · slope arrives at each feature of the same row, and the round is over
//     take_back()              after margins, in place of learn: the example is not learned from, and leaves no trace
//     seen(row, w)             after margins: the weights of the features of the same row, as this round found them
//     read(j, w)               W_j as it stands now, changing nothing
//     visit(f)                 shows all of its state and what it may be, to save and restore it (base/state.hpp)
//
// A round may also be a batch of examples (batches.hpp). Its row has all their features, each with its largest value at
// `margins`, and ones at `learn`, where every feature has slopes of its own: its mean gradient.
//
// A rule may have several lanes: settings (a strength and a step factor each) side by side, which see the same
// examples. W_j is then [lane][output], and lane i takes pace_i times the step. Everything a lane learns is what a rule
// of its own would.
//
// A rule that can say where its weights were between two touches is averaged at the cost of the features in an example
// (averaged.hpp):
//
//     has_paths(), add_paths(…)     adds up the weights after each round since a touch
//     settles(step)                 margins(…, step) changes what is said of the rounds before: add up all paths first
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/state.hpp"

namespace gossamer {

// What scores are compared with: labels, numbers in units of their own, or numbers that are eᶻ.
enum class Target { labels, numbers, rates };

// What a rule is made with. The lanes differ in strength and step factor.
struct Setup {
  std::size_t features, outputs;
  std::vector<double> alphas, step_factors = {1.0};
  bool fit_intercept = true;
  bool average = false;  // keep the average of the iterates too
  bool path = false;     // keep the scores of each lane
  Target target = Target::labels;
  bool joint = false;       // the outputs have one loss together
  std::size_t centred = 0;  // features 0 … centred − 1 are centred: every example has them
  double cut = 0;           // weights are read as zero unless their sum of gradients exceeds its threshold by as much
  bool relative = false;    // the strengths are in units of the slopes of a constant model (Learner::strength_unit)
  std::size_t batch = 1;    // so many examples make a step

  std::size_t lanes() const { return alphas.size(); }
  std::size_t cells() const { return lanes() * outputs; }
  double alpha() const { return alphas[0]; }
};

// The features of an example and their values, and the features of the next one, which may be fetched on the way.
template <class T>
struct RowOf {
  std::span<const std::int32_t> index;
  const T* x = nullptr;
  std::span<const std::int32_t> next = {};

  std::size_t size() const { return index.size(); }
  std::size_t operator[](std::size_t n) const { return static_cast<std::size_t>(index[n]); }
};

using Row = RowOf<double>;

inline constexpr const char* does_not_add_up =
    "The state of this method with this penalty does not add up, so its learners cannot be merged. Those of RDA, FTRL, "
    "AdaGrad's dual form and the rule without a step can, with penalties that are sums over features.";

// The slopes at the features of a row, a number per cell: the same at all of them, or `apart` from each to the next.
struct Slopes {
  const double* at;
  std::size_t apart = 0;

  const double* operator[](std::size_t n) const { return at + n * apart; }
};

class LaneGroup;
class LossCall;
template <class T>
struct Examples;

class Rule {
 public:
  virtual ~Rule() = default;
  // The loop over examples (loop.hpp); what is hot has it compiled into one piece with its own verbs.
  virtual void run(LaneGroup& group, const Examples<double>& examples, const LossCall& loss, bool scoring);
  virtual void run(LaneGroup& group, const Examples<float>& examples, const LossCall& loss, bool scoring);
  virtual void margins(const Row& row, double step, double* z) = 0;
  virtual void learn(const Row& row, Slopes slopes) = 0;
  virtual void take_back() {}
  virtual void read(std::size_t j, double* w) const = 0;
  virtual void seen(const Row& row, std::size_t cells, double* w) const {
    for (std::size_t n = 0; n < row.size(); ++n) read(row[n], w + n * cells);
  }
  virtual void visit(StateVisitor& f) = 0;
  virtual void prefetch(std::span<const std::int32_t>) const {}

  virtual bool has_paths() const { return false; }
  // sums[i] += the weights of features[i] after each of the last away[i] rounds, before which it was last touched
  virtual void add_paths(std::span<const std::int32_t>, const double*, double*) const {}
  virtual bool settles(double) const { return false; }
  virtual void settle() {}  // brings all features up to date and starts the record of rounds anew

  // What relative strengths are multiplied by, so far.
  virtual double strength_unit() const { return 1.0; }
  // Whether it is judged by other scores than those it learns by, which come first.
  virtual bool judged_apart() const { return false; }
  // A rule may have intercepts of its own.
  virtual bool has_intercepts() const { return false; }
  virtual void read_intercepts(double*) const {}

  // A rule that saw other examples becomes part of this one; and the rule keeps one of so many equal shares of its
  // sums, with this number of rounds (merging.hpp).
  virtual void add(Rule&) { throw std::invalid_argument(does_not_add_up); }
  virtual void share(double, double) { throw std::invalid_argument(does_not_add_up); }

  // W_j ← w, for a rule that takes over from one of another form (Learner::grown).
  virtual void write(std::size_t, const double*) { throw std::logic_error("this rule does not take weights"); }
  // Feature j will be in group g, for a rule whose groups grow.
  virtual void assign(std::size_t, std::size_t) { throw std::invalid_argument("this learner has no groups that grow"); }
  // What a rule with this lane alone keeps of feature j, under the name it has there.
  virtual const char* alone(std::size_t, std::size_t, std::vector<double>&) const {
    throw std::logic_error("this rule has no lanes");
  }
  // Shows what it keeps besides that, under the names it has there; the intercepts of the learner follow.
  virtual void visit_lane(std::size_t, StateVisitor&) {}
};

// A rule whose verbs are for one feature at a time: begin(step), accumulate(j, x, z), update(j, x, slope), end().
template <class R>
class FeatureByFeature final : public Rule {
 public:
  explicit FeatureByFeature(R rule) : rule_(std::move(rule)) {}
  void margins(const Row& row, double step, double* z) override {
    rule_.begin(step);
    for (std::size_t n = 0; n < row.size(); ++n) rule_.accumulate(row[n], row.x[n], z);
  }
  void learn(const Row& row, Slopes slopes) override {
    for (std::size_t n = 0; n < row.size(); ++n) rule_.update(row[n], row.x[n], slopes[n]);
    rule_.end();
  }
  void read(std::size_t j, double* w) const override { rule_.read(j, w); }
  void visit(StateVisitor& f) override { rule_.visit(f); }
  void assign(std::size_t j, std::size_t g) override {
    if constexpr (requires { rule_.assign(j, g); }) {
      rule_.assign(j, g);
    } else {
      Rule::assign(j, g);
    }
  }
  void prefetch(std::span<const std::int32_t> features) const override {
    for (const std::int32_t j : features) rule_.prefetch(static_cast<std::size_t>(j));
  }

 private:
  R rule_;
};

}  // namespace gossamer
