// Penalties that need a whole block: a row, a group, or the whole vector; and sets that all numbers are in together
// (see penalties.hpp).
#pragma once

#include <span>
#include <vector>

#include "base/sums.hpp"
#include "catalogue/facts.hpp"
#include "catalogue/list.hpp"
#include "catalogue/projections.hpp"

namespace gossamer {

// ω ‖w‖₂
struct L2 {
  static constexpr PenaltyFacts facts{.name = "L2", .adds_up = true};

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
  void descend(std::span<double> w, double s, double weight) const {
    const double norm = norm2(std::span<const double>(w));
    if (norm > 0) scale_into(std::span<const double>(w), w, 1 - s * weight / norm);
  }
  template <class F>
  void lengths(std::span<const double> v, double* sum, F f) const {
    const double norm = norm2(v), ratio = norm > 0 ? f(norm) / norm : 0.0;
    for (std::size_t r = 0; r < v.size(); ++r) sum[r] += ratio * v[r];
  }
  double of_one(double weight) const { return weight; }
};

// ω ‖w‖∞
struct LInf {
  static constexpr PenaltyFacts facts{.name = "LInf", .adds_up = true};

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
  void descend(std::span<double> w, double s, double weight) const {
    const auto smaller = [](double a, double b) { return std::fabs(a) < std::fabs(b); };
    const auto top = std::max_element(w.begin(), w.end(), smaller);
    if (top != w.end()) *top -= s * weight * sign(*top);
  }
  double of_one(double weight) const { return weight; }
};

// ρ‖w‖₁ + (1 − ρ) ω ‖w‖₂
struct SparseL2 {
  double l1_ratio;

  static constexpr PenaltyFacts facts{.name = "SparseL2", .settings = {"l1_ratio"}};

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
  void descend(std::span<double> w, double s, double weight) const {
    const double norm = norm2(std::span<const double>(w)), of_norm = norm > 0 ? (1 - l1_ratio) * weight / norm : 0.0;
    for (double& x : w) x -= s * (l1_ratio * sign(x) + of_norm * x);
  }
  double of_one(double weight) const { return l1_ratio + (1 - l1_ratio) * weight; }
};

// ω ‖w‖₂ for w ≥ 0, ∞ elsewhere
struct NonNegativeL2 {
  static constexpr PenaltyFacts facts{.name = "NonNegativeL2", .adds_up = true, .constrains = true};

  template <class T>
  double value(std::span<const T> w, double weight) const {
    return std::all_of(w.begin(), w.end(), [](T x) { return x >= 0; }) ? L2{}.value(w, weight) : infinity;
  }
  // The ℓ2 rule of the positive part.
  template <class T>
  void prox(std::span<const T> v, std::span<T> out, double s, double weight, Scratch& scratch) const {
    for (std::size_t i = 0; i < v.size(); ++i) out[i] = std::max(T(0), v[i]);
    L2{}.prox(std::span<const T>(out), out, s, weight, scratch);
  }
  template <class T>
  double dual(std::span<const T> v, double weight) const {
    std::vector<T> positive(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) positive[i] = std::max(T(0), v[i]);
    return L2{}.dual(std::span<const T>(positive), weight);
  }
  template <class F>
  void lengths(std::span<const double> v, double* sum, F f) const {
    double squares = 0;
    for (double x : v) squares += x > 0 ? x * x : 0.0;
    const double norm = std::sqrt(squares), ratio = norm > 0 ? f(norm) / norm : 0.0;
    for (std::size_t r = 0; r < v.size(); ++r) sum[r] += ratio * std::max(v[r], 0.0);
  }
};

// {w ≥ 0, Σ w = radius}
struct Simplex {
  double radius;

  static constexpr PenaltyFacts facts{.name = "Simplex", .settings = {"radius"}, .constrains = true, .is_set = true};

  template <class T>
  void prox(std::span<const T> v, std::span<T> out, Scratch& scratch) const {
    project_simplex(v, out, radius, scratch);
  }
};

// {‖w‖₁ ≤ radius}
struct L1Ball {
  double radius;

  static constexpr PenaltyFacts facts{.name = "L1Ball", .settings = {"radius"}, .constrains = true, .is_set = true};

  template <class T>
  void prox(std::span<const T> v, std::span<T> out, Scratch& scratch) const {
    project_l1_ball(v, out, radius, scratch);
  }
};

// {‖w‖₂ ≤ radius}
struct L2Ball {
  double radius;

  static constexpr PenaltyFacts facts{.name = "L2Ball", .settings = {"radius"}, .constrains = true, .is_set = true};

  template <class T>
  void prox(std::span<const T> v, std::span<T> out, Scratch&) const {
    project_l2_ball(v, out, radius);
  }
};

using OfBlocksList = List<L2, LInf, SparseL2, NonNegativeL2, Simplex, L1Ball, L2Ball>;

}  // namespace gossamer
