// What Python calls, but for text (bind_text.cpp); no other file knows Python. Arguments arrive checked by the Python
// side; here they become spans, the GIL is let go, and the core does the work.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "booster.hpp"
#include "chunk.hpp"
#include "coordinate.hpp"
#include "design.hpp"
#include "gradients.hpp"
#include "learners.hpp"
#include "learners_lanes.hpp"
#include "orders.hpp"
#include "scoring.hpp"
#include "sparse_l1_ball.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace gossamer {

void bind_text(nb::module_& m);

namespace {

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Weights = std::optional<Vector<const double>>;
using Indices = std::optional<Vector<const std::int64_t>>;

template <class Array>
auto span_of(const Array& a) {
  return std::span(a.data(), a.size());
}

template <class T>
std::span<const T> span_of(const std::optional<Vector<const T>>& a) {
  return a ? span_of(*a) : std::span<const T>();
}

template <class M>
Blocks blocks_of(const M& w, const Indices& members = {}, const Indices& starts = {}) {
  return {w.shape(0), w.shape(1), span_of(members), span_of(starts)};
}

// Binds the calls that exist for float and for double arrays.
template <class T>
void bind_arrays(nb::module_& m) {
  using In = Matrix<const T>;
  using Out = Matrix<T>;
  using Free = nb::call_guard<nb::gil_scoped_release>;

  m.def("all_finite", [](Vector<const T> v) { return all_finite(span_of(v)); }, "v"_a.noconvert(), Free());
  auto bind_valid_entries = [&m]<class I>(I) {
    m.def(
        "valid_entries",
        [](Vector<const I> index, Vector<const T> value, std::int64_t columns) {
          return index.size() == value.size() && valid_entries(span_of(index), span_of(value), columns);
        },
        "index"_a.noconvert(), "value"_a.noconvert(), "columns"_a, Free());
  };
  bind_valid_entries(std::int32_t{}), bind_valid_entries(std::int64_t{});

  m.def(
      "value",
      [](const Elementwise& p, In w, Weights weights) { return value(p, w.data(), blocks_of(w), span_of(weights)); },
      "penalty"_a, "w"_a.noconvert(), "weights"_a.none(), Free());
  m.def(
      "dual",
      [](const Elementwise& p, In v, Weights weights) { return dual(p, v.data(), blocks_of(v), span_of(weights)); },
      "penalty"_a, "v"_a.noconvert(), "weights"_a.none(), Free());
  m.def(
      "prox",
      [](const Elementwise& p, In v, Out out, double step, Weights weights) {
        prox(p, v.data(), out.data(), blocks_of(v), step, span_of(weights));
      },
      "penalty"_a, "v"_a.noconvert(), "out"_a.noconvert(), "step"_a, "weights"_a.none(), Free());

  m.def(
      "value",
      [](const Blockwise& p, In w, Weights weights, Indices members, Indices starts) {
        return value(p, w.data(), blocks_of(w, members, starts), span_of(weights));
      },
      "penalty"_a, "w"_a.noconvert(), "weights"_a.none(), "members"_a.none(), "starts"_a.none(), Free());
  m.def(
      "dual",
      [](const Blockwise& p, In v, Weights weights, Indices members, Indices starts) {
        return dual(p, v.data(), blocks_of(v, members, starts), span_of(weights));
      },
      "penalty"_a, "v"_a.noconvert(), "weights"_a.none(), "members"_a.none(), "starts"_a.none(), Free());
  m.def(
      "prox",
      [](const Blockwise& p, In v, Out out, double step, Weights weights, Indices members, Indices starts) {
        prox(p, v.data(), out.data(), blocks_of(v, members, starts), step, span_of(weights));
      },
      "penalty"_a, "v"_a.noconvert(), "out"_a.noconvert(), "step"_a, "weights"_a.none(), "members"_a.none(),
      "starts"_a.none(), Free());

  m.def(
      "project", [](const Set& set, In v, Out out) { project(set, v.data(), out.data(), blocks_of(v)); }, "set"_a,
      "v"_a.noconvert(), "out"_a.noconvert(), Free());
  m.def(
      "project_l1_ball_checked",
      [](Vector<const T> v, Vector<T> out, double radius) {
        Scratch scratch;
        return project_l1_ball_checked(span_of(v), span_of(out), radius, scratch);
      },
      "v"_a.noconvert(), "out"_a.noconvert(), "radius"_a, Free());
  m.def(
      "project_weighted_l1_ball",
      [](In v, Out out, double radius, Vector<const double> weights) {
        transform_blocks(v.data(), out.data(), blocks_of(v), [&](std::size_t, auto from, auto to) {
          project_weighted_l1_ball(from, to, radius, span_of(weights));
        });
      },
      "v"_a.noconvert(), "out"_a.noconvert(), "radius"_a, "weights"_a, Free());
  m.def(
      "project_group_l2_ball",
      [](In v, Out out, double radius, Indices members, Indices starts) {
        project_group_l2_ball(v.data(), out.data(), blocks_of(v, members, starts), radius);
      },
      "v"_a.noconvert(), "out"_a.noconvert(), "radius"_a, "members"_a.none(), "starts"_a.none(), Free());
  m.def(
      "project_group_linf_ball",
      [](In v, Out out, double radius, Indices members, Indices starts) {
        project_group_linf_ball(v.data(), out.data(), blocks_of(v, members, starts), radius);
      },
      "v"_a.noconvert(), "out"_a.noconvert(), "radius"_a, "members"_a.none(), "starts"_a.none(), Free());
  m.def(
      "prox_kl",
      [](Vector<const T> v, Vector<T> out, double step, Vector<const double> prior) {
        prox_kl(span_of(v), span_of(out), step, span_of(prior));
      },
      "v"_a.noconvert(), "out"_a.noconvert(), "step"_a, "prior"_a, Free());
}

void bind_penalties(nb::module_& m) {
  nb::class_<L1>(m, "L1").def(nb::init<>());
  nb::class_<L2Squared>(m, "L2Squared").def(nb::init<>());
  nb::class_<Berhu>(m, "Berhu").def(nb::init<double>(), "gamma"_a);
  nb::class_<ElasticNet>(m, "ElasticNet").def(nb::init<double>(), "l1_ratio"_a);
  nb::class_<NonNegativeL1>(m, "NonNegativeL1").def(nb::init<>());
  nb::class_<Box>(m, "Box").def(nb::init<double, double>(), "low"_a, "high"_a);
  nb::class_<L2>(m, "L2").def(nb::init<>());
  nb::class_<LInf>(m, "LInf").def(nb::init<>());
  nb::class_<SparseL2>(m, "SparseL2").def(nb::init<double>(), "l1_ratio"_a);
  nb::class_<Simplex>(m, "Simplex").def(nb::init<double>(), "radius"_a);
  nb::class_<L1Ball>(m, "L1Ball").def(nb::init<double>(), "radius"_a);
  nb::class_<L2Ball>(m, "L2Ball").def(nb::init<double>(), "radius"_a);
}

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
  using Free = nb::call_guard<nb::gil_scoped_release>;
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

void bind_orders(nb::module_& m) {
  nb::class_<Orders>(m, "Orders")
      .def(nb::init<std::uint32_t>(), "seed"_a)
      .def(
          "next", [](Orders& orders, Vector<std::int64_t> out) { orders.next(span_of(out)); }, "out"_a.noconvert(),
          nb::call_guard<nb::gil_scoped_release>());
}

void bind_sparse_l1_ball(nb::module_& m) {
  using Free = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<SparseL1Ball>(m, "SparseL1Ball")
      .def(nb::init<std::size_t, double>(), "n_features"_a, "radius"_a)
      .def_prop_ro("n_features", &SparseL1Ball::size)
      .def_prop_ro("radius", &SparseL1Ball::radius)
      .def_prop_ro("nnz", &SparseL1Ball::nonzeros)
      .def_prop_ro("norm1", &SparseL1Ball::norm1)
      .def(
          "update",
          [](SparseL1Ball& ball, Vector<const std::int64_t> indices, Vector<const double> deltas) {
            ball.update(span_of(indices), span_of(deltas));
          },
          "indices"_a, "deltas"_a, Free())
      .def(
          "read",
          [](const SparseL1Ball& ball, Vector<const std::int64_t> indices, Vector<double> out) {
            for (std::size_t i = 0; i < indices.size(); ++i) {
              out.data()[i] = ball[static_cast<std::size_t>(indices.data()[i])];
            }
          },
          "indices"_a, "out"_a.noconvert(), Free());
}

// Raises unless there is a row of weights for each feature, and the learner has it.
void check_rows(const Learner& learner, const Vector<const std::int32_t>& features, const Matrix<double>& weights) {
  if (weights.shape(0) != features.size() || weights.shape(1) != learner.outputs())
    throw std::invalid_argument("the weights must have a row a feature and a column an output");
  for (const std::int32_t j : span_of(features)) {
    if (j < 0 || static_cast<std::size_t>(j) >= learner.features())
      throw std::invalid_argument("there is no such feature");
  }
}

template <class T>
void learn(Learner& learner, Vector<const std::int64_t> begins, Vector<const std::int64_t> ends,
           Vector<const std::int32_t> index, Vector<const T> value, Matrix<const double> y, Weights weight,
           Vector<const double> step, const LossCall& loss) {
  learner.learn(Examples<T>{begins.size(), begins.data(), ends.data(), index.data(), value.data(), y.data(), y.shape(1),
                            weight ? weight->data() : nullptr, step.data()},
                loss);
}

// A NumPy array that owns a copy of `values`.
nb::object copied(std::span<const double> values) {
  auto* copy = static_cast<double*>(Chunk::take(values.size_bytes()));
  nb::capsule owner(copy, [](void* p) noexcept { Chunk::give(p); });
  std::copy(values.begin(), values.end(), copy);
  return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<1>>(copy, {values.size()}, owner));
}

