// Losses ℓ(z, y), one struct each: z the margin or prediction, y the target.
//
//     value(z, y)   the loss
//     slope(z, y)   ∂ℓ/∂z, true sign (a subgradient at a kink)
//     link(z)       what the loss predicts from z: a probability, a mean, or z itself
//     curvature(z, y)   ∂²ℓ/∂z², for the losses that have a slope everywhere (where it jumps, from one side)
//     conjugate(u, y)   ℓ*(u) = sup_z uz − ℓ(z, y), ∞ outside its domain: what certificates are made of
//
// Scalar losses are functions of two numbers. Multiclass losses see all k outputs of an example and its class. All stay
// finite and accurate for |z| up to 1e8.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <variant>

namespace gossamer {

// log(1 + eˣ)
inline double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

// 1 / (1 + e⁻ˣ)
inline double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// eˣ, continued past x = 600 by its tangent: convex, smooth, and finite where eˣ is not.
inline double guarded_exp(double x) { return x <= 600.0 ? std::exp(x) : std::exp(600.0) * (1.0 + (x - 600.0)); }
inline double guarded_exp_slope(double x) { return std::exp(std::min(x, 600.0)); }

constexpr double unbounded = std::numeric_limits<double>::infinity();

// x log x, and 0 at 0 (and at what rounding leaves below it)
inline double xlogx(double x) { return x > 0.0 ? x * std::log(x) : 0.0; }

// low ≤ x ≤ high up to rounding
inline bool within(double x, double low, double high) { return x >= low - 1e-12 && x <= high + 1e-12; }

// log(1 + e^{−yz}), y = ±1
struct Logistic {
  double value(double z, double y) const { return softplus(-y * z); }
  double slope(double z, double y) const { return -y * sigmoid(-y * z); }
  double link(double z) const { return sigmoid(z); }
  double curvature(double z, double) const {
    const double e = std::exp(-std::fabs(z));
    return e / ((1.0 + e) * (1.0 + e));
  }
  double conjugate(double u, double y) const {
    const double v = -u * y;
    return within(v, 0.0, 1.0) ? xlogx(v) + xlogx(1.0 - v) : unbounded;
  }

  // Both from one exponential.
  double value_and_slope(double z, double y, double& slope) const {
    const double m = -y * z, e = std::exp(-std::fabs(m));
    slope = -y * (m > 0 ? 1.0 : e) / (1.0 + e);
    const double u = 1.0 + e;  // log1p(e) as log u and what rounding took from u: the same digits in half the time
    return std::max(m, 0.0) + (std::log(u) + (e - (u - 1.0)) / u);
  }
};

// [1 − yz]₊, y = ±1
struct Hinge {
  double value(double z, double y) const { return std::max(1.0 - y * z, 0.0); }
  double slope(double z, double y) const { return y * z < 1.0 ? -y : 0.0; }
  double link(double z) const { return z; }
  double conjugate(double u, double y) const { return within(-u * y, 0.0, 1.0) ? u * y : unbounded; }
};

// ½ [1 − yz]₊², y = ±1
struct SquaredHinge {
  double value(double z, double y) const {
    const double short_by = std::max(1.0 - y * z, 0.0);
    return 0.5 * short_by * short_by;
  }
  double slope(double z, double y) const { return -y * std::max(1.0 - y * z, 0.0); }
  double link(double z) const { return z; }
  double curvature(double z, double y) const { return y * z < 1.0 ? 1.0 : 0.0; }
  double conjugate(double u, double y) const { return u * y <= 0.0 ? 0.5 * u * u + u * y : unbounded; }
};

// e^{−yz}, y = ±1; z is half the log odds
struct Exponential {
  double value(double z, double y) const { return guarded_exp(-y * z); }
  double slope(double z, double y) const { return -y * guarded_exp_slope(-y * z); }
  double link(double z) const { return sigmoid(2.0 * z); }
  double curvature(double z, double y) const { return -y * z <= 600.0 ? std::exp(-y * z) : 0.0; }
  double conjugate(double u, double y) const { return u * y <= 0.0 ? xlogx(-u * y) + u * y : unbounded; }
};

// ½ (z − y)²
struct Squared {
  double value(double z, double y) const { return 0.5 * (z - y) * (z - y); }
  double slope(double z, double y) const { return z - y; }
  double link(double z) const { return z; }
  double curvature(double, double) const { return 1.0; }
  double conjugate(double u, double y) const { return u * (0.5 * u + y); }
};

// [|z − y| − ε]₊
struct EpsilonInsensitive {
  double epsilon;

