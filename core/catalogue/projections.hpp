// Euclidean projections onto the simplex, the balls, and their weighted and mixed-norm forms.
//
// The whole ℓ1 family is one search: find the cut θ with
//
//     Σ_j a_j [u_j − θ a_j]₊ = radius,            u = v (simplex) or |v| (ball), a = 1 unless weighted,
//
// and then w_j = [u_j − θ a_j]₊ with the sign restored. The left side is convex, decreasing and piecewise linear in θ,
// so a Newton step from a θ on the left stays on the left and drops only entries that end at zero; when it drops none,
// it has arrived. After a few such rounds a random pivot takes turns with it (Duchi et al. 2008, Figure 2), which
// keeps the expected time linear whatever the input.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "base/blocks.hpp"
#include "base/pack.hpp"
#include "base/sums.hpp"

namespace gossamer {

// An entry of the plain search; u is measured from the largest entry, so that sums neither overflow nor cancel.
struct PlainEntry {
  double u;
  double over(double theta) const { return u - theta; }
  double cut() const { return u; }
};

// An entry of the weighted search; a > 0.
struct WeightedEntry {
  double u, a;
  double over(double theta) const { return u - theta * a; }
  double cut() const { return u / a; }
};

// Σ a [u − θa]₊ and, over the entries with u > θa, Σ a²: minus the slope of the first in θ.
struct Tally {
  double held = 0, square = 0;
};

inline Tally tally(std::span<const PlainEntry> entries, double theta) {
  constexpr std::size_t packs = 4, step = 2 * packs;
  static_assert(sizeof(PlainEntry) == sizeof(double));
  PositivePart part[packs];
  std::size_t i = 0;
  for (; i + step <= entries.size(); i += step) {
    for (std::size_t r = 0; r < packs; ++r) part[r].add(load(&entries[i + 2 * r].u) - spread(theta));
  }
  for (; i < entries.size(); ++i) part[0].add(Pack{entries[i].over(theta), 0.0});
  for (std::size_t r = 1; r < packs; ++r) part[0].merge(part[r]);
  return {part[0].sum[0] + part[0].sum[1], static_cast<double>(part[0].tally[0] + part[0].tally[1])};
}

inline Tally tally(std::span<const WeightedEntry> entries, double theta) {
  Tally sum;
  for (const WeightedEntry& e : entries) {
    sum.held += e.a * std::max(e.over(theta), 0.0);
    sum.square += e.over(theta) > 0 ? e.a * e.a : 0.0;
  }
  return sum;
}

// One Newton step from a theta at or under the answer; never backwards.
inline double newton(double theta, const Tally& here, double radius) {
  const double next = theta + (here.held - radius) / here.square;
  return next > theta ? next : theta;
}

// Moves the entries above theta to the front, without a branch on the data, and counts them.
template <class Entry>
std::size_t partition_above(std::span<Entry> entries, double theta) {
  std::size_t above = 0;
  for (Entry& entry : entries) {
    const Entry e = entry;
    entry = entries[above];
    entries[above] = e;
    above += e.over(theta) > 0;
  }
  return above;
}

// θ with Σ a [u − θa]₊ = radius over `entries`, which it reorders. Needs a theta at or under the answer.
template <class Entry>
double find_cut(std::span<Entry> entries, double radius, double theta) {
  constexpr int newton_rounds = 8;
  struct {
    double held = 0, square = 0, at = 0;
    double held_at(double theta) const { return held + (at - theta) * square; }
  } settled;  // entries known to end above zero and no longer searched: Σ a [u − at·a]₊ and Σ a²
  std::minstd_rand random(1);
  double last_square = -1, field = 0;
  for (int round = 0;; ++round) {
    const Tally here = tally(std::span<const Entry>(entries), theta);
    const double square = settled.square + here.square;
    const double next = theta + (settled.held_at(theta) + here.held - radius) / square;
    if (!(next > theta)) return theta;
    theta = next;
    if (square == last_square) return theta;  // the same entries as last time: the step was exact
    last_square = square;
    if (round == 0) field = here.square;
    if (here.square < 0.5 * field) {  // the field has thinned out: keep what is left of it
      entries = entries.first(partition_above(entries, theta));
      field = here.square;
    }
    if (round < newton_rounds || entries.empty()) continue;
    // Slow going: halve the field with a random pivot.
    const double pivot = entries[random() % entries.size()].cut();
    const Tally high = tally(std::span<const Entry>(entries), pivot);
    const std::size_t above = partition_above(entries, pivot);
    const double held = settled.held_at(pivot) + high.held;
    if (held > radius) {
      theta = std::max(theta, pivot);
      entries = entries.first(above);
    } else {
      settled = {held, settled.square + high.square, pivot};
      entries = entries.subspan(above);
    }
  }
}

// The cut of the plain search. u − θ is read as (u − peak) + depth, which keeps its digits where u is huge beside the
// radius.
struct Cut {
  double peak, depth;
  double level() const { return peak - depth; }
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

// A lower bound on the cut of a large input, relative to its peak: four standard deviations under the cut of a sample.
// It may still be too high.
template <class T, class F>
double guess_bound(std::span<const T> v, double radius, double peak, F f) {
  if (v.size() < 8192) return -radius;
  const std::size_t sampled = std::min<std::size_t>(v.size() / 8, 4096), stride = v.size() / sampled;
  std::vector<PlainEntry> sample(sampled);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < sampled; ++i) {
    sample[i].u = f(static_cast<double>(v[i * stride])) - peak;
    least = std::min(least, sample[i].u);
  }
  const double share = radius * static_cast<double>(sampled) / static_cast<double>(v.size());
  const double middle = find_cut(std::span(sample), share, least - share);
  double squares = 0;
  for (const PlainEntry& e : sample) squares += e.u > middle ? e.over(middle) * e.over(middle) : 0.0;
  const double wide = share + 4 * std::sqrt(squares);
  return std::max(-radius, find_cut(std::span(sample), wide, least - wide));
}

// The same for a few entries, by Newton steps alone.
constexpr std::size_t few = 32;

template <class T, class F>
Cut short_cut(std::span<const T> v, double radius, double peak, F f) {
  double u[few];
  std::size_t n = 0;
  for (; n < v.size(); ++n) u[n] = f(static_cast<double>(v[n])) - peak;
  if (n % 2 != 0) u[n++] = -2 * radius;  // padding, never above
  double theta = -radius;
  for (double last = 0;;) {
    PositivePart part;
    for (std::size_t i = 0; i < n; i += 2) part.add(load(u + i) - spread(theta));
    const double count = static_cast<double>(part.tally[0] + part.tally[1]);
    const double next = theta + ((part.sum[0] + part.sum[1]) - radius) / count;
    if (!(next > theta)) return {peak, -theta};
    theta = next;
    if (count == last) return {peak, -theta};
    last = count;
  }
}

// The cut of Σ [f(v_j) − θ]₊ = radius, given peak = max f(v_j). Needs radius > 0 and a non-empty v.
template <class T, class F>
Cut simplex_cut(std::span<const T> v, double radius, double peak, F f, Scratch& scratch) {
  if (v.size() <= few) return short_cut(v, radius, peak, f);
  const std::span<PlainEntry> entries = scratch.room(v.size());
  for (double bound = guess_bound(v, radius, peak, f);; bound = -radius) {
    std::size_t kept = 0, i = 0;
    auto keep = [&](T x) {
      const double u = f(static_cast<double>(x)) - peak;
      entries[kept].u = u;
      kept += u > bound;
    };
    for (; i + 4 <= v.size(); i += 4) keep(v[i]), keep(v[i + 1]), keep(v[i + 2]), keep(v[i + 3]);
    for (; i < v.size(); ++i) keep(v[i]);
    const std::span<PlainEntry> above = entries.first(kept);
    // −radius is always a lower bound, because the peak alone holds the radius; a guess is one if its entries do.
    const Tally here = tally(std::span<const PlainEntry>(above), bound);
    if (bound == -radius || here.held >= radius) return {peak, -find_cut(above, radius, newton(bound, here, radius))};
  }
}

// Projects huge numbers as smaller ones, so that sums and norms stay finite; false if there is no need. A power of two
// changes no digit.
template <class T, class Project>
bool project_scaled_down(std::span<const T> v, std::span<T> out, double radius, Project project) {
  constexpr double huge = 1e290, down = 0x1p-100;
  if (radius < huge && norm_inf(v) < huge) return false;
  std::vector<double> small(v.size()), result(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) small[i] = static_cast<double>(v[i]) * down;
  project(std::span<const double>(small), std::span(result), radius * down);
  for (std::size_t i = 0; i < v.size(); ++i) out[i] = static_cast<T>(result[i] / down);
  return true;
}

// {w ≥ 0, Σ w = radius}
template <class T>
void project_simplex(std::span<const T> v, std::span<T> out, double radius, Scratch& scratch) {
  if (radius == 0 || v.empty()) {
    std::fill(out.begin(), out.end(), T(0));
    return;
  }
  if (project_scaled_down(v, out, radius,
                          [&](auto from, auto to, double r) { project_simplex(from, to, r, scratch); })) {
    return;
  }
  const auto same = [](double x) { return x; };
  const Cut cut = simplex_cut(v, radius, max_over(v, -std::numeric_limits<double>::infinity(), same), same, scratch);
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double w = (static_cast<double>(v[i]) - cut.peak) + cut.depth;
    out[i] = static_cast<T>(w > 0 ? w : 0.0);
  }
}

