// Penalties Ω and sets, one struct each, with
//
//     value     Ω(w)
//     prox      argmin_w ½‖w − v‖² + s Ω(w); for a set, the projection
//     dual      the least λ ≥ 0 with v ∈ λ ∂Ω(0): the dual norm when Ω is a norm
//
// An elementwise penalty is a sum over single numbers and is written as functions of one number; a blockwise one needs
// a whole block (a row, a group, or the whole vector). Weights are the caller's: an elementwise penalty sees a·s for s,
// a blockwise one is handed its block's weight. The value of a set follows from the norm it bounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <variant>

#include "base/pack.hpp"
#include "base/sums.hpp"
#include "catalogue/projections.hpp"

namespace gossamer {

constexpr double infinity = std::numeric_limits<double>::infinity();

// v − clip(v, −s, s): the soft threshold in the form that compiles to vector code. Zero comes out as +0.
template <class T>
T soft(T v, T s) {
  return v - std::min(std::max(v, -s), s);
}

[[gnu::always_inline]] inline Quad soft(Quad v, Quad s) {
  const Quad low = v > -s ? v : -s;
  return v - (low < s ? low : s);
}

// |w|
struct L1 {
  double value(double w) const { return std::fabs(w); }
  template <class T>
  T prox(T v, T s) const {
    return soft(v, s);
  }
  double dual(double v) const { return std::fabs(v); }
};

// ½ w²
struct L2Squared {
  double value(double w) const { return 0.5 * w * w; }
  template <class T>
  T prox(T v, T s) const {
    return v / (1 + s);
  }
  double dual(double v) const { return v == 0 ? 0.0 : infinity; }
};

// |w| up to γ, (w² + γ²) / (2γ) beyond
struct Berhu {
  double gamma;

  double value(double w) const {
    const double size = std::fabs(w);
    return size <= gamma ? size : 0.5 * (w * (w / gamma) + gamma);
  }
  template <class T>
  T prox(T v, T s) const {
    return std::fabs(v) - s <= gamma ? soft(v, s) : static_cast<T>(v / (1 + s / gamma));
  }
  double dual(double v) const { return std::fabs(v); }
};

// ρ|w| + (1 − ρ) ½ w²: ℓ1, then a scaling
struct ElasticNet {
  double l1_ratio;

  double value(double w) const { return l1_ratio * L1{}.value(w) + (1 - l1_ratio) * L2Squared{}.value(w); }
  template <class T>
  T prox(T v, T s) const {
    const T r = static_cast<T>(l1_ratio), most = std::numeric_limits<T>::max();  // ∞ · 0 has no value
    return L2Squared{}.prox(L1{}.prox(v, std::min(s, most) * r), std::min(s, most) * (1 - r));
  }
  double dual(double v) const { return v == 0 ? 0.0 : std::fabs(v) / l1_ratio; }
};

// w for w ≥ 0, ∞ for w < 0
struct NonNegativeL1 {
  double value(double w) const { return w >= 0 ? w : infinity; }
  template <class T>
  T prox(T v, T s) const {
    return std::max(T(0), v - s);  // in this order −0 becomes 0
  }
  double dual(double v) const { return std::max(v, 0.0); }
};

using Elementwise = std::variant<L1, L2Squared, Berhu, ElasticNet, NonNegativeL1>;

// low ≤ w ≤ high
struct Box {
  double low, high;

