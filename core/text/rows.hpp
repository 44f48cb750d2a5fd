// Text → CSR rows: what every text format shares. A format is a `TextParser` (see svmlight.hpp for the simplest one).
// It sees whole lines only, each ended by '\n', so that no scan needs to check for the end of the text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory.hpp"

namespace gossamer {

// A line that could not be read.
struct BadLine {
  std::int64_t line;    // its number in the text, from 1
  std::int64_t column;  // the position of the error in it, in bytes from 1
  std::string reason;   // in words
  std::size_t begin;    // where it begins in the text
  std::size_t end;      // and ends, without its line end
};

// The rows of a piece of text.
struct TextRows {
  explicit TextRows(std::size_t characters);

  Raw<std::int32_t> index;           // features, sorted in each row
  Raw<double> value;                 // their values, finite
  std::size_t entries = 0;           // number of both
  std::size_t room;                  // number that fits into memory
  std::vector<std::int64_t> starts;  // where each row begins, and the last one ends
  std::vector<double> label;         // target of each row, NaN where the line has none
  std::vector<double> weight;        // importance of each row; empty if all are one
  std::vector<double> offset;        // added to the margin of each row; empty if the data has none
  std::vector<std::int64_t> tags;    // VW: begin and end of each row's tag in the text; empty if none has one
  std::int32_t width = 0;            // largest feature + 1
  std::int64_t lines = 0;            // number of lines of the text
  std::vector<BadLine> bad;

  std::size_t rows() const { return starts.empty() ? 0 : starts.size() - 1; }
  void add(std::int32_t feature, double x) {
    index[entries] = feature;
    value[entries++] = x;
  }
  // To be called before `more` entries are added.
  void reserve(std::size_t more) {
    if (room - entries < more) make_room(more);
  }
  // The weight and the tag of the row whose label was added last; rows without a tag have an empty one.
  void weigh(double w);
  void tag(std::int64_t begin, std::int64_t end);

 private:
  void make_room(std::size_t more);
};

// A format.
class TextParser {
 public:
  virtual ~TextParser() = default;
  // The rows of whole lines.
  virtual std::unique_ptr<TextRows> parse(std::string_view text) = 0;
  // The end of the last complete row of a text, 0 if there is none. No row ends before `known`.
  virtual std::size_t cut(std::string_view text, std::size_t known) const;
  // Whether a text must be parsed before the next one can be.
  virtual bool in_order() const { return true; }
};

// What a line may hold.
struct Limits {
  std::size_t patience;   // number of bad lines after which the rest of the text is not read
  bool need_label;        // whether a row without a label is bad
  std::int32_t features;  // features are below this
};

inline constexpr std::int64_t largest_feature = 2147483646;  // so that the number of features is an int32 too

}  // namespace gossamer
