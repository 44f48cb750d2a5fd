// Forward-backward splitting and its kin: the state is the weights themselves.
//
//     v = w_t − η_t g_t,   w_{t+1} = prox(v, η_t α)                               (Duchi & Singer, JMLR 2009, Eq. 2-3)
//
// With a set as the penalty it is projected subgradient; with truncation in place of the prox it is truncated gradient
// (Langford et al. 2009). The penalty must be a sum over features (rows of W); it reaches the features that are not in
// an example lazily (Lazy in row_penalty.hpp).
#include "online/buffered.hpp"
#include "online/hot.hpp"
#include "online/trail.hpp"

namespace gossamer {

namespace {

// Any penalty, any number of lanes. A slot: the stamp of the feature, then its weights.
class FobosRule final : public BufferedRule {
 public:
  FobosRule(AnyPenalty penalty, const Setup& s, std::vector<std::unique_ptr<Lazy>> lazy)
      : BufferedRule(std::move(penalty), s, 1 + s.cells()), lazy_(std::move(lazy)) {
    unit_ = m_ == 1 ? alphas_[0] * step_factors_[0] : 1.0;
    if (!starts_at_zero()) restart();
  }
  // Lanes share stamps, so that rounds are counted without their strengths; one lane counts with its own.
  static double strength(const Setup& s, std::size_t i) {
    return s.lanes() == 1 ? 1.0 : s.alphas[i] * s.step_factors[i];
  }

  void margins(const Row& row, double step, double* z) override {
    eta_ = step;
    if (settles(step)) settle();
    load(here_, row.index);
    add_up(row, z);
  }
  void learn(const Row& row, Slopes slopes) override {
    const std::size_t count = slopes.apart == 0 ? 1 : row.size();
    if (steps_.size() < count * cells_) steps_.resize(count * cells_);
    for (std::size_t n = 0; n < count; ++n) {
      for (std::size_t c = 0; c < cells_; ++c) steps_[n * cells_ + c] = eta_ * step_factors_[c / k_] * slopes[n][c];
    }
    by_size([&, now = lazy_[0]->now(), apart = slopes.apart](auto m, auto k) {
      const double *w = here_.w.data(), *step = steps_.data();
      double* slots = slot(0);
      for (std::size_t n = 0; n < row.size(); ++n, w += m * k, step += apart) {
        double *at = slots + row[n] * (1 + m * k), x = row.x[n];
        at[0] = now;
        for (std::size_t c = 0; c < m * k; ++c) at[1 + c] = w[c] - x * step[c];
      }
    });
    for (const auto& lazy : lazy_) lazy->advance(eta_ * unit_);
  }
  void read(std::size_t j, double* w) const override {
    const auto feature = static_cast<std::int32_t>(j);
    load(for_reading(), {&feature, 1});
    std::copy_n(for_reading().w.data(), cells_, w);
  }
  void visit(StateVisitor& f) override {
    for (std::size_t i = 0; i < m_; ++i) {
      Numbered of_lane(f, "_", i);
      lazy_[i]->visit(m_ == 1 ? f : of_lane);
    }
    f("slots", slots_, {{lazy_[0]->stamps()}, {any_number, cells_}});
    f.demand("slots", "the lanes have records of different rounds", [&] {
      return std::all_of(lazy_.begin(), lazy_.end(), [&](const auto& l) { return l->now() == lazy_[0]->now(); });
    });
  }
  bool has_paths() const override { return true; }
  void add_paths(std::span<const std::int32_t> features, const double* away, double* sums) const override {
    for (std::size_t n = 0; n < features.size(); ++n, sums += k_) {
      const double* at = slot(static_cast<std::size_t>(features[n]));
      lazy_[0]->add_path({at + 1, k_}, static_cast<std::size_t>(features[n]), at[0], away[n], sums);
    }
  }
  bool settles(double) const override {
    return std::any_of(lazy_.begin(), lazy_.end(), [](const auto& lazy) { return lazy->full(); });
  }
  void settle() override { restart(); }
  void write(std::size_t j, const double* w) override {
    slot(j)[0] = lazy_[0]->now();
    std::copy_n(w, cells_, slot(j) + 1);
  }
  // Up to date in round 0 of a record that starts now.
  const char* alone(std::size_t j, std::size_t lane, std::vector<double>& numbers) const override {
    std::vector<double> w(cells_);
    read(j, w.data());
    numbers.push_back(0.0);
    numbers.insert(numbers.end(), &w[lane * k_], &w[lane * k_] + k_);
    return "slots";
  }

 private:
  std::vector<std::unique_ptr<Lazy>> lazy_;  // of each lane
  double eta_ = 0, unit_;
  std::vector<double> steps_;  // η · step factor · slopes of this round

