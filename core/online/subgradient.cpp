// Subgradient descent, the baseline that never reaches zero:
//
//     w_{t+1} = w_t − η_t (g_t + α ξ_t),   ξ_t ∈ ∂Ω(w_t).
//
// A feature that was away repeats its missed rounds one by one when it is next needed: there is no shorter way, because
// near zero the weight jumps from side to side. The average of the weights is followed in the same way.
#include "online/buffered.hpp"
#include "online/trail.hpp"

namespace gossamer {

namespace {

// A slot: the rounds that the feature has seen, its weights.
class SubgradientRule final : public BufferedRule {
 public:
  SubgradientRule(AnyPenalty penalty, const Setup& s)
      : BufferedRule(std::move(penalty), s, 1 + s.outputs), alpha_(s.alpha()) {
    if (penalty_->facts().constrains) throw std::invalid_argument("a constraint has no useful subgradient");
  }

  void margins(const Row& row, double step, double* z) override {
    eta_ = step;
    if (settles(step)) settle();
    load(here_, row.index);
    add_up(row, z);
    penalty_->descend(rows(here_, row.index), eta_ * alpha_);  // the subgradient of this round, at w_t
  }
  void learn(const Row& row, Slopes slopes) override {
    for (std::size_t n = 0; n < row.size(); ++n) {
      double* at = slot(row[n]);
      at[0] = static_cast<double>(steps_.size()) + 1;
      for (std::size_t r = 0; r < k_; ++r) at[1 + r] = here_.w[n * k_ + r] - eta_ * row.x[n] * slopes[n][r];
    }
    steps_.push_back(eta_ * alpha_);
  }
  // (The buffer has the subgradient step of this round already.)
  void seen(const Row& row, std::size_t cells, double* w) const override { Rule::seen(row, cells, w); }
  void read(std::size_t j, double* w) const override {
    const auto feature = static_cast<std::int32_t>(j);
    load(for_reading(), {&feature, 1});
    std::copy_n(for_reading().w.data(), k_, w);
  }
  void visit(StateVisitor& f) override {
    f.growing("steps", steps_, {{at_least_zero}});
    f("slots", slots_, {{whole_up_to(static_cast<double>(steps_.size()))}, {any_number, k_}});
  }
  bool has_paths() const override { return true; }
  void add_paths(std::span<const std::int32_t> features, const double* away, double* sums) const override {
    for (std::size_t n = 0; n < features.size(); ++n, sums += k_) {
      const double* at = slot(static_cast<std::size_t>(features[n]));
      const auto seen = static_cast<std::size_t>(at[0]);
      std::size_t t = steps_.size() - std::min(static_cast<std::size_t>(away[n]), steps_.size());
      add_steps({at + 1, k_}, static_cast<double>(steps_.size() - t), sums, [&](std::span<double> w) {
        if (t >= seen) penalty_->descend({w.data(), 1, k_, k_, &features[n]}, steps_[t]);
        ++t;
      });
    }
  }
  bool settles(double) const override { return steps_.size() >= longest_record(features_); }
  void settle() override {
    for (std::size_t j = 0; j < features_; ++j) read(j, slot(j) + 1), slot(j)[0] = 0;
    steps_.clear();
  }

 private:
  double alpha_, eta_ = 0;
  std::vector<double> steps_;  // ηα of each recorded round

  void load(Buffer& b, std::span<const std::int32_t> features) const {
    make_room(b, features.size());
    for (std::size_t n = 0; n < features.size(); ++n) {
      const double* at = slot(static_cast<std::size_t>(features[n]));
      const std::span<double> w(&b.w[n * k_], k_);
      std::copy_n(at + 1, k_, w.begin());
      for (auto t = static_cast<std::size_t>(at[0]); t < steps_.size() && !all_zero(w); ++t) {
        penalty_->descend({w.data(), 1, k_, k_, &features[n]}, steps_[t]);
      }
    }
  }
};

}  // namespace

std::unique_ptr<Rule> Subgradient::rule(AnyPenalty penalty, const Setup& setup) const {
  return std::make_unique<SubgradientRule>(std::move(penalty), setup);
}

}  // namespace gossamer
