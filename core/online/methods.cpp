#include "online/methods.hpp"

#include <stdexcept>

#include "online/averaged.hpp"

namespace gossamer {

namespace {

std::unique_ptr<Rule> plain_or_averaged(std::unique_ptr<Rule> rule, const Setup& setup) {
  if (!setup.average || dynamic_cast<const Average*>(rule.get())) return rule;
  return std::make_unique<Averaged<Rule>>(std::move(rule), setup);
}

// The rule of a method for a penalty: a hot one where there is one.
std::unique_ptr<Rule> make_rule(const Methods::Variant& method, const RowPenalties::Variant& penalty, Weights weights,
                                const Setup& setup) {
  return std::visit(
      [&]<class M>(const M& m) -> std::unique_ptr<Rule> {
        if (Weights l1 = weights; setup.batch == 1 && setup.outputs == 1 && is_l1_of_one(penalty, l1)) {
          if (setup.path) {
            if constexpr (requires { m.hot_lanes(l1, setup); }) return m.hot_lanes(l1, setup);
          } else {
            if constexpr (requires { m.hot(l1, setup); }) return m.hot(l1, setup);
          }
          return m.rule(make_row_penalty(L1{}, std::move(l1)), setup);
        }
        if constexpr (requires { m.hot_outputs(weights, setup); }) {
          if (std::holds_alternative<L1>(penalty)) return m.hot_outputs(weights, setup);
        }
        return m.rule(make_row_penalty(penalty, std::move(weights)), setup);
      },
      method);
}

// Lanes first … last − 1 of a setup.
Setup some_lanes(const Setup& setup, std::size_t first, std::size_t last) {
  Setup some = setup;
  const auto cut = [=](std::vector<double>& all) { all = {all.begin() + first, all.begin() + last}; };
  cut(some.alphas), cut(some.step_factors);
  for (double& factor : some.step_factors)
    factor = std::min(factor, 2 * largest_slope);  // it never learns, and adds no infinity
  return some;
}

}  // namespace

std::unique_ptr<Learner> make_learner(const Methods::Variant& method, const RowPenalties::Variant& penalty,
                                      const Weights& weights, const Setup& setup, std::size_t together) {
  const MethodFacts facts = std::visit([](const auto& m) { return m.facts; }, method);
  if (setup.path && (!facts.lanes || setup.average)) throw std::invalid_argument("this method has no lanes");
  if (setup.lanes() == 0 || setup.lanes() != setup.step_factors.size() || (!setup.path && setup.lanes() > 1))
    throw std::invalid_argument("a learner needs one strength and one step factor per lane");
  if (!weights.empty() && weights.size() != setup.features)
    throw std::invalid_argument("the penalty needs one weight per feature");
  const std::size_t count = setup.lanes(), asked = together ? together : facts.together;
  const std::size_t each = asked ? std::min(asked, count) : count;
  std::vector<LaneGroup> groups;
  for (std::size_t first = 0; first < count; first += each) {
    const Setup some = some_lanes(setup, first, std::min(first + each, count));
    const bool compares = setup.path && count <= most_compared;
    groups.emplace_back(plain_or_averaged(make_rule(method, penalty, weights, some), some), some, compares);
  }
  return std::make_unique<Learner>(setup, std::move(groups),
                                   [=](std::size_t features, std::size_t outputs, const FeatureGroups*) {
                                     Setup other = setup;
                                     other.features = features, other.outputs = outputs;
                                     return make_learner(method, penalty, weights, other, together);
                                   });
}

std::unique_ptr<Learner> make_learner(std::unique_ptr<Rule> rule, const Setup& setup, Learner::Make again) {
  std::vector<LaneGroup> groups;
  groups.emplace_back(plain_or_averaged(std::move(rule), setup), setup);
  return std::make_unique<Learner>(setup, std::move(groups), std::move(again));
}

}  // namespace gossamer
