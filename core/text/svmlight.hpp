// svmlight / libsvm text: `label feature:value feature:value … # comment`, one row per line. `qid:n` is ignored,
// features come in any order, and the values of a repeated feature are added up.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include "text/rows.hpp"

namespace gossamer {

class SvmlightParser final : public TextParser {
 public:
  // `base` is the number of the first feature: 0, 1, or -1 to let the first text that has features decide: 0 if a
  // feature 0 is among them.
  SvmlightParser(int base, const Limits& limits) : base_(base), limits_(limits) {}

  int base() const { return base_; }
  bool in_order() const override { return base_ < 0; }
  std::unique_ptr<TextRows> parse(std::string_view text) override;

 private:
  std::atomic<int> base_;
  Limits limits_;
};

}  // namespace gossamer
