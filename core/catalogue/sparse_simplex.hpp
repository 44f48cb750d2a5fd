// The simplex {w ≥ 0, Σ w = radius} under sparse updates: w ← Π(w + δ) in O(k log d), amortised, when δ has k
// non-zeros.
//
// As for the ℓ1 ball (sparse_l1_ball.hpp) a projection subtracts one θ from every weight, so a running total Θ stands
// for all of them and a weight is kept raw, as w + Θ. But here θ can be negative, and then the weights at zero rise
// too, all together. So weights that meet at zero become one class with one raw value, until a change takes a weight
// out of it. Classes are kept in a heap, smallest first: with the sum S and count N of all raw weights, (S − radius) /
// N never exceeds the new Θ, so whatever is at or under it is at zero, leaves the sum and gives a better bound. What
// left is merged and comes back as one class at Θ. A change makes one class and a merger ends one, which pays for it.
//
// Where the change is balanced already, θ is zero, and rounding must not lift all zeros by 1e-18: the sum is kept in
// two doubles, and weights under four units in the last place of the radius are zero.
//
// Classes form trees by merging (union by rank). The start is the projection of zero: one class at radius / d.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "catalogue/sparse_l1_ball.hpp"

namespace gossamer {

class SparseSimplex {
 public:
  SparseSimplex(std::size_t n_features, double radius);

  std::size_t size() const { return class_of_.size(); }
  double operator[](std::size_t j) const { return std::max(raw_[root(class_of_[j])] - shift_, 0.0); }

  // w ← Π(w + δ). The changes of a repeated index add up.
  void update(std::span<const std::int64_t> indices, std::span<const double> deltas);

  void visit(StateVisitor& f);

 private:
  using Sum = std::array<double, 2>;

  double radius_;
  double shift_ = 0;                   // Θ
  Sum sum_ = {};                       // Σ raw over all weights
  std::vector<std::size_t> class_of_;  // of a weight; its root says where the weight is
  std::vector<double> raw_;            // of a class, if it is a root
  std::vector<std::size_t> parent_;    // of a class; a root is its own
  std::vector<std::size_t> count_;     // weights under a root
  std::vector<std::size_t> rank_;      // bound on the height of its tree
  std::vector<std::size_t> heap_;      // every root with weights, and some without; smallest raw first

  std::size_t root(std::size_t c) const {
    while (parent_[c] != c) c = parent_[c];
    return c;
  }
  bool is_forest() const;
  bool is_in_order() const;
  bool is_in_the_simplex() const;
  void push(std::size_t c);
  void pop();
  std::size_t add_class(double raw, std::size_t count);
  std::size_t merge(std::size_t a, std::size_t b);
  static void add_to(Sum& sum, std::size_t count, double raw, double sign = 1);
  void add(std::size_t j, double delta);
  void shrink();
  void update_densely(std::span<const std::int64_t> indices, std::span<const double> deltas);
  void rebase();
};

}  // namespace gossamer
