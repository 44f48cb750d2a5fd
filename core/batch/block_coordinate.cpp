// Coordinate descent over blocks: rows of W (one feature over all outputs) or the user's groups of features. Inside a
// round (coordinate.hpp) a block takes prox-gradient steps on the model,
//
//     W_b ← prox(W_b − G_b/L_b, α/L_b),     L_b ≥ the largest curvature of the model in the block,
//
// and every few passes the iterates are extrapolated (Anderson), which is kept if it lowers the model.
//
// Bertrand, Massias: Anderson acceleration of coordinate descent, AISTATS 2021.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/solve.hpp"
#include "batch/gram.hpp"
#include "batch/metric.hpp"
#include "batch/newton.hpp"
#include "catalogue/on_blocks.hpp"

namespace gossamer {

namespace {

// A penalty on blocks, called once per block.
class ProxPenalty : public BlockPenalty {
 public:
  virtual void prox(std::span<const double> v, std::span<double> out, double s, double weight,
                    Scratch& scratch) const = 0;
  // Whether W_b = 0 is optimal for every gradient that is at most `slack` from −v.
  virtual bool rests(std::span<const double> v, double slack, double s, double weight) const = 0;
};

template <class P>
class ProxPenaltyOf final : public ProxPenalty {
 public:
  explicit ProxPenaltyOf(const P& penalty) : penalty_(penalty) {}
  double value(std::span<const double> w, double weight) const override { return block_value(penalty_, w, weight); }
  void prox(std::span<const double> v, std::span<double> out, double s, double weight,
            Scratch& scratch) const override {
    block_prox(penalty_, v, out, s, weight, scratch);
  }
  // The dual norm is subadditive, and that of a vector is at most its length divided by the radius of a ball inside
  // ∂Ω(0).
  bool rests(std::span<const double> v, double slack, double s, double weight) const override {
    if constexpr (requires { block_dual(penalty_, v, weight); }) {
      const double radius = ball(v.size(), weight);
      return s > 0 && radius > 0 && block_dual(penalty_, v, weight) + slack / radius <= s;
    }
    return false;
  }

 private:
  // The radius: the least Ω on the unit sphere, at one number or at equal ones.
  double ball(std::size_t m, double weight) const {
    if constexpr (OfBlocks<P>) {
      std::vector<double> w(m, 1 / std::sqrt(static_cast<double>(m)));
      const double even = penalty_.value(std::span<const double>(w), weight);
      std::fill(w.begin(), w.end(), 0.0), w[0] = 1;
      return std::min(even, penalty_.value(std::span<const double>(w), weight));
    } else {
      const Interval at = penalty_.subdifferential(0.0);
      return weight * std::min(at.high, -at.low);
    }
  }
  P penalty_;
};

class BlockSolver final : public NewtonSolver {
 public:
  BlockSolver(const Design& design, const SummedLoss& loss, std::unique_ptr<ProxPenalty> penalty,
              std::span<const double> weights, std::span<const std::int64_t> members,
              std::span<const std::int64_t> starts, bool fit_intercept)
      : NewtonSolver(design, loss, *penalty, weights, members, starts, fit_intercept, 20, 0.0),
        penalty_(std::move(penalty)),
        V_(n_ * k_),
        largest_(n_),
        lipschitz_(violation_.size()),
        trace_(violation_.size()),
        spread_(violation_.size()),
        pairs_(violation_.size()),
        delta_(k_) {
    by_metric_ = k_ > 1 && 4 * x_.entries() > x_.count() * n_;
    if (fit_intercept_) centre();
    in_parts(spread_.size(), 16, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t b = begin; b < end; ++b) trace_[b] = trace(b), spread_[b] = size(b) == 1 ? trace_[b] : -1;
    });
  }

  Standing start(std::span<const double> W, std::span<const double> b, double alpha) override {
    std::vector<double> moved(b.begin(), b.end());
    shift(1.0, W, moved);
    return NewtonSolver::start(W, moved, alpha);
  }
  std::span<const double> intercept() const override {
    shown_b_ = b_;
    shift(-1.0, W_, shown_b_);
    return shown_b_;
  }

