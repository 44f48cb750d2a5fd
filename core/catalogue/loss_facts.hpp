// What a loss says of itself, and what a loss must have for it: a struct that lacks what its facts promise does not
// compile where it is listed.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>

namespace gossamer {

// What a loss predicts from z: z itself, 1 / (1 + e⁻ᶻ), the same of 2z, eᶻ, or eᶻʳ / Σ eᶻ over the outputs. Whoever
// exports a model has to know all of them.
enum class Link { identity, sigmoid, sigmoid2, exp, softmax };
constexpr std::array<const char*, 5> link_names = {"identity", "sigmoid", "sigmoid2", "exp", "softmax"};

struct LossFacts {
  const char* name;                          // of the class that Python sees
  std::array<const char*, 2> settings = {};  // the names of its numbers
  Link link = Link::identity;
  bool quadratic = false;    // the curvature does not change: its quadratic model is the loss
  bool of_residual = false;  // ℓ(z + c, y + c) = ℓ(z, y): a function of z − y alone
  bool bounded = false;      // slopes are bounded
  bool steep = false;        // slopes grow without bound where z is wrong: a large one says little of the scale of y
};

template <class L>
concept Loss = requires { requires std::same_as<decltype(L::facts), const LossFacts>; };
template <class L>
concept Smooth = Loss<L> && (requires(const L& l) { l.curvature(1.0, 1.0); } ||
                             requires(const L& l, std::span<double> z) { l.probabilities(z, z); });
template <class L>
concept LossOfNumbers = Loss<L> && L::facts.link != Link::softmax && (!L::facts.quadratic || Smooth<L>) &&
                        requires(const L& l, double z, double y) {
                          { l.value(z, y) } -> std::same_as<double>;
                          { l.slope(z, y) } -> std::same_as<double>;
                        };
template <class L>
concept LossOfRows = Loss<L> && (L::facts.link == Link::identity || L::facts.link == Link::softmax) &&
                     requires(const L& l, std::span<double> z, std::size_t y) {
                       { l.value(z, y) } -> std::same_as<double>;
                       l.slope(z, y, z);
                       { l.conjugate(z, y) } -> std::same_as<double>;
                     };

// The minimum of ℓ(x) + (x − v)²/2μ over x, and whether it is at a kink of ℓ, where it does not move with v.
struct Nearest {
  double x;
  bool at_kink;
};

// The curvature of a parabola that touches a kink [r]₊ at r and is nowhere below it.
inline double kink_majorant(double r) { return 0.5 / std::fabs(r); }

}  // namespace gossamer
