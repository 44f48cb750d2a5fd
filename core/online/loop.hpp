// The loop over examples. It is a template so that what is hot (hot.hpp, path/lane_rule.hpp) is one piece with it;
// every other rule is called through its virtual verbs, twice per example.
#pragma once

#include <limits>
#include <stdexcept>
#include <type_traits>

#include "base/pack.hpp"
#include "base/side_by_side.hpp"
#include "online/learner.hpp"

namespace gossamer {

// Asks for entries begin … end − 1 of an array, a cache line at a time. (Inlined by force: GCC drops calls of functions
// that only prefetch.)
template <class T>
[[gnu::always_inline]] inline void fetch(const T* entries, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t line = 64 / sizeof(T);
  for (std::int64_t n = begin; n < end; n += line) __builtin_prefetch(entries + n, 0);
}

inline bool within_features(std::span<const std::int32_t> index, std::size_t features) {
  std::uint32_t largest = 0;  // a negative one is the largest of all
  for (const std::int32_t j : index) largest = std::max(largest, static_cast<std::uint32_t>(j));
  return index.empty() || largest < features;
}

// Whether no value is too large to be learned from. (Where the state is large it is fetched meanwhile, so that this
// takes no time; a small state is looked at in the end, Learner::finite.)
template <class T>
[[gnu::always_inline]] inline bool moderate(std::span<const T> values) {
  bool holds = true;
  for (const T x : values) holds &= std::fabs(x) <= largest_value<T>;
  return holds;
}

// Whether a lane with these scores and slopes may learn; `by` is what its slopes are multiplied by. An entry that is
// not finite spoils the score, whatever the weights are.
[[gnu::always_inline]] inline bool learnable(std::span<const double> z, std::span<const double> slope, double by) {
  bool holds = true;
  for (const double score : z) holds &= std::fabs(score) <= std::numeric_limits<double>::max();
  for (const double s : slope) holds &= (1 + std::fabs(s)) * by <= largest_slope;
  return holds;
}

template <class R, class T>
void LaneGroup::loop(R& rule, const Examples<T>& examples, const LossCall& loss, bool scoring) {
  for_this_processor([&] { run_rows(rule, examples, loss, scoring); });
}

// Throws where a row has features that are not there, or diverges: the rows before it have been learned from.
template <class R, class T>
void LaneGroup::run_rows(R& rule, const Examples<T>& examples, const LossCall& loss, bool scoring) {
  // Rows come in any order: asks for one some rounds before its turn. Without it RCV1 takes 1.05 times as long, and
  // data with 4 million features 1.8 times.
  constexpr std::size_t ahead = 4;
  constexpr bool single = requires { requires R::single; };  // one strength, one output
  double one[2];
  const std::size_t cells = single ? 1 : z_.size();
  const std::span<double> z(single ? one : z_.data(), cells), slope(single ? one + 1 : slope_.data(), cells);
  const double tame = loss.tame_slope();
  for (std::size_t i = 0; i < examples.count; ++i) {
    const double weight = examples.weight ? examples.weight[i] : 1.0;
    if (weight == 0) continue;
    if (i + ahead < examples.count) {
      fetch(examples.index, examples.begins[i + ahead], examples.ends[i + ahead]);
      fetch(examples.value, examples.begins[i + ahead], examples.ends[i + ahead]);
    }
    const std::span<const std::int32_t> features = examples.features(i);
    if (!within_features(features, setup.features)) {
      throw std::out_of_range("an example has a feature that the learner has not");
    }
    const T* value = examples.value + examples.begins[i];
    if (large_ && !moderate(std::span(value, features.size()))) throw Diverged(too_large_values);
    const auto next = large_ ? examples.features(i + 1) : std::span<const std::int32_t>();
    const RowOf<T> given{features, value, within_features(next, setup.features) ? next : next.first(0)};
    const auto row = [&] {
      if constexpr (std::is_same_v<T, double> || requires { rule.look(given, 1.0, z.data()); }) {
        return given;
      } else {
        if (x_.size() < given.size()) x_.resize(2 * given.size());
        std::copy_n(value, given.size(), x_.data());
        return Row{features, x_.data(), given.next};
      }
    }();
    const auto b = intercept.values();
    const double offset = examples.offset ? examples.offset[i] : 0.0;
    for (std::size_t c = 0; c < z.size(); ++c) z[c] = (b.empty() ? 0.0 : b[c]) + offset;
    if (large_) rule.prefetch(row.next);  // 4 million features take 1.6 times as long without it
    if constexpr (requires { rule.look(row, 1.0, z.data()); }) {
      rule.look(row, examples.step[i], z.data());
    } else {
      rule.margins(row, examples.step[i], z.data());
    }
    const double* y = examples.y + i * examples.targets;
    if (!single && setup.path) {
      loss(z, y, slope, values_);
      leave_out_lost(std::max(1.0, weight) * std::max(1.0, examples.step[i]));
    } else {
      values_[0] = loss(z, y, slope);
      const double by = std::max(1.0, weight) * std::max(1.0, examples.step[i]);
      if (!learnable(z, slope, by * largest_size_)) diverge(z[0], slope[0], weight, examples.step[i]);
    }
    counts[0] += 1, counts[1] += weight;
    if (single || !setup.path) {
      counts[2] += weight * values_[0];
    } else {
      count_lanes(weight, scoring);
    }
    if (weight != 1) {
      for (double& s : slope) s *= weight;
    }
    if constexpr (requires { rule.move(row, slope.data()); }) {
      rule.move(row, slope.data());
    } else {
      rule.learn(row, slope.data());
    }
    if (!b.empty()) intercept.update(slope, tame);
    for (std::size_t c = 0; c < intercept_sum.size(); ++c) intercept_sum[c] += b[c];
  }
}

// Whether all lanes may learn for sure, by sums over them: four at a time.
[[gnu::always_inline]] inline bool LaneGroup::all_learnable(double by) const {
  const std::size_t cells = z_.size();
  Quad odd = {}, squares = {};  // z − z is 0 for a finite z and NaN otherwise
  std::size_t c = 0;
  for (; c + 4 <= cells; c += 4) {
    const Quad z = load_four(&z_[c]), slope = load_four(&slope_[c]);
    odd += z - z, squares += slope * slope;
  }
  for (; c < cells; ++c) odd[0] += z_[c] - z_[c], squares[0] += slope_[c] * slope_[c];
  const double sum = (squares[0] + squares[1]) + (squares[2] + squares[3]), scale = by * largest_size_;
  return (odd[0] + odd[1]) + (odd[2] + odd[3]) == 0 && scale <= 0.5 * largest_slope &&
         sum * (scale * scale) <= 0.25 * largest_slope * largest_slope;
}

// A lane that diverges does not learn from the example, and its loss is infinite from now on: the others go on.
inline void LaneGroup::leave_out_lost(double by) {
  if (all_learnable(by)) [[likely]]
    return;
  for (std::size_t i = 0, k = setup.outputs; i < values_.size(); ++i) {
    const std::span<double> z(&z_[i * k], k), slope(&slope_[i * k], k);
    if (learnable(z, slope, by * sizes_[i])) [[likely]]
      continue;
    std::fill(slope.begin(), slope.end(), 0.0);
    values_[i] = std::numeric_limits<double>::infinity();
  }
}

inline void LaneGroup::count_lanes(double weight, bool scoring) {
  const double* value = values_.data();
  double *all = seen.data(), *sum = losses.data(), *square = squares.data();
  side_by_side(seen.size(), [=](std::size_t i) { all[i] += weight * value[i]; });
  if (!scoring) return;
  totals[0] += weight, totals[1] += weight * weight;
  side_by_side(seen.size(), [=](std::size_t i) {
    sum[i] += weight * value[i];
    square[i] += weight * value[i] * value[i];
  });
}

// A rule whose type the loop knows. It may read the values of a row as they are given, floats or doubles, by look and
// move in place of margins and learn.
template <class R, class Base>
class Looped : public Base {
 public:
  using Base::Base;
  void run(LaneGroup& group, const Examples<double>& examples, const LossCall& loss, bool scoring) final {
    group.loop(static_cast<R&>(*this), examples, loss, scoring);
  }
  void run(LaneGroup& group, const Examples<float>& examples, const LossCall& loss, bool scoring) final {
    group.loop(static_cast<R&>(*this), examples, loss, scoring);
  }
};

}  // namespace gossamer
