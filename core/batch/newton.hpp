// What descent over single weights and over blocks share (coordinate.hpp): the working set, the line search, how far
// the model is trusted.
#pragma once

#include <vector>

#include "base/blocks.hpp"
#include "batch/coordinate.hpp"

namespace gossamer {

// A penalty on one block with the block's weight. A set has the value 0: iterates do not leave it.
class BlockPenalty {
 public:
  virtual ~BlockPenalty() = default;
  virtual double value(std::span<const double> w, double weight) const = 0;
};

class NewtonSolver : public CoordinateSolver {
 public:
  Standing start(std::span<const double> W, std::span<const double> b, double alpha) override;
  Standing round(double alpha, double share, std::size_t max_epochs) override;
  std::span<const double> weights() const override { return W_; }
  std::span<const double> intercept() const override { return b_; }
  std::span<const double> slopes() const override { return S_; }
  std::span<const double> gradient() const override { return G_; }

 protected:
  // The first working set has at least `room` blocks; trust in the model begins with `damping`.
  NewtonSolver(const Design& design, const SummedLoss& loss, const BlockPenalty& penalty,
               std::span<const double> weights, std::span<const std::int64_t> members,
               std::span<const std::int64_t> starts, bool fit_intercept, std::size_t room, double damping);

  // How far every block is from its optimum, into violation_; the largest.
  virtual double measure(double alpha) = 0;
  // Adds to due_ the blocks whose gradient must be exact: those with weights, and those that may want one.
  virtual void find_due(double alpha) = 0;
  // At least the largest singular value of a block's columns, row i times √p_i.
  virtual double reach(std::size_t b) = 0;
  // How far the gradient of a block may be from what G_ says: slopes that went a way move it by at most its reach
  // times that (Cauchy-Schwarz).
  double slack(std::size_t b) { return way_ > way_at_[b] ? (1 + 1e-6) * reach(b) * (way_ - way_at_[b]) : 0.0; }
  void choose();
  // The numbers of the working set, into old_ and new_.
  void lay_out();
  // The model at W for the working set: curvatures in H_, and what else descent needs.
  virtual void model() = 0;
  // Minimises the model from new_ until the violation is at most `enough`: new_ and step_b_. Returns the epochs.
  virtual std::size_t descend(double alpha, double enough, double violation, std::size_t max_epochs) = 0;

  std::size_t size(std::size_t b) const {
    return starts_.empty() ? 1 : static_cast<std::size_t>(starts_[b + 1] - starts_[b]);
  }
  std::size_t feature(std::size_t b, std::size_t m) const {
    return starts_.empty() ? b : static_cast<std::size_t>(members_[static_cast<std::size_t>(starts_[b]) + m]);
  }
  double weight(std::size_t b) const { return a_.empty() ? 1.0 : a_[b]; }
  // A column was visited: may throw Stopped, so W_ and Z_ belong together where it is called.
  void visited() const { pace_.did(per_column_); }
  bool is_zero(std::size_t b) const;

  Lines x_;
  unsigned threads_;
  const SummedLoss& loss_;
  std::vector<double> a_;  // one weight per block, or none
  std::vector<std::int64_t> members_, starts_;
  bool fit_intercept_, growing_ = false, by_metric_ = false;
  std::size_t n_, k_, room_;
  double value_ = 0, first_damping_, least_damping_,
         damping_ = 0;              // damping: how much more curved than the model the loss is taken for
  std::vector<double> b_, step_b_;  // k: the intercept, and how the step moves it
  std::vector<double> W_, G_;       // d × k
  std::vector<double> Z_, S_, h_;   // n × k: margins, slopes, curvatures
  std::vector<std::size_t> due_;    // blocks
  Hessians H_;
  std::vector<double> violation_;               // one per block
  std::vector<std::size_t> working_, offsets_;  // blocks, and where each begins in new_
  std::vector<double> old_, new_;               // W and W + D on the working set

 private:
  void settle(bool all);
  void refresh(double alpha);
  Standing look(double alpha);
  double line_search(double alpha);
  void trust(double share, double kept);

  const BlockPenalty& penalty_;
  bool known_ = false;          // loss, slopes and gradient are those at W
  double way_ = 0;              // how far the slopes have gone, in √(Σ ΔS²/p)
  std::vector<double> way_at_;  // one per block: where its gradient was computed
  std::vector<double> S_before_;
  std::size_t products_ = 0;
  std::vector<std::size_t> candidates_;
  mutable StopWatch pace_;
  std::size_t per_column_;  // entries, on average
};

}  // namespace gossamer
