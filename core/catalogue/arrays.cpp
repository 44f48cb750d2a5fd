#include "catalogue/arrays.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace gossamer {

namespace {

double weight_of(std::span<const double> weights, std::size_t i) { return weights.empty() ? 1.0 : weights[i]; }

// Whether block i may not be anything but zero: there Ω is 0, its dual norm 0 and its prox 0, whatever the penalty.
bool is_barred(std::span<const double> weights, std::size_t i) { return weight_of(weights, i) == infinity; }

template <class T>
double value_of_barred(std::span<const T> block) {
  return std::all_of(block.begin(), block.end(), [](T x) { return x == 0; }) ? 0.0 : infinity;
}

}  // namespace

template <class T>
double value(const Elementwise& penalty, const T* w, const Blocks& rows, std::span<const double> weights) {
  return std::visit(
      [&](const auto& p) {
        auto at = [&p](double x) { return p.value(x); };
        if (weights.empty()) return sum_over(std::span(w, rows.rows * rows.width), at);
        double total = 0;
        for_each_block(w, rows, [&](std::size_t j, std::span<const T> row) {
          if (is_barred(weights, j))
            total += value_of_barred(row);
          else if (weights[j] > 0)
            total += weights[j] * sum_over(row, at);
        });
        return total;
      },
      penalty);
}

template <class T>
double dual(const Elementwise& penalty, const T* v, const Blocks& rows, std::span<const double> weights) {
  return std::visit(
      [&](const auto& p) {
        double most = 0;
        for_each_block(v, rows, [&](std::size_t j, std::span<const T> row) {
          if (is_barred(weights, j)) return;
          const double here = max_over(row, 0.0, [&p](double x) { return p.dual(x); });
          if (here > 0) most = std::max(most, here / weight_of(weights, j));
        });
        return most;
      },
      penalty);
}

template <class T>
void prox(const Elementwise& penalty, const T* v, T* out, const Blocks& rows, double step,
          std::span<const double> weights) {
  std::visit(
      [&](const auto& p) {
        const std::size_t n = rows.rows * rows.width;
        if (weights.empty()) {
          const T s = static_cast<T>(step);
          for (std::size_t i = 0; i < n; ++i) out[i] = p.prox(v[i], s);
        } else if (rows.width == 1) {
          for (std::size_t i = 0; i < n; ++i) {
            out[i] = is_barred(weights, i) ? T(0) : p.prox(v[i], static_cast<T>(step * weights[i]));
          }
        } else {
          for (std::size_t j = 0, i = 0; j < rows.rows; ++j) {
            const T s = static_cast<T>(step * weights[j]);
            const bool barred = is_barred(weights, j);
            for (const std::size_t end = i + rows.width; i < end; ++i) out[i] = barred ? T(0) : p.prox(v[i], s);
          }
        }
      },
      penalty);
}

template <class T>
double value(const Blockwise& penalty, const T* w, const Blocks& blocks, std::span<const double> weights) {
  return std::visit(
      [&](const auto& p) {
        double total = 0;
        for_each_block(w, blocks, [&](std::size_t b, std::span<const T> block) {
          total += is_barred(weights, b) ? value_of_barred(block) : p.value(block, weight_of(weights, b));
        });
        return total;
      },
      penalty);
}

template <class T>
double dual(const Blockwise& penalty, const T* v, const Blocks& blocks, std::span<const double> weights) {
  return std::visit(
      [&](const auto& p) {
        double most = 0;
        for_each_block(v, blocks, [&](std::size_t b, std::span<const T> block) {
          if (!is_barred(weights, b)) most = std::max(most, p.dual(block, weight_of(weights, b)));
        });
        return most;
      },
      penalty);
}

template <class T>
void prox(const Blockwise& penalty, const T* v, T* out, const Blocks& blocks, double step,
          std::span<const double> weights) {
  std::visit(
      [&](const auto& p) {
        Blocks rest = blocks;
        std::size_t done = 0;
        if constexpr (requires(std::array<double, 4> radius) { p.prox_four(v, out, blocks.width, radius); }) {
          if (blocks.starts.empty() && blocks.width <= few) {
            for (; done + 4 <= blocks.rows; done += 4) {
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
        }
        rest.rows -= done;
        Scratch scratch;
        transform_blocks(v + done * blocks.width, out + done * blocks.width, rest,
                         [&](std::size_t b, std::span<const T> from, std::span<T> to) {
                           if (is_barred(weights, done + b))
                             std::fill(to.begin(), to.end(), T(0));
                           else
                             p.prox(from, to, step, weight_of(weights, done + b), scratch);
                         });
      },
      penalty);
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

#define GOSSAMER_ARRAYS(T)                                                                              \
  template double value(const Elementwise&, const T*, const Blocks&, std::span<const double>);          \
  template double dual(const Elementwise&, const T*, const Blocks&, std::span<const double>);           \
  template void prox(const Elementwise&, const T*, T*, const Blocks&, double, std::span<const double>); \
  template double value(const Blockwise&, const T*, const Blocks&, std::span<const double>);            \
  template double dual(const Blockwise&, const T*, const Blocks&, std::span<const double>);             \
  template void prox(const Blockwise&, const T*, T*, const Blocks&, double, std::span<const double>);   \
  template void project(const Set&, const T*, T*, const Blocks&);
GOSSAMER_ARRAYS(float)
GOSSAMER_ARRAYS(double)
#undef GOSSAMER_ARRAYS

}  // namespace gossamer
