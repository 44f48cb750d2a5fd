#include "boosting/rules.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "catalogue/on_blocks.hpp"

namespace gossamer {

namespace {

// A step of the exponential bound goes at most this many template units: where nothing pulls back and nothing is
// penalised, the minimiser is at infinity, and every point on the way to it decreases the bound.
constexpr double far = 30.0;

// μ eᵗ, also where μ = 0 and eᵗ = ∞
double grown(double mu, double t) { return mu == 0 ? 0.0 : mu * std::exp(t); }

// asinh(eˢ)
double asinh_exp(double s) { return s > 20 ? s + std::log(2.0) : std::asinh(std::exp(s)); }

// log(eˣ + eʸ)
double log_add(double x, double y) {
  const double high = std::max(x, y);
  return high == -infinity ? high : high + std::log1p(std::exp(std::min(x, y) - high));
}

// The root d of μ⁺e^{−d} − μ⁻e^{d} = s ≥ 0 (Eq. 4): e^d = 2μ⁺ / (s + √(s² + 4μ⁺μ⁻)), right at μ⁻ = 0 too.
double exp_root(double up, double down, double s) {
  const double d = std::log(2 * up / (s + std::hypot(s, 2 * std::sqrt(up) * std::sqrt(down))));
  return std::clamp(d, -far, far);
}

// The same from log μ⁺ and log μ⁻, without a limit: ½ log(μ⁺/μ⁻) − asinh(s / (2√(μ⁺μ⁻))).
double log_exp_root(double log_up, double log_down, double s) {
  if (log_down == -infinity) return log_up - std::log(s);
  return (log_up - log_down) / 2 - asinh_exp(std::log(s / 2) - (log_up + log_down) / 2);
}

// argmin_v a (μ⁺e^{−(v−w)/a} + μ⁻e^{(v−w)/a}) + λ|v|   (Eq. 3, Lemmas 2.1 and 2.2)
double exp_l1(double up, double down, double a, double lambda, double w) {
  if (up == 0 && down == 0) return lambda > 0 ? 0.0 : w;
  const double pull = w == 0 ? up - down : grown(up, w / a) - grown(down, -w / a);  // at v = 0
  if (std::fabs(pull) <= lambda) return 0.0;
  return w + a * (pull > 0 ? exp_root(up, down, lambda) : -exp_root(down, up, lambda));
}

// argmin_v Σ_r a (μ_r⁺e^{−(v_r−w_r)/a} + μ_r⁻e^{(v_r−w_r)/a}) + λ‖v‖∞   (Theorem 1, Corollary 4.1, Eq. 9)
//
// In γ = v/a every output is P e^{−γ} + N e^{γ}, P = μ⁺e^{w/a}, N = μ⁻e^{−w/a}, with minimiser ½ log(P/N). After flips
// to γ ≥ 0, the largest minimisers are capped at one ξ with Σ_capped (P e^{−ξ} − N e^{ξ}) = λ; the capped set grows,
// from the largest on, until ξ is at least the next minimiser. In logarithms, since e^{w/a} may overflow.
void exp_linf(Pulls mu, double a, double lambda, std::span<const double> w, std::span<double> next, RuleScratch& s) {
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

}  // namespace

double Ada::curvature(Pulls mu, double a) const {
  double most = 0;
  for (std::size_t r = 0; r < mu.up.size(); ++r) most = std::max(most, mu.up[r] + mu.down[r]);
  return most / a;
}
double Ada::gain(double up, double down, double a, double delta) const {
  auto lost = [](double m, double t) { return m == 0 ? 0.0 : m * std::expm1(t); };
  return -a * (lost(up, -delta / a) + lost(down, delta / a));
}
double Ada::slope(double up, double down, double a, double delta) const {
  return grown(down, delta / a) - grown(up, -delta / a);
}
double Ada::minimiser(double up, double down, double a, double w) const { return exp_l1(up, down, a, 0.0, w); }

namespace {

// The rules for a row: one function per pair of a bound and a penalty (or for all penalties that a bound is good for).
// What has none has no rule.
//
// Ada with ℓ1: every output by itself.
void minimise(const Ada&, const L1&, Pulls mu, double a, double lambda, std::span<const double> w,
              std::span<double> next, RuleScratch&) {
  for (std::size_t r = 0; r < w.size(); ++r) next[r] = exp_l1(mu.up[r], mu.down[r], a, lambda, w[r]);
}

// Ada with ℓ∞ of the row.
void minimise(const Ada& bound, const LInf&, Pulls mu, double a, double lambda, std::span<const double> w,
              std::span<double> next, RuleScratch& scratch) {
  if (w.size() == 1) return minimise(bound, L1{}, mu, a, lambda, w, next, scratch);
  exp_linf(mu, a, lambda, w, next, scratch);
}

// Ada with the smooth ℓ1: two more examples, which pull with λσ(−w) upwards and λσ(w) downwards.
void minimise(const Ada& bound, const SmoothL1&, Pulls mu, double a, double lambda, std::span<const double> w,
              std::span<double> next, RuleScratch&) {
  for (std::size_t r = 0; r < w.size(); ++r) {
    const double up = mu.up[r] + lambda * sigmoid(-w[r]), down = mu.down[r] + lambda * sigmoid(w[r]);
    next[r] = bound.minimiser(up, down, a, w[r]);
  }
}

// Grad with the smooth ℓ1, whose curvature is at most ½: a gradient step with 1/a + λ/2.
void minimise(const Grad&, const SmoothL1&, Pulls mu, double a, double lambda, std::span<const double> w,
              std::span<double> next, RuleScratch&) {
  for (std::size_t r = 0; r < w.size(); ++r) {
    const double slope = (mu.down[r] - mu.up[r]) + lambda * (sigmoid(w[r]) - sigmoid(-w[r]));
    next[r] = w[r] - slope / (1 / a + lambda / 2);
  }
}

// Grad with any penalty that has a prox: prox(w − a g, aλ) (Eq. 14 for ℓ2).
template <Proximal P>
void minimise(const Grad& bound, const P& penalty, Pulls mu, double a, double lambda, std::span<const double> w,
              std::span<double> next, RuleScratch& scratch) {
  for (std::size_t r = 0; r < w.size(); ++r) next[r] = bound.minimiser(mu.up[r], mu.down[r], a, w[r]);
  block_prox(penalty, next, next, a * lambda, 1.0, scratch.prox);
}

template <class B, class P>
  requires requires(B b, P p, Pulls mu, std::span<double> w, RuleScratch& s) { minimise(b, p, mu, 1.0, 1.0, w, w, s); }
class RuleOf final : public BoostingRule {
 public:
  RuleOf(const B& bound, const P& penalty) : bound_(bound), penalty_(penalty) {
    constexpr double one[] = {1.0};
    const std::span<const double> v = one;
    if constexpr (requires { block_dual(penalty, v, 1.0); }) entry = 1 / block_dual(penalty, v, 1.0);
  }

