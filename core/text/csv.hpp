// Comma-separated values: every row has one cell per column. A cell may stand in quotes, "" within them is one quote,
// and delimiters and line ends within them belong to the cell. An empty cell is a missing value: no entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/cursor.hpp"
#include "text/name_table.hpp"

namespace gossamer {

// The role of a column.
struct CsvColumn {
  enum Role { skipped, target, target_class, weight, number, category };
  Role role;
  std::int32_t feature;  // number: its feature; category: added to the number of the name
  std::string prefix;    // category: "column="
};

class CsvParser final : public TextParser {
 public:
  // Classes are numbered by `classes`, categories by `names`.
  CsvParser(std::vector<CsvColumn> columns, char delimiter, NameTable& names, NameTable& classes, const Limits& limits)
      : columns_(std::move(columns)), delimiter_(delimiter), names_(names), classes_(classes), limits_(limits) {}

  std::unique_ptr<TextRows> parse(std::string_view text) override;
  // After a line end outside of quotes.
  std::size_t cut(std::string_view text, std::size_t known) const override;

 private:
  std::vector<CsvColumn> columns_;
  char delimiter_;
  NameTable& names_;
  NameTable& classes_;
  Limits limits_;
  std::string unquoted_;  // a cell that had quotes
  std::string padded_;    // a number of such a cell, with a line end for the cursor

  bool opens(std::string_view text, std::size_t quote) const;
  bool line(TextRows& rows, Cursor& c);
  bool next_cell(Cursor& c, std::string_view& cell);
  bool use(TextRows& rows, Cursor& c, const CsvColumn& column, std::string_view cell, double& label, double& weight);
};

}  // namespace gossamer
