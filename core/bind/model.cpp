#include "bind/common.hpp"
#include "model/scoring.hpp"

namespace gossamer {

namespace {

// A scorer holds the arrays of a model, checked by the Python side, and a table of where its features are.
struct Scorer {
  Vector<const std::int64_t> features, starts;
  Vector<const std::int32_t> output;
  Vector<const double> value;
  Places places;

  Scorer(Vector<const std::int64_t> f, Vector<const std::int64_t> s, Vector<const std::int32_t> o,
         Vector<const double> v)
      : features(f), starts(s), output(o), value(v), places(span_of(features)) {}

  template <class T>
  void operator()(Vector<const std::int64_t> rows, Vector<const std::int32_t> index, Vector<const T> x,
                  Matrix<double> z) const {
    score(SparseWeights{span_of(features), span_of(starts), span_of(output), span_of(value)}, places, span_of(rows),
          index.data(), x.data(), z.shape(1), z.data());
  }
};

}  // namespace

void bind_scorer(nb::module_& m) {
  nb::class_<Scorer>(m, "Scorer")
      .def(nb::init<Vector<const std::int64_t>, Vector<const std::int64_t>, Vector<const std::int32_t>,
                    Vector<const double>>(),
           "features"_a, "starts"_a, "output"_a, "value"_a)
      .def("__call__", &Scorer::operator()<double>, "starts"_a, "index"_a, "value"_a.noconvert(), "z"_a.noconvert(),
           Free())
      .def("__call__", &Scorer::operator()<float>, "starts"_a, "index"_a, "value"_a.noconvert(), "z"_a.noconvert(),
           Free());
}

}  // namespace gossamer
