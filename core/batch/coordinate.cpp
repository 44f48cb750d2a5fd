#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "batch/gram.hpp"
#include "batch/newton.hpp"
#include "catalogue/on_blocks.hpp"
#include "catalogue/penalties.hpp"

namespace gossamer {

namespace {

// A penalty φ on single numbers, called once per column.
class NumberPenalty : public BlockPenalty {
 public:
  virtual double prox(double v, double s) const = 0;
  virtual Interval subdifferential(double w) const = 0;
  virtual Piece piece(double w) const = 0;
  // An epoch of descent on ½ Σ pairs_ab w_a w_b, given its gradient `change`. Returns how far the furthest was.
  virtual double sweep(std::span<const double> pairs, std::span<const double> curvature,
                       std::span<const double> threshold, std::span<double> w, std::span<double> change) const = 0;
  // How far −g_j is from α a_j ∂φ(w_j), for every j.
  virtual void violations(std::span<const double> w, std::span<const double> g, double alpha, std::span<const double> a,
                          std::span<double> out) const = 0;
  // Whether w = 0 is optimal for every gradient that is at most `slack` from g.
  virtual bool rests(double g, double slack, double s) const = 0;
};

template <class P>
class NumberPenaltyOf final : public NumberPenalty {
 public:
  explicit NumberPenaltyOf(const P& penalty) : penalty_(penalty) {}
  double value(std::span<const double> w, double weight) const override {
    return P::facts.is_set ? 0.0 : block_value(penalty_, w, weight);
  }
  double prox(double v, double s) const override { return penalty_.prox(v, s); }
  Interval subdifferential(double w) const override { return penalty_.subdifferential(w); }
  Piece piece(double w) const override { return penalty_.piece(w); }
  double sweep(std::span<const double> pairs, std::span<const double> curvature, std::span<const double> threshold,
               std::span<double> w, std::span<double> change) const override {
    double most = 0;
    for (std::size_t c = 0; c < w.size(); ++c) {
      const double now = penalty_.prox(w[c] - change[c] / curvature[c], threshold[c]), by = now - w[c];
      if (by == 0) continue;
      const auto row = pairs.subspan(c * w.size(), w.size());
      for (std::size_t b = 0; b < row.size(); ++b) change[b] += by * row[b];
      w[c] = now;
      most = std::max(most, curvature[c] * std::fabs(by));
    }
    return most;
  }
  void violations(std::span<const double> w, std::span<const double> g, double alpha, std::span<const double> a,
                  std::span<double> out) const override {
    const auto times = [](double s, double x) { return s > 0 || std::isfinite(x) ? s * x : x; };  // 0 · ∞ = ∞
    for (std::size_t j = 0; j < w.size(); ++j) {
      const Interval at = penalty_.subdifferential(w[j]);
      const double s = a.empty() ? alpha : alpha * a[j];
      out[j] = std::max({-g[j] - times(s, at.high), times(s, at.low) + g[j], 0.0});
    }
  }
  bool rests(double g, double slack, double s) const override {
    const Interval at = penalty_.subdifferential(0.0);
    return s > 0 && -g + slack <= s * at.high && -g - slack >= s * at.low;
  }

 private:
  P penalty_;
};

class SingleWeights final : public NewtonSolver {
 public:
  SingleWeights(const Design& design, const SummedLoss& loss, std::unique_ptr<NumberPenalty> penalty,
                std::span<const double> weights, bool fit_intercept)
      : NewtonSolver(design, loss, *penalty, weights, {}, {}, fit_intercept, 100, 0.1),
        penalty_(std::move(penalty)),
        hessian_(W_.size()),
        pull_(W_.size()),
        v_(n_) {}

  Standing start(std::span<const double> W, std::span<const double> b, double alpha) override {
    have_squares_ = false;
    return NewtonSolver::start(W, b, alpha);
  }

