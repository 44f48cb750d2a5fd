// Text → CSR rows: what every text format shares. A format is a `TextParser` (see svmlight.hpp for the plainest one);
// it sees whole lines only, each ended by '\n', so that no scan needs to look for the end of the text.
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/chunk.hpp"

namespace gossamer {

// A line that could not be read.
struct BadLine {
  std::int64_t line;    // its number in the text, from 1
  std::int64_t column;  // where in it, in bytes from 1
  std::string reason;   // in words
  std::size_t begin;    // where it begins in the text
  std::size_t end;      // and ends, without its line end
};

// An array that grows, and is not filled before it is written; its memory is a `Chunk`.
template <class T>
class Raw {
 public:
  explicit Raw(std::size_t room) : data_(static_cast<T*>(Chunk::take(room * sizeof(T)))) {}
  T* data() const { return data_.get(); }
  // Whoever has it now gives it back by Chunk::give.
  T* release() { return data_.release(); }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }
  std::size_t room() const { return Chunk::size(data_.get()) / sizeof(T); }
  // Makes room for m at least; the first n are kept.
  void grow(std::size_t n, std::size_t m) {
    Raw larger(2 * m);
    std::memcpy(larger.data(), data(), n * sizeof(T));
    std::swap(*this, larger);
  }

 private:
  struct Give {
    void operator()(T* p) const { Chunk::give(p); }
  };
  std::unique_ptr<T, Give> data_;
};

// The rows of a piece of text.
struct TextRows {
  // Room for one entry in eight characters, as is usual.
  explicit TextRows(std::size_t characters) : index(characters / 8 + 16), value(characters / 8 + 16) {
    starts.push_back(0);
    room = std::min(index.room(), value.room());
  }

  Raw<std::int32_t> index;           // features, sorted in each row
  Raw<double> value;                 // their values, finite
  std::size_t entries = 0;           // how many of both
  std::size_t room;                  // for how many there is memory
  std::vector<std::int64_t> starts;  // where each row begins, and the last one ends
  std::vector<double> label;         // target of each row, NaN where the line has none
  std::vector<double> weight;        // importance of each row; empty if all are one
  std::vector<std::int64_t> tags;    // VW: where each row's tag begins in the text, and ends; empty if none has one
  std::int32_t width = 0;            // largest feature + 1
  std::int64_t lines = 0;            // how many lines the text has
  std::vector<BadLine> bad;

  std::size_t rows() const { return starts.empty() ? 0 : starts.size() - 1; }
  void add(std::int32_t feature, double x) {
    index[entries] = feature;
    value[entries++] = x;
  }
  // Before so many more are added.
  void reserve(std::size_t more) {
    if (room - entries < more) make_room(more);
  }
  [[gnu::noinline]] void make_room(std::size_t more) {
    index.grow(entries, entries + more), value.grow(entries, entries + more);
    room = std::min(index.room(), value.room());
  }
  void weigh(double w) {  // the row whose label was the last to arrive
    if (weight.empty() && w == 1) return;
    if (weight.empty()) weight.assign(label.size() - 1, 1.0);
    weight.push_back(w);
  }
  void tag(std::int64_t begin, std::int64_t end) {  // of the same row; those without one have an empty one
    tags.resize(2 * label.size() - 2);
    tags.push_back(begin), tags.push_back(end);
  }
};

// A format.
class TextParser {
 public:
  virtual ~TextParser() = default;
  // The rows of whole lines.
  virtual std::unique_ptr<TextRows> parse(std::string_view text) = 0;
  // Where the last row of a text ends that is whole, 0 if none is; none ends before `known`.
  virtual std::size_t cut(std::string_view text, std::size_t known) const {
    const std::size_t line = text.substr(known).rfind('\n');
    return line == std::string_view::npos ? 0 : known + line + 1;
  }
  // Whether a text must be parsed before the next one can be.
  virtual bool in_order() const { return true; }
};

