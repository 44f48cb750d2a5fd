// Regularised dual averaging: the state is the sum of gradients G, and weights are read from it on demand,
//
//     w_{t+1} = argmin_w <G_t, w> + t α Ω(w) + ‖w‖² / (2 c) = prox(−c G_t, c t α),   c = 1 / (γ √t),
//
// with γρ√t more of ℓ1 (Xiao 2009, Eq. 8-10; h = ½‖w‖² + ρ‖w‖₁, β_t = γ√t), so that no feature ever has to catch up.
// The penalty must be a sum over features (rows of W).
//
// Averages (averaged.hpp): between touches G is constant, so that a row that loses length only follows a line times
// c_t. The other penalties are followed round by round. If γ changes between rounds, all paths are added up: O(d) a
// change.
#include "online/buffered.hpp"
#include "online/hot.hpp"
#include "online/merging.hpp"
#include "online/trail.hpp"

namespace gossamer {

namespace {

// The rate and thresholds of one lane after t rounds with γ.
struct Rate {
  double c = 0, t_alpha = 0, extra = 0;  // before the first round: rate 0

  Rate() = default;
  // Without the strongly convex helper (γ = 0) the penalty must be strongly convex itself, and a huge rate stands for
  // the limit.
  Rate(double t, double gamma, double alpha, double rho) {
    if (t == 0) return;
    const double root = std::sqrt(t);
    c = 1.0 / std::max(gamma * root, 1e-12 * t * alpha), t_alpha = t * alpha, extra = gamma * rho * root;
  }
};

// The rounds of RDA: t, γ, and for averages the sums over rounds.
class Clock {
 public:
  Clock(double alpha, double rho, std::size_t features, bool traced)
      : alpha_(alpha), rho_(rho), limit_(longest_record(features)), traced_(traced) {}
  double rounds() const { return rounds_; }
  double gamma() const { return gamma_; }
  Rate rate() const { return {rounds_, gamma_, alpha_, rho_}; }
  bool settles(double gamma) const { return gamma != gamma_ || trail_.rounds() >= limit_; }
  void begin(double gamma) {
    if (traced_ && settles(gamma)) restart();
    next_ = gamma;
  }
  void end() {
    rounds_ += 1, gamma_ = next_;
    if (traced_) trail_.push(rounds_, rate().c, rate().extra);
  }
  void restart() { trail_.restart(rounds_); }
  // Σ c_t [x − a t − e_t]₊ over the last n rounds.
  double line(double x, double a, double n) const {
    const double then = rounds_ - n;
    if (!alive(x, a, then)) return 0.0;
    return trail_.line(x, a, then, alive(x, a, rounds_) ? rounds_ : end_of(x, a, then));
  }
  double rho() const { return rho_; }
  double alpha() const { return alpha_; }
  void add(const Clock& other) {
    gamma_ = merged_gamma(gamma_, rounds_, other.gamma_, other.rounds_);
    rounds_ += other.rounds_;
  }
  void share(double parts, double rounds) {
    gamma_ = shared_gamma(gamma_, rounds_, parts, rounds);
    rounds_ = rounds;
  }
  void visit(StateVisitor& f) {
    f("rounds", rounds_, now), f("gamma", gamma_, at_least_zero);
    if (!traced_) return;
    trail_.visit(f);
    f.demand("trail", "it is not the sums over the rounds since 'trail_first'", [&] { return is_of_these_rounds(); });
  }

 private:
  double alpha_, rho_, rounds_ = 0, gamma_ = 0, next_ = 0;  // next_: γ of a round that has begun
  std::size_t limit_;
  bool traced_;
  DualTrail trail_;

