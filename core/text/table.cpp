#include "text/table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "text/cursor.hpp"

namespace gossamer {

namespace {

constexpr std::string_view weekdays[] = {"weekday=mon", "weekday=tue", "weekday=wed", "weekday=thu",
                                         "weekday=fri", "weekday=sat", "weekday=sun"};
constexpr std::string_view hours[] = {"hour=0",  "hour=1",  "hour=2",  "hour=3",  "hour=4",  "hour=5",
                                      "hour=6",  "hour=7",  "hour=8",  "hour=9",  "hour=10", "hour=11",
                                      "hour=12", "hour=13", "hour=14", "hour=15", "hour=16", "hour=17",
                                      "hour=18", "hour=19", "hour=20", "hour=21", "hour=22", "hour=23"};
constexpr std::string_view months[] = {"month=1", "month=2", "month=3", "month=4",  "month=5",  "month=6",
                                       "month=7", "month=8", "month=9", "month=10", "month=11", "month=12"};
constexpr double days_in_year = 365.25;  // days are divided by it, so that they are not large
constexpr std::size_t room = 16;         // bytes that may be read beyond a name

#ifdef __SSE2__
// Which of sixteen characters of ASCII are letters and digits; and all of them, in lower case.
__m128i letters_of(__m128i x, char* small) {
  const auto within = [](__m128i c, char low, char high) {
    const __m128i from = _mm_sub_epi8(c, _mm_set1_epi8(low));
    return _mm_cmpeq_epi8(_mm_min_epu8(from, _mm_set1_epi8(static_cast<char>(high - low))), from);
  };
  const __m128i capital = _mm_and_si128(within(x, 'A', 'Z'), _mm_set1_epi8(32)), low = _mm_or_si128(x, capital);
  _mm_store_si128(reinterpret_cast<__m128i*>(small), low);
  return _mm_or_si128(within(low, 'a', 'z'), within(x, '0', '9'));
}
#endif

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && Cursor::blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && Cursor::blank(s.back())) s.remove_suffix(1);
  return s;
}

}  // namespace

MissingWords::MissingWords(std::vector<std::string> words) : words_(std::move(words)) {
  for (const std::string& word : words_) {
    if (!word.empty()) begins_[static_cast<unsigned char>(word.front())] = true;
    longest_ = std::max(longest_, word.size());
    const std::string padded = word + '\n';
    Cursor c{padded.data(), padded.data() + padded.size()};
    if (double x; c.number(x) && c.over()) numbers_.push_back(x);
  }
}

bool MissingWords::find(std::string_view cell) const {
  return std::find(words_.begin(), words_.end(), cell) != words_.end();
}

bool MissingWords::has(double x) const { return std::find(numbers_.begin(), numbers_.end(), x) != numbers_.end(); }

void TablePlan::add(Column column) {
  column.level = Prefix(column.name + "="), column.word = Prefix(column.name + ":");
  columns.push_back(std::move(column));
}

bool TablePlan::makes_names() const {
  const auto names = [](const Column& c) {
    return c.role == Column::target_class || c.role == Column::category || c.role == Column::text ||
           c.role == Column::date;
  };
  return !crossed.empty() || std::any_of(columns.begin(), columns.end(), names);
}

Encoder::Encoder(const TablePlan& plan, NameTable& names, NameTable& classes, TextRows& rows)
    : plan_(plan), names_(names), classes_(classes), rows_(rows), places_(plan.columns.size(), -1) {
  for (const Column& column : plan.columns) has_offset_ |= column.role == Column::offset;
  for (const auto& [a, b] : plan.crossed) {
    for (const std::size_t j : {a, b}) {
      if (places_[j] >= 0) continue;
      places_[j] = static_cast<std::int32_t>(parts_.size());
      parts_.emplace_back();
    }
  }
}

void Encoder::begin() {
  label_ = std::numeric_limits<double>::quiet_NaN(), weight_ = 1, offset_ = 0;
  reason = nullptr;
  note_names();
  for (auto& parts : parts_) parts.clear();
  rows_.reserve(4 * plan_.columns.size());  // a text reserves more
}

