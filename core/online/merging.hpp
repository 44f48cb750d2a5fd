// What rules share that can be merged: learners that saw different examples become one.
//
// A rule of dual averaging reads its weights from an objective, <G, w> + αtΩ(w) + ½ Σ_j H_j w_j², and objectives add
// up: G, t and H do. (To add Σ g² instead, and take H from that, would make weights too large by the root of the number
// of learners.) One of P equal shares has G/P, t/P and H/P, so it reads the same weights, and shares add up to what
// they are of.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>

#include "base/memory.hpp"
#include "online/rule.hpp"

namespace gossamer {

// The other rule, which must be of the same kind and size.
template <class R>
R& same_kind(Rule& other) {
  auto* same = dynamic_cast<R*>(&other);
  if (!same) throw std::invalid_argument("only learners of the same method, penalty and size can be merged");
  return *same;
}

inline void add_all(std::span<double> to, std::span<const double> from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}
inline void divide_all(std::span<double> all, double parts) {
  for (double& x : all) x /= parts;
}

// γ of H = γ√t
inline double merged_gamma(double gamma, double rounds, double other_gamma, double other_rounds) {
  const double all = std::sqrt(rounds + other_rounds);
  return all > 0 ? (gamma * std::sqrt(rounds) + other_gamma * std::sqrt(other_rounds)) / all : gamma;
}
inline double shared_gamma(double gamma, double rounds, double parts, double left) {
  return left > 0 ? gamma * std::sqrt(rounds / left) / parts : gamma;
}

}  // namespace gossamer
