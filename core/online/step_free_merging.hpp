// How what the rule without a step keeps of a feature adds up (step_free.hpp has the formulas, merging.hpp the idea).
//
// In the units of the loss a learner has G_j = u q Z, H_j = u q² D / (g σ) with u the unit of slopes; these add up,
// around the root mean square of x over all examples. Approximated: the thresholds λD, which add up like H and so are
// not those of the noise of all examples; the corrections a and c, which are averaged; and the means of centred
// features, whose sums of gradients are not moved to the new mean.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "online/gauge.hpp"

namespace gossamer {

// The units of a feature that two learners saw n times each, and what to multiply Z and D by.
struct MergedUnits {
  double q, n, sums[2], divisors[2];

  MergedUnits(const float* mine, const float* other, double off) : n(static_cast<double>(mine[1]) + other[1]) {
    const double q0 = mine[0], q1 = other[0], share = n > 0 ? other[1] / n : 0.0;
    q = share == 0   ? q0
        : share == 1 ? q1
                     : std::sqrt((1 - share) * q0 * q0 + share * q1 * q1 + share * (1 - share) * off * off);
    const double by[] = {q > 0 ? q0 / q : 1.0, q > 0 ? q1 / q : 1.0};
    for (int i = 0; i < 2; ++i) sums[i] = by[i], divisors[i] = by[i] * by[i];
  }
  // Adds S and Z of a block that has so many outputs; `prior` is β s̄² now. What was never seen has no D.
  void add(float* s, const float* s1, float* z, const float* z1, std::size_t outputs, std::size_t block,
           const Gauge::Factors& mine, const Gauge::Factors& others, double prior) const {
    const double own = *s > 0 ? divisors[0] * mine.divisors[block] * std::sqrt(*s + mine.priors[block]) : 0.0;
    const double its = *s1 > 0 ? divisors[1] * others.divisors[block] * std::sqrt(*s1 + others.priors[block]) : 0.0;
    if (its > 0) *s = without_prior(own + its, prior);
    for (std::size_t r = 0; r < outputs; ++r) {
      z[r] = static_cast<float>(sums[0] * mine.sums[block] * z[r] + sums[1] * others.sums[block] * z1[r]);
    }
  }
  // S of D² = S + β s̄²; what was seen stays seen.
  static float without_prior(double divisor, double prior) {
    return static_cast<float>(std::max(divisor * divisor - prior, 1e-12 * divisor * divisor));
  }
  static float shared(float s, double prior, double parts) {
    return s > 0 ? without_prior(std::sqrt(s + prior) / parts, prior) : s;
  }
};

// Mean μ of features over the examples of two learners.
inline void merge_means(std::vector<double>& mine, const std::vector<double>& other, double rounds, double others) {
  const double share = rounds + others > 0 ? others / (rounds + others) : 0.0;
  for (std::size_t j = 0; j < mine.size(); ++j) mine[j] += share * (other[j] - mine[j]);
}

}  // namespace gossamer