// The cut of the ℓ1 ball, given ‖v‖∞. Needs 0 < radius < ‖v‖₁.
template <class T>
Cut l1_cut(std::span<const T> v, double radius, double largest, Scratch& scratch) {
  return simplex_cut(v, radius, largest, [](double x) { return std::fabs(x); }, scratch);
}

// w from a cut, signs restored.
template <class T>
void apply_cut(std::span<const T> v, std::span<T> out, Cut cut) {
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double x = static_cast<double>(v[i]);
    const double size = (std::fabs(x) - cut.peak) + cut.depth;
    out[i] = static_cast<T>(std::copysign(size > 0 ? size : 0.0, x) + 0.0);  // + 0.0 turns −0 into 0
  }
}

// {‖w‖₁ ≤ radius}: the simplex of |v|, signs restored.
template <class T>
void project_l1_ball(std::span<const T> v, std::span<T> out, double radius, Scratch& scratch) {
  const Magnitudes sizes = magnitudes(v);
  if (sizes.sum <= radius) {
    std::copy(v.begin(), v.end(), out.begin());
  } else if (radius > 1e290) {
    project_scaled_down(v, out, radius, [&](auto from, auto to, double r) { project_l1_ball(from, to, r, scratch); });
  } else if (radius == 0) {
    std::fill(out.begin(), out.end(), T(0));
  } else {
    const Cut cut = l1_cut(v, radius, sizes.largest, scratch);
    if (cut.depth < cut.peak) return apply_cut(v, out, cut);
    std::copy(v.begin(), v.end(), out.begin());  // outside by rounding only
  }
}