  bool is_of_these_rounds() const {
    DualTrail again;
    again.restart(trail_.first());
    if (trail_.empty() || trail_.first() + static_cast<double>(trail_.rounds()) != rounds_) return false;
    for (double t = trail_.first() + 1; t <= rounds_; ++t) {
      const Rate at(t, gamma_, alpha_, rho_);
      again.push(t, at.c, at.extra);
    }
    return trail_.is_about(again);
  }
  bool alive(double x, double a, double t) const { return x > a * t + (rho_ > 0 ? gamma_ * rho_ * std::sqrt(t) : 0.0); }
  // The last round in which something is left of x, now that nothing is: from the root of a t + γρ√t = x.
  double end_of(double x, double a, double then) const {
    const double push = gamma_ * rho_;
    const double root = push > 0 ? 2 * x / (push + std::sqrt(push * push + 4 * a * x)) : 0.0;
    return std::clamp(std::floor(push > 0 ? root * root : x / a), then, rounds_);
  }
};

// Any penalty, any number of lanes: the step factor of a lane times the step is its γ. A slot: G.
class RdaRule final : public BufferedRule {
 public:
  RdaRule(AnyPenalty penalty, const Setup& s, double rho)
      : BufferedRule(std::move(penalty), s, s.cells()), clock_(s.alpha(), rho, s.features, s.average) {}

  void margins(const Row& row, double gamma, double* z) override {
    load(here_, row.index, clock_.rounds());
    clock_.begin(gamma);
    add_up(row, z);
  }
  void learn(const Row& row, Slopes slopes) override {
    by_size([&](auto m, auto k) {
      double* sums = slot(0);
      for (std::size_t n = 0; n < row.size(); ++n) {
        double *sum = sums + row[n] * (m * k), x = row.x[n];
        const double* slope = slopes[n];
        for (std::size_t c = 0; c < m * k; ++c) sum[c] += x * slope[c];
      }
    });
    clock_.end();
  }
  void read(std::size_t j, double* w) const override {
    const auto feature = static_cast<std::int32_t>(j);
    load(for_reading(), {&feature, 1}, clock_.rounds());
    std::copy_n(for_reading().w.data(), cells_, w);
  }
  void visit(StateVisitor& f) override { clock_.visit(f), f("sums", slots_, {{any_number}}); }
  bool has_paths() const override { return true; }
  void add_paths(std::span<const std::int32_t> features, const double* away, double* sums) const override {
    struct Lines final : Lengths {
      const Clock& clock;
      double n = 0;
      explicit Lines(const Clock& c) : clock(c) {}
      double operator()(double x, double weight) const override { return clock.line(x, weight * clock.alpha(), n); }
    } lines(clock_);
    std::vector<double> v(k_);
    for (std::size_t n = 0; n < features.size(); ++n, sums += k_) {
      const auto j = static_cast<std::size_t>(features[n]);
      for (std::size_t r = 0; r < k_; ++r) v[r] = -slot(j)[r];
      lines.n = away[n];
      if (penalty_->add_lengths(v, j, lines, sums)) continue;
      Buffer& b = for_reading();
      for (double t = clock_.rounds() - away[n] + 1; t <= clock_.rounds(); ++t) {
        load(b, {&features[n], 1}, t);
        if (all_zero({b.w.data(), k_})) break;
        for (std::size_t r = 0; r < k_; ++r) sums[r] += b.w[r];
      }
    }
  }
  bool settles(double gamma) const override { return clock_.settles(gamma); }
  void settle() override { clock_.restart(); }
  void add(Rule& rule) override {
    auto& other = same_kind<RdaRule>(rule);
    clock_.add(other.clock_), add_all(slots_.all(), other.slots_.all());
  }
  void share(double parts, double rounds) override { clock_.share(parts, rounds), divide_all(slots_.all(), parts); }
  const char* alone(std::size_t j, std::size_t lane, std::vector<double>& numbers) const override {
    numbers.insert(numbers.end(), slot(j) + lane * k_, slot(j) + (lane + 1) * k_);
    return "sums";
  }

 private:
  Clock clock_;