 private:
  // Dense columns are centred, so that they and the intercept do not fight: z = (X − 1x̄ᵀ)W + b + x̄ᵀW.
  void centre() {
    std::visit(
        [&]<class L>(const L& lines) {
          if constexpr (requires { DenseLines{lines}; }) {
            auto& copy = centred_.values<std::remove_cvref_t<decltype(*lines.value)>>();
            copy.assign(lines.value, lines.value + lines.entries());
            means_.resize(lines.count);
            product(x_, {loss_.weights(), n_}, 1, means_, threads_);
            for (std::size_t j = 0; j < lines.count; ++j) {
              for (std::size_t i = 0; i < n_; ++i) copy[j * n_ + i] -= means_[j];
            }
            centred_.lines = L{lines.count, n_, copy.data()};
          }
        },
        x_);
    if (!means_.empty()) x_ = centred_.lines;
  }
  // b += sign · x̄ᵀW
  void shift(double sign, std::span<const double> W, std::vector<double>& b) const {
    for (std::size_t j = 0; j < means_.size(); ++j) {
      for (std::size_t r = 0; r < k_; ++r) b[r] += sign * means_[j] * W[j * k_ + r];
    }
  }

  // The numbers of a block of a d × k matrix, one after the other.
  void take(std::size_t b, const std::vector<double>& from, std::vector<double>& out) const {
    out.clear();
    for (std::size_t m = 0; m < size(b); ++m) {
      const double* at = &from[feature(b, m) * k_];
      out.insert(out.end(), at, at + k_);
    }
  }

  // The trace of X_bᵀ diag(p) X_b: at least its largest eigenvalue, and that for one feature
  double trace(std::size_t b) const {
    const double* p = loss_.weights();
    double sum = 0;
    for (std::size_t m = 0; m < size(b); ++m) sum += x_.moments(feature(b, m), p).second;
    return sum;
  }

  // The largest eigenvalue: by power iteration, rounded up. Only blocks that move need it.
  double spread(std::size_t b) const {
    const double* p = loss_.weights();
    if (trace_[b] == 0) return 0;
    if (has_pairs(b)) return std::min(1.02 * largest_eigenvalue(pairs(b, {p, n_})), trace_[b]);
    std::vector<double> v(size(b)), z(n_);
    for (std::size_t m = 0; m < v.size(); ++m) v[m] = 1 + 0.1 * static_cast<double>(m % 7);
    double norm = norm2(std::span<const double>(v));
    for (int round = 0; round < 60; ++round) {
      std::fill(z.begin(), z.end(), 0.0);
      for (std::size_t m = 0; m < v.size(); ++m) {
        check_stop();
        x_.each(feature(b, m), [&, by = v[m] / norm](std::size_t i, double x) { z[i] += x * by; });
      }
      for (std::size_t m = 0; m < v.size(); ++m) {
        v[m] = 0;
        x_.each(feature(b, m), [&](std::size_t i, double x) { v[m] += p[i] * x * z[i]; });
      }
      const double before = norm;
      norm = norm2(std::span<const double>(v));
      if (!(norm > 0)) return trace_[b];
      if (round > 2 && std::fabs(norm - before) <= 1e-4 * norm) break;
    }
    return std::min(1.02 * norm, trace_[b]);
  }

  // Whether the products of the columns of a block are worth having.
  bool has_pairs(std::size_t b) const { return k_ == 1 && size(b) > 1 && size(b) <= 64 && is_dense(x_); }

  // X_bᵀ diag(h) X_b
  std::vector<double> pairs(std::size_t b, std::span<const double> h) const {
    const std::size_t s = size(b);
    std::vector<std::size_t> columns(s);
    for (std::size_t m = 0; m < s; ++m) columns[m] = feature(b, m);
    std::vector<double> out(s * s);
    gram(x_, columns, h, out, 1);
    for (std::size_t i = 0; i < s; ++i) {
      for (std::size_t j = 0; j < i; ++j) out[j * s + i] = out[i * s + j];
    }
    return out;
  }

