// Scanning a line of text: digits several at a time, names, and numbers correctly rounded.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "text/rows.hpp"

namespace gossamer {

// Up to eight digits at once: their count at `at`, and the number they make. Eight characters must be readable there.
// Parsing RCV1 takes 11 ms, and 17 ms digit by digit.
struct Digits {
  std::uint32_t count, value;

  static constexpr bool possible = std::endian::native == std::endian::little;
  explicit Digits(const char* at) {
    const std::uint64_t x = load(at);
    const std::uint64_t others = ((x + 0x7676767676767676ull) | x) & 0x8080808080808080ull;
    count = others ? static_cast<std::uint32_t>(std::countr_zero(others)) / 8 : 8;
    value = count ? number(x, count) : 0;
  }
  // The number that the first `count` ≥ 1 characters make, all of them digits.
  static std::uint32_t of(const char* at, std::uint32_t count) { return number(load(at), count); }

 private:
  static std::uint64_t load(const char* at) {
    std::uint64_t x;
    std::memcpy(&x, at, 8);
    return x ^ 0x3030303030303030ull;  // digits become 0 … 9, everything else is larger
  }
  static std::uint32_t number(std::uint64_t x, std::uint32_t count) {
    x <<= 64 - 8 * count;   // zeros in front
    x = x * 10 + (x >> 8);  // pairs of digits, then fours, then all eight
    x = ((x & 0xff000000ffull) * 0xf424000000064ull + ((x >> 16) & 0xff000000ffull) * 0x271000000001ull) >> 32;
    return static_cast<std::uint32_t>(x);
  }
};

// The positions, in order, of the characters that are not digits among sixteen; then 16 or more.
struct Marks {
#ifdef __SSE2__
  static constexpr bool possible = Digits::possible;
  explicit Marks(const char* at) {
    const __m128i x = _mm_sub_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)), _mm_set1_epi8('0'));
    const __m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(9)), x);
    left_ = ~static_cast<std::uint32_t>(_mm_movemask_epi8(digit));
  }
#else
  static constexpr bool possible = false;
  explicit Marks(const char*) {}
#endif
  std::uint32_t next() const { return static_cast<std::uint32_t>(std::countr_zero(left_)); }
  void pass(bool really = true) { left_ = really ? left_ & (left_ - 1) : left_; }

 private:
  std::uint32_t left_ = 1u << 16;
};

// Moves through a line. Its characters end with '\n', where every scan stops.
struct Cursor {
  const char* at;
  const char* end;               // of the whole text
  const char* reason = nullptr;  // why the last scan failed
  std::int64_t inner_lines = 0;  // line ends within quotes

  bool fail(const char* why) {
    reason = why;
    return false;
  }
  static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  static bool digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
  bool over() const { return *at == '\n'; }
  void skip_blanks() {
    while (blank(*at)) ++at;
  }
  bool token_over() const { return blank(*at) || *at == '\n'; }
  void skip_token() {
    while (!token_over()) ++at;
  }
  // Stops at a blank, the line end, a colon or a bar. Looks at eight characters at a time as long as they hold none of
  // these and no control character: 9% less time to parse words of 4 to 24 letters.
  [[gnu::always_inline]] void skip_name() {
    constexpr std::uint64_t each = 0x0101010101010101ull;
    while (Digits::possible && end - at >= 8) {
      std::uint64_t x;
      std::memcpy(&x, at, 8);
      const std::uint64_t colon = x ^ (each * ':'), bar = x ^ (each * '|');
      const std::uint64_t marks =
          (((x - each * 33) & ~x) | ((colon - each) & ~colon) | ((bar - each) & ~bar)) & (each * 128);
      if (marks) {
        at += std::countr_zero(marks) / 8;
        break;
      }
      at += 8;
    }
    while (!token_over() && *at != ':' && *at != '|') ++at;
  }
  // memchr is several times as fast as a loop where lines are long.
  void skip_line() { at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at))); }

  static constexpr double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  static constexpr std::uint64_t whole_power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

  // Reads a short `feature:value` followed by a space or the line end, with the same result as `feature` and `number`.
  // Returns false and reads nothing if it has another form. The ends of all its parts are found at once: with values of
  // five digits `gs.read` takes 102 ms instead of 112 ms, with seventeen digits parsing takes 25 ms instead of 23 ms.
  [[gnu::always_inline]] bool short_pair(std::uint32_t& feature, double& x) {
    if (!Marks::possible || end - at < 28) return false;
    Marks marks(at);
    const std::uint32_t colon = marks.next();
    const bool negative = at[colon + 1] == '-';
    marks.pass(), marks.pass(negative);
    const std::uint32_t first = colon + 1 + negative, point = marks.next();
    if (colon - 1 >= 7 || at[colon] != ':' || point - first - 1 >= 8 || point > 15) return false;
    std::uint64_t m = static_cast<std::uint64_t>(at[first] - '0');
    for (std::uint32_t i = first + 1; i < point; ++i) m = m * 10 + static_cast<std::uint64_t>(at[i] - '0');
    std::uint32_t stop = point, places = 0;
    if (at[point] == '.') {
      marks.pass();
      stop = marks.next(), places = stop - point - 1;
      if (places - 1 >= 8 || stop > 15) return false;
      m = m * whole_power[places] + Digits::of(at + point + 1, places);
    }
    if (at[stop] != ' ' && at[stop] != '\n') return false;
    feature = Digits::of(at, colon);
    x = static_cast<double>(m) / power[places];
    if (negative) x = -x;
    at += stop;
    return true;
  }

  // Reads a short decimal number, at most eight digits before and eight after the point, in the first sixteen
  // characters, with the same result as `number`. Returns where it ends, or null if it has another form.
  [[gnu::always_inline]] static const char* short_number(const char* at, const char* end, double& x) {
    if (!Marks::possible || end - at < 26) return nullptr;
    const bool negative = *at == '-';
    at += negative;
    Marks marks(at);
    const std::uint32_t point = marks.next();
    if (point - 1 >= 8) return nullptr;
    std::uint64_t m = Digits::of(at, point);
    if (at[point] != '.') {
      x = static_cast<double>(m);
      if (negative) x = -x;
      return at + point;
    }
    marks.pass();
    const std::uint32_t stop = marks.next(), places = stop - point - 1;
    if (places - 1 >= 8 || stop > 15) return nullptr;
    m = m * whole_power[places] + Digits::of(at + point + 1, places);
    x = static_cast<double>(m) / power[places];
    if (negative) x = -x;
    return at + stop;
  }

  // Stops at the delimiter or the line end.
  [[gnu::always_inline]] void skip_cell(char delimiter) {
#ifdef __SSE2__
    const __m128i one = _mm_set1_epi8(delimiter), other = _mm_set1_epi8('\n');
    for (; end - at >= 16; at += 16) {
      const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
      const auto found =
          static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(x, one), _mm_cmpeq_epi8(x, other))));
      if (found) {
        at += std::countr_zero(found);
        return;
      }
    }
