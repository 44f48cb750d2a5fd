// The mean loss f(Z, b) = Σ_i p_i ℓ(z_i + b, y_i) over all examples at once, p_i > 0 with Σ p_i = 1, and the intercept
// that minimises it.
//
// Sums are over parts of fixed length, added in their order: results do not depend on the number of threads.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/threads.hpp"
#include "catalogue/losses.hpp"

namespace gossamer {

// Where the minimum over b is: at b, or (for a loss with kinks) between b and `other`, with slopes that are a share
// `mix` of those at `other` and 1 − mix of those at b, so that they balance: Σ p slope = 0.
struct BestIntercept {
  std::vector<double> b, other, mix;
};

class MeanLoss {
 public:
  MeanLoss(std::size_t n, std::size_t k, const double* y, std::size_t targets, const double* p, unsigned threads)
      : n_(n), k_(k), y_(y), targets_(targets), p_(p), threads_(n * k < 16384 ? 1 : threads) {}
  virtual ~MeanLoss() = default;

  std::size_t rows() const { return n_; }
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
  // h (n × k) = p_i ∂²ℓ/∂z²; for a multiclass loss the probabilities π, whose H_i is p_i (diag π − ππᵀ).
  void curvatures(const double* z, const double* b, double* h) const {
    in_parts(n_, grain, threads_, [&](std::size_t i, std::size_t end) { curvatures(i, end, z, b, h); });
  }
  // Σ p_i ℓ*(s_i / p_i, y_i)
  double conjugate(const double* S) const {
    return sum_of_parts(n_, grain, threads_, [&](std::size_t i, std::size_t end) { return conjugates(i, end, S); });
  }
  // argmin over b, searched from `start`; it stops at ±∞ where the minimum is there, as soon as the slopes vanish.
  virtual BestIntercept best_intercept(const double* z, const double* start) const = 0;
  virtual bool is_multiclass() const = 0;
  virtual bool has_curvature() const = 0;
  virtual bool is_quadratic() const { return false; }

 protected:
  static constexpr std::size_t grain = 2048;
  virtual double values(std::size_t begin, std::size_t end, const double* z, const double* b) const = 0;
  virtual double slopes(std::size_t begin, std::size_t end, const double* z, const double* b, double* S) const = 0;
  virtual void curvatures(std::size_t begin, std::size_t end, const double* z, const double* b, double* h) const = 0;
  virtual double conjugates(std::size_t begin, std::size_t end, const double* S) const = 0;

  std::size_t n_, k_;
  const double* y_;  // n × targets
  std::size_t targets_;
  const double* p_;
  unsigned threads_;
};

std::unique_ptr<MeanLoss> make_mean_loss(const ScalarLoss& loss, std::size_t n, std::size_t k, const double* y,
                                         const double* p, unsigned threads);
std::unique_ptr<MeanLoss> make_mean_loss(const MulticlassLoss& loss, std::size_t n, std::size_t k, const double* y,
                                         const double* p, unsigned threads);

}  // namespace gossamer