std::string misfit(const char* name, std::size_t saved, std::size_t needed) {
  return "The saved state does not belong to this learner: '" + std::string(name) + "' holds " + std::to_string(saved) +
         " numbers, and " + std::to_string(needed) + " are needed.";
}

std::vector<double> numbers(const Weights& a) { return {span_of(a).begin(), span_of(a).end()}; }

void bind_whole_learners(nb::module_& m) {
  nb::class_<FeatureGroups>(m, "FeatureGroups")
      .def(
          "__init__",
          [](FeatureGroups* self, Indices members, Indices starts, Weights weights) {
            const auto each = span_of(members), from = span_of(starts);
            new (self) FeatureGroups{{each.begin(), each.end()}, {from.begin(), from.end()}, numbers(weights)};
          },
          "members"_a.none(), "starts"_a.none(), "weights"_a.none())
      .def_static("whole", &FeatureGroups::whole, "features"_a);
  nb::class_<Bounds>(m, "Bounds")
      .def(
          "__init__",
          [](Bounds* self, Vector<const double> low, Vector<const double> high) {
            new (self) Bounds{numbers(low), numbers(high)};
          },
          "low"_a, "high"_a);

  nb::class_<WholeProx>(m, "WholeProx");
  m.def("blockwise_prox", &blockwise_prox, "penalty"_a, "groups"_a, "features"_a, "outputs"_a);
  m.def("set_prox", &set_prox, "set"_a, "features"_a, "outputs"_a);
  m.def(
      "weighted_l1_ball_prox",
      [](double radius, Vector<const double> weights, std::size_t outputs) {
        return weighted_l1_ball_prox(radius, numbers(weights), outputs);
      },
      "radius"_a, "weights"_a, "outputs"_a);
  m.def("group_l2_ball_prox", &group_l2_ball_prox, "radius"_a, "groups"_a, "features"_a, "outputs"_a);
  m.def("group_linf_ball_prox", &group_linf_ball_prox, "radius"_a, "groups"_a, "features"_a, "outputs"_a);
  m.def("kl_prox", [](Vector<const double> prior) { return kl_prox(numbers(prior)); }, "prior"_a);

  m.def("group_fobos", &make_group_fobos, "groups"_a, "setup"_a);
  m.def("group_rda", &make_group_rda, "groups"_a, "setup"_a);
  m.def("l2_ball_fobos", &make_l2_ball_fobos, "radius"_a, "setup"_a);
  m.def("l2_ball_rda", &make_l2_ball_rda, "radius"_a, "setup"_a);
  m.def("pegasos", &make_pegasos, "project"_a, "setup"_a);
  m.def("l1_ball_fobos", &make_l1_ball_fobos, "radius"_a, "setup"_a);
  m.def("simplex_fobos", &make_simplex_fobos, "radius"_a, "setup"_a);
  m.def("bounded_fobos", &make_bounded_fobos, "bounds"_a, "setup"_a);
  m.def("bounded_rda", &make_bounded_rda, "bounds"_a, "setup"_a);
  m.def("bounded_adagrad_fobos", &make_bounded_adagrad_fobos, "bounds"_a, "setup"_a);
  m.def("bounded_adagrad_rda", &make_bounded_adagrad_rda, "bounds"_a, "setup"_a);
  m.def("bounded_ftrl", &make_bounded_ftrl, "beta"_a, "bounds"_a, "setup"_a);
  m.def("eager_fobos", &make_eager_fobos, "prox"_a, "setup"_a);
  m.def("eager_rda", &make_eager_rda, "prox"_a, "setup"_a);
  m.def(
      "kl_rda", [](Vector<const double> prior, const Setup& setup) { return make_kl_rda(numbers(prior), setup); },
      "prior"_a, "setup"_a);
  m.def("exponentiated_gradient", &make_exponentiated_gradient, "radius"_a, "setup"_a);
}

