// What a penalty says of itself, and the small functions that penalties are made of.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/pack.hpp"

namespace gossamer {

constexpr double infinity = std::numeric_limits<double>::infinity();

// ∂φ(w) = [low, high]
struct Interval {
  double low, high;
};

// The piece of φ that w is inside of: between low and high φ is quadratic, with this curvature. At a kink low = high.
struct Piece {
  double low, high, curvature;
};

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

}  // namespace gossamer
