#include "boosting/boosting.hpp"

namespace gossamer {

namespace {

// What the rules of one bound share.
template <class B, class P>
class RuleOf : public Rule {
 public:
  RuleOf(B bound, P penalty) : bound_(bound), penalty_(penalty) {
    if constexpr (std::is_same_v<P, ElasticNet>)
      entry = penalty.l1_ratio;
    else if constexpr (!std::is_same_v<P, SmoothL1> && !std::is_same_v<P, L2Squared>)
      entry = 1;
  }

  double scale(double largest, double squares) const override {
    const double a = largest > 0 ? bound_.scale(largest, squares) : 0.0;
    return std::isfinite(a) ? a : 0.0;
  }
  double curvature(Pulls mu, double a) const override { return bound_.curvature(mu, a); }
  double gain(Pulls mu, double a, double lambda, std::span<const double> w,
              std::span<const double> next) const override {
    double sum = lambda > 0 ? lambda * (value(w) - value(next)) : 0.0;
    for (std::size_t r = 0; r < w.size(); ++r) sum += bound_.gain(mu, a, r, next[r] - w[r]);
    return sum;
  }
  double value(std::span<const double> w) const override {
    if constexpr (requires { penalty_.value(w, 1.0); }) {
      return penalty_.value(w, 1.0);
    } else {
      double sum = 0;
      for (double x : w) sum += penalty_.value(x);
      return sum;
    }
  }

 protected:
  B bound_;
  P penalty_;
};

// Ada with ℓ1: every output by itself.
class AdaL1 final : public RuleOf<Ada, L1> {
 public:
  using RuleOf::RuleOf;
  void minimise(Pulls mu, double a, double lambda, std::span<const double> w, std::span<double> next,
                RuleScratch&) const override {
    for (std::size_t r = 0; r < w.size(); ++r) next[r] = exp_l1(mu.up[r], mu.down[r], a, lambda, w[r]);
  }
};

// Ada with ℓ∞ of the row.
class AdaLInf final : public RuleOf<Ada, LInf> {
 public:
  using RuleOf::RuleOf;
  void minimise(Pulls mu, double a, double lambda, std::span<const double> w, std::span<double> next,
                RuleScratch& scratch) const override {
    if (w.size() == 1) {
      next[0] = exp_l1(mu.up[0], mu.down[0], a, lambda, w[0]);
    } else {
      exp_linf(mu, a, lambda, w, next, scratch);
    }
  }
};

// Ada with the smooth ℓ1: two more examples, which pull with λσ(−w) upwards and λσ(w) downwards; their x is 1, so
// a ≤ 1.
class AdaSmoothL1 final : public RuleOf<Ada, SmoothL1> {
 public:
  using RuleOf::RuleOf;
  double scale(double largest, double squares) const override {
    return std::min(RuleOf::scale(largest, squares), bound_.room);
  }
  void minimise(Pulls mu, double a, double lambda, std::span<const double> w, std::span<double> next,
                RuleScratch&) const override {
    for (std::size_t r = 0; r < w.size(); ++r) {
      const double up = mu.up[r] + lambda * sigmoid(-w[r]), down = mu.down[r] + lambda * sigmoid(w[r]);
      next[r] = exp_l1(up, down, a, 0.0, w[r]);
    }
  }
};

// Grad with a penalty on single numbers: prox(w − a g, aλ).
template <class P>
class GradElementwise final : public RuleOf<Grad, P> {
 public:
  using RuleOf<Grad, P>::RuleOf;
  void minimise(Pulls mu, double a, double lambda, std::span<const double> w, std::span<double> next,
                RuleScratch&) const override {
    for (std::size_t r = 0; r < w.size(); ++r) {
      next[r] = this->penalty_.prox(w[r] + a * (mu.up[r] - mu.down[r]), a * lambda);
    }
  }
};

// Grad with a penalty on the row: the same (Eq. 14 for ℓ2).
template <class P>
class GradBlockwise final : public RuleOf<Grad, P> {
 public:
  using RuleOf<Grad, P>::RuleOf;
  void minimise(Pulls mu, double a, double lambda, std::span<const double> w, std::span<double> next,
                RuleScratch& scratch) const override {
    scratch.v.resize(w.size());
    for (std::size_t r = 0; r < w.size(); ++r) scratch.v[r] = w[r] + a * (mu.up[r] - mu.down[r]);
    this->penalty_.prox(std::span<const double>(scratch.v), next, a * lambda, 1.0, scratch.prox);
  }
};

// Grad with the smooth ℓ1, whose curvature is at most ½: a gradient step with 1/a + λ/2.
class GradSmoothL1 final : public RuleOf<Grad, SmoothL1> {
 public:
  using RuleOf::RuleOf;
  void minimise(Pulls mu, double a, double lambda, std::span<const double> w, std::span<double> next,
                RuleScratch&) const override {
    for (std::size_t r = 0; r < w.size(); ++r) {
      const double slope = (mu.down[r] - mu.up[r]) + lambda * (sigmoid(w[r]) - sigmoid(-w[r]));
      next[r] = w[r] - slope / (1 / a + lambda / 2);
    }
  }
};

std::unique_ptr<Rule> made(const Ada& bound, const L1& p) { return std::make_unique<AdaL1>(bound, p); }
std::unique_ptr<Rule> made(const Ada& bound, const LInf& p) { return std::make_unique<AdaLInf>(bound, p); }
std::unique_ptr<Rule> made(const Ada& bound, const SmoothL1& p) { return std::make_unique<AdaSmoothL1>(bound, p); }
std::unique_ptr<Rule> made(const Grad& bound, const SmoothL1& p) { return std::make_unique<GradSmoothL1>(bound, p); }
template <class P>
std::unique_ptr<Rule> made(const Ada&, const P&) {
  return nullptr;
}
template <class P>
std::unique_ptr<Rule> made(const Grad& bound, const P& penalty) {
  if constexpr (requires { penalty.value(1.0); }) {
    return std::make_unique<GradElementwise<P>>(bound, penalty);
  } else {
    return std::make_unique<GradBlockwise<P>>(bound, penalty);
  }
}

// ℓ∞ of all weights: the general rule.
template <class B>
class WholeLInf final : public WholeRule {
 public:
  double value(std::span<const double> w) const override { return norm_inf(w); }
  void minimise(Pulls mu, std::span<const double> a, double lambda, std::span<const double> w,
                std::span<double> next) const override {
    for (std::size_t q = 0; q < w.size(); ++q) next[q] = free(mu, a[q], w[q], q);
    if (lambda == 0) return;
    const auto slope = [&](std::size_t q, double v) { return slope_at(mu, a[q], v - w[q], q); };
    const double cap = linf_cap(std::span<const double>(next), slope, lambda);
    for (double& v : next) v = std::clamp(v, -cap, cap);
  }

