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

  using In = std::span<const double>;
  using Out = std::span<double>;
  using Classes = std::span<const std::int64_t>;
  m.def("loss_value", nb::overload_cast<const ScalarLoss&, In, In, Out>(&loss_value), "loss"_a, "z"_a, "y"_a,
        "out"_a.noconvert(), Free());
  m.def("loss_slope", nb::overload_cast<const ScalarLoss&, In, In, Out>(&loss_slope), "loss"_a, "z"_a, "y"_a,
        "out"_a.noconvert(), Free());
  m.def("loss_link", nb::overload_cast<const ScalarLoss&, In, Out>(&loss_link), "loss"_a, "z"_a, "out"_a.noconvert(),
        Free());
  m.def("loss_value", nb::overload_cast<const MulticlassLoss&, In, Classes, Out>(&loss_value), "loss"_a, "z"_a, "y"_a,
        "out"_a.noconvert(), Free());
  m.def("loss_slope", nb::overload_cast<const MulticlassLoss&, In, Classes, Out>(&loss_slope), "loss"_a, "z"_a, "y"_a,
        "out"_a.noconvert(), Free());
  m.def(
      "loss_link",
      [](const MulticlassLoss& loss, Matrix<const double> z, Out out) { loss_link(loss, span_of(z), z.shape(1), out); },
      "loss"_a, "z"_a, "out"_a.noconvert(), Free());
}

}  // namespace gossamer
