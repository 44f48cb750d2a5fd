// Lanes in two halves, which learn the same rows at the same time, each on a thread of its own where there are many
// rows. Lanes do not touch each other, so that the numbers are those of one learner with all of them.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "lanes.hpp"
#include "threads.hpp"

namespace gossamer {

class LaneHalves final : public Lanes {
 public:
  LaneHalves(std::size_t features, std::size_t outputs, std::unique_ptr<Lanes> first, std::unique_ptr<Lanes> second)
      : Lanes(features, outputs, first->lanes() + second->lanes()),
        k_(outputs),
        cut_(first->lanes()),
        halves_{std::move(first), std::move(second)} {
    refresh();
  }

  void learn(const Examples<double>& examples, const LossCall& loss) override { share(examples, loss); }
  void learn(const Examples<float>& examples, const LossCall& loss) override { share(examples, loss); }

  void read(std::span<double> weights, std::span<double> intercept) const override {
    for (std::size_t h = 0; h < 2; ++h) {
      std::vector<double> w(features_ * halves_[h]->outputs());
      halves_[h]->read(w, part(intercept, h));
      spread(w, h, weights);
    }
  }
  void read_some(Some features, std::span<double> weights, std::span<double> intercept) const override {
    for (std::size_t h = 0; h < 2; ++h) {
      std::vector<double> w(features.size() * halves_[h]->outputs());
      halves_[h]->read_some(features, w, part(intercept, h));
      spread(w, h, weights);
    }
  }
  void read_average(std::span<double> weights, std::span<double> intercept) const override {
    halves_[0]->read_average(weights, intercept);  // throws
  }
  void read_some_average(Some features, std::span<double> weights, std::span<double> intercept) const override {
    halves_[0]->read_some_average(features, weights, intercept);
  }
  std::span<const double> intercepts() const override { return intercepts_; }
  void read_lane(std::size_t lane, std::span<double> weights, std::span<double> intercept) const override {
    const auto [h, own] = where(lane);
    halves_[h]->read_lane(own, weights, intercept);
  }
  void count_nonzeros(std::span<std::int64_t> counts) const override {
    for (std::size_t h = 0; h < 2; ++h) halves_[h]->count_nonzeros(part(counts, h));
  }
  void gather(std::span<std::int64_t> at, std::span<std::int64_t> index, std::span<double> value) const override {
    for (std::size_t h = 0; h < 2; ++h) halves_[h]->gather(part(at, h), index, value);
  }
  void alone(std::size_t lane, Visitor f, void* context) const override {
    const auto [h, own] = where(lane);
    halves_[h]->alone(own, f, context);
  }
  // The names of the second half have a 2 after them.
  void visit(Visitor f, void* context) override {
    halves_[0]->visit(f, context);
    auto named = [&](const char* name, std::span<double> values, std::vector<double>* grows) {
      f(context, (std::string(name) + " 2").c_str(), values, grows);
    };
    halves_[1]->visit([](void* to, const char* name, std::span<double> values,
                         std::vector<double>* grows) { (*static_cast<decltype(named)*>(to))(name, values, grows); },
                      &named);
    refresh();
  }

 private:
  std::size_t k_, cut_;
  std::unique_ptr<Lanes> halves_[2];
  std::vector<double> intercepts_;

  template <class T>
  void share(const Examples<T>& examples, const LossCall& loss) {
    constexpr std::int64_t few = 4096;  // entries for which a thread does not pay
    std::int64_t entries = 0;
    for (std::size_t i = 0; i < examples.count && entries < few; ++i) entries += examples.ends[i] - examples.begins[i];
    in_parallel(2, entries < few ? 1 : std::thread::hardware_concurrency(), [&](std::size_t h) {
      halves_[h]->scoring = scoring;
      halves_[h]->learn(examples, loss);
    });
    refresh();
  }

  // What all halves know, or what they know together.
  void refresh() {
    counts_ = {halves_[0]->rounds(), halves_[0]->weight_seen(), halves_[0]->loss_seen()};
    totals_ = {halves_[0]->scored(), halves_[0]->scored_squares()};
    intercepts_.clear();
    for (std::size_t h = 0; h < 2; ++h) {
      std::copy_n(halves_[h]->losses().begin(), halves_[h]->lanes(), losses_.begin() + (h ? cut_ : 0));
      std::copy_n(halves_[h]->squares().begin(), halves_[h]->lanes(), squares_.begin() + (h ? cut_ : 0));
      const auto b = halves_[h]->intercepts();
      intercepts_.insert(intercepts_.end(), b.begin(), b.end());
    }
  }

  std::pair<std::size_t, std::size_t> where(std::size_t lane) const {
    return lane < cut_ ? std::pair{std::size_t{0}, lane} : std::pair{std::size_t{1}, lane - cut_};
  }
  // The cells of a half.
  template <class T>
  std::span<T> part(std::span<T> cells, std::size_t h) const {
    return h == 0 ? cells.first(cut_ * k_) : cells.subspan(cut_ * k_);
  }
  void spread(const std::vector<double>& rows, std::size_t h, std::span<double> weights) const {
    const std::size_t width = halves_[h]->outputs();
    for (std::size_t j = 0; j * width < rows.size(); ++j) {
      std::copy_n(&rows[j * width], width, &weights[j * outputs_ + (h ? cut_ * k_ : 0)]);
    }
  }
};

}  // namespace gossamer
