#include "learners_lanes.hpp"

#include "lanes_dual.hpp"
#include "lanes_primal.hpp"

namespace gossamer {

namespace {

template <class Rule>
std::unique_ptr<Learner> lane_engine(Rule rule, const Setup& s, const LaneSettings& lanes) {
  return std::make_unique<LaneEngine<Rule>>(std::move(rule), s.features, s.outputs, lanes.count(), s.fit_intercept);
}

// make.operator()<K>(p, setup) for the penalty's own type; a box has no strength to choose.
template <class Make>
std::unique_ptr<Lanes> with_lane_types(const RowPenalty& penalty, const Setup& given, Make make) {
  auto learner =
      with_types(penalty, given, [&]<std::size_t K, class P>(const P& p, const Setup& s) -> std::unique_ptr<Learner> {
        if constexpr (std::is_same_v<P, Box>) {
          return nullptr;
        } else {
          return make.template operator()<K>(p, s);
        }
      });
  return std::unique_ptr<Lanes>(static_cast<Lanes*>(learner.release()));
}

}  // namespace

std::unique_ptr<Lanes> make_fobos_lanes(const RowPenalty& penalty, const Setup& given, const LaneSettings& lanes) {
  return with_lane_types(penalty, given, [&]<std::size_t K, class P>(const P& p, const Setup& s) {
    auto engine = [&]<class Rounds>() {
      return lane_engine(FobosLanes<Rounds>(p, s.features, s.outputs, lanes, s.weights), s, lanes);
    };
    if constexpr (adds_up<P>) {
      return engine.template operator()<AddedLanes<K, P>>();
    } else {
      if constexpr (std::is_same_v<P, ElasticNet>) {
        if (s.weights.empty()) return engine.template operator()<RecordedLanes<K, P, LazyElasticNet>>();
      } else if constexpr (std::is_same_v<P, Berhu>) {
        if (s.weights.empty()) return engine.template operator()<RecordedLanes<K, P, LazyBerhu>>();
      }
      return engine.template operator()<RecordedLanes<K, P, Stepwise<P>>>();
    }
  });
}

std::unique_ptr<Lanes> make_adagrad_fobos_lanes(const RowPenalty& penalty, const Setup& given,
                                                const LaneSettings& lanes) {
  return with_lane_types(penalty, given, [&]<std::size_t K, class P>(const P& p, const Setup& s) {
    return lane_engine(AdaptiveLanes<K, P>(p, s.features, s.outputs, lanes, s.weights), s, lanes);
  });
}

std::unique_ptr<Lanes> make_rda_lanes(double rho, const RowPenalty& penalty, const Setup& given,
                                      const LaneSettings& lanes) {
  return with_lane_types(penalty, given, [&]<std::size_t K, class P>(const P& p, const Setup& s) {
    return lane_engine(RdaLanes<K, P>(p, s.features, s.outputs, lanes, s.weights, rho), s, lanes);
  });
}

std::unique_ptr<Lanes> make_adagrad_rda_lanes(const RowPenalty& penalty, const Setup& given,
                                              const LaneSettings& lanes) {
  return with_lane_types(penalty, given, [&]<std::size_t K, class P>(const P& p, const Setup& s) {
    using Rule = AdaptiveDualLanes<K, P, ScaleFree>;
    return lane_engine(Rule(p, s.features, s.outputs, lanes, s.weights, ScaleFree{}), s, lanes);
  });
}

std::unique_ptr<Lanes> make_ftrl_lanes(double beta, const RowPenalty& penalty, const Setup& given,
                                       const LaneSettings& lanes) {
  return with_lane_types(penalty, given, [&]<std::size_t K, class P>(const P& p, const Setup& s) {
    using Rule = AdaptiveDualLanes<K, P, Offset>;
    return lane_engine(Rule(p, s.features, s.outputs, lanes, s.weights, Offset{beta}), s, lanes);
  });
}

}  // namespace gossamer
