#include "batch/newton.hpp"

#include <algorithm>
#include <cmath>

namespace gossamer {

NewtonSolver::NewtonSolver(const Design& design, const SummedLoss& loss, const BlockPenalty& penalty,
                           std::span<const double> weights, std::span<const std::int64_t> members,
                           std::span<const std::int64_t> starts, bool fit_intercept, std::size_t room, double damping)
    : x_(design.column_lines()),
      threads_(design.threads()),
      loss_(loss),
      a_(weights.begin(), weights.end()),
      members_(members.begin(), members.end()),
      starts_(starts.begin(), starts.end()),
      fit_intercept_(fit_intercept),
      n_(x_.length()),
      k_(loss.outputs()),
      room_(room),
      first_damping_(loss.is_quadratic()   ? 0.0
                     : loss.has_majorant() ? 1.0
                                           : damping),
      least_damping_(loss.has_majorant() ? 1e-3 : 0.0),
      b_(k_),
      step_b_(k_),
      W_(x_.count() * k_),
      G_(x_.count() * k_),
      Z_(n_ * k_),
      S_(n_ * k_),
      h_(n_ * k_),
      violation_(starts_.empty() ? x_.count() : starts_.size() - 1),
      penalty_(penalty),
      way_at_(violation_.size()),
      S_before_(n_ * k_),
      per_column_(x_.entries() * k_ / std::max<std::size_t>(1, x_.count()) + 1) {}

Standing NewtonSolver::start(std::span<const double> W, std::span<const double> b, double alpha) {
  damping_ = first_damping_;
  const bool known = known_ && std::equal(W.begin(), W.end(), W_.begin());
  known_ = false;
  if (!known) std::copy(b.begin(), b.end(), b_.begin());
  std::copy(W.begin(), W.end(), W_.begin());
  std::fill(Z_.begin(), Z_.end(), 0.0);
  for (std::size_t j = 0; j < x_.count(); ++j) {
    const double* w = &W_[j * k_];
    if (std::any_of(w, w + k_, [](double v) { return v != 0; })) x_.scatter(j, w, k_, Z_.data()), visited();
  }
  if (known)  // what steps have left of rounding is gone from the margins; the rest is as before
    known_ = true;
  else
    settle(true);
  return look(alpha);
}

// Loss and violation at W.
Standing NewtonSolver::look(double alpha) {
  refresh(alpha);
  Standing now;
  now.loss = value_, now.violation = measure(alpha), now.products = products_;
  products_ = 0;
  return now;
}

Standing NewtonSolver::round(double alpha, double share, std::size_t max_epochs) {
  Standing now = look(alpha);
  known_ = false;
  choose();
  now.working = working_.size(), now.growing = growing_;
  if (working_.empty() || now.violation == 0) return known_ = true, now;
  model();
  std::fill(step_b_.begin(), step_b_.end(), 0.0);
  now.epochs = descend(alpha, share * now.violation, now.violation, max_epochs);
  now.step = line_search(alpha);
  settle(false);
  const Standing then = look(alpha);
  now.loss = then.loss, now.violation = then.violation, now.products += then.products;
  return now;
}

// The exact intercept, then loss and slopes at W; the gradient of all blocks, or later of those that need it.
void NewtonSolver::settle(bool all) {
  if (fit_intercept_) b_ = loss_.best_intercept(Z_.data(), b_.data()).b;
  S_.swap(S_before_);
  value_ = loss_.slopes(Z_.data(), b_.data(), S_.data());
  double moved = 0;
  for (std::size_t i = 0, q = 0; i < n_; ++i) {
    double sum = 0;
    for (std::size_t r = 0; r < k_; ++r, ++q) sum += (S_[q] - S_before_[q]) * (S_[q] - S_before_[q]);
    moved += sum / loss_.weights()[i];
  }
  way_ += std::sqrt(moved);
  if (all || !std::isfinite(way_)) {
    if (!std::isfinite(way_)) way_ = 0;
    product(x_, S_, k_, G_, threads_);
    way_at_.assign(way_at_.size(), way_);
    products_ += x_.count();
  }
  known_ = true;
}

// Makes the gradient exact where it may matter at this strength.
void NewtonSolver::refresh(double alpha) {
  due_.clear();
  find_due(alpha);
  const std::size_t grain = std::max<std::size_t>(1, 16384 / per_column_);
  in_parts(due_.size(), grain, due_.size() * per_column_ < (1 << 17) ? 1 : threads_,
           [&](std::size_t begin, std::size_t end) {
             for (std::size_t c = begin; c < end; ++c) {
               for (std::size_t m = 0; m < size(due_[c]); ++m) {
                 const std::size_t j = feature(due_[c], m);
                 x_.gather(j, S_.data(), k_, &G_[j * k_]);
               }
             }
           });
  for (const std::size_t b : due_) way_at_[b] = way_, products_ += size(b);
}

bool NewtonSolver::is_zero(std::size_t b) const {
  for (std::size_t m = 0; m < size(b); ++m) {
    const double* w = &W_[feature(b, m) * k_];
    if (std::any_of(w, w + k_, [](double v) { return v != 0; })) return false;
  }
  return true;
}

// The working set: all blocks with a weight, and at most as many again (a quarter, where pairs of columns cost) that
// violate most.
void NewtonSolver::choose() {
  working_.clear(), candidates_.clear();
  for (std::size_t b = 0; b < violation_.size(); ++b) {
    if (!is_zero(b))
      working_.push_back(b);
    else if (violation_[b] > 0)
      candidates_.push_back(b);
  }
  const std::size_t room = std::max(room_, working_.size() / (by_metric_ ? 4 : 1));
  growing_ = candidates_.size() > room;
  if (growing_) {
    std::nth_element(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(room), candidates_.end(),
                     [&](std::size_t i, std::size_t j) { return violation_[i] > violation_[j]; });
    candidates_.resize(room);
  }
  working_.insert(working_.end(), candidates_.begin(), candidates_.end());
  std::sort(working_.begin(), working_.end());
  lay_out();
}

void NewtonSolver::lay_out() {
  offsets_.assign(1, 0), old_.clear();
  for (const std::size_t b : working_) {
    for (std::size_t m = 0; m < size(b); ++m) {
      const double* w = &W_[feature(b, m) * k_];
      old_.insert(old_.end(), w, w + k_);
    }
    offsets_.push_back(old_.size());
  }
  new_ = old_;
}

// W + βD, b + βd_b with the first β = 1, ½, ¼ … that lowers F enough (Armijo).
double NewtonSolver::line_search(double alpha) {
  std::vector<double> step(n_ * k_), there(n_ * k_), b(k_), block, delta(k_);
  // αΩ of the working set at a share of the way, and where that is
  const auto at = [&](std::size_t q, double share) {
    return share == 1 ? new_[q] : old_[q] + share * (new_[q] - old_[q]);
  };
  const auto penalty = [&](double share) {
    double sum = 0;
    for (std::size_t c = 0; c < working_.size(); ++c) {
      block.clear();
      for (std::size_t q = offsets_[c]; q < offsets_[c + 1]; ++q) block.push_back(at(q, share));
      sum += penalty_.value(block, weight(working_[c]));
    }
    return alpha * sum;
  };
  const double before = penalty(0);
  double share = 1, promised = penalty(1) - before;
  for (std::size_t c = 0, q = 0; c < working_.size(); ++c) {
    for (std::size_t m = 0; m < size(working_[c]); ++m) {
      const std::size_t j = feature(working_[c], m);
      bool moves = false;
      for (std::size_t r = 0; r < k_; ++r, ++q) {
        delta[r] = new_[q] - old_[q];
        promised += G_[j * k_ + r] * delta[r];
        moves = moves || delta[r] != 0;
      }
      if (moves) x_.scatter(j, delta.data(), k_, step.data()), visited();
    }
  }
  const auto move = [&] {
    for (std::size_t q = 0; q < there.size(); ++q) there[q] = Z_[q] + share * step[q];
    for (std::size_t r = 0; r < k_; ++r) b[r] = b_[r] + share * step_b_[r];
  };
  if (loss_.is_quadratic()) {
    move();
  } else {
    double expected = promised, kept = 0;  // the fall of the model, and the share of it that is true
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t r = 0; r < k_; ++r) delta[r] = step[i * k_ + r] + step_b_[r];
      expected += 0.5 * H_.along(i, delta.data());
    }
    for (int halvings = 0;; ++halvings, share /= 2) {
      move();
      const double change = loss_.value(there.data(), b.data()) + penalty(share) - value_ - before;
      kept = -expected > 1e-13 * std::fabs(value_) ? change / expected : 1;  // smaller is rounding
      if (change <= 0.01 * share * promised + 1e-15 * std::fabs(value_) || halvings == 40) break;
    }
    trust(share, kept);
  }
  for (std::size_t c = 0, q = 0; c < working_.size(); ++c) {
    for (std::size_t m = 0; m < size(working_[c]); ++m) {
      for (std::size_t r = 0; r < k_; ++r, ++q) W_[feature(working_[c], m) * k_ + r] = at(q, share);
    }
  }
  Z_.swap(there), b_.swap(b);
  return share;
}

// As in a trust region: less damping where the model told the truth, more where it did not.
void NewtonSolver::trust(double share, double kept) {
  if (share < 1)
    damping_ = std::max(8 * damping_, 0.05);
  else if (kept < 0.5)
    damping_ = std::max(2 * damping_, 0.02);
  else if (kept > 0.75)
    damping_ = std::max(damping_ < 1e-5 ? 0.0 : damping_ * 0.25, least_damping_);
}

}  // namespace gossamer
