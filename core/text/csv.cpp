#include "text/csv.hpp"

#include <algorithm>

#include "text/lines.hpp"

namespace gossamer {

CsvParser::CsvParser(TablePlan plan, char delimiter, NameTable& names, NameTable& classes, const Limits& limits)
    : plan_(std::move(plan)),
      delimiter_(delimiter),
      makes_names_(plan_.makes_names()),
      names_(names),
      classes_(classes),
      limits_(limits) {
  const bool apart = std::string_view("0123456789+-.eE").find(delimiter) == std::string_view::npos;
  for (const Column& column : plan_.columns) numeric_.push_back(apart && column.is_numeric());
}

std::unique_ptr<TextRows> CsvParser::parse(std::string_view text) {
  std::unique_lock<std::timed_mutex> lock, class_lock;
  if (makes_names_) lock = names_.hold(), class_lock = classes_.hold();
  auto rows = std::make_unique<TextRows>(text.size());
  Encoder encoder(plan_, names_, classes_, *rows);
  std::string unquoted;
  std::vector<std::int32_t> plain;  // of columns: features that numbers are added to, or -1
  for (std::size_t j = 0; j < plan_.columns.size(); ++j) plain.push_back(encoder.plain(j));
  parse_lines(*rows, text, limits_, [&](TextRows& to, Cursor& c) { return line(to, c, encoder, plain, unquoted); });
  return rows;
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

// Reads a number that stands between two delimiters as it is, as most do. Returns where it ends, or null.
[[gnu::always_inline]] inline const char* CsvParser::number(const Cursor& c, double& x) const {
  const char* after = Cursor::short_number(c.at, c.end, x);
  if (!after) {
    if (!Cursor::digit(*c.at) && *c.at != '-') return nullptr;
    Cursor long_one{c.at, c.end};
    if (!long_one.number(x)) return nullptr;
    after = long_one.at;
  }
  return *after == delimiter_ || *after == '\n' ? after : nullptr;
}

bool CsvParser::line(TextRows& rows, Cursor& c, Encoder& encoder, const std::vector<std::int32_t>& plain,
                     std::string& unquoted) const {
  if (c.over() || (*c.at == '\r' && c.at[1] == '\n')) return false;
  encoder.begin();
  const std::size_t count = plain.size();
  for (std::size_t j = 0; j < count; ++j) {
    double x = 0;
    std::string_view cell;
    const char *from = c.at, *after = numeric_[j] ? number(c, x) : nullptr;
    const bool is_number = after != nullptr;
    if (!is_number) {
      if (!next_cell(c, unquoted, cell)) return false;
      after = c.at, c.at = from;
    }
    const bool last = *after == '\n';
    if (last != (j + 1 == count)) {
      c.at = after;
      return c.fail(last ? "the row has fewer cells than the first line has columns"
                         : "the row has more cells than the first line has columns");
    }
    if (is_number && plain[j] >= 0) {
      if (x != 0 || !plan_.fills) rows.add(plain[j], x);
    } else if (!(is_number ? encoder.number(j, x)
                           : encoder.cell(j, cell, cell.data() == from && c.end - after >= 16))) {
      return c.fail(encoder.reason);
    }
    c.at = after + !last;
  }
  return encoder.end() || c.fail(encoder.reason);
}

// One cell without its quotes and the blanks around it; the cursor stops at the delimiter or the line end.
bool CsvParser::next_cell(Cursor& c, std::string& unquoted, std::string_view& cell) const {
  while ((*c.at == ' ' || *c.at == '\t') && *c.at != delimiter_) ++c.at;
  if (*c.at == '"') {
    unquoted.clear();
    const char* open = c.at;
    for (++c.at;; ++c.at) {
      if (c.at >= c.end) return c.at = open, c.fail("the quote is not closed");
      if (*c.at == '"' && *++c.at != '"') break;
      unquoted += *c.at;
      c.inner_lines += *c.at == '\n';
    }
    while (Cursor::blank(*c.at) && *c.at != delimiter_) ++c.at;
    cell = unquoted;
    if (*c.at != delimiter_ && *c.at != '\n') return c.fail("a delimiter is needed after a quoted cell");
    return true;
  }
  const char* from = c.at;
  c.skip_cell(delimiter_);
  const char* stop = c.at;
  while (stop > from && Cursor::blank(stop[-1])) --stop;
  cell = {from, static_cast<std::size_t>(stop - from)};
  return true;
}

}  // namespace gossamer
