// What each feature would bring: the sums over its column, and the gain that they promise.
#include <algorithm>
#include <cmath>

#include "boosting/booster.hpp"

namespace gossamer {

namespace {

// How an example pulls one output: by a slope, up where it is negative and down where it is positive; or both ways.
inline void pull(double slope, double x, double& up, double& down) {
  const double t = slope * x, size = std::fabs(t);
  up += 0.5 * (size - t);  // [−t]₊, exactly, and without a branch that guesses signs
  down += 0.5 * (size + t);
}

inline void pull(BothWays f, double x, double& up, double& down) {
  const double size = std::fabs(x), above = 0.5 * (size + x), below = 0.5 * (size - x);
  up += f.up * above + f.down * below;
  down += f.down * above + f.up * below;
}

}  // namespace

double Booster::scale(const Column& column, const double* factor) const {
  double largest = 0, squares = 0;
  column.each([&](std::size_t i, double x) {
    if (factor) x *= factor[i];
    largest = std::max(largest, std::fabs(x));
    squares += c_[i] * x * x;
  });
  return rule_->scale(largest, squares);
}

void Booster::measure(const Column& column, Work& work, const double* factor) const {
  if (model_) {  // a quadratic pulls by its slopes alone
    std::fill(work.up.begin(), work.up.end(), 0.0);
    return column.lines->gather(column.at, model_->slope.data(), k_, work.down.data());
  }
  const auto sum = [&](const auto* from) {
    if (!factor) return sum_pulls([&](auto f) { column.each(f); }, from, work);
    sum_pulls([&](auto f) { column.each([&](std::size_t i, double x) { f(i, factor[i] * x); }); }, from, work);
  };
  ways_.empty() ? sum(slope_.data()) : sum(ways_.data());
}

template <class Entries, class P>
void Booster::sum_pulls(const Entries& each, const P* from, Work& work) const {
  if (k_ == 1) {
    double up = 0, down = 0;
    each([&](std::size_t i, double x) { pull(from[i], x, up, down); });
    work.up[0] = up, work.down[0] = down;
    return;
  }
  std::fill(work.up.begin(), work.up.end(), 0.0), std::fill(work.down.begin(), work.down.end(), 0.0);
  each([&](std::size_t i, double x) {
    for (std::size_t r = 0; r < k_; ++r) pull(from[i * k_ + r], x, work.up[r], work.down[r]);
  });
}

double Booster::gain(double a, double lambda, std::span<const double> w, double slack, Work& work) const {
  if (a == 0) return 0.0;
  rule_->minimise(work.pulls(), a, lambda, w, work.next, work.rule);
  double moved = 0;
  for (std::size_t r = 0; r < k_; ++r) moved = std::max(moved, std::fabs(work.next[r] - w[r]));
  if (moved == 0 || moved * rule_->curvature(work.pulls(), a) <= slack) return 0.0;
  return std::max(rule_->gain(work.pulls(), a, lambda, w, work.next), 0.0);
}

void Booster::scales(const Lines& columns, std::span<double> out) const {
  in_parts(columns.count(), 64, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) out[j] = scale({&columns, j});
  });
}

void Booster::score(const Lines& columns, std::span<const double> scales, std::span<const double> weights,
                    std::span<const double> factor, double slack, unsigned threads, std::span<double> scores) const {
  const double* by = factor.empty() ? nullptr : factor.data();
  in_parts(columns.count(), 512, threads, [&](std::size_t begin, std::size_t end) {
    Work work(k_);
    for (std::size_t j = begin; j < end; ++j) {
      const Column column{&columns, j};
      const double lambda = lambda_ * (weights.empty() ? 1.0 : weights[j]);
      measure(column, work, by);
      if (k_ == 1 && std::fabs(work.up[0] - work.down[0]) <= rule_->entry * lambda) {
        scores[j] = 0;
      } else {
        scores[j] = gain(scales.empty() ? scale(column, by) : scales[j], lambda, work.zero, slack, work);
      }
    }
  });
}

void Booster::gains(double slack, unsigned threads, std::span<double> out) const {
  in_parts(kept_.size(), 512, threads, [&](std::size_t begin, std::size_t end) {
    Work work(k_);
    for (std::size_t j = begin; j < end; ++j) {
      measure(kept_[j].column, work);
      out[j] = gain(kept_[j].a, kept_[j].lambda, row(j), slack, work);
    }
  });
}

void Booster::score(const Stumps& stumps, double slack, unsigned threads, std::span<double> scores) const {
  const double a = scale({&intercept_column_, 0});
  in_parts(stumps.columns, 1, threads, [&](std::size_t begin, std::size_t end) {
    Work work(k_);
    for (std::size_t j = begin; j < end; ++j) score_cuts(stumps, j, a, slack, work, scores);
  });
}

void Booster::score_cuts(const Stumps& stumps, std::size_t j, double a, double slack, Work& work,
                         std::span<double> scores) const {
  const auto first = static_cast<std::size_t>(stumps.start[j]);
  const std::size_t cuts = static_cast<std::size_t>(stumps.start[j + 1]) - first;
  std::vector<BothWays> sums((cuts + 1) * k_);  // of each code
  const std::int32_t* code = &stumps.code[j * n_];
  const auto add = [&](const auto* from) {
    for (std::size_t i = 0; i < n_; ++i) {
      BothWays* to = &sums[static_cast<std::size_t>(code[i]) * k_];
      for (std::size_t r = 0; r < k_; ++r) pull(from[i * k_ + r], 1.0, to[r].up, to[r].down);
    }
  };
  ways_.empty() ? add(slope_.data()) : add(ways_.data());
  std::vector<BothWays> below(k_), above(sums);  // of the codes up to each cut, and from the one after it on
  for (std::size_t q = cuts * k_; q-- > 0;) above[q].up += above[q + k_].up, above[q].down += above[q + k_].down;
  for (std::size_t t = 0; t < cuts; ++t) {
    for (std::size_t r = 0; r < k_; ++r) {
      const std::size_t q = t * k_ + r;
      below[r].up += sums[q].up, below[r].down += sums[q].down;
      work.up[r] = above[q + k_].up + below[r].down;
      work.down[r] = above[q + k_].down + below[r].up;
    }
    scores[first + t] = gain(a, lambda_, work.zero, slack, work);
  }
}

}  // namespace gossamer