void Encoder::add(std::size_t column, std::int32_t feature, double x, std::string_view name) {
  if (x == 0 && plan_.fills) return;  // a zero says nothing
  rows_.add(feature, x);
  if (places_[column] >= 0) parts_[static_cast<std::size_t>(places_[column])].push_back({std::string(name), x});
}

// Names are noted in the order in which they came.
void Encoder::note_names() {
  for (const auto& [hash, prefix, rest] : waiting_) names_.number(prefix, rest, hash);
  waiting_.clear();
}

std::int32_t Encoder::plain(std::size_t j) const {
  const Column& column = plan_.columns[j];
  return column.role == Column::number && places_[j] < 0 && !plan_.missing.has_numbers() ? column.feature : -1;
}

// The feature prefix + rest. Hashed, its number is known at once: the table is looked at a row later, when its entry
// has come from memory.
bool Encoder::name(std::size_t column, const Prefix& prefix, std::string_view rest, double x, bool stays) {
  const std::uint64_t hash = prefix.hash(rest, stays);
  if (stays && names_.knows_numbers() && places_[column] < 0) {
    names_.prefetch(hash);
    waiting_.push_back({hash, prefix.text(), rest});
    rows_.add(plan_.first + names_.number_of_hash(hash), x);
    return true;
  }
  note_names();
  const std::int32_t number = names_.number(prefix.text(), rest, hash);
  if (number < 0 || number > largest_feature - plan_.first) return fail("there are too many different categories");
  rows_.add(plan_.first + number, x);
  if (places_[column] >= 0) {
    parts_[static_cast<std::size_t>(places_[column])].push_back({std::string(prefix.text()).append(rest), x});
  }
  return true;
}

bool Encoder::cell(std::size_t j, std::string_view text, bool stays) {
  const Column& column = plan_.columns[j];
  if (column.role == Column::ignored) return true;
  if (plan_.fills) text = trimmed(text);
  if (column.role == Column::text) return words(j, text);
  if (plan_.missing.has(text)) return missing(j);
  if (column.role == Column::category) return name(j, column.level, text, 1, stays);
  if (column.role == Column::target_class) {
    const std::int32_t number = classes_.number({}, text);
    if (number < 0) return fail("there are too many different classes");
    label_ = number;
    return true;
  }
  if (column.role == Column::date) {
    Moment when;
    return read_date(text, column.form, when) ? moment(j, when) : fail("a date is needed here");
  }
  double x;
  padded_.assign(text).push_back('\n');
  Cursor inner{padded_.data(), padded_.data() + padded_.size()};
  if (!inner.number(x)) return fail(inner.reason);
  if (!inner.over()) return fail("a number is needed here");
  return number(j, x);
}

bool Encoder::number(std::size_t j, double x) {
  const Column& column = plan_.columns[j];
  if (std::isnan(x) || plan_.missing.has(x)) return missing(j);
  if (!std::isfinite(x)) return fail("the number is not finite");
  switch (column.role) {
    case Column::number:
      add(j, column.feature, x, column.name);
      return true;
    case Column::weight:
      weight_ = x;
      return x >= 0 || fail("a weight is not negative");
    case Column::offset:
      offset_ = x;
      return true;
    default:
      label_ = x;
      return true;
  }
}

bool Encoder::moment(std::size_t j, Moment when) {
  const Column& column = plan_.columns[j];
  const double days = static_cast<double>(when.day() - column.first_day) / days_in_year;
  add(j, column.feature, days, places_[j] < 0 ? std::string_view() : std::string(column.word.text()) + "days");
  if (column.timed && !name(j, column.word, hours[when.hour()], 1)) return false;
  return name(j, column.word, weekdays[when.weekday()], 1) && name(j, column.word, months[when.month() - 1], 1);
}

