// Boosting with structural sparsity: the bounds on the loss and the rules that minimise bound + penalty.
//
//     minimise over W:   L(Z) + λ Σ_j ω_j Ω(W_j),     L(Z) = Σ_i c_i ℓ(z_i, y_i),     z_i = b + Σ_j x_ij W_j
//
// W_j is the row of feature j over the k outputs. How far the examples pull feature j is in two sums per output,
//
//     up   μ⁺ = Σ_i c_i (pull of z_i upwards · [x_ij]₊ + pull downwards · [−x_ij]₊)     down   μ⁻ the other way round,
//
// with gradient μ⁻ − μ⁺. A bound says by how much moving W_j by δ decreases L at least:
//
//     Ada    Σ_r a (μ_r⁺(1 − e^{−δ_r/a}) + μ_r⁻(1 − e^{δ_r/a})),  a max|x_ij| ≤ 1 (½ where a loss couples the outputs)
//     Grad   Σ_r (μ_r⁺ − μ_r⁻) δ_r − δ_r²/(2a),                   a = 1 / (smoothness · Σ_i c_i x_ij²)
//
// A rule joins a bound and a penalty: it finds the row that minimises the bound plus λΩ. So no update increases the
// objective. Duchi, Singer: Boosting with structural sparsity, ICML 2009 (sections and equations below), corrected.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "catalogue/list.hpp"
#include "catalogue/losses.hpp"
#include "catalogue/penalties.hpp"

namespace gossamer {

// The sums of one feature, one per output.
struct Pulls {
  std::span<const double> up, down;
};

struct BoostingFacts {
  const char* name;                          // of the class that Python sees
  std::array<const char*, 2> settings = {};  // the names of its numbers
};

// A bound has
//
//     scale        the a of a feature with these max|x| and Σ c x²
//     curvature    of the bound, its largest over the outputs
//     gain         the least decrease of L when one weight moves by δ; `slope` is that of −gain in δ
//     minimiser    the weight with the largest gain, from w
//
// The exponential bound (§2, §4): valid for logistic, exponential, multinomial and log ε-insensitive loss.
struct Ada {
  static constexpr BoostingFacts facts{.name = "Ada", .settings = {"room"}};

  double room;  // a max|x| ≤ room

  double scale(double largest, double) const { return room / largest; }
  double curvature(Pulls mu, double a) const;
  double gain(double up, double down, double a, double delta) const;
  double slope(double up, double down, double a, double delta) const;
  double minimiser(double up, double down, double a, double w) const;
};

// The quadratic bound (§5): valid for every loss with bounded curvature.
struct Grad {
  static constexpr BoostingFacts facts{.name = "Grad", .settings = {"smoothness"}};

  double smoothness;

  double scale(double, double squares) const { return 1 / (smoothness * squares); }
  double curvature(Pulls, double a) const { return 1 / a; }
  double gain(double up, double down, double a, double delta) const { return delta * ((up - down) - delta / (2 * a)); }
  double slope(double up, double down, double a, double delta) const { return (down - up) + delta / a; }
  double minimiser(double up, double down, double a, double w) const { return w + a * (up - down); }
};

using BoundTypes = List<Ada, Grad>;
using Bound = BoundTypes::Variant;

// log(1 + e^w) + log(1 + e^{−w}): two made-up examples with labels ±1 (Dekel et al. 2005). Never sparse; the baseline.
struct SmoothL1 {
  static constexpr BoostingFacts facts{.name = "SmoothL1"};
  static constexpr double x = 1;  // of the made-up examples

  double value(double w) const { return softplus(w) + softplus(-w); }
};

// Penalties that there may be a rule for.
using RuleForm = Joined<BlockPenalties, List<SmoothL1>>::Variant;

// What a rule works with besides its arguments.
struct RuleScratch {
  std::vector<double> high, low, free;
  std::vector<std::size_t> order;
  Scratch prox;
};

// How one row moves.
class BoostingRule {
 public:
  virtual ~BoostingRule() = default;
  // The a of a feature with these max|x| and Σ c x²; 0 where there is none.
  virtual double scale(double largest, double squares) const = 0;
  // The row that minimises bound + λΩ from w.
  virtual void minimise(Pulls mu, double a, double lambda, std::span<const double> w, std::span<double> next,
                        RuleScratch& scratch) const = 0;
  // The least decrease of loss + penalty from w to next.
  virtual double gain(Pulls mu, double a, double lambda, std::span<const double> w,
                      std::span<const double> next) const = 0;
  // The curvature of the bound: times a move, it measures in units of the gradient how far a row is from its optimum.
  virtual double curvature(Pulls mu, double a) const = 0;
  // Ω(w)
  virtual double value(std::span<const double> w) const = 0;
  // With one output, a feature stays out while |μ⁺ − μ⁻| ≤ entry · λ: known without a call, since scoring asks it of
  // every column.
  double entry = 0;
};

// Null where the bound does not know how to minimise itself plus the penalty.
std::unique_ptr<BoostingRule> make_rule(const Bound& bound, const RuleForm& penalty);

// A penalty on all of W at once moves all weights at once, each with its share of the template: `up`, `down`, `a` and
// `w` hold one number per weight.
class WholeRule {
 public:
  virtual ~WholeRule() = default;
  virtual void minimise(Pulls mu, std::span<const double> a, double lambda, std::span<const double> w,
                        std::span<double> next) const = 0;
  virtual double value(std::span<const double> w) const = 0;
};

// Null where the bound has no rule.
std::unique_ptr<WholeRule> make_whole_rule(const Bound& bound, const RuleForm& penalty);

}  // namespace gossamer
