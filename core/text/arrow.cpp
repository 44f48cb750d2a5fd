#include "text/arrow.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "text/lines.hpp"

namespace gossamer {

namespace {

template <class T>
T read(const void* buffer, std::size_t at) {
  T value;
  std::memcpy(&value, static_cast<const char*>(buffer) + at * sizeof(T), sizeof(T));
  return value;
}

bool bit(const void* buffer, std::size_t at) {
  return static_cast<const std::uint8_t*>(buffer)[at / 8] >> (at % 8) & 1;
}

double half(std::uint16_t h) {
  const double sign = h & 0x8000 ? -1 : 1;
  const int exponent = h >> 10 & 31, mantissa = h & 1023;
  if (exponent == 31) return mantissa ? std::nan("") : sign * HUGE_VAL;
  return sign * (exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24));
}

// The kind of cells of a format of the interface, the bytes of a number, and how many make a second.
struct Format {
  CellKind kind;
  int width = 0;
  std::int64_t unit = 1;
};

Format format_of(std::string_view f) {
  if (f == "n") return {CellKind::none};
  if (f == "b") return {CellKind::truth};
  if (f.size() == 1) {
    constexpr std::string_view wholes = "csil", naturals = "CSIL", reals = "efg";
    if (const auto at = wholes.find(f[0]); at != f.npos) return {CellKind::whole, 1 << at};
    if (const auto at = naturals.find(f[0]); at != f.npos) return {CellKind::natural, 1 << at};
    if (const auto at = reals.find(f[0]); at != f.npos) return {CellKind::real, 2 << at};
  }
  if (f == "u" || f == "z" || f == "U" || f == "Z" || f == "vu" || f == "vz") return {CellKind::string};
  if (f.starts_with("d:")) {
    const auto second = f.find(',', f.find(',') + 1);
    const bool is_128 = second == f.npos || f.substr(second + 1) == "128";
    return is_128 ? Format{CellKind::decimal, 16} : Format{CellKind::other};
  }
  if (f == "tdD") return {CellKind::moment, 4, -86400};
  if (f == "tdm") return {CellKind::moment, 8, 1000};
  if (f.starts_with("ts") && f.size() >= 4) {
    const std::int64_t units[] = {1, 1000, 1000000, 1000000000};
    const auto at = std::string_view("smun").find(f[2]);
    if (at != f.npos) return {CellKind::moment, 8, units[at]};
  }
  return {CellKind::other};
}

}  // namespace

std::string type_of(const ArrowSchema& column) {
  if (column.dictionary) return "category";
  switch (format_of(column.format).kind) {
    case CellKind::none:
      return "none";
    case CellKind::truth:
      return "truth";
    case CellKind::whole:
    case CellKind::natural:
      return "whole";
    case CellKind::real:
    case CellKind::decimal:
      return "real";
    case CellKind::string:
      return "string";
    case CellKind::moment:
      return "moment";
    default:
      return column.format;
  }
}

std::string shown(double x) {
  char text[64];
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  if (x == std::trunc(x) && std::abs(x) < 1e15) {
    const auto end = std::to_chars(text, text + sizeof text, static_cast<std::int64_t>(x)).ptr;
    return {text, end};
  }
  const bool scientific = std::abs(x) < 1e-4 || std::abs(x) >= 1e16;
  const auto form = scientific ? std::chars_format::scientific : std::chars_format::fixed;
  return {text, std::to_chars(text, text + sizeof text, x, form).ptr};
}

CellColumn::CellColumn(const ArrowSchema& schema, const ArrowArray& array) : array_(&array) {
  const std::string_view f = schema.format;
  const Format format = format_of(f);
  kind_ = format.kind, width_ = format.width, unit_ = format.unit;
  std::int64_t buffers = 2;
  switch (kind_) {
    case CellKind::none:
    case CellKind::other:
      buffers = 0;
      break;
    case CellKind::truth:
      layout_ = Layout::bits;
      break;
    case CellKind::string:
      layout_ = f[0] == 'v' ? Layout::views : f == "U" || f == "Z" ? Layout::offsets64 : Layout::offsets32;
      buffers = 3;
      break;
    default:
      layout_ = Layout::fixed;
  }
  if (kind_ == CellKind::decimal) {
    const auto comma = f.find(',') + 1;
    int digits = 0;
    std::from_chars(f.data() + comma, f.data() + f.size(), digits);
    scale_ = std::pow(10.0, digits);
  }
  if (array.n_buffers < buffers || array.length < 0 || array.offset < 0) {
    throw std::invalid_argument("a column of the table is not valid Arrow data");
  }
  if (schema.dictionary) {
    if (!array.dictionary || (kind_ != CellKind::whole && kind_ != CellKind::natural)) {
      throw std::invalid_argument("a column of the table has no dictionary");
    }
    dictionary_ = std::make_unique<CellColumn>(*schema.dictionary, *array.dictionary);
  }
}

