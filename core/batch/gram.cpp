#include "batch/gram.hpp"

#include <algorithm>

#include "base/pack.hpp"
#include "base/side_by_side.hpp"

namespace gossamer {

namespace {

constexpr std::size_t tall = 4, broad = 2;  // a tile of sums that stays in registers

// sums[a · m + b] += Σ_i A[a][i] B[b][i] for a tile; lines of A and B have `rows` numbers, a multiple of four.
[[gnu::always_inline]] inline void tile(const double* A, const double* B, std::size_t rows, double* sums,
                                        std::size_t m) {
  Quad sum[tall][broad] = {};
  for (std::size_t i = 0; i < rows; i += 4) {
    const Quad b0 = load_four(B + i), b1 = load_four(B + rows + i);
#pragma GCC unroll 4
    for (std::size_t a = 0; a < tall; ++a) {
      const Quad x = load_four(A + a * rows + i);
      sum[a][0] += x * b0, sum[a][1] += x * b1;
    }
  }
  for (std::size_t a = 0; a < tall; ++a) {
    for (std::size_t b = 0; b < broad; ++b) {
      const Quad s = sum[a][b];
      sums[a * m + b] += (s[0] + s[1]) + (s[2] + s[3]);
    }
  }
}

}  // namespace

void gram(const Lines& x, std::span<const std::size_t> columns, std::span<const double> h, std::span<double> pairs,
          unsigned threads) {
  const std::size_t m = columns.size(), n = h.size(), whole = (m + tall - 1) / tall * tall;
  const std::size_t rows = std::clamp<std::size_t>(16384 / std::max<std::size_t>(1, whole) / 4 * 4, 16, 256);
  const std::size_t parts = std::clamp<std::size_t>((std::size_t{1} << 21) / (whole * whole + 1), 2, 8);
  const std::size_t grain = std::max(rows, (n + parts - 1) / parts);
  std::vector<double> sums(parts * whole * whole);
  in_parts(n, grain, threads, [&](std::size_t begin, std::size_t end) {
    double* out = &sums[begin / grain * whole * whole];
    std::vector<double> A(whole * rows), B(whole * rows);  // h x and x; lines beyond the last are zero
    for (std::size_t at = begin; at < end; at += rows) {
      const std::size_t count = std::min(rows, end - at);
      for (std::size_t c = 0; c < m; ++c) {
        std::visit(
            [&]<class L>(const L& lines) {
              if constexpr (requires { DenseLines{lines}; }) {
                const auto* from = lines.value + columns[c] * n + at;
                double *a = &A[c * rows], *b = &B[c * rows];
                for_this_processor([=, h = &h[at]] {
                  side_by_side(count, [=](std::size_t i) { b[i] = static_cast<double>(from[i]), a[i] = h[i] * b[i]; });
                });
                std::fill(a + count, a + rows, 0.0), std::fill(b + count, b + rows, 0.0);
              }
            },
            x);
      }
      for_this_processor([&] {
        for (std::size_t a = 0; a < whole; a += tall) {
          for (std::size_t b = 0; b < a + tall; b += broad) {
            tile(&A[a * rows], &B[b * rows], rows, &out[a * whole + b], whole);
          }
        }
      });
      check_stop();
    }
  });
  for (std::size_t a = 0; a < m; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      double sum = 0;
      for (std::size_t q = 0; q < parts; ++q) sum += sums[(q * whole + a) * whole + b];
      pairs[a * m + b] = sum;
    }
  }
}

}  // namespace gossamer
