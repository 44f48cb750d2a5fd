// A penalty on a block of numbers with the block's weight, whether it is written for blocks or for single numbers.
#pragma once

#include <span>

#include "catalogue/penalties.hpp"

namespace gossamer {

template <class P, class T>
double block_value(const P& p, std::span<const T> w, double weight) {
  if constexpr (requires { p.value(w, weight); }) {
    return p.value(w, weight);
  } else {  // where it is infinite, a weight of zero leaves it out
    return weight > 0 ? weight * sum_over(w, [&p](double x) { return p.value(x); }) : 0.0;
  }
}

template <class P, class T>
  requires requires(const P& p) { p.dual(1.0); } || OfBlocks<P>
double block_dual(const P& p, std::span<const T> v, double weight) {
  if constexpr (OfBlocks<P>) {
    return p.dual(v, weight);
  } else {
    const double most = max_over(v, 0.0, [&p](double x) { return p.dual(x); });
    return most > 0 ? most / weight : 0.0;
  }
}

template <class P>
concept Proximal = OfBlocks<P> || requires(const P& p) { p.prox(1.0, 1.0); };

template <Proximal P>
void block_prox(const P& p, std::span<const double> v, std::span<double> out, double s, double weight,
                Scratch& scratch) {
  if constexpr (OfBlocks<P>) {
    p.prox(v, out, s, weight, scratch);
  } else {
    for (std::size_t i = 0; i < v.size(); ++i) out[i] = p.prox(v[i], s * weight);
  }
}

}  // namespace gossamer
