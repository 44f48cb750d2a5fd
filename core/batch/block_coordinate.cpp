// Coordinate descent over blocks: rows of W (one feature over all outputs) or the user's groups of features. As in
// coordinate.hpp, one round is one proximal Newton step on a working set of blocks; inside, a block takes prox-gradient
// steps on the model,
//
//     W_b ← prox(W_b − G_b/L_b, α/L_b),     L_b ≥ the largest curvature of the model in the block,
//
// and every few passes the iterates are extrapolated (Anderson), which is kept if it lowers the model. The Hessian of
// example i is diag(h_i) for losses that are sums over outputs, p_i (diag π_i − π_i π_iᵀ) for the multinomial.
//
// Bertrand, Massias: Anderson acceleration of coordinate descent, AISTATS 2021.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "batch/coordinate.hpp"

namespace gossamer {

namespace {

// H_i = diag(h_i)
struct SumOfOutputs {
  std::size_t k;
  const double *h, *p;

  // V_i += x H_i δ
  void add(std::size_t i, double x, const double* delta, double* V) const {
    const double* at = h + i * k;
    double* to = V + i * k;
    for (std::size_t r = 0; r < k; ++r) to[r] += x * at[r] * delta[r];
  }
  // at least the largest eigenvalue of H_i, over p_i
  double largest(std::size_t i) const { return *std::max_element(h + i * k, h + (i + 1) * k) / p[i]; }
};

// H_i = p_i (diag π − ππᵀ); its eigenvalues are at most max_r 2π_r(1 − π_r) p_i (Gershgorin)
struct Softmax {
  std::size_t k;
  const double *pi, *p;

  void add(std::size_t i, double x, const double* delta, double* V) const {
    const double* at = pi + i * k;
    double* to = V + i * k;
    double mean = 0;
    for (std::size_t r = 0; r < k; ++r) mean += at[r] * delta[r];
    const double scale = x * p[i];
    for (std::size_t r = 0; r < k; ++r) to[r] += scale * at[r] * (delta[r] - mean);
  }
  double largest(std::size_t i) const {
    double most = 0;
    for (std::size_t r = 0; r < k; ++r) most = std::max(most, pi[i * k + r] * (1 - pi[i * k + r]));
    return 2 * most;
  }
};

// A penalty on one block: a function of the numbers in it, with the block's weight.
struct BlockPenalty {
  BlockwiseOrElementwise penalty;

  double value(std::span<const double> w, double weight) const {
    return std::visit(
        [&](const auto& p) {
          if constexpr (requires { p.value(w, weight); }) {
            return p.value(w, weight);
          } else {
            return weight * sum_over(w, [&p](double x) { return p.value(x); });
          }
        },
        penalty);
  }
  void prox(std::span<const double> v, std::span<double> out, double s, double weight, Scratch& scratch) const {
    std::visit(
        [&](const auto& p) {
          if constexpr (requires { p.prox(v, out, s, weight, scratch); }) {
            p.prox(v, out, s, weight, scratch);
          } else {
            for (std::size_t i = 0; i < v.size(); ++i) out[i] = p.prox(v[i], s * weight);
          }
        },
        penalty);
  }
};

template <class L, class Curvature>
class BlockSolver final : public CoordinateSolver {
 public:
  BlockSolver(const L& columns, unsigned threads, const SummedLoss& loss, const BlockPenalty& penalty,
              std::span<const double> weights, std::span<const std::int64_t> members,
              std::span<const std::int64_t> starts, bool fit_intercept)
      : x_(columns),
        threads_(threads),
        loss_(loss),
        penalty_(penalty),
        a_(weights.begin(), weights.end()),
        members_(members.begin(), members.end()),
        starts_(starts.begin(), starts.end()),
        fit_intercept_(fit_intercept),
        n_(columns.length),
        k_(loss.outputs()),
        b_(k_),
        W_(columns.count * k_),
        G_(columns.count * k_),
        Z_(n_ * k_),
        S_(n_ * k_),
        h_(n_ * k_),
        V_(n_ * k_),
        largest_(n_) {
    if (starts_.empty()) {  // rows
      members_.resize(columns.count);
      std::iota(members_.begin(), members_.end(), 0);
      starts_.resize(columns.count + 1);
      std::iota(starts_.begin(), starts_.end(), 0);
    }
    if constexpr (requires { DenseLines{columns}; }) {
      if (fit_intercept_) centre(columns);
    }
    const std::size_t blocks = starts_.size() - 1;
    violation_.resize(blocks), lipschitz_.resize(blocks), spread_.resize(blocks);
    in_parts(blocks, 16, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t b = begin; b < end; ++b) spread_[b] = spread(b);
    });
  }

