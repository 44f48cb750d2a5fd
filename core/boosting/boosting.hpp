// Boosting with structural sparsity: the bounds on the loss and the rules that minimise bound + penalty.
//
//     minimise over W:   L(Z) + λ Σ_j ω_j Ω(W_j),     L(Z) = Σ_i c_i ℓ(z_i, y_i),     z_i = b + Σ_j x_ij W_j
//
// W_j is the row of feature j over the k outputs. How far the examples pull feature j is in two sums an output,
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

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <variant>
#include <vector>

#include "catalogue/losses.hpp"
#include "catalogue/penalties.hpp"

namespace gossamer {

// A step of the exponential bound goes at most this many template units: where nothing pulls back and nothing is
// penalised, the minimiser is at infinity, and every point on the way to it decreases the bound.
constexpr double far = 30.0;

// μ eᵗ, also where μ = 0 and eᵗ = ∞
inline double grown(double mu, double t) { return mu == 0 ? 0.0 : mu * std::exp(t); }

// asinh(eˢ)
inline double asinh_exp(double s) { return s > 20 ? s + std::log(2.0) : std::asinh(std::exp(s)); }

// log(eˣ + eʸ)
inline double log_add(double x, double y) {
  const double high = std::max(x, y);
  return high == -infinity ? high : high + std::log1p(std::exp(std::min(x, y) - high));
}

// The root d of μ⁺e^{−d} − μ⁻e^{d} = s ≥ 0 (Eq. 4): e^d = 2μ⁺ / (s + √(s² + 4μ⁺μ⁻)), right at μ⁻ = 0 too.
inline double exp_root(double up, double down, double s) {
  const double d = std::log(2 * up / (s + std::hypot(s, 2 * std::sqrt(up) * std::sqrt(down))));
  return std::clamp(d, -far, far);
}

// The same from log μ⁺ and log μ⁻, without a limit: ½ log(μ⁺/μ⁻) − asinh(s / (2√(μ⁺μ⁻))).
inline double log_exp_root(double log_up, double log_down, double s) {
  if (log_down == -infinity) return log_up - std::log(s);
  return (log_up - log_down) / 2 - asinh_exp(std::log(s / 2) - (log_up + log_down) / 2);
}

// argmin_v a (μ⁺e^{−(v−w)/a} + μ⁻e^{(v−w)/a}) + λ|v|   (Eq. 3, Lemmas 2.1 and 2.2)
inline double exp_l1(double up, double down, double a, double lambda, double w) {
  if (up == 0 && down == 0) return lambda > 0 ? 0.0 : w;
  const double pull = w == 0 ? up - down : grown(up, w / a) - grown(down, -w / a);  // at v = 0
  if (std::fabs(pull) <= lambda) return 0.0;
  return w + a * (pull > 0 ? exp_root(up, down, lambda) : -exp_root(down, up, lambda));
}

// What a rule works with besides its arguments.
struct RuleScratch {
  std::vector<double> high, low, free;
  std::vector<std::size_t> order;
  std::vector<double> v;
  Scratch prox;
};

// The sums of one feature, one an output.
struct Pulls {
  std::span<const double> up, down;
};

// argmin_v Σ_r a (μ_r⁺e^{−(v_r−w_r)/a} + μ_r⁻e^{(v_r−w_r)/a}) + λ‖v‖∞   (Theorem 1, Corollary 4.1, Eq. 9)
//
// In γ = v/a every output is P e^{−γ} + N e^{γ}, P = μ⁺e^{w/a}, N = μ⁻e^{−w/a}, with minimiser ½ log(P/N). After flips
// to γ ≥ 0, the largest minimisers are capped at one ξ with Σ_capped (P e^{−ξ} − N e^{ξ}) = λ; the capped set grows,
// from the largest on, until ξ is at least the next minimiser. In logarithms, since e^{w/a} may overflow.
inline void exp_linf(Pulls mu, double a, double lambda, std::span<const double> w, std::span<double> next,
                     RuleScratch& s) {
  const std::size_t k = w.size();
  s.high.resize(k), s.low.resize(k), s.free.resize(k), s.order.clear();
  double pull = 0;
  for (std::size_t r = 0; r < k; ++r) {
    const double log_up = std::log(mu.up[r]) + w[r] / a, log_down = std::log(mu.down[r]) - w[r] / a;
    if (mu.up[r] == 0 && mu.down[r] == 0) continue;
    pull += std::fabs(grown(mu.up[r], w[r] / a) - grown(mu.down[r], -w[r] / a));
    s.high[r] = std::max(log_up, log_down), s.low[r] = std::min(log_up, log_down);
    s.free[r] = (log_up - log_down) / 2;
    s.order.push_back(r);
  }
  if (lambda > 0 && pull <= lambda) return std::fill(next.begin(), next.end(), 0.0);
  std::sort(s.order.begin(), s.order.end(),
            [&](std::size_t i, std::size_t j) { return std::fabs(s.free[i]) > std::fabs(s.free[j]); });
  double cap = infinity, log_up = -infinity, log_down = -infinity;
  for (std::size_t l = 0; lambda > 0 && l < s.order.size(); ++l) {
    log_up = log_add(log_up, s.high[s.order[l]]), log_down = log_add(log_down, s.low[s.order[l]]);
    cap = std::max(log_exp_root(log_up, log_down, lambda), 0.0);
    if (l + 1 == s.order.size() || cap >= std::fabs(s.free[s.order[l + 1]])) break;
  }
  // An output that nothing pulls stays as near to where it is as the cap allows.
  for (std::size_t r = 0; r < k; ++r) next[r] = std::clamp(w[r], -a * cap, a * cap);
  for (std::size_t r : s.order) {
    const double gamma = std::clamp(s.free[r], -cap, cap), d = gamma - w[r] / a;
    next[r] = std::fabs(d) <= far ? a * gamma : w[r] + a * std::copysign(far, d);
  }
}

// The exponential bound (§2, §4): valid for logistic, exponential, multinomial and log ε-insensitive loss.
struct Ada {
  double room;  // a max|x| ≤ room

