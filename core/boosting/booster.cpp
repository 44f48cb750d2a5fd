#include "boosting/booster.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace gossamer {

Booster::Booster(const AnyLoss& loss, BoosterSetup setup, std::unique_ptr<BoostingRule> rule,
                 std::unique_ptr<BoostingRule> newton, std::unique_ptr<WholeRule> whole)
    : n_(setup.rows),
      k_(setup.outputs),
      y_(std::move(setup.y)),
      c_(std::move(setup.weights)),
      offset_(std::move(setup.offset)),
      lambda_(setup.lambda),
      rule_(std::move(rule)),
      newton_(std::move(newton)),
      whole_(std::move(whole)),
      z_(n_ * k_),
      slope_(n_ * k_),
      b_(k_),
      all_(n_),
      touched_(n_),
      ones_(n_, 1.0),
      intercept_column_(DenseLines<double>{1, n_, ones_.data()}),
      work_(k_) {
  if (c_.empty()) c_.assign(n_, 1.0);
  loss_ = make_summed_loss(loss, n_, k_, y_.data(), c_.data(), 1);
  if (!loss_->has_curvature()) throw std::invalid_argument("boosting needs a loss with a second derivative");
  if (loss_->pulls_both_ways()) ways_.resize(n_ * k_);
  std::iota(all_.begin(), all_.end(), 0);
  set({}, b_);
}

double Booster::loss() const {
  if (!model_) return loss_->value(z_.data(), work_.zero.data());
  double sum = 0;  // <S + ½ H (Z − Z⁰), Z − Z⁰>
  for (std::size_t q = 0; q < z_.size(); ++q) sum += 0.5 * (slope_[q] + model_->slope[q]) * (z_[q] - model_->z[q]);
  return model_->value + sum;
}

double Booster::penalty() const {
  if (whole_) return lambda_ * whole_->value(w_);
  double sum = 0;
  for (std::size_t j = 0; j < kept_.size(); ++j) sum += kept_[j].lambda * rule_->value(row(j));
  return sum;
}

void Booster::add(const Lines& columns, std::span<const std::int64_t> which, std::span<const double> weights,
                  bool copy) {
  kept_.reserve(kept_.size() + which.size());
  for (std::size_t e = 0; e < which.size(); ++e) {
    Kept kept{{&columns, static_cast<std::size_t>(which[e])}, 0, lambda_ * (weights.empty() ? 1.0 : weights[e]), {}};
    if (copy) {
      kept.own = copied(columns, which.subspan(e, 1));
      kept.column = {&kept.own->lines, 0};
    }
    kept.a = scale(kept.column);
    kept_.push_back(std::move(kept));
  }
  w_.resize(kept_.size() * k_);
  shares_.clear();
}

double Booster::update(std::span<const std::int64_t> which, double idle) {
  double furthest = 0;
  StopWatch watch;
  for (const std::int64_t e : which) {
    watch.did(1 << 11);  // a step may read a column of any length
    const auto j = static_cast<std::size_t>(e);
    const double a = model_ ? model_->a[j] : kept_[j].a;
    if (a != 0) furthest = std::max(furthest, step(kept_[j].column, a, kept_[j].lambda, row(j), idle));
  }
  return furthest;
}

double Booster::update_intercept() {
  const Column ones{&intercept_column_, 0};
  return step(ones, model_ ? model_scale(ones) : scale(ones), 0.0, b_, 0.0);
}

// One update of one row.
double Booster::step(const Column& column, double a, double lambda, std::span<double> w, double idle) {
  const BoostingRule& rule = model_ ? *newton_ : *rule_;
  measure(column, work_);
  rule.minimise(work_.pulls(), a, lambda, w, work_.next, work_.rule);
  double moves = 0, size = 0;
  for (std::size_t r = 0; r < k_; ++r) {
    moves = std::max(moves, std::fabs(work_.next[r] - w[r]));
    size = std::max(size, std::fabs(work_.next[r]));
  }
  const double away = moves == 0 ? 0.0 : moves * rule.curvature(work_.pulls(), a);
  if (moves == 0 || (away <= idle && size > 0)) return away;
  move_to(work_.next, w);
  shift(column);
  if (model_) {
    model_->H.add(*column.lines, column.at, work_.delta.data(), model_->slope.data());
  } else {
    std::size_t touched = 0;
    column.each([&](std::size_t i, double x) {
      touched_[touched] = static_cast<std::int32_t>(i);
      touched += x != 0;
    });
    loss_->pulls({touched_.data(), touched}, z_.data(), slope_.data(), ways_.data());
  }
  return away;
}

