// Losses of all k outputs of an example and its class y = 0 … k − 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "catalogue/list.hpp"
#include "catalogue/loss_facts.hpp"
#include "catalogue/projections.hpp"
#include "catalogue/scalar_losses.hpp"

namespace gossamer {

// e^{z_r} / Σ e^{z}
inline void softmax(std::span<const double> z, std::span<double> out) {
  const double top = *std::max_element(z.begin(), z.end());
  double total = 0;
  for (std::size_t r = 0; r < z.size(); ++r) total += out[r] = std::exp(z[r] - top);
  for (double& p : out) p /= total;
}

// log Σ_r e^{z_r} − z_y
struct Multinomial {
  static constexpr LossFacts facts{.name = "Multinomial", .link = Link::softmax};

  double value(std::span<const double> z, std::size_t y) const {
    const std::size_t top = static_cast<std::size_t>(std::max_element(z.begin(), z.end()) - z.begin());
    double rest = 0;  // Σ over all but the top: log1p keeps its digits when the top is far ahead
    for (std::size_t r = 0; r < z.size(); ++r) rest += r == top ? 0.0 : std::exp(z[r] - z[top]);
    return (z[top] - z[y]) + std::log1p(rest);
  }
  void slope(std::span<const double> z, std::size_t y, std::span<double> out) const {
    softmax(z, out);
    double others = 0;  // 1 − p_y without cancellation
    for (std::size_t r = 0; r < z.size(); ++r) others += r == y ? 0.0 : out[r];
    out[y] = -others;
  }
  void probabilities(std::span<const double> z, std::span<double> out) const { softmax(z, out); }
  // Σ s log s for s = u + e_y in the simplex
  double conjugate(std::span<const double> u, std::size_t y) const {
    double sum = 0, total = 0;
    for (std::size_t r = 0; r < u.size(); ++r) {
      const double s = u[r] + (r == y ? 1.0 : 0.0);
      if (!within(s, 0.0, 1.0)) return unbounded;
      sum += s, total += xlogx(s);
    }
    return within(sum, 1.0, 1.0) ? total : unbounded;
  }
};

// max_r (1[r ≠ y] + z_r − z_y)
struct MulticlassHinge {
  static constexpr LossFacts facts{.name = "MulticlassHinge"};

  double value(std::span<const double> z, std::size_t y) const {
    const std::size_t r = worst(z, y);
    return r == y ? 0.0 : 1.0 + (z[r] - z[y]);
  }
  void slope(std::span<const double> z, std::size_t y, std::span<double> out) const {
    std::fill(out.begin(), out.end(), 0.0);
    out[worst(z, y)] += 1.0;
    out[y] -= 1.0;
  }
  // u_y for s = u + e_y in the simplex
  double conjugate(std::span<const double> u, std::size_t y) const {
    double sum = 0;
    for (std::size_t r = 0; r < u.size(); ++r) {
      const double s = u[r] + (r == y ? 1.0 : 0.0);
      if (!within(s, 0.0, 1.0)) return unbounded;
      sum += s;
    }
    return within(sum, 1.0, 1.0) ? u[y] : unbounded;
  }
  // x = z − μ(s − e_y), s the point of the simplex nearest to e_y + (z + 1[r ≠ y])/μ
  void nearest(std::span<const double> z, std::size_t y, double mu, std::span<double> x) const {
    Scratch scratch;
    const double top = *std::max_element(z.begin(), z.end());  // the simplex does not see constants
    for (std::size_t r = 0; r < z.size(); ++r) x[r] = r == y ? 1.0 + (z[r] - top) / mu : (1.0 + (z[r] - top)) / mu;
    project_simplex<double>(x, x, 1.0, scratch);
    for (std::size_t r = 0; r < z.size(); ++r) x[r] = z[r] - mu * (x[r] - (r == y ? 1.0 : 0.0));
  }

 private:
  // The output that reaches the maximum; the true class wins ties.
  std::size_t worst(std::span<const double> z, std::size_t y) const {
    std::size_t best = y;
    double most = 0;
    for (std::size_t r = 0; r < z.size(); ++r) {
      const double gap = 1.0 + (z[r] - z[y]);
      if (r != y && gap > most) most = gap, best = r;
    }
    return best;
  }
};

template <LossOfRows... Ls>
using OfAllOutputs = List<Ls...>;
using MulticlassLosses = OfAllOutputs<Multinomial, MulticlassHinge>;
using MulticlassLoss = MulticlassLosses::Variant;

}  // namespace gossamer
