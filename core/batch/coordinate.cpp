#include "batch/coordinate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace gossamer {

namespace {

// ∂φ(w) = [low, high] of each penalty
struct Interval {
  double low, high;
};

Interval subdifferential(const L1&, double w) {
  return w > 0 ? Interval{1, 1} : w < 0 ? Interval{-1, -1} : Interval{-1, 1};
}
Interval subdifferential(const L2Squared&, double w) { return {w, w}; }
Interval subdifferential(const Berhu& p, double w) {
  if (std::fabs(w) > p.gamma) return {w / p.gamma, w / p.gamma};
  return subdifferential(L1{}, w);
}
Interval subdifferential(const ElasticNet& p, double w) {
  const Interval l1 = subdifferential(L1{}, w);
  return {p.l1_ratio * l1.low + (1 - p.l1_ratio) * w, p.l1_ratio * l1.high + (1 - p.l1_ratio) * w};
}
Interval subdifferential(const NonNegativeL1&, double w) { return w > 0 ? Interval{1, 1} : Interval{-infinity, 1}; }
Interval subdifferential(const Box& p, double w) {
  return {w <= p.low ? -infinity : 0.0, w >= p.high ? infinity : 0.0};
}

// The piece of φ that w is inside of: between low and high φ is quadratic, with this curvature. At a kink low = high.
struct Piece {
  double low, high, curvature;
};

Piece piece(const L1&, double w) {
  return w > 0 ? Piece{0, infinity, 0} : w < 0 ? Piece{-infinity, 0, 0} : Piece{0, 0, 0};
}
Piece piece(const L2Squared&, double) { return {-infinity, infinity, 1}; }
Piece piece(const Berhu& p, double w) {
  const double size = std::fabs(w), sign = w < 0 ? -1 : 1;
  if (size == 0 || size == p.gamma) return {w, w, 0};
  const Piece at = size < p.gamma ? Piece{0, p.gamma, 0} : Piece{p.gamma, infinity, 1 / p.gamma};
  return sign > 0 ? at : Piece{-at.high, -at.low, at.curvature};
}
Piece piece(const ElasticNet& p, double w) {
  Piece at = p.l1_ratio > 0 ? piece(L1{}, w) : piece(L2Squared{}, w);
  at.curvature = 1 - p.l1_ratio;
  return at;
}
Piece piece(const NonNegativeL1&, double w) { return w > 0 ? Piece{0, infinity, 0} : Piece{0, 0, 0}; }
Piece piece(const Box& p, double w) { return w > p.low && w < p.high ? Piece{p.low, p.high, 0} : Piece{w, w, 0}; }

double value_of(const Box&, double) { return 0; }
template <class P>
double value_of(const P& p, double w) {
  return p.value(w);
}

template <class T>
double dot(const SparseLines<T>& x, std::size_t j, const double* v) {
  const std::int64_t end = x.starts[j + 1];
  std::int64_t e = x.starts[j];
  double a = 0, b = 0;
  for (; e + 2 <= end; e += 2) {
    a += static_cast<double>(x.value[e]) * v[x.index[e]];
    b += static_cast<double>(x.value[e + 1]) * v[x.index[e + 1]];
  }
  if (e < end) a += static_cast<double>(x.value[e]) * v[x.index[e]];
  return a + b;
}

template <class T>
double dot(const DenseLines<T>& x, std::size_t j, const double* v) {
  const T* value = x.value + j * x.length;
  double lane[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= x.length; i += 8) {
    for (std::size_t r = 0; r < 8; ++r) lane[r] += static_cast<double>(value[i + r]) * v[i + r];
  }
  for (; i < x.length; ++i) lane[0] += static_cast<double>(value[i]) * v[i];
  return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

template <class L, class P>
class Solver final : public CoordinateSolver {
 public:
  Solver(const L& columns, unsigned threads, const SummedLoss& loss, const P& penalty, std::span<const double> weights,
         bool fit_intercept)
      : x_(columns),
        threads_(threads),
        loss_(loss),
        penalty_(penalty),
        a_(weights.begin(), weights.end()),
        fit_intercept_(fit_intercept),
        n_(columns.length),
        w_(columns.count),
        g_(columns.count),
        hessian_(columns.count),
        pull_(columns.count),
        violation_(columns.count),
        z_(n_),
        s_(n_),
        h_(n_),
        v_(n_),
        step_(n_) {}

  Standing start(std::span<const double> W, std::span<const double> b, double alpha) override {
    std::copy(W.begin(), W.end(), w_.begin());
    b_ = b[0];
    std::fill(z_.begin(), z_.end(), 0.0);
    for (std::size_t j = 0; j < w_.size(); ++j) {
      if (w_[j] != 0) x_.each(j, [&](std::size_t i, double x) { z_[i] += x * w_[j]; });
    }
    have_squares_ = false;
    damping_ = loss_.is_quadratic() ? 0 : 0.1;
    settle();
    return {value_, measure(alpha), 0, 0};
  }

  Standing round(double alpha, double share, std::size_t max_epochs) override {
    Standing now{value_, measure(alpha), 0, 0};
    choose();
    now.working = working_.size(), now.growing = growing_;
    if (working_.empty() || now.violation == 0) return now;
    model();
    now.epochs = descend(alpha, share * now.violation, now.violation, max_epochs);
    line_search(alpha);
    now.step = now_.step;
    settle();
    now.loss = value_;
    now.violation = measure(alpha);
    return now;
  }

  std::span<const double> weights() const override { return w_; }
  std::span<const double> intercept() const override { return {&b_, 1}; }
  std::span<const double> slopes() const override { return s_; }
  std::span<const double> gradient() const override { return g_; }

 private:
  double strength(double alpha, std::size_t j) const { return a_.empty() ? alpha : alpha * a_[j]; }

  // The exact intercept, then loss, slopes and gradient at w.
  void settle() {
    if (fit_intercept_) {
      const BestIntercept best = loss_.best_intercept(z_.data(), &b_);
      b_ = best.b[0];
    }
    value_ = loss_.slopes(z_.data(), &b_, s_.data());
    product(Lines(x_), s_, 1, g_, threads_);
  }

  // How far −g_j is from α a_j ∂φ(w_j), for every j; the largest.
  double measure(double alpha) {
    double most = 0;
    for (std::size_t j = 0; j < w_.size(); ++j) {
      const Interval at = subdifferential(penalty_, w_[j]);
      const double s = strength(alpha, j), low = s > 0 || std::isfinite(at.low) ? s * at.low : at.low,
                   high = s > 0 || std::isfinite(at.high) ? s * at.high : at.high;
      const double v = std::max({-g_[j] - high, low + g_[j], 0.0});
      violation_[j] = v;
      most = std::max(most, v);
    }
    return most;
  }

  // The working set: all features with a weight, and at most as many again that violate most.
  void choose() {
    working_.clear();
    candidates_.clear();
    for (std::size_t j = 0; j < w_.size(); ++j) {
      if (w_[j] != 0)
        working_.push_back(j);
      else if (violation_[j] > 0)
        candidates_.push_back(j);
    }
    const std::size_t room = std::max<std::size_t>(first_working, working_.size());
    growing_ = candidates_.size() > room;
    if (growing_) {
      std::nth_element(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(room), candidates_.end(),
                       [&](std::size_t i, std::size_t j) { return violation_[i] > violation_[j]; });
      candidates_.resize(room);
    }
    working_.insert(working_.end(), candidates_.begin(), candidates_.end());
    std::sort(working_.begin(), working_.end());
  }

  // h, and Σ h x² of the working set
  void model() {
    if (!loss_.is_quadratic() || !have_squares_) loss_.curvatures(z_.data(), &b_, h_.data());
    sum_h_ = 0;
    for (double h : h_) sum_h_ += h;
    if (damping_ > 0) damp();
    in_parts(working_.size(), 64, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t c = begin; c < end; ++c) {
        const std::size_t j = working_[c];
        if (loss_.is_quadratic() && have_squares_ && hessian_[j] > 0) continue;
        double sum = 0, first = 0;
        x_.each(j, [&](std::size_t i, double x) {
          const double hx = h_[i] * x;
          first += hx, sum += hx * x;
        });
        pull_[j] = fit_intercept_ ? first : 0.0;
        const double moved = fit_intercept_ && sum_h_ > 0 ? first * (first / sum_h_) : 0.0;
        hessian_[j] = std::max(sum - moved, 1e-10 * sum) + 1e-12 * sum_h_ + 1e-200;
      }
    });
    have_squares_ = true;
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
  std::size_t descend(double alpha, double enough, double violation, std::size_t max_epochs) {
    const bool far = violation > alpha;  // too far for subspaces to be worth their while
    new_.resize(working_.size());
    for (std::size_t c = 0; c < working_.size(); ++c) new_[c] = w_[working_[c]];
    std::fill(v_.begin(), v_.end(), 0.0);
    step_b_ = 0;
    std::vector<std::uint32_t> all(working_.size()), moving;
    std::iota(all.begin(), all.end(), 0u);
    std::size_t epochs = 0, worth_pairs = 0;
    while (epochs < max_epochs) {
      ++epochs;
      if (epoch(alpha, all) <= enough) break;
      if (epochs > 10 && worth_pairs == 0) worth_pairs = epochs_worth_pairs();
      if (epochs > 10 && epochs >= worth_pairs) return epochs + descend_by_pairs(alpha, enough);
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
  // where a product costs as much as three entries.
  std::size_t epochs_worth_pairs() {
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
    std::vector<std::size_t> starts(n_ + 1);
    for (std::size_t j : working_) x_.each(j, [&](std::size_t i, double) { ++starts[i + 1]; });
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
    std::vector<std::uint32_t> column(starts.back());
    std::vector<double> value(starts.back()), pairs(m * m), change(m);
    for (std::size_t c = 0; c < m; ++c) {
      x_.each(working_[c],
              [&](std::size_t i, double x) { column[next[i]] = static_cast<std::uint32_t>(c), value[next[i]++] = x; });
    }
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t a = starts[i]; a < starts[i + 1]; ++a) {
        double* row = pairs.data() + column[a] * m;
        const double hx = h_[i] * value[a];
        for (std::size_t b = starts[i]; b <= a; ++b) row[column[b]] += hx * value[b];
      }
    }
    for (std::size_t a = 0; a < m; ++a) {
      for (std::size_t b = 0; b <= a; ++b) {
        if (sum_h_ > 0) pairs[a * m + b] -= pull_[working_[a]] * (pull_[working_[b]] / sum_h_);
        pairs[b * m + a] = pairs[a * m + b];
      }
      change[a] = g_[working_[a]] + dot(x_, working_[a], v_.data()) + step_b_ * pull_[working_[a]];
    }
    std::size_t epochs = 0;
    for (double most = infinity; most > enough && epochs < 10'000; ++epochs) {
      most = 0;
      for (std::size_t c = 0; c < m; ++c) {
        const std::size_t j = working_[c];
        const double H = hessian_[j], before = new_[c];
        const double now = penalty_.prox(before - change[c] / H, strength(alpha, j) / H), by = now - before;
        if (by == 0) continue;
        const double* row = pairs.data() + c * m;
        for (std::size_t b = 0; b < m; ++b) change[b] += by * row[b];
        if (sum_h_ > 0) step_b_ -= by * (pull_[j] / sum_h_);
        new_[c] = now;
        most = std::max(most, H * std::fabs(by));
      }
    }
    return epochs * m * m / std::max<std::size_t>(1, 2 * starts.back());
  }

  // Conjugate gradients on the model over the weights that are inside a piece of φ, where the model is a quadratic;
  // the step ends where a weight would leave its piece, or clips it there if that is better. Many times faster than
  // coordinate descent where features are correlated.
  std::size_t subspace(double alpha, const std::vector<std::uint32_t>& moving, double enough) {
    std::vector<std::uint32_t> free;
    std::vector<Piece> pieces;
    for (std::uint32_t c : moving) {
      const Piece at = piece(penalty_, new_[c]);
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
      rest[f] = -(g_[j] + step_b_ * pull_[j] + s * subdifferential(penalty_, new_[free[f]]).low);
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
    // Clipped to the pieces if the model still falls, shortened otherwise.
    double longest = 1;
    bool clipped = false;
    std::vector<double> by(m);
    for (std::size_t f = 0; f < m; ++f) {
      const double w = new_[free[f]], at = w + d[f];
      by[f] = std::min(std::max(at, pieces[f].low), pieces[f].high) - w;
      if (w + by[f] == at) continue;
      clipped = true;
      longest = std::min(longest, by[f] / d[f]);
    }
    if (clipped) {
      const double clipped_b = spread_out(free, by, column);
      double change = 0;
      for (std::size_t f = 0; f < m; ++f) change += by[f] * (0.5 * bend[f] * by[f] - first[f]);
      for (std::size_t i = 0; i < n_; ++i) {
        change += 0.5 * h_[i] * (column[i] + clipped_b) * (column[i] + clipped_b);
      }
      if (change < 0) {
        for (std::size_t i = 0; i < n_; ++i) v_[i] += h_[i] * column[i];
        for (std::size_t f = 0; f < m; ++f) {
          double& w = new_[free[f]];
          w = std::min(std::max(w + by[f], pieces[f].low), pieces[f].high);
        }
        step_b_ += clipped_b;
        return rounds;
      }
    }
    for (std::size_t i = 0; i < n_; ++i) v_[i] += longest * v_step[i];
    for (std::size_t f = 0; f < m; ++f) {
      double& w = new_[free[f]];
      w = std::min(std::max(w + longest * d[f], pieces[f].low), pieces[f].high);
    }
    step_b_ += longest * d_b;
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
      x_.each(j, [&](std::size_t i, double x) { out[i] += x * by; });
      pull += pull_[j] * by;
    }
    return sum_h_ > 0 ? -pull / sum_h_ : 0.0;
  }

  // out[f] += sign · <column of over[f], v>
  void add_dots(const std::vector<std::uint32_t>& over, const std::vector<double>& v, std::vector<double>& out,
                double sign) const {
    in_parts(over.size(), 128, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t f = begin; f < end; ++f) out[f] += sign * dot(x_, working_[over[f]], v.data());
    });
  }

  double epoch(double alpha, const std::vector<std::uint32_t>& over) {
    double most = 0;
    for (std::uint32_t c : over) {
      const std::size_t j = working_[c];
      const double G = g_[j] + dot(x_, j, v_.data()) + step_b_ * pull_[j], H = hessian_[j], before = new_[c];
      const double now = penalty_.prox(before - G / H, strength(alpha, j) / H);
      const double by = now - before;
      if (by == 0) continue;
      x_.each(j, [&](std::size_t i, double x) { v_[i] += h_[i] * x * by; });
      if (sum_h_ > 0) step_b_ -= by * (pull_[j] / sum_h_);
      new_[c] = now;
      most = std::max(most, H * std::fabs(by));
    }
    return most;
  }

  // w + βd, b + βd_b with the first β = 1, ½, ¼ … that lowers F enough (Armijo).
  void line_search(double alpha) {
    std::fill(step_.begin(), step_.end(), 0.0);
    double promised = 0, before = 0;
    for (std::size_t c = 0; c < working_.size(); ++c) {
      const std::size_t j = working_[c];
      const double d = new_[c] - w_[j];
      if (d == 0) continue;
      x_.each(j, [&](std::size_t i, double x) { step_[i] += x * d; });
      const double rise = strength(alpha, j) * (value_of(penalty_, new_[c]) - value_of(penalty_, w_[j]));
      promised += g_[j] * d + rise;
      before += strength(alpha, j) * value_of(penalty_, w_[j]);
    }
    double share = 1;
    if (!loss_.is_quadratic()) {
      std::vector<double> there(n_);
      double expected = promised;  // the fall of the model
      for (std::size_t i = 0; i < n_; ++i) {
        expected += 0.5 * h_[i] * (step_[i] + step_b_) * (step_[i] + step_b_);
      }
      double kept = 0;
      for (int halvings = 0; halvings < 40; ++halvings, share /= 2) {
        const double b = b_ + share * step_b_;
        double after = 0;
        for (std::size_t i = 0; i < n_; ++i) there[i] = z_[i] + share * step_[i];
        for (std::size_t c = 0; c < working_.size(); ++c) {
          const std::size_t j = working_[c];
          after += strength(alpha, j) * value_of(penalty_, w_[j] + share * (new_[c] - w_[j]));
        }
        const double change = loss_.value(there.data(), &b) + after - value_ - before;
        kept = change / expected;
        if (change <= 0.01 * share * promised + 1e-15 * std::fabs(value_)) break;
      }
      // As in a trust region: less damping where the model told the truth, more where it did not.
      if (share < 1)
        damping_ = std::max(8 * damping_, 0.05);
      else if (kept < 0.5)
        damping_ = std::max(2 * damping_, 0.02);
      else if (kept > 0.75)
        damping_ = damping_ < 1e-5 ? 0.0 : damping_ * 0.25;
    }
    now_.step = share;
    for (std::size_t c = 0; c < working_.size(); ++c) {
      const std::size_t j = working_[c];
      w_[j] = share == 1 ? new_[c] : w_[j] + share * (new_[c] - w_[j]);
    }
    for (std::size_t i = 0; i < n_; ++i) z_[i] += share * step_[i];
    b_ += share * step_b_;
  }

  static constexpr std::size_t first_working = 100;

  Standing now_;
  L x_;
  unsigned threads_;
  const SummedLoss& loss_;
  P penalty_;
  std::vector<double> a_;
  bool fit_intercept_, have_squares_ = false, growing_ = false;
  std::size_t n_;
  double b_ = 0, value_ = 0, step_b_ = 0, sum_h_ = 0, damping_ = 0;
  std::vector<double> w_, g_, hessian_, pull_, violation_;  // one a feature; pull: Σ_i h_i x_ij
  std::vector<double> z_, s_, h_, v_, step_;                // one an example: margins, slopes, curvatures, h·Xd, Xd
  std::vector<std::size_t> working_, candidates_;
  std::vector<double> new_;  // w + d on the working set
};

}  // namespace

std::unique_ptr<CoordinateSolver> make_coordinate_solver(const Design& design, const SummedLoss& loss,
                                                         const CoordinatePenalty& penalty,
                                                         std::span<const double> weights, bool fit_intercept) {
  return std::visit(
      [&](const auto& columns, const auto& p) -> std::unique_ptr<CoordinateSolver> {
        return std::make_unique<Solver<std::decay_t<decltype(columns)>, std::decay_t<decltype(p)>>>(
            columns, design.threads(), loss, p, weights, fit_intercept);
      },
      design.column_lines(), penalty);
}

}  // namespace gossamer
