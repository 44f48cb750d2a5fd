// Lanes of dual averaging: RDA, AdaGrad's dual form and FTRL-Proximal (see dual.hpp for the rules of one setting).
#pragma once

#include "path/lanes.hpp"

namespace gossamer {

// w = prox(−c G, c t α), c = 1 / (γ √t); the pace of a lane is its γ, and the step of every round is 1. A feature: G.
template <std::size_t K, class P>
class RdaLanes : public LaneRule<K, P> {
 public:
  static constexpr const char* slots_name = "sums";

  using Base = LaneRule<K, P>;
  RdaLanes(P p, std::size_t features, std::size_t outputs, const LaneSettings& s, std::vector<double> weights,
           double rho)
      : Base(p, features, outputs, s, std::move(weights), 0, outputs),
        rho_(rho),
        rates_(s.count()),
        strengths_(s.count()),
        extras_(s.count()) {}

  void begin(double, std::size_t) { set_rates(rates_, strengths_, extras_); }
  void accumulate(std::size_t j, double x, std::size_t, double* z) {
    weights(j, rates_, strengths_, extras_, [=](std::size_t c, double w) { z[c] += x * w; });
  }
  void receive(const double* slope) { slope_ = slope; }
  void update(std::size_t j, double x, std::size_t) {
    double* sum = this->numbers(j);
    const double* slope = slope_;
    side_by_side(this->cells(), [=](std::size_t c) { sum[c] += x * slope[c]; });
  }
  void end() { rounds_ += 1; }
  void read(std::size_t j, double* out) const {
    if (now_.rounds != rounds_) {
      for (auto* numbers : {&now_.rates, &now_.strengths, &now_.extras}) numbers->resize(this->m_);
      set_rates(now_.rates, now_.strengths, now_.extras);
      now_.rounds = rounds_;
    }
    weights(j, now_.rates, now_.strengths, now_.extras, [=](std::size_t c, double w) { out[c] = w; });
  }
  void alone(std::size_t j, std::size_t lane, std::vector<double>& numbers) const {
    const double* sum = this->numbers(j) + lane * this->k_();
    numbers.insert(numbers.end(), sum, sum + this->k_());
  }
  template <class F>
  void visit(F f) {
    f("rounds", rounds_), this->visit_features(f);
    now_.rounds = -1;
  }

 private:
  Shared rho_, rounds_;
  const double* slope_ = nullptr;
  std::vector<double> rates_, strengths_, extras_;  // of this round: c, c t α, c γρ√t
  struct {
    double rounds = -1;
    std::vector<double> rates, strengths, extras;
  } mutable now_;  // the same as it stands now, for reading

  void set_rates(std::vector<double>& rates, std::vector<double>& strengths, std::vector<double>& extras) const {
    if (rounds_ == 0) return;  // all zero
    const double root = std::sqrt(rounds_);
    for (std::size_t i = 0; i < this->m_; ++i) {
      const double gamma = this->paces_[i], alpha = this->alphas_[i];
      rates[i] = 1.0 / std::max(gamma * root, 1e-12 * rounds_ * alpha);
      strengths[i] = rates[i] * (rounds_ * alpha);
      extras[i] = rates[i] * (gamma * rho_ * root);
    }
  }
  template <class To>
  void weights(std::size_t j, const std::vector<double>& rates, const std::vector<double>& strengths,
               const std::vector<double>& extras, To to) const {
    const double *sum = this->numbers(j), *c = rates.data(), *s = strengths.data(), *extra = extras.data();
    const double weight = weight_of(this->weights_, j);
    const auto strength = [=](std::size_t i) { return s[i]; };
    if (rho_ > 0) {
      this->prox_lanes([=](std::size_t i, std::size_t n) { return soft(-c[i] * sum[n], extra[i]); }, strength, weight,
                       to);
    } else {
      this->prox_lanes([=](std::size_t i, std::size_t n) { return -c[i] * sum[n]; }, strength, weight, to);
    }
  }
};

// AdaGrad: c = η / (m_j √s_j), with m_j, the largest |x| so far, at the head of a feature.
struct ScaleFree {
  static constexpr std::size_t head = 1;
  static constexpr bool proximal = false;
  double see(double* head, double x) const { return *head = std::max(*head, std::fabs(x)); }
  double seen(const double* head) const { return *head; }
  template <class T>
  [[gnu::always_inline]] T divisor(double largest, T root) const {
    return largest * root;
  }
};

// FTRL: c = η / (β + √s_j)
struct Offset {
  static constexpr std::size_t head = 0;
  static constexpr bool proximal = true;
  double beta;
  double see(double*, double) const { return beta; }
  double seen(const double*) const { return beta; }
  double divisor(double offset, double root) const { return offset + root; }
};

// w = prox(−c G, c t α) with a rate c for every feature and lane. A feature: of each lane s, then G.
template <std::size_t K, class P, class Rate>
class AdaptiveDualLanes : public LaneRule<K, P> {
 public:
  using Base = LaneRule<K, P>;
  AdaptiveDualLanes(P p, std::size_t features, std::size_t outputs, const LaneSettings& s, std::vector<double> weights,
                    Rate rate)
      : Base(p, features, outputs, s, std::move(weights), Rate::head, outputs + 1),
        rate_(rate),
        rates_(s.count()),
        etas_(s.paces),
        levels_(s.count()) {}

