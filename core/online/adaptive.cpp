// Steps of its own for every feature j, from s_j = Σ ‖g_j‖² and m_j, the largest |x_j| so far:
//
//     AdaGrad, primal   w ← prox(w − c_j g_j, c_j α), c_j = η / (m_j √s_j)       (Duchi, Hazan & Singer 2011)
//     AdaGrad, dual     w = prox(−c_j G_j, c_j t α)
//     FTRL-Proximal     the same with c_j = η / (β + √s_j), and G gains −σ w in each round so that w_t is the centre
//                       (McMahan 2011)
//
// Dividing by m_j makes AdaGrad free of the scale of the feature. When m_j grows, the weight shrinks by the same ratio,
// before it is used (Ross, Mineiro & Langford 2013). The penalty must be a sum over features (rows of W).
#include "online/buffered.hpp"
#include "online/hot.hpp"
#include "online/merging.hpp"
#include "online/trail.hpp"

namespace gossamer {

namespace {

// Σ_r (x slope_r)²
[[gnu::always_inline]] inline double squared(double x, const double* slope, std::size_t k) {
  double sum = 0;
  for (std::size_t r = 0; r < k; ++r) sum += (x * slope[r]) * (x * slope[r]);
  return sum;
}

// m and the rate of features whose m grows with an example, as they were: one that is not learned from leaves them so.
// (Of one lane; where there are several, none keeps the others from learning.)
class Raised {
 public:
  void clear() { before_.clear(); }
  void note(double* at) { before_.push_back({at, at[0], at[1]}); }
  void take_back() {
    for (; !before_.empty(); before_.pop_back()) {
      const Before& old = before_.back();
      old.at[0] = old.largest, old.at[1] = old.rate;
    }
  }

 private:
  struct Before {
    double *at, largest, rate;
  };
  std::vector<Before> before_;
};

// A feature of a dual form in one lane: s, m (FTRL: √s), c and the sums G of each output.
template <bool Proximal>
struct Cell {
  double &s, &other, &rate, *sums;
  std::size_t outputs;
  double eta, beta;

  // Curvatures 1/c add up; a feature that one of them has not seen is as the other one has it.
  void add(const Cell& from, double largest) {
    const double curvature = (rate > 0 ? 1 / rate : 0.0) + (from.rate > 0 ? 1 / from.rate : 0.0);
    for (std::size_t r = 0; r < outputs; ++r) sums[r] += from.sums[r];
    if (curvature > 0) set(eta * curvature, largest);
  }
  void share(double parts) {
    for (std::size_t r = 0; r < outputs; ++r) sums[r] /= parts;
    if (rate > 0) set(eta / (rate * parts), other);
  }

 private:
  void set(double divisor, double largest) {
    const double root = Proximal ? std::max(divisor - beta, 0.0) : largest > 0 ? divisor / largest : 0.0;
    s = root * root;
    if (Proximal) other = root;
    rate = eta / safe(Proximal ? beta + root : largest * root);
  }
};

// The primal form: between touches a feature has rounds with one and the same s. A slot: the round it is up to date
// with, s of each lane, m, the step of each lane, the weights.
class AdaptiveRule final : public BufferedRule {
 public:
  AdaptiveRule(AnyPenalty penalty, const Setup& s)
      : BufferedRule(std::move(penalty), s, 2 + 2 * s.lanes() + s.cells()) {
    if (starts_at_zero()) return;
    for (std::size_t j = 0; j < features_; ++j) read(j, slot(j) + weights());
  }

