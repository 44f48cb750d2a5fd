// Lanes of forward-backward splitting and of AdaGrad's primal form (see fobos.hpp for the rules of one setting).
#pragma once

#include "online/lazy.hpp"
#include "path/lanes.hpp"

namespace gossamer {

// Whether T rounds of the prox equal one with the sum (FOBOS, Proposition 11).
template <class P>
constexpr bool adds_up =
    std::is_same_v<P, L1> || std::is_same_v<P, NonNegativeL1> || std::is_same_v<P, L2> || std::is_same_v<P, LInf>;

// How the features of all lanes catch up where T rounds equal one with the sum: the sum of η, times α and pace.
template <std::size_t K, class P>
class AddedLanes : public LaneRule<K, P> {
 public:
  using Base = LaneRule<K, P>;
  static constexpr bool levels = K == 1;  // what the rule with one setting keeps (LevelRule)
  AddedLanes(P p, std::size_t features, std::size_t outputs, const LaneSettings& s, std::vector<double> weights)
      : Base(p, features, outputs, s, std::move(weights), 1, outputs), strengths_(s.alphas) {
    for (std::size_t i = 0; i < s.count(); ++i) strengths_[i] *= s.paces[i];
  }

 protected:
  void start() {}
  void advance(double eta) { total_ += eta; }
  double now() const { return total_; }
  template <class From, class To>
  void caught_up(std::size_t j, double stamp, From from, To to) const {
    const double since = total_ - stamp;
    const double* strength = strengths_.data();
    this->prox_lanes(from, [=](std::size_t i) { return since * strength[i]; }, weight_of(this->weights_, j), to);
  }
  template <class F>
  void visit_rounds(F f) {
    f("lazy_total", total_);
  }

 private:
  std::vector<double> strengths_;
  Shared total_;
};

// The same where each lane keeps records of its own (lazy.hpp). They are full at the same time: when the first is.
template <std::size_t K, class P, class Lazy>
class RecordedLanes : public LaneRule<K, P> {
 public:
  using Base = LaneRule<K, P>;
  static constexpr bool levels = false;
  RecordedLanes(P p, std::size_t features, std::size_t outputs, const LaneSettings& s, std::vector<double> weights)
      : Base(p, features, outputs, s, std::move(weights), 1, outputs), features_(features) {
    lazy_.reserve(s.count());
    for (std::size_t i = 0; i < s.count(); ++i) lazy_.emplace_back(p, std::size_t{1});  // the shortest record
  }

 protected:
  void start() {
    if (std::none_of(lazy_.begin(), lazy_.end(), [](const Lazy& lazy) { return lazy.full(); })) return;
    for (std::size_t j = 0; j < features_; ++j) {
      double* w = this->numbers(j);
      caught_up(
          j, *this->head(j), [=](std::size_t, std::size_t c) { return w[c]; },
          [=](std::size_t c, double now) { w[c] = now; });
      *this->head(j) = 0;
    }
    for (Lazy& lazy : lazy_) lazy.restart();
  }
  void advance(double eta) {
    for (std::size_t i = 0; i < lazy_.size(); ++i) lazy_[i].advance(eta * this->paces_[i] * this->alphas_[i]);
  }
  double now() const { return lazy_[0].now(); }
  template <class From, class To>
  void caught_up(std::size_t j, double stamp, From from, To to) const {
    const std::size_t k = this->k_();
    for (std::size_t i = 0; i < lazy_.size(); ++i) {
      for (std::size_t r = 0; r < k; ++r) this->row_[r] = from(i, i * k + r);
      lazy_[i].catch_up(this->row_, stamp, weight_of(this->weights_, j));
      for (std::size_t r = 0; r < k; ++r) to(i * k + r, this->row_[r]);
    }
  }
  template <class F>
  void visit_rounds(F f) {
    for (std::size_t i = 0; i < lazy_.size(); ++i) {
      lazy_[i].visit([&](const char* name, std::vector<double>& values) {
        f((std::string(name) + "_" + std::to_string(i)).c_str(), values);
      });
    }
  }

 private:
  std::size_t features_;
  std::vector<Lazy> lazy_;
};

template <class Rounds>
class FobosLanes : public Rounds {
 public:
  static constexpr const char* slots_name = Rounds::levels ? "levels" : "slots";

  FobosLanes(auto p, std::size_t features, std::size_t outputs, const LaneSettings& s, std::vector<double> weights)
      : Rounds(p, features, outputs, s, std::move(weights)), steps_(outputs * s.count()) {}

