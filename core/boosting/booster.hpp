// The state of boosting: margins, how every example pulls, and the features in use with their weights.
//
// Features are taken one at a time: their pulls μ± are summed over their column, the rule (boosting.hpp) moves their
// row, and the margins and pulls of the examples in the column follow. Nothing else is ever touched, so an update costs
// the non-zeros of its column.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "boosting/boosting.hpp"
#include "boosting/columns.hpp"

namespace gossamer {

// A loss that boosting knows.
using BoostingLoss =
    std::variant<Logistic, Exponential, LogEpsilonInsensitive, Multinomial, Squared, SquaredHinge, Huber>;

// What a booster is made with.
struct BoosterSetup {
  std::size_t rows, outputs;
  std::vector<double> y;        // what the loss compares with, row by row
  std::vector<double> weights;  // c, one a row, or none for all ones
  double lambda;                // λ
};

// Decision stumps: +1 where x_ij is above a cut of column j, −1 elsewhere. `code[j·rows + i]` is how many cuts of
// column j are below x_ij, so cut t has codes > t above it. The cuts of column j are stumps start[j] … start[j + 1]
// − 1.
struct Stumps {
  std::size_t rows, columns;
  std::span<const std::int32_t> code;
  std::span<const std::int64_t> start;
};

class Booster {
 public:
  virtual ~Booster() = default;

  virtual double loss() const = 0;     // L(Z)
  virtual double penalty() const = 0;  // λ Σ_j ω_j Ω(W_j)

  // The a of every column.
  virtual void scales(const Columns& columns, std::span<double> out) const = 0;
  // The gain that each column is sure to bring when it enters with weight zero: 0 unless it is further than `slack` (in
  // units of the gradient) from staying out. `scales` are the a of the columns, if known, `weights` their ω, if not 1;
  // `factor` multiplies the rows, if given. The result does not depend on the number of threads.
  virtual void score(const Columns& columns, std::span<const double> scales, std::span<const double> weights,
                     std::span<const double> factor, double slack, unsigned threads,
                     std::span<double> scores) const = 0;
  virtual void score(const Stumps& stumps, double slack, unsigned threads, std::span<double> scores) const = 0;

  // Put columns in use, with weight zero: a copy of each, or a view of what must outlive the booster.
  virtual void add(const Columns& columns, std::span<const std::int64_t> which, std::span<const double> weights,
                   bool copy) = 0;
  // Update the features in use with these numbers, one after the other; those nearer than `idle` to their optimum stay,
  // unless it is zero. Returns, as all updates do, how far the furthest was, in units of the gradient.
  virtual double update(std::span<const std::int64_t> which, double idle) = 0;
  // Update all features in use at once, each with its share of the template Σ_j a_j |x_ij| ≤ room.
  virtual double update_together(unsigned threads) = 0;
  // The gain that each feature in use is sure to bring when updated next, as `score`.
  virtual void gains(double slack, unsigned threads, std::span<double> out) const = 0;
  // Drop the features whose weights are all zero. Returns the numbers of those kept.
  virtual std::vector<std::int64_t> prune() = 0;

  // The intercept moves by the same rule without a penalty.
  virtual double update_intercept() = 0;
  virtual void set_intercept(std::span<const double> b) = 0;
  // Set the weights of all features in use, and the intercept.
  virtual void set(std::span<const double> weights, std::span<const double> b) = 0;
  // While on, the loss is its quadratic model at the margins Z⁰ of this moment,
  //
  //     L(Z⁰) + <S, Z − Z⁰> + ½ <Z − Z⁰, H (Z − Z⁰)>,     S and H the slopes and curvatures of L at Z⁰,
  //
  // and updates of single features minimise bounds on that. It costs no exponentials and knows how curved the loss is
  // here, where the bounds on the loss itself know how curved it may be anywhere.
  virtual void use_model(bool on) = 0;

  virtual std::size_t used() const = 0;                   // features in use
  virtual std::span<const double> weights() const = 0;    // used × outputs
  virtual std::span<const double> intercept() const = 0;  // one an output
  virtual std::span<const double> margins() const = 0;    // rows × outputs
};

// With `whole` the penalty is on all of W and features only move together; `rule` then moves the intercept. `newton` is
// the rule for a quadratic of curvature 1 and the same penalty.
std::unique_ptr<Booster> make_booster(const BoostingLoss& loss, BoosterSetup setup, std::unique_ptr<Rule> rule,
                                      std::unique_ptr<Rule> newton, std::unique_ptr<WholeRule> whole);

}  // namespace gossamer