  // The weights of some features, up to date, into the buffer.
  void load(Buffer& b, std::span<const std::int32_t> features) const {
    make_room(b, features.size());
    by_size([&](auto m, auto k) {
      const double* slots = slot(0);
      double *w = b.w.data(), *stamps = b.per.data();
      for (std::size_t n = 0; n < features.size(); ++n, w += m * k) {
        const double* at = slots + static_cast<std::size_t>(features[n]) * (1 + m * k);
        stamps[n] = at[0];
        for (std::size_t c = 0; c < m * k; ++c) w[c] = at[1 + c];
      }
    });
    for (std::size_t i = 0; i < m_; ++i) lazy_[i]->catch_up(lane(b, features, i), b.per.data());
  }
  // Brings every feature up to date and starts the records anew.
  void restart() {
    for (std::size_t j = 0; j < features_; ++j) read(j, slot(j) + 1), slot(j)[0] = 0;
    for (const auto& lazy : lazy_) lazy->restart();
  }
};

// ℓ1 for one output, in one number per feature: every round takes as much off a weight as off any other, so that one
// that was w when Λ = Σ s was Λ' is soft(v, Λ) ever after, where v = w ± Λ' is the level of Λ that makes it zero.
// (FOBOS takes 1.2 to 1.3 times as long with stamps.)
class LevelRule final : public Looped<LevelRule, HotRule> {
 public:
  LevelRule(const Weights& weights, const Setup& s)
      : Looped(weights, s, 1),
        limit_(longest_record(s.features)),
        traced_(s.average),
        alpha_(s.alpha() * s.step_factors[0]) {}

  void margins(const Row& row, double step, double* z) override { look(row, step, z); }
  void learn(const Row& row, Slopes slopes) override { move(row, slopes.at); }

  template <class T>
  void look(const RowOf<T>& row, double step, double* z) {
    if (settles(step)) settle();
    eta_ = step;
    const double total = total_, *levels = &slots_[0];
    const Quad all = spread_four(total);
    *z += with_weights([&](auto weights) GOSSAMER_INLINE {
      return peek_all(
          row, [=](const std::int32_t* j) { return soft(gather(levels, j), times_weights(all, weights, j)); },
          [=, this](std::size_t j) { return soft(levels[j], total * weight_of(weights_, j)); });
    });
  }
  template <class T>
  void move(const RowOf<T>& row, const double* slope) {
    const double total = total_, by = eta_ * *slope;
    double* levels = &slots_[0];
    const Quad all = spread_four(total), step = spread_four(by);
    with_weights([&](auto weights) GOSSAMER_INLINE {
      move_all(
          row,
          [=](const std::int32_t* j, Quad w, Quad x) {
            const Quad v = w - x * step, level = v + signed_like(v, times_weights(all, weights, j));
            for (int n = 0; n < 4; ++n) levels[j[n]] = level[n];
          },
          [=, this](std::size_t j, double w, double x) {
            const double v = w - x * by;
            levels[j] = v + std::copysign(total * weight_of(weights_, j), v);
          });
    });
    total_ += eta_ * alpha_;
    if (traced_) trail_.push(total_);
  }
  void read(std::size_t j, double* w) const override { *w = soft(slots_[j], total_ * weight_of(weights_, j)); }
  void visit(StateVisitor& f) override {
    f("levels", slots_, {{any_number}}), total_.visit(f, "lazy_total", "lazy_rest");
    if (traced_) trail_.visit(f, total_);
  }
  double path(std::size_t j, double n) const {
    const double v = slots_[j];
    return std::copysign(trail_.line(std::fabs(v), weight_of(weights_, j), 0.0, n), v);
  }
  bool settles(double) const override { return traced_ && trail_.rounds() >= limit_; }
  void settle() override {
    for (std::size_t j = 0; j < features_; ++j) read(j, &slots_[j]);
    total_.clear();
    trail_.restart();
  }

 private:
  std::size_t limit_;
  bool traced_;  // whether paths are asked for
  double alpha_, eta_ = 0;
  Total total_;  // Λ
  Trail trail_;  // of total_, if traced
};

}  // namespace

std::unique_ptr<Rule> Fobos::rule(AnyPenalty penalty, const Setup& setup) const {
  std::vector<std::unique_ptr<Lazy>> lazy;
  for (std::size_t i = 0; i < setup.lanes(); ++i) {
    lazy.push_back(penalty->rounds(FobosRule::strength(setup, i), setup.features, setup.average));
  }
  return std::make_unique<FobosRule>(std::move(penalty), setup, std::move(lazy));
}

std::unique_ptr<Rule> Fobos::hot(const Weights& weights, const Setup& setup) const {
  return plain_or_averaged(std::make_unique<LevelRule>(weights, setup), setup);
}

std::unique_ptr<Rule> TruncatedGradient::rule(AnyPenalty l1, const Setup& setup) const {
  std::vector<std::unique_ptr<Lazy>> lazy;
  lazy.push_back(
      make_truncation(static_cast<std::size_t>(period), threshold, l1->weights(), setup.features, setup.average));
  return std::make_unique<FobosRule>(std::move(l1), setup, std::move(lazy));
}

}  // namespace gossamer
