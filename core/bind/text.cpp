// What Python calls to read text.
#include "bind/common.hpp"
#include "text/arrow.hpp"
#include "text/csv.hpp"
#include "text/name_table.hpp"
#include "text/reader.hpp"
#include "text/svmlight.hpp"
#include "text/vw.hpp"

namespace gossamer {
namespace {

// A NumPy array that owns a vector.
template <class T>
nb::object moved(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

// The parsed rows as NumPy arrays, which take over their memory: it works only once.
nb::dict arrays_of(TextRows& rows) {
  if (rows.starts.empty()) throw std::invalid_argument("the arrays of these rows were taken before");
  nb::list bad;
  for (const BadLine& b : rows.bad) bad.append(nb::make_tuple(b.line, b.column, b.reason, b.begin, b.end));
  nb::dict d;
  d["index"] = owned(rows.index.release(), rows.entries);
  d["value"] = owned(rows.value.release(), rows.entries);
  d["starts"] = moved(std::move(rows.starts));
  d["label"] = moved(std::move(rows.label));
  d["weight"] = rows.weight.empty() ? nb::none() : moved(std::move(rows.weight));
  d["offset"] = rows.offset.empty() ? nb::none() : moved(std::move(rows.offset));
  d["tags"] = moved(std::move(rows.tags));
  d["width"] = rows.width;
  d["lines"] = rows.lines;
  d["bad"] = bad;
  return d;
}

nb::bytes as_bytes(const std::string& s) { return nb::bytes(s.data(), s.size()); }

std::int32_t checked(const NameTable& names, std::int32_t number) {
  if (number < 0 || number >= names.size()) throw nb::index_error("there is no name with this number");
  return number;
}

TextRows* parse(TextParser& parser, nb::bytes text) {
  const std::string_view view(text.c_str(), text.size());
  if (!view.empty() && view.back() != '\n') throw std::invalid_argument("the text does not end with a line end");
  std::unique_ptr<TextRows> rows;
  {
    nb::gil_scoped_release free;
    rows = parser.parse(view);
  }
  return rows.release();
}

// In a forked process a reader is left as it is: its locks may be locked, and nobody will unlock them.
struct OwnReader {
  std::unique_ptr<Reader> reader;

  ~OwnReader() {
    if (!reader->ours()) static_cast<void>(reader.release());
  }
};

Piece* next_piece(OwnReader& own) {
  Reader& reader = *own.reader;
  std::unique_ptr<Piece> piece;
  for (bool came = false; !came;) {
    {
      nb::gil_scoped_release free;
      came = reader.next(piece);
    }
    if (signals_raise()) throw nb::python_error();
  }
  if (!piece) throw nb::stop_iteration();
  return piece.release();
}

std::string string_of(nb::bytes b) { return {b.c_str(), b.size()}; }

// A column of a plan, from the words of Python.
void add_column(TablePlan& plan, const std::string& role, nb::bytes name, std::int32_t feature, std::int32_t indicator,
                double mean, int form, std::int64_t first_day, bool timed) {
  constexpr std::string_view roles[] = {"ignore", "target",   "class", "weight", "offset",
                                        "number", "category", "text",  "date"};
  const auto found = std::find(std::begin(roles), std::end(roles), role);
  if (found == std::end(roles)) throw std::invalid_argument("there is no role " + role);
  if (form < 0 || form >= date_forms) throw std::invalid_argument("there is no such form of dates");
  Column column{.role = static_cast<Column::Role>(found - std::begin(roles)),
                .name = string_of(name),
                .feature = feature,
                .indicator = indicator,
                .mean = mean,
                .form = static_cast<DateForm>(form),
                .first_day = first_day,
                .timed = timed};
  plan.add(std::move(column));
}

void cross_columns(TablePlan& plan, std::size_t a, std::size_t b) {
  if (std::max(a, b) >= plan.columns.size()) throw nb::index_error("there is no such column");
  plan.crossed.push_back({a, b});
}

nb::object object_of(const Cell& cell) {
  struct Maker {
    nb::object operator()(Nothing) const { return nb::none(); }
    nb::object operator()(bool x) const { return nb::bool_(x); }
    nb::object operator()(std::int64_t x) const { return nb::int_(x); }
    nb::object operator()(std::uint64_t x) const { return nb::int_(x); }
    nb::object operator()(double x) const { return nb::float_(x); }
    nb::object operator()(std::string_view x) const {
      return nb::steal(PyUnicode_DecodeUTF8(x.data(), static_cast<Py_ssize_t>(x.size()), "replace"));
    }
    nb::object operator()(Moment x) const { return nb::cast(x.shown()); }
  };
  return std::visit(Maker(), cell);
}

template <class T>
T& pointed(nb::capsule capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule.ptr(), name)) throw nb::type_error("an Arrow capsule is needed");
  auto* value = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (!value->release) throw std::invalid_argument("the Arrow data was taken before");
  return *value;
}

nb::list fields_of(const ArrowSchema& schema) {
  nb::list fields;
  for (std::int64_t j = 0; j < schema.n_children; ++j) {
    const ArrowSchema& child = *schema.children[j];
    fields.append(nb::make_tuple(child.name ? child.name : "", type_of(child)));
  }
  return fields;
}

void bind_tables(nb::module_& m) {
  nb::class_<TablePlan>(m, "TablePlan")
      .def(
          "__init__",
          [](TablePlan* self, nb::list missing, bool fills, std::int32_t first, int ngrams) {
            std::vector<std::string> words;
            for (nb::handle word : missing) words.push_back(string_of(nb::cast<nb::bytes>(word)));
            new (self) TablePlan{MissingWords(std::move(words)), fills, first, ngrams};
          },
          "missing"_a, "fills"_a, "first"_a, "ngrams"_a)
      .def("add", &add_column, "role"_a, "name"_a = nb::bytes("", 0), "feature"_a = 0, "indicator"_a = -1,
           "mean"_a = 0.0, "form"_a = 0, "first_day"_a = 0, "timed"_a = false)
      .def("cross", &cross_columns, "a"_a, "b"_a);
  nb::class_<CsvParser, TextParser>(m, "CsvParser")
      .def(nb::init<TablePlan, char, NameTable&, NameTable&, const Limits&>(), "plan"_a, "delimiter"_a, "names"_a,
           "classes"_a, "limits"_a, nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>());
  nb::class_<RecordBatch>(m, "RecordBatch")
      .def(
          "__init__",
          [](RecordBatch* self, nb::capsule schema, nb::capsule array) {
            auto& s = pointed<ArrowSchema>(schema, "arrow_schema");
            auto& a = pointed<ArrowArray>(array, "arrow_array");
            new (self) RecordBatch(std::make_shared<Imported<ArrowSchema>>(s), a);
          },
          "schema"_a, "array"_a)
      .def("__len__", &RecordBatch::rows)
      .def_prop_ro("fields", [](const RecordBatch& batch) { return fields_of(batch.schema()); })
      .def(
          "cells",
          [](const RecordBatch& batch, std::size_t row) {
            if (row >= batch.rows()) throw nb::index_error("there is no such row");
            nb::list cells;
            for (std::size_t j = 0; j < batch.columns(); ++j) cells.append(object_of(batch.cell(row, j)));
            return cells;
          },
          "row"_a)
      .def(
          "encode",
          [](const RecordBatch& batch, const TablePlan& plan, NameTable& names, NameTable& classes,
             const Limits& limits, std::size_t begin, std::size_t end) {
            if (begin > end || end > batch.rows()) throw nb::index_error("there are no such rows");
            nb::gil_scoped_release free;
            return batch.encode(plan, names, classes, limits, begin, end);
          },
          "plan"_a, "names"_a, "classes"_a, "limits"_a, "begin"_a, "end"_a);
  nb::class_<RecordStream>(m, "RecordStream")
      .def(
          "__init__",
          [](RecordStream* self, nb::capsule stream) {
            new (self) RecordStream(pointed<ArrowArrayStream>(stream, "arrow_array_stream"));
          },
          "stream"_a)
      .def_prop_ro("fields", [](const RecordStream& stream) { return fields_of(stream.schema()); })
      .def("next", [](RecordStream& stream) {
        nb::gil_scoped_release free;
        return stream.next();
      });
  m.def(
      "read_date",
      [](nb::bytes cell, int form) -> std::optional<std::int64_t> {
        Moment when;
        const bool known = form >= 0 && form < date_forms;
        if (!known || !read_date({cell.c_str(), cell.size()}, static_cast<DateForm>(form), when)) return {};
        return when.seconds;
      },
      "cell"_a, "form"_a);
}

}  // namespace