void bind_learners(nb::module_& m) {
  using Free = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<LossCall>(m, "LossCall");
  m.def("loss_call", nb::overload_cast<const ScalarLoss&>(&make_loss_call), "loss"_a);
  m.def("loss_call", nb::overload_cast<const MulticlassLoss&>(&make_loss_call), "loss"_a);

  nb::class_<Learner>(m, "Learner")
      .def_prop_ro("features", &Learner::features)
      .def_prop_ro("outputs", &Learner::outputs)
      .def_prop_ro("rounds", &Learner::rounds)
      .def_prop_ro("weight_seen", &Learner::weight_seen)
      .def_prop_ro("loss_seen", &Learner::loss_seen)
      .def_prop_ro("sound", &Learner::sound)
      .def("learn", &learn<double>, "begins"_a, "ends"_a, "index"_a, "value"_a.noconvert(), "y"_a, "weight"_a.none(),
           "step"_a, "loss"_a, Free())
      .def("learn", &learn<float>, "begins"_a, "ends"_a, "index"_a, "value"_a.noconvert(), "y"_a, "weight"_a.none(),
           "step"_a, "loss"_a, Free())
      .def(
          "read",
          [](const Learner& learner, Matrix<double> weights, Vector<double> intercept) {
            learner.read(span_of(weights), span_of(intercept));
          },
          "weights"_a.noconvert(), "intercept"_a.noconvert(), Free())
      .def(
          "read_average",
          [](const Learner& learner, Matrix<double> weights, Vector<double> intercept) {
            learner.read_average(span_of(weights), span_of(intercept));
          },
          "weights"_a.noconvert(), "intercept"_a.noconvert(), Free())
      .def(
          "read_some",
          [](const Learner& learner, Vector<const std::int32_t> features, Matrix<double> weights,
             Vector<double> intercept) {
            check_rows(learner, features, weights);
            learner.read_some(span_of(features), span_of(weights), span_of(intercept));
          },
          "features"_a.noconvert(), "weights"_a.noconvert(), "intercept"_a.noconvert(), Free())
      .def(
          "read_some_average",
          [](const Learner& learner, Vector<const std::int32_t> features, Matrix<double> weights,
             Vector<double> intercept) {
            check_rows(learner, features, weights);
            learner.read_some_average(span_of(features), span_of(weights), span_of(intercept));
          },
          "features"_a.noconvert(), "weights"_a.noconvert(), "intercept"_a.noconvert(), Free())
      .def("state",
           [](Learner& learner) {
             nb::dict state;
             learner.visit([](void* to, const char* name, std::span<double> values,
                              std::vector<double>*) { (*static_cast<nb::dict*>(to))[name] = copied(values); },
                           &state);
             return state;
           })
      .def(
          "restore",
          [](Learner& learner, nb::dict state) {
            learner.visit(
                [](void* from, const char* name, std::span<double> values, std::vector<double>* grows) {
                  auto saved = nb::cast<Vector<const double>>((*static_cast<nb::dict*>(from))[name]);
                  if (grows) return grows->assign(saved.data(), saved.data() + saved.size());
                  if (saved.size() != values.size())
                    throw std::invalid_argument(misfit(name, saved.size(), values.size()));
                  std::copy_n(saved.data(), saved.size(), values.data());
                },
                &state);
          },
          "state"_a);

  nb::class_<Setup>(m, "Setup")
      .def(
          "__init__",
          [](Setup* self, std::size_t features, std::size_t outputs, double alpha, Weights weights, bool fit_intercept,
             bool average) {
            const auto a = span_of(weights);
            new (self) Setup{features, outputs, alpha, {a.begin(), a.end()}, fit_intercept, average};
          },
          "features"_a, "outputs"_a, "alpha"_a, "weights"_a.none(), "fit_intercept"_a, "average"_a = false);
  m.def("fobos", &make_fobos, "penalty"_a, "setup"_a);
  m.def("truncated_gradient", &make_truncated_gradient, "period"_a, "threshold"_a, "setup"_a);
  m.def("subgradient", &make_subgradient, "penalty"_a, "setup"_a);
  m.def("adagrad_fobos", &make_adagrad_fobos, "penalty"_a, "setup"_a);
  m.def("rda", &make_rda, "rho"_a, "penalty"_a, "setup"_a);
  m.def("adagrad_rda", &make_adagrad_rda, "penalty"_a, "setup"_a);
  m.def("ftrl", &make_ftrl, "beta"_a, "penalty"_a, "setup"_a);
}

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

