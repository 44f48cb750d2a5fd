// The loop over examples. It is a template so that what is hot (hot.hpp, path/lane_rule.hpp) is one piece with it;
// every other rule is called through its virtual verbs, twice per example.
#pragma once

#include <limits>
#include <stdexcept>
#include <type_traits>

#include "base/pack.hpp"
#include "base/side_by_side.hpp"
#include "online/gauge.hpp"
#include "online/learner.hpp"

namespace gossamer {

// Asks for entries begin … end − 1, sixteen at a time: a cache line of features and those of their values. (Inlined by
// force: GCC drops calls of functions that only prefetch.)
template <class T>
[[gnu::always_inline]] inline void fetch(const Examples<T>& examples, std::int64_t begin, std::int64_t end) {
  const std::int64_t shift = examples.dense ? begin : 0;
  for (std::int64_t n = begin; n < end; n += 16) {
    __builtin_prefetch(examples.index + (n - shift), 0);
    for (std::int64_t part = 0; part < 16; part += 64 / sizeof(T)) __builtin_prefetch(examples.value + n + part, 0);
  }
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

// What comes with the features of an example.
struct Example {
  const double* y;
  double offset, weight, step;
};

// Throws where a row has features that are not there, or diverges: the rows before it have been learned from.
template <class R, class T>
void LaneGroup::run_rows(R& rule, const Examples<T>& examples, const LossCall& loss, bool scoring) {
  // Rows come in any order: asks for one some rounds before its turn. Without it RCV1 takes 1.05 times as long, and
  // data with 4 million features 1.8 times.
  constexpr std::size_t ahead = 4;
  // (Looked at row by row, FOBOS takes 1.1 times as long on RCV1.)
  const bool known = examples.within > 0 && examples.within <= setup.features;
  for (std::size_t i = 0; i < examples.count; ++i) {
    const double weight = examples.weight ? examples.weight[i] : 1.0;
    if (weight == 0) continue;
    if (i + ahead < examples.count) fetch(examples, examples.begins[i + ahead], examples.ends[i + ahead]);
    const std::span<const std::int32_t> features = examples.features(i);
    if (!known && !within_features(features, setup.features)) {
      throw std::out_of_range("an example has a feature that the learner has not");
    }
    const T* value = examples.value + examples.begins[i];
    if (large_ && !moderate(std::span(value, features.size()))) throw Diverged(too_large_values);
    const auto next = large_ ? examples.features(i + 1) : std::span<const std::int32_t>();
    const RowOf<T> row{features, value, known || within_features(next, setup.features) ? next : next.first(0)};
    if (large_) rule.prefetch(row.next);  // 4 million features take 1.6 times as long without it
    const Example example{examples.y + i * examples.targets, examples.offset ? examples.offset[i] : 0.0, weight,
                          examples.step[i]};
    if constexpr (requires { requires R::step_free; }) {
      learn_step_free(rule, row, example, loss, scoring);
    } else if constexpr (std::is_same_v<T, double> || requires { rule.look(row, 1.0, x_.data()); }) {
      learn_by_steps(rule, row, example, loss, scoring);
    } else {
      if (x_.size() < row.size()) x_.resize(2 * row.size());
      std::copy_n(value, row.size(), x_.data());
      learn_by_steps(rule, Row{features, x_.data(), row.next}, example, loss, scoring);
    }
  }
}

// One example: scores, the loss and its slope, and the rule moves the weights by a step.
template <class R, class T>
[[gnu::always_inline]] inline void LaneGroup::learn_by_steps(R& rule, const RowOf<T>& row, const Example& example,
                                                             const LossCall& loss, bool scoring) {
  constexpr bool single = requires { requires R::single; };  // one strength, one output
  const double weight = example.weight, step = example.step;
  double one[2];
  const std::size_t cells = single ? 1 : z_.size();
  const std::span<double> z(single ? one : z_.data(), cells), slope(single ? one + 1 : slope_.data(), cells);
  const auto b = intercept.values();
  for (std::size_t c = 0; c < z.size(); ++c) z[c] = (b.empty() ? 0.0 : b[c]) + example.offset;
  if constexpr (requires { rule.look(row, 1.0, z.data()); }) {
    rule.look(row, step, z.data());
  } else {
    rule.margins(row, step, z.data());
  }
  const double by = std::max(1.0, weight) * std::max(1.0, step);
  if (!single && setup.path) {
    loss(z, example.y, slope, values_);
    leave_out_lost(z, slope, values_, by);
  } else {
    values_[0] = loss(z, example.y, slope);
    if (!learnable(z, slope, by * largest_size_)) diverge(z[0], slope[0], weight, step);
  }
  count(weight, !single && setup.path, scoring);
  if (weight != 1) {
    for (double& s : slope) s *= weight;
  }
  if constexpr (requires { rule.move(row, slope.data()); }) {
    rule.move(row, slope.data());
  } else {
    rule.learn(row, {slope.data()});
  }
  if (!b.empty()) intercept.update(slope, loss.tame_slope());
  for (std::size_t c = 0; c < intercept_sum.size(); ++c) intercept_sum[c] += b[c];
}

[[gnu::always_inline]] inline void LaneGroup::count(double weight, bool of_lanes, bool scoring) {
  counts[0] += 1, counts[1] += weight;
  if (of_lanes) {
    count_lanes(values_.data(), weight, scoring);
  } else {
    counts[2] += weight * values_[0];
  }
}

// The same without a step (step_free.hpp): an example is judged by corrected scores, and learned from by the others.
template <class R, class T>
[[gnu::always_inline]] inline void LaneGroup::learn_step_free(R& rule, const RowOf<T>& row, const Example& example,
                                                              const LossCall& loss, bool scoring) {
  if (setup.centred > 0 && (row.size() < setup.centred || row[setup.centred - 1] != setup.centred - 1))
    throw std::out_of_range("an example has no value of a centred feature");
  Gauge& gauge = rule.gauge();
  const double weight = example.weight, *y = example.y;
  const std::size_t cells = gauge.cells, lanes = gauge.lanes;
  const bool both = gauge.corrects(), tempered = loss.unbounded() || setup.target != Target::labels;
  std::fill(z_.begin(), z_.end(), example.offset);
  const std::size_t own = z_.size() - cells;  // behind the scores that it is judged by
  double *z = &z_[own], *slope = &slope_[own];
  gauge.begin(y, example.offset, weight);
  rule.look(row, z, tempered);
  gauge.scores(rule.sums(), z);
  if (both) gauge.corrected(rule.sums(), z_.data());
  loss(z_, y, slope_, values_);
  if (tempered) gauge.temper(loss, z, y, slope, rule.sizes(), weight);
  const bool moderate = gauge.moderate(slope, y, example.offset, weight);
  if (setup.path) {
    leave_out_lost(z_, slope_, values_, std::max(1.0, weight));
    std::size_t lost = 0;
    for (std::size_t i = 0; i < lanes; ++i) {
      if (moderate && std::isfinite(values_[i]) && std::isfinite(values_[values_.size() - lanes + i])) [[likely]]
        continue;
      values_[i] = std::numeric_limits<double>::infinity();
      std::fill_n(slope + i * setup.outputs, setup.outputs, 0.0);
      ++lost;
    }
    if (lost == lanes) {  // no lane learns from it: it leaves no trace but in their losses
      gauge.take_back();
      return count_lanes(values_.data(), weight, scoring);
    }
  } else if (!moderate || !learnable(z_, slope_, std::max(1.0, weight))) {
    diverge(z[0], slope[0], weight, gauge.pace());
  }
  const double mean_weight = counts[0] > 0 ? counts[1] / counts[0] : weight;
  if (both && scoring) gauge.correct(rule.sums(), slope, slope_.data(), weight / mean_weight);
  count(weight, setup.path, scoring);
  if (weight != 1) {
    for (std::size_t c = 0; c < cells; ++c) slope[c] *= weight;
  }
  gauge.take(slope);
  const double squares = rule.move(row, slope);
  gauge.compare(loss, y, example.offset, weight);
  gauge.end(slope, squares, y, example.offset, weight);
}

// Whether all lanes may learn for sure, by sums over them: four at a time.
[[gnu::always_inline]] inline bool LaneGroup::all_learnable(std::span<const double> z_of,
                                                            std::span<const double> slopes, double by) const {
  const std::size_t cells = z_of.size();
  Quad odd = {}, squares = {};  // z − z is 0 for a finite z and NaN otherwise
  std::size_t c = 0;
  for (; c + 4 <= cells; c += 4) {
    const Quad z = load_four(&z_of[c]), slope = load_four(&slopes[c]);
    odd += z - z, squares += slope * slope;
  }
  for (; c < cells; ++c) odd[0] += z_of[c] - z_of[c], squares[0] += slopes[c] * slopes[c];
  const double sum = (squares[0] + squares[1]) + (squares[2] + squares[3]), scale = by * largest_size_;
  return (odd[0] + odd[1]) + (odd[2] + odd[3]) == 0 && scale <= 0.5 * largest_slope &&
         sum * (scale * scale) <= 0.25 * largest_slope * largest_slope;
}

// A lane that diverges does not learn from the example, and its loss is infinite from now on: the others go on.
inline void LaneGroup::leave_out_lost(std::span<const double> z, std::span<double> slopes, std::span<double> values,
                                      double by) const {
  if (all_learnable(z, slopes, by)) [[likely]]
    return;
  for (std::size_t i = 0, k = setup.outputs; i < values.size(); ++i) {
    const std::span<double> slope = slopes.subspan(i * k, k);
    if (learnable(z.subspan(i * k, k), slope, by * sizes_[i % sizes_.size()])) [[likely]]
      continue;
    std::fill(slope.begin(), slope.end(), 0.0);
    values[i] = std::numeric_limits<double>::infinity();
  }
}

inline void LaneGroup::count_lanes(const double* value, double weight, bool scoring) {
  double *all = seen.data(), *sum = losses.data(), *square = squares.data();
  side_by_side(seen.size(), [=](std::size_t i) { all[i] += weight * value[i]; });
  if (!scoring) return;
  totals[0] += weight, totals[1] += weight * weight;
  side_by_side(seen.size(), [=](std::size_t i) {
    sum[i] += weight * value[i];
    square[i] += weight * value[i] * value[i];
  });
  if (!compares_) return;
  recent.push_back(weight);
  recent.insert(recent.end(), value, value + seen.size());
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
