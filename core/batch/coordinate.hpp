// Coordinate descent with working sets, for one output and penalties that are sums over features:
//
//     minimise over w, b:   F(w) = Σ_i p_i ℓ(<w, x_i> + b, y_i) + α Σ_j a_j φ(w_j)
//
// One round is one proximal Newton step on a working set. The loss is replaced by its quadratic model at w,
//
//     Q(d) = <g, d> + ½ Σ_i h_i (Xd)_i² + α Σ_j a_j φ(w_j + d_j),     h_i = p_i ℓ''(z_i),
//
// which is minimised by cyclic coordinate descent over the working set to a share of the present violation, and the
// step is shortened until F falls. For squared loss the model is the loss and no line search is needed. The working set
// holds the features with a weight and those that violate optimality most; it may double in every round.
//
// ℓ needs a curvature. The intercept is a coordinate of the model without a penalty, and after the step it is exact.
//
// Friedman, Hastie, Tibshirani: Regularization paths for generalized linear models via coordinate descent, JSS 2010;
// Yuan, Ho, Lin: An improved GLMNET for l1-regularized logistic regression, JMLR 2012 (newGLMNET).
#pragma once

#include <memory>
#include <span>

#include "batch/design.hpp"
#include "catalogue/penalties.hpp"
#include "catalogue/summed_loss.hpp"

namespace gossamer {

using CoordinatePenalty = std::variant<L1, L2Squared, Berhu, ElasticNet, NonNegativeL1, Box>;

// How a solver stands after a round.
struct Standing {
  double loss = 0;       // Σ p ℓ
  double violation = 0;  // how far −g is from α ∂Ω(w), the largest over features
  std::size_t epochs = 0, working = 0;
  double step = 1;       // of the line search
  bool growing = false;  // the working set had no room for all that violate
};

class CoordinateSolver {
 public:
  virtual ~CoordinateSolver() = default;
  virtual Standing start(std::span<const double> W, std::span<const double> b, double alpha) = 0;
  // One proximal Newton step: coordinate descent until its violation is `share` of the present one.
  virtual Standing round(double alpha, double share, std::size_t max_epochs) = 0;
  virtual std::span<const double> weights() const = 0;    // d × k
  virtual std::span<const double> intercept() const = 0;  // k
  virtual std::span<const double> slopes() const = 0;     // n × k: p_i ∂ℓ/∂z
  virtual std::span<const double> gradient() const = 0;   // d × k
};

// The design and the loss must outlive the solver. `weights` a_j are one a feature, or empty for all ones.
std::unique_ptr<CoordinateSolver> make_coordinate_solver(const Design& design, const SummedLoss& loss,
                                                         const CoordinatePenalty& penalty,
                                                         std::span<const double> weights, bool fit_intercept);

// Penalties on blocks of numbers: norms of the whole block, or sums over it.
using BlockwiseOrElementwise = std::variant<L2, LInf, SparseL2, L1, L2Squared, Berhu, ElasticNet, NonNegativeL1>;

// Blocks are rows of W, or groups of them (members, starts as in blocks.hpp); `weights` are one a block, or empty.
std::unique_ptr<CoordinateSolver> make_block_solver(const Design& design, const SummedLoss& loss,
                                                    const BlockwiseOrElementwise& penalty,
                                                    std::span<const double> weights,
                                                    std::span<const std::int64_t> members,
                                                    std::span<const std::int64_t> starts, bool fit_intercept);

}  // namespace gossamer
