// The exact average of the iterates, w̄_T = (1/T) Σ_{t=1..T} w_{t+1}: the weights as they stand after each round.
//
// Between two touches a feature follows a curve that is known beforehand, so it is enough to add up that piece of its
// path when it is next touched (Rule::add_paths). A rule that knows no paths is averaged by adding up all weights in
// every round: exact as well, but O(d) a round.
#pragma once

#include <memory>
#include <numeric>
#include <vector>

#include "online/loop.hpp"

namespace gossamer {

class Average {
 public:
  virtual ~Average() = default;
  // The average weights of feature j; before the first round, the weights.
  virtual void read_average(std::size_t j, double* w) const = 0;
};

template <class R>
class Averaged final : public Looped<Averaged<R>, Rule>, public Average {
 public:
  static constexpr bool single = requires { requires R::single; };

  Averaged(std::unique_ptr<R> rule, const Setup& setup)
      : rule_(std::move(rule)),
        features_(setup.features),
        k_(setup.outputs),
        lazy_(rule_->has_paths()),
        slots_(features_ * (k_ + 1)) {}

  void margins(const Row& row, double step, double* z) override {
    if (lazy_) {
      if (rounds_ > 0 && rule_->settles(step)) add_all();
      add(row.index);
    }
    rule_->margins(row, step, z);
  }
  void learn(const Row& row, Slopes slopes) override {
    rule_->learn(row, slopes);
    rounds_ += 1;
    if (lazy_) return;
    sums_.resize(k_);
    for (std::size_t j = 0; j < features_; ++j) {
      rule_->read(j, sums_.data());
      for (std::size_t r = 0; r < k_; ++r) slot(j)[1 + r] += sums_[r];
    }
  }
  void take_back() override { rule_->take_back(); }
  void seen(const Row& row, std::size_t cells, double* w) const override { rule_->seen(row, cells, w); }
  void read(std::size_t j, double* w) const override { rule_->read(j, w); }
  void read_average(std::size_t j, double* w) const override {
    if (rounds_ == 0) return rule_->read(j, w);
    const double* s = &slots_[j * (k_ + 1)];
    std::copy_n(s + 1, k_, w);
    const auto feature = static_cast<std::int32_t>(j);
    const double away = rounds_ - s[0];
    if constexpr (single) {
      *w += rule_->path(j, away);
    } else if (lazy_) {
      rule_->add_paths({&feature, 1}, &away, w);
    }
    for (std::size_t r = 0; r < k_; ++r) w[r] /= rounds_;
  }
  void visit(StateVisitor& f) override {
    rule_->visit(f);
    f("average_rounds", rounds_, now), f("average_slots", slots_, {{a_round}, {any_number, k_}});
  }
  void prefetch(std::span<const std::int32_t> features) const override {
    rule_->prefetch(features);
    for (const std::int32_t j : features) __builtin_prefetch(&slots_[static_cast<std::size_t>(j) * (k_ + 1)], 1);
  }
  void settle() override {
    if (lazy_) add_all();
    rule_->settle();
  }
  void write(std::size_t j, const double* w) override { rule_->write(j, w); }
  void assign(std::size_t j, std::size_t g) override { rule_->assign(j, g); }

 private:
  std::unique_ptr<R> rule_;
  std::size_t features_, k_;
  bool lazy_;
  double rounds_ = 0;
  Slots slots_;  // per feature: the round of its last touch, then the sum of its weights
  std::vector<double> away_, sums_;

  double* slot(std::size_t j) { return &slots_[j * (k_ + 1)]; }
  // Adds up the paths of some features until now.
  void add(std::span<const std::int32_t> features) {
    if constexpr (single) {  // in one go: averages of RDA take nine tenths of the time
      for (const std::int32_t j : features) {
        double* s = slot(static_cast<std::size_t>(j));
        s[1] += rule_->path(static_cast<std::size_t>(j), rounds_ - s[0]), s[0] = rounds_;
      }
      return;
    }
    const std::size_t n = features.size();
    if (away_.size() < n) away_.resize(2 * n), sums_.resize(2 * n * k_);
    std::fill_n(sums_.begin(), n * k_, 0.0);
    for (std::size_t i = 0; i < n; ++i) away_[i] = rounds_ - *slot(static_cast<std::size_t>(features[i]));
    rule_->add_paths(features, away_.data(), sums_.data());
    for (std::size_t i = 0; i < n; ++i) {
      double* s = slot(static_cast<std::size_t>(features[i]));
      s[0] = rounds_;
      for (std::size_t r = 0; r < k_; ++r) s[1 + r] += sums_[i * k_ + r];
    }
  }
  void add_all() {
    std::vector<std::int32_t> all(std::min<std::size_t>(features_, 1 << 12));
    for (std::size_t first = 0; first < features_; first += all.size()) {
      const std::size_t n = std::min(all.size(), features_ - first);
      std::iota(all.begin(), all.end(), static_cast<std::int32_t>(first));
      add({all.data(), n});
    }
  }
};

}  // namespace gossamer
