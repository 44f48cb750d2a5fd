// Making a learner: the one place where a method and a penalty meet.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "catalogue/penalties.hpp"
#include "online/averaging.hpp"
#include "online/bounded.hpp"
#include "online/groups.hpp"
#include "online/learner.hpp"
#include "online/whole.hpp"

namespace gossamer {

// What every learner is made with.
struct Setup {
  std::size_t features, outputs;
  double alpha;
  std::vector<double> weights;  // of the penalty, one a feature, or none
  bool fit_intercept;
  bool average = false;  // keep the average of the iterates too
};

// Penalties that are sums over features: each row of W by itself.
using RowPenalty = std::variant<L1, NonNegativeL1, ElasticNet, Berhu, Box, L2, LInf, SparseL2>;

std::unique_ptr<Learner> make_fobos(const RowPenalty& penalty, const Setup& setup);
std::unique_ptr<Learner> make_truncated_gradient(std::size_t period, double threshold, const Setup& setup);
std::unique_ptr<Learner> make_subgradient(const RowPenalty& penalty, const Setup& setup);
std::unique_ptr<Learner> make_adagrad_fobos(const RowPenalty& penalty, const Setup& setup);
std::unique_ptr<Learner> make_rda(double rho, const RowPenalty& penalty, const Setup& setup);
std::unique_ptr<Learner> make_adagrad_rda(const RowPenalty& penalty, const Setup& setup);
std::unique_ptr<Learner> make_ftrl(double beta, const RowPenalty& penalty, const Setup& setup);

// Penalties and sets that couple features (groups.hpp, whole.hpp), or have bounds for each (bounded.hpp); their weights
// come with them, not with the setup.
std::unique_ptr<Learner> make_group_fobos(const FeatureGroups& groups, const Setup& setup);
std::unique_ptr<Learner> make_group_rda(const FeatureGroups& groups, const Setup& setup);
std::unique_ptr<Learner> make_l2_ball_fobos(double radius, const Setup& setup);
std::unique_ptr<Learner> make_l2_ball_rda(double radius, const Setup& setup);
std::unique_ptr<Learner> make_pegasos(bool project, const Setup& setup);
std::unique_ptr<Learner> make_l1_ball_fobos(double radius, const Setup& setup);
std::unique_ptr<Learner> make_simplex_fobos(double radius, const Setup& setup);
std::unique_ptr<Learner> make_bounded_fobos(const Bounds& bounds, const Setup& setup);
std::unique_ptr<Learner> make_bounded_rda(const Bounds& bounds, const Setup& setup);
std::unique_ptr<Learner> make_bounded_adagrad_fobos(const Bounds& bounds, const Setup& setup);
std::unique_ptr<Learner> make_bounded_adagrad_rda(const Bounds& bounds, const Setup& setup);
std::unique_ptr<Learner> make_bounded_ftrl(double beta, const Bounds& bounds, const Setup& setup);
std::unique_ptr<Learner> make_eager_fobos(const WholeProx& prox, const Setup& setup);
std::unique_ptr<Learner> make_eager_rda(const WholeProx& prox, const Setup& setup);
std::unique_ptr<Learner> make_kl_rda(std::vector<double> prior, const Setup& setup);
std::unique_ptr<Learner> make_exponentiated_gradient(double radius, const Setup& setup);

// What the eager learners are made with.
WholeProx blockwise_prox(const Blockwise& penalty, FeatureGroups groups, std::size_t features, std::size_t outputs);
WholeProx set_prox(const Set& set, std::size_t features, std::size_t outputs);
WholeProx weighted_l1_ball_prox(double radius, const std::vector<double>& weights, std::size_t outputs);
WholeProx group_l2_ball_prox(double radius, FeatureGroups groups, std::size_t features, std::size_t outputs);
WholeProx group_linf_ball_prox(double radius, FeatureGroups groups, std::size_t features, std::size_t outputs);
WholeProx kl_prox(std::vector<double> prior);

// With one output a row is one number, and every norm of it is its size.
RowPenalty simplified(const RowPenalty& penalty, Setup& setup);

// Calls make.operator()<K>(p) with K = 1 for one output and K = 0 for more, for the penalty's own type.
template <class Make>
std::unique_ptr<Learner> with_types(const RowPenalty& penalty, const Setup& given, Make make) {
  Setup setup = given;
  return std::visit(
      [&]<class P>(const P& p) -> std::unique_ptr<Learner> {
        constexpr bool elementwise = requires { p.prox(1.0, 1.0); };
        if (setup.outputs > 1) return make.template operator()<0>(p, setup);
        if constexpr (elementwise) return make.template operator()<1>(p, setup);
        return nullptr;
      },
      simplified(penalty, setup));
}

template <class Rule>
std::unique_ptr<Learner> engine(Rule rule, const Setup& setup) {
  return std::make_unique<Engine<Rule>>(std::move(rule), setup.features, setup.outputs, setup.fit_intercept);
}

// With averages of the iterates. Works for any rule; fast for those with add_path (see averaging.hpp).
template <class Rule>
std::unique_ptr<Learner> averaged_engine(Rule rule, const Setup& setup) {
  return engine(Averaged<Rule>(std::move(rule), setup.features, setup.outputs), setup);
}

// As the setup asks.
template <class Rule>
std::unique_ptr<Learner> plain_or_averaged(Rule rule, const Setup& setup) {
  return setup.average ? averaged_engine(std::move(rule), setup) : engine(std::move(rule), setup);
}

// The same for a rule that is made with room for the averages (rule<true>()) or without.
template <class Make>
  requires requires(Make make) { make.template operator()<false>(); }
std::unique_ptr<Learner> plain_or_averaged(Make make, const Setup& setup) {
  return setup.average ? averaged_engine(make.template operator()<true>(), setup)
                       : engine(make.template operator()<false>(), setup);
}

}  // namespace gossamer