 private:
  double strength(double alpha, std::size_t j) const { return alpha * weight(j); }

  // √(Σ p (x − x̄)²): the slopes balance where there is an intercept.
  double reach(std::size_t j) override { return reach_[j]; }

  void find_due(double alpha) override {
    if (reach_.empty()) {
      reach_.resize(W_.size());
      in_line_parts(x_, 1, threads_, [&](std::size_t begin, std::size_t end) {
        for (std::size_t j = begin; j < end; ++j) {
          const auto [mean, squares] = x_.moments(j, loss_.weights());
          const double spread = squares - (fit_intercept_ ? mean * mean : 0.0);
          reach_[j] = std::sqrt(spread > 1e-4 * squares ? spread : squares);
        }
      });
    }
    for (std::size_t j = 0; j < W_.size(); ++j) {
      const double off = slack(j);
      if (off > 0 && (W_[j] != 0 || !penalty_->rests(G_[j], off, strength(alpha, j)))) due_.push_back(j);
    }
  }

  double measure(double alpha) override {
    penalty_->violations(W_, G_, alpha, a_, violation_);
    return violation_.empty() ? 0.0 : *std::max_element(violation_.begin(), violation_.end());
  }

  // h, and Σ h x² of the working set
  void model() override {
    if (!loss_.is_quadratic() || !have_squares_)
      H_ = loss_.curvatures(Z_.data(), b_.data(), h_.data(), std::min(damping_, 1.0));
    sum_h_ = 0;
    for (double h : h_) sum_h_ += h;
    if (damping_ > 0 && !loss_.has_majorant()) damp();
    in_parts(working_.size(), 64, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t c = begin; c < end; ++c) {
        const std::size_t j = working_[c];
        if (loss_.is_quadratic() && have_squares_ && hessian_[j] > 0) continue;
        const auto [first, sum] = x_.moments(j, h_.data());
        pull_[j] = fit_intercept_ ? first : 0.0;
        const double mean = fit_intercept_ && sum_h_ > 0 ? first / sum_h_ : 0.0;
        hessian_[j] = std::max(around(j, mean, sum), 1e-14 * sum) + 1e-200;
      }
    });
    have_squares_ = true;
  }

  // Σ_i h_i (x_ij − m)² over all examples, from Σ h x² and the mean m: by its definition where the difference of the
  // two would be mostly rounding.
  double around(std::size_t j, double mean, double squares) const {
    const double spread = squares - sum_h_ * mean * mean;
    if (spread > 1e-4 * squares) return spread;
    double sum = 0, seen = 0;
    x_.each(j, [&](std::size_t i, double x) { seen += h_[i], sum += h_[i] * (x - mean) * (x - mean); });
    return sum + std::max(sum_h_ - seen, 0.0) * mean * mean;
  }

  // No example is taken to be flatter than a share of the steepest: where the loss is nearly straight the model says
  // nothing of what lies ahead.
  void damp() {
    const double* p = loss_.weights();
    double steepest = 0;
    for (std::size_t i = 0; i < n_; ++i) steepest = std::max(steepest, p[i] > 0 ? h_[i] / p[i] : 0.0);
    const double least = std::min(damping_, 1.0) * steepest;
    sum_h_ = 0;
    for (std::size_t i = 0; i < n_; ++i) h_[i] = std::max(h_[i], least * p[i]), sum_h_ += h_[i];
  }

