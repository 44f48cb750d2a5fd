#include "online/learner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/checks.hpp"
#include "base/threads.hpp"
#include "online/averaged.hpp"
#include "online/batches.hpp"
#include "online/loop.hpp"

namespace gossamer {

namespace {

// All of the state by name.
class Collected final : public StateVisitor {
 public:
  struct Values {
    std::string name;
    Per per;
    std::vector<double> copy;
  };
  std::vector<Values> all;

  explicit Collected(Learner& learner) { learner.visit(*this); }
  void see(const char* name, std::span<double> values, const Shown& how) override {
    all.push_back({name, how.per, {values.begin(), values.end()}});
  }
  const Values* find(const char* name) const {
    const auto at = std::find_if(all.begin(), all.end(), [&](const Values& v) { return v.name == name; });
    return at == all.end() ? nullptr : &*at;
  }
};

// Copies records of some numbers and some blocks of one number per output into wider ones.
void widen(std::span<const double> from, std::span<double> to, std::size_t rows_before, std::size_t rows,
           std::size_t outputs_before, std::size_t outputs) {
  if (rows_before == 0 || rows == 0) return;
  const std::size_t narrow = from.size() / rows_before, wide = to.size() / rows;
  const std::size_t blocks = outputs == outputs_before ? 0 : (wide - narrow) / (outputs - outputs_before);
  const std::size_t head = narrow - blocks * outputs_before;
  for (std::size_t j = 0; j < std::min(rows_before, rows); ++j) {
    const double* old = from.data() + j * narrow;
    double* now = to.data() + j * wide;
    std::copy_n(old, head, now);
    for (std::size_t b = 0; b < blocks; ++b)
      std::copy_n(old + head + b * outputs_before, outputs_before, now + head + b * outputs);
  }
}

}  // namespace

LaneGroup::LaneGroup(std::unique_ptr<Rule> made, const Setup& of, bool compares)
    : setup(of),
      rule(std::move(made)),
      intercept(of.fit_intercept && !rule->has_intercepts() ? of.cells() : 0),
      intercept_sum(of.average ? intercept.values().size() : 0),
      counts(3),
      seen(of.lanes()),
      losses(of.lanes()),
      squares(of.lanes()),
      totals(2),
      z_(rule->judged_apart() ? 2 * of.cells() : of.cells()),
      slope_(z_.size()),
      values_(z_.size() / of.outputs),
      sizes_(of.lanes()),
      large_(of.features * of.cells() > 1 << 17),
      compares_(compares) {
  for (std::size_t i = 0; i < of.lanes(); ++i) sizes_[i] = std::max(1.0, of.step_factors[i]);
  for (const double size : sizes_) largest_size_ = std::max(largest_size_, size);
}

LaneGroup::LaneGroup(LaneGroup&&) = default;
LaneGroup::~LaneGroup() = default;

std::vector<double> LaneGroup::intercepts() const {
  if (!rule->has_intercepts()) return {intercept.values().begin(), intercept.values().end()};
  std::vector<double> b(setup.cells());
  rule->read_intercepts(b.data());
  return b;
}

void LaneGroup::diverge(double z, double slope, double weight, double step) {
  const bool free = rule->has_intercepts();  // of steps; its numbers are floats
  rule->take_back();
  char words[400];
  std::snprintf(
      words, sizeof words,
      "Learning diverges at %s %.0f: its score is %.3g and the slope of its loss %.3g (its weight %.3g, its step "
      "%.3g). "
      "%s",
      setup.batch > 1 ? "batch" : "example", counts[0] + 1, z, slope, weight, step,
      free ? "Features below 1e38 in size would do, and targets and weights less than 1e14 times as large as before."
           : "A smaller step would do, or features, targets and weights of moderate size.");
  throw Diverged(words);
}

void Rule::run(LaneGroup& group, const Examples<double>& examples, const LossCall& loss, bool scoring) {
  group.loop(*this, examples, loss, scoring);
}
void Rule::run(LaneGroup& group, const Examples<float>& examples, const LossCall& loss, bool scoring) {
  group.loop(*this, examples, loss, scoring);
}

void LaneGroup::visit(StateVisitor& f) {
  f("counts", std::span(counts), Per::learner, {{now}, {at_least_zero}, {any_number}});
  if (setup.path) {
    f("lane_seen", std::span(seen), Per::learner, {{loss_or_lost}});
    f("lane_losses", std::span(losses), Per::learner, {{loss_or_lost}});
    f("lane_squares", std::span(squares), Per::learner, {{loss_or_lost}});
    f("lane_totals", std::span(totals), Per::learner, {{at_least_zero}});
  }
  intercept.visit(f);
  if (setup.average) f("intercept_sum", std::span(intercept_sum), Per::output, {{any_number}});
  rule->visit(f);
}

Learner::Learner(const Setup& setup, std::vector<LaneGroup> groups, Make again)
    : setup_(setup),
      groups_(std::move(groups)),
      again_(std::move(again)),
      products_(setup.path && setup.lanes() <= most_compared ? setup.lanes() * setup.lanes() : 0) {
  if (std::ranges::any_of(setup.alphas, [](double alpha) { return !(alpha <= largest_alpha); }))
    throw std::invalid_argument(
        "A regularization strength is above 1e200, the largest that is possible. A smaller alpha would do; where it is "
        "estimated from the data, features, targets and weights of moderate size.");
}

template <class F>
void Learner::each_group(F f) const {
  std::size_t first = 0;
  for (const LaneGroup& group : groups_) f(group, first), first += group.setup.lanes();
}

template <class F>
void Learner::with_group_of(std::size_t lane, F f) const {
  each_group([&](const LaneGroup& group, std::size_t first) {
    if (lane >= first && lane < first + group.setup.lanes()) f(group, lane - first);
  });
}

template <class T>
void Learner::run(const Examples<T>& examples, const LossCall& loss) {
  using Clock = std::chrono::steady_clock;
  Examples<T> all = examples;
  all.batch = setup_.batch;
  for (std::size_t begin = 0; begin < examples.count;) {
    const std::size_t rows = std::max(setup_.batch, block_ / setup_.batch * setup_.batch);
    const std::size_t end = std::min(begin + rows, examples.count);
    const auto began = Clock::now();
    run_block(all.some(begin, end), loss);
    const auto took = Clock::now() - began;
    if (took > std::chrono::milliseconds(50)) {
      block_ = std::max<std::size_t>(1, (end - begin) / 2);
    } else if (took < std::chrono::milliseconds(10) && end - begin == block_) {
      block_ *= 2;
    }
    begin = end;
    if (begin < examples.count) check_stop();
  }
}

template <class T>
void Learner::run_block(const Examples<T>& examples, const LossCall& loss) {
  const Undisturbed rows;  // a projection may check whether to stop, and a row is learned from as a whole
  constexpr std::int64_t worth_threads = 1 << 14;  // entries; a thread starts in the time of a thousand
  std::int64_t entries = 0;
  if (groups_.size() > 1) {
    for (std::size_t i = 0; i < examples.count; ++i) entries += examples.ends[i] - examples.begins[i];
  }
  const unsigned most = threads ? threads : all_threads();
  in_parallel(groups_.size(), entries < worth_threads ? 1 : most,
              [&](std::size_t n) { groups_[n].learn(examples, loss, scoring, groups_.size() > 1 ? 1 : most); });
  add_products();
}

void Learner::add_products() {
  if (products_.empty()) return;
  const std::size_t m = lanes();
  std::vector<double> row(m);
  std::size_t rows = groups_[0].recent.size() / (1 + groups_[0].setup.lanes());
  for (const LaneGroup& group : groups_) rows = std::min(rows, group.recent.size() / (1 + group.setup.lanes()));
  for (std::size_t n = 0; n < rows; ++n) {
    double weight = 0;
    each_group([&](const LaneGroup& group, std::size_t first) {
      const double* at = &group.recent[n * (1 + group.setup.lanes())];
      weight = *at;
      std::copy_n(at + 1, group.setup.lanes(), &row[first]);
    });
    for (std::size_t i = 0; i < m; ++i) {
      double* to = &products_[i * m];
      const double *from = row.data(), by = weight * row[i];
      side_by_side(m, [=](std::size_t j) { to[j] += by * from[j]; });
    }
  }
  for (LaneGroup& group : groups_) group.recent.clear();
}

template void Learner::run(const Examples<double>&, const LossCall&);
template void Learner::run(const Examples<float>&, const LossCall&);

template <class F>
void Learner::read_rows(std::size_t count, std::span<double> weights, std::span<double> intercept, bool average,
                        F feature) const {
  if (average && !setup_.average) throw std::logic_error("this learner was not made to average");
  each_group([&](const LaneGroup& group, std::size_t first) {
    const std::size_t from = first * setup_.outputs, width = group.setup.cells();
    const Average* averaged = average ? dynamic_cast<const Average*>(group.rule.get()) : nullptr;
    for (std::size_t i = 0; i < count; ++i) {
      double* to = &weights[i * outputs() + from];
      averaged ? averaged->read_average(feature(i), to) : group.rule->read(feature(i), to);
    }
    const std::vector<double> b = average ? group.intercept_sum : group.intercepts();
    const double rounds = average ? std::max(group.counts[0], 1.0) : 1.0;
    for (std::size_t c = 0; c < width; ++c) intercept[from + c] = b.empty() ? 0.0 : b[c] / rounds;
  });
}

void Learner::read(std::span<double> weights, std::span<double> intercept, bool average) const {
  read_rows(features(), weights, intercept, average, [](std::size_t i) { return i; });
}

void Learner::read_some(Some features, std::span<double> weights, std::span<double> intercept, bool average) const {
  read_rows(features.size(), weights, intercept, average,
            [&](std::size_t i) { return static_cast<std::size_t>(features[i]); });
}

void Learner::visit(StateVisitor& f) {
  if (!products_.empty()) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    f("lane_products", std::span(products_), Per::learner, {{{.least = -infinite, .most = infinite}}});
  }
  if (groups_.size() == 1) return groups_[0].visit(f);
  for (std::size_t n = 0; n < groups_.size(); ++n) {
    Numbered of_group(f, "_of_part_", n);
    groups_[n].visit(of_group);
  }
}

