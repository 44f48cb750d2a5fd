// What coordinate descent asks of a penalty on single numbers besides its prox:
//
//     subdifferential(φ, w)   ∂φ(w) = [low, high]
//     piece(φ, w)             the piece of φ that w is inside of: between low and high φ is quadratic, with this
//                             curvature; at a kink low = high
#pragma once

#include <cmath>

#include "catalogue/penalties.hpp"

namespace gossamer {

struct Interval {
  double low, high;
};

struct Piece {
  double low, high, curvature;
};

inline Interval subdifferential(const L1&, double w) {
  return w > 0 ? Interval{1, 1} : w < 0 ? Interval{-1, -1} : Interval{-1, 1};
}
inline Piece piece(const L1&, double w) {
  return w > 0 ? Piece{0, infinity, 0} : w < 0 ? Piece{-infinity, 0, 0} : Piece{0, 0, 0};
}

inline Interval subdifferential(const L2Squared&, double w) { return {w, w}; }
inline Piece piece(const L2Squared&, double) { return {-infinity, infinity, 1}; }

inline Interval subdifferential(const Berhu& p, double w) {
  if (std::fabs(w) > p.gamma) return {w / p.gamma, w / p.gamma};
  return subdifferential(L1{}, w);
}
inline Piece piece(const Berhu& p, double w) {
  const double size = std::fabs(w);
  if (size == 0 || size == p.gamma) return {w, w, 0};
  const Piece at = size < p.gamma ? Piece{0, p.gamma, 0} : Piece{p.gamma, infinity, 1 / p.gamma};
  return w > 0 ? at : Piece{-at.high, -at.low, at.curvature};
}

inline Interval subdifferential(const ElasticNet& p, double w) {
  const Interval l1 = subdifferential(L1{}, w);
  return {p.l1_ratio * l1.low + (1 - p.l1_ratio) * w, p.l1_ratio * l1.high + (1 - p.l1_ratio) * w};
}
inline Piece piece(const ElasticNet& p, double w) {
  Piece at = p.l1_ratio > 0 ? piece(L1{}, w) : piece(L2Squared{}, w);
  at.curvature = 1 - p.l1_ratio;
  return at;
}

inline Interval subdifferential(const NonNegativeL1&, double w) {
  return w > 0 ? Interval{1, 1} : Interval{-infinity, 1};
}
inline Piece piece(const NonNegativeL1&, double w) { return w > 0 ? Piece{0, infinity, 0} : Piece{0, 0, 0}; }

inline Interval subdifferential(const Box& p, double w) {
  return {w <= p.low ? -infinity : 0.0, w >= p.high ? infinity : 0.0};
}
inline Piece piece(const Box& p, double w) {
  return w > p.low && w < p.high ? Piece{p.low, p.high, 0} : Piece{w, w, 0};
}

}  // namespace gossamer
