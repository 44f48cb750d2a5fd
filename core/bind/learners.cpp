#include "online/learners.hpp"

#include "base/orders.hpp"
#include "bind/common.hpp"

namespace gossamer {

namespace {

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

std::string misfit(const char* name, std::size_t saved, std::size_t needed) {
  return "The saved state does not belong to this learner: '" + std::string(name) + "' holds " + std::to_string(saved) +
         " numbers, and " + std::to_string(needed) + " are needed.";
}

void bind_orders(nb::module_& m) {
  nb::class_<Orders>(m, "Orders")
      .def(nb::init<std::uint32_t>(), "seed"_a)
      .def(
          "next", [](Orders& orders, Vector<std::int64_t> out) { orders.next(span_of(out)); }, "out"_a.noconvert(),
          nb::call_guard<nb::gil_scoped_release>());
}

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

}  // namespace

void bind_online(nb::module_& m) {
  bind_orders(m);
  bind_learners(m);
  bind_whole_learners(m);
}

}  // namespace gossamer
