// Pairs of doubles handled by one instruction, through the vector extension of GCC and Clang; every 64-bit processor
// has them. Used only in loops that compilers leave scalar, those that select by a comparison or gather: 1.3 to 2.3
// times as fast. Fours are two pairs, or one vector in loops compiled for wide ones (side_by_side.hpp). Functions that
// take or return them are always inlined, because the two kinds of loop would not pass them in the same registers.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

// For lambdas that take vectors, as above.
#define GOSSAMER_INLINE __attribute__((always_inline))

namespace gossamer {

using Pack = double __attribute__((vector_size(16)));
using Mask = std::int64_t __attribute__((vector_size(16)));  // −1 where true, 0 where false

using Quad = double __attribute__((vector_size(32)));
using QuadBits = std::int64_t __attribute__((vector_size(32)));

inline Pack load(const double* p) {
  Pack x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

[[gnu::always_inline]] inline Quad load_four(const double* p) {
  Quad x;
  std::memcpy(&x, p, sizeof x);
  return x;
}
[[gnu::always_inline]] inline Quad load_four(const float* p) { return Quad{p[0], p[1], p[2], p[3]}; }
[[gnu::always_inline]] inline void store_four(double* p, Quad x) { std::memcpy(p, &x, sizeof x); }

inline Pack spread(double x) { return Pack{x, x}; }
[[gnu::always_inline]] inline Quad spread_four(double x) { return Quad{x, x, x, x}; }

// Where the mask is set x, elsewhere 0.
inline Pack select(Mask mask, Pack x) { return reinterpret_cast<Pack>(reinterpret_cast<Mask>(x) & mask); }

// Where the mask is set x, elsewhere y.
inline Pack pick(Mask mask, Pack x, Pack y) {
  return reinterpret_cast<Pack>((reinterpret_cast<Mask>(x) & mask) | (reinterpret_cast<Mask>(y) & ~mask));
}

inline Pack absolute(Pack x) { return reinterpret_cast<Pack>(reinterpret_cast<Mask>(x) & Mask{INT64_MAX, INT64_MAX}); }

// Small whole numbers as doubles: with the exponent of 2⁵², their bits are 2⁵² plus the number.
inline Pack to_doubles(Mask counts) {
  constexpr std::int64_t two52 = 0x4330000000000000;
  return reinterpret_cast<Pack>(counts | Mask{two52, two52}) - spread(0x1p52);
}

// Sums and counts the positive numbers that are added, in each half separately.
struct PositivePart {
  Pack sum = {};
  Mask tally = {};

  void add(Pack x) {
    const Mask positive = x > spread(0.0);
    sum += select(positive, x);
    tally -= positive;
  }
  void merge(const PositivePart& other) { sum += other.sum, tally += other.tally; }
  Pack count() const { return to_doubles(tally); }
};

[[gnu::always_inline]] inline Quad select(QuadBits mask, Quad x) {
  return reinterpret_cast<Quad>(reinterpret_cast<QuadBits>(x) & mask);
}
[[gnu::always_inline]] inline bool any(QuadBits mask) { return (mask[0] | mask[1] | mask[2] | mask[3]) != 0; }

[[gnu::always_inline]] inline Quad root(Quad x) {
  return Quad{std::sqrt(x[0]), std::sqrt(x[1]), std::sqrt(x[2]), std::sqrt(x[3])};
}

// The least of four.
[[gnu::always_inline]] inline double least(Quad x) {
  const Pack low{x[0], x[1]}, high{x[2], x[3]}, both = low < high ? low : high;
  return both[0] < both[1] ? both[0] : both[1];
}

// s with the sign of v, s ≥ 0
[[gnu::always_inline]] inline Quad signed_like(Quad v, Quad s) {
  return reinterpret_cast<Quad>(reinterpret_cast<QuadBits>(s) | (reinterpret_cast<QuadBits>(v) & INT64_MIN));
}

// Eight floats, as two vectors of four or one.
using Oct = float __attribute__((vector_size(32)));
using OctBits = std::int32_t __attribute__((vector_size(32)));

[[gnu::always_inline]] inline Oct load_eight(const float* p) {
  Oct x;
  std::memcpy(&x, p, sizeof x);
  return x;
}
[[gnu::always_inline]] inline void store_eight(float* p, Oct x) { std::memcpy(p, &x, sizeof x); }
// (x − 0 is x. As eight times x in braces GCC puts them together one by one in some loops.)
[[gnu::always_inline]] inline Oct spread_eight(float x) { return x - Oct{}; }
[[gnu::always_inline]] inline Oct as_floats(Quad low, Quad high) {
  return __builtin_convertvector(__builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7), Oct);
}
[[gnu::always_inline]] inline Oct select(OctBits mask, Oct x) {
  return reinterpret_cast<Oct>(reinterpret_cast<OctBits>(x) & mask);
}
[[gnu::always_inline]] inline Oct pick(OctBits mask, Oct x, Oct y) { return mask ? x : y; }
[[gnu::always_inline]] inline Oct larger(Oct x, Oct y) { return x > y ? x : y; }
[[gnu::always_inline]] inline Oct absolute(Oct x) {
  return reinterpret_cast<Oct>(reinterpret_cast<OctBits>(x) & INT32_MAX);
}
[[gnu::always_inline]] inline Oct root(Oct x) {
  return Oct{std::sqrt(x[0]), std::sqrt(x[1]), std::sqrt(x[2]), std::sqrt(x[3]),
             std::sqrt(x[4]), std::sqrt(x[5]), std::sqrt(x[6]), std::sqrt(x[7])};
}
// The sum of eight, as a double.
[[gnu::always_inline]] inline double total(Oct x) {
  using Four = float __attribute__((vector_size(16)));
  const Four low = __builtin_shufflevector(x, x, 0, 1, 2, 3), high = __builtin_shufflevector(x, x, 4, 5, 6, 7);
  const Quad sum = __builtin_convertvector(low, Quad) + __builtin_convertvector(high, Quad);
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

// Eight records of two floats, a vector for each of the two.
struct Pairs {
  Oct a, b;
};
[[gnu::always_inline]] inline Pairs load_pairs(const float* at, const std::int32_t* j) {
  const auto pair = [=](int n) GOSSAMER_INLINE {
    std::int64_t bits;
    std::memcpy(&bits, at + 2 * static_cast<std::size_t>(j[n]), sizeof bits);
    return bits;
  };
  const Oct low = reinterpret_cast<Oct>(QuadBits{pair(0), pair(1), pair(2), pair(3)});
  const Oct high = reinterpret_cast<Oct>(QuadBits{pair(4), pair(5), pair(6), pair(7)});
  return {__builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14),
          __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15)};
}
[[gnu::always_inline]] inline void store_pairs(float* at, const std::int32_t* j, const Pairs& all) {
  const auto low = reinterpret_cast<QuadBits>(__builtin_shufflevector(all.a, all.b, 0, 8, 1, 9, 2, 10, 3, 11));
  const auto high = reinterpret_cast<QuadBits>(__builtin_shufflevector(all.a, all.b, 4, 12, 5, 13, 6, 14, 7, 15));
  const auto put = [=](int n, std::int64_t bits)
                       GOSSAMER_INLINE { std::memcpy(at + 2 * static_cast<std::size_t>(j[n]), &bits, sizeof bits); };
  put(0, low[0]), put(1, low[1]), put(2, low[2]), put(3, low[3]);
  put(4, high[0]), put(5, high[1]), put(6, high[2]), put(7, high[3]);
}