  void begin(double eta, std::size_t nonzeros) {
    for (std::size_t i = 0; i < this->m_; ++i) etas_[i] = eta * this->paces_[i];
    if (Rate::proximal && kept_.size() < nonzeros * this->cells()) kept_.resize(nonzeros * this->cells());
  }
  void accumulate(std::size_t j, double x, std::size_t n, double* z) {
    double* kept = kept_.data() + n * this->cells();
    weights(j, rate_.see(this->head(j), x), [=](std::size_t c, double w) {
      z[c] += x * w;
      if constexpr (Rate::proximal) kept[c] = w;
    });
  }
  void receive(const double* slope) { slope_ = slope; }
  void update(std::size_t j, double x, std::size_t n) {
    double *s = squares(this->numbers(j)), *sum = sums(this->numbers(j));
    const double* slope = slope_;
    if constexpr (Rate::proximal) {  // G gains −σ w: w_t is the centre
      double* sigma = rates_.data();
      const double *kept = kept_.data() + n * this->cells(), *eta = etas_.data();
      this->squared_gradients(x, slope, [=](std::size_t i, double gradient) {
        const double before = std::sqrt(s[i]);
        s[i] += gradient;
        sigma[i] = (std::sqrt(s[i]) - before) / eta[i];
      });
      this->each_cell([=](std::size_t i, std::size_t c) { sum[c] = (sum[c] + x * slope[c]) - sigma[i] * kept[c]; });
    } else if constexpr (K == 1) {
      this->squared_gradients(x, slope, [=](std::size_t i, double gradient) {
        s[i] += gradient;
        sum[i] += x * slope[i];
      });
    } else {
      this->squared_gradients(x, slope, [=](std::size_t i, double gradient) { s[i] += gradient; });
      this->each_cell([=](std::size_t, std::size_t c) { sum[c] += x * slope[c]; });
    }
  }
  bool eight() const
    requires(K == 1 && std::is_same_v<P, L1> && std::is_same_v<Rate, ScaleFree>)
  {
    return this->m_ == 8 && this->weights_.empty();
  }
  [[gnu::always_inline]] void accumulate_eight(LaneRow& row, double* z) {
    double *heads = this->head(0), *slots = this->numbers(0);
    const Quad eta0 = load_four(&etas_[0]), eta1 = load_four(&etas_[4]);
    const Quad level0 = load_four(&levels_[0]), level1 = load_four(&levels_[4]);
    Quad z0 = load_four(z), z1 = load_four(z + 4);
    for (std::size_t n = 0; n < row.index.size(); ++n) {
      fetch_next_eight(row, heads, slots);
      const auto j = static_cast<std::size_t>(row.index[n]);
      const double x = row.value[n], other = rate_.see(heads + j, x), *s = slots + 16 * j, *sum = s + 8;
      const Quad c0 = eta0 / safe(rate_.divisor(other, root(load_four(s))));
      const Quad c1 = eta1 / safe(rate_.divisor(other, root(load_four(s + 4))));
      z0 += x * soft(-c0 * load_four(sum), c0 * level0);
      z1 += x * soft(-c1 * load_four(sum + 4), c1 * level1);
    }
    store_four(z, z0), store_four(z + 4, z1);
  }
  [[gnu::always_inline]] void update_eight(LaneRow& row) {
    double *heads = this->head(0), *slots = this->numbers(0);
    const Quad slope0 = load_four(slope_), slope1 = load_four(slope_ + 4);
    for (std::size_t n = 0; n < row.index.size(); ++n) {
      fetch_next_eight(row, heads, slots);
      double *s = slots + 16 * static_cast<std::size_t>(row.index[n]), *sum = s + 8;
      const Quad g0 = row.value[n] * slope0, g1 = row.value[n] * slope1;
      store_four(s, load_four(s) + g0 * g0), store_four(s + 4, load_four(s + 4) + g1 * g1);
      store_four(sum, load_four(sum) + g0), store_four(sum + 4, load_four(sum + 4) + g1);
    }
  }
  void end() {
    rounds_ += 1;
    set_levels();
  }
  void read(std::size_t j, double* out) const {
    weights(j, rate_.seen(this->head(j)), [=](std::size_t c, double w) { out[c] = w; });
  }
  void alone(std::size_t j, std::size_t lane, std::vector<double>& numbers) const {
    const double* slot = this->numbers(j);
    const double s = squares(slot)[lane], root = std::sqrt(s), other = rate_.seen(this->head(j));
    const double c = s > 0 ? etas_[lane] / safe(rate_.divisor(other, root)) : 0.0;
    numbers.insert(numbers.end(), {s, Rate::proximal ? root : other, c});
    const double* sum = sums(slot) + lane * this->k_();
    numbers.insert(numbers.end(), sum, sum + this->k_());
    if (Rate::proximal) numbers.insert(numbers.end(), this->k_(), 0.0);  // weights that are read anew before their use
  }
  template <class F>
  void visit(F f) {
    f("rounds", rounds_), f("etas", std::span(etas_)), this->visit_features(f);
    set_levels();
  }

