// A loss as the learners call it: once per example, behind a pointer.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>

#include "catalogue/losses.hpp"

namespace gossamer {

class LossCall {
 public:
  virtual ~LossCall() = default;
  // Value and slope at once, for all outputs of an example.
  virtual double operator()(std::span<const double> z, const double* y, std::span<double> slope) const = 0;
  // The same for several lanes, whose outputs follow one another: one loss per lane.
  virtual void operator()(std::span<const double> z, const double* y, std::span<double> slope,
                          std::span<double> losses) const {
    const std::size_t k = z.size() / losses.size();
    for (std::size_t i = 0; i < losses.size(); ++i)
      losses[i] = (*this)(z.subspan(i * k, k), y, slope.subspan(i * k, k));
  }
  // A slope beyond which the loss is steep rather than far off: the intercept does not take larger ones for a scale.
  virtual double tame_slope() const { return std::numeric_limits<double>::infinity(); }
  // Whether slopes grow without bound.
  virtual bool unbounded() const { return false; }
};

std::unique_ptr<LossCall> make_loss_call(const ScalarLoss& loss);
std::unique_ptr<LossCall> make_loss_call(const MulticlassLoss& loss);

}  // namespace gossamer