  template <class T>
  T prox(T v, T) const {
    return std::min(std::max(v, static_cast<T>(low)), static_cast<T>(high));
  }
};

// ω ‖w‖₂
struct L2 {
  template <class T>
  double value(std::span<const T> w, double weight) const {
    return weight * norm2(w);
  }
  // [1 − sω/‖v‖]₊ v
  template <class T>
  void prox(std::span<const T> v, std::span<T> out, double s, double weight, Scratch&) const {
    const double norm = norm2(v);
    scale_into(v, out, norm > s * weight ? 1 - s * weight / norm : 0.0);
  }
  template <class T>
  double dual(std::span<const T> v, double weight) const {
    const double norm = norm2(v);
    return norm == 0 ? 0.0 : norm / weight;
  }
};

// ω ‖w‖∞
struct LInf {
  template <class T>
  double value(std::span<const T> w, double weight) const {
    return weight * norm_inf(w);
  }
  // v minus its projection on the ℓ1 ball of radius sω (Moreau): every entry is capped at the cut.
  template <class T>
  void prox(std::span<const T> v, std::span<T> out, double s, double weight, Scratch& scratch) const {
    const double radius = s * weight;
    const Magnitudes sizes = magnitudes(v);
    double cap = sizes.largest;
    if (sizes.sum <= radius)
      cap = 0;
    else if (radius > 0)
      cap = std::max(l1_cut(v, radius, sizes.largest, scratch).level(), 0.0);
    for (std::size_t i = 0; i < v.size(); ++i) {
      out[i] = static_cast<T>(std::min(std::max(static_cast<double>(v[i]), -cap), cap) + 0.0);
    }
  }
  // The same for four rows of at most `few` numbers, in half the time.
  template <class T>
  void prox_four(const T* v, T* out, std::size_t width, const std::array<double, 4>& radius) const {
    const std::array<double, 4> caps = four_levels(v, width, radius);
    for (std::size_t r = 0; r < 4; ++r) {
      const double cap = radius[r] > 0 ? caps[r] : infinity;
      for (std::size_t i = r * width; i < (r + 1) * width; ++i) {
        out[i] = static_cast<T>(std::min(std::max(static_cast<double>(v[i]), -cap), cap) + 0.0);
      }
    }
  }
  template <class T>
  double dual(std::span<const T> v, double weight) const {
    const double norm = norm1(v);
    return norm == 0 ? 0.0 : norm / weight;
  }
};

// ρ‖w‖₁ + (1 − ρ) ω ‖w‖₂
struct SparseL2 {
  double l1_ratio;

  template <class T>
  double value(std::span<const T> w, double weight) const {
    return l1_ratio * norm1(w) + L2{}.value(w, (1 - l1_ratio) * weight);
  }
  // The soft threshold, then the ℓ2 rule.
  template <class T>
  void prox(std::span<const T> v, std::span<T> out, double s, double weight, Scratch& scratch) const {
    const T threshold = static_cast<T>(s * l1_ratio);
    for (std::size_t i = 0; i < v.size(); ++i) out[i] = soft(v[i], threshold);
    L2{}.prox(std::span<const T>(out), out, s, (1 - l1_ratio) * weight, scratch);
  }
  // The root λ of ‖soft(v, λρ)‖₂ = λ(1 − ρ)ω. The difference is convex and decreasing: Newton's method from 0 climbs
  // to it.
  template <class T>
  double dual(std::span<const T> v, double weight) const {
    const double largest = norm_inf(v);
    if (largest == 0) return 0.0;
    const double slack = (1 - l1_ratio) * weight;
    if (slack == 0) return largest / l1_ratio;
    double lambda = 0;
    for (;;) {
      const double threshold = lambda * l1_ratio;
      auto rest = [=](double x) { return std::max(std::fabs(x) - threshold, 0.0) / largest; };
      const double norm = std::sqrt(sum_over(v, [&](double x) { return rest(x) * rest(x); }));
      if (norm == 0) return lambda;
      const double slope = l1_ratio * sum_over(v, rest) / norm + slack;
      const double next = lambda + (norm * largest - lambda * slack) / slope;
      if (!(next > lambda)) return lambda;
      lambda = next;
    }
  }
};

using Blockwise = std::variant<L2, LInf, SparseL2>;

// {w ≥ 0, Σ w = radius}
struct Simplex {
  double radius;

  template <class T>
  void prox(std::span<const T> v, std::span<T> out, Scratch& scratch) const {
    project_simplex(v, out, radius, scratch);
  }
};

// {‖w‖₁ ≤ radius}
struct L1Ball {
  double radius;

  template <class T>
  void prox(std::span<const T> v, std::span<T> out, Scratch& scratch) const {
    project_l1_ball(v, out, radius, scratch);
  }
};

// {‖w‖₂ ≤ radius}
struct L2Ball {
  double radius;

  template <class T>
  void prox(std::span<const T> v, std::span<T> out, Scratch&) const {
    project_l2_ball(v, out, radius);
  }
};

using Set = std::variant<Simplex, L1Ball, L2Ball>;

}  // namespace gossamer