bool CellColumn::is_null(std::size_t row) const {
  if (kind_ == CellKind::none) return true;
  if (array_->null_count == 0 || array_->n_buffers < 1 || !array_->buffers[0]) return false;
  return !bit(array_->buffers[0], row + static_cast<std::size_t>(array_->offset));
}

std::int64_t CellColumn::whole(std::size_t at) const {
  const void* data = array_->buffers[1];
  const bool negative = kind_ != CellKind::natural;
  switch (width_) {
    case 1:
      return negative ? read<std::int8_t>(data, at) : static_cast<std::int64_t>(read<std::uint8_t>(data, at));
    case 2:
      return negative ? read<std::int16_t>(data, at) : static_cast<std::int64_t>(read<std::uint16_t>(data, at));
    case 4:
      return negative ? read<std::int32_t>(data, at) : static_cast<std::int64_t>(read<std::uint32_t>(data, at));
    default:
      return read<std::int64_t>(data, at);
  }
}

double CellColumn::real(std::size_t at) const {
  const void* data = array_->buffers[1];
  if (kind_ == CellKind::decimal) {
    const double high = static_cast<double>(read<std::int64_t>(data, 2 * at + 1));
    const double low = static_cast<double>(read<std::uint64_t>(data, 2 * at));
    const auto small = read<std::int64_t>(data, 2 * at);
    const bool fits = read<std::int64_t>(data, 2 * at + 1) == (small < 0 ? -1 : 0);
    return (fits ? static_cast<double>(small) : high * 18446744073709551616.0 + low) / scale_;
  }
  if (width_ == 2) return half(read<std::uint16_t>(data, at));
  return width_ == 4 ? read<float>(data, at) : read<double>(data, at);
}

std::string_view CellColumn::string(std::size_t at) const {
  const void* const* buffers = array_->buffers;
  if (layout_ == Layout::views) {
    const auto* view = static_cast<const char*>(buffers[1]) + 16 * at;
    const auto size = static_cast<std::size_t>(read<std::int32_t>(view, 0));
    if (size <= 12) return {view + 4, size};
    const auto buffer = read<std::int32_t>(view, 2), offset = read<std::int32_t>(view, 3);
    return {static_cast<const char*>(buffers[2 + buffer]) + offset, size};
  }
  const bool large = layout_ == Layout::offsets64;
  const std::int64_t begin = large ? read<std::int64_t>(buffers[1], at) : read<std::int32_t>(buffers[1], at);
  const std::int64_t end = large ? read<std::int64_t>(buffers[1], at + 1) : read<std::int32_t>(buffers[1], at + 1);
  return {static_cast<const char*>(buffers[2]) + begin, static_cast<std::size_t>(end - begin)};
}

Cell CellColumn::at(std::size_t row) const {
  if (is_null(row)) return Nothing{};
  const std::size_t place = row + static_cast<std::size_t>(array_->offset);
  if (dictionary_) return dictionary_->at(static_cast<std::size_t>(whole(place)));
  switch (kind_) {
    case CellKind::truth:
      return bit(array_->buffers[1], place);
    case CellKind::whole:
      return whole(place);
    case CellKind::natural:
      return static_cast<std::uint64_t>(whole(place));
    case CellKind::real:
    case CellKind::decimal:
      return real(place);
    case CellKind::string:
      return string(place);
    case CellKind::moment: {
      const std::int64_t n = width_ == 4 ? read<std::int32_t>(array_->buffers[1], place) : whole(place);
      return Moment{unit_ < 0 ? n * -unit_ : n / unit_ - (n % unit_ < 0)};
    }
    default:
      return Nothing{};
  }
}

