// Losses of two numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "catalogue/list.hpp"
#include "catalogue/loss_facts.hpp"

namespace gossamer {

// log(1 + eˣ)
inline double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

// 1 / (1 + e⁻ˣ)
inline double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// The curvature of the parabola that touches log(1 + eˣ) at x and is nowhere below it, tanh(x/2) / 2x (Jaakkola,
// Jordan: A variational approach to Bayesian logistic regression models, 1997).
inline double softplus_majorant(double x) { return std::fabs(x) < 1e-4 ? 0.25 : std::tanh(0.5 * x) / (2.0 * x); }

// eˣ, continued past x = 600 by its tangent: convex, smooth, and finite where eˣ is not.
inline double guarded_exp(double x) { return x <= 600.0 ? std::exp(x) : std::exp(600.0) * (1.0 + (x - 600.0)); }
inline double guarded_exp_slope(double x) { return std::exp(std::min(x, 600.0)); }

constexpr double unbounded = std::numeric_limits<double>::infinity();

// x log x, and 0 at 0 (and at what rounding leaves below it)
inline double xlogx(double x) { return x > 0.0 ? x * std::log(x) : 0.0; }

// low ≤ x ≤ high up to rounding
inline bool within(double x, double low, double high) { return x >= low - 1e-12 && x <= high + 1e-12; }

// A slope as down − up, where ℓ is the sum of a function that falls and one that rises.
struct BothWays {
  double up, down;
};

// log(1 + e^{−yz}), y = ±1
struct Logistic {
  static constexpr LossFacts facts{.name = "Logistic", .link = Link::sigmoid, .bounded = true};

  double value(double z, double y) const { return softplus(-y * z); }
  double slope(double z, double y) const { return -y * sigmoid(-y * z); }
  double curvature(double z, double) const {
    const double e = std::exp(-std::fabs(z));
    return e / ((1.0 + e) * (1.0 + e));
  }
  double conjugate(double u, double y) const {
    const double v = -u * y;
    return within(v, 0.0, 1.0) ? xlogx(v) + xlogx(1.0 - v) : unbounded;
  }
  // The curvature where the slope is this.
  double curvature_of_slope(double slope) const { return std::fabs(slope) * (1.0 - std::fabs(slope)); }
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
  static constexpr LossFacts facts{.name = "Hinge", .bounded = true};

  double value(double z, double y) const { return std::max(1.0 - y * z, 0.0); }
  double slope(double z, double y) const { return y * z < 1.0 ? -y : 0.0; }
  double conjugate(double u, double y) const { return within(-u * y, 0.0, 1.0) ? u * y : unbounded; }
  Nearest nearest(double v, double y, double mu) const {
    const double short_by = 1.0 - y * v;
    if (short_by <= 0.0) return {v, false};
    return short_by >= mu ? Nearest{v + mu * y, false} : Nearest{y, true};
  }
  double bend(double z, double y) const { return kink_majorant(1.0 - y * z); }
};

// ½ [1 − yz]₊², y = ±1
struct SquaredHinge {
  static constexpr LossFacts facts{.name = "SquaredHinge"};

  double value(double z, double y) const {
    const double short_by = std::max(1.0 - y * z, 0.0);
    return 0.5 * short_by * short_by;
  }
  double slope(double z, double y) const { return -y * std::max(1.0 - y * z, 0.0); }
  double curvature(double z, double y) const { return y * z < 1.0 ? 1.0 : 0.0; }
  double conjugate(double u, double y) const { return u * y <= 0.0 ? 0.5 * u * u + u * y : unbounded; }
};

// e^{−yz}, y = ±1; z is half the log odds
struct Exponential {
  static constexpr LossFacts facts{.name = "Exponential", .link = Link::sigmoid2, .steep = true};

  double value(double z, double y) const { return guarded_exp(-y * z); }
  double slope(double z, double y) const { return -y * guarded_exp_slope(-y * z); }
  double curvature(double z, double y) const { return -y * z <= 600.0 ? std::exp(-y * z) : 0.0; }
  double conjugate(double u, double y) const { return u * y <= 0.0 ? xlogx(-u * y) + u * y : unbounded; }
};

// ½ (z − y)²
struct Squared {
  static constexpr LossFacts facts{.name = "Squared", .quadratic = true, .of_residual = true};

  double value(double z, double y) const { return 0.5 * (z - y) * (z - y); }
  double slope(double z, double y) const { return z - y; }
  double curvature(double, double) const { return 1.0; }
  double conjugate(double u, double y) const { return u * (0.5 * u + y); }
};

// [|z − y| − ε]₊
struct EpsilonInsensitive {
  static constexpr LossFacts facts{
      .name = "EpsilonInsensitive", .settings = {"epsilon"}, .of_residual = true, .bounded = true};