  // An estimate from below, by power iteration.
  static double largest_eigenvalue(const std::vector<double>& of) {
    const auto s = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(of.size()))));
    std::vector<double> v(s), to(s);
    for (std::size_t m = 0; m < s; ++m) v[m] = 1 + 0.1 * static_cast<double>(m % 7);
    double norm = norm2(std::span<const double>(v)), before = 0;
    for (int round = 0; round < 200 && norm > 0; ++round) {
      for (std::size_t i = 0; i < s; ++i) {
        to[i] = 0;
        for (std::size_t j = 0; j < s; ++j) to[i] += of[i * s + j] * v[j] / norm;
      }
      v.swap(to), before = norm, norm = norm2(std::span<const double>(v));
      if (round > 2 && std::fabs(norm - before) <= 1e-5 * norm) break;
    }
    return norm;
  }

  double reach(std::size_t b) override { return std::sqrt(trace_[b]); }

  void find_due(double alpha) override {
    std::vector<double> g;
    for (std::size_t b = 0; b < violation_.size(); ++b) {
      const double off = slack(b);
      if (!(off > 0)) continue;
      bool due = !is_zero(b);
      if (!due) {
        take(b, G_, g);
        for (double& v : g) v = -v;
        due = !penalty_->rests(g, off, alpha, weight(b));
      }
      if (due) due_.push_back(b);
    }
  }

  // The length of the prox-gradient step of every block, in units of the gradient; the largest.
  double measure(double alpha) override {
    in_parts(violation_.size(), 256, threads_, [&](std::size_t begin, std::size_t end) {
      std::vector<double> w, g, to;
      Scratch scratch;
      for (std::size_t b = begin; b < end; ++b) {
        const double scale = std::max((spread_[b] < 0 ? trace_[b] : spread_[b]) * loss_.steepness(), 1e-300);
        take(b, W_, w), take(b, G_, g);
        to.resize(w.size());
        for (std::size_t m = 0; m < w.size(); ++m) g[m] = w[m] - g[m] / scale;
        penalty_->prox(g, to, alpha / scale, weight(b), scratch);
        double moved = 0;
        for (std::size_t m = 0; m < w.size(); ++m) moved += (to[m] - w[m]) * (to[m] - w[m]);
        violation_[b] = trace_[b] > 0 ? scale * std::sqrt(moved) : 0.0;
      }
    });
    return violation_.empty() ? 0.0 : *std::max_element(violation_.begin(), violation_.end());
  }

  // Curvatures, and L_b of the working blocks.
  void model() override {
    H_ = loss_.curvatures(Z_.data(), b_.data(), h_.data(), std::min(damping_, 1.0));
    double most = 0;  // over p_i
    mean_ = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      largest_[i] = 0;
      for (std::size_t r = 0; r < k_; ++r) largest_[i] = std::max(largest_[i], H_.bound(i, r));
      most = std::max(most, largest_[i] / loss_.weights()[i]), mean_ += largest_[i];
    }
    in_parts(working_.size(), 32, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t c = begin; c < end; ++c) {
        const std::size_t b = working_[c];
        if (spread_[b] < 0) spread_[b] = spread(b);
        double scale = 0;  // the trace: exact for one feature, and the lower of two bounds for more
        for (std::size_t m = 0; m < size(b); ++m) {
          scale += x_.moments(feature(b, m), largest_.data()).second;
        }
        if (size(b) > 1) scale = std::min(scale, spread_[b] * most);
        if (has_pairs(b)) {
          if (!loss_.is_quadratic() || pairs_[b].empty()) pairs_[b] = pairs(b, h_);
          scale = std::min(scale, 1.02 * largest_eigenvalue(pairs_[b]));
        }
        lipschitz_[b] = scale + (1e-6 + (loss_.has_majorant() ? 0.0 : damping_)) * spread_[b] * mean_;
      }
    });
  }

  std::size_t descend(double alpha, double enough, double violation, std::size_t max_epochs) override {
    if (by_metric_ && violation > 1e-5 * alpha && worth_a_metric()) return descend_by_metric(alpha, enough);
    std::fill(V_.begin(), V_.end(), 0.0);
    std::vector<std::size_t> all(working_.size()), moving;
    std::iota(all.begin(), all.end(), 0);
    std::vector<State> past;
    std::size_t epochs = 0;
    while (epochs < max_epochs) {
      ++epochs;
      if (epoch(alpha, all) <= enough) break;
      moving.clear(), past.clear();
      for (const std::size_t c : all) {
        const double *w = new_.data() + offsets_[c], *end = new_.data() + offsets_[c + 1];
        if (std::any_of(w, end, [](double v) { return v != 0; })) moving.push_back(c);
      }
      for (int few = 0; few < 12 && epochs < max_epochs; ++few) {
        ++epochs;
        if (epoch(alpha, moving) <= 0.5 * enough) break;
        past.push_back({new_, V_, step_b_});
        if (past.size() == 6) extrapolate(alpha, past), past.clear();
      }
    }
    return epochs;
  }

  // Of several outputs, where the columns are dense: sparse ones are cheaper to visit one by one. Small problems are
  // solved before the products are known, and large sets have too many.
  bool worth_a_metric() const {
    const double columns = static_cast<double>(new_.size() / k_), n = static_cast<double>(n_);
    return n * columns * static_cast<double>(k_) > 1 << 16 && columns <= 2 * n &&
           Metric::bytes(n_, new_.size() / k_, k_) < 512.0 * 1024 * 1024;
  }

  // The same for the loss itself, not its model: steps in a metric in which the outputs do not meet (metric.hpp), each
  // minimised by sweeps over products of columns, with momentum that starts again where F rises (FISTA).
  std::size_t descend_by_metric(double alpha, double enough) {
    const bool again = !held_.empty() && std::includes(held_.begin(), held_.end(), working_.begin(), working_.end());
    if (again && uses_ < 8)
      working_ = held_, lay_out(), ++uses_;
    else
      held_ = working_, uses_ = 0;
    std::vector<std::size_t> columns, first;  // features, and where each block begins
    for (const std::size_t b : working_) {
      first.push_back(columns.size());
      for (std::size_t m = 0; m < size(b); ++m) columns.push_back(feature(b, m));
    }
    first.push_back(columns.size());
    if (uses_ == 0) metric_ = std::make_unique<Metric>(x_, columns, k_, threads_);
    Metric& metric = *metric_;
    const std::size_t ones = columns.size(), width = metric.width();
    const bool coupled = loss_.is_multiclass();
    if (uses_ == 0) {
      std::vector<double> h(n_ * k_);
      for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t r = 0; r < k_; ++r) {
          const double at = h_[i * k_ + r], p = loss_.weights()[i];
          h[i * k_ + r] = coupled ? p * std::max(at * (1 - at), 1e-5) : at + 1e-6 * mean_ * p;
        }
      }
      metric.build(h);
    }
    std::vector<double> bends(working_.size());
    for (std::size_t c = 0; c < working_.size(); ++c) {  // at most the largest sum of a line (Gershgorin)
      for (std::size_t j = first[c]; j < first[c + 1]; ++j) {
        for (std::size_t r = 0; r < k_; ++r) {
          double sum = 0;
          for (std::size_t i = first[c]; i < first[c + 1]; ++i) sum += std::fabs(metric.pair(j, i)[r]);
          bends[c] = std::max(bends[c], 1.0001 * sum);
        }
      }
    }
    const auto value = [&](const std::vector<double>& Z, const std::vector<double>& w) {
      double sum = 0;
      for (std::size_t c = 0; c < working_.size(); ++c) {
        const std::span<const double> block(&w[first[c] * k_], (first[c + 1] - first[c]) * k_);
        sum += penalty_->value(block, weight(working_[c]));
      }
      return loss_.value(Z.data(), b_.data()) + alpha * sum;
    };
    // w: W + D on the working set, then d_b; Z: the margins there. y: where a step begins.
    std::vector<double> w = new_, g((ones + 1) * k_), S(n_ * k_), Z = Z_, to, y, step, Zy = Z_, Zto(n_ * k_);
    w.resize((ones + 1) * k_, 0.0), y = w;
    std::vector<float> R((ones + 1) * width), delta(width);
    double F = value(Z, w), momentum = 1, factor = coupled ? 1.4 : 1.0;
    std::size_t sweeps = 0;
    std::vector<std::size_t> all(working_.size()), moving;
    std::iota(all.begin(), all.end(), 0);
    for (int outer = 0; outer < 200; ++outer) {
      check_stop();
      loss_.slopes(Zy.data(), b_.data(), S.data());
      metric.gradient(S, g);
      to = y;
      std::fill(R.begin(), R.end(), 0.0f);
      double most_first = 0;
      for (int sweep = 0; sweep < 20; ++sweep, ++sweeps) {
        const bool whole = sweep == 0 || moving.empty();
        double most = 0;
        for (const std::size_t c : whole ? all : moving) {
          most = std::max(most, visit(alpha, c, first[c], first[c + 1], factor, bends[c], metric, g, R, delta, to));
        }
        if (fit_intercept_) {
          for (std::size_t r = 0; r < k_; ++r) {
            const double bend = factor * metric.pair(ones, ones)[r];
            const double by = bend > 0 ? -(g[ones * k_ + r] + R[ones * width + r]) / bend : 0.0;
            to[ones * k_ + r] += by, delta[r] = static_cast<float>(factor * by);
          }
          metric.add(ones, delta.data(), R.data());
        }
        if (sweep == 0) {
          most_first = most;
          moving.clear();
          for (const std::size_t c : all) {
            const double *at = &to[first[c] * k_], *end = at + (first[c + 1] - first[c]) * k_;
            if (std::any_of(at, end, [](double v) { return v != 0; })) moving.push_back(c);
          }
        } else if (most <= 0.3 * most_first) {
          break;
        }
      }
      step.resize(w.size());
      for (std::size_t q = 0; q < w.size(); ++q) step[q] = q < new_.size() ? to[q] - old_[q] : to[q];
      metric.margins(step, Zto);
      for (std::size_t q = 0; q < Zto.size(); ++q) Zto[q] += Z_[q];
      const double there = value(Zto, to);
      if (!(there <= F + 1e-14 * std::fabs(F))) {
        if (momentum == 1) {
          if (factor > 1e3) break;
          factor *= 1.5;
        }
        momentum = 1, y = w, Zy = Z;
        continue;
      }
      double uphill = 0;
      for (std::size_t q = 0; q < w.size(); ++q) uphill += (y[q] - to[q]) * (to[q] - w[q]);
      if (uphill > 0) momentum = 1;
      const double next = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2, share = (momentum - 1) / next;
      for (std::size_t q = 0; q < w.size(); ++q) y[q] = to[q] + share * (to[q] - w[q]);
      for (std::size_t q = 0; q < Z.size(); ++q) Zy[q] = Zto[q] + share * (Zto[q] - Z[q]);
      w.swap(to), Z.swap(Zto), momentum = next, F = there;
      if (most_first <= enough) break;
    }
    std::copy_n(w.begin(), new_.size(), new_.begin());
    std::copy_n(&w[ones * k_], k_, step_b_.begin());
    if (coupled) {  // a constant more for all outputs changes nothing
      const double mean = std::accumulate(step_b_.begin(), step_b_.end(), 0.0) / static_cast<double>(k_);
      for (double& b : step_b_) b -= mean;
    }
    return sweeps;
  }

  // A prox-gradient step of one block in the metric; how far it went, in units of the gradient.
  double visit(double alpha, std::size_t c, std::size_t begin, std::size_t end, double factor, double bend,
               const Metric& metric, const std::vector<double>& g, std::vector<float>& R, std::vector<float>& delta,
               std::vector<double>& w) {
    const std::size_t width = metric.width(), count = (end - begin) * k_;
    const double scale = factor * bend;
    if (!(scale > 0)) return 0;
    at_.resize(count), to_.resize(count);
    for (std::size_t j = begin, q = 0; j < end; ++j) {
      for (std::size_t r = 0; r < k_; ++r, ++q) at_[q] = w[j * k_ + r] - (g[j * k_ + r] + R[j * width + r]) / scale;
    }
    penalty_->prox(at_, to_, alpha / scale, weight(working_[c]), scratch_);
    double moved = 0;
    for (std::size_t j = begin, q = 0; j < end; ++j) {
      bool still = true;
      for (std::size_t r = 0; r < k_; ++r, ++q) {
        const double by = to_[q] - w[j * k_ + r];
        w[j * k_ + r] = to_[q], delta[r] = static_cast<float>(factor * by);
        moved += by * by, still = still && by == 0;
      }
      if (!still) metric.add(j, delta.data(), R.data());
    }
    return scale * std::sqrt(moved);
  }

  double epoch(double alpha, const std::vector<std::size_t>& over) {
    double most = 0;
    for (const std::size_t c : over) {
      const std::size_t b = working_[c];
      const double scale = lipschitz_[b];
      if (!(scale > 0)) continue;
      double* w = &new_[offsets_[c]];
      at_.resize(size(b) * k_), to_.resize(size(b) * k_);
      for (std::size_t m = 0; m < size(b); ++m) {
        const std::size_t j = feature(b, m);
        visited();
        x_.gather(j, V_.data(), k_, delta_.data());
        for (std::size_t r = 0; r < k_; ++r) at_[m * k_ + r] = w[m * k_ + r] - (G_[j * k_ + r] + delta_[r]) / scale;
      }
      penalty_->prox(at_, to_, alpha / scale, weight(b), scratch_);
      double moved = 0;
      for (std::size_t m = 0; m < size(b) * k_; ++m) moved += (to_[m] - w[m]) * (to_[m] - w[m]);
      if (moved > 0 && !pairs_[b].empty()) step_on(alpha, b, w, scale, moved);
      for (std::size_t m = 0; m < size(b); ++m) {
        bool still = true;
        for (std::size_t r = 0; r < k_; ++r) {
          const std::size_t q = m * k_ + r;
          delta_[r] = to_[q] - w[q];
          still = still && delta_[r] == 0;
          w[q] = to_[q];
        }
        if (!still) H_.add(x_, feature(b, m), delta_.data(), V_.data());
      }
      most = std::max(most, scale * std::sqrt(moved));
    }
    if (fit_intercept_) {
      std::fill(delta_.begin(), delta_.end(), 0.0);
      for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t r = 0; r < k_; ++r) delta_[r] -= (S_[i * k_ + r] + V_[i * k_ + r]) / mean_;
      }
      for (std::size_t i = 0; i < n_; ++i) H_.add(i, 1.0, delta_.data(), V_.data());
      for (std::size_t r = 0; r < k_; ++r) step_b_[r] += delta_[r];
    }
    return most;
  }

  // More steps of a block after its first, from w to to_: they cost no pass over columns.
  void step_on(double alpha, std::size_t b, const double* w, double scale, double first) {
    const std::size_t s = size(b);
    const double* M = pairs_[b].data();
    std::vector<double>&moves = moves_, &g = block_g_;
    moves.resize(s), g.resize(s);
    for (std::size_t m = 0; m < s; ++m) moves[m] = to_[m] - w[m], g[m] = scale * (w[m] - at_[m]);
    for (int few = 0; few < 8; ++few) {
      double moved = 0;
      for (std::size_t i = 0; i < s; ++i) {
        for (std::size_t j = 0; j < s; ++j) g[i] += M[i * s + j] * moves[j];
      }
      for (std::size_t m = 0; m < s; ++m) moves[m] = to_[m], at_[m] = to_[m] - g[m] / scale;
      penalty_->prox(at_, to_, alpha / scale, weight(b), scratch_);
      for (std::size_t m = 0; m < s; ++m) moves[m] = to_[m] - moves[m], moved += moves[m] * moves[m];
      if (moved <= 1e-3 * first) break;
    }
  }

  struct State {
    std::vector<double> w, V, b;  // W + D on the working set, H·(XD + d_b), d_b
  };

  // Q(D) = <G, D> + <ΣS, d_b> + ½ <XD + d_b, V> + αΩ(W + D)
  double model_at(double alpha, const State& at) const {
    std::vector<double> parts(working_.size());
    in_parts(working_.size(), 8, threads_, [&](std::size_t begin, std::size_t end) {
      std::vector<double> bent(k_);
      for (std::size_t c = begin; c < end; ++c) {
        const std::size_t b = working_[c];
        parts[c] = alpha * penalty_->value({&at.w[offsets_[c]], size(b) * k_}, weight(b));
        for (std::size_t m = 0; m < size(b); ++m) {
          const std::size_t j = feature(b, m), q = offsets_[c] + m * k_;
          if (std::equal(&at.w[q], &at.w[q] + k_, &old_[q])) continue;
          x_.gather(j, at.V.data(), k_, bent.data());
          for (std::size_t r = 0; r < k_; ++r) {
            parts[c] += (at.w[q + r] - old_[q + r]) * (G_[j * k_ + r] + 0.5 * bent[r]);
          }
        }
      }
    });
    double total = std::accumulate(parts.begin(), parts.end(), 0.0);
    if (fit_intercept_) {
      for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t r = 0; r < k_; ++r) total += at.b[r] * (S_[i * k_ + r] + 0.5 * at.V[i * k_ + r]);
      }
    }
    return total;
  }

  // To Σ_i c_i s_i with Σ c = 1 and the least ‖Σ_i c_i (w_i − w_{i−1})‖, if that lowers the model.
  void extrapolate(double alpha, const std::vector<State>& past) {
    const std::size_t m = past.size() - 1;
    std::vector<double> gram(m * m), c(m, 1.0);
    double trace = 0;
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = 0;
        for (std::size_t q = 0; q < new_.size(); ++q) {
          sum += (past[i + 1].w[q] - past[i].w[q]) * (past[j + 1].w[q] - past[j].w[q]);
        }
        gram[i * m + j] = gram[j * m + i] = sum;
      }
      trace += gram[i * m + i];
    }
    for (std::size_t i = 0; i < m; ++i) gram[i * m + i] += 1e-12 * trace;
    if (!solve(gram, c)) return;
    const double total = std::accumulate(c.begin(), c.end(), 0.0);
    if (!std::isfinite(total) || total == 0) return;
    State to{std::vector<double>(new_.size()), std::vector<double>(V_.size()), std::vector<double>(k_)};
    for (std::size_t i = 0; i < m; ++i) {
      const auto mix = [share = c[i] / total](const std::vector<double>& from, std::vector<double>& sum) {
        for (std::size_t q = 0; q < sum.size(); ++q) sum[q] += share * from[q];
      };
      mix(past[i + 1].w, to.w), mix(past[i + 1].V, to.V), mix(past[i + 1].b, to.b);
    }
    if (model_at(alpha, to) < model_at(alpha, past.back())) new_ = to.w, V_ = to.V, step_b_ = to.b;
  }

  std::unique_ptr<ProxPenalty> penalty_;
  double mean_ = 0;                  // Σ_i of the largest curvatures
  std::vector<double> V_, largest_;  // n × k: H·(XD + d_b); n: at least the largest curvature of each example
  std::vector<double> lipschitz_, trace_, spread_;  // one per block; a spread that is not known is −1
  std::vector<std::vector<double>> pairs_;          // one per block, X_bᵀ H X_b where that is worth having
  std::vector<double> at_, to_, delta_, moves_, block_g_;
  std::vector<double> means_;  // x̄ of dense columns
  OwnedLines centred_;
  mutable std::vector<double> shown_b_;
  std::unique_ptr<Metric> metric_;  // of the blocks held_, and how often it was used since it was made
  std::vector<std::size_t> held_;
  std::size_t uses_ = 0;
  Scratch scratch_;
};

}  // namespace

std::unique_ptr<CoordinateSolver> make_block_solver(const Design& design, const SummedLoss& loss,
                                                    const BlockPenalties::Variant& penalty,
                                                    std::span<const double> weights,
                                                    std::span<const std::int64_t> members,
                                                    std::span<const std::int64_t> starts, bool fit_intercept) {
  auto made = std::visit(
      []<class P>(const P& p) -> std::unique_ptr<ProxPenalty> { return std::make_unique<ProxPenaltyOf<P>>(p); },
      penalty);
  return std::make_unique<BlockSolver>(design, loss, std::move(made), weights, members, starts, fit_intercept);
}

}  // namespace gossamer
