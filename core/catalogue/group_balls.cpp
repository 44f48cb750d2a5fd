#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "base/stop.hpp"
#include "base/sums.hpp"
#include "catalogue/projections.hpp"
#include "catalogue/scaled_down.hpp"

namespace gossamer {

// {Σ_b ‖w_b‖₂ ≤ radius}: project the norms of the blocks on the ℓ1 ball, rescale the blocks.
template <class T>
void project_group_l2_ball(const T* v, T* out, const Blocks& blocks, double radius) {
  const std::size_t n = blocks.rows * blocks.width;
  auto again = [&](auto from, auto to, double r) { project_group_l2_ball(from.data(), to.data(), blocks, r); };
  if (project_scaled_down(std::span(v, n), std::span(out, n), radius, again)) return;
  std::vector<double> norms(blocks.count()), kept(blocks.count());
  for_each_block(v, blocks, [&](std::size_t b, std::span<const T> block) { norms[b] = norm2(block); });
  Scratch scratch;
  project_l1_ball(std::span<const double>(norms), std::span(kept), radius, scratch);
  transform_blocks(v, out, blocks, [&](std::size_t b, std::span<const T> block, std::span<T> to) {
    scale_into(block, to, norms[b] > 0 ? kept[b] / norms[b] : 1.0);
  });
}

// The cap θ of one block, given its magnitudes from the largest on, as a function of the multiplier μ:
// Σ_r [|v_r| − θ]₊ = μ, and 0 once ‖v‖₁ ≤ μ. It is read at τ = M − μ, M the largest ‖v_b‖₁ of all blocks, with sums
// measured from M: a small τ keeps its digits.
struct Cap {
  double level, slope;  // θ and dθ/dτ
};

Cap cap_at(std::span<const double> sizes, double tau, double most) {
  double sum = 0;
  for (std::size_t r = 0; r < sizes.size(); ++r) {
    sum += sizes[r];
    const double n = static_cast<double>(r + 1), theta = ((sum - most) + tau) / n;
    const bool last = r + 1 == sizes.size();
    if (last ? theta > 0 : theta >= sizes[r + 1]) return {std::min(theta, sizes[0]), 1.0 / n};
  }
  return {0.0, 0.0};
}

// {Σ_b ‖w_b‖∞ ≤ radius}: one multiplier μ for all blocks, each capped at θ_b(μ). The sum of the caps is convex and
// piecewise linear in τ = M − μ: Newton's method from τ = M, with the root kept between a low and a high bound.
template <class T>
void project_group_linf_ball(const T* v, T* out, const Blocks& blocks, double radius) {
  const std::size_t n = blocks.rows * blocks.width;
  auto again = [&](auto from, auto to, double r) { project_group_linf_ball(from.data(), to.data(), blocks, r); };
  if (project_scaled_down(std::span(v, n), std::span(out, n), radius, again)) return;
  std::vector<double> store;
  store.reserve(blocks.starts.empty() ? n : blocks.members.size() * blocks.width);
  std::vector<std::span<const double>> sorted;  // the magnitudes of each block, in the store
  StopWatch watch;
  double total = 0, most = 0;
  for_each_block(v, blocks, [&](std::size_t, std::span<const T> block) {
    const auto begin = store.end();
    for (const T x : block) store.push_back(std::fabs(static_cast<double>(x)));
    std::sort(begin, store.end(), std::greater<>());
    sorted.emplace_back(begin, store.end());
    total += block.empty() ? 0.0 : *begin;
    most = std::max(most, std::accumulate(begin, store.end(), 0.0));
    watch.did(16 * block.size());
  });
  if (total <= radius) {
    std::copy_n(v, n, out);
    return;
  }
  double tau = most, low = 0, high = most;
  for (int round = 0; round < 200; ++round) {
    double sum = 0, slope = 0;
    for (const auto& sizes : sorted) {
      const Cap cap = cap_at(sizes, tau, most);
      sum += cap.level, slope += cap.slope;
      watch.did(8);
    }
    (sum > radius ? high : low) = tau;
    double next = tau - (sum - radius) / slope;
    if (next == tau) break;
    if (!(next > low && next < high)) next = low > 0 ? std::sqrt(low) * std::sqrt(high) : high * 0x1p-50;
    if (!(next > low && next < high)) break;
    tau = next;
  }
  std::vector<double> levels(sorted.size());
  double sum = 0;
  for (std::size_t b = 0; b < sorted.size(); ++b) {
    sum += levels[b] = radius == 0 ? 0.0 : cap_at(sorted[b], tau, most).level;
  }
  const double fit = sum > radius ? radius / sum : 1.0;  // where rounding left the caps a little too high
  transform_blocks(v, out, blocks, [&](std::size_t b, std::span<const T> block, std::span<T> to) {
    const double cap = levels[b] * fit;
    for (std::size_t r = 0; r < block.size(); ++r) {
      to[r] = static_cast<T>(std::clamp(static_cast<double>(block[r]), -cap, cap) + 0.0);
    }
  });
}

#define GOSSAMER_GROUP_BALLS(T)                                             \
  template void project_group_l2_ball(const T*, T*, const Blocks&, double); \
  template void project_group_linf_ball(const T*, T*, const Blocks&, double);
GOSSAMER_GROUP_BALLS(float)
GOSSAMER_GROUP_BALLS(double)
#undef GOSSAMER_GROUP_BALLS

}  // namespace gossamer
