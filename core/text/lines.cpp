#include "text/lines.hpp"

namespace gossamer {

// Room for one entry per eight characters, as is usual.
TextRows::TextRows(std::size_t characters) : index(characters / 8 + 16), value(characters / 8 + 16) {
  starts.push_back(0);
  room = std::min(index.room(), value.room());
}

void TextRows::make_room(std::size_t more) {
  index.grow(entries, entries + more), value.grow(entries, entries + more);
  room = std::min(index.room(), value.room());
}

void TextRows::weigh(double w) {
  if (weight.empty() && w == 1) return;
  if (weight.empty()) weight.assign(label.size() - 1, 1.0);
  weight.push_back(w);
}

void TextRows::tag(std::int64_t begin, std::int64_t end) {
  tags.resize(2 * label.size() - 2);
  tags.push_back(begin), tags.push_back(end);
}

std::size_t TextParser::cut(std::string_view text, std::size_t known) const {
  const std::size_t line = text.substr(known).rfind('\n');
  return line == std::string_view::npos ? 0 : known + line + 1;
}

bool Tidier::operator()(TextRows& rows, std::size_t from) {
  const std::size_t count = rows.entries - from;
  sort_.entries.resize(count);
  for (std::size_t n = 0; n < count; ++n) {
    sort_.entries[n] = {static_cast<std::uint32_t>(rows.index[from + n]), rows.value[from + n]};
  }
  sort_();
  rows.entries = from;
  for (const auto& [feature, x] : sort_.entries) {
    if (rows.entries > from && rows.index[rows.entries - 1] == static_cast<std::int32_t>(feature)) {
      rows.value[rows.entries - 1] += x;
      if (!std::isfinite(rows.value[rows.entries - 1])) return false;
    } else {
      rows.add(static_cast<std::int32_t>(feature), x);
    }
  }
  return true;
}

}  // namespace gossamer