// The same for a large v that has not been checked: false, and nothing written, if v is not finite. When the guess of
// the cut is right, as it nearly always is, one reading of v checks it, shows that it lies outside the ball, and
// gathers what is searched. The guess takes the place of the peak.
template <class T>
bool project_l1_ball_checked(std::span<const T> v, std::span<T> out, double radius, Scratch& scratch) {
  constexpr std::size_t chunk = 1024;  // stays in the nearest cache between the check and the gathering
  const auto size = [](double x) { return std::fabs(x); };
  const double guess = radius > 0 ? guess_bound(v, radius, 0.0, size) : 0.0;
  const std::span<PlainEntry> entries = scratch.room(v.size());
  std::size_t kept = 0;
  for (std::size_t begin = 0; begin < v.size(); begin += chunk) {
    const std::span<const T> part = v.subspan(begin, std::min(chunk, v.size() - begin));
    if (!all_finite(part)) return false;
    std::size_t i = 0;
    auto keep = [&](T x) {
      const double u = std::fabs(static_cast<double>(x)) - guess;
      entries[kept].u = u;
      kept += u > 0;
    };
    if (guess <= 0) continue;
    for (; i + 4 <= part.size(); i += 4) keep(part[i]), keep(part[i + 1]), keep(part[i + 2]), keep(part[i + 3]);
    for (; i < part.size(); ++i) keep(part[i]);
  }
  const std::span<PlainEntry> above = entries.first(kept);
  const Tally here = tally(std::span<const PlainEntry>(above), 0.0);
  // Sums measured from the guess keep their digits as long as they are not huge beside the radius.
  if (guess > 0 && here.held >= radius && here.held <= 1e3 * radius) {
    apply_cut(v, out, {guess, -find_cut(above, radius, newton(0.0, here, radius))});
  } else {
    project_l1_ball(v, out, radius, scratch);
  }
  return true;
}

