// Penalties Ω and sets, one struct each. A struct says what it is (`facts`) and what it can do:
//
//     value      Ω(w)
//     prox       argmin_w ½‖w − v‖² + s Ω(w); for a set, the projection
//     dual       the least λ ≥ 0 with v ∈ λ ∂Ω(0): the dual norm when Ω is a norm
//     slope      a subgradient, zero at zero (of a block: `descend`, w ← w − s ξ); not for what constrains
//     repeat     n rounds of the prox with the same s, where there is a closed form
//     Rounds     a record of rounds with different s (rounds.hpp), where there is one
//     lengths    where a row loses length only, in a way that depends on its length alone: puts other lengths in
//     of_one     where Ω of one number w is a multiple of |w|: the factor
//
// An elementwise penalty is a sum over single numbers and is written as functions of one number; a blockwise one needs
// a whole block (a row, a group, or the whole vector). Weights are the caller's: an elementwise penalty sees a·s for s,
// a blockwise one is handed its block's weight. The value of a set follows from the norm it bounds.
//
// To add one: a struct here, and its name in the list at the end.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "base/pack.hpp"
#include "base/sums.hpp"
#include "catalogue/list.hpp"
#include "catalogue/projections.hpp"
#include "catalogue/rounds.hpp"

namespace gossamer {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct PenaltyFacts {
  const char* name;                          // of the class that Python sees
  std::array<const char*, 2> settings = {};  // the names of its numbers
  bool adds_up = false;                      // T rounds of the prox equal one with the sum of their s
  bool constrains = false;                   // infinite somewhere
  bool is_set = false;                       // zero elsewhere: there is no strength
};

inline double sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; }

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
  static constexpr PenaltyFacts facts{.name = "L1", .adds_up = true};

  double value(double w) const { return std::fabs(w); }
  template <class T>
  T prox(T v, T s) const {
    return soft(v, s);
  }
  double dual(double v) const { return std::fabs(v); }
  double slope(double w) const { return sign(w); }
  template <class F>
  double lengths(double v, F f) const {
    return std::copysign(f(std::fabs(v)), v);
  }
  double of_one(double weight) const { return weight; }
};

// ½ w²
struct L2Squared {
  static constexpr PenaltyFacts facts{.name = "L2Squared"};

  double value(double w) const { return 0.5 * w * w; }
  template <class T>
  T prox(T v, T s) const {
    return v / (1 + s);
  }
  double dual(double v) const { return v == 0 ? 0.0 : infinity; }
  double slope(double w) const { return w; }
  double repeat(double v, double n, double s) const { return v / std::pow(1 + s, n); }
};

// |w| up to γ, (w² + γ²) / (2γ) beyond
struct Berhu {
  double gamma;

  static constexpr PenaltyFacts facts{.name = "Berhu", .settings = {"gamma"}};
  using Rounds = BerhuRounds;
  Rounds rounds(bool traced) const { return {gamma, traced}; }

  double value(double w) const {
    const double size = std::fabs(w);
    return size <= gamma ? size : 0.5 * (w * (w / gamma) + gamma);
  }
  template <class T>
  T prox(T v, T s) const {
    return std::fabs(v) - s <= gamma ? soft(v, s) : static_cast<T>(v / (1 + s / gamma));
  }
  double dual(double v) const { return std::fabs(v); }
  double slope(double w) const { return std::fabs(w) <= gamma ? sign(w) : w / gamma; }
};

// ρ|w| + (1 − ρ) ½ w²: ℓ1, then a scaling
struct ElasticNet {
  double l1_ratio;

  static constexpr PenaltyFacts facts{.name = "ElasticNet", .settings = {"l1_ratio"}};
  using Rounds = ElasticNetRounds;
  Rounds rounds(bool traced) const { return {l1_ratio, traced}; }

