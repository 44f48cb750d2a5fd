// Online learning: one loop over examples, whatever the rule that changes the weights.
//
//     z = W'x + b;   loss ℓ(z, y) and its slope;   the rule moves the weights of the features in x
//
// A learner with many lanes (rule.hpp) may have them in groups: each group has some of the lanes and all of them see
// the same examples, each group on a thread where there are several. A lane does not touch another one, so nothing of
// what it learns changes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "online/loss_call.hpp"
#include "online/rule.hpp"

namespace gossamer {

class Batch;
struct FeatureGroups;
struct Example;

// A block of examples: CSR rows, targets, importance and step of each.
template <class T>
struct Examples {
  std::size_t count;           // number of rows
  const std::int64_t* begins;  // where each row begins
  const std::int64_t* ends;    // and ends, so that rows may come in any order
  const std::int32_t* index;   // features
  const T* value;              // their values
  const double* y;             // targets, one or more per row
  std::size_t targets;         // how many targets per row
  const double* weight;        // importance of each row, or null for all ones
  const double* step;          // η of each row, or of each batch
  const double* offset = {};   // added to the scores of each row, or null
  bool dense = false;          // all rows have the same features, which `index` holds once
  std::size_t within = 0;      // all features are below it, as was seen before; 0: look at them
  std::size_t batch = 1;       // so many rows make a step

  std::span<const std::int32_t> features(std::size_t i) const {
    if (i >= count) return {};
    return dense ? std::span(index, index + (ends[i] - begins[i])) : std::span(index + begins[i], index + ends[i]);
  }
  Examples some(std::size_t begin, std::size_t end) const {
    Examples group = *this;
    group.count = end - begin, group.begins += begin, group.ends += begin, group.step += begin / batch;
    group.y += begin * targets;
    if (weight) group.weight += begin;
    if (offset) group.offset += begin;
    return group;
  }
};

// The intercept: never penalised. It takes scale-free steps, half the largest slope so far over the root of the sum of
// squared slopes, so that it learns at the same speed whatever the scale of the features and of the targets.
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
  void add(const Intercept& other);
  void share(double parts);
  void visit(StateVisitor& f) {
    f("intercept", std::span(b_), Per::output, {{any_number}});
    f("intercept_largest", std::span(largest_), Per::output, {{at_least_zero}});
    f("intercept_squares", std::span(squares_), Per::output, {{at_least_zero}});
  }

 private:
  std::vector<double> b_, largest_, squares_;
};

// What an example may add to a learner: with values of features up to 1e70, squares of gradients and of losses stay
// finite, and no number of examples adds up to infinity. Nor does any number of steps times α.
constexpr double largest_slope = 1e75, largest_alpha = 1e200;
template <class T>
constexpr T largest_value = std::min<double>(1e70, std::numeric_limits<T>::max());
constexpr const char* too_large_values = "Learning diverges: a value of a feature is not finite or larger than 1e70.";

// So many lanes are compared with each other at most.
constexpr std::size_t most_compared = 64;

// An example was not learned from: its score or the slope of its loss is not finite or beyond all measure.
struct Diverged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A rule with its lanes, and what is counted of them.
class LaneGroup {
 public:
  LaneGroup(std::unique_ptr<Rule> rule, const Setup& setup, bool compares = false);
  LaneGroup(LaneGroup&&);
  ~LaneGroup();

  // `threads` may share the gradients of a batch; the result does not depend on them.
  template <class T>
  void learn(const Examples<T>& examples, const LossCall& loss, bool scoring, unsigned threads) {
    setup.batch > 1 ? learn_batches(examples, loss, scoring, threads) : rule->run(*this, examples, loss, scoring);
  }
  // The loop over examples with a rule of known type (loop.hpp).
  template <class R, class T>
  void loop(R& rule, const Examples<T>& examples, const LossCall& loss, bool scoring);
  void visit(StateVisitor& f);
  void add(LaneGroup& other);
  void share(double parts, double rounds);
  bool large() const { return large_; }
  std::vector<double> intercepts() const;  // of each cell, or none

  Setup setup;
  std::unique_ptr<Rule> rule;
  Intercept intercept;
  std::vector<double> intercept_sum;            // over the rounds, if it averages
  std::vector<double> counts;                   // t, Σ weight, Σ weight · loss before learning from the example
  std::vector<double> seen;                     // Σ weight · loss of each lane
  std::vector<double> recent;                   // of a path: weight and losses of the rows scored since it was cleared
  std::vector<double> losses, squares, totals;  // of a path, where it was scored: Σ weight · loss and · loss² of each
                                                // lane, and Σ weight and Σ weight²

 private:
  std::vector<double> z_, slope_, values_, x_;
  std::vector<double> sizes_;  // of each lane: max(1, step factor)
  double largest_size_ = 1;    // the largest of them
  bool large_;                 // whether the state is beyond the near caches
  bool compares_;              // whether the losses of lanes are kept to be compared
  std::unique_ptr<Batch> batch_;

  template <class R, class T>
  void run_rows(R& rule, const Examples<T>& examples, const LossCall& loss, bool scoring);
  template <class R, class T>
  void learn_by_steps(R& rule, const RowOf<T>& row, const Example& example, const LossCall& loss, bool scoring);
  template <class R, class T>
  void learn_step_free(R& rule, const RowOf<T>& row, const Example& example, const LossCall& loss, bool scoring);
  void count(double weight, bool of_lanes, bool scoring);
  template <class T>
  void learn_batches(const Examples<T>& examples, const LossCall& loss, bool scoring, unsigned threads);
  template <class T>
  void learn_batch(const Examples<T>& examples, const LossCall& loss, bool scoring, unsigned threads);
  void count_lanes(const double* values, double weight, bool scoring);
  bool all_learnable(std::span<const double> z, std::span<const double> slopes, double by) const;
  void leave_out_lost(std::span<const double> z, std::span<double> slopes, std::span<double> values, double by) const;
  [[noreturn]] void diverge(double z, double slope, double weight, double step);
};

