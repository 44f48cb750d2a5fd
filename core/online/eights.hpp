// The features of a row, eight at a time, and their units (step_free.hpp): what the forms of the rule without a step
// share.
#pragma once

#include <cstring>
#include <type_traits>
#include <vector>

#include "base/pack.hpp"
#include "online/rule.hpp"

namespace gossamer {

// D is never zero: where nothing was learned Z is, and zero must come out.
constexpr float least_divisor = 1e-18f;

[[gnu::always_inline]] inline Oct soft(Oct z, Oct threshold) {
  const Oct high = z < threshold ? z : threshold;
  return z - larger(high, -threshold);
}

// A sum of floats stands still where what is added is less than half of its last digit. So after some rounds a number
// between −½ and ½ times that digit is added too, another one in each round (Gauge::dither): it is right in the mean.
[[gnu::always_inline]] inline Oct last_digit(Oct x) {
  return reinterpret_cast<Oct>(reinterpret_cast<OctBits>(x) & 0x7f800000) * spread_eight(0x1p-23f);
}
[[gnu::always_inline]] inline Oct grown(Oct sum, Oct by, float dither) {
  if (dither == 0) return sum + by;
  return sum + (by + select(by != Oct{}, dither * last_digit(sum)));
}

// A unit that is so much smaller than a value is none: it was rounding, and the squares of x̃ are floats.
constexpr float least_unit = 1e-12f;

// q, n and x̃ of eight features. `there` is false for what an example does not have.
struct Units {
  Oct q, n;

  // x̃ as it is known before the example.
  [[gnu::always_inline]] Oct before(Oct x) const { return x / larger(known(x), spread_eight(1e-38f)); }
  // Learns from the example; returns x̃ with it.
  template <bool centred>
  [[gnu::always_inline]] Oct after(Oct x, OctBits there, Oct before, float dither) {
    const Oct none = {}, one = spread_eight(1.0f), now = grown(n, select(there, one), dither),
              seen = select(has_unit(x), n);
    const Oct shrunk = centred ? pick(there, n / now, one) : one;  // (x − μ') / (x − μ), with the new mean μ'
    const Oct ratio = pick(there, root((seen + shrunk * before * before) / now), one);
    const Oct next = known(x) * ratio;
    if (dither == 0) {
      q = next;
    } else {  // the same, by what is added
      const Oct by = q * (shrunk * before * before - one) / (now * (one + ratio));
      q = pick(there & (seen > none), grown(q, by, dither), next);
    }
    n = now;
    return pick(ratio > none, shrunk * before / ratio, none);
  }

  [[gnu::always_inline]] OctBits has_unit(Oct x) const {
    return (q > Oct{}) & (q > spread_eight(least_unit) * absolute(x));
  }
  [[gnu::always_inline]] Oct known(Oct x) const { return pick(has_unit(x), q, absolute(x)); }
};

// The last lanes of eight.
[[gnu::always_inline]] inline OctBits last_lanes(std::size_t count) {
  static constexpr std::int32_t lanes[16] = {0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1};
  OctBits mask;
  std::memcpy(&mask, lanes + count, sizeof mask);
  return mask;
}

// What is smaller than 1e-37 is taken for zero.
[[gnu::always_inline]] inline Oct flushed(Oct x) { return select(~(absolute(x) < spread_eight(1e-37f)), x); }
[[gnu::always_inline]] inline Oct eight_values(const float* x) { return flushed(load_eight(x)); }
[[gnu::always_inline]] inline Oct eight_values(const double* x) {
  return flushed(as_floats(load_four(x), load_four(x + 4)));
}

// f(features, x, there, first) for eight features of a row after the other, the first of them at number `first` of the
// row; from number `from` on. The last eight overlap those before: what has had its turn is zero, and not there. Where
// a row is shorter than eight, feature number `spare` stands in.
template <class T, class F>
[[gnu::always_inline]] inline void each_eight(const RowOf<T>& row, std::size_t from, std::int32_t spare, F f) {
  const std::size_t size = row.size();
  std::size_t at = from;
  for (; at + 8 <= size; at += 8) {
    const Oct x = eight_values(row.x + at);
    f(&row.index[at], x, x != Oct{}, at);
  }
  if (at == size) return;
  if (size >= 8) {
    const Oct x = select(last_lanes(size - at), eight_values(row.x + size - 8));
    return f(&row.index[size - 8], x, x != Oct{}, size - 8);
  }
  std::int32_t j[8];
  Oct x = {};
  for (std::size_t n = 0; n < 8; ++n) {
    j[n] = at + n < size ? row.index[at + n] : spare;
    if (at + n < size) x[static_cast<int>(n)] = static_cast<float>(row.x[at + n]);
  }
  x = flushed(x);
  f(j, x, x != Oct{}, at);
}

// The same for the centred features, which are the first ones of a row, with x − μ.
template <class T, class F>
[[gnu::always_inline]] inline void each_centred_eight(const RowOf<T>& row, const std::vector<double>& means,
                                                      std::int32_t spare, F f) {
  const std::size_t size = means.size();
  const auto eight = [&](std::size_t at, OctBits there) GOSSAMER_INLINE {
    const double* mean = &means[at];
    const T* x = row.x + at;
    const Oct off = flushed(as_floats(load_four(x) - load_four(mean), load_four(x + 4) - load_four(mean + 4)));
    f(&row.index[at], select(there, off), there, at);
  };
  std::size_t at = 0;
  for (; at + 8 <= size; at += 8) eight(at, last_lanes(8));
  if (at == size) return;
  if (size >= 8) return eight(size - 8, last_lanes(size - at));
  std::int32_t j[8];
  Oct x = {};
  for (std::size_t n = 0; n < 8; ++n) {
    j[n] = n < size ? static_cast<std::int32_t>(n) : spare;
    if (n < size) x[static_cast<int>(n)] = static_cast<float>(static_cast<double>(row.x[n]) - means[n]);
  }
  f(j, flushed(x), ~last_lanes(8 - size), at);
}

template <class T>
void update_means(std::vector<double>& means, const RowOf<T>& row, double rounds) {
  for (std::size_t j = 0; j < means.size(); ++j) means[j] += (static_cast<double>(row.x[j]) - means[j]) / (rounds + 1);
}

}  // namespace gossamer
