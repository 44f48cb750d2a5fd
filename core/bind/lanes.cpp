#include "bind/common.hpp"
#include "path/learners_lanes.hpp"

namespace gossamer {

void bind_lanes(nb::module_& m) {
  nb::class_<LaneSettings>(m, "LaneSettings")
      .def(
          "__init__",
          [](LaneSettings* self, Vector<const double> alphas, Vector<const double> paces, std::size_t together) {
            if (alphas.size() == 0 || alphas.size() != paces.size())
              throw std::invalid_argument("Lanes need one strength and one pace each.");
            new (self) LaneSettings{numbers(alphas), numbers(paces), together};
          },
          "alphas"_a, "paces"_a, "together"_a);
  nb::class_<Lanes, Learner>(m, "Lanes")
      .def_rw("scoring", &Lanes::scoring)
      .def_rw("threads", &Lanes::threads)
      .def_prop_ro("lanes", &Lanes::lanes)
      .def_prop_ro("losses", [](const Lanes& lanes) { return copied(lanes.losses()); })
      .def_prop_ro("squares", [](const Lanes& lanes) { return copied(lanes.squares()); })
      .def_prop_ro("intercepts", [](const Lanes& lanes) { return copied(lanes.intercepts()); })
      .def_prop_ro("scored", &Lanes::scored)
      .def_prop_ro("scored_squares", &Lanes::scored_squares)
      .def(
          "read_lane",
          [](const Lanes& lanes, std::size_t lane, Matrix<double> weights, Vector<double> intercept) {
            lanes.read_lane(lane, span_of(weights), span_of(intercept));
          },
          "lane"_a, "weights"_a.noconvert(), "intercept"_a.noconvert(), Free())
      .def(
          "count_nonzeros",
          [](const Lanes& lanes, Vector<std::int64_t> counts) { lanes.count_nonzeros(span_of(counts)); },
          "counts"_a.noconvert(), Free())
      .def(
          "gather",
          [](const Lanes& lanes, Vector<std::int64_t> at, Vector<std::int64_t> index, Vector<double> value) {
            lanes.gather(span_of(at), span_of(index), span_of(value));
          },
          "at"_a.noconvert(), "index"_a.noconvert(), "value"_a.noconvert(), Free())
      .def(
          "alone",
          [](const Lanes& lanes, std::size_t lane) {
            nb::dict state;
            lanes.alone(
                lane,
                [](void* to, const char* name, std::span<double> values, std::vector<double>*) {
                  (*static_cast<nb::dict*>(to))[name] = copied(values);
                },
                &state);
            return state;
          },
          "lane"_a);
  m.def("fobos_lanes", &make_fobos_lanes, "penalty"_a, "setup"_a, "lanes"_a);
  m.def("adagrad_fobos_lanes", &make_adagrad_fobos_lanes, "penalty"_a, "setup"_a, "lanes"_a);
  m.def("rda_lanes", &make_rda_lanes, "rho"_a, "penalty"_a, "setup"_a, "lanes"_a);
  m.def("adagrad_rda_lanes", &make_adagrad_rda_lanes, "penalty"_a, "setup"_a, "lanes"_a);
  m.def("ftrl_lanes", &make_ftrl_lanes, "beta"_a, "penalty"_a, "setup"_a, "lanes"_a);
}

}  // namespace gossamer
