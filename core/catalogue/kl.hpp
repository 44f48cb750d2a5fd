// The Kullback-Leibler penalty on the simplex: Ω(w) = Σ w_j log(w_j / p_j) for w ≥ 0, Σ w = 1.
#pragma once

#include <span>

namespace gossamer {

// argmin ½‖w − v‖² + s Ω(w), for float and double
template <class T>
void prox_kl(std::span<const T> v, std::span<T> out, double s, std::span<const double> prior);

}  // namespace gossamer
