// Tables in columns: record batches by the Arrow C data interface, a plain C layout that all table libraries share
// (https://arrow.apache.org/docs/format/CDataInterface.html).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "text/rows.hpp"
#include "text/table.hpp"

extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace gossamer {

// A struct of the interface that is moved in and released at the end.
template <class T>
struct Imported {
  T value{};
  Imported() = default;
  explicit Imported(T& from) : value(from) { from.release = nullptr; }
  ~Imported() {
    if (value.release) value.release(&value);
  }
  Imported(const Imported&) = delete;
  Imported& operator=(const Imported&) = delete;
};

// What the cells of a column are.
enum class CellKind : std::uint8_t { none, truth, whole, natural, real, decimal, string, moment, other };

struct Nothing {};
using Cell = std::variant<Nothing, bool, std::int64_t, std::uint64_t, double, std::string_view, Moment>;

// A column of a batch.
class CellColumn {
 public:
  CellColumn(const ArrowSchema& schema, const ArrowArray& array);

  Cell at(std::size_t row) const;

 private:
  enum class Layout : std::uint8_t { nothing, bits, fixed, offsets32, offsets64, views };
  CellKind kind_ = CellKind::other;
  Layout layout_ = Layout::nothing;
  int width_ = 0;          // bytes of a number
  std::int64_t unit_ = 1;  // moments: so many make a second; or, negative, so many seconds
  double scale_ = 1;       // decimals
  const ArrowArray* array_;
  std::unique_ptr<CellColumn> dictionary_;

  bool is_null(std::size_t row) const;
  std::int64_t whole(std::size_t at) const;
  double real(std::size_t at) const;
  std::string_view string(std::size_t at) const;
};

// Rows of a table.
class RecordBatch {
 public:
  RecordBatch(std::shared_ptr<Imported<ArrowSchema>> schema, ArrowArray& array);

  std::size_t rows() const { return static_cast<std::size_t>(array_.value.length); }
  const ArrowSchema& schema() const { return schema_->value; }
  std::size_t columns() const { return columns_.size(); }
  Cell cell(std::size_t row, std::size_t column) const;
  // Encodes rows begin … end − 1. A bad row is recorded by its number in the batch, from 1, and that of its column.
  std::unique_ptr<TextRows> encode(const TablePlan& plan, NameTable& names, NameTable& classes, const Limits& limits,
                                   std::size_t begin, std::size_t end) const;

 private:
  std::shared_ptr<Imported<ArrowSchema>> schema_;
  Imported<ArrowArray> array_;
  std::vector<CellColumn> columns_;
};

// Batches, one after the other.
class RecordStream {
 public:
  explicit RecordStream(ArrowArrayStream& from);

  const ArrowSchema& schema() const { return schema_->value; }
  // The next batch, or null at the end.
  std::unique_ptr<RecordBatch> next();

 private:
  Imported<ArrowArrayStream> stream_;
  std::shared_ptr<Imported<ArrowSchema>> schema_ = std::make_shared<Imported<ArrowSchema>>();

  void check(int error);
};

// A word for the type of a column: whole, real, truth, string, category, moment, none, or the format of the interface.
std::string type_of(const ArrowSchema& column);
// A real number as the level of a category: 3 for 3.0, otherwise the shortest decimal number that is equal to it.
std::string shown(double x);

}  // namespace gossamer