  double epsilon;

  double value(double z, double y) const { return std::max(std::fabs(z - y) - epsilon, 0.0); }
  double slope(double z, double y) const { return z - y > epsilon ? 1.0 : y - z > epsilon ? -1.0 : 0.0; }
  double conjugate(double u, double y) const {
    return within(u, -1.0, 1.0) ? u * y + epsilon * std::fabs(u) : unbounded;
  }
  Nearest nearest(double v, double y, double mu) const {
    const double r = v - y, over = std::fabs(r) - epsilon;
    if (over <= 0.0) return {v, false};
    return over >= mu ? Nearest{v - std::copysign(mu, r), false} : Nearest{y + std::copysign(epsilon, r), true};
  }
  double bend(double z, double y) const { return kink_majorant(z - y - epsilon) + kink_majorant(z - y + epsilon); }
};

// log(1 + e^{z−y−ε}) + log(1 + e^{y−z−ε})
struct LogEpsilonInsensitive {
  static constexpr LossFacts facts{
      .name = "LogEpsilonInsensitive", .settings = {"epsilon"}, .of_residual = true, .bounded = true};

  double epsilon;

  double value(double z, double y) const { return softplus(z - y - epsilon) + softplus(y - z - epsilon); }
  double slope(double z, double y) const {
    const BothWays at = ways(z, y);
    return at.down - at.up;
  }
  BothWays ways(double z, double y) const { return {sigmoid(y - z - epsilon), sigmoid(z - y - epsilon)}; }
  double curvature(double z, double y) const {
    return Logistic{}.curvature(z - y - epsilon, 1.0) + Logistic{}.curvature(y - z - epsilon, 1.0);
  }
  double majorant(double z, double y) const {
    return softplus_majorant(z - y - epsilon) + softplus_majorant(y - z - epsilon);
  }
  // The slope is |u| at r = log t with a(1 − |u|)t² − |u|(1 + a²)t − a(1 + |u|) = 0, a = e^{−ε}.
  double conjugate(double u, double y) const {
    const double size = std::fabs(u), a = std::exp(-epsilon), rest = 1.0 - size;
    if (!within(u, -1.0, 1.0)) return unbounded;
    if (rest <= 0.0) return u * y + epsilon * size;
    if (size == 0.0) return -value(0.0, 0.0);
    const double half = 0.5 * size * (1.0 + a * a), root = std::sqrt(half * half + a * a * rest * (1.0 + size));
    const double r = epsilon + std::log((half + root) / rest);  // not ÷ a, which may be 0
    return u * y + size * r - value(r, 0.0);
  }
};

// ½ r² for |r| ≤ δ, δ(|r| − ½δ) beyond, r = z − y
struct Huber {
  static constexpr LossFacts facts{.name = "Huber", .settings = {"delta"}, .of_residual = true, .bounded = true};

  double delta;

  double value(double z, double y) const {
    const double r = std::fabs(z - y);
    return r <= delta ? 0.5 * r * r : delta * (r - 0.5 * delta);
  }
  double slope(double z, double y) const { return std::clamp(z - y, -delta, delta); }
  double curvature(double z, double y) const { return std::fabs(z - y) <= delta ? 1.0 : 0.0; }
  double majorant(double z, double y) const { return std::fabs(z - y) <= delta ? 1.0 : delta / std::fabs(z - y); }
  double conjugate(double u, double y) const { return within(u / delta, -1.0, 1.0) ? u * (0.5 * u + y) : unbounded; }
};

// q [y − z]₊ + (1 − q) [z − y]₊
struct Quantile {
  static constexpr LossFacts facts{.name = "Quantile", .settings = {"q"}, .of_residual = true, .bounded = true};

  double q;

  double value(double z, double y) const { return z < y ? q * (y - z) : (1.0 - q) * (z - y); }
  double slope(double z, double y) const { return z < y ? -q : z > y ? 1.0 - q : 0.0; }
  double conjugate(double u, double y) const { return within(u, -q, 1.0 - q) ? u * y : unbounded; }
  Nearest nearest(double v, double y, double mu) const {
    const double r = v - y;
    if (r >= mu * (1.0 - q)) return {v - mu * (1.0 - q), false};
    return r <= -mu * q ? Nearest{v + mu * q, false} : Nearest{y, true};
  }
  double bend(double z, double y) const { return kink_majorant(z - y); }
};

// e^z − y z, y ≥ 0: Poisson with the log link, without the constant log y!
struct Poisson {
  static constexpr LossFacts facts{.name = "Poisson", .link = Link::exp, .steep = true};

