// Lanes of forward-backward splitting and of AdaGrad's primal form (online/fobos.cpp, online/adaptive.cpp).
#include "online/trail.hpp"
#include "path/lane_rule.hpp"

namespace gossamer {

namespace {

// T rounds equal one with the sum: the sum of η, times α and step factor. At the head of a feature the sum it is up to
// date with; of each lane its weight.
class FobosLanes final : public Looped<FobosLanes, LaneRule> {
 public:
  FobosLanes(const Weights& weights, const Setup& s) : Looped(weights, s, 1, 1), strengths_(s.alphas), steps_(m_) {
    for (std::size_t i = 0; i < m_; ++i) strengths_[i] *= s.step_factors[i];
  }

  void margins(const Row& row, double step, double* z) override {
    eta_ = step;
    each(row, true, [&, total = static_cast<double>(total_)](std::size_t j, double x, std::size_t) {
      double *w = numbers(j), since = (total - *head(j)) * weight(j);
      const double* strength = strengths_.data();
      side_by_side(m_, [=](std::size_t i) {
        w[i] = soft(w[i], since * strength[i]);
        z[i] += x * w[i];
      });
      *head(j) = total;
    });
  }
  void learn(const Row& row, Slopes slopes) override {
    const double* slope = slopes.at;
    for (std::size_t i = 0; i < m_; ++i) steps_[i] = eta_ * step_factors_[i] * slope[i];
    each(row, false, [&](std::size_t j, double x, std::size_t) {
      double* w = numbers(j);
      const double* step = steps_.data();
      side_by_side(m_, [=](std::size_t i) { w[i] -= x * step[i]; });
    });
    total_ += eta_;
  }
  void visit(StateVisitor& f) override {
    total_.visit(f, "lazy_total", "lazy_rest"), visit_features(f, {{total_.stamps()}}, {{any_number}});
  }
  // The level of a weight that is up to date when Σ s is 0: the weight.
  const char* alone(std::size_t j, std::size_t lane, std::vector<double>& numbers) const override {
    std::vector<double> w(m_);
    weights_of(j, w.data());
    numbers.push_back(w[lane]);
    return "levels";
  }

 private:
  std::vector<double> strengths_, steps_;  // α · step factor; η · step factor · slope of this round
  double eta_ = 0;
  Total total_;  // Σ η

  void weights_of(std::size_t j, double* out) const override {
    const double *w = numbers(j), since = (total_ - *head(j)) * weight(j);
    for (std::size_t i = 0; i < m_; ++i) out[i] = soft(w[i], since * strengths_[i]);
  }
};

// At the head of a feature the round it is up to date with and the largest |x| so far; of all lanes s, then their
// steps, then their weights.
class AdaptiveLanes final : public Looped<AdaptiveLanes, LaneRule> {
 public:
  AdaptiveLanes(const Weights& weights, const Setup& s) : Looped(weights, s, 2, 3) {}

  void margins(const Row& row, double step, double* z) override {
    eta_ = step;
    each(row, true, [&](std::size_t j, double x, std::size_t) {
      double *at = head(j), *w = numbers(j) + 2 * m_;
      catch_up(j, w);
      at[0] = rounds_;
      if (const double size = std::fabs(x); size > at[1]) rescale(j, size);
      side_by_side(m_, [=](std::size_t i) { z[i] += x * w[i]; });
    });
  }
  void learn(const Row& row, Slopes slopes) override {
    const double* slope = slopes.at;
    each(row, false, [&](std::size_t j, double x, std::size_t) {
      double *s = numbers(j), *step = s + m_, *w = s + 2 * m_;
      const double *factor = step_factors_.data(), eta = eta_, largest = head(j)[1];
      side_by_side(m_, [=](std::size_t i) {
        s[i] += (x * slope[i]) * (x * slope[i]);
        step[i] = eta * factor[i] / safe(largest * std::sqrt(s[i]));
        w[i] -= step[i] * x * slope[i];
      });
    });
    rounds_ += 1;
  }
  void visit(StateVisitor& f) override {
    f("rounds", rounds_, now);
    visit_features(f, {{a_round}, {at_least_zero}}, {{at_least_zero, 2 * m_}, {any_number, m_}});
  }
  const char* alone(std::size_t j, std::size_t lane, std::vector<double>& out) const override {
    const double *slot = numbers(j), *at = head(j), s = slot[lane];
    out.insert(out.end(), {at[0], s, at[1], s > 0 ? slot[m_ + lane] : 0.0, slot[2 * m_ + lane]});
    return "slots";
  }

 private:
  double eta_ = 0, rounds_ = 0;

  [[gnu::always_inline]] void catch_up(std::size_t j, double* to) const {
    const double missed = rounds_ - head(j)[0], a = weight(j);
    const double *step = numbers(j) + m_, *w = numbers(j) + 2 * m_, *alpha = alphas_.data();
    side_by_side(m_, [=](std::size_t i) { to[i] = soft(w[i], missed * (alpha[i] * step[i]) * a); });
  }
  void weights_of(std::size_t j, double* out) const override { catch_up(j, out); }
  // A larger value than ever: the weights shrink to what they would be had it been known from the start.
  void rescale(std::size_t j, double size) {
    double *step = numbers(j) + m_, *w = numbers(j) + 2 * m_, ratio = head(j)[1] / size;
    head(j)[1] = size;
    for (std::size_t i = 0; i < m_; ++i) step[i] *= ratio, w[i] *= ratio;
  }
};

}  // namespace

std::unique_ptr<Rule> Fobos::hot_lanes(const Weights& weights, const Setup& setup) const {
  return std::make_unique<FobosLanes>(weights, setup);
}

std::unique_ptr<Rule> AdaGradPrimal::hot_lanes(const Weights& weights, const Setup& setup) const {
  return std::make_unique<AdaptiveLanes>(weights, setup);
}

}  // namespace gossamer
