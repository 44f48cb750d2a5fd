#include "catalogue/arrays.hpp"

#include <algorithm>
#include <array>

#include "catalogue/on_blocks.hpp"

namespace gossamer {

namespace {

double weight_of(std::span<const double> weights, std::size_t i) { return weights.empty() ? 1.0 : weights[i]; }

// Whether block i may not be anything but zero: there Ω is 0, its dual norm 0 and its prox 0, whatever the penalty.
bool is_barred(std::span<const double> weights, std::size_t i) { return weight_of(weights, i) == infinity; }

template <class T>
double value_of_barred(std::span<const T> block) {
  return std::all_of(block.begin(), block.end(), [](T x) { return x == 0; }) ? 0.0 : infinity;
}

// f(p, its blocks); without weights, all single numbers are one block.
template <class F>
auto with_blocks(const BlockPenalties::Variant& penalty, const Blocks& blocks, std::span<const double> weights, F f) {
  return std::visit(
      [&]<class P>(const P& p) {
        return f(p, one_for_all<P> && weights.empty() ? Blocks{1, blocks.rows * blocks.width, {}, {}} : blocks);
      },
      penalty);
}

}  // namespace

template <class T>
double value(const BlockPenalties::Variant& penalty, const T* w, const Blocks& given, std::span<const double> weights) {
  return with_blocks(penalty, given, weights, [&](const auto& p, const Blocks& blocks) {
    double total = 0;
    for_each_block(w, blocks, [&](std::size_t b, std::span<const T> block) {
      total += is_barred(weights, b) ? value_of_barred(block) : block_value(p, block, weight_of(weights, b));
    });
    return total;
  });
}

template <class T>
double dual(const BlockPenalties::Variant& penalty, const T* v, const Blocks& given, std::span<const double> weights) {
  return with_blocks(penalty, given, weights, [&](const auto& p, const Blocks& blocks) {
    double most = 0;
    for_each_block(v, blocks, [&](std::size_t b, std::span<const T> block) {
      if (!is_barred(weights, b)) most = std::max(most, block_dual(p, block, weight_of(weights, b)));
    });
    return most;
  });
}

template <class T>
void prox(const BlockPenalties::Variant& penalty, const T* v, T* out, const Blocks& given, double step,
          std::span<const double> weights) {
  with_blocks(penalty, given, weights, [&]<class P>(const P& p, Blocks blocks) {
    if constexpr (one_for_all<P>) {
      if (blocks.width == 1 && !weights.empty()) {  // a loop that compiles to vector code
        for (std::size_t j = 0; j < blocks.rows; ++j) {
          out[j] = is_barred(weights, j) ? T(0) : p.prox(v[j], static_cast<T>(step * weights[j]));
        }
        return;
      }
      for (std::size_t j = 0, i = 0; j < blocks.rows; ++j) {
        const T s = static_cast<T>(step * weight_of(weights, j));
        const bool barred = is_barred(weights, j);
        for (const std::size_t end = i + blocks.width; i < end; ++i) out[i] = barred ? T(0) : p.prox(v[i], s);
      }
    } else {
      std::size_t done = 0;
      if constexpr (requires(std::array<double, 4> radius) { p.prox_four(v, out, blocks.width, radius); }) {
        for (; blocks.starts.empty() && blocks.width <= few && done + 4 <= blocks.rows; done += 4) {
          std::array<double, 4> radius;
          for (std::size_t r = 0; r < 4; ++r) {
            radius[r] = is_barred(weights, done + r) ? 0.0 : step * weight_of(weights, done + r);
          }
          p.prox_four(v + done * blocks.width, out + done * blocks.width, blocks.width, radius);
          for (std::size_t r = 0; r < 4; ++r) {
            if (is_barred(weights, done + r)) std::fill_n(out + (done + r) * blocks.width, blocks.width, T(0));
          }
        }
      }
      blocks.rows -= done;
      Scratch scratch;
      transform_blocks(v + done * blocks.width, out + done * blocks.width, blocks,
                       [&](std::size_t b, std::span<const T> from, std::span<T> to) {
                         if (is_barred(weights, done + b)) return std::fill(to.begin(), to.end(), T(0));
                         p.prox(from, to, step, weight_of(weights, done + b), scratch);
                       });
    }
  });
}

template <class T>
void project(const Set& set, const T* v, T* out, const Blocks& blocks) {
  std::visit(
      [&](const auto& s) {
        Scratch scratch;
        transform_blocks(v, out, blocks,
                         [&](std::size_t, std::span<const T> from, std::span<T> to) { s.prox(from, to, scratch); });
      },
      set);
}

#define GOSSAMER_ARRAYS(T)                                                                                          \
  template double value(const BlockPenalties::Variant&, const T*, const Blocks&, std::span<const double>);          \
  template double dual(const BlockPenalties::Variant&, const T*, const Blocks&, std::span<const double>);           \
  template void prox(const BlockPenalties::Variant&, const T*, T*, const Blocks&, double, std::span<const double>); \
  template void project(const Set&, const T*, T*, const Blocks&);
GOSSAMER_ARRAYS(float)
GOSSAMER_ARRAYS(double)
#undef GOSSAMER_ARRAYS

}  // namespace gossamer
