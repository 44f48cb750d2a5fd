#include "catalogue/losses.hpp"

#include "bind/common.hpp"
#include "catalogue/arrays.hpp"

namespace gossamer {

void bind_losses(nb::module_& m) {
  nb::class_<Logistic>(m, "Logistic").def(nb::init<>());
  nb::class_<Hinge>(m, "Hinge").def(nb::init<>());
  nb::class_<SquaredHinge>(m, "SquaredHinge").def(nb::init<>());
  nb::class_<Exponential>(m, "Exponential").def(nb::init<>());
  nb::class_<Squared>(m, "Squared").def(nb::init<>());
  nb::class_<EpsilonInsensitive>(m, "EpsilonInsensitive").def(nb::init<double>(), "epsilon"_a);
  nb::class_<LogEpsilonInsensitive>(m, "LogEpsilonInsensitive").def(nb::init<double>(), "epsilon"_a);
  nb::class_<Huber>(m, "Huber").def(nb::init<double>(), "delta"_a);
  nb::class_<Quantile>(m, "Quantile").def(nb::init<double>(), "q"_a);
  nb::class_<Poisson>(m, "Poisson").def(nb::init<>());
  nb::class_<Compiled>(m, "Compiled")
      .def(
          "__init__",
          [](Compiled* self, std::uintptr_t value, std::uintptr_t slope) {
            new (self) Compiled{reinterpret_cast<double (*)(double, double)>(value),
                                reinterpret_cast<double (*)(double, double)>(slope)};
          },
          "value"_a, "slope"_a);
  nb::class_<Multinomial>(m, "Multinomial").def(nb::init<>());
  nb::class_<MulticlassHinge>(m, "MulticlassHinge").def(nb::init<>());

  using In = Vector<const double>;
  using Out = Vector<double>;
  m.def(
      "loss_value",
      [](const ScalarLoss& loss, In z, In y, Out out) { loss_value(loss, span_of(z), span_of(y), span_of(out)); },
      "loss"_a, "z"_a, "y"_a, "out"_a.noconvert(), Free());
  m.def(
      "loss_slope",
      [](const ScalarLoss& loss, In z, In y, Out out) { loss_slope(loss, span_of(z), span_of(y), span_of(out)); },
      "loss"_a, "z"_a, "y"_a, "out"_a.noconvert(), Free());
  m.def(
      "loss_link", [](const ScalarLoss& loss, In z, Out out) { loss_link(loss, span_of(z), span_of(out)); }, "loss"_a,
      "z"_a, "out"_a.noconvert(), Free());

  using InRows = Matrix<const double>;
  using OutRows = Matrix<double>;
  using Classes = Vector<const std::int64_t>;
  m.def(
      "loss_value",
      [](const MulticlassLoss& loss, InRows z, Classes y, Out out) {
        loss_value(loss, span_of(z), span_of(y), span_of(out));
      },
      "loss"_a, "z"_a, "y"_a, "out"_a.noconvert(), Free());
  m.def(
      "loss_slope",
      [](const MulticlassLoss& loss, InRows z, Classes y, OutRows out) {
        loss_slope(loss, span_of(z), span_of(y), span_of(out));
      },
      "loss"_a, "z"_a, "y"_a, "out"_a.noconvert(), Free());
  m.def(
      "loss_link",
      [](const MulticlassLoss& loss, InRows z, OutRows out) { loss_link(loss, span_of(z), z.shape(1), span_of(out)); },
      "loss"_a, "z"_a, "out"_a.noconvert(), Free());
}

}  // namespace gossamer