template <class L>
void bind_mean_loss(nb::module_& m) {
  m.def(
      "mean_loss",
      [](const L& loss, std::size_t outputs, Matrix<const double> y, Vector<const double> p, unsigned threads) {
        return make_mean_loss(loss, p.size(), outputs, y.data(), p.data(), threads);
      },
      "loss"_a, "outputs"_a, "y"_a, "p"_a, "threads"_a, nb::keep_alive<0, 3>(), nb::keep_alive<0, 4>());
}

void bind_batch(nb::module_& m) {
  using Free = nb::call_guard<nb::gil_scoped_release>;
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
      .def(
          "signed_sums",
          [](const Design& X, Vector<const double> p, Vector<double> above, Vector<double> below) {
            X.signed_sums(span_of(p), span_of(above), span_of(below));
          },
          "p"_a, "above"_a.noconvert(), "below"_a.noconvert(), Free())
      .def(
          "weighted_squares",
          [](const Design& X, Vector<const double> h, Vector<double> out) {
            X.weighted_squares(span_of(h), span_of(out));
          },
          "h"_a, "out"_a.noconvert(), Free())
      .def(
          "reduced",
          [](const Design& X, Vector<const std::int32_t> kept, std::size_t count) {
            return X.reduced(span_of(kept), count);
          },
          "kept"_a, "count"_a, Free());

  nb::class_<MeanLoss>(m, "MeanLoss")
      .def_prop_ro("has_curvature", &MeanLoss::has_curvature)
      .def(
          "value",
          [](const MeanLoss& loss, Matrix<const double> Z, Vector<const double> b) {
            return loss.value(Z.data(), b.data());
          },
          "Z"_a, "b"_a, Free())
      .def(
          "slopes",
          [](const MeanLoss& loss, Matrix<const double> Z, Vector<const double> b, Matrix<double> S) {
            return loss.slopes(Z.data(), b.data(), S.data());
          },
          "Z"_a, "b"_a, "S"_a.noconvert(), Free())
      .def(
          "best_slopes",
          [](const MeanLoss& loss, Matrix<const double> Z, Vector<double> b, Matrix<double> S) {
            const BestIntercept best = loss.best_intercept(Z.data(), b.data());
            std::copy(best.b.begin(), best.b.end(), b.data());
            return loss.slopes(Z.data(), best, S.data());
          },
          "Z"_a, "b"_a.noconvert(), "S"_a.noconvert(), Free())
      .def(
          "curvatures",
          [](const MeanLoss& loss, Matrix<const double> Z, Vector<const double> b, Matrix<double> h) {
            loss.curvatures(Z.data(), b.data(), h.data());
          },
          "Z"_a, "b"_a, "h"_a.noconvert(), Free())
      .def(
          "conjugate", [](const MeanLoss& loss, Matrix<const double> S) { return loss.conjugate(S.data()); }, "S"_a,
          Free());
  bind_mean_loss<ScalarLoss>(m);
  bind_mean_loss<MulticlassLoss>(m);

  nb::class_<Standing>(m, "Standing")
      .def_ro("loss", &Standing::loss)
      .def_ro("violation", &Standing::violation)
      .def_ro("epochs", &Standing::epochs)
      .def_ro("working", &Standing::working)
      .def_ro("step", &Standing::step)
      .def_ro("growing", &Standing::growing);
  nb::class_<CoordinateSolver>(m, "CoordinateSolver")
      .def(
          "start",
          [](CoordinateSolver& solver, Matrix<const double> W, Vector<const double> b, double alpha) {
            return solver.start(span_of(W), span_of(b), alpha);
          },
          "W"_a, "b"_a, "alpha"_a, Free())
      .def("round", &CoordinateSolver::round, "alpha"_a, "share"_a, "max_epochs"_a, Free())
      .def_prop_ro("weights", [](nb::handle self) { return shown(nb::cast<CoordinateSolver&>(self).weights(), self); })
      .def_prop_ro("intercept",
                   [](nb::handle self) { return shown(nb::cast<CoordinateSolver&>(self).intercept(), self); })
      .def_prop_ro("slopes", [](nb::handle self) { return shown(nb::cast<CoordinateSolver&>(self).slopes(), self); })
      .def_prop_ro("gradient",
                   [](nb::handle self) { return shown(nb::cast<CoordinateSolver&>(self).gradient(), self); });
  m.def(
      "block_solver",
      [](const Design& design, const MeanLoss& loss, const BlockwiseOrElementwise& penalty, Weights weights,
         Indices members, Indices starts, bool fit_intercept) {
        return make_block_solver(design, loss, penalty, span_of(weights), span_of(members), span_of(starts),
                                 fit_intercept);
      },
      "design"_a, "loss"_a, "penalty"_a, "weights"_a.none(), "members"_a.none(), "starts"_a.none(), "fit_intercept"_a,
      nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), Free());
  m.def(
      "coordinate_solver",
      [](const Design& design, const MeanLoss& loss, const CoordinatePenalty& penalty, Weights weights,
         bool fit_intercept) { return make_coordinate_solver(design, loss, penalty, span_of(weights), fit_intercept); },
      "design"_a, "loss"_a, "penalty"_a, "weights"_a.none(), "fit_intercept"_a, nb::keep_alive<0, 1>(),
      nb::keep_alive<0, 2>(), Free());
}