class Learner {
 public:
  // Makes a learner of the same kind for other sizes, and for more groups if it has groups that grow.
  using Make = std::function<std::unique_ptr<Learner>(std::size_t, std::size_t outputs, const FeatureGroups*)>;
  // No `again`: it couples features and cannot grow.
  Learner(const Setup& setup, std::vector<LaneGroup> groups, Make again);
  Learner(const Learner&) = delete;

  // Throws Stopped after a row if it is to stop: the rows before have been learned from by all lanes.
  void learn(const Examples<double>& examples, const LossCall& loss) { run(examples, loss); }
  void learn(const Examples<float>& examples, const LossCall& loss) { run(examples, loss); }

  // W (row-major, d × cells) and b, or of some features only in their order; averaged over the rounds,
  // w̄_T = (1/T) Σ_{t=1..T} w_{t+1}, if the learner was made to average and `average` asks for it.
  using Some = std::span<const std::int32_t>;
  void read(std::span<double> weights, std::span<double> intercept, bool average) const;
  void read_some(Some features, std::span<double> weights, std::span<double> intercept, bool average) const;
  void visit(StateVisitor& f);
  // Takes the state whose numbers `saved` returns by name. Throws std::invalid_argument, and leaves the learner as it
  // was, unless all of it is what a learner of this kind may have.
  using Saved = std::function<std::span<const double>(const char* name)>;
  void restore(const Saved& saved);
  // The learner that several of this kind, which saw different examples, become (merging.hpp): one for their states.
  // Throws if they do not add up.
  std::unique_ptr<Learner> merged(std::span<const Saved> states);
  // Keeps one of so many equal shares of its sums, and this number of rounds.
  void share(double parts, double rounds);
  // A learner with the same state for more features or outputs, or for fewer features; with more groups, if they grow.
  std::unique_ptr<Learner> grown(std::size_t features, std::size_t outputs, const FeatureGroups* groups = nullptr);
  // Says which group each of these features will be in, before they are first seen; in all lanes.
  void assign(Some features, std::span<const std::int32_t> groups);

  std::size_t features() const { return setup_.features; }
  std::size_t outputs() const { return setup_.cells(); }
  double rounds() const { return groups_[0].counts[0]; }       // t
  double weight_seen() const { return groups_[0].counts[1]; }  // Σ weights of the examples
  double loss_seen() const { return groups_[0].counts[2]; }    // Σ weight · loss before learning from the example
  // Whether the state is finite. A large one is not looked at: each example was (loop.hpp).
  bool finite() const;

  // Lanes
  bool scoring = true;   // whether the losses of the examples count
  unsigned threads = 0;  // for its groups; 0: as many as there are
  std::size_t lanes() const { return setup_.lanes(); }
  double strength_unit() const { return groups_[0].rule->strength_unit(); }
  std::size_t lost() const;             // how many lanes diverged: their losses are infinite
  std::vector<double> losses() const;   // Σ weight · loss of each lane, where it counted
  std::vector<double> squares() const;  // Σ weight · loss²
  const std::vector<double>& products() const { return products_; }  // Σ weight · loss · loss of two lanes, if few
  std::vector<double> tally() const;                                 // all sums that lanes are judged by
  void set_tally(std::span<const double> tally);                     // as they were
  double scored() const { return groups_[0].totals[0]; }             // Σ weight
  double scored_squares() const { return groups_[0].totals[1]; }     // Σ weight²
  std::vector<double> intercepts() const;                            // of each output of each lane, or none
  void read_lane(std::size_t lane, std::span<double> weights, std::span<double> intercept) const;
  void count_nonzeros(std::span<std::int64_t> counts) const;  // of each output of each lane
  // The non-zero weights of each output of each lane as rows of a CSR matrix; `at` holds where each row begins, and
  // comes back holding where it ends.
  void gather(std::span<std::int64_t> at, std::span<std::int64_t> index, std::span<double> value) const;
  // f(name, numbers) for the state that a learner with this lane alone would have, but for its rounds and its step
  // factor.
  void alone(std::size_t lane, const std::function<void(const char*, std::span<const double>)>& f);

 private:
  Setup setup_;
  std::vector<LaneGroup> groups_;
  Make again_;
  std::vector<double> products_;  // lanes × lanes
  std::size_t block_ = 16;        // rows between two checks whether to stop, from some to some dozen milliseconds;
                                  // whole batches of them

  template <class T>
  void run(const Examples<T>& examples, const LossCall& loss);
  template <class T>
  void run_block(const Examples<T>& examples, const LossCall& loss);
  void add_products();
  std::unique_ptr<Learner> made(std::size_t features, std::size_t outputs, const FeatureGroups* groups) const;
  // f(group, its first lane)
  template <class F>
  void each_group(F f) const;
  // f(j, all lanes of W_j) for all features
  template <class F>
  void each_feature(F f) const;
  // f(group, the lane's number in it) for the group that has the lane
  template <class F>
  void with_group_of(std::size_t lane, F f) const;
  template <class F>
  void read_rows(std::size_t count, std::span<double> weights, std::span<double> intercept, bool average,
                 F feature) const;
};

}  // namespace gossamer
