// The state of boosting: margins, how every example pulls, and the features in use with their weights.
//
// Features are taken one at a time: their pulls μ± are summed over their column, the rule (rules.hpp) moves their row,
// and the margins and pulls of the examples in the column follow. Nothing else is ever touched, so an update costs the
// non-zeros of its column. The loss is called once per column, on the examples that moved.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/lines.hpp"
#include "boosting/rules.hpp"
#include "catalogue/summed_loss.hpp"

namespace gossamer {

// What a booster is made with.
struct BoosterSetup {
  std::size_t rows, outputs;
  std::vector<double> y;        // what the loss compares with, row by row
  std::vector<double> weights;  // c, one per row, or none for all ones
  double lambda;                // λ
  std::vector<double> offset;   // added to the margins, one per row, or none
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
  // With `whole` the penalty is on all of W and features only move together; `rule` then moves the intercept. `newton`
  // is the rule for a quadratic of curvature 1 and the same penalty. The loss needs a curvature.
  Booster(const AnyLoss& loss, BoosterSetup setup, std::unique_ptr<BoostingRule> rule,
          std::unique_ptr<BoostingRule> newton, std::unique_ptr<WholeRule> whole);

  double loss() const;     // L(Z)
  double penalty() const;  // λ Σ_j ω_j Ω(W_j)

  // The a of every column.
  void scales(const Lines& columns, std::span<double> out) const;
  // The gain that each column is sure to bring when it enters with weight zero: 0 unless it is further than `slack` (in
  // units of the gradient) from staying out. `scales` are the a of the columns, if known, `weights` their ω, if not 1;
  // `factor` multiplies the rows, if given. The result does not depend on the number of threads.
  void score(const Lines& columns, std::span<const double> scales, std::span<const double> weights,
             std::span<const double> factor, double slack, unsigned threads, std::span<double> scores) const;
  void score(const Stumps& stumps, double slack, unsigned threads, std::span<double> scores) const;

  // Put columns in use, with weight zero: a copy of each, or a view of lines that must outlive the booster.
  void add(const Lines& columns, std::span<const std::int64_t> which, std::span<const double> weights, bool copy);
  // Update the features in use with these numbers, one after the other; those nearer than `idle` to their optimum stay,
  // unless it is zero. Returns, as all updates do, how far the furthest was, in units of the gradient.
  double update(std::span<const std::int64_t> which, double idle);
  // Update all features in use at once, each with its share of the template Σ_j a_j |x_ij| ≤ room.
  double update_together(unsigned threads);
  // The gain that each feature in use is sure to bring when updated next, as `score`.
  void gains(double slack, unsigned threads, std::span<double> out) const;
  // Drop the features whose weights are all zero. Returns the numbers of those kept.
  std::vector<std::int64_t> prune();

  // The intercept moves by the same rule without a penalty.
  double update_intercept();
  void set_intercept(std::span<const double> b) { set(std::vector<double>(w_), b); }
  // Set the weights of all features in use, and the intercept.
  void set(std::span<const double> weights, std::span<const double> b);
  // While on, the loss is its quadratic model at the margins Z⁰ of this moment,
  //
  //     L(Z⁰) + <S, Z − Z⁰> + ½ <Z − Z⁰, H (Z − Z⁰)>,     S and H the slopes and curvatures of L at Z⁰,
  //
  // and updates of single features minimise bounds on that. It costs no exponentials and knows how curved the loss is
  // here, where the bounds on the loss itself know how curved it may be anywhere.
  void use_model(bool on);

  std::size_t used() const { return kept_.size(); }         // features in use
  std::span<const double> weights() const { return w_; }    // used × outputs
  std::span<const double> intercept() const { return b_; }  // one per output
  std::span<const double> margins() const { return z_; }    // rows × outputs

 private:
  struct Column {
    const Lines* lines;
    std::size_t at;

    template <class F>
    void each(F f) const {
      lines->each(at, f);
    }
  };
  // One feature in use.
  struct Kept {
    Column column;
    double a;                         // its scale
    double lambda;                    // λ ω_j
    std::unique_ptr<OwnedLines> own;  // where the column is, if it is a copy
  };
  // What stands for the loss.
  struct Model {
    double value;               // at Z⁰
    std::vector<double> z, h;   // Z⁰, n × k; curvatures or probabilities
    std::vector<double> slope;  // S + H (Z − Z⁰)
    std::vector<double> a;      // the scale of every feature in use
    Hessians H;
  };
  // Rows of numbers to work with, one set per thread.
  struct Work {
    std::vector<double> up, down, next, delta, zero;
    RuleScratch rule;

    explicit Work(std::size_t k) : up(k), down(k), next(k), delta(k), zero(k) {}
    Pulls pulls() const { return {up, down}; }
  };

  std::span<double> row(std::size_t j) { return {&w_[j * k_], k_}; }
  std::span<const double> row(std::size_t j) const { return {&w_[j * k_], k_}; }

  // The a of a column, and its pulls into work.up and work.down; `factor` multiplies its rows, if there is one.
  double scale(const Column& column, const double* factor = nullptr) const;
  double model_scale(const Column& column);
  void measure(const Column& column, Work& work, const double* factor = nullptr) const;
  template <class Entries, class P>
  void sum_pulls(const Entries& each, const P* from, Work& work) const;
  // The gain of a row, given its pulls; 0 within the slack.
  double gain(double a, double lambda, std::span<const double> w, double slack, Work& work) const;
  // All stumps of one column: the pulls of the examples by code, summed from both ends.
  void score_cuts(const Stumps& stumps, std::size_t j, double a, double slack, Work& work,
                  std::span<double> scores) const;

  double step(const Column& column, double a, double lambda, std::span<double> w, double idle);
  double move_to(std::span<const double> next, std::span<double> w);
  // z += x δ over a column, δ in work_.delta
  void shift(const Column& column) { column.lines->scatter(column.at, work_.delta.data(), k_, z_.data()); }
  void share_out();
  void refresh();

  std::size_t n_, k_;
  std::vector<double> y_, c_, offset_;
  double lambda_;
  std::unique_ptr<SummedLoss> loss_;
  std::unique_ptr<BoostingRule> rule_, newton_;
  std::unique_ptr<WholeRule> whole_;
  std::vector<double> z_, slope_;  // margins, and c ∂ℓ/∂z
  std::vector<BothWays> ways_;     // the pulls, where they are not the slopes
  std::vector<double> b_, w_;      // intercept, weights of the kept
  std::vector<Kept> kept_;         // the features in use
  std::vector<double> shares_;     // the a of updates together
  std::optional<Model> model_;     // what stands for the loss now, if anything
  std::vector<std::int32_t> all_, touched_;
  std::vector<double> ones_;
  Lines intercept_column_;  // all ones
  Work work_;
};

}  // namespace gossamer
