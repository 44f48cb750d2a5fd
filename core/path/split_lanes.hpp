// Lanes in parts: each part is a learner of its own with some of the lanes, and all of them see the same examples, each
// on a thread where there are several. A lane does not touch another one, so nothing of what it learns changes.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "path/lanes.hpp"

namespace gossamer {

class SplitLanes final : public Lanes {
 public:
  using Parts = std::vector<std::unique_ptr<Lanes>>;

  SplitLanes(Parts parts, std::size_t features, std::size_t outputs, std::size_t lanes)
      : Lanes(features, outputs, lanes), parts_(std::move(parts)), k_(outputs) {
    collect();
  }

  void learn(const Examples<double>& examples, const LossCall& loss) override { run(examples, loss); }
  void learn(const Examples<float>& examples, const LossCall& loss) override { run(examples, loss); }

  void read(std::span<double> weights, std::span<double> intercept) const override {
    put_together(features_, weights, intercept, [](const Lanes& part, auto w, auto b) { part.read(w, b); });
  }
  void read_some(Some features, std::span<double> weights, std::span<double> intercept) const override {
    put_together(features.size(), weights, intercept,
                 [&](const Lanes& part, auto w, auto b) { part.read_some(features, w, b); });
  }
  void read_some_average(Some features, std::span<double> weights, std::span<double> intercept) const override {
    parts_[0]->read_some_average(features, weights, intercept);  // throws
  }
  void read_average(std::span<double> weights, std::span<double> intercept) const override {
    parts_[0]->read_average(weights, intercept);  // throws
  }
  std::span<const double> intercepts() const override { return intercepts_; }
  void read_lane(std::size_t lane, std::span<double> weights, std::span<double> intercept) const override {
    with_part_of(lane, [&](const Lanes& part, std::size_t own) { part.read_lane(own, weights, intercept); });
  }
  void count_nonzeros(std::span<std::int64_t> counts) const override {
    each_part([&](Lanes& part, std::size_t first) { part.count_nonzeros(counts.subspan(first * k_, part.outputs())); });
  }
  void gather(std::span<std::int64_t> at, std::span<std::int64_t> index, std::span<double> value) const override {
    each_part(
        [&](Lanes& part, std::size_t first) { part.gather(at.subspan(first * k_, part.outputs()), index, value); });
  }
  void alone(std::size_t lane, Visitor f, void* context) const override {
    with_part_of(lane, [&](const Lanes& part, std::size_t own) { part.alone(own, f, context); });
  }

  // The state of each part, under names that end with its number.
  void visit(Visitor f, void* context) override {
    struct Renamed {
      Visitor f;
      void* context;
      std::string end;
    };
    for (std::size_t n = 0; n < parts_.size(); ++n) {
      Renamed renamed{f, context, "_of_part_" + std::to_string(n)};
      parts_[n]->visit(
          [](void* to, const char* name, std::span<double> values, std::vector<double>* grows) {
            const auto& [show, with, end] = *static_cast<Renamed*>(to);
            show(with, (name + end).c_str(), values, grows);
          },
          &renamed);
    }
    collect();
  }

 private:
  static constexpr std::int64_t worth_threads = 1 << 14;  // entries; a thread starts in the time of a thousand

  Parts parts_;
  std::size_t k_;
  std::vector<double> intercepts_;

  // f(part, the number of its first lane)
  template <class F>
  void each_part(F f) const {
    std::size_t first = 0;
    for (const auto& part : parts_) f(*part, first), first += part->lanes();
  }
  template <class F>
  void with_part_of(std::size_t lane, F f) const {
    each_part([&](const Lanes& part, std::size_t first) {
      if (lane >= first && lane < first + part.lanes()) f(part, lane - first);
    });
  }

  template <class T>
  void run(const Examples<T>& examples, const LossCall& loss) {
    std::int64_t entries = 0;
    for (std::size_t i = 0; i < examples.count; ++i) entries += examples.ends[i] - examples.begins[i];
    in_parallel(parts_.size(), entries < worth_threads ? 1 : threads, [&](std::size_t n) {
      parts_[n]->scoring = scoring;
      parts_[n]->learn(examples, loss);
    });
    collect();
  }

  // What the outside sees of all parts.
  void collect() {
    const Lanes& any = *parts_[0];
    counts_ = {any.rounds(), any.weight_seen(), any.loss_seen()};
    totals_ = {any.scored(), any.scored_squares()};
    intercepts_.clear();
    each_part([&](const Lanes& part, std::size_t first) {
      std::copy_n(part.losses().begin(), part.lanes(), &losses_[first]);
      std::copy_n(part.squares().begin(), part.lanes(), &squares_[first]);
      intercepts_.insert(intercepts_.end(), part.intercepts().begin(), part.intercepts().end());
    });
  }

  // Some rows of W of all lanes, from those of each part.
  template <class Read>
  void put_together(std::size_t rows, std::span<double> weights, std::span<double> intercept, Read read) const {
    each_part([&](const Lanes& part, std::size_t first) {
      const std::size_t width = part.outputs();
      std::vector<double> own(rows * width);
      read(part, std::span(own), intercept.subspan(first * k_, width));
      for (std::size_t j = 0; j < rows; ++j) std::copy_n(&own[j * width], width, &weights[j * outputs_ + first * k_]);
    });
  }
};

}  // namespace gossamer
