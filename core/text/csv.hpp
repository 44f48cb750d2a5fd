// Comma-separated values: every row has one cell per column. A cell may stand in quotes, "" within them is one quote,
// and delimiters and line ends within them belong to the cell.
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
#include "text/table.hpp"

namespace gossamer {

class CsvParser final : public TextParser {
 public:
  // Classes are numbered by `classes`, other names by `names`.
  CsvParser(TablePlan plan, char delimiter, NameTable& names, NameTable& classes, const Limits& limits);

  std::unique_ptr<TextRows> parse(std::string_view text) override;
  // After a line end outside of quotes.
  std::size_t cut(std::string_view text, std::size_t known) const override;
  bool in_order() const override { return makes_names_; }

 private:
  TablePlan plan_;
  char delimiter_;
  std::vector<char> numeric_;  // by column: whether it holds numbers, and the delimiter is no part of them
  bool makes_names_;
  NameTable& names_;
  NameTable& classes_;
  Limits limits_;

  bool opens(std::string_view text, std::size_t quote) const;
  bool line(TextRows& rows, Cursor& c, Encoder& encoder, const std::vector<std::int32_t>& plain,
            std::string& unquoted) const;
  const char* number(const Cursor& c, double& x) const;
  bool next_cell(Cursor& c, std::string& unquoted, std::string_view& cell) const;
};

}  // namespace gossamer
