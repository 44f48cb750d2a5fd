// A penalty on a block of numbers with the block's weight, whether it is written for blocks or for single numbers.
#pragma once

#include <span>

#include "catalogue/penalties.hpp"

namespace gossamer {

template <class P>
double block_value(const P& p, std::span<const double> w, double weight) {
  if constexpr (requires { p.value(w, weight); }) {
    return p.value(w, weight);
  } else {
    return weight * sum_over(w, [&p](double x) { return p.value(x); });
  }
}

template <class P>
concept Proximal = requires(const P& p, std::span<const double> v, std::span<double> out, Scratch& scratch) {
  p.prox(v, out, 1.0, 1.0, scratch);
} || requires(const P& p) { p.prox(1.0, 1.0); };

template <Proximal P>
void block_prox(const P& p, std::span<const double> v, std::span<double> out, double s, double weight,
                Scratch& scratch) {
  if constexpr (requires { p.prox(v, out, s, weight, scratch); }) {
    p.prox(v, out, s, weight, scratch);
  } else {
    for (std::size_t i = 0; i < v.size(); ++i) out[i] = p.prox(v[i], s * weight);
  }
}

// The dual of a block of one number, 1.
template <class P>
  requires requires(const P& p) { p.dual(1.0); } || requires(const P& p, std::span<const double> v) { p.dual(v, 1.0); }
double dual_of_one(const P& p) {
  const double one[] = {1.0};
  if constexpr (requires { p.dual(1.0); }) {
    return p.dual(1.0);
  } else {
    return p.dual(std::span<const double>(one), 1.0);
  }
}

}  // namespace gossamer
