#include "online/fobos.hpp"
#include "online/learners.hpp"
#include "online/subgradient.hpp"

namespace gossamer {

RowPenalty simplified(const RowPenalty& penalty, Setup& setup) {
  if (setup.outputs > 1) return penalty;
  if (const auto* sparse = std::get_if<SparseL2>(&penalty)) {
    for (double& a : setup.weights) a = sparse->l1_ratio + (1 - sparse->l1_ratio) * a;
    return L1{};
  }
  if (std::holds_alternative<L2>(penalty) || std::holds_alternative<LInf>(penalty)) return L1{};
  return penalty;
}

namespace {

template <std::size_t K, class Lazy>
std::unique_ptr<Learner> fobos_engine(Lazy lazy, const Setup& s) {
  auto rule = [&]<bool Roomy, class L>(L way) {
    return FobosRule<K, L, Roomy>(std::move(way), s.features, s.outputs, s.alpha, s.weights);
  };
  if (s.average) return averaged_engine(rule.template operator()<true>(traced(std::move(lazy), s.features)), s);
  return engine(rule.template operator()<false>(std::move(lazy)), s);
}

}  // namespace

std::unique_ptr<Learner> make_fobos(const RowPenalty& penalty, const Setup& given) {
  return with_types(penalty, given, []<std::size_t K, class P>(const P& p, const Setup& s) {
    auto rule = [&](auto lazy) { return fobos_engine<K>(std::move(lazy), s); };
    if constexpr (std::is_same_v<P, Box>) {
      return rule(Constrained(p));
    } else if constexpr (std::is_same_v<P, ElasticNet>) {
      return s.weights.empty() ? rule(LazyElasticNet(p, s.features)) : rule(Stepwise<P>(p, s.features));
    } else if constexpr (std::is_same_v<P, Berhu>) {
      return s.weights.empty() ? rule(LazyBerhu(p, s.features)) : rule(Stepwise<P>(p, s.features));
    } else if constexpr (std::is_same_v<P, SparseL2>) {
      return rule(Stepwise<P>(p, s.features));
    } else {
      if constexpr (K == 1) {
        auto levels = [&]<bool Roomy>() { return LevelRule<P, Roomy>(p, s.features, s.alpha, s.weights); };
        return plain_or_averaged(levels, s);
      } else {
        return rule(Additive<P>(p));
      }
    }
  });
}

std::unique_ptr<Learner> make_truncated_gradient(std::size_t period, double threshold, const Setup& given) {
  return with_types(L1{}, given, [&]<std::size_t K, class P>(const P&, const Setup& s) -> std::unique_ptr<Learner> {
    if constexpr (std::is_same_v<P, L1>) {
      return fobos_engine<K>(Truncation(period, threshold), s);
    }
    return nullptr;
  });
}

std::unique_ptr<Learner> make_subgradient(const RowPenalty& penalty, const Setup& given) {
  return with_types(penalty, given, []<std::size_t K, class P>(const P& p, const Setup& s) -> std::unique_ptr<Learner> {
    if constexpr (requires(std::span<double> w) { descend(p, w, 1.0, 1.0); }) {
      return plain_or_averaged(SubgradientRule<K, P>(p, s.features, s.outputs, s.alpha, s.weights), s);
    }
    return nullptr;
  });
}

std::unique_ptr<Learner> make_adagrad_fobos(const RowPenalty& penalty, const Setup& given) {
  return with_types(penalty, given, []<std::size_t K, class P>(const P& p, const Setup& s) {
    auto rule = [&]<bool Roomy> { return AdaptiveRule<K, P, Roomy>(p, s.features, s.outputs, s.alpha, s.weights); };
    return plain_or_averaged(rule, s);
  });
}

}  // namespace gossamer