// The levels at which the ℓ1 cuts of four short rows lie, 0 for a row with ‖v‖₁ ≤ radius. A row a lane: where one row
// would wait for each Newton step to end before the next, four share the wait.
template <class T>
std::array<double, 4> four_levels(const T* rows, std::size_t width, const std::array<double, 4>& radius) {
  Pack u[few][2], sum[2] = {}, peak[2] = {};
  for (std::size_t i = 0; i < width; ++i) {
    for (std::size_t h = 0; h < 2; ++h) {
      const T* row = rows + 2 * h * width + i;
      const Pack x = absolute(Pack{static_cast<double>(row[0]), static_cast<double>(row[width])});
      u[i][h] = x;
      sum[h] += x;
      peak[h] = pick(x > peak[h], x, peak[h]);
    }
  }
  const Pack target[2] = {load(&radius[0]), load(&radius[2])};
  Pack level[2];
  Mask last[2] = {};
  for (std::size_t h = 0; h < 2; ++h) {  // two bounds on the cut: the peak alone, and all entries together
    const Pack one = peak[h] - target[h], all = (sum[h] - target[h]) / spread(static_cast<double>(width));
    level[h] = pick(all > one, all, one);
  }
  for (bool done = false; !done;) {
    PositivePart part[2];
    for (std::size_t i = 0; i < width; ++i) {
      for (std::size_t h = 0; h < 2; ++h) part[h].add(u[i][h] - level[h]);
    }
    done = true;
    for (std::size_t h = 0; h < 2; ++h) {
      const Pack next = level[h] + (part[h].sum - target[h]) / part[h].count();
      const Mask moved = next > level[h], changed = part[h].tally ^ last[h], fresh = moved & changed;
      level[h] = pick(moved, next, level[h]);
      last[h] = part[h].tally;
      done = done && !(fresh[0] | fresh[1]);
    }
  }
  std::array<double, 4> levels;
  for (std::size_t h = 0; h < 2; ++h) {
    const Pack found = select((sum[h] > target[h]) & (level[h] > spread(0.0)), level[h]);
    levels[2 * h] = found[0], levels[2 * h + 1] = found[1];
  }
  return levels;
}

// The cut of the weighted search for weights of very different sizes: by sorting, with squares of weights taken
// relative to the largest weight at hand, so that none underflows.
inline double find_cut_by_sorting(std::vector<WeightedEntry> entries, double radius) {
  std::sort(entries.begin(), entries.end(), [](auto e, auto f) { return e.cut() > f.cut(); });
  auto held_at = [&](double theta) {
    double held = 0;
    for (const WeightedEntry& e : entries) held += e.a * std::max(e.over(theta), 0.0);
    return held;
  };
  // The last entry at whose cut no more than the radius is held is the last one that stays.
  const auto end = std::partition_point(entries.begin(), entries.end(),
                                        [&](const WeightedEntry& e) { return held_at(e.cut()) <= radius; });
  double largest = 0, square = 0;
  for (auto e = entries.begin(); e != end; ++e) largest = std::max(largest, e->a);
  for (auto e = entries.begin(); e != end; ++e) square += e->a * (e->a / largest);
  const double from = (end - 1)->cut();
  return from - ((radius - held_at(from)) / largest) / square;
}

// {Σ a_j |w_j| ≤ radius}, a ≥ 0. A weight of zero leaves its entry free.
template <class T>
void project_weighted_l1_ball(std::span<const T> v, std::span<T> out, double radius, std::span<const double> a) {
  // The scale keeps sums of huge entries finite; a power of two changes no digit.
  const double scale = norm_inf(v) > 1e100 ? 0x1p-700 : 1.0;
  double total = 0, lightest = std::numeric_limits<double>::infinity(), heaviest = 0;
  std::vector<WeightedEntry> entries;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const WeightedEntry e{std::fabs(static_cast<double>(v[i])) * scale, a[i]};
    if (!(e.u > 0 && e.a > 0)) continue;
    entries.push_back(e);
    total += e.a * e.u;
    lightest = std::min(lightest, e.a), heaviest = std::max(heaviest, e.a);
  }
  if (total <= radius * scale) {
    std::copy(v.begin(), v.end(), out.begin());
    return;
  }
  double theta = std::numeric_limits<double>::infinity();  // radius 0: every weighted entry ends at zero
  if (radius * scale > 0) {
    theta = lightest > 1e-100 && heaviest < 1e100 ? find_cut(std::span(entries), radius * scale, 0.0)
                                                  : find_cut_by_sorting(entries, radius * scale);
  }
  auto size_at = [&](std::size_t i) {
    return std::max(std::fabs(static_cast<double>(v[i])) * scale - theta * a[i], 0.0);
  };
  double held = 0;
  for (std::size_t i = 0; i < v.size(); ++i) held += a[i] > 0 ? a[i] * size_at(i) : 0.0;
  const double fit =
      held > radius * scale ? radius * scale / held : 1.0;  // rounding of huge entries may leave too much
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double size = a[i] > 0 ? size_at(i) * fit / scale : std::fabs(static_cast<double>(v[i]));
    out[i] = static_cast<T>(std::copysign(size, static_cast<double>(v[i])) + 0.0);
  }
}

