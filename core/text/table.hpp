// Rows of tables → features: one encoder for all forms of a table. A parser goes through the cells of a row and says
// what each is (text, a number, a moment, missing); the role of its column says what it becomes.
//
// A number is one feature; where it is missing, the mean of the column and an indicator. A category is the feature
// `column=level`, a text makes `column:word` and `column:word_word`, a date its hour, weekday, month and days. Names
// become numbers by `NameTable`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/dates.hpp"
#include "text/name_table.hpp"
#include "text/rows.hpp"
#include "text/sorting.hpp"

namespace gossamer {

// A column of a table.
struct Column {
  enum Role : std::uint8_t { ignored, target, target_class, weight, offset, number, category, text, date };
  Role role = ignored;
  std::string name{};           // as users know it
  Prefix level{}, word{};       // "city=", "review:"; `TablePlan::add` sets them
  std::int32_t feature = 0;     // number: its feature; date: that of the days
  std::int32_t indicator = -1;  // number, date: the feature that says that the value is missing, or none
  double mean = 0;              // number: what stands for a missing value
  DateForm form = DateForm::year_first;
  std::int64_t first_day = 0;  // date: days are counted from it
  bool timed = false;          // date: whether the hour is a feature

  bool is_numeric() const { return role == number || role == target || role == weight || role == offset; }
};

// Words that stand for a missing value, besides the empty cell.
class MissingWords {
 public:
  explicit MissingWords(std::vector<std::string> words);
  bool has(std::string_view cell) const {
    return cell.empty() || (begins_[static_cast<unsigned char>(cell.front())] && cell.size() <= longest_ && find(cell));
  }
  bool has(double x) const;
  bool has_numbers() const { return !numbers_.empty(); }

 private:
  std::vector<std::string> words_;
  std::vector<double> numbers_;  // those of the words that are numbers
  bool begins_[256] = {};
  std::size_t longest_ = 0;

  bool find(std::string_view cell) const;
};

// What the columns of a table become.
struct TablePlan {
  MissingWords missing;
  bool fills;                     // a missing value becomes features; otherwise it makes no entry
  std::int32_t first;             // the feature of the name with number 0
  int ngrams;                     // words in a feature of a text, at most
  std::vector<Column> columns{};  // in the order of the table
  std::vector<std::pair<std::size_t, std::size_t>> crossed{};  // interactions of columns

  void add(Column column);
  // Whether a row needs the tables of names: then rows are encoded one after the other.
  bool makes_names() const;
};

// Encodes rows one after the other into `rows`.
class Encoder {
 public:
  Encoder(const TablePlan& plan, NameTable& names, NameTable& classes, TextRows& rows);
  ~Encoder() { note_names(); }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  // A row: `begin`, then one verb per column, then `end`. A verb returns false if the cell cannot be used; `reason`
  // says why.
  void begin();
  // `stays` says that the text stays where it is, with sixteen bytes after it, for as long as the encoder.
  bool cell(std::size_t column, std::string_view text, bool stays = false);
  bool number(std::size_t column, double x);
  bool moment(std::size_t column, Moment when);
  bool missing(std::size_t column);
  bool end();

  // The feature of a column of numbers whose finite values become entries and nothing else, or -1.
  std::int32_t plain(std::size_t column) const;

  const char* reason = nullptr;

 private:
  struct Part {  // a feature of a column that is crossed with another
    std::string name;
    double value;
  };
  struct Gram {  // a word or several, in `words_`
    std::uint32_t begin, size;
    std::uint64_t hash;
  };
  struct Name {  // to be noted in the table of names
    std::uint64_t hash;
    std::string_view prefix, rest;
  };
  struct Found {
    std::int32_t feature;
    std::uint32_t gram;
  };
  const TablePlan& plan_;
  NameTable& names_;
  NameTable& classes_;
  TextRows& rows_;
  std::vector<std::int32_t> places_;      // by column: its place in parts_, or -1
  std::vector<std::vector<Part>> parts_;  // of this row
  double label_ = 0, weight_ = 1, offset_ = 0;
  bool has_offset_ = false;
  std::vector<Name> waiting_;
  std::string words_, padded_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> bounds_;  // of the words
  std::vector<Gram> grams_;
  FeatureSort<Found> found_;                  // numbers of grams, and which gram it was
  std::vector<std::uint32_t> counts_, more_;  // of grams with the same number; those above one

  bool fail(const char* why) {
    reason = why;
    return false;
  }
  void add(std::size_t column, std::int32_t feature, double x, std::string_view name);
  bool name(std::size_t column, const Prefix& prefix, std::string_view rest, double x, bool stays = false);
  void note_names();
  bool words(std::size_t column, std::string_view text);
  void split(std::string_view text);
  bool cross(const std::vector<Part>& a, const std::vector<Part>& b);
};

}  // namespace gossamer
