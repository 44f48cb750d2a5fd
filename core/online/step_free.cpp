// The rule without a step for the ℓ1 norm with one output: the numbers of a feature are {q, n, S, Z}, eight features at
// a time. (step_free.hpp has the formulas.)
#include "online/step_free.hpp"

#include "online/eights.hpp"
#include "online/hot.hpp"
#include "online/merging.hpp"
#include "online/step_free_merging.hpp"

namespace gossamer {

namespace {

class StepFreeL1 final : public Looped<StepFreeL1, Rule> {
 public:
  static constexpr bool single = true, step_free = true;

  StepFreeL1(const Weights& weights, const Setup& s, const StepFreeSettings& settings)
      : gauge_(s, settings, false, true),
        features_(s.features),
        slots_(4 * (s.features + 1)),  // the last one is spare
        means_(s.centred),
        weights_(weights.begin(), weights.end()) {
    if (!weights_.empty()) weights_.push_back(0);
  }

  Gauge& gauge() { return gauge_; }
  const double* sums() const { return sums_; }
  const double* sizes() const { return &size_; }

  template <class T>
  [[gnu::always_inline]] void look(const RowOf<T>& row, double*, bool with_sizes) {
    with_sizes ? look_at<true>(row) : look_at<false>(row);
  }
  template <class T>
  [[gnu::always_inline]] double move(const RowOf<T>& row, const double* slope) {
    Oct squares = {};
    const Now now = here(*slope);
    each_centred_eight(row, means_, spare(),
                       [&](const std::int32_t* j, Oct x, OctBits there, std::size_t n)
                           GOSSAMER_INLINE { move_eight<true>(j, x, there, load_eight(&kept_[n]), now, squares); });
    each_eight(row, means_.size(), spare(),
               [&](const std::int32_t* j, Oct x, OctBits there, std::size_t n)
                   GOSSAMER_INLINE { move_eight<false>(j, x, there, load_eight(&kept_[n]), now, squares); });
    update_means(means_, row, gauge_.rounds());
    return total(squares);
  }

  void margins(const Row&, double, double*) override { throw std::logic_error("the loop looks and moves"); }
  void learn(const Row&, Slopes) override { throw std::logic_error("the loop looks and moves"); }
  void take_back() override { gauge_.take_back(); }
  double strength_unit() const override { return gauge_.strength_unit(); }
  bool judged_apart() const override { return gauge_.corrects(); }
  bool has_intercepts() const override { return true; }
  void read(std::size_t j, double* w) const override {
    const float* at = &slots_[4 * j];
    const float d = std::max(std::sqrt(at[2] + gauge_.prior(0)), least_divisor);
    const double level = gauge_.level(0) * (weights_.empty() ? 1.0f : weights_[j]);
    const double excess = soft<double>(at[3], gauge_.noise() * d + level);
    *w = std::fabs(excess) > gauge_.cut() && at[0] > 0
             ? -gauge_.factor(0, at[1]) * excess / (static_cast<double>(d) * at[0])
             : 0.0;
  }
  void read_intercepts(double* b) const override {
    *b = gauge_.intercept(0);
    double w = 0;
    for (std::size_t j = 0; j < means_.size(); ++j) read(j, &w), *b -= w * means_[j];
  }
  void visit(StateVisitor& f) override {
    gauge_.visit(f);
    f("means", std::span(means_), Per::learner, {{a_float}});
    f.floats("slots", slots_.all().first(4 * features_), {{float_from_zero, 3}, {a_float}});
  }
  void add(Rule& rule) override {
    auto& other = same_kind<StepFreeL1>(rule);
    const double rounds = gauge_.rounds(), others = other.gauge_.rounds();
    Gauge::Factors own, its;
    gauge_.add(other.gauge_, own, its);
    for (std::size_t j = 0; j < features_; ++j) {
      float *at = &slots_[4 * j], *from = &other.slots_[4 * j];
      const MergedUnits units(at, from, j < means_.size() ? means_[j] - other.means_[j] : 0.0);
      units.add(at + 2, from + 2, at + 3, from + 3, 1, 0, own, its, gauge_.prior(0));
      at[0] = static_cast<float>(units.q), at[1] = static_cast<float>(units.n);
    }
    merge_means(means_, other.means_, rounds, others);
  }
  void share(double parts, double rounds) override {
    gauge_.share(parts, rounds);
    const float by = static_cast<float>(1 / parts);
    for (std::size_t j = 0; j < features_; ++j) {
      float* at = &slots_[4 * j];
      at[1] *= by, at[2] = MergedUnits::shared(at[2], gauge_.prior(0), parts), at[3] *= by;
    }
  }
  void prefetch(std::span<const std::int32_t> features) const override {
    for (const std::int32_t j : features) __builtin_prefetch(&slots_[static_cast<std::size_t>(j) * 4], 1);
  }