// out = factor · v; a factor of zero gives zeros even where v is huge.
template <class T>
void scale_into(std::span<const T> v, std::span<T> out, double factor) {
  for (std::size_t i = 0; i < v.size(); ++i) out[i] = static_cast<T>(static_cast<double>(v[i]) * factor + 0.0);
}

// {‖w‖₂ ≤ radius}
template <class T>
void project_l2_ball(std::span<const T> v, std::span<T> out, double radius) {
  const double norm = norm2(v);
  if (std::isfinite(norm)) return scale_into(v, out, norm <= radius ? 1.0 : radius / norm);
  project_scaled_down(v, out, radius, [](auto from, auto to, double r) { project_l2_ball(from, to, r); });
}

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

// The cap θ of one block as a function of the multiplier μ: Σ_r [|v_r| − θ]₊ = μ, and 0 once ‖v‖₁ ≤ μ. It is read at
// τ = M − μ, M the largest ‖v_b‖₁ of all blocks, with sums measured from M: a small τ keeps its digits.
class BlockCap {
 public:
  // Sorts the block's magnitudes into the caller's store.
  template <class T>
  BlockCap(std::span<const T> block, std::vector<double>& store) : begin_(store.size()), size_(block.size()) {
    for (const T x : block) store.push_back(std::fabs(static_cast<double>(x)));
    std::sort(store.end() - static_cast<std::ptrdiff_t>(size_), store.end(), std::greater<>());
  }

  double largest(const std::vector<double>& store) const { return size_ > 0 ? store[begin_] : 0.0; }
  double norm1(const std::vector<double>& store) const {
    double sum = 0;
    for (std::size_t r = 0; r < size_; ++r) sum += store[begin_ + r];
    return sum;
  }

  struct Point {
    double cap, slope;  // θ and dθ/dτ
  };

  Point at(double tau, double most, const std::vector<double>& store) const {
    double sum = 0;
    for (std::size_t r = 0; r < size_; ++r) {
      sum += store[begin_ + r];
      const double n = static_cast<double>(r + 1), theta = ((sum - most) + tau) / n;
      const bool last = r + 1 == size_;
      if (last ? theta > 0 : theta >= store[begin_ + r + 1]) return {std::min(theta, largest(store)), 1.0 / n};
    }
    return {0.0, 0.0};
  }

 private:
  std::size_t begin_, size_;
};

// {Σ_b ‖w_b‖∞ ≤ radius}: one multiplier μ for all blocks, each capped at θ_b(μ). The sum of the caps is convex and
// piecewise linear in τ = M − μ: Newton's method from τ = M, with the root kept between a low and a high bound.
template <class T>
void project_group_linf_ball(const T* v, T* out, const Blocks& blocks, double radius) {
  const std::size_t n = blocks.rows * blocks.width;
  auto again = [&](auto from, auto to, double r) { project_group_linf_ball(from.data(), to.data(), blocks, r); };
  if (project_scaled_down(std::span(v, n), std::span(out, n), radius, again)) return;
  std::vector<double> store;
  std::vector<BlockCap> caps;
  for_each_block(v, blocks, [&](std::size_t, std::span<const T> block) { caps.emplace_back(block, store); });
  double total = 0, most = 0;
  for (const BlockCap& cap : caps) {
    total += cap.largest(store);
    most = std::max(most, cap.norm1(store));
  }
  if (total <= radius) {
    std::copy_n(v, n, out);
    return;
  }
  double tau = most, low = 0, high = most;
  for (int round = 0; round < 200; ++round) {
    double sum = 0, slope = 0;
    for (const BlockCap& cap : caps) {
      const auto [theta, d] = cap.at(tau, most, store);
      sum += theta, slope += d;
    }
    (sum > radius ? high : low) = tau;
    double next = tau - (sum - radius) / slope;
    if (next == tau) break;
    if (!(next > low && next < high)) next = low > 0 ? std::sqrt(low) * std::sqrt(high) : high * 0x1p-50;
    if (!(next > low && next < high)) break;
    tau = next;
  }
  std::vector<double> levels(caps.size());
  double sum = 0;
  for (std::size_t b = 0; b < caps.size(); ++b) sum += levels[b] = radius == 0 ? 0.0 : caps[b].at(tau, most, store).cap;
  const double fit = sum > radius ? radius / sum : 1.0;  // where rounding left the caps a little too high
  transform_blocks(v, out, blocks, [&](std::size_t b, std::span<const T> block, std::span<T> to) {
    const double cap = levels[b] * fit;
    for (std::size_t r = 0; r < block.size(); ++r) {
      to[r] = static_cast<T>(std::clamp(static_cast<double>(block[r]), -cap, cap) + 0.0);
    }
  });
}

}  // namespace gossamer
