// The loss of all examples, f(Z, b) = Σ_i p_i ℓ(z_i + o_i + b, y_i), p_i > 0, and the intercept that minimises it.
// The offsets o_i are given, or 0.
//
// Sums are over parts of fixed length, added in their order: results do not depend on the number of threads.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/lines.hpp"
#include "base/threads.hpp"
#include "catalogue/losses.hpp"

namespace gossamer {

// Where the minimum over b is: at b, or (for a loss with kinks) between b and `other`, with slopes that are a share
// `mix` of those at `other` and 1 − mix of those at b, so that they balance: Σ p slope = 0.
struct BestIntercept {
  std::vector<double> b, other, mix;
};

// The Hessians H_i of the examples: diag(h_i), or p_i (diag π_i − π_i π_iᵀ) where the loss couples the outputs.
struct Hessians {
  std::size_t k = 0;
  bool coupled = false;
  const double *h = nullptr, *p = nullptr;  // h, or π: n × k

  // V_i += x H_i δ
  void add(std::size_t i, double x, const double* delta, double* V) const {
    const double* at = h + i * k;
    double mean = 0;
    if (coupled) {
      for (std::size_t r = 0; r < k; ++r) mean += at[r] * delta[r];
      x *= p[i];
    }
    for (std::size_t r = 0; r < k; ++r) V[i * k + r] += x * at[r] * (delta[r] - mean);
  }
  // V_i += x_i H_i δ over a line
  void add(const Lines& lines, std::size_t line, const double* delta, double* V) const {
    if (k == 1 && !coupled) return lines.add_products(line, h, *delta, V);
    lines.each(line, [=, H = *this](std::size_t i, double x) {
      if (x != 0) H.add(i, x, delta, V);
    });
  }
  // δ H_i δᵀ
  double along(std::size_t i, const double* delta) const {
    const double* at = h + i * k;
    double squares = 0, mean = 0;
    for (std::size_t r = 0; r < k; ++r) squares += at[r] * delta[r] * delta[r], mean += at[r] * delta[r];
    return coupled ? p[i] * (squares - mean * mean) : squares;
  }
  // The largest eigenvalue of H_i is at most the largest of these (Gershgorin).
  double bound(std::size_t i, std::size_t r) const {
    const double at = h[i * k + r];
    return coupled ? 2 * p[i] * at * (1 - at) : at;
  }
};

class SummedLoss {
 public:
  SummedLoss(std::size_t n, std::size_t k, const double* y, const double* p, unsigned threads)
      : n_(n), k_(k), y_(y), p_(p), threads_(n * k < 16384 ? 1 : threads) {}
  virtual ~SummedLoss() = default;

  // Offsets (n × k) that are added to the margins; they must outlive the loss.
  void set_offset(const double* offset) { offset_ = offset; }
  std::size_t outputs() const { return k_; }
  const double* weights() const { return p_; }

  double value(const double* z, const double* b) const {
    return sum_of_parts(n_, grain, threads_, [&](std::size_t i, std::size_t end) { return values(i, end, z, b); });
  }
  // The value at b; S (n × k) = p_i ∂ℓ/∂z.
  double slopes(const double* z, const double* b, double* S) const {
    return sum_of_parts(n_, grain, threads_, [&](std::size_t i, std::size_t end) { return slopes(i, end, z, b, S); });
  }
  double slopes(const double* z, const BestIntercept& best, double* S) const;
  // h (n × k) = p_i ∂²ℓ/∂z², or the probabilities π. Where the loss has flat parts (`has_majorant`), h is at least a
  // share `damping` of the curvature of a parabola that touches the loss at z and is nowhere below it.
  Hessians curvatures(const double* z, const double* b, double* h, double damping = 0) const {
    in_parts(n_, grain, threads_, [&](std::size_t i, std::size_t end) { curvatures(i, end, z, b, damping, h); });
    return {k_, is_multiclass(), h, p_};
  }
  // Σ p_i ℓ*(s_i / p_i, y_i) − Σ s_i o_i
  double conjugate(const double* S) const {
    return sum_of_parts(n_, grain, threads_, [&](std::size_t i, std::size_t end) { return conjugates(i, end, S); });
  }
  // The slopes of these examples only, and for a loss that pulls both ways how far it pulls up and down.
  virtual void pulls(std::span<const std::int32_t> rows, const double* z, double* S, BothWays* ways) const = 0;
  // argmin over b, searched from `start`; it stops at ±∞ where the minimum is there, as soon as the slopes vanish.
  virtual BestIntercept best_intercept(const double* z, const double* start) const = 0;
  virtual bool is_multiclass() const = 0;
  virtual bool has_curvature() const = 0;
  virtual bool has_majorant() const { return false; }
  virtual bool is_quadratic() const { return false; }
  virtual bool pulls_both_ways() const { return false; }
  // The unit of curvatures, where it is not 1.
  virtual double steepness() const { return 1; }

 protected:
  static constexpr std::size_t grain = 2048;
  virtual double values(std::size_t begin, std::size_t end, const double* z, const double* b) const = 0;
  virtual double slopes(std::size_t begin, std::size_t end, const double* z, const double* b, double* S) const = 0;
  virtual void curvatures(std::size_t begin, std::size_t end, const double* z, const double* b, double damping,
                          double* h) const = 0;
  virtual double conjugates(std::size_t begin, std::size_t end, const double* S) const = 0;

  // z_q + o_q
  double moved(const double* z, std::size_t q) const { return offset_ ? z[q] + offset_[q] : z[q]; }

  std::size_t n_, k_;
  const double* y_;  // n × k, or the n classes
  const double* p_;
  const double* offset_ = nullptr;  // n × k
  unsigned threads_;
};

using AnyLoss = Joined<ScalarLosses, MulticlassLosses>::Variant;
// The targets and weights must outlive what is returned.
std::unique_ptr<SummedLoss> make_summed_loss(const AnyLoss& loss, std::size_t n, std::size_t k, const double* y,
                                             const double* p, unsigned threads);
// The same with the kinks of the loss rounded off (smoothed.hpp) over a width μ; null for a loss without kinks.
std::unique_ptr<SummedLoss> make_smoothed_loss(const AnyLoss& loss, double mu, std::size_t n, std::size_t k,
                                               const double* y, const double* p, unsigned threads);

}  // namespace gossamer