void bind_text(nb::module_& m) {
  nb::class_<Limits>(m, "Limits")
      .def(nb::init<std::size_t, bool, std::int32_t>(), "patience"_a, "need_label"_a, "features"_a);
  // It needs no NumPy, so that text is parsed while Python is still importing.
  nb::class_<TextRows>(m, "TextRows")
      .def("__len__", &TextRows::rows)
      .def_ro("lines", &TextRows::lines)
      .def_prop_ro("points", [](const TextRows& rows) { return !rows.bad.empty() || !rows.tags.empty(); })
      .def("arrays", &arrays_of);
  nb::class_<TextParser>(m, "TextParser")
      .def("parse", &parse, "text"_a, nb::rv_policy::take_ownership)
      .def(
          "cut", [](const TextParser& parser, nb::bytes text) { return parser.cut({text.c_str(), text.size()}, 0); },
          "text"_a);
  nb::class_<Piece>(m, "Piece")
      .def_prop_ro(
          "rows", [](Piece& piece) { return piece.rows.get(); }, nb::rv_policy::reference_internal)
      .def_prop_ro("text", [](const Piece& piece) { return nb::bytes(piece.text.data.get(), piece.text.size); })
      .def_ro("length", &Piece::length)
      .def_ro("unended", &Piece::unended);
  nb::class_<OwnReader>(m, "Reader")
      .def(
          "__init__",
          [](OwnReader* self, TextParser& parser, int descriptor, nb::bytes head, std::size_t first, std::size_t block,
             std::size_t longest, std::size_t ahead, bool helps) {
            const Reader::Sizes sizes{first, block, longest, ahead};
            new (self) OwnReader{std::make_unique<Reader>(parser, descriptor,
                                                          std::string_view(head.c_str(), head.size()), sizes, helps)};
          },
          "parser"_a, "descriptor"_a, "head"_a, "first"_a, "block"_a, "longest"_a, "ahead"_a, "helps"_a,
          nb::keep_alive<1, 2>())
      .def("__iter__", [](nb::handle self) { return self; })
      .def("__next__", &next_piece, nb::rv_policy::take_ownership)
      .def_prop_ro("done", [](OwnReader& own) { return own.reader->ours() && own.reader->done(); })
      .def(
          "close",
          [](OwnReader& own) {
            if (own.reader->ours()) own.reader->close();
          },
          Free());
  nb::class_<SvmlightParser, TextParser>(m, "SvmlightParser")
      .def(nb::init<int, const Limits&>(), "base"_a, "limits"_a)
      .def_prop_ro("base", &SvmlightParser::base);

  nb::class_<NameTable>(m, "NameTable")
      .def(nb::init<int, std::int32_t, bool>(), "bits"_a, "most"_a, "keep"_a = true)
      .def_prop_ro("bits", &NameTable::bits)
      .def("__len__", &NameTable::size)
      .def(
          "number", [](NameTable& names, nb::bytes name) { return names.number_of({name.c_str(), name.size()}); },
          "name"_a)
      .def(
          "name", [](NameTable& names, std::int32_t j) { return as_bytes(names.name(checked(names, j))); }, "number"_a)
      .def(
          "other", [](NameTable& names, std::int32_t j) { return as_bytes(names.other(j)); }, "number"_a)
      .def_prop_ro("collisions", &NameTable::collisions)
      .def("state", [](NameTable& names) { return moved(names.state()); })
      .def(
          "restore",
          [](NameTable& names, Vector<const std::uint8_t> bytes) {
            names.restore({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
          },
          "state"_a);

  nb::class_<VwParser, TextParser>(m, "VwParser")
      .def(nb::init<NameTable&, const Limits&, std::vector<std::pair<std::string, std::string>>>(), "names"_a,
           "limits"_a, "crossed"_a = nb::list(), nb::keep_alive<1, 2>());

  bind_tables(m);
}

}  // namespace gossamer