  // Minimises the model over the working set; leaves w + d in new_, h·Xd in v. The intercept d_b is the best for d at
  // every moment: as Σ slopes = 0, d_b = −Σ_j (Σ_i h_i x_ij) d_j / Σ h, and the curvature of a feature is that around
  // its h-weighted mean.
  std::size_t descend(double alpha, double enough, double violation, std::size_t max_epochs) override {
    const bool far = violation > alpha;  // too far for subspaces to be worth their while
    std::fill(v_.begin(), v_.end(), 0.0);
    std::vector<std::uint32_t> all(working_.size()), moving;
    std::iota(all.begin(), all.end(), 0u);
    std::size_t epochs = 0, worth_pairs = 0;
    const std::size_t few_epochs = is_dense(x_) ? 1 : 10;
    while (epochs < max_epochs) {
      ++epochs;
      if (epoch(alpha, all) <= enough) break;
      if (epochs > few_epochs && worth_pairs == 0) worth_pairs = epochs_worth_pairs();
      if (epochs > few_epochs && epochs >= worth_pairs) return epochs + descend_by_pairs(alpha, enough);
      // Those that are away from zero, until they rest; then all again.
      moving.clear();
      for (std::uint32_t c : all) {
        if (new_[c] != 0) moving.push_back(c);
      }
      double most = infinity;
      for (int few = 0; few < 3 && epochs < max_epochs && most > 0.5 * enough; ++few, ++epochs) {
        most = epoch(alpha, moving);
      }
      if (most > 0.5 * enough && (!far || epochs > 50)) epochs += subspace(alpha, moving, 0.5 * enough);
    }
    return epochs;
  }

  // After how many epochs it pays to have the products of all pairs of working columns: as many as making them costs,
  // where a product costs as much as three entries. (a9a takes half the time, ailerons an eighth.)
  std::size_t epochs_worth_pairs() {
    if (is_dense(x_)) {  // tiles of products stay in registers, and use all threads
      const std::size_t m = working_.size();
      return 2 * m > n_ || m > 2048 || n_ * m < 1 << 14 ? std::numeric_limits<std::size_t>::max() : m / 32 + 1;
    }
    std::vector<std::uint32_t> in_row(n_);
    double entries = 0, products = 0;
    for (std::size_t j : working_) x_.each(j, [&](std::size_t i, double) { ++in_row[i]; });
    for (const double count : in_row) entries += count, products += count * count / 2;
    const double m = static_cast<double>(working_.size());
    if (4 * m * m > entries || m > 4096) return std::numeric_limits<std::size_t>::max();
    return static_cast<std::size_t>(3 * products / (2 * entries)) + 1;
  }

  // The same as before with the products of all pairs of working columns, Σ_i h_i x_ia x_ib around their means: an
  // epoch costs as much as there are pairs, however many examples there are.
  std::size_t descend_by_pairs(double alpha, double enough) {
    const std::size_t m = working_.size();
    std::vector<double> pairs(m * m), change(m), curvature(m), threshold(m), start = new_;
    const std::size_t entries = is_dense(x_) ? n_ * m : sparse_gram(pairs);
    if (is_dense(x_)) gram(x_, working_, h_, pairs, threads_);
    if (loss_.is_quadratic()) enough *= 1e-3;  // no other model follows
    for (std::size_t a = 0; a < m; ++a) {
      for (std::size_t b = 0; b <= a; ++b) {
        if (sum_h_ > 0) pairs[a * m + b] -= pull_[working_[a]] * (pull_[working_[b]] / sum_h_);
        pairs[b * m + a] = pairs[a * m + b];
      }
      curvature[a] = hessian_[working_[a]];
      threshold[a] = strength(alpha, working_[a]) / curvature[a];
      change[a] = G_[working_[a]] + x_.dot(working_[a], v_.data()) + step_b_[0] * pull_[working_[a]];
    }
    std::size_t epochs = 1;
    while (penalty_->sweep(pairs, curvature, threshold, new_, change) > enough && epochs < 10'000) {
      ++epochs;
      check_stop();
    }
    for (std::size_t c = 0; c < m && sum_h_ > 0; ++c)
      step_b_[0] -= (new_[c] - start[c]) * (pull_[working_[c]] / sum_h_);
    return epochs * m * m / std::max<std::size_t>(1, 2 * entries);
  }