  Standing start(std::span<const double> W, std::span<const double> b, double alpha) override {
    std::copy(W.begin(), W.end(), W_.begin());
    std::copy(b.begin(), b.end(), b_.begin());
    shift(1.0, b_);
    std::fill(Z_.begin(), Z_.end(), 0.0);
    for (std::size_t j = 0; j < x_.count; ++j) {
      const double* w = &W_[j * k_];
      if (std::any_of(w, w + k_, [](double v) { return v != 0; })) scatter(j, w, Z_);
    }
    damping_ = 0;
    settle();
    return {value_, measure(alpha), 0, 0};
  }

  Standing round(double alpha, double share, std::size_t max_epochs) override {
    Standing now{value_, measure(alpha), 0, 0};
    choose();
    now.working = working_.size(), now.growing = growing_;
    if (working_.empty() || now.violation == 0) return now;
    model();
    now.epochs = descend(alpha, share * now.violation, max_epochs);
    now.step = line_search(alpha);
    settle();
    now.loss = value_;
    now.violation = measure(alpha);
    return now;
  }

  std::span<const double> weights() const override { return W_; }
  std::span<const double> intercept() const override {
    shown_b_ = b_;
    shift(-1.0, shown_b_);
    return shown_b_;
  }
  std::span<const double> slopes() const override { return S_; }
  std::span<const double> gradient() const override { return G_; }

 private:
  std::span<const std::int64_t> features(std::size_t b) const {
    return {members_.data() + starts_[b], static_cast<std::size_t>(starts_[b + 1] - starts_[b])};
  }
  double weight(std::size_t b) const { return a_.empty() ? 1.0 : a_[b]; }

