#include "bind/common.hpp"
#include "model/scoring.hpp"

namespace gossamer {

void bind_scorer(nb::module_& m) {
  using Numbers = std::span<const std::int64_t>;
  nb::class_<Scorer>(m, "Scorer")
      .def(nb::init<Numbers, Numbers, std::span<const std::int32_t>, std::span<const double>>(),
           "features"_a.noconvert(), "starts"_a.noconvert(), "output"_a.noconvert(), "value"_a.noconvert(),
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>())
      .def("__call__", &Scorer::score<double>, "starts"_a, "index"_a, "value"_a.noconvert(), "z"_a.noconvert(), Free())
      .def("__call__", &Scorer::score<float>, "starts"_a, "index"_a, "value"_a.noconvert(), "z"_a.noconvert(), Free());
}

}  // namespace gossamer
