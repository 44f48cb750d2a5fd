// Many rounds of a prox at once, w ← prox(w, s_1), then prox(·, s_2), …, where neither one round with the sum nor a
// power stands for them: prefix products and sums of the rounds so far. A record is asked for a number that was w when
// it had `then` rounds:
//
//     push(s), size(), full(), clear()
//     now(w, then)          what it is now
//     path(w, then)         the sum of what it was after each round since
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/state.hpp"

namespace gossamer {

// A running sum together with what rounding took from it, so that the difference of two of them is as good as adding up
// what lies between.
struct PrefixSum {
  double sum = 0, rest = 0;

  PrefixSum plus(double x) const {
    const double next = sum + x, added = next - sum;
    return {next, rest + ((sum - (next - added)) + (x - added))};
  }
  double since(const PrefixSum& then) const { return (sum - then.sum) + (rest - then.rest); }
};

// The s of every round, with the prefix products of what divides a weight and the prefix sums of what is taken off it.
class RoundRecord {
 public:
  explicit RoundRecord(bool traced) : traced_(traced) { clear(); }
  std::size_t size() const { return s_.size(); }
  // Before the products are so large that numbers are lost in them; earlier where sums of their inverses are kept.
  bool full() const { return product_.back() > (traced_ ? 1e12 : 1e100); }
  void clear() { s_.clear(), product_.assign(1, 1.0), sum_.assign(1, 0.0), prefix_.assign(4, 0.0); }

 protected:
  bool traced_;                        // whether paths are asked for
  std::vector<double> s_;              // of each round
  std::vector<double> product_, sum_;  // after 0, 1, … rounds
  std::vector<double> prefix_;         // the same, traced: the prefix sums of 1/product and of sum/product

  // Shows a record of this kind; `R` has push(s).
  template <class R>
  static void visit(R& record, StateVisitor& f) {
    f.growing("lazy_steps", record.s_, {{at_least_zero}});
    f.growing("lazy_product", record.product_, {{at_least_zero}}),
        f.growing("lazy_sum", record.sum_, {{at_least_zero}});
    if (record.traced_) f.growing("lazy_prefix", record.prefix_, {{any_number}});
    f.demand("lazy_steps", "the products and sums are not those of the rounds", [&] {
      R again = record;
      again.clear();
      for (const double s : record.s_) again.push(s);
      const auto same = [](const std::vector<double>& one, const std::vector<double>& other) {
        return std::equal(one.begin(), one.end(), other.begin(), other.end(), about);
      };
      std::vector<double> prefix, expected;  // the sums without what rounding took from them
      for (std::size_t i = 0; i + 1 < record.prefix_.size(); i += 2) prefix.push_back(record.prefix_[i]);
      for (std::size_t i = 0; i < again.prefix_.size(); i += 2) expected.push_back(again.prefix_[i]);
      return same(record.product_, again.product_) && same(record.sum_, again.sum_) && same(prefix, expected) &&
             record.prefix_.size() == again.prefix_.size();
    });
  }
  // Appends a round after which the two are these.
  void push(double s, double product, double sum) {
    s_.push_back(s), product_.push_back(product), sum_.push_back(sum);
    if (!traced_) return;
    const std::size_t last = s_.size() - 1;
    const PrefixSum shares = prefix(last, 0).plus(1 / product), ratios = prefix(last, 2).plus(sum / product);
    prefix_.insert(prefix_.end(), {shares.sum, shares.rest, ratios.sum, ratios.rest});
  }
  PrefixSum prefix(std::size_t t, std::size_t which) const {
    return {prefix_[4 * t + which], prefix_[4 * t + which + 1]};
  }
};

// ρ|w| + (1 − ρ)½w²: with a_t = s_t ρ, b_t = s_t (1 − ρ), P_t = Π (1 + b), A_t = Σ a_t P_{t−1},
// |w_t| = [|w_then| P_then − (A_t − A_then)]₊ / P_t.
class ElasticNetRounds : public RoundRecord {
 public:
  ElasticNetRounds(double l1_ratio, bool traced) : RoundRecord(traced), ratio_(l1_ratio) {}
  void push(double s) {
    const double product = product_.back(), sum = sum_.back();
    RoundRecord::push(s, product * (1 + s * (1 - ratio_)), sum + s * ratio_ * product);
  }
  double now(double w, std::size_t then) const {
    const double v = w * product_[then], shrink = sum_.back() - sum_[then];
    return (v - std::clamp(v, -shrink, shrink)) / product_.back();
  }
  void visit(StateVisitor& f) { RoundRecord::visit(*this, f); }
  double path(double w, std::size_t then) const {
    const double top = std::fabs(w) * product_[then] + sum_[then];  // A_t reaches it when the weight reaches zero
    const auto end = std::lower_bound(sum_.begin() + static_cast<std::ptrdiff_t>(then) + 1, sum_.end(), top);
    const auto last = static_cast<std::size_t>(end - sum_.begin()) - 1;
    return std::copysign(top * prefix(last, 0).since(prefix(then, 0)) - prefix(last, 2).since(prefix(then, 2)), w);
  }

 private:
  double ratio_;
};

// berhu: beyond γ it decays like ℓ2² with P_t = Π (1 + s/γ); from the round in which that would land at or under γ it
// is ℓ1, for good. (Its paths are followed round by round.)
class BerhuRounds : public RoundRecord {
 public:
  BerhuRounds(double gamma, bool) : RoundRecord(false), gamma_(gamma) {}
  void push(double s) { RoundRecord::push(s, product_.back() * (1 + s / gamma_), sum_.back() + s); }
  double now(double w, std::size_t then) const {
    std::size_t switched = then;  // rounds before this one decay like ℓ2²
    if (std::fabs(w) > gamma_) {
      const double landing = std::fabs(w) * product_[then] / gamma_;  // the product that lands on γ
      const auto at =
          std::lower_bound(product_.begin() + static_cast<std::ptrdiff_t>(then) + 1, product_.end(), landing);
      switched = static_cast<std::size_t>(at - product_.begin()) - 1;
      w *= product_[then] / product_[switched];
    }
    const double shrink = sum_.back() - sum_[switched];
    return w - std::clamp(w, -shrink, shrink);
  }
  double round(std::size_t t) const { return s_[t]; }
  void visit(StateVisitor& f) { RoundRecord::visit(*this, f); }

 private:
  double gamma_;
};

}  // namespace gossamer
