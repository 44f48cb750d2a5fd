#include "base/orders.hpp"
#include "base/sums.hpp"
#include "bind/common.hpp"
#include "online/coupled.hpp"
#include "online/methods.hpp"

namespace gossamer {

namespace {

// Raises unless there is a row of weights for each feature, and the learner has it.
void check_rows(const Learner& learner, const Vector<const std::int32_t>& features, const Matrix<double>& weights) {
  if (weights.shape(0) != features.size() || weights.shape(1) != learner.outputs())
    throw std::invalid_argument("the weights must have one row per feature and one column per output");
  for (const std::int32_t j : span_of(features)) {
    if (j < 0 || static_cast<std::size_t>(j) >= learner.features())
      throw std::invalid_argument("there is no such feature");
  }
}

template <class T>
void learn(Learner& learner, Vector<const std::int64_t> begins, Vector<const std::int64_t> ends,
           Vector<const std::int32_t> index, Vector<const T> value, Matrix<const double> y,
           std::span<const double> weight, Vector<const double> step, const LossCall& loss,
           std::span<const double> offset, bool dense, std::size_t within) {
  learner.learn(Examples<T>{begins.size(), begins.data(), ends.data(), index.data(), value.data(), y.data(), y.shape(1),
                            weight.data(), step.data(), offset.data(), dense, within},
                loss);
}

struct Saving final : StateVisitor {
  nb::dict state;
  void see(const char* name, std::span<double> values, const Shown&) override { state[name] = copied(values); }
};

// The state in a dict of vectors of doubles; what is converted lives as long as `kept`.
Learner::Saved saved_in(const nb::dict& state, std::vector<Vector<const double>>& kept) {
  return [&kept, state](const char* name) -> std::span<const double> {
    const std::string what = "The saved state does not belong to this learner: '" + std::string(name) + "' ";
    if (!state.contains(name)) throw std::invalid_argument(what + "is missing.");
    Vector<const double> saved;
    if (!nb::try_cast(state[name], saved)) throw std::invalid_argument(what + "is not a vector of numbers.");
    kept.push_back(saved);
    return span_of(saved);
  };
}

void restore(Learner& learner, const nb::dict& state) {
  std::vector<Vector<const double>> kept;
  learner.restore(saved_in(state, kept));
}

std::unique_ptr<Learner> merged(Learner& learner, const std::vector<nb::dict>& states) {
  std::vector<Vector<const double>> kept;
  std::vector<Learner::Saved> saved;
  for (const nb::dict& state : states) saved.push_back(saved_in(state, kept));
  return learner.merged(saved);
}

void bind_coupled(nb::module_& m) {
  nb::class_<FeatureGroups>(m, "FeatureGroups")
      .def(
          "__init__",
          [](FeatureGroups* self, std::span<const std::int64_t> members, std::span<const std::int64_t> starts,
             std::span<const double> weights, bool grows) {
            new (self) FeatureGroups{
                {members.begin(), members.end()}, {starts.begin(), starts.end()}, numbers(weights), grows};
          },
          "members"_a.none(), "starts"_a.none(), "weights"_a.none(), "grows"_a = false)
      .def_static("whole", &FeatureGroups::whole, "features"_a);

  nb::class_<WholeProx>(m, "WholeProx");
  m.def("blockwise_prox", &blockwise_prox, "penalty"_a, "groups"_a, "features"_a, "outputs"_a);
  m.def("set_prox", &set_prox, "set"_a, "features"_a, "outputs"_a);
  m.def(
      "weighted_l1_ball_prox",
      [](double radius, std::span<const double> weights, std::size_t outputs) {
        return weighted_l1_ball_prox(radius, numbers(weights), outputs);
      },
      "radius"_a, "weights"_a, "outputs"_a);
  m.def("group_l2_ball_prox", &group_l2_ball_prox, "radius"_a, "groups"_a, "features"_a, "outputs"_a);
  m.def("group_linf_ball_prox", &group_linf_ball_prox, "radius"_a, "groups"_a, "features"_a, "outputs"_a);
  m.def("kl_prox", [](std::span<const double> prior) { return kl_prox(numbers(prior)); }, "prior"_a);

  m.def("group_fobos", &make_group_fobos, "groups"_a, "setup"_a);
  m.def("group_rda", &make_group_rda, "groups"_a, "setup"_a);
  m.def("l2_ball_fobos", &make_l2_ball_fobos, "radius"_a, "setup"_a);
  m.def("l2_ball_rda", &make_l2_ball_rda, "radius"_a, "setup"_a);
  m.def("pegasos", &make_pegasos, "project"_a, "setup"_a);
  m.def("l1_ball_fobos", &make_l1_ball_fobos, "radius"_a, "setup"_a);
  m.def("simplex_fobos", &make_simplex_fobos, "radius"_a, "setup"_a);
  m.def("eager_fobos", &make_eager_fobos, "prox"_a, "setup"_a);
  m.def("eager_rda", &make_eager_rda, "prox"_a, "setup"_a);
  m.def(
      "kl_rda", [](std::span<const double> prior, const Setup& setup) { return make_kl_rda(numbers(prior), setup); },
      "prior"_a, "setup"_a);
  m.def("exponentiated_gradient", &make_exponentiated_gradient, "radius"_a, "setup"_a);
}

void bind_methods(nb::module_& m) {
  Methods::each([&]<class M> { bind_part<M>(m).attr("has_lanes") = M::facts.lanes; });
  nb::enum_<Target>(m, "Target")
      .value("labels", Target::labels)
      .value("numbers", Target::numbers)
      .value("rates", Target::rates);
  nb::class_<Setup>(m, "Setup")
      .def_rw("target", &Setup::target)
      .def_rw("joint", &Setup::joint)
      .def_rw("centred", &Setup::centred)
      .def_rw("relative", &Setup::relative)
      .def_rw("cut", &Setup::cut)
      .def_rw("batch", &Setup::batch)
      .def(
          "__init__",
          [](Setup* self, std::size_t features, std::size_t outputs, double alpha, bool fit_intercept, bool average) {
            new (self) Setup{features, outputs, {alpha}, {1.0}, fit_intercept, average};
          },
          "features"_a, "outputs"_a, "alpha"_a, "fit_intercept"_a, "average"_a = false)
      .def(
          "__init__",
          [](Setup* self, std::size_t features, std::size_t outputs, std::span<const double> alphas,
             std::span<const double> step_factors, bool fit_intercept) {
            new (self) Setup{features, outputs, numbers(alphas), numbers(step_factors), fit_intercept, false, true};
          },
          "features"_a, "outputs"_a, "alphas"_a, "step_factors"_a, "fit_intercept"_a);
  m.def(
      "learner",
      [](const Methods::Variant& method, const RowPenalties::Variant& penalty, std::span<const double> weights,
         const Setup& setup,
         std::size_t together) { return make_learner(method, penalty, numbers(weights), setup, together); },
      "method"_a, "penalty"_a, "weights"_a.none(), "setup"_a, "together"_a = 0);
}

void bind_learner(nb::module_& m) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Diverged& error) {
      PyErr_SetString(PyExc_FloatingPointError, error.what());
    }
  });
  m.def("largest", [](Vector<const double> v) { return norm_inf(span_of(v)); }, "v"_a.noconvert(), Free());

  nb::class_<LossCall>(m, "LossCall");
  m.def("loss_call", nb::overload_cast<const ScalarLoss&>(&make_loss_call), "loss"_a);
  m.def("loss_call", nb::overload_cast<const MulticlassLoss&>(&make_loss_call), "loss"_a);

  nb::class_<Learner>(m, "Learner")
      .def_prop_ro("features", &Learner::features)
      .def_prop_ro("outputs", &Learner::outputs)
      .def_prop_ro("rounds", &Learner::rounds)
      .def_prop_ro("weight_seen", &Learner::weight_seen)
      .def_prop_ro("loss_seen", &Learner::loss_seen)
      .def_prop_ro("lost", &Learner::lost)
      .def_prop_ro("finite", &Learner::finite)
      .def("learn", &learn<double>, "begins"_a, "ends"_a, "index"_a, "value"_a.noconvert(), "y"_a, "weight"_a.none(),
           "step"_a, "loss"_a, "offset"_a.none() = nb::none(), "dense"_a = false, "within"_a = 0, Free())
      .def("learn", &learn<float>, "begins"_a, "ends"_a, "index"_a, "value"_a.noconvert(), "y"_a, "weight"_a.none(),
           "step"_a, "loss"_a, "offset"_a.none() = nb::none(), "dense"_a = false, "within"_a = 0, Free())
      .def("read", &Learner::read, "weights"_a.noconvert(), "intercept"_a.noconvert(), "average"_a = false, Free())
      .def(
          "read_some",
          [](const Learner& learner, Vector<const std::int32_t> features, Matrix<double> weights,
             Vector<double> intercept, bool average) {
            check_rows(learner, features, weights);
            learner.read_some(span_of(features), span_of(weights), span_of(intercept), average);
          },
          "features"_a.noconvert(), "weights"_a.noconvert(), "intercept"_a.noconvert(), "average"_a = false, Free())
      .def("grown", &Learner::grown, "features"_a, "outputs"_a, "groups"_a.none() = nb::none(), Free())
      .def(
          "assign",
          [](Learner& learner, Vector<const std::int32_t> features, Vector<const std::int32_t> groups) {
            learner.assign(span_of(features), span_of(groups));
          },
          "features"_a, "groups"_a)
      .def("state",
           [](Learner& learner) {
             Saving saving;
             learner.visit(saving);
             return saving.state;
           })
      .def("restore", &restore, "state"_a)
      .def("merged", &merged, "states"_a)
      .def("share", &Learner::share, "parts"_a, "rounds"_a)
      .def_rw("scoring", &Learner::scoring)
      .def_rw("threads", &Learner::threads)
      .def_prop_ro("lanes", &Learner::lanes)
      .def_prop_ro("strength_unit", &Learner::strength_unit)
      .def_prop_ro("losses", [](const Learner& learner) { return copied(learner.losses()); })
      .def_prop_ro("squares", [](const Learner& learner) { return copied(learner.squares()); })
      .def_prop_ro("products", [](const Learner& learner) { return copied(learner.products()); })
      .def_prop_rw(
          "tally", [](const Learner& learner) { return copied(learner.tally()); },
          [](Learner& learner, Vector<const double> tally) { learner.set_tally(span_of(tally)); })
      .def_prop_ro("intercepts", [](const Learner& learner) { return copied(learner.intercepts()); })
      .def_prop_ro("scored", &Learner::scored)
      .def_prop_ro("scored_squares", &Learner::scored_squares)
      .def("read_lane", &Learner::read_lane, "lane"_a, "weights"_a.noconvert(), "intercept"_a.noconvert(), Free())
      .def("count_nonzeros", &Learner::count_nonzeros, "counts"_a.noconvert(), Free())
      .def("gather", &Learner::gather, "at"_a.noconvert(), "index"_a.noconvert(), "value"_a.noconvert(), Free())
      .def(
          "alone",
          [](Learner& learner, std::size_t lane) {
            nb::dict state;
            learner.alone(lane,
                          [&](const char* name, std::span<const double> values) { state[name] = copied(values); });
            return state;
          },
          "lane"_a);
}

void bind_orders(nb::module_& m) {
  nb::class_<Orders>(m, "Orders")
      .def(nb::init<std::uint32_t>(), "seed"_a)
      .def("next", &Orders::next, "out"_a.noconvert(), Free());
}

}  // namespace

void bind_online(nb::module_& m) {
  m.attr("LANES_IN_REGISTERS") = lanes_in_registers;
  bind_orders(m);
  bind_learner(m);
  bind_methods(m);
  bind_coupled(m);
}

}  // namespace gossamer