  // Dense columns are centred, so that they and the intercept do not fight: z = (X − 1x̄ᵀ)W + b + x̄ᵀW.
  template <class T>
  void centre(const DenseLines<T>& columns) {
    means_.resize(columns.count);
    auto& copy = centred_.template values<T>();
    copy.assign(columns.value, columns.value + columns.count * columns.length);
    in_parts(columns.count, 16, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t j = begin; j < end; ++j) {
        double mean = 0;
        columns.each(j, [&](std::size_t i, double x) { mean += loss_.weights()[i] * x; });
        means_[j] = mean;
        T* x = copy.data() + j * columns.length;
        for (std::size_t i = 0; i < columns.length; ++i) x[i] = static_cast<T>(x[i] - mean);
      }
    });
    x_.value = copy.data();
  }
  // b += sign · x̄ᵀW
  void shift(double sign, std::vector<double>& b) const {
    for (std::size_t j = 0; j < means_.size(); ++j) {
      for (std::size_t r = 0; r < k_; ++r) b[r] += sign * means_[j] * W_[j * k_ + r];
    }
  }

  // out (n × k) += column j times w (k)
  void scatter(std::size_t j, const double* w, std::vector<double>& out) const {
    x_.each(j, [&](std::size_t i, double x) {
      if (x == 0) return;
      for (std::size_t r = 0; r < k_; ++r) out[i * k_ + r] += x * w[r];
    });
  }
  // out (k) = column j times V
  void gather(std::size_t j, const std::vector<double>& V, double* out) const {
    std::fill_n(out, k_, 0.0);
    x_.each(j, [&](std::size_t i, double x) {
      if (x == 0) return;
      for (std::size_t r = 0; r < k_; ++r) out[r] += x * V[i * k_ + r];
    });
  }
  // The numbers of a block of a d × k matrix, one after the other.
  void take(std::size_t b, const std::vector<double>& from, std::vector<double>& out) const {
    out.clear();
    for (const std::int64_t j : features(b)) {
      const auto at = from.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(j) * k_);
      out.insert(out.end(), at, at + static_cast<std::ptrdiff_t>(k_));
    }
  }

  // The largest eigenvalue of X_bᵀ diag(p) X_b: exact for one feature, by power iteration and rounded up for more.
  double spread(std::size_t b) const {
    const auto js = features(b);
    const double* p = loss_.weights();
    double trace = 0;
    for (const std::int64_t j : js)
      x_.each(static_cast<std::size_t>(j), [&](std::size_t i, double x) { trace += p[i] * x * x; });
    if (js.size() == 1 || trace == 0) return trace;
    std::vector<double> v(js.size()), z(n_);
    for (std::size_t m = 0; m < v.size(); ++m) v[m] = 1 + 0.1 * static_cast<double>(m % 7);
    double norm = norm2(std::span<const double>(v));
    for (int round = 0; round < 60; ++round) {
      std::fill(z.begin(), z.end(), 0.0);
      for (std::size_t m = 0; m < v.size(); ++m) {
        x_.each(static_cast<std::size_t>(js[m]), [&](std::size_t i, double x) { z[i] += x * v[m] / norm; });
      }
      for (std::size_t m = 0; m < v.size(); ++m) {
        double sum = 0;
        x_.each(static_cast<std::size_t>(js[m]), [&](std::size_t i, double x) { sum += p[i] * x * z[i]; });
        v[m] = sum;
      }
      const double before = norm;
      norm = norm2(std::span<const double>(v));
      if (!(norm > 0)) return trace;
      if (round > 2 && std::fabs(norm - before) <= 1e-4 * norm) break;
    }
    return std::min(1.02 * norm, trace);
  }

  void settle() {
    if (fit_intercept_) b_ = loss_.best_intercept(Z_.data(), b_.data()).b;
    value_ = loss_.slopes(Z_.data(), b_.data(), S_.data());
    product(Lines(x_), S_, k_, G_, threads_);
  }

  // The length of the prox-gradient step of every block, in units of the gradient; the largest.
  double measure(double alpha) {
    in_parts(violation_.size(), 256, threads_, [&](std::size_t begin, std::size_t end) {
      std::vector<double> w, g, to;
      Scratch scratch;
      for (std::size_t b = begin; b < end; ++b) {
        const double scale = std::max(spread_[b], 1e-300);
        take(b, W_, w), take(b, G_, g);
        to.resize(w.size());
        for (std::size_t m = 0; m < w.size(); ++m) g[m] = w[m] - g[m] / scale;
        penalty_.prox(std::span<const double>(g), to, alpha / scale, weight(b), scratch);
        double moved = 0;
        for (std::size_t m = 0; m < w.size(); ++m) moved += (to[m] - w[m]) * (to[m] - w[m]);
        violation_[b] = spread_[b] > 0 ? scale * std::sqrt(moved) : 0.0;
      }
    });
    return violation_.empty() ? 0.0 : *std::max_element(violation_.begin(), violation_.end());
  }

  bool is_zero(std::size_t b) const {
    for (const std::int64_t j : features(b)) {
      for (std::size_t r = 0; r < k_; ++r) {
        if (W_[static_cast<std::size_t>(j) * k_ + r] != 0) return false;
      }
    }
    return true;
  }

  void choose() {
    working_.clear(), candidates_.clear();
    for (std::size_t b = 0; b < violation_.size(); ++b) {
      if (!is_zero(b))
        working_.push_back(b);
      else if (violation_[b] > 0)
        candidates_.push_back(b);
    }
    const std::size_t room = std::max<std::size_t>(20, working_.size());
    growing_ = candidates_.size() > room;
    if (growing_) {
      std::nth_element(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(room), candidates_.end(),
                       [&](std::size_t i, std::size_t j) { return violation_[i] > violation_[j]; });
      candidates_.resize(room);
    }
    working_.insert(working_.end(), candidates_.begin(), candidates_.end());
    std::sort(working_.begin(), working_.end());
    offsets_.assign(1, 0);
    for (const std::size_t b : working_) offsets_.push_back(offsets_.back() + features(b).size() * k_);
  }

  // Curvatures, and L_b of the working blocks.
  void model() {
    loss_.curvatures(Z_.data(), b_.data(), h_.data());
    curvature_ = {k_, h_.data(), loss_.weights()};
    most_ = 0, mean_ = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      largest_[i] = curvature_.largest(i);
      most_ = std::max(most_, largest_[i]), mean_ += largest_[i] * loss_.weights()[i];
    }
    in_parts(working_.size(), 32, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t c = begin; c < end; ++c) {
        const std::size_t b = working_[c];
        double scale = spread_[b] * most_;
        if (features(b).size() == 1) {
          scale = 0;
          x_.each(static_cast<std::size_t>(features(b)[0]),
                  [&](std::size_t i, double x) { scale += loss_.weights()[i] * largest_[i] * x * x; });
        }
        lipschitz_[b] = scale + 1e-6 * spread_[b] * mean_ + damping_ * spread_[b] * mean_;
      }
    });
  }

  std::size_t descend(double alpha, double enough, std::size_t max_epochs) {
    new_.clear();
    std::vector<double> block;
    for (const std::size_t b : working_) take(b, W_, block), new_.insert(new_.end(), block.begin(), block.end());
    old_ = new_;
    std::fill(V_.begin(), V_.end(), 0.0);
    step_b_.assign(k_, 0.0);
    std::vector<std::size_t> all(working_.size()), moving;
    std::iota(all.begin(), all.end(), 0);
    Past past;
    std::size_t epochs = 0;
    while (epochs < max_epochs) {
      ++epochs;
      if (epoch(alpha, all) <= enough) break;
      moving.clear();
      for (const std::size_t c : all) {
        if (std::any_of(new_.begin() + static_cast<std::ptrdiff_t>(offsets_[c]),
                        new_.begin() + static_cast<std::ptrdiff_t>(offsets_[c + 1]), [](double w) { return w != 0; }))
          moving.push_back(c);
      }
      past.clear();
      for (int few = 0; few < 12 && epochs < max_epochs; ++few) {
        ++epochs;
        if (epoch(alpha, moving) <= 0.5 * enough) break;
        past.push(new_, V_, step_b_);
        if (past.full()) extrapolate(alpha, past), past.clear();
      }
    }
    return epochs;
  }

  double epoch(double alpha, const std::vector<std::size_t>& over) {
    double most = 0;
    for (const std::size_t c : over) {
      const std::size_t b = working_[c], size = offsets_[c + 1] - offsets_[c];
      const auto js = features(b);
      double* w = &new_[offsets_[c]];
      at_.resize(size), to_.resize(size), delta_.resize(k_);
      const double scale = lipschitz_[b];
      if (!(scale > 0)) continue;
      for (std::size_t m = 0; m < js.size(); ++m) {
        const auto j = static_cast<std::size_t>(js[m]);
        gather(j, V_, delta_.data());
        for (std::size_t r = 0; r < k_; ++r) at_[m * k_ + r] = w[m * k_ + r] - (G_[j * k_ + r] + delta_[r]) / scale;
      }
      penalty_.prox(std::span<const double>(at_), to_, alpha / scale, weight(b), scratch_);
      double moved = 0;
      for (std::size_t m = 0; m < js.size(); ++m) {
        bool still = true;
        for (std::size_t r = 0; r < k_; ++r) {
          const std::size_t q = m * k_ + r;
          delta_[r] = to_[q] - w[q];
          still = still && delta_[r] == 0;
          moved += delta_[r] * delta_[r];
          w[q] = to_[q];
        }
        if (still) continue;
        x_.each(static_cast<std::size_t>(js[m]), [&](std::size_t i, double x) {
          if (x != 0) curvature_.add(i, x, delta_.data(), V_.data());
        });
      }
      most = std::max(most, scale * std::sqrt(moved));
    }
    if (fit_intercept_) {
      std::vector<double> by(k_);
      for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t r = 0; r < k_; ++r) by[r] -= (S_[i * k_ + r] + V_[i * k_ + r]) / mean_;
      }
      for (std::size_t i = 0; i < n_; ++i) curvature_.add(i, 1.0, by.data(), V_.data());
      for (std::size_t r = 0; r < k_; ++r) step_b_[r] += by[r];
    }
    return most;
  }

  // The last few iterates.
  struct Past {
    static constexpr std::size_t length = 6;
    std::vector<std::vector<double>> w, V, b;

    void clear() { w.clear(), V.clear(), b.clear(); }
    void push(const std::vector<double>& new_w, const std::vector<double>& new_V, const std::vector<double>& new_b) {
      w.push_back(new_w), V.push_back(new_V), b.push_back(new_b);
    }
    bool full() const { return w.size() == length; }
  };

  // Q(d) = <G, d> + <ΣS, d_b> + ½ <Xd + d_b, V> + αΩ(W + d)
  double model_at(double alpha, const std::vector<double>& w, const std::vector<double>& V,
                  const std::vector<double>& b) const {
    std::vector<double> parts(working_.size());
    in_parts(working_.size(), 8, threads_, [&](std::size_t begin, std::size_t end) {
      std::vector<double> bent(k_);
      for (std::size_t c = begin; c < end; ++c) {
        const auto js = features(working_[c]);
        const std::size_t size = offsets_[c + 1] - offsets_[c];
        double sum = alpha * penalty_.value({&w[offsets_[c]], size}, weight(working_[c]));
        for (std::size_t m = 0; m < js.size(); ++m) {
          const auto j = static_cast<std::size_t>(js[m]);
          const std::size_t at = offsets_[c] + m * k_;
          if (std::equal(&w[at], &w[at] + k_, &old_[at])) continue;
          gather(j, V, bent.data());
          for (std::size_t r = 0; r < k_; ++r) sum += (w[at + r] - old_[at + r]) * (G_[j * k_ + r] + 0.5 * bent[r]);
        }
        parts[c] = sum;
      }
    });
    double total = 0;
    for (const double part : parts) total += part;
    if (fit_intercept_) {
      for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t r = 0; r < k_; ++r) total += b[r] * (S_[i * k_ + r] + 0.5 * V[i * k_ + r]);
      }
    }
    return total;
  }

  void extrapolate(double alpha, const Past& past) {
    constexpr std::size_t m = Past::length - 1;
    double gram[m][m], c[m];
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = 0;
        for (std::size_t q = 0; q < new_.size(); ++q) {
          sum += (past.w[i + 1][q] - past.w[i][q]) * (past.w[j + 1][q] - past.w[j][q]);
        }
        gram[i][j] = gram[j][i] = sum;
      }
    }
    double trace = 0;
    for (std::size_t i = 0; i < m; ++i) trace += gram[i][i], c[i] = 1;
    if (!(trace > 0)) return;
    for (std::size_t i = 0; i < m; ++i) gram[i][i] += 1e-12 * trace;
    for (std::size_t i = 0; i < m; ++i) {  // elimination; the matrix is positive definite
      for (std::size_t r = i + 1; r < m; ++r) {
        const double f = gram[r][i] / gram[i][i];
        for (std::size_t q = i; q < m; ++q) gram[r][q] -= f * gram[i][q];
        c[r] -= f * c[i];
      }
    }
    double total = 0;
    for (std::size_t i = m; i-- > 0;) {
      for (std::size_t q = i + 1; q < m; ++q) c[i] -= gram[i][q] * c[q];
      c[i] /= gram[i][i];
    }
    for (const double x : c) total += x;
    if (!std::isfinite(total) || total == 0) return;
    std::vector<double> w(new_.size()), V(V_.size()), b(k_);
    auto mix = [&](const std::vector<std::vector<double>>& from, std::vector<double>& to) {
      for (std::size_t i = 0; i < m; ++i) {
        const double share = c[i] / total;
        for (std::size_t q = 0; q < to.size(); ++q) to[q] += share * from[i + 1][q];
      }
    };
    mix(past.w, w), mix(past.b, b), mix(past.V, V);
    if (model_at(alpha, w, V, b) < model_at(alpha, new_, V_, step_b_)) new_ = w, V_ = V, step_b_ = b;
  }

  double line_search(double alpha) {
    std::vector<double> step(n_ * k_), there(n_ * k_), delta(k_);
    double promised = 0, before = 0;
    for (std::size_t c = 0; c < working_.size(); ++c) {
      const auto js = features(working_[c]);
      const std::size_t size = offsets_[c + 1] - offsets_[c];
      const double was = alpha * penalty_.value({&old_[offsets_[c]], size}, weight(working_[c]));
      promised += alpha * penalty_.value({&new_[offsets_[c]], size}, weight(working_[c])) - was;
      before += was;
      for (std::size_t m = 0; m < js.size(); ++m) {
        const auto j = static_cast<std::size_t>(js[m]);
        for (std::size_t r = 0; r < k_; ++r) {
          const std::size_t at = offsets_[c] + m * k_ + r;
          delta[r] = new_[at] - old_[at];
          promised += G_[j * k_ + r] * delta[r];
        }
        if (std::any_of(delta.begin(), delta.end(), [](double d) { return d != 0; })) scatter(j, delta.data(), step);
      }
    }
    std::vector<double> b(k_), block;
    double share = 1;
    for (int halvings = 0; halvings < 40; ++halvings, share /= 2) {
      double after = 0;
      for (std::size_t c = 0; c < working_.size(); ++c) {
        block.resize(offsets_[c + 1] - offsets_[c]);
        for (std::size_t m = 0; m < block.size(); ++m) {
          const std::size_t at = offsets_[c] + m;
          block[m] = share == 1 ? new_[at] : old_[at] + share * (new_[at] - old_[at]);
        }
        after += alpha * penalty_.value(block, weight(working_[c]));
      }
      for (std::size_t q = 0; q < there.size(); ++q) there[q] = Z_[q] + share * step[q];
      for (std::size_t r = 0; r < k_; ++r) b[r] = b_[r] + share * step_b_[r];
      const double change = loss_.value(there.data(), b.data()) + after - value_ - before;
      if (change <= 0.01 * share * promised + 1e-15 * std::fabs(value_)) break;
    }
    for (std::size_t c = 0; c < working_.size(); ++c) {
      const auto js = features(working_[c]);
      for (std::size_t m = 0; m < js.size() * k_; ++m) {
        const std::size_t at = offsets_[c] + m;
        W_[static_cast<std::size_t>(js[m / k_]) * k_ + m % k_] =
            share == 1 ? new_[at] : old_[at] + share * (new_[at] - old_[at]);
      }
    }
    Z_ = there, b_ = b;
    damping_ = share == 1 ? damping_ / 4 : std::max(4 * damping_, 0.05);
    return share;
  }

  L x_;
  unsigned threads_;
  const SummedLoss& loss_;
  BlockPenalty penalty_;
  std::vector<double> a_;
  std::vector<std::int64_t> members_, starts_;
  bool fit_intercept_, growing_ = false;
  std::size_t n_, k_;
  double value_ = 0, most_ = 0, mean_ = 0, damping_ = 0;
  std::vector<double> b_, W_, G_;                            // k, d × k
  std::vector<double> Z_, S_, h_, V_, largest_;              // n × k: margins, slopes, curvatures, H·Xd; n
  std::vector<double> violation_, lipschitz_, spread_;       // one a block
  std::vector<std::size_t> working_, candidates_, offsets_;  // blocks, and where each begins in new_
  std::vector<double> new_, old_, step_b_, at_, to_, delta_;
  std::vector<double> means_;  // x̄ of dense columns
  OwnedLines centred_;
  mutable std::vector<double> shown_b_;
  Curvature curvature_{};
  Scratch scratch_;
};

}  // namespace

std::unique_ptr<CoordinateSolver> make_block_solver(const Design& design, const SummedLoss& loss,
                                                    const BlockwiseOrElementwise& penalty,
                                                    std::span<const double> weights,
                                                    std::span<const std::int64_t> members,
                                                    std::span<const std::int64_t> starts, bool fit_intercept) {
  return std::visit(
      [&](const auto& columns) -> std::unique_ptr<CoordinateSolver> {
        using Columns = std::decay_t<decltype(columns)>;
        if (loss.is_multiclass()) {
          return std::make_unique<BlockSolver<Columns, Softmax>>(columns, design.threads(), loss, BlockPenalty{penalty},
                                                                 weights, members, starts, fit_intercept);
        }
        return std::make_unique<BlockSolver<Columns, SumOfOutputs>>(
            columns, design.threads(), loss, BlockPenalty{penalty}, weights, members, starts, fit_intercept);
      },
      design.column_lines());
}

}  // namespace gossamer