// Eight records of four floats, a vector for each of the four.
struct Records {
  Oct a, b, c, d;
};
[[gnu::always_inline]] inline Records load_records(const float* at, const std::int32_t* j) {
  using Four = float __attribute__((vector_size(16)));
  const auto four = [=](int n) GOSSAMER_INLINE {
    Four x;
    std::memcpy(&x, at + 4 * static_cast<std::size_t>(j[n]), sizeof x);
    return x;
  };
  const auto two = [=](int n) GOSSAMER_INLINE {
    return __builtin_shufflevector(four(n), four(n + 4), 0, 1, 2, 3, 4, 5, 6, 7);
  };
  const Oct r0 = two(0), r1 = two(1), r2 = two(2), r3 = two(3);
  const Oct low01 = __builtin_shufflevector(r0, r1, 0, 8, 1, 9, 4, 12, 5, 13);
  const Oct high01 = __builtin_shufflevector(r0, r1, 2, 10, 3, 11, 6, 14, 7, 15);
  const Oct low23 = __builtin_shufflevector(r2, r3, 0, 8, 1, 9, 4, 12, 5, 13);
  const Oct high23 = __builtin_shufflevector(r2, r3, 2, 10, 3, 11, 6, 14, 7, 15);
  return {__builtin_shufflevector(low01, low23, 0, 1, 8, 9, 4, 5, 12, 13),
          __builtin_shufflevector(low01, low23, 2, 3, 10, 11, 6, 7, 14, 15),
          __builtin_shufflevector(high01, high23, 0, 1, 8, 9, 4, 5, 12, 13),
          __builtin_shufflevector(high01, high23, 2, 3, 10, 11, 6, 7, 14, 15)};
}
[[gnu::always_inline]] inline void store_records(float* at, const std::int32_t* j, const Records& all) {
  const Oct low_ab = __builtin_shufflevector(all.a, all.b, 0, 8, 1, 9, 4, 12, 5, 13);
  const Oct high_ab = __builtin_shufflevector(all.a, all.b, 2, 10, 3, 11, 6, 14, 7, 15);
  const Oct low_cd = __builtin_shufflevector(all.c, all.d, 0, 8, 1, 9, 4, 12, 5, 13);
  const Oct high_cd = __builtin_shufflevector(all.c, all.d, 2, 10, 3, 11, 6, 14, 7, 15);
  const auto both = [=](int n, Oct r) GOSSAMER_INLINE {
    std::memcpy(at + 4 * static_cast<std::size_t>(j[n]), &r, 16);
    std::memcpy(at + 4 * static_cast<std::size_t>(j[n + 4]), reinterpret_cast<const char*>(&r) + 16, 16);
  };
  both(0, __builtin_shufflevector(low_ab, low_cd, 0, 1, 8, 9, 4, 5, 12, 13));
  both(1, __builtin_shufflevector(low_ab, low_cd, 2, 3, 10, 11, 6, 7, 14, 15));
  both(2, __builtin_shufflevector(high_ab, high_cd, 0, 1, 8, 9, 4, 5, 12, 13));
  both(3, __builtin_shufflevector(high_ab, high_cd, 2, 3, 10, 11, 6, 7, 14, 15));
}

}  // namespace gossamer
