// Learners that saw different examples become one; merging.hpp says what adds up.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "online/gauge.hpp"
#include "online/learner.hpp"
#include "online/merging.hpp"

namespace gossamer {

namespace {

// log a of two factors, as exact as they are known: by Σ (s f)².
void merge_factors(std::vector<double>& mine, const std::vector<double>& other) {
  const std::size_t n = mine.size() / 2;
  for (std::size_t i = 0; i < n; ++i) {
    const double here = mine[n + i], there = other[n + i], all = here + there;
    if (there > 0) mine[i] = std::exp((here * std::log(mine[i]) + there * std::log(other[i])) / all);
    mine[n + i] = all;
  }
}

}  // namespace

// The next step moves a weight by ½ largest / √squares per slope: H is its inverse. Where H adds up, the mean of the
// intercepts by H is the centre of the next step.
void Intercept::add(const Intercept& other) {
  const auto curvature = [](const Intercept& of, std::size_t r) {
    return of.largest_[r] > 0 ? 2 * std::sqrt(of.squares_[r]) / of.largest_[r] : 0.0;
  };
  for (std::size_t r = 0; r < b_.size(); ++r) {
    const double here = curvature(*this, r), there = curvature(other, r);
    if (there == 0) continue;
    b_[r] += there / (here + there) * (other.b_[r] - b_[r]);
    largest_[r] = std::max(largest_[r], other.largest_[r]);
    const double root = 0.5 * (here + there) * largest_[r];
    squares_[r] = root * root;
  }
}

void Intercept::share(double parts) {
  for (double& sum : squares_) sum /= parts * parts;
}

void LaneGroup::add(LaneGroup& other) {
  if (setup.average) throw std::invalid_argument(does_not_add_up);
  rule->add(*other.rule);
  intercept.add(other.intercept);
  for (auto sums : {&LaneGroup::counts, &LaneGroup::seen, &LaneGroup::losses, &LaneGroup::squares, &LaneGroup::totals})
    add_all(this->*sums, other.*sums);
}

void LaneGroup::share(double parts, double rounds) {
  if (setup.average) throw std::invalid_argument(does_not_add_up);
  rule->share(parts, rounds);
  intercept.share(parts);
  for (auto sums : {&LaneGroup::counts, &LaneGroup::seen, &LaneGroup::losses, &LaneGroup::squares, &LaneGroup::totals})
    divide_all(this->*sums, parts);
  counts[0] = rounds;
}

void Gauge::add(const Gauge& other, Factors& mine, Factors& others) {
  const double all = rounds_ + other.rounds_;
  mine.sums.assign(blocks, 1.0), mine.divisors = mine.sums, mine.priors = {priors_.begin(), priors_.end()};
  others = mine, others.priors = {other.priors_.begin(), other.priors_.end()};
  if (other.rounds_ == 0) return;
  if (rounds_ == 0) {  // its units, constant models and targets
    *this = other;
    return;
  }
  const Gauge before = *this;
  const double share = other.rounds_ / all;
  rounds_ = all, squares_ += other.squares_, fresh_ += other.fresh_;
  for (std::size_t i = 0; i < slopes_.size(); ++i) slopes_[i] += share * (other.slopes_[i] - slopes_[i]);
  for (std::size_t r = 0; r < constant_.size(); ++r) constant_[r] += share * (other.constant_[r] - constant_[r]);
  for (std::size_t i = 0; i < blocks; ++i) {
    if (units_[i] == 0) units_[i] = other.units_[i];
  }
  for (std::size_t at = 0; at < targets_.size(); at += 4) {
    double* about = &targets_[at];
    const double* from = &other.targets_[at];
    const double weight = about[0] + from[0], part = weight > 0 ? from[0] / weight : 0.0, off = from[1] - about[1];
    about[2] += part * (from[2] - about[2]) + part * (1 - part) * off * off;
    about[1] += part * off, about[0] = weight, about[3] += from[3];
  }
  merge_factors(damping_, other.damping_), merge_factors(bins_, other.bins_);
  derive();
  // Z in this unit of slopes; D so that u D / (g σ) adds up.
  const auto factors = [&](const Gauge& of, Factors& to) {
    for (std::size_t i = 0; i < blocks; ++i) {
      to.sums[i] = units_[i] > 0 ? of.units_[i] / units_[i] : 1.0;
      const std::size_t output = i * width % outputs;
      const double scale = of.pace_ * of.spread(output), now = pace_ * spread(output);
      to.divisors[i] = scale > 0 && now > 0 ? to.sums[i] * now / scale : to.sums[i];
    }
  };
  factors(before, mine), factors(other, others);
  for (std::size_t i = 0; i < blocks && fit_intercept_; ++i) {
    const double own = mine.divisors[i] * std::sqrt(before.sum_squares_[i] + mine.priors[i]);
    const double its = others.divisors[i] * std::sqrt(other.sum_squares_[i] + others.priors[i]);
    for (std::size_t c = i * width; c < (i + 1) * width; ++c) {
      const std::size_t output = c % outputs;
      const double unit = pace_ * spread(output);
      sums_[c] = mine.sums[i] * before.sums_[c] + others.sums[i] * other.sums_[c];
      if (unit > 0)  // around the new mean of the targets
        sums_[c] +=
            (own * (location(output) - before.location(output)) + its * (location(output) - other.location(output))) /
            unit;
    }
    sum_squares_[i] = std::max((own + its) * (own + its) - priors_[i], 0.0);
  }
  derive();
}

void Gauge::share(double parts, double rounds) {
  rounds_ = rounds, squares_ /= parts, fresh_ = std::min(std::floor(fresh_ / parts), rounds);
  for (auto* factors : {&damping_, &bins_}) divide_all(std::span(*factors).last(factors->size() / 2), parts);
  divide_all(sums_, parts);
  for (std::size_t i = 0; i < sum_squares_.size(); ++i)
    sum_squares_[i] = std::max((sum_squares_[i] + priors_[i]) / (parts * parts) - priors_[i], 0.0);
  for (std::size_t at = 0; at < targets_.size(); at += 4) targets_[at] /= parts, targets_[at + 3] /= parts;
  derive();
}

std::unique_ptr<Learner> Learner::merged(std::span<const Saved> states) {
  if (states.empty()) throw std::invalid_argument("there is no learner to merge");
  std::unique_ptr<Learner> sum = made(features(), setup_.outputs, nullptr);
  sum->restore(states[0]);
  for (const Saved& state : states.subspan(1)) {
    const std::unique_ptr<Learner> other = made(features(), setup_.outputs, nullptr);
    other->restore(state);
    for (std::size_t n = 0; n < groups_.size(); ++n) sum->groups_[n].add(other->groups_[n]);
    add_all(sum->products_, other->products_);
  }
  return sum;
}

void Learner::share(double parts, double rounds) {
  for (LaneGroup& group : groups_) group.share(parts, rounds);
  divide_all(products_, parts);
}

}  // namespace gossamer
