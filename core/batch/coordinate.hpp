// Coordinate descent with working sets, for penalties that are sums over blocks b of features:
//
//     minimise over W, b:   F(W) = Σ_i p_i ℓ(x_i W + b, y_i) + α Σ_b Ω(W_b)
//
// One round is one proximal Newton step on a working set. The loss is replaced by its quadratic model at W,
//
//     Q(D) = <G, D> + ½ Σ_i (x_i D) H_i (x_i D)ᵀ + α Σ_b Ω(W_b + D_b),     H_i the curvature of p_i ℓ at z_i,
//
// which is minimised by cyclic descent over the working set to a share of the present violation, and the step is
// shortened until F falls. For squared loss the model is the loss and no line search is needed. The working set holds
// the blocks with a weight and those that violate optimality most; it may double in every round.
//
// ℓ needs a curvature. The intercept is a coordinate of the model without a penalty, and after the step it is exact.
//
// Friedman, Hastie, Tibshirani: Regularization paths for generalized linear models via coordinate descent, JSS 2010;
// Yuan, Ho, Lin: An improved GLMNET for l1-regularized logistic regression, JMLR 2012 (newGLMNET).
#pragma once

#include <memory>
#include <span>

#include "batch/design.hpp"
#include "catalogue/list.hpp"
#include "catalogue/penalties.hpp"
#include "catalogue/summed_loss.hpp"

namespace gossamer {

// How a solver stands after a round.
struct Standing {
  double loss = 0;       // Σ p ℓ
  double violation = 0;  // how far −G is from α ∂Ω(W), the largest over blocks
  std::size_t epochs = 0, working = 0;
  std::size_t products = 0;  // columns whose gradient was computed
  double step = 1;           // of the line search
  bool growing = false;      // the working set had no room for all that violate
};

class CoordinateSolver {
 public:
  virtual ~CoordinateSolver() = default;
  virtual Standing start(std::span<const double> W, std::span<const double> b, double alpha) = 0;
  // One proximal Newton step: descent until its violation is `share` of the present one.
  virtual Standing round(double alpha, double share, std::size_t max_epochs) = 0;
  virtual std::span<const double> weights() const = 0;    // d × k
  virtual std::span<const double> intercept() const = 0;  // k
  virtual std::span<const double> slopes() const = 0;     // n × k: p_i ∂ℓ/∂z
  // d × k; where the weights of a block are zero for sure, any gradient that says so.
  virtual std::span<const double> gradient() const = 0;
};

// For one output and penalties on single numbers: blocks are single weights. The design and the loss must outlive the
// solver. `weights` are one per feature, or empty for all ones.
std::unique_ptr<CoordinateSolver> make_coordinate_solver(const Design& design, const SummedLoss& loss,
                                                         const NumberPenalties::Variant& penalty,
                                                         std::span<const double> weights, bool fit_intercept);

// Blocks are rows of W, or groups of them (members, starts as in blocks.hpp); `weights` are one per block, or empty.
std::unique_ptr<CoordinateSolver> make_block_solver(const Design& design, const SummedLoss& loss,
                                                    const BlockPenalties::Variant& penalty,
                                                    std::span<const double> weights,
                                                    std::span<const std::int64_t> members,
                                                    std::span<const std::int64_t> starts, bool fit_intercept);

}  // namespace gossamer