  void margins(const Row& row, double step, double* z) override {
    eta_ = step;
    raised_.clear();
    load(here_, row.index);
    for (std::size_t n = 0; n < row.size(); ++n) {
      if (const double size = std::fabs(row.x[n]); size > here_.also[n]) rescale(slot(row[n]), row.index[n], n, size);
    }
    add_up(row, z);
  }
  void learn(const Row& row, Slopes slopes) override {
    by_size([&, eta = eta_, rounds = rounds_](auto m, auto k) {
      const double *w = here_.w.data(), *factor = step_factors_.data();
      double* slots = slot(0);
      for (std::size_t n = 0; n < row.size(); ++n, w += m * k) {
        double *at = slots + row[n] * (2 + 2 * m + m * k), *s = at + 1, *step = at + 2 + m, *to = step + m,
               x = row.x[n];
        const double* slope = slopes[n];
        at[0] = rounds;
        side_by_side(m, [=, largest = at[1 + m]](std::size_t i) {
          s[i] += squared(x, slope + i * k, k);
          step[i] = eta * factor[i] / safe(largest * std::sqrt(s[i]));
          for (std::size_t c = i * k; c < (i + 1) * k; ++c) to[c] = w[c] - step[i] * x * slope[c];
        });
      }
    });
    rounds_ += 1;
  }
  void take_back() override { raised_.take_back(); }
  void read(std::size_t j, double* w) const override {
    const auto feature = static_cast<std::int32_t>(j);
    load(for_reading(), {&feature, 1});
    std::copy_n(for_reading().w.data(), cells_, w);
  }
  void visit(StateVisitor& f) override {
    f("rounds", rounds_, now), f("eta", eta_, at_least_zero);
    f("slots", slots_, {{a_round}, {at_least_zero, m_}, {at_least_zero}, {at_least_zero, m_}, {any_number, cells_}});
  }
  bool has_paths() const override { return true; }
  void add_paths(std::span<const std::int32_t> features, const double* away, double* sums) const override {
    for (std::size_t n = 0; n < features.size(); ++n, sums += k_) {
      const auto j = static_cast<std::size_t>(features[n]);
      const double* at = slot(j);
      penalty_->add_repeats({at + weights(), k_}, j, away[n], alphas_[0] * at[2 + m_], sums);
    }
  }
  void settle() override {
    for (std::size_t j = 0; j < features_; ++j) read(j, slot(j) + weights()), slot(j)[0] = rounds_;
  }
  const char* alone(std::size_t j, std::size_t lane, std::vector<double>& numbers) const override {
    const double *at = slot(j), *w = at + weights() + lane * k_;
    numbers.insert(numbers.end(), {at[0], at[1 + lane], at[1 + m_], at[2 + m_ + lane]});
    numbers.insert(numbers.end(), w, w + k_);
    return "slots";
  }

 private:
  double eta_ = 0, rounds_ = 0;
  Raised raised_;

  std::size_t weights() const { return 2 + 2 * m_; }
  void load(Buffer& b, std::span<const std::int32_t> features) const {
    make_room(b, features.size());
    by_size([&, rounds = rounds_](auto m, auto k) {
      const double *slots = slot(0), *alpha = alphas_.data();
      double *w = b.w.data(), *s = b.s.data(), *missed = b.per.data(), *largest = b.also.data();
      for (std::size_t n = 0; n < features.size(); ++n, w += m * k, s += m) {
        const double *at = slots + static_cast<std::size_t>(features[n]) * (2 + 2 * m + m * k), *step = at + 2 + m;
        missed[n] = rounds - at[0], largest[n] = at[1 + m];
        side_by_side(m, [=](std::size_t i) { s[i] = alpha[i] * step[i]; });
        side_by_side(m * k, [=](std::size_t c) { w[c] = step[m + c]; });
      }
    });
    penalty_->repeat(rows(b, features), b.per.data(), b.s.data());
  }
  // A larger value than ever: the weights shrink to what they would be had it been known from the start.
  void rescale(double* at, std::int32_t j, std::size_t n, double size) {
    const double ratio = at[1 + m_] / size;
    if (m_ == 1) raised_.note(at + 2);
    at[1 + m_] = size;
    if (ratio == 0) return;
    for (std::size_t i = 0; i < m_; ++i) at[2 + m_ + i] *= ratio;
    double* w = &here_.w[n * cells_];
    for (std::size_t c = 0; c < cells_; ++c) w[c] *= ratio;
    if (!penalty_->facts().constrains) return;
    std::fill_n(here_.s.begin(), m_, 0.0);
    penalty_->prox({w, m_, k_, k_, &j, m_}, here_.s.data());
  }
};

// The two dual forms, any penalty, any number of lanes. A slot: s of each lane; m (FTRL: √s of each lane); c of each
// lane; G.
template <bool Proximal>
class AdaptiveDualRule final : public BufferedRule {
 public:
  AdaptiveDualRule(AnyPenalty penalty, const Setup& s, double beta)
      : BufferedRule(std::move(penalty), s, rates(s.lanes()) + s.lanes() + s.cells()), beta_(beta) {}

