// Lanes: m settings side by side in one pass. Lane i has its own strength α_i and pace c_i; its step is c_i η_t, and
// everything it learns is what a learner of its own would (learner.hpp), to rounding.
//
// All lanes see the same examples, so that what depends on the moment of a touch only (stamps, the largest |x_j|) is
// kept once a feature, and the rest lies side by side, [lane][output], a feature after the other: an example's cache
// lines are fetched once, and the m updates are loops over neighbours, which compile to vector instructions.
//
// A rule of lanes holds the state of one method with one penalty:
//
//     begin(η, nonzeros)        a round starts with this step, times the pace of each lane
//     accumulate(j, x, n, z)    z += x · W_j of every lane; the feature is the n-th of its example
//     receive(slope)            the slopes of all lanes in this round
//     update(j, x, n)           the gradient x · slope arrives at feature j
//     end()                     the round is over
//     read(j, w)                W_j of every lane as it stands now, changing nothing
//     alone(j, lane, numbers)   what the rule with one setting (fobos.hpp, dual.hpp) would keep of the feature, under
//                               the name slots_name
//     visit(f)                  as in learner.hpp
//     eight(), accumulate_eight(row, z), update_eight(row)
//                               instead, if the rule likes: whether it has eight lanes and this goes, and then all
//                               features of an example in one loop, where the numbers of the lanes stay in registers
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/side_by_side.hpp"
#include "base/slots.hpp"
#include "online/fobos.hpp"
#include "online/learner.hpp"

namespace gossamer {

// What the lanes differ in.
struct LaneSettings {
  std::vector<double> alphas, paces;
  std::size_t together;  // lanes that learn on one thread (split_lanes.hpp)

  std::size_t count() const { return alphas.size(); }
  // Those of lanes first … last − 1.
  LaneSettings some(std::size_t first, std::size_t last) const {
    auto from = [=](const std::vector<double>& all) { return std::vector(&all[first], &all[first] + (last - first)); };
    return {from(alphas), from(paces), together};
  }
};

// The features of an example, and those of the next one, which are fetched on the way.
struct LaneRow {
  std::span<const std::int32_t> index;
  const double* value;
  const std::int32_t *next, *next_end;
};

// What the outside sees of a learner with lanes: a learner with m · k outputs, and more.
class Lanes : public Learner {
 public:
  bool scoring = true;   // whether the losses of the examples count
  unsigned threads = 1;  // how many may be used

  std::size_t lanes() const { return losses_.size(); }
  std::span<const double> losses() const { return losses_; }    // Σ weight · loss of each lane, where it counted
  std::span<const double> squares() const { return squares_; }  // Σ weight · loss²
  double scored() const { return totals_[0]; }                  // Σ weight
  double scored_squares() const { return totals_[1]; }          // Σ weight²

  virtual std::span<const double> intercepts() const = 0;  // of each output of each lane, or none
  virtual void read_lane(std::size_t lane, std::span<double> weights, std::span<double> intercept) const = 0;
  virtual void count_nonzeros(std::span<std::int64_t> counts) const = 0;  // of each output of each lane
  // The non-zero weights of each output of each lane as rows of a CSR matrix; `at` holds where each row begins, and
  // comes back holding where it ends.
  virtual void gather(std::span<std::int64_t> at, std::span<std::int64_t> index, std::span<double> value) const = 0;
  // f(context, name, numbers) for the state that a learner of its own would have, but for its rounds and its pace.
  virtual void alone(std::size_t lane, Visitor f, void* context) const = 0;

 protected:
  Lanes(std::size_t features, std::size_t outputs, std::size_t lanes)
      : Learner(features, outputs * lanes), seen_(lanes), losses_(lanes), squares_(lanes), totals_(2) {}
  std::vector<double> seen_;  // Σ weight · loss, whether it counted or not
  std::vector<double> losses_, squares_, totals_;
};

template <class Rule>
class LaneEngine final : public Lanes {
 public:
  LaneEngine(Rule rule, std::size_t features, std::size_t outputs, std::size_t lanes, bool fit_intercept)
      : Lanes(features, outputs, lanes),
        rule_(std::move(rule)),
        k_(outputs),
        intercept_(fit_intercept ? outputs * lanes : 0),
        z_(outputs * lanes),
        slope_(outputs * lanes),
        values_(lanes) {}

