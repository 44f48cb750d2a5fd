#include "catalogue/losses.hpp"

#include "bind/common.hpp"
#include "catalogue/arrays.hpp"

namespace gossamer {

void bind_losses(nb::module_& m) {
  Joined<ScalarLosses, MulticlassLosses>::each([&]<class L> {
    auto bound = bind_part<L>(m);
    bound.attr("link") = link_names[static_cast<std::size_t>(L::facts.link)];
    bound.attr("of_residual") = L::facts.of_residual;
  });

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