std::unique_ptr<Learner> Learner::made(std::size_t features, std::size_t outputs, const FeatureGroups* groups) const {
  if (!again_) throw std::invalid_argument("this learner couples features and cannot grow");
  return again_(features, outputs, groups);
}

void Learner::assign(Some features, std::span<const std::int32_t> groups) {
  if (features.size() != groups.size()) throw std::invalid_argument("there must be one group per feature");
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (features[i] < 0 || groups[i] < 0) throw std::invalid_argument("there is no such feature or group");
    for (LaneGroup& lanes : groups_) {
      lanes.rule->assign(static_cast<std::size_t>(features[i]), static_cast<std::size_t>(groups[i]));
    }
  }
}

std::unique_ptr<Learner> Learner::grown(std::size_t features, std::size_t outputs, const FeatureGroups* groups) {
  std::unique_ptr<Learner> wide = made(features, outputs, groups);
  if (outputs != setup_.outputs) {
    for (LaneGroup& group : groups_) group.rule->settle();
  }
  const Collected before(*this);
  Collected after(*wide);
  bool same_form = true;  // one output may have a form of its own: then only weights are taken over
  for (const auto& old : before.all) same_form = same_form && (old.per != Per::feature || after.find(old.name.c_str()));
  class Adopting final : public StateVisitor {
   public:
    Adopting(const Collected& from, const Setup& old, const Setup& now) : from_(from), old_(old), now_(now) {}
    void see(const char* name, std::span<double> values, const Shown& how) override {
      const auto* old = from_.find(name);
      if (!old) return;
      if (how.per == Per::feature) {
        widen(old->copy, values, old_.features, now_.features, old_.outputs, now_.outputs);
      } else if (how.grows) {
        *how.grows = old->copy;
      } else {
        std::copy_n(old->copy.begin(), std::min(old->copy.size(), values.size()), values.begin());
      }
    }

   private:
    const Collected& from_;
    Setup old_, now_;
  } adopting(before, setup_, wide->setup_);
  wide->visit(adopting);
  if (!same_form) {
    std::vector<double> w(outputs);
    for (std::size_t j = 0; j < std::min(features, setup_.features); ++j) {
      groups_[0].rule->read(j, w.data());
      wide->groups_[0].rule->write(j, w.data());
    }
  }
  return wide;
}

