// A batch: some examples that make one step, with the mean of their gradients at the weights before it.
//
//     z_i = W'x_i + b for each example i of the batch,   G_j = (1/m) Σ_i c_i x_ij ℓ'(z_i, y_i),   c_i its weight
//
// The rule sees one round whose row has the features of all m examples. A step costs in proportion to their entries.
// Scores are shared among threads by rows, gradients by features: every number is computed by one thread, and sums
// follow the order of the rows, so the result does not depend on the number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.hpp"
#include "online/learner.hpp"

namespace gossamer {

class Batch {
 public:
  explicit Batch(std::size_t features);

  // Finds the features of all examples, and where each entry is among them. Throws, and changes nothing, where a
  // feature is not there, comes after a larger one, or has a value that cannot be learned from.
  template <class T>
  void collect(const Examples<T>& examples);
  std::span<const std::int32_t> features() const { return features_; }
  // Where the entries of row i are among the features, in rising order.
  const std::uint32_t* places(std::size_t i) const { return places_.data() + starts_[i]; }
  std::size_t entries() const { return entries_; }

  std::vector<double> largest;         // |x| of each feature, at most
  std::vector<double> ones;            // of each feature
  std::vector<double> weights, sums;   // of each cell of each feature: W, G
  std::vector<double> z, slope, loss;  // of each cell of each example; of each of its lanes

 private:
  Zeros<std::uint64_t> present_;        // a bit per feature, all zero between two calls
  Zeros<std::uint32_t> place_;          // of a feature among features_, if it is there
  std::vector<std::int32_t> features_;  // in rising order
  std::vector<std::uint32_t> places_;   // of each entry; of each column where rows are dense
  std::vector<std::size_t> starts_;     // of each row in places_
  std::size_t all_, entries_ = 0;

  template <class T>
  void find_features(const Examples<T>& examples);
};

}  // namespace gossamer