void bind_lanes(nb::module_& m) {
  using Free = nb::call_guard<nb::gil_scoped_release>;
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

// Columns with the arrays that they are views of.
struct HeldColumns {
  Columns view;
  nb::object start, row, value;
};

template <class T>
HeldColumns sparse_columns(std::size_t rows, Vector<const std::int64_t> start, Vector<const std::int32_t> row,
                           Vector<const T> value) {
  static const std::int32_t none = 0;  // a matrix without entries is sparse too
  return {ColumnsOf<T>{rows, start.size() - 1, start.data(), row.size() ? row.data() : &none, value.data()},
          nb::cast(start), nb::cast(row), nb::cast(value)};
}

// A dense matrix, given as its transpose.
template <class T>
HeldColumns dense_columns(Matrix<const T> columns) {
  return {
      ColumnsOf<T>{columns.shape(1), columns.shape(0), nullptr, nullptr, columns.data()}, {}, {}, nb::cast(columns)};
}

void bind_boosting(nb::module_& m) {
  using Free = nb::call_guard<nb::gil_scoped_release>;
  using In = Vector<const double>;
  using Out = Vector<double>;
  nb::class_<SmoothL1>(m, "SmoothL1").def(nb::init<>());
  nb::class_<Ada>(m, "Ada").def(nb::init<double>(), "room"_a);
  nb::class_<Grad>(m, "Grad").def(nb::init<double>(), "smoothness"_a);

  nb::class_<Rule>(m, "Rule")
      .def("scale", &Rule::scale, "largest"_a, "squares"_a)
      .def(
          "minimise",
          [](const Rule& rule, In up, In down, double a, double lambda, In w, Out next) {
            RuleScratch scratch;
            rule.minimise({span_of(up), span_of(down)}, a, lambda, span_of(w), span_of(next), scratch);
          },
          "up"_a, "down"_a, "a"_a, "strength"_a, "w"_a, "next"_a.noconvert())
      .def(
          "gain",
          [](const Rule& rule, In up, In down, double a, double lambda, In w, In next) {
            return rule.gain({span_of(up), span_of(down)}, a, lambda, span_of(w), span_of(next));
          },
          "up"_a, "down"_a, "a"_a, "strength"_a, "w"_a, "next"_a);
  m.def("rule", &make_rule, "bound"_a, "penalty"_a);
  nb::class_<WholeRule>(m, "WholeRule")
      .def(
          "minimise",
          [](const WholeRule& rule, In up, In down, In a, double lambda, In w, Out next) {
            rule.minimise({span_of(up), span_of(down)}, span_of(a), lambda, span_of(w), span_of(next));
          },
          "up"_a, "down"_a, "a"_a, "strength"_a, "w"_a, "next"_a.noconvert());
  m.def("whole_rule", &make_whole_rule, "bound"_a, "penalty"_a);

  nb::class_<HeldColumns>(m, "Columns");
  m.def("columns", &sparse_columns<double>, "rows"_a, "start"_a, "row"_a, "value"_a.noconvert());
  m.def("columns", &sparse_columns<float>, "rows"_a, "start"_a, "row"_a, "value"_a.noconvert());
  m.def("columns", &dense_columns<double>, "transposed"_a.noconvert());
  m.def("columns", &dense_columns<float>, "transposed"_a.noconvert());

  using Held = const HeldColumns&;
  nb::class_<Booster>(m, "Booster")
      .def_prop_ro("used", &Booster::used)
      .def("loss", &Booster::loss, Free())
      .def("penalty", &Booster::penalty, Free())
      .def(
          "scales", [](const Booster& b, Held x, Out out) { b.scales(x.view, span_of(out)); }, "columns"_a,
          "out"_a.noconvert(), Free())
      .def(
          "score",
          [](const Booster& b, Held x, Weights scales, Weights weights, Weights factor, double slack, unsigned threads,
             Out scores) {
            b.score(x.view, span_of(scales), span_of(weights), span_of(factor), slack, threads, span_of(scores));
          },
          "columns"_a, "scales"_a.none(), "weights"_a.none(), "factor"_a.none(), "slack"_a, "threads"_a,
          "scores"_a.noconvert(), Free())
      .def(
          "score_stumps",
          [](const Booster& b, Matrix<const std::int32_t> code, Vector<const std::int64_t> start, double slack,
             unsigned threads, Out scores) {
            b.score(Stumps{code.shape(1), code.shape(0), span_of(code), span_of(start)}, slack, threads,
                    span_of(scores));
          },
          "code"_a, "start"_a, "slack"_a, "threads"_a, "scores"_a.noconvert(), Free())
      .def(
          "add",
          [](Booster& b, Held x, Vector<const std::int64_t> which, Weights weights) {
            b.add(x.view, span_of(which), span_of(weights), true);
          },
          "columns"_a, "which"_a, "weights"_a.none())
      .def(
          "adopt",
          [](Booster& b, Held x, Vector<const std::int64_t> which, Weights weights) {
            b.add(x.view, span_of(which), span_of(weights), false);
          },
          "columns"_a, "which"_a, "weights"_a.none(), nb::keep_alive<1, 2>())
      .def(
          "update",
          [](Booster& b, Vector<const std::int64_t> which, double idle) { return b.update(span_of(which), idle); },
          "which"_a, "idle"_a, Free())
      .def("update_together", &Booster::update_together, "threads"_a, Free())
      .def(
          "gains",
          [](const Booster& b, double slack, unsigned threads, Out out) { b.gains(slack, threads, span_of(out)); },
          "slack"_a, "threads"_a, "out"_a.noconvert(), Free())
      .def("prune", &Booster::prune)
      .def("update_intercept", &Booster::update_intercept, Free())
      .def(
          "set_intercept", [](Booster& b, In to) { b.set_intercept(span_of(to)); }, "b"_a, Free())
      .def(
          "set", [](Booster& b, In weights, In to) { b.set(span_of(weights), span_of(to)); }, "weights"_a, "b"_a,
          Free())
      .def("use_model", &Booster::use_model, "on"_a, Free())
      .def("weights", [](const Booster& b) { return copied(b.weights()); })
      .def("intercept", [](const Booster& b) { return copied(b.intercept()); })
      .def("margins", [](const Booster& b) { return copied(b.margins()); });
  m.def(
      "booster",
      [](const BoostingLoss& loss, std::size_t rows, std::size_t outputs, In y, Weights weights, double lambda,
         const Bound& bound, const RuleForm& penalty, std::optional<std::variant<L2, LInf>> whole) {
        return make_booster(loss, {rows, outputs, numbers(y), numbers(weights), lambda}, make_rule(bound, penalty),
                            make_rule(Grad{1.0}, penalty), whole ? make_whole_rule(bound, *whole) : nullptr);
      },
      "loss"_a, "rows"_a, "outputs"_a, "y"_a, "weights"_a.none(), "strength"_a, "bound"_a, "penalty"_a,
      "whole"_a.none());
}

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

void bind_scorer(nb::module_& m) {
  using Free = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<Scorer>(m, "Scorer")
      .def(nb::init<Vector<const std::int64_t>, Vector<const std::int64_t>, Vector<const std::int32_t>,
                    Vector<const double>>(),
           "features"_a, "starts"_a, "output"_a, "value"_a)
      .def("__call__", &Scorer::operator()<double>, "starts"_a, "index"_a, "value"_a.noconvert(), "z"_a.noconvert(),
           Free())
      .def("__call__", &Scorer::operator()<float>, "starts"_a, "index"_a, "value"_a.noconvert(), "z"_a.noconvert(),
           Free());
}

}  // namespace
}  // namespace gossamer

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of gossamer; the public names are in the modules around it.";
  gossamer::bind_losses(m);
  gossamer::bind_penalties(m);
  gossamer::bind_arrays<float>(m);
  gossamer::bind_arrays<double>(m);
  gossamer::bind_orders(m);
  gossamer::bind_sparse_l1_ball(m);
  gossamer::bind_learners(m);
  gossamer::bind_whole_learners(m);
  gossamer::bind_batch(m);
  gossamer::bind_lanes(m);
  gossamer::bind_boosting(m);
  gossamer::bind_scorer(m);
  gossamer::bind_text(m);
}
