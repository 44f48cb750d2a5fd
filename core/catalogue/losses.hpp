// Losses ℓ(z, y), one struct each: z the margin or prediction, y the target.
//
//     facts             what it is called, what it predicts from z, what else must be known of it
//     value(z, y)       the loss
//     slope(z, y)       ∂ℓ/∂z, true sign (a subgradient at a kink)
//     curvature(z, y)   ∂²ℓ/∂z², for the losses that have a slope everywhere (where it jumps, from one side)
//     conjugate(u, y)   ℓ*(u) = sup_z uz − ℓ(z, y), ∞ outside its domain: what certificates are made of
//
// A loss with kinks has, for smoothed.hpp,
//
//     nearest(v, y, μ)  the minimum of ℓ(x) + (x − v)²/2μ
//     bend(z, y)        the curvature of a parabola that touches ℓ at z and is nowhere below it
//
// Scalar losses are functions of two numbers. Multiclass losses see all k outputs of an example and its class; instead
// of a curvature they may have
//
//     probabilities(z, π)   with ∂²ℓ/∂z∂zᵀ = diag π − ππᵀ
//
// All stay finite and accurate for |z| up to 1e8. A new loss is a struct and its name in a list: variants, bindings
// and factories come from there.
#pragma once

#include <cstdint>

#include "catalogue/multiclass_losses.hpp"
#include "catalogue/scalar_losses.hpp"

namespace gossamer {

// Losses over arrays, element by element; link fills out[i] from z[i].
void loss_value(const ScalarLoss& loss, std::span<const double> z, std::span<const double> y, std::span<double> out);
void loss_slope(const ScalarLoss& loss, std::span<const double> z, std::span<const double> y, std::span<double> out);
void loss_link(const ScalarLoss& loss, std::span<const double> z, std::span<double> out);
// Multiclass losses: z is n × k, y the class of each row; value fills n numbers, slope and link n × k.
void loss_value(const MulticlassLoss& loss, std::span<const double> z, std::span<const std::int64_t> y,
                std::span<double> out);
void loss_slope(const MulticlassLoss& loss, std::span<const double> z, std::span<const std::int64_t> y,
                std::span<double> out);
void loss_link(const MulticlassLoss& loss, std::span<const double> z, std::size_t outputs, std::span<double> out);

}  // namespace gossamer