// What a line may hold.
struct Limits {
  std::size_t patience;   // bad lines before the rest of the text is left alone
  bool need_label;        // whether a row without a label is bad
  std::int32_t features;  // features are below this
};

inline constexpr std::int64_t largest_feature = 2147483646;  // so that the number of features is an int32 too

// Up to eight digits at once: how many there are at `at`, where eight characters can be read, and the number they make.
struct Digits {
  std::uint32_t count, value;

  static constexpr bool possible = std::endian::native == std::endian::little;
  explicit Digits(const char* at) {
    const std::uint64_t x = load(at);
    const std::uint64_t others = ((x + 0x7676767676767676ull) | x) & 0x8080808080808080ull;
    count = others ? static_cast<std::uint32_t>(std::countr_zero(others)) / 8 : 8;
    value = count ? number(x, count) : 0;
  }
  // The number that the first `count` characters make, which are digits; one at least.
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

// Where, among sixteen characters, those are that are no digits: one after the other, then 16 or more.
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
  // To a blank, the line end, a colon or a bar; eight characters at a time that are neither these nor control ones.
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

  // A short `feature:value` with a space or the line end after it, as `feature` and `number` would read it; false, and
  // nothing is read, if it is of another form. Where all its parts end is found at once.
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
  // power of ten is exact, m · 10^e is one rounding away from the truth (Clinger 1990). The rest is from_chars's.
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
      if (Digits::possible && end - at >= 8) {
        const Digits digits(at);
        m = m * whole_power[digits.count] + digits.value;
        at += digits.count;
      }
      while (digit(*at)) m = m * 10 + static_cast<std::uint64_t>(*at++ - '0');
      e = point - at;
      count -= e;
    }
    const bool scientific = *at == 'e' || *at == 'E';
    if (count > 0 && count <= 15 && !scientific) {  // most numbers: all of the above is known
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
    return uncommon_number(from, negative, out);
  }

  // Long, extreme or malformed numbers; from_chars knows no leading '+'.
  [[gnu::noinline]] bool uncommon_number(const char* from, bool negative, double& out) {
    at = from + (negative || *from == '+');
    const char* digits = at;
    const auto [stop, error] = std::from_chars(at, end, out);
    if (error == std::errc::invalid_argument || !(digit(*digits) || *digits == '.')) {
      const bool words = error == std::errc() && *digits != '-';  // "inf", "nan"
      at = from;
      return fail(words ? "the number is not finite" : "a number is needed here");
    }
    at = stop;
    if (error == std::errc::result_out_of_range) out = std::strtod(std::string(digits, stop).c_str(), nullptr);
    if (!std::isfinite(out)) {
      at = from;
      return fail("the number is too large for double precision");
    }
    if (negative) out = -out;
    return true;
  }
};

// Puts rows in order.
class Tidier {
 public:
  // Sorts the features of the row that begins at entry `from` and adds up those that come twice, in the order in which
  // they came. Returns whether all sums are finite.
  bool operator()(TextRows& rows, std::size_t from) {
    const std::size_t count = rows.entries - from;
    entries_.resize(count), other_.resize(count);
    std::uint32_t all = 0;
    for (std::size_t n = 0; n < count; ++n) {
      entries_[n] = {static_cast<std::uint32_t>(rows.index[from + n]), rows.value[from + n]};
      all |= entries_[n].feature;
    }
    if (count <= 16) {
      sort_few();
    } else {
      sort_digits(std::bit_width(all));
    }
    rows.entries = from;
    for (const auto& [feature, x] : entries_) {
      if (rows.entries > from && rows.index[rows.entries - 1] == static_cast<std::int32_t>(feature)) {
        rows.value[rows.entries - 1] += x;
        if (!std::isfinite(rows.value[rows.entries - 1])) return false;
      } else {
        rows.add(static_cast<std::int32_t>(feature), x);
      }
    }
    return true;
  }

 private:
  struct Entry {
    std::uint32_t feature;
    double value;
  };
  std::vector<Entry> entries_, other_;