  double value(double w) const { return l1_ratio * L1{}.value(w) + (1 - l1_ratio) * L2Squared{}.value(w); }
  template <class T>
  T prox(T v, T s) const {
    const T r = static_cast<T>(l1_ratio), most = std::numeric_limits<T>::max();  // ∞ · 0 has no value
    return L2Squared{}.prox(L1{}.prox(v, std::min(s, most) * r), std::min(s, most) * (1 - r));
  }
  double dual(double v) const { return v == 0 ? 0.0 : std::fabs(v) / l1_ratio; }
  double slope(double w) const { return l1_ratio * sign(w) + (1 - l1_ratio) * w; }
  double repeat(double v, double n, double s) const {
    const double a = s * l1_ratio, b = s * (1 - l1_ratio), growth = std::pow(1 + b, n);
    const double sum = b > 0 ? a * std::expm1(n * std::log1p(b)) / b : a * n;
    return std::isfinite(growth) ? soft(v, sum) / growth : 0.0;
  }
};

// w for w ≥ 0, ∞ for w < 0
struct NonNegativeL1 {
  static constexpr PenaltyFacts facts{.name = "NonNegativeL1", .adds_up = true, .constrains = true};

  double value(double w) const { return w >= 0 ? w : infinity; }
  template <class T>
  T prox(T v, T s) const {
    return std::max(T(0), v - s);  // in this order −0 becomes 0
  }
  double dual(double v) const { return std::max(v, 0.0); }
  template <class F>
  double lengths(double v, F f) const {
    return f(std::max(v, 0.0));
  }
};

// low ≤ w ≤ high
struct Box {
  double low, high;

  static constexpr PenaltyFacts facts{
      .name = "Box", .settings = {"low", "high"}, .adds_up = true, .constrains = true, .is_set = true};

  double value(double w) const { return w >= low && w <= high ? 0.0 : infinity; }
  template <class T>
  T prox(T v, T) const {
    return std::min(std::max(v, static_cast<T>(low)), static_cast<T>(high)) + T(0);
  }
};

// low_j ≤ w_j ≤ high_j: a box of its own for each feature j
struct Bounds {
  std::vector<double> low, high;

  static constexpr PenaltyFacts facts{.name = "Bounds", .adds_up = true, .constrains = true, .is_set = true};

  double prox(double v, double, std::size_t j) const { return std::min(std::max(v, low[j]), high[j]) + 0.0; }
};

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

// A function of single numbers, the same for all or one for each feature.
template <class P>
concept OfNumbers = requires(const P& p) { p.prox(1.0, 1.0); } || requires(const P& p) { p.prox(1.0, 1.0, 0); };

// A function of a block of numbers and its weight.
template <class P>
concept OfBlocks = requires(const P& p, std::span<const double> v, std::span<double> out, Scratch& scratch) {
  p.value(v, 1.0), p.dual(v, 1.0), p.prox(v, out, 1.0, 1.0, scratch);
};

// A set that all numbers are in together.
template <class P>
concept SetOfAll = requires(const P& p, std::span<const double> v, std::span<double> out, Scratch& scratch) {
  p.prox(v, out, scratch);
};

// A struct that lacks what its facts promise does not compile where it is listed.
template <class P>
concept Penalty = std::same_as<decltype(P::facts), const PenaltyFacts> && (OfNumbers<P> || OfBlocks<P> || SetOfAll<P>) &&
                  (P::facts.constrains || requires(const P& p) { p.slope(1.0); } ||
                   requires(const P& p, std::span<double> w) { p.descend(w, 1.0, 1.0); }) &&
                  (!P::facts.is_set || P::facts.constrains);
template <Penalty... Ps>
using PenaltyList = List<Ps...>;

using Penalties = PenaltyList<L1, L2Squared, Berhu, ElasticNet, NonNegativeL1, Box, Bounds, L2, LInf, SparseL2, Simplex,
                              L1Ball, L2Ball>;

template <class P>
constexpr bool one_for_all = requires(const P& p) { p.prox(1.0, 1.0); };
using Elementwise = Where<Penalties, []<class P> { return one_for_all<P> && !P::facts.is_set; }>::Variant;
using Blockwise = Where<Penalties, []<class P> { return OfBlocks<P>; }>::Variant;
using Set = Where<Penalties, []<class P> { return SetOfAll<P>; }>::Variant;
// Sums over features, as the online learners take them: each row of W by itself.
using RowPenalties = Where<Penalties, []<class P> { return OfNumbers<P> || OfBlocks<P>; }>;

}  // namespace gossamer