  double value(double z, double y) const { return std::max(std::fabs(z - y) - epsilon, 0.0); }
  double slope(double z, double y) const { return z - y > epsilon ? 1.0 : y - z > epsilon ? -1.0 : 0.0; }
  double link(double z) const { return z; }
  double conjugate(double u, double y) const {
    return within(u, -1.0, 1.0) ? u * y + epsilon * std::fabs(u) : unbounded;
  }
};

// log(1 + e^{z−y−ε}) + log(1 + e^{y−z−ε})
struct LogEpsilonInsensitive {
  double epsilon;

  double value(double z, double y) const { return softplus(z - y - epsilon) + softplus(y - z - epsilon); }
  double slope(double z, double y) const { return sigmoid(z - y - epsilon) - sigmoid(y - z - epsilon); }
  double link(double z) const { return z; }
  double curvature(double z, double y) const {
    return Logistic{}.curvature(z - y - epsilon, 1.0) + Logistic{}.curvature(y - z - epsilon, 1.0);
  }
  // The slope is |u| at r = log t with a(1 − |u|)t² − |u|(1 + a²)t − a(1 + |u|) = 0, a = e^{−ε}.
  double conjugate(double u, double y) const {
    const double size = std::fabs(u), a = std::exp(-epsilon), rest = 1.0 - size;
    if (!within(u, -1.0, 1.0)) return unbounded;
    if (rest <= 0.0 || a == 0.0) return u * y + epsilon * size;
    const double half = 0.5 * size * (1.0 + a * a), root = std::sqrt(half * half + a * a * rest * (1.0 + size));
    const double r = std::log((half + root) / (a * rest));
    return u * y + size * r - value(r, 0.0);
  }
};

// ½ r² for |r| ≤ δ, δ(|r| − ½δ) beyond, r = z − y
struct Huber {
  double delta;

  double value(double z, double y) const {
    const double r = std::fabs(z - y);
    return r <= delta ? 0.5 * r * r : delta * (r - 0.5 * delta);
  }
  double slope(double z, double y) const { return std::clamp(z - y, -delta, delta); }
  double link(double z) const { return z; }
  double curvature(double z, double y) const { return std::fabs(z - y) <= delta ? 1.0 : 0.0; }
  double conjugate(double u, double y) const { return within(u, -delta, delta) ? u * (0.5 * u + y) : unbounded; }
};

// q [y − z]₊ + (1 − q) [z − y]₊
struct Quantile {
  double q;

  double value(double z, double y) const { return z < y ? q * (y - z) : (1.0 - q) * (z - y); }
  double slope(double z, double y) const { return z < y ? -q : z > y ? 1.0 - q : 0.0; }
  double link(double z) const { return z; }
  double conjugate(double u, double y) const { return within(u, -q, 1.0 - q) ? u * y : unbounded; }
};

// e^z − y z, y ≥ 0: Poisson with the log link, without the constant log y!
struct Poisson {
  double value(double z, double y) const { return guarded_exp(z) - y * z; }
  double slope(double z, double y) const { return guarded_exp_slope(z) - y; }
  double link(double z) const { return guarded_exp_slope(z); }
  double curvature(double z, double) const { return z <= 600.0 ? std::exp(z) : 0.0; }
  double conjugate(double u, double y) const {
    const double v = u + y;
    return v >= -1e-12 * y ? xlogx(v) - std::max(v, 0.0) : unbounded;
  }
};

// A loss given as two compiled functions.
struct Compiled {
  double (*value_at)(double z, double y);
  double (*slope_at)(double z, double y);