  // prox(−c G, c t α) after t rounds, with some more of ℓ1 first (which is exact for ℓ1 and its kin).
  void load(Buffer& b, std::span<const std::int32_t> features, double t) const {
    make_room(b, features.size());
    b.lane.resize(3 * m_);
    double *rate = b.lane.data(), *strength = rate + m_, *extra = strength + m_;
    for (std::size_t i = 0; i < m_; ++i) {
      const Rate now(t, clock_.gamma() * step_factors_[i], alphas_[i], clock_.rho());
      rate[i] = -now.c, strength[i] = now.c * now.t_alpha, extra[i] = now.c * now.extra;
    }
    by_size([&, more = clock_.rho() > 0](auto m, auto k) {
      const double* sums = slot(0);
      double *w = b.w.data(), *s = b.s.data();
      for (std::size_t n = 0; n < features.size(); ++n, w += m * k, s += m) {
        const double* sum = sums + static_cast<std::size_t>(features[n]) * (m * k);
        side_by_side(m, [=](std::size_t i) {
          s[i] = strength[i];
          for (std::size_t c = i * k; c < (i + 1) * k; ++c) w[c] = rate[i] * sum[c];
        });
        for (std::size_t c = 0; c < m * k && more; ++c) w[c] = soft(w[c], extra[c / k]);
      }
    });
    penalty_->prox(rows(b, features), b.s.data());
  }
};

// ℓ1 with one output. A slot: G.
class RdaL1 final : public Looped<RdaL1, HotRule> {
 public:
  RdaL1(const Weights& weights, const Setup& s, double rho)
      : Looped(weights, s, 1), clock_(s.alpha(), rho, s.features, s.average), step_factor_(s.step_factors[0]) {}

  void margins(const Row& row, double gamma, double* z) override { look(row, gamma, z); }
  void learn(const Row& row, Slopes slopes) override { move(row, slopes.at); }

  template <class T>
  void look(const RowOf<T>& row, double gamma, double* z) {
    const Rate now = clock_.rate();
    const double c = now.c, s = now.c * now.t_alpha, extra = now.c * now.extra, *sums = &slots_[0];
    const Quad rate = spread_four(-c), all = spread_four(s), more = spread_four(extra);
    *z += with_weights([&](auto weights) GOSSAMER_INLINE {
      return peek_all(
          row,
          [=](const std::int32_t* j) {
            Quad w = rate * gather(sums, j);
            if (extra != 0) w = soft(w, more);
            return soft(w, times_weights(all, weights, j));
          },
          [=, this](std::size_t j) { return weight(sums[j], now, j); });
    });
    clock_.begin(gamma * step_factor_);
  }
  template <class T>
  void move(const RowOf<T>& row, const double* slope) {
    const double g = *slope;
    double* sums = &slots_[0];
    for (std::size_t n = 0; n < row.size(); ++n) sums[row[n]] += static_cast<double>(row.x[n]) * g;
    clock_.end();
  }
  void read(std::size_t j, double* w) const override { *w = weight(slots_[j], clock_.rate(), j); }
  void visit(StateVisitor& f) override { clock_.visit(f), f("sums", slots_, {{any_number}}); }
  double path(std::size_t j, double n) const {
    const double v = -slots_[j];
    return std::copysign(clock_.line(std::fabs(v), weight_of(weights_, j) * clock_.alpha(), n), v);
  }
  bool settles(double gamma) const override { return clock_.settles(gamma * step_factor_); }
  void settle() override { clock_.restart(); }
  void add(Rule& rule) override {
    auto& other = same_kind<RdaL1>(rule);
    clock_.add(other.clock_), add_all(slots_.all(), other.slots_.all());
  }
  void share(double parts, double rounds) override { clock_.share(parts, rounds), divide_all(slots_.all(), parts); }

 private:
  Clock clock_;
  double step_factor_;

  double weight(double sum, const Rate& now, std::size_t j) const {
    const double v = now.extra == 0 ? -now.c * sum : soft(-now.c * sum, now.c * now.extra);
    return soft(v, now.c * now.t_alpha * weight_of(weights_, j));
  }
};

}  // namespace

std::unique_ptr<Rule> Rda::rule(AnyPenalty penalty, const Setup& setup) const {
  return std::make_unique<RdaRule>(std::move(penalty), setup, rho);
}

std::unique_ptr<Rule> Rda::hot(const Weights& weights, const Setup& setup) const {
  return plain_or_averaged(std::make_unique<RdaL1>(weights, setup, rho), setup);
}

}  // namespace gossamer