bool Encoder::missing(std::size_t j) {
  const Column& column = plan_.columns[j];
  switch (column.role) {
    case Column::weight:
      return fail("the weight is missing");
    case Column::offset:
      return fail("the offset is missing");
    case Column::category:
      return !plan_.fills || name(j, column.level, "missing", 1);
    case Column::number:
    case Column::date:
      if (!plan_.fills) return true;
      if (column.role == Column::number) add(j, column.feature, column.mean, column.name);
      add(j, column.indicator, 1, places_[j] < 0 ? std::string_view() : std::string(column.level.text()) + "missing");
      return true;
    default:
      return true;
  }
}

bool Encoder::end() {
  for (const auto& [a, b] : plan_.crossed) {
    const auto& left = parts_[static_cast<std::size_t>(places_[a])];
    const auto& right = parts_[static_cast<std::size_t>(places_[b])];
    if (!cross(left, right)) return false;
  }
  rows_.label.push_back(label_);
  rows_.weigh(weight_);
  if (has_offset_) rows_.offset.push_back(offset_);
  return true;
}

// Products of the features of two columns; of one column with itself, each pair once.
bool Encoder::cross(const std::vector<Part>& a, const std::vector<Part>& b) {
  constexpr std::size_t most = 4'000'000;  // a third of a second, and 100 MB
  if (b.size() > 0 && a.size() > most / b.size())
    return fail("the row has more than 4 million products of two columns");
  rows_.reserve(a.size() * b.size());
  note_names();
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = &a == &b ? i : 0; k < b.size(); ++k) {
      const double x = a[i].value * b[k].value;
      if (!std::isfinite(x)) return fail("the product of two columns is infinite");
      padded_.assign(a[i].name).append("*");
      const std::int32_t number = names_.number(padded_, b[k].name);
      if (number < 0 || number > largest_feature - plan_.first)
        return fail("there are too many different interactions");
      if (x != 0) rows_.add(plan_.first + number, x);
    }
  }
  return true;
}

// Words in lower case, with "_" between them, into `words_`, and where they begin and end. A word is a run of letters
// and digits; all characters beyond ASCII count as letters, except spaces, signs and punctuation of Unicode's first
// blocks. Capitals of Latin-1, Greek and Cyrillic become small letters as those of ASCII do.
void Encoder::split(std::string_view text) {
  words_.resize(text.size() + 1 + room), bounds_.clear();
  char* to = words_.data();
  std::size_t used = 0, begin = 0;
  bool within = false;
  const auto close = [&] {
    if (!within) return;
    bounds_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(used)});
    to[used++] = '_', within = false;
  };
  const auto open = [&] {
    if (!within) begin = used, within = true;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
#ifdef __SSE2__
    for (; i + room <= text.size(); i += room) {  // sixteen characters of ASCII at once
      const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + i));
      if (_mm_movemask_epi8(x)) break;
      alignas(16) char small[2 * room];
      auto letters = static_cast<std::uint32_t>(_mm_movemask_epi8(letters_of(x, small)));
      if (!(letters & 1)) close();
      while (letters) {
        const int from = std::countr_zero(letters), size = std::countr_one(letters >> from);
        open();
        std::memcpy(to + used, small + from, room);
        used += static_cast<std::size_t>(size);
        letters &= ~((1u << (from + size)) - 1);
        if (from + size < static_cast<int>(room)) close();
      }
    }
    if (i >= text.size()) break;