RecordBatch::RecordBatch(std::shared_ptr<Imported<ArrowSchema>> schema, ArrowArray& array)
    : schema_(std::move(schema)), array_(array) {
  const ArrowSchema& s = schema_->value;
  const ArrowArray& a = array_.value;
  if (std::string_view(s.format) != "+s" || s.n_children != a.n_children) {
    throw std::invalid_argument("the table is not a batch of columns");
  }
  for (std::int64_t j = 0; j < s.n_children; ++j) {
    if (a.children[j]->length < a.length + a.offset) throw std::invalid_argument("a column of the table is too short");
    columns_.emplace_back(*s.children[j], *a.children[j]);
  }
}

Cell RecordBatch::cell(std::size_t row, std::size_t column) const {
  return columns_[column].at(row + static_cast<std::size_t>(array_.value.offset));
}

std::unique_ptr<TextRows> RecordBatch::encode(const TablePlan& plan, NameTable& names, NameTable& classes,
                                              const Limits& limits, std::size_t begin, std::size_t end) const {
  if (plan.columns.size() != columns_.size()) throw std::invalid_argument("the table has other columns");
  auto lock = names.hold(), class_lock = classes.hold();
  auto rows = std::make_unique<TextRows>(8 * (end - begin) * columns_.size());
  Encoder encoder(plan, names, classes, *rows);
  RowKeeper keeper(*rows, limits);
  char digits[32];
  std::string text;
  const auto use = [&](std::size_t j, const Cell& cell) {
    const Column& column = plan.columns[j];
    const auto number = [&](auto n) {
      if (column.is_numeric()) return encoder.number(j, static_cast<double>(n));
      return encoder.cell(j, {digits, std::to_chars(digits, digits + sizeof digits, n).ptr});
    };
    switch (cell.index()) {
      case 0:
        return encoder.missing(j);
      case 1:
        if (column.is_numeric()) return encoder.number(j, std::get<1>(cell));
        return encoder.cell(j, std::get<1>(cell) ? "True" : "False");
      case 2:
        return number(std::get<2>(cell));
      case 3:
        return number(std::get<3>(cell));
      case 4:
        if (column.is_numeric() || std::isnan(std::get<4>(cell))) {
          return std::isnan(std::get<4>(cell)) ? encoder.missing(j) : encoder.number(j, std::get<4>(cell));
        }
        return encoder.cell(j, text = shown(std::get<4>(cell)));
      case 5:
        return encoder.cell(j, std::get<5>(cell));
      default:
        if (column.role == Column::date) return encoder.moment(j, std::get<6>(cell));
        return encoder.cell(j, text = std::get<6>(cell).shown());
    }
  };
  for (std::size_t row = begin; row < end && rows->bad.size() < limits.patience; ++row) {
    keeper.begin();
    encoder.begin();
    const char* reason = nullptr;
    std::size_t j = 0;
    for (; j < columns_.size() && !reason; ++j) {
      if (plan.columns[j].role != Column::ignored && !use(j, cell(row, j))) reason = encoder.reason;
    }
    if (!reason && !encoder.end()) reason = encoder.reason;
    if (!reason) reason = keeper.end();
    if (reason) {
      rows->bad.push_back({static_cast<std::int64_t>(row) + 1, static_cast<std::int64_t>(j), reason, 0, 0});
      keeper.undo();
    }
    ++rows->lines;
  }
  return rows;
}

RecordStream::RecordStream(ArrowArrayStream& from) : stream_(from) {
  check(stream_.value.get_schema(&stream_.value, &schema_->value));
  if (std::string_view(schema_->value.format) != "+s")
    throw std::invalid_argument("a single column is no table; make one of it, for instance by to_frame()");
}

std::unique_ptr<RecordBatch> RecordStream::next() {
  ArrowArray array{};
  check(stream_.value.get_next(&stream_.value, &array));
  return array.release ? std::make_unique<RecordBatch>(schema_, array) : nullptr;
}

void RecordStream::check(int error) {
  if (!error) return;
  const char* why = stream_.value.get_last_error(&stream_.value);
  throw std::runtime_error(why ? why : "the stream of the table failed");
}

}  // namespace gossamer