  void margins(const Row& row, double step, double* z) override {
    eta_ = step;
    raised_.clear();
    for (std::size_t n = 0; n < row.size() && !Proximal; ++n) {
      double *at = slot(row[n]), size = std::fabs(row.x[n]);
      if (size <= at[m_]) continue;  // larger than ever: known before it is used
      if (m_ == 1) raised_.note(at + 1);
      for (std::size_t i = 0; i < m_; ++i) at[rates(m_) + i] *= at[m_] / size;
      at[m_] = size;
    }
    load(here_, row.index, rounds_);
    add_up(row, z);
  }
  void learn(const Row& row, Slopes slopes) override {
    by_size([&, step = eta_, beta = beta_](auto m, auto k) {
      const double *w = here_.w.data(), *factor = step_factors_.data();
      double* slots = slot(0);
      for (std::size_t n = 0; n < row.size(); ++n, w += m * k) {
        double *s = slots + row[n] * (rates(m) + m + m * k), *other = s + m, *rate = s + rates(m), *sum = rate + m;
        side_by_side(m, [=, x = row.x[n], slope = slopes[n], largest = *other](std::size_t i) {
          s[i] += squared(x, slope + i * k, k);
          const double root = std::sqrt(s[i]), eta = step * factor[i];
          const double sigma = Proximal ? (root - other[i]) / eta : 0.0;
          if (Proximal) other[i] = root;
          rate[i] = eta / safe(Proximal ? beta + root : largest * root);
          for (std::size_t c = i * k; c < (i + 1) * k; ++c) sum[c] += x * slope[c] - sigma * w[c];
        });
      }
    });
    rounds_ += 1;
  }
  void take_back() override { raised_.take_back(); }
  void read(std::size_t j, double* w) const override {
    const auto feature = static_cast<std::int32_t>(j);
    load(for_reading(), {&feature, 1}, rounds_);
    std::copy_n(for_reading().w.data(), cells_, w);
  }
  void visit(StateVisitor& f) override {
    f("rounds", rounds_, now), f("eta", eta_, at_least_zero);
    f("slots", slots_, {{at_least_zero, rates(m_) + m_}, {any_number, cells_}});
  }
  bool has_paths() const override { return true; }
  // Where rounds add up, the weights after t rounds are t rounds of prox(·, cα) on −cG.
  void add_paths(std::span<const std::int32_t> features, const double* away, double* total) const override {
    for (std::size_t n = 0; n < features.size(); ++n, total += k_) {
      const auto j = static_cast<std::size_t>(features[n]);
      const double before = rounds_ - away[n];
      Buffer& b = for_reading();
      load(b, {&features[n], 1}, before);
      if (penalty_->facts().adds_up) {
        penalty_->add_repeats({b.w.data(), k_}, j, away[n], slot(j)[rates(1)] * alphas_[0], total);
        continue;
      }
      for (double t = before + 1; t <= rounds_; ++t) {
        load(b, {&features[n], 1}, t);
        if (all_zero({b.w.data(), k_})) break;
        for (std::size_t r = 0; r < k_; ++r) total[r] += b.w[r];
      }
    }
  }
  void add(Rule& rule) override {
    auto& other = same_kind<AdaptiveDualRule>(rule);
    if (rounds_ == 0) eta_ = other.eta_;
    for (std::size_t j = 0; j < features_; ++j) {
      double &mine = slot(j)[m_], &its = other.slot(j)[m_], largest = std::max(mine, its);
      for (std::size_t i = 0; i < m_; ++i) cell(j, i).add(other.cell(j, i), largest);
      if (!Proximal) mine = largest;
    }
    rounds_ += other.rounds_;
  }
  void share(double parts, double rounds) override {
    for (std::size_t j = 0; j < features_; ++j) {
      for (std::size_t i = 0; i < m_; ++i) cell(j, i).share(parts);
    }
    rounds_ = rounds;
  }
  const char* alone(std::size_t j, std::size_t lane, std::vector<double>& numbers) const override {
    const double *at = slot(j), *rate = at + rates(m_), *sum = rate + m_ + lane * k_;
    numbers.insert(numbers.end(), {at[lane], at[m_ + (Proximal ? lane : 0)], rate[lane]});
    numbers.insert(numbers.end(), sum, sum + k_);
    return "slots";
  }