  // The products of pairs of sparse working columns, row by row; returns their entries.
  std::size_t sparse_gram(std::vector<double>& pairs) const {
    const std::size_t m = working_.size();
    std::vector<std::size_t> starts(n_ + 1);
    for (std::size_t j : working_) x_.each(j, [&](std::size_t i, double) { ++starts[i + 1]; });
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
    std::vector<std::uint32_t> column(starts.back());
    std::vector<double> value(starts.back());
    for (std::size_t c = 0; c < m; ++c) {
      x_.each(working_[c],
              [&](std::size_t i, double x) { column[next[i]] = static_cast<std::uint32_t>(c), value[next[i]++] = x; });
    }
    StopWatch watch;
    for (std::size_t i = 0; i < n_; ++i, watch.did((starts[i] - starts[i - 1]) * (starts[i] - starts[i - 1]))) {
      for (std::size_t a = starts[i]; a < starts[i + 1]; ++a) {
        double* row = pairs.data() + column[a] * m;
        const double hx = h_[i] * value[a];
        for (std::size_t b = starts[i]; b <= a; ++b) row[column[b]] += hx * value[b];
      }
    }
    return starts.back();
  }

  // Conjugate gradients on the model over the weights that are inside a piece of φ, where the model is a quadratic;
  // a weight that would leave its piece is clipped there, or all are shortened where that does not lower the model.
  // (rcv1 takes an eighth of the time at α = 1e-5, mnist two thirds at 1e-4.)
  std::size_t subspace(double alpha, const std::vector<std::uint32_t>& moving, double enough) {
    std::vector<std::uint32_t> free;
    std::vector<Piece> pieces;
    for (std::uint32_t c : moving) {
      const Piece at = penalty_->piece(new_[c]);
      if (at.low < at.high) free.push_back(c), pieces.push_back(at);
    }
    const std::size_t m = free.size();
    if (m == 0) return 0;
    std::vector<double> rest(m), scale(m), bend(m), d(m), q(m), Hq(m), v_step(n_), hq(n_), column(n_);
    for (std::size_t f = 0; f < m; ++f) {
      const std::size_t j = working_[free[f]];
      const double s = strength(alpha, j);
      bend[f] = s * pieces[f].curvature;
      scale[f] = hessian_[j] + bend[f];
      rest[f] = -(G_[j] + step_b_[0] * pull_[j] + s * penalty_->subdifferential(new_[free[f]]).low);
    }
    add_dots(free, v_, rest, -1.0);
    const std::vector<double> first = rest;
    double size = 0, d_b = 0;
    for (std::size_t f = 0; f < m; ++f) q[f] = rest[f] / scale[f], size += rest[f] * q[f];
    std::size_t rounds = 0;
    while (rounds < 30 && size > 0) {
      ++rounds;
      const double q_b = spread_out(free, q, column);  // X q, and the intercept that goes with it
      for (std::size_t i = 0; i < n_; ++i) hq[i] = h_[i] * (column[i] + q_b);
      for (std::size_t f = 0; f < m; ++f) Hq[f] = bend[f] * q[f];
      add_dots(free, hq, Hq, 1.0);
      double turn = 0, next = 0, worst = 0;
      for (std::size_t f = 0; f < m; ++f) turn += q[f] * Hq[f];
      if (!(turn > 0)) break;
      const double far = size / turn;
      for (std::size_t f = 0; f < m; ++f) {
        d[f] += far * q[f], rest[f] -= far * Hq[f];
        next += rest[f] * rest[f] / scale[f];
        worst = std::max(worst, std::fabs(rest[f]));
      }
      d_b += far * q_b;
      for (std::size_t i = 0; i < n_; ++i) v_step[i] += far * (h_[i] * column[i]);
      if (worst <= 0.3 * enough) break;
      for (std::size_t f = 0; f < m; ++f) q[f] = rest[f] / scale[f] + next / size * q[f];
      size = next;
    }
    std::vector<double> by(m);
    const auto clip = [&](std::size_t f, double w) { return std::min(std::max(w, pieces[f].low), pieces[f].high); };
    double longest = 1, change = 0;
    for (std::size_t f = 0; f < m; ++f) {
      const double w = new_[free[f]];
      by[f] = clip(f, w + d[f]) - w;
      if (w + by[f] != w + d[f]) longest = std::min(longest, by[f] / d[f]);
      change += by[f] * (0.5 * bend[f] * by[f] - first[f]);
    }
    if (longest < 1) {
      const double by_b = spread_out(free, by, column);
      for (std::size_t i = 0; i < n_; ++i) change += 0.5 * h_[i] * (column[i] + by_b) * (column[i] + by_b);
      if (change < 0) {
        d = by, d_b = by_b, longest = 1;
        for (std::size_t i = 0; i < n_; ++i) v_step[i] = h_[i] * column[i];
      }
    }
    for (std::size_t i = 0; i < n_; ++i) v_[i] += longest * v_step[i];
    for (std::size_t f = 0; f < m; ++f) new_[free[f]] = clip(f, new_[free[f]] + longest * d[f]);
    step_b_[0] += longest * d_b;
    return rounds;
  }

