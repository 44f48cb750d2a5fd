// What Python calls to read text.
#include "bind/common.hpp"
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
  nb::class_<TextParser>(m, "TextParser").def("parse", &parse, "text"_a, nb::rv_policy::take_ownership);
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
      .def(nb::init<NameTable&, const Limits&>(), "names"_a, "limits"_a, nb::keep_alive<1, 2>());

  nb::class_<CsvColumn>(m, "CsvColumn")
      .def_static("skipped", [] { return CsvColumn{CsvColumn::skipped, 0, {}}; })
      .def_static("target", [] { return CsvColumn{CsvColumn::target, 0, {}}; })
      .def_static("target_class", [] { return CsvColumn{CsvColumn::target_class, 0, {}}; })
      .def_static("weight", [] { return CsvColumn{CsvColumn::weight, 0, {}}; })
      .def_static(
          "number", [](std::int32_t feature) { return CsvColumn{CsvColumn::number, feature, {}}; }, "feature"_a)
      .def_static(
          "category",
          [](std::int32_t first, nb::bytes prefix) {
            return CsvColumn{CsvColumn::category, first, {prefix.c_str(), prefix.size()}};
          },
          "first"_a, "prefix"_a);
  nb::class_<CsvParser, TextParser>(m, "CsvParser")
      .def(nb::init<std::vector<CsvColumn>, char, NameTable&, NameTable&, const Limits&>(), "columns"_a, "delimiter"_a,
           "names"_a, "classes"_a, "limits"_a, nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>());
}

}  // namespace gossamer