  void begin(double eta, std::size_t) {
    eta_ = eta;
    this->start();
  }
  void accumulate(std::size_t j, double x, std::size_t, double* z) {
    double* w = this->numbers(j);
    this->caught_up(
        j, *this->head(j), [=](std::size_t, std::size_t c) { return w[c]; },
        [=](std::size_t c, double now) {
          w[c] = now;
          z[c] += x * now;
        });
    *this->head(j) = this->now();
  }
  void receive(const double* slope) {
    this->each_cell([&](std::size_t i, std::size_t c) { steps_[c] = eta_ * this->paces_[i] * slope[c]; });
  }
  void update(std::size_t j, double x, std::size_t) {
    double* w = this->numbers(j);
    const double* step = steps_.data();
    side_by_side(this->cells(), [=](std::size_t c) { w[c] -= x * step[c]; });
  }
  void end() { this->advance(eta_); }
  void read(std::size_t j, double* out) const {
    const double* w = this->numbers(j);
    this->caught_up(
        j, *this->head(j), [=](std::size_t, std::size_t c) { return w[c]; },
        [=](std::size_t c, double now) { out[c] = now; });
  }
  // Up to date in round 0 of a record that starts now.
  void alone(std::size_t j, std::size_t lane, std::vector<double>& numbers) const {
    std::vector<double> w(this->cells());
    read(j, w.data());
    if (!Rounds::levels) numbers.push_back(0.0);
    numbers.insert(numbers.end(), &w[lane * this->k_()], &w[lane * this->k_()] + this->k_());
  }
  template <class F>
  void visit(F f) {
    this->visit_features(f), this->visit_rounds(f);
  }

 private:
  Shared eta_;
  std::vector<double> steps_;  // η · pace · slope of this round
};

// A feature: at its head the round it is up to date with and the largest |x| so far; of each lane s, then its step,
// then its weights.
template <std::size_t K, class P>
class AdaptiveLanes : public LaneRule<K, P> {
 public:
  using Base = LaneRule<K, P>;
  AdaptiveLanes(P p, std::size_t features, std::size_t outputs, const LaneSettings& s, std::vector<double> weights)
      : Base(p, features, outputs, s, std::move(weights), 2, outputs + 2) {}

  void begin(double eta, std::size_t) { eta_ = eta; }
  void accumulate(std::size_t j, double x, std::size_t, double* z) {
    double *head = this->head(j), *w = weights(this->numbers(j));
    if (const double size = std::fabs(x); size > head[1]) rescale(j, size);
    caught_up(j, [=](std::size_t c, double now) {
      w[c] = now;
      z[c] += x * now;
    });
    head[0] = rounds_;
  }
  void receive(const double* slope) { slope_ = slope; }
  void update(std::size_t j, double x, std::size_t) {
    double* slot = this->numbers(j);
    double *s = squares(slot), *step = steps(slot), *w = weights(slot);
    const double *pace = this->paces_.data(), *slope = slope_, eta = eta_, largest = this->head(j)[1];
    this->squared_gradients(x, slope, [=](std::size_t i, double gradient) {
      s[i] += gradient;
      step[i] = eta * pace[i] / safe(largest * std::sqrt(s[i]));
    });
    this->each_cell([=](std::size_t i, std::size_t c) { w[c] -= step[i] * x * slope[c]; });
  }
  void end() { rounds_ += 1; }
  void read(std::size_t j, double* out) const {
    caught_up(j, [=](std::size_t c, double w) { out[c] = w; });
  }
  void alone(std::size_t j, std::size_t lane, std::vector<double>& numbers) const {
    const double *slot = this->numbers(j), *head = this->head(j);
    const double s = squares(slot)[lane], *w = weights(slot) + lane * this->k_();
    numbers.insert(numbers.end(), {head[0], s, head[1], s > 0 ? steps(slot)[lane] : 0.0});
    numbers.insert(numbers.end(), w, w + this->k_());
  }
  template <class F>
  void visit(F f) {
    f("rounds", rounds_), this->visit_features(f);
  }

 private:
  Shared eta_, rounds_;
  const double* slope_ = nullptr;

  template <class D>
  D* squares(D* slot) const {
    return slot;
  }
  template <class D>
  D* steps(D* slot) const {
    return slot + this->m_;
  }
  template <class D>
  D* weights(D* slot) const {
    return slot + 2 * this->m_;
  }
  template <class To>
  void caught_up(std::size_t j, To to) const {
    const double* slot = this->numbers(j);
    const double missed = rounds_ - this->head(j)[0], weight = weight_of(this->weights_, j);
    const double *step = steps(slot), *w = weights(slot), *alpha = this->alphas_.data();
    if constexpr (adds_up<P>) {
      this->prox_lanes([=](std::size_t, std::size_t c) { return w[c]; },
                       [=](std::size_t i) { return missed * (alpha[i] * step[i]); }, weight, to);
    } else {
      const std::size_t k = this->k_();
      for (std::size_t i = 0; i < this->m_; ++i) {
        std::copy_n(w + i * k, k, this->row_.begin());
        if (missed > 0 && !all_zero(this->row_)) {
          repeat_prox(this->p_, std::span(this->row_), missed, alpha[i] * step[i], weight, this->scratch_);
        }
        for (std::size_t r = 0; r < k; ++r) to(i * k + r, this->row_[r]);
      }
    }
  }
  // A larger value than ever, after what was missed: the weights shrink to what they would be had it been known.
  void rescale(std::size_t j, double size) {
    double *head = this->head(j), *slot = this->numbers(j), *w = weights(slot);
    caught_up(j, [=](std::size_t c, double now) { w[c] = now; });
    head[0] = rounds_;
    const double ratio = head[1] / size;
    head[1] = size;
    for (std::size_t i = 0; i < this->m_; ++i) steps(slot)[i] *= ratio;
    for (std::size_t c = 0; c < this->cells(); ++c) w[c] *= ratio;
  }
};

}  // namespace gossamer
