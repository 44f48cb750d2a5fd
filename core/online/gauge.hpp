// What the rule without a step (step_free.hpp) knows besides the features: its pace, the units of slopes and targets,
// intercepts, and corrections.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/side_by_side.hpp"
#include "online/loss_call.hpp"
#include "online/rule.hpp"

namespace gossamer {

struct StepFreeSettings {
  double rate, noise;  // η, λ
};

// A block of outputs shares S: an output of a lane, or all outputs of a lane if they have one loss or one penalty
// together. Sums over features come as [bin][cell], of −û x̃ of those whose weights are not cut, and then [cell] of all.
class Gauge {
 public:
  static constexpr double full_cut = 8000;  // examples
  static constexpr std::size_t bins = 4;    // of features, by the number of examples that had them
  static constexpr float bin_ends[] = {4, 32, 256};
  static std::size_t bin_of(float n) { return (n >= bin_ends[0]) + (n >= bin_ends[1]) + (n >= bin_ends[2]); }

  Gauge(const Setup& setup, const StepFreeSettings& settings, bool shared, bool corrects);

  std::size_t lanes, outputs, cells, width, blocks;

  // An example: the first one gives the units of the targets.
  void begin(const double* y, double offset, double weight);
  void take_back();
  // z += the scores it learns by, and those it is judged by.
  void scores(const double* sums, double* z) const {
    const double *scale = scales_.data(), *base = bases_.data();
    side_by_side(cells, [=, k = cells](std::size_t c) { z[c] += base[c] - scale[c] * sums[bins * k + c]; });
  }
  void corrected(const double* sums, double* z) const {
    const double *by = corrections_.data(), *base = bases_.data();
    side_by_side(cells, [=, k = cells](std::size_t c) {
      const double low = by[c] * sums[c] + by[k + c] * sums[k + c];
      const double high = by[2 * k + c] * sums[2 * k + c] + by[3 * k + c] * sums[3 * k + c];
      z[c] += base[c] - (low + high);
    });
  }
  bool corrects() const { return corrects_; }
  // Looks at the slopes of the constant model, if it learns numbers, before the end of the example.
  void compare(const LossCall& loss, const double* y, double offset, double weight);
  // What relative strengths are multiplied by: the root mean square of these slopes.
  double strength_unit() const;
  // Learns a from slopes at the scores, c from slopes at the corrected scores; `weight` is that of the example over the
  // mean weight.
  void correct(const double* sums, const double* slope, const double* slope_at_corrected, double weight);
  // Makes slopes implicit; `sizes` are the sums of x̃²/D of each block.
  void temper(const LossCall& loss, const double* z, const double* y, double* slope, const double* sizes,
              double weight) const;
  // Whether these slopes, times the weight, can be learned from: sums of their squares are floats. And the targets.
  bool moderate(const double* slope, const double* y, double offset, double weight) const;
  // Puts slopes in the units that features learn in; `taken` is then what S adds up.
  void take(double* slope);
  float taken(std::size_t block) const { return static_cast<float>(taken_[block]); }
  // `squares` is Σ x̃².
  void end(const double* slope, double squares, const double* y, double offset, double weight);

  double rounds() const { return rounds_; }
  // What is added to the last digits of floats in this round (eights.hpp): multiples of the golden ratio. Without it S
  // of a feature that all rows have grows a third too slowly after 10⁷ of them, and not at all after 10⁸.
  float dither() const {
    if (rounds_ < 1 << 16) return 0;
    const double turns = rounds_ * 0.6180339887498949;
    return static_cast<float>(turns - std::floor(turns) - 0.5);
  }
  double noise() const { return noise_; }
  double share() const { return share_; }  // of the squares of a block that S has
  // What −û D must exceed, or the weight is read as zero: a part of the cut as long as there are few examples.
  float cut() const { return static_cast<float>(cut_ * std::min(1.0, std::sqrt(rounds_ / full_cut))); }
  double pace() const { return pace_; }                              // g
  float prior(std::size_t block) const { return priors_[block]; }    // β s̄²
  double level(std::size_t block) const { return levels_[block]; }   // α t
  double spread(std::size_t output) const;                           // σ
  double intercept(std::size_t cell) const { return bases_[cell]; }  // but for the means of centred features
  // w = factor · û / q, for a feature that n examples had
  double factor(std::size_t cell, float n) const {
    return corrects_ ? corrections_[bin_of(n) * cells + cell] : scales_[cell];
  }
  void visit(StateVisitor& f);
  // Another one, which saw other examples, becomes part of it (merging.hpp); what the sums of features are multiplied
  // by then is in `mine` and `others`.
  struct Factors {
    std::vector<double> sums, divisors, priors;  // of each block: of Z, of D, and β s̄² as it was
  };
  void add(const Gauge& other, Factors& mine, Factors& others);
  void share(double parts, double rounds);
  // What a gauge of this lane alone would show.
  void visit_lane(std::size_t lane, StateVisitor& f);

 private:
  Target target_;
  bool fit_intercept_, corrects_, relative_;
  double rate_, noise_, share_, cut_;
  std::vector<double> alphas_;
  double rounds_ = 0, squares_ = 0;  // t, N
  double fresh_ = 0;                 // rounds with rows that were not seen before
  std::vector<double> units_;        // of slopes times weights, for each block: the first weight for labels, otherwise
                                     // slopes a spread of the targets away from the constant model
  std::vector<double> slopes_;       // labels: s̄² of each block
  std::vector<double> damping_;      // a of each block, then Σ (s f)² of each block
  std::vector<double> bins_;         // c of each block, for each bin, then Σ (s f)² likewise
  std::vector<double> sums_;         // Z of the intercept of each cell
  std::vector<double> sum_squares_;  // S of the intercepts of each block
  std::vector<double> constant_;     // numbers: s̄² of each output, of the slopes of the constant model
  std::vector<double> targets_;      // Σ weight, mean, mean square around it, Σ weight · e^offset of each output

  std::vector<double> gradients_;  // of the corrections
  std::vector<double> taken_;      // the squares of the slopes of this example
  // Derived from the above when an example has been learned from:
  double pace_ = 0;
  std::vector<float> priors_;
  std::vector<double> levels_, divisors_;             // of each block; the latter D of the intercept
  std::vector<double> bases_, scales_, corrections_;  // of each cell: b, σ g a, and σ g a c of each bin

  void derive();
  bool derived_is_finite() const;
  double size(const double* slope, std::size_t block) const;
  double location(std::size_t output) const;
  double constant_squares(std::size_t block) const;
  double slopes_around(const LossCall& loss, const double* y, double offset, std::size_t block) const;
  double typical(std::size_t block) const;  // s̄² of a block
};

}  // namespace gossamer