  double value(double z, double y) const { return guarded_exp(z) - y * z; }
  double slope(double z, double y) const { return guarded_exp_slope(z) - y; }
  double curvature(double z, double) const { return z <= 600.0 ? std::exp(z) : 0.0; }
  double conjugate(double u, double y) const {
    const double v = u + y;
    return v >= -1e-12 * y ? xlogx(v) - std::max(v, 0.0) : unbounded;
  }
};

// y e⁻ᶻ + z, y > 0: gamma with the log link, without what does not depend on z
struct Gamma {
  static constexpr LossFacts facts{.name = "Gamma", .link = Link::exp, .steep = true};

  double value(double z, double y) const { return y * guarded_exp(-z) + z; }
  double slope(double z, double y) const { return 1.0 - y * guarded_exp_slope(-z); }
  double curvature(double z, double y) const { return z >= -600.0 ? y * std::exp(-z) : 0.0; }
  double conjugate(double u, double y) const {
    const double v = 1.0 - u;
    return v >= -1e-12 ? xlogx(v) - std::max(v, 0.0) * (1.0 + std::log(y)) : unbounded;
  }
};

// e^{(2−p)z}/(2−p) + y e^{−(p−1)z}/(p−1), y ≥ 0, 1 < p < 2: Tweedie with the log link, without what does not depend on
// z
struct Tweedie {
  static constexpr LossFacts facts{.name = "Tweedie", .settings = {"power"}, .link = Link::exp, .steep = true};

  double power;

  double value(double z, double y) const {
    const double up = 2.0 - power, down = power - 1.0;
    return guarded_exp(up * z) / up + y * guarded_exp(-down * z) / down;
  }
  double slope(double z, double y) const {
    return guarded_exp_slope((2.0 - power) * z) - y * guarded_exp_slope((1.0 - power) * z);
  }
  double curvature(double z, double y) const {
    const double up = 2.0 - power, down = power - 1.0;
    return (up * z <= 600.0 ? up * std::exp(up * z) : 0.0) +
           (-down * z <= 600.0 ? down * y * std::exp(-down * z) : 0.0);
  }
  // uz − ℓ at the z whose slope is u: Newton's method inside a bracket. Where y = 0 the slope is e^{(2−p)z}.
  double conjugate(double u, double y) const {
    const double up = 2.0 - power, down = power - 1.0;
    if (y == 0.0) return u >= 0.0 ? (xlogx(u) - u) / up : unbounded;
    double low = std::log(y), high = low;  // where the slope is 0
    if (u > 0) high = std::max(low + std::log(2.0), std::log(2.0 * u) / up);
    if (u < 0) low = std::min(high - std::log(2.0), std::log(y / (-2.0 * u)) / down);
    double z = u > 0 ? high : low;
    for (int round = 0; round < 100 && high > low; ++round) {
      const double off = slope(z, y) - u;
      (off < 0 ? low : high) = z;
      const double next = z - off / curvature(z, y);
      const double to = next > low && next < high ? next : low / 2 + high / 2;
      if (std::fabs(to - z) <= 1e-15 * std::fabs(z)) break;
      z = to;
    }
    return u * z - value(z, y);
  }
};

// A loss given as two compiled functions, by their addresses.
struct Compiled {
  static constexpr LossFacts facts{.name = "Compiled", .settings = {"value", "slope"}};
  using Setting = std::uintptr_t;
  using Function = double (*)(double z, double y);

  Function value_at, slope_at;

  Compiled(Setting value, Setting slope)
      : value_at(reinterpret_cast<Function>(value)), slope_at(reinterpret_cast<Function>(slope)) {}

  double value(double z, double y) const { return value_at(z, y); }
  double slope(double z, double y) const { return slope_at(z, y); }
};

// Both, from what they share where the loss knows how.
template <class L>
double value_and_slope(const L& loss, double z, double y, double& slope) {
  if constexpr (requires { loss.value_and_slope(z, y, slope); }) {
    return loss.value_and_slope(z, y, slope);
  } else {
    slope = loss.slope(z, y);
    return loss.value(z, y);
  }
}

template <LossOfNumbers... Ls>
using OfTwoNumbers = List<Ls...>;
using ScalarLosses = OfTwoNumbers<Logistic, Hinge, SquaredHinge, Exponential, Squared, EpsilonInsensitive,
                                  LogEpsilonInsensitive, Huber, Quantile, Poisson, Gamma, Tweedie, Compiled>;
using ScalarLoss = ScalarLosses::Variant;

}  // namespace gossamer