  double scale(double largest, double squares) const override {
    if (!(largest > 0)) return 0.0;
    if constexpr (requires { P::x; }) largest = std::max(largest, P::x);
    const double a = bound_.scale(largest, squares);
    return std::isfinite(a) ? a : 0.0;
  }
  void minimise(Pulls mu, double a, double lambda, std::span<const double> w, std::span<double> next,
                RuleScratch& scratch) const override {
    gossamer::minimise(bound_, penalty_, mu, a, lambda, w, next, scratch);
  }
  double gain(Pulls mu, double a, double lambda, std::span<const double> w,
              std::span<const double> next) const override {
    double sum = lambda > 0 ? lambda * (value(w) - value(next)) : 0.0;
    for (std::size_t r = 0; r < w.size(); ++r) sum += bound_.gain(mu.up[r], mu.down[r], a, next[r] - w[r]);
    return sum;
  }
  double curvature(Pulls mu, double a) const override { return bound_.curvature(mu, a); }
  double value(std::span<const double> w) const override { return block_value(penalty_, w, 1.0); }

 private:
  B bound_;
  P penalty_;
};

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

// The rules for all weights at once.
//
// ℓ∞ with any bound: the general rule.
template <class B>
void minimise_whole(const B& bound, const LInf&, Pulls mu, std::span<const double> a, double lambda,
                    std::span<const double> w, std::span<double> next) {
  for (std::size_t q = 0; q < w.size(); ++q) {
    next[q] = a[q] == 0 ? w[q] : bound.minimiser(mu.up[q], mu.down[q], a[q], w[q]);
  }
  if (lambda == 0) return;
  const auto slope = [&](std::size_t q, double v) {
    return a[q] == 0 ? 0.0 : bound.slope(mu.up[q], mu.down[q], a[q], v - w[q]);
  };
  const double cap = linf_cap(std::span<const double>(next), slope, lambda);
  for (double& v : next) v = std::clamp(v, -cap, cap);
}

// ℓ2 of all weights with the quadratic bound: min_u Σ_q (u_q − v_q)²/(2a_q) + λ‖u‖₂, v = w − a g. Zero iff
// ‖v/a‖₂ ≤ λ; otherwise u_q = v_q t / (t + a_q λ) with t = ‖u‖₂, where Σ_q (v_q / (t + a_q λ))² = 1 falls with t.
void minimise_whole(const Grad&, const L2&, Pulls mu, std::span<const double> a, double lambda,
                    std::span<const double> w, std::span<double> next) {
  double dual = 0;
  for (std::size_t q = 0; q < w.size(); ++q) {
    next[q] = w[q] + a[q] * (mu.up[q] - mu.down[q]);
    dual = std::hypot(dual, a[q] == 0 ? 0.0 : next[q] / a[q]);
  }
  if (lambda == 0) return;
  if (dual <= lambda) return std::fill(next.begin(), next.end(), 0.0);
  double low = 0, high = norm2(std::span<const double>(next));
  for (double t = (low + high) / 2; low < t && t < high; t = (low + high) / 2) {
    double sum = 0;
    for (std::size_t q = 0; q < w.size(); ++q) {
      const double share = next[q] / (t + a[q] * lambda);
      sum += share * share;
    }
    (sum > 1 ? low : high) = t;
  }
  for (std::size_t q = 0; q < w.size(); ++q) next[q] *= high / (high + a[q] * lambda);
}

template <class B, class P>
  requires requires(B b, P p, Pulls mu, std::span<double> w) { minimise_whole(b, p, mu, w, 1.0, w, w); }
class WholeRuleOf final : public WholeRule {
 public:
  WholeRuleOf(const B& bound, const P& penalty) : bound_(bound), penalty_(penalty) {}
  void minimise(Pulls mu, std::span<const double> a, double lambda, std::span<const double> w,
                std::span<double> next) const override {
    minimise_whole(bound_, penalty_, mu, a, lambda, w, next);
  }
  double value(std::span<const double> w) const override { return block_value(penalty_, w, 1.0); }

 private:
  B bound_;
  P penalty_;
};

// The rule of a bound and a penalty, or null where Of has no such class.
template <class Rule, template <class, class> class Of>
std::unique_ptr<Rule> rule_of(const Bound& bound, const RuleForm& penalty) {
  return std::visit(
      []<class B, class P>(const B& b, const P& p) -> std::unique_ptr<Rule> {
        if constexpr (requires { Of<B, P>(b, p); }) return std::make_unique<Of<B, P>>(b, p);
        return nullptr;
      },
      bound, penalty);
}

}  // namespace

std::unique_ptr<BoostingRule> make_rule(const Bound& bound, const RuleForm& penalty) {
  return rule_of<BoostingRule, RuleOf>(bound, penalty);
}

std::unique_ptr<WholeRule> make_whole_rule(const Bound& bound, const RuleForm& penalty) {
  return rule_of<WholeRule, WholeRuleOf>(bound, penalty);
}

}  // namespace gossamer
