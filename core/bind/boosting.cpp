#include "batch/design.hpp"
#include "bind/common.hpp"
#include "boosting/booster.hpp"

namespace gossamer {

void bind_boosting(nb::module_& m) {
  using In = std::span<const double>;
  using Out = std::span<double>;
  using Numbers = std::span<const std::int64_t>;
  Joined<BoundTypes, List<SmoothL1>>::each([&]<class T> { bind_part<T>(m); });

  nb::class_<BoostingRule>(m, "Rule")
      .def("scale", &BoostingRule::scale, "largest"_a, "squares"_a)
      .def(
          "minimise",
          [](const BoostingRule& rule, In up, In down, double a, double lambda, In w, Out next) {
            RuleScratch scratch;
            rule.minimise({up, down}, a, lambda, w, next, scratch);
          },
          "up"_a, "down"_a, "a"_a, "strength"_a, "w"_a, "next"_a.noconvert())
      .def(
          "gain",
          [](const BoostingRule& rule, In up, In down, double a, double lambda, In w, In next) {
            return rule.gain({up, down}, a, lambda, w, next);
          },
          "up"_a, "down"_a, "a"_a, "strength"_a, "w"_a, "next"_a);
  m.def("rule", &make_rule, "bound"_a, "penalty"_a);
  nb::class_<WholeRule>(m, "WholeRule")
      .def(
          "minimise",
          [](const WholeRule& rule, In up, In down, In a, double lambda, In w, Out next) {
            rule.minimise({up, down}, a, lambda, w, next);
          },
          "up"_a, "down"_a, "a"_a, "strength"_a, "w"_a, "next"_a.noconvert());
  m.def("whole_rule", &make_whole_rule, "bound"_a, "penalty"_a);

  nb::class_<Booster>(m, "Booster")
      .def_prop_ro("used", &Booster::used)
      .def("loss", &Booster::loss, Free())
      .def("penalty", &Booster::penalty, Free())
      .def(
          "scales", [](const Booster& b, const Design& x, Out out) { b.scales(x.column_lines(), out); }, "columns"_a,
          "out"_a.noconvert(), Free())
      .def(
          "score",
          [](const Booster& b, const Design& x, In scales, In weights, In factor, double slack, unsigned threads,
             Out scores) { b.score(x.column_lines(), scales, weights, factor, slack, threads, scores); },
          "columns"_a, "scales"_a.none(), "weights"_a.none(), "factor"_a.none(), "slack"_a, "threads"_a,
          "scores"_a.noconvert(), Free())
      .def(
          "score_stumps",
          [](const Booster& b, Matrix<const std::int32_t> code, Numbers start, double slack, unsigned threads,
             Out scores) {
            b.score(Stumps{code.shape(1), code.shape(0), span_of(code), start}, slack, threads, scores);
          },
          "code"_a, "start"_a, "slack"_a, "threads"_a, "scores"_a.noconvert(), Free())
      .def(
          "add",
          [](Booster& b, const Design& x, Numbers which, In weights) { b.add(x.column_lines(), which, weights, true); },
          "columns"_a, "which"_a, "weights"_a.none())
      .def(
          "adopt",
          [](Booster& b, const Design& x, Numbers which, In weights) {
            b.add(x.column_lines(), which, weights, false);
          },
          "columns"_a, "which"_a, "weights"_a.none(), nb::keep_alive<1, 2>())
      .def("update", &Booster::update, "which"_a, "idle"_a, Free())
      .def("update_together", &Booster::update_together, "threads"_a, Free())
      .def("gains", &Booster::gains, "slack"_a, "threads"_a, "out"_a.noconvert(), Free())
      .def("prune", &Booster::prune)
      .def("update_intercept", &Booster::update_intercept, Free())
      .def("set_intercept", &Booster::set_intercept, "b"_a, Free())
      .def("set", &Booster::set, "weights"_a, "b"_a, Free())
      .def("use_model", &Booster::use_model, "on"_a, Free())
      .def("weights", [](const Booster& b) { return copied(b.weights()); })
      .def("intercept", [](const Booster& b) { return copied(b.intercept()); })
      .def("margins", [](const Booster& b) { return copied(b.margins()); });
  m.def(
      "booster",
      [](const AnyLoss& loss, std::size_t rows, std::size_t outputs, In y, In weights, double lambda,
         const Bound& bound, const RuleForm& penalty, std::optional<RuleForm> whole, In offset) {
        return std::make_unique<Booster>(
            loss, BoosterSetup{rows, outputs, numbers(y), numbers(weights), lambda, numbers(offset)},
            make_rule(bound, penalty), make_rule(Grad{1.0}, penalty), whole ? make_whole_rule(bound, *whole) : nullptr);
      },
      "loss"_a, "rows"_a, "outputs"_a, "y"_a, "weights"_a.none(), "strength"_a, "bound"_a, "penalty"_a,
      "whole"_a.none(), "offset"_a.none() = nb::none());
}

}  // namespace gossamer