 private:
  Rate rate_;
  Shared rounds_;
  const double* slope_ = nullptr;
  mutable std::vector<double> rates_;  // of the feature at hand
  std::vector<double> etas_;           // η times the pace of each lane
  std::vector<double> levels_;         // t α of each lane
  std::vector<double> kept_;           // weights of the example's features, as they were when it came

  [[gnu::always_inline]] static void fetch_next_eight(LaneRow& row, const double* heads, const double* slots) {
    if (row.next == row.next_end) return;
    const auto j = static_cast<std::size_t>(*row.next++);
    __builtin_prefetch(heads + j, 1), __builtin_prefetch(slots + 16 * j, 1), __builtin_prefetch(slots + 16 * j + 8, 1);
  }
  void set_levels() {
    for (std::size_t i = 0; i < this->m_; ++i) levels_[i] = rounds_ * this->alphas_[i];
  }
  template <class D>
  D* squares(D* slot) const {
    return slot;
  }
  template <class D>
  D* sums(D* slot) const {
    return slot + this->m_;
  }
  template <class To>
  void weights(std::size_t j, double other, To to) const {
    const double *s = squares(this->numbers(j)), *sum = sums(this->numbers(j)), *eta = etas_.data(),
                 *level = levels_.data();
    const double weight = weight_of(this->weights_, j);
    const auto rate = [=, of = rate_](std::size_t i) { return eta[i] / safe(of.divisor(other, std::sqrt(s[i]))); };
    if constexpr (K == 1) {
      this->prox_lanes([=](std::size_t i, std::size_t n) { return -rate(i) * sum[n]; },
                       [=](std::size_t i) { return rate(i) * level[i]; }, weight, to);
    } else {  // once for all outputs
      double* c = rates_.data();
      side_by_side(this->m_, [=](std::size_t i) { c[i] = rate(i); });
      this->prox_lanes([=](std::size_t i, std::size_t n) { return -c[i] * sum[n]; },
                       [=](std::size_t i) { return c[i] * level[i]; }, weight, to);
    }
  }
};

}  // namespace gossamer