  void sort_few() {
    for (std::size_t i = 1; i < entries_.size(); ++i) {
      const Entry entry = entries_[i];
      std::size_t at = i;
      for (; at > 0 && entries_[at - 1].feature > entry.feature; --at) entries_[at] = entries_[at - 1];
      entries_[at] = entry;
    }
  }
  // Digit by digit, the last one first: as many operations a feature whatever the row.
  void sort_digits(int bits) {
    const int passes = (bits + 7) / 8, digit = passes ? (bits + passes - 1) / passes : 0;
    const std::uint32_t mask = (1u << digit) - 1;
    for (int pass = 0; pass < passes; ++pass) {
      const int shift = pass * digit;
      std::uint32_t place[256];  // how many have a digit, then where the next one of them goes
      std::fill_n(place, mask + 1, 0u);
      for (const Entry& entry : entries_) ++place[(entry.feature >> shift) & mask];
      for (std::uint32_t k = 0, sum = 0; k <= mask; ++k) sum += std::exchange(place[k], sum);
      for (const Entry& entry : entries_) other_[place[(entry.feature >> shift) & mask]++] = entry;
      entries_.swap(other_);
    }
  }
};

// Goes through the lines of a text. `line(cursor)` reads one, adding entries (there is room for one in two characters)
// and returning whether it was a row (or nothing, an empty line or a comment); it sets cursor.reason where it cannot,
// and the line then leaves no trace but in `bad`.
template <class Line>
std::unique_ptr<TextRows> parse_lines(std::string_view text, const Limits& limits, Line line) {
  auto rows = std::make_unique<TextRows>(text.size());
  Cursor cursor{text.data(), text.data() + text.size()};
  Tidier tidy;
  while (cursor.at < cursor.end) {
    const char* begin = cursor.at;
    const std::size_t before = rows->entries, labels = rows->label.size(), tags = rows->tags.size();
    cursor.reason = nullptr, cursor.inner_lines = 0;
    const auto left = static_cast<std::size_t>(cursor.end - begin);
    const auto* stop = static_cast<const char*>(std::memchr(begin, '\n', left));
    rows->reserve(static_cast<std::size_t>(stop - begin) / 2 + 1);  // an entry takes two characters at least
    Cursor here = cursor;                                           // of its own, so that it stays in registers
    const bool is_row = line(*rows, here);
    cursor = here;
    if (!cursor.reason && is_row) {
      const std::int32_t* index = rows->index.data();
      int falls = 0;  // compiles to vector instructions
      for (std::size_t n = before + 1; n < rows->entries; ++n) falls |= index[n - 1] >= index[n];
      if (falls && !tidy(*rows, before)) cursor.fail("the values of one feature add up to infinity");
      if (limits.need_label && std::isnan(rows->label.back())) cursor.fail("the row has no label");
      if (rows->entries > before && rows->index[rows->entries - 1] >= limits.features) {
        cursor.fail("a feature number is beyond max_features; raise it (--max-features), or hash the features");
      }
    }
    if (cursor.reason) {
      const auto column = cursor.at - begin + 1;
      cursor.skip_line(), cursor.inner_lines = 0;
      const char* last = cursor.at > begin && cursor.at[-1] == '\r' ? cursor.at - 1 : cursor.at;
      rows->bad.push_back({rows->lines + 1, column, cursor.reason, static_cast<std::size_t>(begin - text.data()),
                           static_cast<std::size_t>(last - text.data())});
      rows->entries = before;
      rows->label.resize(labels), rows->tags.resize(tags);
      if (rows->weight.size() > labels) rows->weight.resize(labels);
    } else if (is_row) {
      rows->starts.push_back(static_cast<std::int64_t>(rows->entries));
      if (rows->entries > before) rows->width = std::max(rows->width, rows->index[rows->entries - 1] + 1);
    }
    ++cursor.at;
    rows->lines += 1 + cursor.inner_lines;
    if (rows->bad.size() >= limits.patience) break;
  }
  if (!rows->tags.empty()) rows->tags.resize(2 * rows->rows());
  return rows;
}

}  // namespace gossamer
