#include "online/dual.hpp"
#include "online/learners.hpp"

namespace gossamer {

std::unique_ptr<Learner> make_rda(double rho, const RowPenalty& penalty, const Setup& given) {
  return with_types(penalty, given, [&]<std::size_t K, class P>(const P& p, const Setup& s) {
    auto rule = [&]<bool Roomy> { return RdaRule<K, P, Roomy>(p, s.features, s.outputs, s.alpha, s.weights, rho); };
    return plain_or_averaged(rule, s);
  });
}

std::unique_ptr<Learner> make_adagrad_rda(const RowPenalty& penalty, const Setup& given) {
  return with_types(penalty, given, []<std::size_t K, class P>(const P& p, const Setup& s) {
    auto rule = [&]<bool Roomy> {
      return AdaptiveDualRule<K, P, false, Roomy>(p, s.features, s.outputs, s.alpha, s.weights, 0.0);
    };
    return plain_or_averaged(rule, s);
  });
}

std::unique_ptr<Learner> make_ftrl(double beta, const RowPenalty& penalty, const Setup& given) {
  return with_types(penalty, given, [&]<std::size_t K, class P>(const P& p, const Setup& s) {
    auto rule = [&]<bool Roomy> {
      return AdaptiveDualRule<K, P, true, Roomy>(p, s.features, s.outputs, s.alpha, s.weights, beta);
    };
    return plain_or_averaged(rule, s);
  });
}

}  // namespace gossamer
