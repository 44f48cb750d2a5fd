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
#include "text/sorting.hpp"

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
  FeatureSort<Entry> sort_;
};

// Adds rows one at a time: `begin`, then the entries and the label, then `end`.
class RowKeeper {
 public:
  RowKeeper(TextRows& rows, const Limits& limits) : rows_(rows), limits_(limits) {}

  void begin() { before_ = rows_.entries, labels_ = rows_.label.size(), tags_ = rows_.tags.size(); }
  // Sorts the features. Returns why the row is invalid, or null.
  const char* end() {
    const std::int32_t* index = rows_.index.data();
    const char* reason = nullptr;
    int falls = 0;  // compiles to vector instructions
    for (std::size_t n = before_ + 1; n < rows_.entries; ++n) falls |= index[n - 1] >= index[n];
    if (falls && !tidy_(rows_, before_)) reason = "the values of one feature add up to infinity";
    if (limits_.need_label && std::isnan(rows_.label.back())) reason = "the row has no label";
    if (rows_.entries > before_ && rows_.index[rows_.entries - 1] >= limits_.features) {
      reason = "a feature number is beyond max_features; raise that, or hash the features";
    }
    if (reason) return reason;
    rows_.starts.push_back(static_cast<std::int64_t>(rows_.entries));
    if (rows_.entries > before_) rows_.width = std::max(rows_.width, rows_.index[rows_.entries - 1] + 1);
    return nullptr;
  }
  // Takes back what was added since `begin`.
  void undo() {
    rows_.entries = before_;
    rows_.label.resize(labels_), rows_.tags.resize(tags_);
    if (rows_.weight.size() > labels_) rows_.weight.resize(labels_);
    if (rows_.offset.size() > labels_) rows_.offset.resize(labels_);
  }

 private:
  TextRows& rows_;
  const Limits& limits_;
  Tidier tidy_;
  std::size_t before_ = 0, labels_ = 0, tags_ = 0;
};

// Goes through the lines of a text. `line(rows, cursor)` reads one line and adds its entries (there is room for one
// entry per two characters). It returns whether the line is a row: an empty line or a comment is none. On an error it
// sets cursor.reason, and the line is recorded in `bad` only.
template <class Line>
void parse_lines(TextRows& rows, std::string_view text, const Limits& limits, Line line) {
  Cursor cursor{text.data(), text.data() + text.size()};
  RowKeeper keeper(rows, limits);
  while (cursor.at < cursor.end) {
    const char* begin = cursor.at;
    keeper.begin();
    cursor.reason = nullptr, cursor.inner_lines = 0;
    const auto left = static_cast<std::size_t>(cursor.end - begin);
    const auto* stop = static_cast<const char*>(std::memchr(begin, '\n', left));
    rows.reserve(static_cast<std::size_t>(stop - begin) / 2 + 1);  // an entry takes two characters at least
    Cursor here = cursor;                                          // a copy stays in registers
    const bool is_row = line(rows, here);
    cursor = here;
    if (!cursor.reason && is_row) cursor.reason = keeper.end();
    if (cursor.reason) {
      const auto column = cursor.at - begin + 1;
      cursor.skip_line(), cursor.inner_lines = 0;
      const char* last = cursor.at > begin && cursor.at[-1] == '\r' ? cursor.at - 1 : cursor.at;
      rows.bad.push_back({rows.lines + 1, column, cursor.reason, static_cast<std::size_t>(begin - text.data()),
                          static_cast<std::size_t>(last - text.data())});
      keeper.undo();
    }
    ++cursor.at;
    rows.lines += 1 + cursor.inner_lines;
    if (rows.bad.size() >= limits.patience) break;
  }
  if (!rows.tags.empty()) rows.tags.resize(2 * rows.rows());
}

template <class Line>
std::unique_ptr<TextRows> parse_lines(std::string_view text, const Limits& limits, Line line) {
  auto rows = std::make_unique<TextRows>(text.size());
  parse_lines(*rows, text, limits, line);
  return rows;
}

}  // namespace gossamer
