// Losses with their kinks rounded off over a width μ (Moreau envelopes):
//
//     ℓ_μ(z) = min over x of ℓ(x) + (x − z)²/2μ,     slope (z − x)/μ,     conjugate ℓ*(u) + μ/2 ‖u‖²
//
// A slope of ℓ_μ is in the domain of ℓ*: it gives a dual point of the problem with ℓ itself.
#pragma once

#include <algorithm>
#include <concepts>
#include <span>
#include <vector>

#include "catalogue/losses.hpp"

namespace gossamer {

template <class L>
concept Kinked = requires(const L& l) {
  { l.nearest(1.0, 1.0, 1.0) } -> std::same_as<Nearest>;
  { l.bend(1.0, 1.0) } -> std::same_as<double>;
};

template <Kinked L>
struct Smoothed {
  static constexpr LossFacts facts{.name = L::facts.name, .of_residual = L::facts.of_residual};

  L loss;
  double mu;

  double value(double z, double y) const {
    const double x = loss.nearest(z, y, mu).x;
    return loss.value(x, y) + 0.5 / mu * (z - x) * (z - x);
  }
  double slope(double z, double y) const { return (z - loss.nearest(z, y, mu).x) / mu; }
  double curvature(double z, double y) const { return loss.nearest(z, y, mu).at_kink ? 1.0 / mu : 0.0; }
  double majorant(double z, double y) const { return std::min(loss.bend(z, y), 1.0 / mu); }
  double conjugate(double u, double y) const { return loss.conjugate(u, y) + 0.5 * mu * u * u; }
  double steepness() const { return 1.0 / mu; }
};

// The same for a loss of all outputs: `nearest` fills x.
template <class L>
concept KinkedRows = requires(const L& l, std::span<const double> z, std::span<double> x) { l.nearest(z, 0, 1.0, x); };

template <KinkedRows L>
struct SmoothedRows {
  static constexpr LossFacts facts{.name = L::facts.name};

  L loss;
  double mu;

  double value(std::span<const double> z, std::size_t y) const {
    std::vector<double> x(z.size());
    loss.nearest(z, y, mu, x);
    double squares = 0;
    for (std::size_t r = 0; r < z.size(); ++r) squares += (z[r] - x[r]) * (z[r] - x[r]);
    return loss.value(x, y) + 0.5 / mu * squares;
  }
  void slope(std::span<const double> z, std::size_t y, std::span<double> out) const {
    loss.nearest(z, y, mu, out);
    for (std::size_t r = 0; r < z.size(); ++r) out[r] = (z[r] - out[r]) / mu;
  }
  double conjugate(std::span<const double> u, std::size_t y) const {
    double squares = 0;
    for (const double v : u) squares += v * v;
    return loss.conjugate(u, y) + 0.5 * mu * squares;
  }
};

}  // namespace gossamer
