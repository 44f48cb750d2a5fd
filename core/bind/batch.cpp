#include "batch/coordinate.hpp"
#include "batch/design.hpp"
#include "bind/common.hpp"
#include "catalogue/summed_loss.hpp"

namespace gossamer {

namespace {

// A NumPy array that shows numbers of `owner`, which must not move while it is in use.
nb::object shown(std::span<const double> values, nb::handle owner) {
  return nb::cast(nb::ndarray<nb::numpy, const double, nb::ndim<1>>(values.data(), {values.size()}, owner),
                  nb::rv_policy::reference);
}

template <class T>
void bind_design(nb::class_<Design>& design) {
  design.def_static(
      "sparse",
      [](Vector<const std::int64_t> starts, Vector<const std::int32_t> index, Vector<const T> value, std::size_t length,
         bool by_rows, unsigned threads) {
        return std::make_unique<Design>(
            SparseLines<T>{starts.size() - 1, length, starts.data(), index.data(), value.data()}, by_rows, threads);
      },
      "starts"_a, "index"_a, "value"_a.noconvert(), "length"_a, "by_rows"_a, "threads"_a, nb::keep_alive<0, 1>(),
      nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>());
  design.def_static(
      "dense",
      [](Matrix<const T> lines, bool by_rows, unsigned threads) {
        return std::make_unique<Design>(DenseLines<T>{lines.shape(0), lines.shape(1), lines.data()}, by_rows, threads);
      },
      "lines"_a.noconvert(), "by_rows"_a, "threads"_a, nb::keep_alive<0, 1>());
}

}  // namespace

void bind_batch(nb::module_& m) {
  nb::class_<Design> design(m, "Design");
  bind_design<float>(design);
  bind_design<double>(design);
  design.def_prop_ro("rows", &Design::rows)
      .def_prop_ro("features", &Design::features)
      .def(
          "margins",
          [](const Design& X, Matrix<const double> W, Matrix<double> Z) {
            X.margins(span_of(W), W.shape(1), span_of(Z));
          },
          "W"_a, "Z"_a.noconvert(), Free())
      .def(
          "gradient",
          [](const Design& X, Matrix<const double> S, Matrix<double> G) {
            X.gradient(span_of(S), S.shape(1), span_of(G));
          },
          "S"_a, "G"_a.noconvert(), Free())
      .def("signed_sums", &Design::signed_sums, "p"_a, "above"_a.noconvert(), "below"_a.noconvert(), Free())
      .def("weighted_squares", &Design::weighted_squares, "h"_a, "out"_a.noconvert(), Free())
      .def("reduced", &Design::reduced, "kept"_a, "count"_a, Free());

  nb::class_<SummedLoss>(m, "MeanLoss")
      .def_prop_ro("has_curvature", &SummedLoss::has_curvature)
      .def_prop_ro("has_majorant", &SummedLoss::has_majorant)
      .def(
          "set_offset", [](SummedLoss& loss, Matrix<const double> offset) { loss.set_offset(offset.data()); },
          "offset"_a, nb::keep_alive<1, 2>())
      .def(
          "value",
          [](const SummedLoss& loss, Matrix<const double> Z, Vector<const double> b) {
            return loss.value(Z.data(), b.data());
          },
          "Z"_a, "b"_a, Free())
      .def(
          "slopes",
          [](const SummedLoss& loss, Matrix<const double> Z, Vector<const double> b, Matrix<double> S) {
            return loss.slopes(Z.data(), b.data(), S.data());
          },
          "Z"_a, "b"_a, "S"_a.noconvert(), Free())
      .def(
          "best_slopes",
          [](const SummedLoss& loss, Matrix<const double> Z, Vector<double> b, Matrix<double> S) {
            const BestIntercept best = loss.best_intercept(Z.data(), b.data());
            std::copy(best.b.begin(), best.b.end(), b.data());
            return loss.slopes(Z.data(), best, S.data());
          },
          "Z"_a, "b"_a.noconvert(), "S"_a.noconvert(), Free())
      .def(
          "curvatures",
          [](const SummedLoss& loss, Matrix<const double> Z, Vector<const double> b, Matrix<double> h, double damping) {
            loss.curvatures(Z.data(), b.data(), h.data(), damping);
          },
          "Z"_a, "b"_a, "h"_a.noconvert(), "damping"_a = 0.0, Free())
      .def(
          "conjugate", [](const SummedLoss& loss, Matrix<const double> S) { return loss.conjugate(S.data()); }, "S"_a,
          Free());
  m.def(
      "mean_loss",
      [](const AnyLoss& loss, std::size_t outputs, Matrix<const double> y, Vector<const double> p, unsigned threads) {
        return make_summed_loss(loss, p.size(), outputs, y.data(), p.data(), threads);
      },
      "loss"_a, "outputs"_a, "y"_a, "p"_a, "threads"_a, nb::keep_alive<0, 3>(), nb::keep_alive<0, 4>());
  m.def(
      "smoothed_loss",
      [](const AnyLoss& loss, double mu, std::size_t outputs, Matrix<const double> y, Vector<const double> p,
         Matrix<const double> offset, unsigned threads) {
        auto smoothed = make_smoothed_loss(loss, mu, p.size(), outputs, y.data(), p.data(), threads);
        if (smoothed) smoothed->set_offset(offset.data());
        return smoothed;
      },
      "loss"_a, "mu"_a, "outputs"_a, "y"_a, "p"_a, "offset"_a, "threads"_a, nb::keep_alive<0, 4>(),
      nb::keep_alive<0, 5>(), nb::keep_alive<0, 6>());

  nb::class_<Standing>(m, "Standing")
      .def_ro("loss", &Standing::loss)
      .def_ro("violation", &Standing::violation)
      .def_ro("epochs", &Standing::epochs)
      .def_ro("products", &Standing::products)
      .def_ro("working", &Standing::working)
      .def_ro("step", &Standing::step)
      .def_ro("growing", &Standing::growing);
  nb::class_<CoordinateSolver>(m, "CoordinateSolver")
      .def("start", &CoordinateSolver::start, "W"_a, "b"_a, "alpha"_a, Free())
      .def("round", &CoordinateSolver::round, "alpha"_a, "share"_a, "max_epochs"_a, Free())
      .def_prop_ro("weights", [](nb::handle self) { return shown(nb::cast<CoordinateSolver&>(self).weights(), self); })
      .def_prop_ro("intercept",
                   [](nb::handle self) { return shown(nb::cast<CoordinateSolver&>(self).intercept(), self); })
      .def_prop_ro("slopes", [](nb::handle self) { return shown(nb::cast<CoordinateSolver&>(self).slopes(), self); })
      .def_prop_ro("gradient",
                   [](nb::handle self) { return shown(nb::cast<CoordinateSolver&>(self).gradient(), self); });
  m.def("block_solver", &make_block_solver, "design"_a, "loss"_a, "penalty"_a, "weights"_a.none(), "members"_a.none(),
        "starts"_a.none(), "fit_intercept"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), Free());
  m.def("coordinate_solver", &make_coordinate_solver, "design"_a, "loss"_a, "penalty"_a, "weights"_a.none(),
        "fit_intercept"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), Free());
}

}  // namespace gossamer