 private:
  Gauge gauge_;
  std::size_t features_;
  Zeros<float> slots_;
  std::vector<double> means_;
  std::vector<float> weights_;
  double sums_[Gauge::bins + 1] = {}, size_ = 0;
  std::vector<float> kept_;  // x̃ of the example, as it was known before

  struct Now {
    Oct slope, prior, noise, level, cut;
    float dither;
  };
  Now here(double slope) const {
    const auto all = [](double x) { return spread_eight(static_cast<float>(x)); };
    return {all(slope),           all(gauge_.prior(0)), all(gauge_.noise()),
            all(gauge_.level(0)), all(gauge_.cut()),    gauge_.dither()};
  }
  // Σ −û x̃ of all features; of those that are not cut, and that at least 4, 32, 256 examples had; and Σ x̃²/D.
  struct Sums {
    Oct all = {}, kept = {}, some = {}, more = {}, most = {}, sizes = {};
  };
  std::int32_t spare() const { return static_cast<std::int32_t>(features_); }
  [[gnu::always_inline]] Oct level(Oct level, const std::int32_t* j) const {
    if (weights_.empty()) return level;
    Oct own;
    for (int n = 0; n < 8; ++n) own[n] = weights_[static_cast<std::size_t>(j[n])];
    return level * own;
  }

  template <bool with_sizes, class T>
  [[gnu::always_inline]] void look_at(const RowOf<T>& row) {
    if (kept_.size() < row.size() + 8) kept_.resize(2 * row.size() + 8);
    const Now now = here(0.0);
    Sums sums;
    const auto look = [&](const std::int32_t* j, Oct x, OctBits there, std::size_t n)
                          GOSSAMER_INLINE { look_eight<with_sizes>(j, x, there, &kept_[n], now, sums); };
    each_centred_eight(row, means_, spare(), look);
    each_eight(row, means_.size(), spare(), look);
    const double kept = total(sums.kept), some = total(sums.some), more = total(sums.more);
    sums_[4] = total(sums.all), sums_[3] = total(sums.most);
    sums_[2] = more - sums_[3], sums_[1] = some - more, sums_[0] = kept - some;
    if (with_sizes) size_ = total(sums.sizes);
  }
  template <bool with_sizes>
  [[gnu::always_inline]] void look_eight(const std::int32_t* j, Oct given, OctBits there, float* kept, const Now& now,
                                         Sums& sums) const {
    const Records at = load_records(&slots_[0], j);
    const Oct d = larger(root(at.c + now.prior), spread_eight(least_divisor));
    const Oct excess = soft(at.d, now.noise * d + level(now.level, j));
    const Oct x = Units{at.a, at.b}.before(given), by = x / d, f = by * excess;
    store_eight(kept, pick(there, x, load_eight(kept)));  // what is not there had its turn
    sums.all += f;
    const Oct uncut = select(absolute(excess) > now.cut, f);
    sums.kept += uncut;
    sums.some += select(at.b >= Gauge::bin_ends[0], uncut);
    sums.more += select(at.b >= Gauge::bin_ends[1], uncut);
    sums.most += select(at.b >= Gauge::bin_ends[2], uncut);
    if (with_sizes) sums.sizes += x * by;
  }
  template <bool centred>
  [[gnu::always_inline]] void move_eight(const std::int32_t* j, Oct given, OctBits there, Oct before, const Now& now,
                                         Oct& squares) {
    Records at = load_records(&slots_[0], j);
    Units units{at.a, at.b};
    const Oct x = units.after<centred>(given, there, select(there, before), now.dither), v = now.slope * x;
    at.a = units.q, at.b = units.n;
    squares += x * x;
    const Oct old = at.c;
    at.c = grown(old, v * v, now.dither);
    const Oct least = spread_eight(least_divisor), d = larger(root(old + now.prior), least);
    const Oct gained = larger(root(at.c + now.prior), least) - d;
    at.d += gained * soft(at.d, now.noise * d + level(now.level, j)) / d + v;
    store_records(&slots_[0], j, at);
  }
};

}  // namespace

std::unique_ptr<Rule> StepFree::hot(const Weights& weights, const Setup& setup) const {
  if (setup.joint) return hot_outputs(weights, setup);  // there may be more classes later
  return std::make_unique<StepFreeL1>(weights, setup, StepFreeSettings{rate, noise});
}

}  // namespace gossamer