#endif
    const auto c = static_cast<unsigned char>(text[i]);
    const unsigned char small = c | 32;
    if ((small >= 'a' && small <= 'z') || (c >= '0' && c <= '9')) {
      open();
      to[used++] = static_cast<char>(c >= 'A' && c <= 'Z' ? small : c);
    } else if (c < 0x80) {
      close();
    } else {
      const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
      const auto third = static_cast<unsigned char>(i + 2 < text.size() ? text[i + 2] : 0);
      if (c == 0xC2 && next >= 0x80 && next < 0xC0) {  // signs of Latin-1
        close(), ++i;
      } else if ((c == 0xE2 && (next == 0x80 || (next == 0x81 && third < 0xB0))) || (c == 0xE3 && next == 0x80)) {
        close(), i += 2;  // general punctuation, and that of East Asia
      } else if (next >= 0x80 && next < 0xC0 && (c == 0xC3 || c == 0xCE || c == 0xD0)) {
        open();
        unsigned char lead = c, last = next;
        if (c == 0xC3 && next <= 0x9E && next != 0x97) last = next + 0x20;               // À … Þ
        if (c == 0xCE && next >= 0x91 && next <= 0x9F) last = next + 0x20;               // Α … Ο
        if (c == 0xCE && next >= 0xA0 && next <= 0xA9) lead = 0xCF, last = next - 0x20;  // Π … Ω
        if (c == 0xD0 && next >= 0x90 && next <= 0x9F) last = next + 0x20;               // А … П
        if (c == 0xD0 && next >= 0xA0 && next <= 0xAF) lead = 0xD1, last = next - 0x20;  // Р … Я
        if (c == 0xD0 && next <= 0x8F) lead = 0xD1, last = next + 0x10;                  // Ѐ … Џ
        to[used++] = static_cast<char>(lead), to[used++] = static_cast<char>(last);
        ++i;
      } else {
        open();
        to[used++] = static_cast<char>(c);
      }
    }
  }
  close();
}

// The words of a text and the runs of up to `ngrams` words: 1 + log(count) each, then scaled to length one. Grams with
// the same number count as one; the length is added up in an order that does not depend on the numbers.
bool Encoder::words(std::size_t j, std::string_view text) {
  split(text);
  if (bounds_.empty()) return true;
  const Prefix& prefix = plan_.columns[j].word;
  grams_.clear();
  for (std::size_t n = 1; n <= static_cast<std::size_t>(plan_.ngrams); ++n) {
    for (std::size_t i = 0; i + n <= bounds_.size(); ++i) {
      const std::uint32_t begin = bounds_[i].first, size = bounds_[i + n - 1].second - begin;
      const std::uint64_t hash = prefix.hash({words_.data() + begin, size}, true);
      names_.prefetch(hash);
      grams_.push_back({begin, size, hash});
    }
  }
  auto& found = found_.entries;
  found.clear();
  note_names();
  for (std::uint32_t g = 0; g < grams_.size(); ++g) {
    const auto& [begin, size, hash] = grams_[g];
    const std::int32_t number = names_.number(prefix.text(), {words_.data() + begin, size}, hash);
    if (number < 0 || number > largest_feature - plan_.first) return fail("there are too many different words");
    found.push_back({number, g});
  }
  found_();
  counts_.clear();
  for (std::size_t i = 0, run; i < found.size(); i += run) {
    for (run = 1; i + run < found.size() && found[i + run].feature == found[i].feature;) ++run;
    counts_.push_back(static_cast<std::uint32_t>(run));
  }
  const auto weight = [](std::uint32_t count) { return count == 1 ? 1.0 : 1 + std::log(count); };
  more_.clear();
  for (const std::uint32_t count : counts_) {
    if (count > 1) more_.push_back(count);
  }
  std::sort(more_.begin(), more_.end());
  auto squares = static_cast<double>(counts_.size() - more_.size());
  for (const std::uint32_t count : more_) squares += weight(count) * weight(count);
  const double length = std::sqrt(squares);
  rows_.reserve(counts_.size() + 4 * plan_.columns.size());
  std::size_t at = 0;
  for (const std::uint32_t count : counts_) {
    const auto& [number, g] = found[at];
    const double x = weight(count) / length;
    rows_.add(plan_.first + number, x);
    if (places_[j] >= 0) {
      parts_[static_cast<std::size_t>(places_[j])].push_back(
          {std::string(prefix.text()).append(words_.data() + grams_[g].begin, grams_[g].size), x});
    }
    at += count;
  }
  return true;
}

}  // namespace gossamer