double Booster::update_together(unsigned threads) {
  if (shares_.size() != kept_.size()) share_out();
  std::vector<double> next(w_.size()), up(whole_ ? w_.size() : 0), down(up.size());
  std::vector<double> far_off(kept_.size());
  in_parts(kept_.size(), 512, threads, [&](std::size_t begin, std::size_t end) {
    Work work(k_);
    for (std::size_t j = begin; j < end; ++j) {
      const std::span<double> to(&next[j * k_], k_);
      if (shares_[j] == 0) {
        std::copy_n(&w_[j * k_], k_, to.begin());
        continue;
      }
      measure(kept_[j].column, work);
      far_off[j] = rule_->curvature(work.pulls(), shares_[j]);
      if (whole_) {
        std::copy_n(work.up.begin(), k_, &up[j * k_]);
        std::copy_n(work.down.begin(), k_, &down[j * k_]);
      } else {
        rule_->minimise(work.pulls(), shares_[j], kept_[j].lambda, row(j), to, work.rule);
      }
    }
  });
  if (whole_) {
    std::vector<double> a(w_.size());
    for (std::size_t q = 0; q < a.size(); ++q) a[q] = shares_[q / k_];
    whole_->minimise({up, down}, a, lambda_, w_, next);
  }
  double furthest = 0;
  for (std::size_t j = 0; j < kept_.size(); ++j) {
    const double moved = move_to({&next[j * k_], k_}, row(j));
    if (moved == 0) continue;
    furthest = std::max(furthest, far_off[j] * moved);
    shift(kept_[j].column);
  }
  refresh();
  return furthest;
}

// The largest template a_j ∝ 1 / max|x_j| with Σ_j a_j |x_ij| ≤ room for every example. The quadratic bound of all
// moves is by Cauchy and Schwarz: (Σ_j x_ij δ_j)² ≤ load_i Σ_j |x_ij| largest_j δ_j².
void Booster::share_out() {
  std::vector<double> load(n_), largest(kept_.size());
  for (std::size_t j = 0; j < kept_.size(); ++j) {
    const Column& column = kept_[j].column;
    column.each([&](std::size_t, double x) { largest[j] = std::max(largest[j], std::fabs(x)); });
    if (largest[j] > 0) column.each([&](std::size_t i, double x) { load[i] += std::fabs(x) / largest[j]; });
  }
  const double most = n_ == 0 ? 0.0 : *std::max_element(load.begin(), load.end());
  shares_.resize(kept_.size());
  for (std::size_t j = 0; j < kept_.size(); ++j) {
    double sum = 0;
    kept_[j].column.each([&](std::size_t i, double x) { sum += c_[i] * load[i] * std::fabs(x); });
    shares_[j] = rule_->scale(largest[j] * most, largest[j] * sum);
  }
}

std::vector<std::int64_t> Booster::prune() {
  std::vector<std::int64_t> stay;
  for (std::size_t j = 0; j < kept_.size(); ++j) {
    const auto w = row(j);
    if (std::all_of(w.begin(), w.end(), [](double x) { return x == 0; })) continue;
    const std::size_t to = stay.size();
    stay.push_back(static_cast<std::int64_t>(j));
    if (to == j) continue;
    kept_[to] = std::move(kept_[j]);
    std::copy(w.begin(), w.end(), &w_[to * k_]);
  }
  kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(stay.size()), kept_.end());
  w_.resize(stay.size() * k_);
  shares_.clear();
  return stay;
}

void Booster::set(std::span<const double> weights, std::span<const double> b) {
  std::copy(weights.begin(), weights.end(), w_.begin());
  std::copy(b.begin(), b.end(), b_.begin());
  for (std::size_t q = 0; q < z_.size(); ++q) z_[q] = b_[q % k_] + (offset_.empty() ? 0.0 : offset_[q / k_]);
  for (std::size_t j = 0; j < kept_.size(); ++j) {
    const auto w = row(j);
    work_.delta.assign(w.begin(), w.end());
    shift(kept_[j].column);
  }
  refresh();
}

void Booster::use_model(bool on) {
  model_.reset();
  refresh();
  if (!on) return;
  Model model{loss(), z_, std::vector<double>(n_ * k_), slope_, {}, {}};
  model.H = loss_->curvatures(z_.data(), work_.zero.data(), model.h.data());
  model_ = std::move(model);  // the numbers stay where they are, so H holds
  for (const Kept& kept : kept_) model_->a.push_back(model_scale(kept.column));
}

// At most one over the largest curvature of the model along a column.
double Booster::model_scale(const Column& column) {
  std::vector<double>& sum = work_.up;
  std::fill(sum.begin(), sum.end(), 0.0);
  column.each([&](std::size_t i, double x) {
    for (std::size_t r = 0; r < k_; ++r) sum[r] += x * x * model_->H.bound(i, r);
  });
  return newton_->scale(1.0, *std::max_element(sum.begin(), sum.end()));
}

// How all examples pull, from their margins.
void Booster::refresh() {
  if (!model_) return loss_->pulls(all_, z_.data(), slope_.data(), ways_.data());
  model_->slope = slope_;
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t r = 0; r < k_; ++r) work_.delta[r] = z_[i * k_ + r] - model_->z[i * k_ + r];
    model_->H.add(i, 1.0, work_.delta.data(), model_->slope.data());
  }
}

// Set w to next; the move is in work_.delta, and its largest entry is returned.
double Booster::move_to(std::span<const double> next, std::span<double> w) {
  double moved = 0;
  for (std::size_t r = 0; r < k_; ++r) {
    work_.delta[r] = next[r] - w[r];
    moved = std::max(moved, std::fabs(work_.delta[r]));
    w[r] = next[r];
  }
  return moved;
}

}  // namespace gossamer
