// Making a learner: the one place where a method and a penalty meet.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "learner.hpp"
#include "penalties.hpp"

namespace gossamer {

// What every learner is made with.
struct Setup {
  std::size_t features, outputs;
  double alpha;
  std::vector<double> weights;  // of the penalty, one a feature, or none
  bool fit_intercept;
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

}  // namespace gossamer