 private:
  double beta_, eta_ = 0, rounds_ = 0;
  Raised raised_;

  static constexpr std::size_t rates(std::size_t m) { return m + (Proximal ? m : 1); }  // where they are in a slot
  Cell<Proximal> cell(std::size_t j, std::size_t i) {
    double *at = slot(j), *rate = at + rates(m_);
    return {at[i], at[m_ + (Proximal ? i : 0)], rate[i], rate + m_ + i * k_, k_, eta_ * step_factors_[i], beta_};
  }
  void load(Buffer& b, std::span<const std::int32_t> features, double t) const {
    make_room(b, features.size());
    by_size([&](auto m, auto k) {
      const double *slots = slot(0), *alpha = alphas_.data();
      double *w = b.w.data(), *s = b.s.data();
      for (std::size_t n = 0; n < features.size(); ++n, w += m * k, s += m) {
        const double* rate = slots + static_cast<std::size_t>(features[n]) * (rates(m) + m + m * k) + rates(m);
        side_by_side(m, [=](std::size_t i) {
          s[i] = rate[i] * (t * alpha[i]);
          for (std::size_t c = i * k; c < (i + 1) * k; ++c) w[c] = -rate[i] * rate[m + c];
        });
      }
    });
    penalty_->prox(rows(b, features), b.s.data());
  }
};

// The dual forms with ℓ1 and one output: FTRL takes two thirds of the time of the form above. A slot as there: s; m
// (FTRL: √s); c; G.
template <bool Proximal>
class AdaptiveDualL1 final : public Looped<AdaptiveDualL1<Proximal>, HotRule> {
 public:
  AdaptiveDualL1(const Weights& weights, const Setup& s, double beta)
      : Looped<AdaptiveDualL1, HotRule>(weights, s, 4),
        alpha_(s.alpha()),
        step_factor_(s.step_factors[0]),
        beta_(beta) {}

  void margins(const Row& row, double step, double* z) override { look(row, step, z); }
  void learn(const Row& row, Slopes slopes) override { move(row, slopes.at); }

