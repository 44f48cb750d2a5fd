// The loop over the lines of a text that every format runs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "text/cursor.hpp"
#include "text/rows.hpp"

namespace gossamer {

// Sorts the features of a row.
class Tidier {
 public:
  // Sorts the features of the row that begins at entry `from`, and adds up the values of repeated features in the order
  // in which they came. Returns whether all sums are finite.
  bool operator()(TextRows& rows, std::size_t from);

 private:
  struct Entry {
    std::uint32_t feature;
    double value;
  };
  std::vector<Entry> entries_, other_;

  void sort_few();
  void sort_digits(int bits);
};

// Goes through the lines of a text. `line(rows, cursor)` reads one line and adds its entries (there is room for one
// entry per two characters). It returns whether the line is a row: an empty line or a comment is none. On an error it
// sets cursor.reason, and the line is recorded in `bad` only.
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
    Cursor here = cursor;                                           // a copy stays in registers
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