  void learn(const Examples<double>& examples, const LossCall& loss) override { run(examples, loss); }
  void learn(const Examples<float>& examples, const LossCall& loss) override { run(examples, loss); }

  void read(std::span<double> weights, std::span<double> intercept) const override {
    for (std::size_t j = 0; j < features_; ++j) rule_.read(j, weights.data() + j * outputs_);
    read_intercepts(intercept);
  }
  void read_some(Some features, std::span<double> weights, std::span<double> intercept) const override {
    double* to = weights.data();
    for (const std::int32_t j : features) rule_.read(static_cast<std::size_t>(j), to), to += outputs_;
    read_intercepts(intercept);
  }
  void read_some_average(Some, std::span<double>, std::span<double>) const override {
    throw std::logic_error("lanes do not average");
  }
  void read_average(std::span<double>, std::span<double>) const override {
    throw std::logic_error("lanes do not average");
  }
  std::span<const double> intercepts() const override { return intercept_.values(); }
  void read_lane(std::size_t lane, std::span<double> weights, std::span<double> intercept) const override {
    each_row([&](std::size_t j, const double* w) { std::copy_n(w + lane * k_, k_, &weights[j * k_]); });
    const auto b = intercept_.values();
    for (std::size_t r = 0; r < k_; ++r) intercept[r] = b.empty() ? 0.0 : b[lane * k_ + r];
  }
  void count_nonzeros(std::span<std::int64_t> counts) const override {
    std::fill(counts.begin(), counts.end(), 0);
    each_row([&](std::size_t, const double* w) {
      for (std::size_t c = 0; c < outputs_; ++c) counts[c] += w[c] != 0;
    });
  }
  void gather(std::span<std::int64_t> at, std::span<std::int64_t> index, std::span<double> value) const override {
    each_row([&](std::size_t j, const double* w) {
      for (std::size_t c = 0; c < outputs_; ++c) {
        if (w[c] == 0) continue;
        const auto to = static_cast<std::size_t>(at[c]++);
        index[to] = static_cast<std::int64_t>(j);
        value[to] = w[c];
      }
    });
  }
  void alone(std::size_t lane, Visitor f, void* context) const override {
    std::vector<double> counts{counts_[0], counts_[1], seen_[lane]}, all, numbers;
    f(context, "counts", counts, nullptr);
    intercept_.visit([&](const char* name, std::span<const double> cells) {
      if (!cells.empty()) cells = cells.subspan(lane * k_, k_);
      std::vector<double> own(cells.begin(), cells.end());
      f(context, name, own, nullptr);
    });
    for (std::size_t j = 0; j < features_; ++j) {
      numbers.clear();
      rule_.alone(j, lane, numbers);
      if (j == 0) all.reserve(features_ * numbers.size());
      all.insert(all.end(), numbers.begin(), numbers.end());
    }
    f(context, Rule::slots_name, all, nullptr);
  }

  void visit(Visitor f, void* context) override {
    const StateVisitor each{f, context};
    each("counts", std::span(counts_));
    each("lane_seen", std::span(seen_));
    each("lane_losses", std::span(losses_)), each("lane_squares", std::span(squares_));
    each("lane_totals", std::span(totals_));
    intercept_.visit(each);
    rule_.visit(each);
  }

 private:
  Rule rule_;
  std::size_t k_;
  mutable Intercept intercept_;             // its visitors may write
  std::vector<double> z_, slope_, values_;  // of the example at hand

  void read_intercepts(std::span<double> intercept) const {
    const auto b = intercept_.values();
    for (std::size_t c = 0; c < outputs_; ++c) intercept[c] = b.empty() ? 0.0 : b[c];
  }

  void count(const double* values, double weight) {
    double *seen = seen_.data(), *losses = losses_.data(), *squares = squares_.data();
    const std::size_t m = lanes();
    side_by_side(m, [=](std::size_t i) { seen[i] += weight * values[i]; });
    counts_[0] += 1;
    counts_[1] += weight;
    if (!scoring) return;
    totals_[0] += weight, totals_[1] += weight * weight;
    side_by_side(m, [=](std::size_t i) {
      losses[i] += weight * values[i];
      squares[i] += weight * values[i] * values[i];
    });
  }

