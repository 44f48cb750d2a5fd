#include "dual.hpp"
#include "learners.hpp"

namespace gossamer {

std::unique_ptr<Learner> make_rda(double rho, const RowPenalty& penalty, const Setup& given) {
  return with_types(penalty, given, [&]<std::size_t K, class P>(const P& p, const Setup& s) {
    return plain_or_averaged(RdaRule<K, P>(p, s.features, s.outputs, s.alpha, s.weights, rho), s);
  });
}

std::unique_ptr<Learner> make_adagrad_rda(const RowPenalty& penalty, const Setup& given) {
  return with_types(penalty, given, []<std::size_t K, class P>(const P& p, const Setup& s) {
    return plain_or_averaged(AdaptiveDualRule<K, P, false>(p, s.features, s.outputs, s.alpha, s.weights, 0.0), s);
  });
}

std::unique_ptr<Learner> make_ftrl(double beta, const RowPenalty& penalty, const Setup& given) {
  return with_types(penalty, given, [&]<std::size_t K, class P>(const P& p, const Setup& s) {
    return plain_or_averaged(AdaptiveDualRule<K, P, true>(p, s.features, s.outputs, s.alpha, s.weights, beta), s);
  });
}

}  // namespace gossamer