#endif
    while (*at != delimiter && *at != '\n') ++at;
  }

  // A whole number from 0 to largest_feature.
  [[gnu::always_inline]] bool feature(std::int64_t& out) {
    if (Digits::possible && end - at >= 8) {
      const Digits digits(at);
      if (digits.count > 0 && digits.count < 8) {
        at += digits.count;
        out = digits.value;
        return true;
      }
    }
    std::uint64_t n = 0;
    const char* from = at;
    while (digit(*at)) {
      n = n * 10 + static_cast<std::uint64_t>(*at++ - '0');
      if (n > 99999999999ull) n = 99999999999ull;
    }
    if (at == from) return fail("a feature number is needed here");
    if (n > static_cast<std::uint64_t>(largest_feature) + 1) {
      at = from;
      return fail("the feature number is too large; at most 2147483646 is possible");
    }
    out = static_cast<std::int64_t>(n);
    return true;
  }

  // A finite decimal number, correctly rounded. Up to 19 digits are collected into an integer m; where m < 2^53 and the
  // power of ten is exact, m · 10^e is rounded once (Clinger 1990). Longer ones, such as 0.30000000000000004, are
  // quotients of integers. Other numbers are left to from_chars.
  [[gnu::always_inline]] bool number(double& out) {
    const char* from = at;
    const bool negative = *at == '-';
    if (*at == '-' || *at == '+') ++at;
    const char* digits = at;
    std::uint64_t m = 0;
    while (digit(*at)) m = m * 10 + static_cast<std::uint64_t>(*at++ - '0');
    std::int64_t count = at - digits, e = 0;
    if (*at == '.') {
      const char* point = ++at;
      while (Digits::possible && end - at >= 8) {
        const Digits digits(at);
        m = m * whole_power[digits.count] + digits.value;
        at += digits.count;
        if (digits.count < 8) break;
      }
      while (digit(*at)) m = m * 10 + static_cast<std::uint64_t>(*at++ - '0');
      e = point - at;
      count -= e;
    }
    const bool scientific = *at == 'e' || *at == 'E';
    if (count > 0 && count <= 15 && !scientific) {  // most numbers
      out = static_cast<double>(m) / power[-e];
      if (negative) out = -out;
      return true;
    }
    if (count > 0 && scientific) {
      const char* mark = at++;
      const bool down = *at == '-';
      if (*at == '-' || *at == '+') ++at;
      std::int64_t exponent = 0;
      const char* first = at;
      while (digit(*at)) exponent = std::min<std::int64_t>(exponent * 10 + (*at++ - '0'), 100000);
      if (at == first) at = mark;
      e += down ? -exponent : exponent;
    }
    if (count > 0 && count <= 19 && m < (1ull << 53) && e >= -22 && e <= 22) {
      const double x = static_cast<double>(m);
      out = e < 0 ? x / power[-e] : x * power[e];
      if (negative) out = -out;
      return true;
    }
    if (count > 0 && count <= 19 && m > 0 && e < 0 && e >= -19 && quotient(m, static_cast<int>(-e), out)) {
      if (negative) out = -out;
      return true;
    }
    return uncommon_number(from, negative, out);
  }

  // m / 10^k, correctly rounded, for m > 0 and 0 < k < 20. False if the machine has no integers of 128 bits.
  static bool quotient(std::uint64_t m, int k, double& out);

  // Long, extreme or malformed numbers.
  bool uncommon_number(const char* from, bool negative, double& out);
};

}  // namespace gossamer