  template <class F>
  void each_row(F f) const {
    std::vector<double> w(outputs_);
    for (std::size_t j = 0; j < features_; ++j) {
      rule_.read(j, w.data());
      f(j, w.data());
    }
  }

  struct Example {
    LaneRow row;
    const double* y;
    double weight, step;
  };

  template <class T>
  void run(const Examples<T>& examples, const LossCall& loss) {
    const bool wide = has_wide_vectors();
    std::vector<double> converted;
    auto features = [&](std::size_t i) -> std::span<const std::int32_t> {
      if (i >= examples.count) return {};
      return {examples.index + examples.begins[i], examples.index + examples.ends[i]};
    };
    for (std::size_t i = 0; i < examples.count; ++i) {
      if (i + 2 < examples.count) {  // rows come in any order
        fetch(examples.index, examples.begins[i + 2], examples.ends[i + 2]);
        fetch(examples.value, examples.begins[i + 2], examples.ends[i + 2]);
      }
      const double weight = examples.weight ? examples.weight[i] : 1.0;
      if (weight == 0) continue;
      const T* value = examples.value + examples.begins[i];
      const double* y = examples.y + i * examples.targets;
      const auto here = features(i), next = features(i + 1);
      Example example{{here, nullptr, next.data(), next.data() + next.size()}, y, weight, examples.step[i]};
      if constexpr (std::is_same_v<T, double>) {
        example.row.value = value;
      } else {
        converted.assign(value, value + here.size());
        example.row.value = converted.data();
      }
      wide ? learn_wide(example, loss) : learn_plain(example, loss);
    }
  }

#ifdef GOSSAMER_WIDE
  [[gnu::target("avx2"), gnu::flatten]] void learn_wide(const Example& one, const LossCall& loss) {
    learn_one(one, loss);
  }
#else
  void learn_wide(const Example& one, const LossCall& loss) { learn_plain(one, loss); }
#endif
  [[gnu::flatten]] void learn_plain(const Example& one, const LossCall& loss) { learn_one(one, loss); }

  [[gnu::always_inline]] void learn_one(const Example& one, const LossCall& loss) {
    LaneRow row = one.row;
    const auto b = intercept_.values();
    if (b.empty()) {
      std::fill(z_.begin(), z_.end(), 0.0);
    } else {
      std::copy(b.begin(), b.end(), z_.begin());
    }
    rule_.begin(one.step, row.index.size());
    accumulate(row, z_.data());
    loss(z_, one.y, slope_, values_);
    count(values_.data(), one.weight);
    if (one.weight != 1) {
      for (double& s : slope_) s *= one.weight;
    }
    rule_.receive(slope_.data());
    update(row);
    if (!b.empty()) intercept_.update(slope_, loss.tame_slope());
    rule_.end();
  }
  [[gnu::always_inline]] void accumulate(LaneRow& row, double* z) {
    if constexpr (requires { rule_.eight(); }) {
      if (rule_.eight()) return rule_.accumulate_eight(row, z);
    }
    for (std::size_t n = 0; n < row.index.size(); ++n) {
      rule_.fetch_next(row);
      rule_.accumulate(static_cast<std::size_t>(row.index[n]), row.value[n], n, z);
    }
  }
  [[gnu::always_inline]] void update(LaneRow& row) {
    if constexpr (requires { rule_.eight(); }) {
      if (rule_.eight()) return rule_.update_eight(row);
    }
    for (std::size_t n = 0; n < row.index.size(); ++n) {
      rule_.fetch_next(row);
      rule_.update(static_cast<std::size_t>(row.index[n]), row.value[n], n);
    }
  }
};

// What all rules of lanes are made of: the settings, a slot a feature, and loops over the lanes of a feature.
template <std::size_t K, class P>
class LaneRule {
 public:
  static constexpr const char* slots_name = "slots";

