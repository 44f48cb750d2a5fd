#include "batch/metric.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/pack.hpp"
#include "base/side_by_side.hpp"

namespace gossamer {

namespace {

constexpr std::size_t at_once = 8;  // columns

std::size_t up_to(std::size_t k, std::size_t whole) { return (k + whole - 1) / whole * whole; }

template <class T>
using Vector = std::conditional_t<std::is_same_v<T, float>, Oct, Quad>;

// G[c][r] += Σ_i x[i][c] S[i][r] for eight columns c and as many outputs r as a vector holds: sums stay in registers.
template <class T>
[[gnu::always_inline]] inline void eight_columns(const T* x, std::size_t stride, const T* S, std::size_t width,
                                                 std::size_t n, std::size_t columns, T* G) {
  using V = Vector<T>;
  V sum[at_once] = {}, s;
  for (std::size_t i = 0; i < n; ++i) {
    std::memcpy(&s, S + i * width, sizeof s);
    const T* row = x + i * stride;
#pragma GCC unroll 8
    for (std::size_t c = 0; c < at_once; ++c) sum[c] += s * row[c];
  }
  for (std::size_t c = 0; c < std::min(at_once, columns); ++c) {
    std::memcpy(&s, G + c * width, sizeof s);
    s += sum[c];
    std::memcpy(G + c * width, &s, sizeof s);
  }
}

}  // namespace

Metric::Metric(const Lines& x, std::span<const std::size_t> columns, std::size_t k, unsigned threads)
    : n_(x.length()),
      columns_(columns.size() + 1),
      stride_(up_to(columns_, at_once)),
      k_(k),
      doubles_(up_to(k, 4)),
      floats_(up_to(k, 8)),
      threads_(threads),
      x_(n_ * stride_) {
  for (std::size_t c = 0; c < columns.size(); ++c) {
    x.each(columns[c], [&](std::size_t i, double v) { x_[i * stride_ + c] = v; });
    check_stop();
  }
  for (std::size_t i = 0; i < n_; ++i) x_[i * stride_ + columns_ - 1] = 1;
}

void Metric::build(std::span<const double> h) {
  C_.assign(columns_ * columns_ * floats_, 0);
  constexpr std::size_t rows = 128;
  in_parts(columns_, 4, threads_, [&](std::size_t begin, std::size_t end) {
    std::vector<float> xh(rows * floats_), x(rows * stride_);
    for (std::size_t at = 0; at < n_; at += rows) {
      const std::size_t count = std::min(rows, n_ - at);
      for (std::size_t q = 0; q < count * stride_; ++q) x[q] = static_cast<float>(x_[at * stride_ + q]);
      for (std::size_t j = begin; j < end; ++j) {
        for (std::size_t i = 0; i < count; ++i) {
          const double by = x_[(at + i) * stride_ + j];
          for (std::size_t r = 0; r < k_; ++r) xh[i * floats_ + r] = static_cast<float>(by * h[(at + i) * k_ + r]);
        }
        for_this_processor([&] {
          for (std::size_t c = 0; c <= j; c += at_once) {
            for (std::size_t r = 0; r < floats_; r += 8) {
              float* to = &C_[(j * columns_ + c) * floats_ + r];
              eight_columns(&x[c], stride_, &xh[r], floats_, count, j + 1 - c, to);
            }
          }
        });
      }
    }
  });
  for (std::size_t j = 0; j < columns_; ++j) {
    for (std::size_t i = 0; i < j; ++i) std::copy_n(pair(j, i), floats_, &C_[(i * columns_ + j) * floats_]);
  }
}

void Metric::gradient(std::span<const double> S, std::span<double> G) const {
  std::vector<double> padded(n_ * doubles_), out(stride_ * doubles_);
  for (std::size_t i = 0; i < n_; ++i) std::copy_n(&S[i * k_], k_, &padded[i * doubles_]);
  in_parts(stride_ / at_once, 4, threads_, [&](std::size_t begin, std::size_t end) {
    for_this_processor([&] {
      for (std::size_t c = begin * at_once; c < end * at_once; c += at_once) {
        for (std::size_t r = 0; r < doubles_; r += 4)
          eight_columns(&x_[c], stride_, &padded[r], doubles_, n_, at_once, &out[c * doubles_ + r]);
      }
    });
  });
  for (std::size_t c = 0; c < columns_; ++c) std::copy_n(&out[c * doubles_], k_, &G[c * k_]);
}

void Metric::margins(std::span<const double> W, std::span<double> Z) const {
  std::vector<std::size_t> some;  // columns with a weight
  std::vector<double> w;
  for (std::size_t c = 0; c < columns_; ++c) {
    const double* at = &W[c * k_];
    if (std::all_of(at, at + k_, [](double v) { return v == 0; })) continue;
    some.push_back(c);
    w.insert(w.end(), at, at + k_), w.resize(some.size() * doubles_);
  }
  in_parts(n_, 64, threads_, [&](std::size_t begin, std::size_t end) {
    for_this_processor([&] {
      for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t r = 0; r < doubles_; r += 4) {
          double sum[4] = {};
          for (std::size_t q = 0; q < some.size(); ++q) {
            const double by = x_[i * stride_ + some[q]];
            for (std::size_t e = 0; e < 4; ++e) sum[e] += by * w[q * doubles_ + r + e];
          }
          for (std::size_t e = 0; e < 4 && r + e < k_; ++e) Z[i * k_ + r + e] = sum[e];
        }
      }
    });
  });
}

void Metric::add(std::size_t j, const float* delta, float* R) const {
  for_this_processor([&] {
    for (std::size_t i = 0; i < columns_; ++i) {
      const float* c = pair(j, i);
      float* to = R + i * floats_;
      for (std::size_t r = 0; r < floats_; r += 8) {
        for (std::size_t e = 0; e < 8; ++e) to[r + e] += c[r + e] * delta[r + e];
      }
    }
  });
}

}  // namespace gossamer
