// Euclidean projections onto the simplex, the balls, and their weighted and mixed-norm forms, for float and double.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "base/blocks.hpp"

namespace gossamer {

// An entry of the plain search; u is measured from the largest entry, so that sums neither overflow nor cancel.
struct PlainEntry {
  double u;
  double over(double theta) const { return u - theta; }
  double cut() const { return u; }
};

// Room for a search, kept between the rows of a matrix so that many short rows allocate once.
class Scratch {
 public:
  std::span<PlainEntry> room(std::size_t n) {
    if (n > size_) {
      entries_ = std::make_unique_for_overwrite<PlainEntry[]>(n);
      size_ = n;
    }
    return {entries_.get(), n};
  }

 private:
  std::unique_ptr<PlainEntry[]> entries_;
  std::size_t size_ = 0;
};

// The cut θ of a search. u − θ is computed as (u − peak) + depth, which keeps its digits where u is huge compared with
// the radius.
struct Cut {
  double peak, depth;
  double level() const { return peak - depth; }
};

// The cut of the ℓ1 ball, given ‖v‖∞. Needs 0 < radius < ‖v‖₁.
template <class T>
Cut l1_cut(std::span<const T> v, double radius, double largest, Scratch& scratch);

// The levels of the ℓ1 cuts of four rows of at most `few` numbers, 0 for a row with ‖v‖₁ ≤ radius.
constexpr std::size_t few = 32;
template <class T>
std::array<double, 4> four_levels(const T* rows, std::size_t width, const std::array<double, 4>& radius);

// {w ≥ 0, Σ w = radius}
template <class T>
void project_simplex(std::span<const T> v, std::span<T> out, double radius, Scratch& scratch);

// {‖w‖₁ ≤ radius}: the simplex of |v|, signs restored.
template <class T>
void project_l1_ball(std::span<const T> v, std::span<T> out, double radius, Scratch& scratch);

// The same for a large v that has not been checked: returns false and writes nothing if v is not finite.
template <class T>
bool project_l1_ball_checked(std::span<const T> v, std::span<T> out, double radius, Scratch& scratch);

// {Σ a_j |w_j| ≤ radius}, a ≥ 0. A weight of zero leaves its entry free.
template <class T>
void project_weighted_l1_ball(std::span<const T> v, std::span<T> out, double radius, std::span<const double> a);

// out = factor · v; a factor of zero gives zeros even where v is huge.
template <class T>
void scale_into(std::span<const T> v, std::span<T> out, double factor) {
  for (std::size_t i = 0; i < v.size(); ++i) out[i] = static_cast<T>(static_cast<double>(v[i]) * factor + 0.0);
}

// {‖w‖₂ ≤ radius}
template <class T>
void project_l2_ball(std::span<const T> v, std::span<T> out, double radius);

// {Σ_b ‖w_b‖₂ ≤ radius} and {Σ_b ‖w_b‖∞ ≤ radius} over the blocks of a matrix.
template <class T>
void project_group_l2_ball(const T* v, T* out, const Blocks& blocks, double radius);
template <class T>
void project_group_linf_ball(const T* v, T* out, const Blocks& blocks, double radius);

}  // namespace gossamer
