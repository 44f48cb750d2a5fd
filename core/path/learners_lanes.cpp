#include "path/learners_lanes.hpp"

#include "path/lanes_dual.hpp"
#include "path/lanes_primal.hpp"
#include "path/split_lanes.hpp"

namespace gossamer {

namespace {

template <class Rule>
std::unique_ptr<Learner> lane_engine(Rule rule, const Setup& s, const LaneSettings& lanes) {
  return std::make_unique<LaneEngine<Rule>>(std::move(rule), s.features, s.outputs, lanes.count(), s.fit_intercept);
}

// make.operator()<K>(p, setup, lanes) for the penalty's own type; a box has no strength to choose.
template <class Make>
std::unique_ptr<Lanes> one_part(const RowPenalty& penalty, const Setup& given, const LaneSettings& lanes, Make make) {
  auto learner =
      with_types(penalty, given, [&]<std::size_t K, class P>(const P& p, const Setup& s) -> std::unique_ptr<Learner> {
        if constexpr (std::is_same_v<P, Box>) {
          return nullptr;
        } else {
          return make.template operator()<K>(p, s, lanes);
        }
      });
  return std::unique_ptr<Lanes>(static_cast<Lanes*>(learner.release()));
}

// The same in parts, where there are more lanes than learn on one thread.
template <class Make>
std::unique_ptr<Lanes> with_lane_types(const RowPenalty& penalty, const Setup& s, const LaneSettings& lanes,
                                       Make make) {
  const std::size_t count = lanes.count(), each = lanes.together;
  if (count <= each) return one_part(penalty, s, lanes, make);
  SplitLanes::Parts parts;
  for (std::size_t first = 0; first < count; first += each) {
    parts.push_back(one_part(penalty, s, lanes.some(first, std::min(first + each, count)), make));
  }
  return std::make_unique<SplitLanes>(std::move(parts), s.features, s.outputs, count);
}

}  // namespace

std::unique_ptr<Lanes> make_fobos_lanes(const RowPenalty& penalty, const Setup& given, const LaneSettings& lanes) {
  return with_lane_types(penalty, given, lanes,
                         [&]<std::size_t K, class P>(const P& p, const Setup& s, const LaneSettings& some) {
                           auto engine = [&]<class Rounds>() {
                             return lane_engine(FobosLanes<Rounds>(p, s.features, s.outputs, some, s.weights), s, some);
                           };
                           if constexpr (adds_up<P>) {
                             return engine.template operator()<AddedLanes<K, P>>();
                           } else {
                             if constexpr (std::is_same_v<P, ElasticNet>) {
                               if (s.weights.empty())
                                 return engine.template operator()<RecordedLanes<K, P, LazyElasticNet>>();
                             } else if constexpr (std::is_same_v<P, Berhu>) {
                               if (s.weights.empty())
                                 return engine.template operator()<RecordedLanes<K, P, LazyBerhu>>();
                             }
                             return engine.template operator()<RecordedLanes<K, P, Stepwise<P>>>();
                           }
                         });
}

std::unique_ptr<Lanes> make_adagrad_fobos_lanes(const RowPenalty& penalty, const Setup& given,
                                                const LaneSettings& lanes) {
  return with_lane_types(penalty, given, lanes,
                         [&]<std::size_t K, class P>(const P& p, const Setup& s, const LaneSettings& some) {
                           return lane_engine(AdaptiveLanes<K, P>(p, s.features, s.outputs, some, s.weights), s, some);
                         });
}

std::unique_ptr<Lanes> make_rda_lanes(double rho, const RowPenalty& penalty, const Setup& given,
                                      const LaneSettings& lanes) {
  return with_lane_types(penalty, given, lanes,
                         [&]<std::size_t K, class P>(const P& p, const Setup& s, const LaneSettings& some) {
                           return lane_engine(RdaLanes<K, P>(p, s.features, s.outputs, some, s.weights, rho), s, some);
                         });
}

std::unique_ptr<Lanes> make_adagrad_rda_lanes(const RowPenalty& penalty, const Setup& given,
                                              const LaneSettings& lanes) {
  return with_lane_types(penalty, given, lanes,
                         [&]<std::size_t K, class P>(const P& p, const Setup& s, const LaneSettings& some) {
                           using Rule = AdaptiveDualLanes<K, P, ScaleFree>;
                           return lane_engine(Rule(p, s.features, s.outputs, some, s.weights, ScaleFree{}), s, some);
                         });
}

std::unique_ptr<Lanes> make_ftrl_lanes(double beta, const RowPenalty& penalty, const Setup& given,
                                       const LaneSettings& lanes) {
  return with_lane_types(penalty, given, lanes,
                         [&]<std::size_t K, class P>(const P& p, const Setup& s, const LaneSettings& some) {
                           using Rule = AdaptiveDualLanes<K, P, Offset>;
                           return lane_engine(Rule(p, s.features, s.outputs, some, s.weights, Offset{beta}), s, some);
                         });
}

}  // namespace gossamer