std::size_t Learner::lost() const {
  std::size_t count = 0;
  for (const LaneGroup& group : groups_)
    count += std::ranges::count_if(group.seen, [](double x) { return !std::isfinite(x); });
  return count;
}

bool Learner::finite() const {
  class Finite final : public StateVisitor {
   public:
    bool all = true;
    void see(const char*, std::span<double> values, const Shown& how) override {
      if (how.record.size() > 0 && std::isinf(how.record.begin()->range.most)) return;  // losses of lost lanes
      all = all && all_finite(std::span<const double>(values));
    }
  } finite;
  for (const LaneGroup& group : groups_) {
    if (!group.large()) const_cast<LaneGroup&>(group).visit(finite);
  }
  return finite.all;
}

std::vector<double> Learner::losses() const {
  std::vector<double> all;
  for (const LaneGroup& group : groups_) all.insert(all.end(), group.losses.begin(), group.losses.end());
  return all;
}

std::vector<double> Learner::squares() const {
  std::vector<double> all;
  for (const LaneGroup& group : groups_) all.insert(all.end(), group.squares.begin(), group.squares.end());
  return all;
}

std::vector<double> Learner::tally() const {
  std::vector<double> all;
  for (const LaneGroup& group : groups_) {
    for (const auto* sums : {&group.seen, &group.losses, &group.squares, &group.totals})
      all.insert(all.end(), sums->begin(), sums->end());
  }
  all.insert(all.end(), products_.begin(), products_.end());
  return all;
}

