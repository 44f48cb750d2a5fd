// Penalties that are sums over single numbers: functions of one number (see penalties.hpp).
#pragma once

#include <vector>

#include "catalogue/facts.hpp"
#include "catalogue/list.hpp"
#include "catalogue/rounds.hpp"

namespace gossamer {

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
  Interval subdifferential(double w) const {
    return w > 0 ? Interval{1, 1} : w < 0 ? Interval{-1, -1} : Interval{-1, 1};
  }
  Piece piece(double w) const {
    return w > 0 ? Piece{0, infinity, 0} : w < 0 ? Piece{-infinity, 0, 0} : Piece{0, 0, 0};
  }
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
  Interval subdifferential(double w) const { return {w, w}; }
  Piece piece(double) const { return {-infinity, infinity, 1}; }
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
  Interval subdifferential(double w) const {
    if (std::fabs(w) > gamma) return {w / gamma, w / gamma};
    return L1{}.subdifferential(w);
  }
  Piece piece(double w) const {
    const double size = std::fabs(w);
    if (size == 0 || size == gamma) return {w, w, 0};
    const Piece at = size < gamma ? Piece{0, gamma, 0} : Piece{gamma, infinity, 1 / gamma};
    return w > 0 ? at : Piece{-at.high, -at.low, at.curvature};
  }
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
  Interval subdifferential(double w) const {
    const Interval l1 = L1{}.subdifferential(w);
    return {l1_ratio * l1.low + (1 - l1_ratio) * w, l1_ratio * l1.high + (1 - l1_ratio) * w};
  }
  Piece piece(double w) const {
    Piece at = l1_ratio > 0 ? L1{}.piece(w) : L2Squared{}.piece(w);
    at.curvature = 1 - l1_ratio;
    return at;
  }
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
  Interval subdifferential(double w) const { return w > 0 ? Interval{1, 1} : Interval{-infinity, 1}; }
  Piece piece(double w) const { return w > 0 ? Piece{0, infinity, 0} : Piece{0, 0, 0}; }
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
  Interval subdifferential(double w) const { return {w <= low ? -infinity : 0.0, w >= high ? infinity : 0.0}; }
  Piece piece(double w) const { return w > low && w < high ? Piece{low, high, 0} : Piece{w, w, 0}; }
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

using OfNumbersList = List<L1, L2Squared, Berhu, ElasticNet, NonNegativeL1, Box, Bounds>;

}  // namespace gossamer