  double scale(double largest, double) const { return room / largest; }
  double curvature(Pulls mu, double a) const {
    double most = 0;
    for (std::size_t r = 0; r < mu.up.size(); ++r) most = std::max(most, mu.up[r] + mu.down[r]);
    return most / a;
  }
  double gain(Pulls mu, double a, std::size_t r, double delta) const {
    auto lost = [](double m, double t) { return m == 0 ? 0.0 : m * std::expm1(t); };
    return -a * (lost(mu.up[r], -delta / a) + lost(mu.down[r], delta / a));
  }
};

// The quadratic bound (§5): valid for every loss with bounded curvature.
struct Grad {
  double smoothness;

  double scale(double, double squares) const { return 1 / (smoothness * squares); }
  double curvature(Pulls, double a) const { return 1 / a; }
  double gain(Pulls mu, double a, std::size_t r, double delta) const {
    return delta * ((mu.up[r] - mu.down[r]) - delta / (2 * a));
  }
};

using Bound = std::variant<Ada, Grad>;

// log(1 + e^w) + log(1 + e^{−w}): two made-up examples with x = 1 and labels ±1 (Dekel et al. 2005). Never sparse; the
// baseline.
struct SmoothL1 {
  double value(double w) const { return softplus(w) + softplus(-w); }
};

// How one row moves.
class Rule {
 public:
  virtual ~Rule() = default;
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

// A rule exists where a bound knows how to minimise itself plus a penalty: `make_rule` returns null elsewhere.
using RuleForm = std::variant<L1, L2Squared, Berhu, ElasticNet, NonNegativeL1, L2, LInf, SparseL2, SmoothL1>;
std::unique_ptr<Rule> make_rule(const Bound& bound, const RuleForm& penalty);

// The general rule for ℓ∞ (Figure 1): min_d Σ_r f_r(d_r) + λ‖d‖∞ for convex f_r with minimisers `free` and slopes
// `slope(r, d)`. Returns the cap ξ: d_r = clamp(free_r, −ξ, ξ). The push Σ_{|free_r| > ξ} |f_r'(±ξ)| falls with ξ from
// Σ|f_r'(0)| to 0; ξ is where it meets λ, found between two neighbouring |free_r| by halving.
template <class Slope>
double linf_cap(std::span<const double> free, Slope slope, double lambda) {
  auto push = [&](double cap) {
    double sum = 0;
    for (std::size_t r = 0; r < free.size(); ++r) {
      if (std::fabs(free[r]) > cap) sum += std::fabs(slope(r, std::copysign(cap, free[r])));
    }
    return sum;
  };
  if (push(0.0) <= lambda) return 0.0;
  std::vector<double> ends(free.size());
  std::transform(free.begin(), free.end(), ends.begin(), [](double d) { return std::fabs(d); });
  std::sort(ends.begin(), ends.end());
  // The first end where the push is at most λ; at the last one it is zero.
  const auto at = std::partition_point(ends.begin(), ends.end(), [&](double end) { return push(end) > lambda; });
  double high = at == ends.end() ? ends.back() : *at, low = at == ends.begin() ? 0.0 : *(at - 1);
  for (double middle = (low + high) / 2; low < middle && middle < high; middle = (low + high) / 2) {
    (push(middle) > lambda ? low : high) = middle;
  }
  return high;
}

// A penalty on all of W at once moves all weights at once, each with its share of the template: `up`, `down`, `a` and
// `w` hold one number a weight.
class WholeRule {
 public:
  virtual ~WholeRule() = default;
  virtual void minimise(Pulls mu, std::span<const double> a, double lambda, std::span<const double> w,
                        std::span<double> next) const = 0;
  virtual double value(std::span<const double> w) const = 0;
};

// Null where the bound has no rule.
std::unique_ptr<WholeRule> make_whole_rule(const Bound& bound, const std::variant<L2, LInf>& penalty);

}  // namespace gossamer