  // out = X q over some features; returns the change of the intercept that minimises Σ h (Xq + q_b)².
  double spread_out(const std::vector<std::uint32_t>& over, const std::vector<double>& q,
                    std::vector<double>& out) const {
    std::fill(out.begin(), out.end(), 0.0);
    double pull = 0;
    for (std::size_t f = 0; f < over.size(); ++f) {
      const std::size_t j = working_[over[f]];
      const double by = q[f];
      if (by == 0) continue;
      x_.scatter(j, &by, 1, out.data()), visited();
      pull += pull_[j] * by;
    }
    return sum_h_ > 0 ? -pull / sum_h_ : 0.0;
  }

  // out[f] += sign · <column of over[f], v>
  void add_dots(const std::vector<std::uint32_t>& over, const std::vector<double>& v, std::vector<double>& out,
                double sign) const {
    in_parts(over.size(), 128, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t f = begin; f < end; ++f) out[f] += sign * x_.dot(working_[over[f]], v.data());
    });
  }

  double epoch(double alpha, const std::vector<std::uint32_t>& over) {
    double most = 0;
    for (std::uint32_t c : over) {
      visited();
      const std::size_t j = working_[c];
      const double G = G_[j] + x_.dot(j, v_.data()) + step_b_[0] * pull_[j], H = hessian_[j], before = new_[c];
      const double now = penalty_->prox(before - G / H, strength(alpha, j) / H);
      const double by = now - before;
      if (by == 0) continue;
      H_.add(x_, j, &by, v_.data());
      if (sum_h_ > 0) step_b_[0] -= by * (pull_[j] / sum_h_);
      new_[c] = now;
      most = std::max(most, H * std::fabs(by));
    }
    return most;
  }

  std::unique_ptr<NumberPenalty> penalty_;
  bool have_squares_ = false;
  double sum_h_ = 0;
  std::vector<double> hessian_, pull_;  // one per feature: the curvature of the model, and Σ_i h_i x_ij
  std::vector<double> v_;               // one per example: h·Xd
  std::vector<double> reach_;           // one per feature
};

}  // namespace

std::unique_ptr<CoordinateSolver> make_coordinate_solver(const Design& design, const SummedLoss& loss,
                                                         const NumberPenalties::Variant& penalty,
                                                         std::span<const double> weights, bool fit_intercept) {
  auto made = std::visit(
      []<class P>(const P& p) -> std::unique_ptr<NumberPenalty> { return std::make_unique<NumberPenaltyOf<P>>(p); },
      penalty);
  return std::make_unique<SingleWeights>(design, loss, std::move(made), weights, fit_intercept);
}

}  // namespace gossamer