  // (It changes the row: what does nothing but fetch is taken out by compilers that find it does nothing.)
  void fetch_next(LaneRow& row) const {
    if (row.next == row.next_end) return;
    const auto j = static_cast<std::size_t>(*row.next++);
    if (head_ > 0) __builtin_prefetch(&heads_[j * head_], 1);
    const auto* slot = reinterpret_cast<const char*>(numbers(j));
    for (std::size_t byte = 0; byte < stride_ * sizeof(double); byte += 64) __builtin_prefetch(slot + byte, 1);
  }

 protected:
  LaneRule(P p, std::size_t features, std::size_t outputs, const LaneSettings& settings, std::vector<double> weights,
           std::size_t head, std::size_t per_lane)
      : p_(p),
        k_{outputs},
        m_(settings.count()),
        alphas_(settings.alphas),
        paces_(settings.paces),
        weights_(std::move(weights)),
        row_(outputs),
        head_(head),
        stride_(m_ * per_lane),
        features_(features),
        heads_(features * head),
        slots_(features * stride_ + line) {
    while (reinterpret_cast<std::uintptr_t>(&slots_[first_]) % (line * sizeof(double)) != 0) ++first_;
  }

  P p_;
  Width<K> k_;
  std::size_t m_;
  std::vector<double> alphas_, paces_;
  std::vector<double> weights_;      // of the penalty, one a feature, or none
  mutable std::vector<double> row_;  // of one lane
  mutable Scratch scratch_;

  // What a feature keeps once, and what it keeps for each lane.
  double* head(std::size_t j) { return &heads_[j * head_]; }
  const double* head(std::size_t j) const { return &heads_[j * head_]; }
  double* numbers(std::size_t j) { return &slots_[first_ + j * stride_]; }
  const double* numbers(std::size_t j) const { return &slots_[first_ + j * stride_]; }
  template <class F>
  void visit_features(F f) {
    f("heads", heads_), f("slots", std::span(numbers(0), features_ * stride_));
  }

  std::size_t cells() const { return m_ * k_(); }

  // to(c, w) with w = prox(from(lane, c), s(lane)) for every cell c = lane · k + output.
  template <class From, class Strength, class To>
  void prox_lanes(From from, Strength s, double weight, To to) const {
    if constexpr (K == 1) {
      const P p = p_;
      if (weight == 1) return side_by_side(m_, [=](std::size_t i) { to(i, p.prox(from(i, i), s(i))); });
      side_by_side(m_, [=](std::size_t i) { to(i, p.prox(from(i, i), s(i) * weight)); });
    } else {
      for (std::size_t i = 0; i < m_; ++i) {
        const std::size_t at = i * k_();
        for (std::size_t r = 0; r < k_(); ++r) row_[r] = from(i, at + r);
        prox_row(p_, row_, s(i), weight, scratch_);
        for (std::size_t r = 0; r < k_(); ++r) to(at + r, row_[r]);
      }
    }
  }
  // each(lane, Σ_r (x slope_r)²)
  template <class F>
  void squared_gradients(double x, const double* slope, F each) const {
    if constexpr (K == 1) {
      side_by_side(m_, [=](std::size_t i) { each(i, (x * slope[i]) * (x * slope[i])); });
    } else {
      for (std::size_t i = 0; i < m_; ++i) {
        double squares = 0;
        for (std::size_t r = 0; r < k_(); ++r) squares += (x * slope[i * k_() + r]) * (x * slope[i * k_() + r]);
        each(i, squares);
      }
    }
  }
  // each(lane, cell)
  template <class F>
  void each_cell(F each) const {
    if constexpr (K == 1) {
      side_by_side(m_, [=](std::size_t i) { each(i, i); });
    } else {
      for (std::size_t i = 0; i < m_; ++i) {
        const std::size_t at = i * k_();
        side_by_side(k_(), [=](std::size_t r) { each(i, at + r); });
      }
    }
  }

 private:
  static constexpr std::size_t line = 8;  // doubles in a cache line, where the numbers of the first feature start
  std::size_t head_, stride_, features_, first_ = 0;
  Slots heads_, slots_;
};

// No rate may be infinite: where nothing was learned the sums are zero, and zero must come out.
inline double safe(double divisor) { return std::max(divisor, 1e-150); }
[[gnu::always_inline]] inline Quad safe(Quad divisor) {
  const Quad least = spread_four(1e-150);
  return divisor < least ? least : divisor;
}

}  // namespace gossamer
