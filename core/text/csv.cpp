#include "text/csv.hpp"

#include <algorithm>
#include <limits>

#include "text/lines.hpp"

namespace gossamer {

std::unique_ptr<TextRows> CsvParser::parse(std::string_view text) {
  auto lock = names_.hold(), class_lock = classes_.hold();
  return parse_lines(text, limits_, [&](TextRows& rows, Cursor& c) { return line(rows, c); });
}

// Whether the quote there opens a cell: only blanks are between it and a delimiter or a line end. Other quotes are
// characters like any other.
bool CsvParser::opens(std::string_view text, std::size_t quote) const {
  std::size_t at = quote;
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t') && text[at - 1] != delimiter_) --at;
  return at == 0 || text[at - 1] == '\n' || text[at - 1] == delimiter_;
}

std::size_t CsvParser::cut(std::string_view text, std::size_t) const {
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t quote = std::min(text.find('"', at), text.size());
    const std::size_t line = text.substr(at, quote - at).rfind('\n');
    if (line != std::string_view::npos) end = at + line + 1;
    if (quote == text.size()) break;
    at = quote + 1;
    if (!opens(text, quote)) continue;
    std::size_t closing = text.find('"', at);
    while (closing != std::string_view::npos && text.substr(closing + 1).starts_with('"')) {
      closing = text.find('"', closing + 2);
    }
    if (closing == std::string_view::npos) break;
    at = closing + 1;
  }
  return end;
}

bool CsvParser::line(TextRows& rows, Cursor& c) {
  rows.reserve(columns_.size());  // a cell may span several lines
  if (c.over() || (*c.at == '\r' && c.at[1] == '\n')) return false;
  double label = std::numeric_limits<double>::quiet_NaN(), weight = 1;
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const CsvColumn& column = columns_[j];
    const char* from = c.at;
    std::string_view cell;
    if (!next_cell(c, cell)) return false;
    const char* after = c.at;
    const bool last = *after == '\n';
    if (last && j + 1 < columns_.size()) return c.fail("the row has fewer cells than the first line has columns");
    if (!last && j + 1 == columns_.size()) return c.fail("the row has more cells than the first line has columns");
    if (!cell.empty() && column.role != CsvColumn::skipped) {
      c.at = from;
      if (!use(rows, c, column, cell, label, weight)) return false;
      c.at = after;
    } else if (column.role == CsvColumn::weight) {
      return c.fail("the weight is missing");
    }
    if (!last) ++c.at;
  }
  rows.label.push_back(label);
  rows.weigh(weight);
  return true;
}

// One cell without its quotes and the blanks around it; the cursor stops at the delimiter or the line end.
bool CsvParser::next_cell(Cursor& c, std::string_view& cell) {
  while ((*c.at == ' ' || *c.at == '\t') && *c.at != delimiter_) ++c.at;
  if (*c.at == '"') {
    unquoted_.clear();
    const char* open = c.at;
    for (++c.at;; ++c.at) {
      if (c.at >= c.end) return c.at = open, c.fail("the quote is not closed");
      if (*c.at == '"' && *++c.at != '"') break;
      unquoted_ += *c.at;
      c.inner_lines += *c.at == '\n';
    }
    while (Cursor::blank(*c.at) && *c.at != delimiter_) ++c.at;
    cell = unquoted_;
    if (*c.at != delimiter_ && *c.at != '\n') return c.fail("a delimiter is needed after a quoted cell");
    return true;
  }
  const char* from = c.at;
  while (*c.at != delimiter_ && *c.at != '\n') ++c.at;
  const char* stop = c.at;
  while (stop > from && Cursor::blank(stop[-1])) --stop;
  cell = {from, static_cast<std::size_t>(stop - from)};
  return true;
}

bool CsvParser::use(TextRows& rows, Cursor& c, const CsvColumn& column, std::string_view cell, double& label,
                    double& weight) {
  if (column.role == CsvColumn::category) {
    const std::int32_t number = names_.number(column.prefix, cell);
    if (number < 0 || number > largest_feature - column.feature)
      return c.fail("there are too many different categories");
    rows.add(column.feature + number, 1);
    return true;
  }
  if (column.role == CsvColumn::target_class) {
    const std::int32_t number = classes_.number({}, cell);
    if (number < 0) return c.fail("there are too many different classes");
    label = number;
    return true;
  }
  double x;
  padded_.assign(cell).push_back('\n');
  Cursor inner{padded_.data(), padded_.data() + padded_.size()};
  if (!inner.number(x)) return c.fail(inner.reason);
  if (!inner.over()) return c.fail("a number is needed here");
  if (column.role == CsvColumn::weight && x < 0) return c.fail("a weight is not negative");
  if (column.role == CsvColumn::number) {
    rows.add(column.feature, x);
  } else {
    (column.role == CsvColumn::weight ? weight : label) = x;
  }
  return true;
}

}  // namespace gossamer
