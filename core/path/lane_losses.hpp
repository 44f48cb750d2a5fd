// Losses of many lanes at once: loops that compile to vector instructions.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/side_by_side.hpp"

namespace gossamer {

// eˣ for x ≤ 0, to two units in the last place; below −708, where e⁻⁷⁰⁸ is as good as nothing, that of −708.
inline double vector_exp(double x) {
  x = x < -708.0 ? -708.0 : x;        // what is no number stays none
  constexpr double magic = 0x1.8p52;  // adding it rounds to a whole number, which is then in the low bits
  const double shifted = x * 0x1.71547652b82fep0 + magic, n = shifted - magic;
  const double r = (x - n * 0x1.62e42fee00000p-1) - n * 0x1.a39ef35793c76p-33;  // x − n log 2
  // Σ rⁱ / i!, |r| ≤ ½ log 2, in pairs of pairs, so that few operations wait for others
  const double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
  const double high = (1.0 / 479001600 + r * (1.0 / 6227020800)) * r4 +
                      ((1.0 / 40320 + r * (1.0 / 362880)) + r2 * (1.0 / 3628800 + r * (1.0 / 39916800)));
  const double middle = (1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720 + r * (1.0 / 5040));
  const double p = ((0.5 + r * (1.0 / 6)) * r2 + (middle * r4 + high * r8)) + r + 1.0;
  const auto power = (std::bit_cast<std::int64_t>(shifted) + 1023) << 52;  // 2ⁿ: what is above the low bits falls off
  return p * std::bit_cast<double>(power);
}

// log(1 + e) for 0 ≤ e ≤ 1, to two units in the last place: with f = 1 + e or half of it, log f = log((1 + s)/(1 − s)),
// s = (f − 1)/(f + 1), by the polynomial of fdlibm's log.
inline double vector_log1p(double e) {
  const bool large = e > 0.41421356237309515;
  const double above = large ? e - 1.0 : e, below = large ? e + 3.0 : e + 2.0;
  const double s = above / below, z = s * s;
  const double z2 = z * z, z4 = z2 * z2;
  const double low = (6.666666666666735130e-01 + z * 3.999999999940941908e-01) +
                     z2 * (2.857142874366239149e-01 + z * 2.222219843214978396e-01);
  const double p =
      low + z4 * ((1.818357216161805012e-01 + z * 1.531383769920937332e-01) + z2 * 1.479819860511658591e-01);
  return (2.0 * s + s * (z * p)) + (large ? 0x1.62e42fefa39efp-1 : 0.0);
}

// log(1 + e^{−yz}) and its slope
[[gnu::always_inline]] inline void logistic_loop(const double* z, double y, double* slope, double* losses,
                                                 std::size_t lanes) {
  const auto some = [=](const double* from, double* slopes, double* values, std::size_t n) {
    side_by_side(n, [=](std::size_t i) {
      const double m = -y * from[i], e = vector_exp(-std::fabs(m));
      slopes[i] = -y * (m > 0 ? 1.0 : e) / (1.0 + e);
      values[i] = (m > 0 ? m : 0.0) + vector_log1p(e);
    });
  };
  const std::size_t whole = lanes - lanes % 4, rest = lanes % 4;
  some(z, slope, losses, whole);
  if (rest == 0) return;
  double from[4] = {}, slopes[4], values[4];  // four take as long as one
  std::copy_n(z + whole, rest, from);
  some(from, slopes, values, 4);
  std::copy_n(slopes, rest, slope + whole), std::copy_n(values, rest, losses + whole);
}

#ifdef GOSSAMER_WIDE
[[gnu::target("avx2"), gnu::flatten]] inline void logistic_wide(const double* z, double y, double* slope,
                                                                double* losses, std::size_t lanes) {
  logistic_loop(z, y, slope, losses, lanes);
}
#endif

inline void logistic_lanes(const double* z, double y, double* slope, double* losses, std::size_t lanes) {
#ifdef GOSSAMER_WIDE
  if (has_wide_vectors()) return logistic_wide(z, y, slope, losses, lanes);
#endif
  logistic_loop(z, y, slope, losses, lanes);
}

}  // namespace gossamer