void Learner::set_tally(std::span<const double> tally) {
  if (tally.size() != this->tally().size()) throw std::invalid_argument("the sums are of other lanes");
  for (LaneGroup& group : groups_) {
    for (auto* sums : {&group.seen, &group.losses, &group.squares, &group.totals}) {
      std::copy_n(tally.begin(), sums->size(), sums->begin());
      tally = tally.subspan(sums->size());
    }
  }
  std::copy_n(tally.begin(), products_.size(), products_.begin());
}

std::vector<double> Learner::intercepts() const {
  std::vector<double> all;
  for (const LaneGroup& group : groups_) {
    const std::vector<double> b = group.intercepts();
    all.insert(all.end(), b.begin(), b.end());
  }
  return all;
}

template <class F>
void Learner::each_feature(F f) const {
  std::vector<double> w(outputs());
  for (std::size_t j = 0; j < features(); ++j) {
    each_group([&](const LaneGroup& group, std::size_t first) { group.rule->read(j, &w[first * setup_.outputs]); });
    f(j, w.data());
  }
}

void Learner::read_lane(std::size_t lane, std::span<double> weights, std::span<double> intercept) const {
  const std::size_t k = setup_.outputs;
  with_group_of(lane, [&](const LaneGroup& group, std::size_t own) {
    std::vector<double> w(group.setup.cells());
    for (std::size_t j = 0; j < features(); ++j) {
      group.rule->read(j, w.data());
      std::copy_n(&w[own * k], k, &weights[j * k]);
    }
    const std::vector<double> b = group.intercepts();
    for (std::size_t r = 0; r < k; ++r) intercept[r] = b.empty() ? 0.0 : b[own * k + r];
  });
}

void Learner::count_nonzeros(std::span<std::int64_t> counts) const {
  std::fill(counts.begin(), counts.end(), 0);
  each_feature([&](std::size_t, const double* w) {
    for (std::size_t c = 0; c < outputs(); ++c) counts[c] += w[c] != 0;
  });
}

void Learner::gather(std::span<std::int64_t> at, std::span<std::int64_t> index, std::span<double> value) const {
  each_feature([&](std::size_t j, const double* w) {
    for (std::size_t c = 0; c < outputs(); ++c) {
      if (w[c] == 0) continue;
      const auto to = static_cast<std::size_t>(at[c]++);
      index[to] = static_cast<std::int64_t>(j);
      value[to] = w[c];
    }
  });
}

void Learner::alone(std::size_t lane, const std::function<void(const char*, std::span<const double>)>& f) {
  const std::size_t k = setup_.outputs;
  with_group_of(lane, [&](const LaneGroup& group, std::size_t own) {
    const double counts[] = {group.counts[0], group.counts[1], group.seen[own]};
    f("counts", counts);
    class OfLane final : public StateVisitor {
     public:
      OfLane(std::size_t first, std::size_t k, const std::function<void(const char*, std::span<const double>)>& f)
          : first_(first), k_(k), f_(f) {}
      void see(const char* name, std::span<double> cells, const Shown&) override {
        f_(name, cells.empty() ? cells : cells.subspan(first_, k_));
      }

     private:
      std::size_t first_, k_;
      const std::function<void(const char*, std::span<const double>)>& f_;
    } of_lane(own * k, k, f);
    const_cast<LaneGroup&>(group).intercept.visit(of_lane);
    class Whole final : public StateVisitor {
     public:
      explicit Whole(const std::function<void(const char*, std::span<const double>)>& f) : f_(f) {}
      void see(const char* name, std::span<double> numbers, const Shown&) override { f_(name, numbers); }

     private:
      const std::function<void(const char*, std::span<const double>)>& f_;
    } rest(f);
    group.rule->visit_lane(own, rest);
    std::vector<double> all;
    const char* name = "slots";
    for (std::size_t j = 0; j < features(); ++j) name = group.rule->alone(j, own, all);
    f(name, all);
  });
}

}  // namespace gossamer
