// Vowpal Wabbit text: `label importance 'tag|namespace:scale name:value name … |namespace …`, one row per line. Label,
// importance and tag may be missing; a name without a value has the value 1. The feature `name` of namespace `ns` is
// called `ns^name`, and only `name` in the namespace without a name; the product of two features `a^x*b^y`. `NameTable`
// turns names into numbers.
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

class VwParser final : public TextParser {
 public:
  // `crossed` are pairs of namespaces whose features are multiplied: their names, or first letters as for VW's -q.
  VwParser(NameTable& names, const Limits& limits, std::vector<std::pair<std::string, std::string>> crossed = {})
      : names_(names), limits_(limits), crossed_(std::move(crossed)) {}
  std::unique_ptr<TextRows> parse(std::string_view text) override;

 private:
  struct Feature {
    std::string_view name;
    std::uint64_t hash;
  };

  struct Part {  // a feature of the row, if some are crossed
    std::string_view space, name;
    double value;
  };

  NameTable& names_;
  Limits limits_;
  std::vector<std::pair<std::string, std::string>> crossed_;
  std::vector<Part> parts_;
  Prefix prefix_;                  // "namespace^"
  std::string joined_;             // the name of a product
  std::vector<Feature> features_;  // the last entries, not numbered yet

  bool line(TextRows& rows, Cursor& c, const char* text);
  bool namespace_(TextRows& rows, Cursor& c);
  bool number(TextRows& rows, Cursor& c);
  bool cross(TextRows& rows, Cursor& c);
};

}  // namespace gossamer