  template <class T>
  void look(const RowOf<T>& row, double step, double* z) {
    eta_ = step;
    const double a = rounds_ * alpha_;
    double* slots = &this->slots_[0];
    const Quad all = spread_four(a);
    if (!Proximal) raised_.clear();
    for (std::size_t n = 0; n < row.size() && !Proximal; ++n) {  // larger than ever: known before it is used
      double *at = slots + 4 * row[n], size = std::fabs(static_cast<double>(row.x[n]));
      if (size > at[1]) raised_.note(at + 1), at[2] *= at[1] / size, at[1] = size;
    }
    *z += this->with_weights([&](auto weights) GOSSAMER_INLINE {
      return this->peek_all(
          row,
          [=](const std::int32_t* j) {
            const Quad c = gather(slots + 2, j, 4);
            return soft(-c * gather(slots + 3, j, 4), c * HotRule::times_weights(all, weights, j));
          },
          [=, this](std::size_t j) { return weight(slots + 4 * j, a, j); });
    });
  }
  template <class T>
  void move(const RowOf<T>& row, const double* slope) {
    const double g = *slope, eta = eta_ * step_factor_, beta = beta_;
    double* slots = &this->slots_[0];
    const Quad slopes = spread_four(g), etas = spread_four(eta), betas = spread_four(beta);
    const auto one = [=](std::size_t j, double w, double x) {
      double *at = slots + 4 * j, by = x * g, squares = by * by;
      if (!Proximal && squares == 0) return;
      at[0] += squares;
      const double after = std::sqrt(at[0]);
      if (Proximal) by -= (after - at[1]) / eta * w, at[1] = after;
      at[3] += by;
      at[2] = eta / (Proximal ? safe(beta + after) : at[1] * after);
    };
    this->move_all(
        row,
        [=](const std::int32_t* j, Quad w, Quad x) {
          Quad by = x * slopes;
          const Quad squares = by * by;
          if (!Proximal && !(least(squares) > 0)) {
            for (int n = 0; n < 4; ++n) one(static_cast<std::size_t>(j[n]), w[n], x[n]);
            return;
          }
          const Quad s = gather(slots, j, 4) + squares, other = gather(slots + 1, j, 4), roots = root(s);
          if (Proximal) by -= (roots - other) / etas * w;
          const Quad sum = gather(slots + 3, j, 4) + by;
          const Quad c = etas / (Proximal ? safe(betas + roots) : other * roots);
          for (int n = 0; n < 4; ++n) {
            double* at = slots + 4 * static_cast<std::size_t>(j[n]);
            at[0] = s[n], at[2] = c[n], at[3] = sum[n];
            if (Proximal) at[1] = roots[n];
          }
        },
        one);
    rounds_ += 1;
  }
  void take_back() override { raised_.take_back(); }
  void read(std::size_t j, double* w) const override { *w = weight(&this->slots_[4 * j], rounds_ * alpha_, j); }
  void visit(StateVisitor& f) override {
    f("rounds", rounds_, now), f("eta", eta_, at_least_zero);
    f("slots", this->slots_, {{at_least_zero, 3}, {any_number}});
  }
  void add(Rule& rule) override {
    auto& other = same_kind<AdaptiveDualL1>(rule);
    if (rounds_ == 0) eta_ = other.eta_;
    for (std::size_t j = 0; j < this->features_; ++j) {
      double &mine = this->slots_[4 * j + 1], largest = std::max(mine, other.slots_[4 * j + 1]);
      cell(j).add(other.cell(j), largest);
      if (!Proximal) mine = largest;
    }
    rounds_ += other.rounds_;
  }
  void share(double parts, double rounds) override {
    for (std::size_t j = 0; j < this->features_; ++j) cell(j).share(parts);
    rounds_ = rounds;
  }
  double path(std::size_t j, double n) const {
    const double *at = &this->slots_[4 * j], c = at[2], a = alpha_ * weight_of(this->weights_, j);
    const double start = c * (std::fabs(at[3]) - a * (rounds_ - n));
    return start > 0 ? -std::copysign(arithmetic_sum(start, c * a, n), at[3]) : 0.0;
  }

 private:
  double alpha_, step_factor_, beta_, eta_ = 0, rounds_ = 0;
  Raised raised_;

  Cell<Proximal> cell(std::size_t j) {
    double* at = &this->slots_[4 * j];
    return {at[0], at[1], at[2], at + 3, 1, eta_ * step_factor_, beta_};
  }
  double weight(const double* at, double a, std::size_t j) const {
    return soft(-at[2] * at[3], at[2] * (a * weight_of(this->weights_, j)));
  }
};

}  // namespace

std::unique_ptr<Rule> AdaGradPrimal::rule(AnyPenalty penalty, const Setup& setup) const {
  return std::make_unique<AdaptiveRule>(std::move(penalty), setup);
}

std::unique_ptr<Rule> AdaGradDual::rule(AnyPenalty penalty, const Setup& setup) const {
  return std::make_unique<AdaptiveDualRule<false>>(std::move(penalty), setup, 0.0);
}

std::unique_ptr<Rule> AdaGradDual::hot(const Weights& weights, const Setup& setup) const {
  return plain_or_averaged(std::make_unique<AdaptiveDualL1<false>>(weights, setup, 0.0), setup);
}

std::unique_ptr<Rule> Ftrl::rule(AnyPenalty penalty, const Setup& setup) const {
  return std::make_unique<AdaptiveDualRule<true>>(std::move(penalty), setup, beta);
}

std::unique_ptr<Rule> Ftrl::hot(const Weights& weights, const Setup& setup) const {
  return plain_or_averaged(std::make_unique<AdaptiveDualL1<true>>(weights, setup, beta), setup);
}

}  // namespace gossamer