 private:
  static double free(Pulls mu, double a, double w, std::size_t q) {
    if constexpr (std::is_same_v<B, Ada>) {
      return a == 0 ? w : exp_l1(mu.up[q], mu.down[q], a, 0.0, w);
    } else {
      return w + a * (mu.up[q] - mu.down[q]);
    }
  }
  static double slope_at(Pulls mu, double a, double delta, std::size_t q) {
    if (a == 0) return 0.0;
    if constexpr (std::is_same_v<B, Ada>) return grown(mu.down[q], delta / a) - grown(mu.up[q], -delta / a);
    return (mu.down[q] - mu.up[q]) + delta / a;
  }
};

// ℓ2 of all weights with the quadratic bound: min_u Σ_q (u_q − v_q)²/(2a_q) + λ‖u‖₂, v = w − a g. Zero iff
// ‖v/a‖₂ ≤ λ; otherwise u_q = v_q t / (t + a_q λ) with t = ‖u‖₂, where Σ_q (v_q / (t + a_q λ))² = 1 falls with t.
class GradWholeL2 final : public WholeRule {
 public:
  double value(std::span<const double> w) const override { return norm2(w); }
  void minimise(Pulls mu, std::span<const double> a, double lambda, std::span<const double> w,
                std::span<double> next) const override {
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
};

}  // namespace

std::unique_ptr<WholeRule> make_whole_rule(const Bound& bound, const std::variant<L2, LInf>& penalty) {
  if (std::holds_alternative<LInf>(penalty)) {
    if (std::holds_alternative<Ada>(bound)) return std::make_unique<WholeLInf<Ada>>();
    return std::make_unique<WholeLInf<Grad>>();
  }
  if (std::holds_alternative<Grad>(bound)) return std::make_unique<GradWholeL2>();
  return nullptr;
}

std::unique_ptr<Rule> make_rule(const Bound& bound, const RuleForm& penalty) {
  return std::visit([](const auto& b, const auto& p) { return made(b, p); }, bound, penalty);
}

}  // namespace gossamer