  double value(double z, double y) const { return value_at(z, y); }
  double slope(double z, double y) const { return slope_at(z, y); }
  double link(double z) const { return z; }
};

using ScalarLoss = std::variant<Logistic, Hinge, SquaredHinge, Exponential, Squared, EpsilonInsensitive,
                                LogEpsilonInsensitive, Huber, Quantile, Poisson, Compiled>;

// log Σ_r e^{z_r} − z_y
struct Multinomial {
  double value(std::span<const double> z, std::size_t y) const {
    const std::size_t top = static_cast<std::size_t>(std::max_element(z.begin(), z.end()) - z.begin());
    double rest = 0;  // Σ over all but the top: log1p keeps its digits when the top is far ahead
    for (std::size_t r = 0; r < z.size(); ++r) rest += r == top ? 0.0 : std::exp(z[r] - z[top]);
    return (z[top] - z[y]) + std::log1p(rest);
  }
  void slope(std::span<const double> z, std::size_t y, std::span<double> out) const {
    link(z, out);
    double others = 0;  // 1 − p_y without cancellation
    for (std::size_t r = 0; r < z.size(); ++r) others += r == y ? 0.0 : out[r];
    out[y] = -others;
  }
  void link(std::span<const double> z, std::span<double> out) const {
    const double top = *std::max_element(z.begin(), z.end());
    double total = 0;
    for (std::size_t r = 0; r < z.size(); ++r) total += out[r] = std::exp(z[r] - top);
    for (double& p : out) p /= total;
  }
  // Σ s log s for s = u + e_y in the simplex
  double conjugate(std::span<const double> u, std::size_t y) const {
    double sum = 0, total = 0;
    for (std::size_t r = 0; r < u.size(); ++r) {
      const double s = u[r] + (r == y ? 1.0 : 0.0);
      if (!within(s, 0.0, 1.0)) return unbounded;
      sum += s, total += xlogx(s);
    }
    return within(sum, 1.0, 1.0) ? total : unbounded;
  }
};

// max_r (1[r ≠ y] + z_r − z_y)
struct MulticlassHinge {
  double value(std::span<const double> z, std::size_t y) const {
    const std::size_t r = worst(z, y);
    return r == y ? 0.0 : 1.0 + (z[r] - z[y]);
  }
  void slope(std::span<const double> z, std::size_t y, std::span<double> out) const {
    std::fill(out.begin(), out.end(), 0.0);
    out[worst(z, y)] += 1.0;
    out[y] -= 1.0;
  }
  void link(std::span<const double> z, std::span<double> out) const { std::copy(z.begin(), z.end(), out.begin()); }
  // u_y for s = u + e_y in the simplex
  double conjugate(std::span<const double> u, std::size_t y) const {
    double sum = 0;
    for (std::size_t r = 0; r < u.size(); ++r) {
      const double s = u[r] + (r == y ? 1.0 : 0.0);
      if (!within(s, 0.0, 1.0)) return unbounded;
      sum += s;
    }
    return within(sum, 1.0, 1.0) ? u[y] : unbounded;
  }

 private:
  // The output that reaches the maximum; the true class wins ties.
  std::size_t worst(std::span<const double> z, std::size_t y) const {
    std::size_t best = y;
    double most = 0;
    for (std::size_t r = 0; r < z.size(); ++r) {
      const double gap = 1.0 + (z[r] - z[y]);
      if (r != y && gap > most) most = gap, best = r;
    }
    return best;
  }
};

using MulticlassLoss = std::variant<Multinomial, MulticlassHinge>;

}  // namespace gossamer
