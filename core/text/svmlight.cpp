#include "text/svmlight.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "text/lines.hpp"

namespace gossamer {

namespace {

[[gnu::always_inline]] inline bool read_line(TextRows& rows, Cursor& c, std::uint32_t base) {
  c.skip_blanks();
  if (c.over()) return false;
  if (*c.at == '#') return c.skip_line(), false;
  double x;
  if (!c.number(x)) return false;
  if (!c.token_over()) return c.fail("a label is one number, followed by a space");
  rows.label.push_back(x);
  for (;;) {
    if (*c.at == ' ' && Cursor::digit(c.at[1])) {  // nearly always
      const char* from = c.at++;
      if (std::uint32_t feature; c.short_pair(feature, x)) {
        if (feature >= base) {
          rows.add(static_cast<std::int32_t>(feature - base), x);
          continue;
        }
        c.at = from + 1;
      }
    } else {
      c.skip_blanks();
      if (c.over()) return true;
      if (*c.at == '#') return c.skip_line(), true;
      if (*c.at == 'q' && std::strncmp(c.at, "qid:", 4) == 0) {
        c.skip_token();
        continue;
      }
    }
    std::int64_t feature;
    const char* from = c.at;
    if (!c.feature(feature)) return false;
    if (feature < base) {
      c.at = from;
      return c.fail("feature 0, but the features of this file count from 1; say zero_based=True");
    }
    if (feature - base > largest_feature) {
      c.at = from;
      return c.fail("the feature number is too large; at most 2147483646 is possible");
    }
    if (*c.at != ':') return c.fail("a colon is needed between a feature and its value");
    ++c.at;
    if (!c.number(x)) return false;
    if (*c.at != ' ' && !c.token_over()) return c.fail("a space is needed after a value");
    rows.add(static_cast<std::int32_t>(feature - base), x);
  }
}

}  // namespace

std::unique_ptr<TextRows> SvmlightParser::parse(std::string_view text) {
  const int known = base_;
  const std::uint32_t base = known > 0 ? 1 : 0;
  auto rows = parse_lines(text, limits_, [base](TextRows& rows, Cursor& c) { return read_line(rows, c, base); });
  if (known < 0 && rows->entries > 0) {
    std::int32_t *begin = rows->index.data(), *end = begin + rows->entries;
    base_ = std::find(begin, end, 0) == end;
    if (base_ == 1) {
      for (std::int32_t* feature = begin; feature < end; ++feature) --*feature;
      --rows->width;
    }
  }
  return rows;
}

}  // namespace gossamer
