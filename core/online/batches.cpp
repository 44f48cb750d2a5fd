#include "online/batches.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <type_traits>

#include "base/side_by_side.hpp"
#include "base/threads.hpp"
#include "online/loop.hpp"

namespace gossamer {

namespace {

// f(cells), compiled for one cell and for any number.
template <class F>
[[gnu::always_inline]] inline void by_cells(std::size_t cells, F f) {
  for_this_processor([&] { cells == 1 ? f(std::integral_constant<std::size_t, 1>()) : f(cells); });
}

}  // namespace

Batch::Batch(std::size_t features) : present_(features / 64 + 1), place_(features), all_(features) {}

template <class T>
void Batch::find_features(const Examples<T>& examples) {
  features_.clear();
  if (examples.dense) {
    const auto columns = examples.features(0);
    features_.assign(columns.begin(), columns.end());
    return;
  }
  if (present_.size() <= 32 * entries_) {  // a walk over all bits takes less time than sorting
    for (std::size_t i = 0; i < examples.count; ++i) {
      for (const std::int32_t j : examples.features(i)) present_[static_cast<std::size_t>(j) / 64] |= 1ull << (j % 64);
    }
    for (std::size_t n = 0; n < present_.size(); ++n) {
      for (std::uint64_t bits = present_[n]; bits != 0; bits &= bits - 1) {
        features_.push_back(static_cast<std::int32_t>(64 * n) + std::countr_zero(bits));
      }
      present_[n] = 0;
    }
    return;
  }
  for (std::size_t i = 0; i < examples.count; ++i) {
    const auto row = examples.features(i);
    features_.insert(features_.end(), row.begin(), row.end());
  }
  std::sort(features_.begin(), features_.end());
  features_.erase(std::unique(features_.begin(), features_.end()), features_.end());
}

template <class T>
void Batch::collect(const Examples<T>& examples) {
  entries_ = 0;
  for (std::size_t i = 0; i < examples.count; ++i) {
    const auto row = examples.features(i);
    if (!within_features(row, all_)) throw std::out_of_range("an example has a feature that the learner has not");
    if (!std::is_sorted(row.begin(), row.end())) {
      throw std::out_of_range("the features of an example are not in rising order");
    }
    if (!moderate(std::span(examples.value + examples.begins[i], row.size()))) throw Diverged(too_large_values);
    entries_ += row.size();
  }
  find_features(examples);
  largest.assign(features_.size(), 0.0), ones.assign(features_.size(), 1.0);
  starts_.assign(examples.count + 1, 0);
  if (examples.dense) {
    if (places_.size() != features_.size()) places_.resize(features_.size());
    std::iota(places_.begin(), places_.end(), 0u);
  } else {
    for (std::size_t p = 0; p < features_.size(); ++p) {
      place_[static_cast<std::size_t>(features_[p])] = static_cast<std::uint32_t>(p);
    }
    if (places_.size() < entries_) places_.resize(entries_);
  }
  for (std::size_t i = 0; i < examples.count; ++i) {
    const auto row = examples.features(i);
    const T* x = examples.value + examples.begins[i];
    std::uint32_t* to = places_.data() + starts_[i];
    if (!examples.dense) {
      for (std::size_t n = 0; n < row.size(); ++n) to[n] = place_[static_cast<std::size_t>(row[n])];
    }
    for (std::size_t n = 0; n < row.size(); ++n) {
      largest[to[n]] = std::max(largest[to[n]], static_cast<double>(std::fabs(x[n])));
    }
    starts_[i + 1] = examples.dense ? 0 : starts_[i] + row.size();
  }
}

template <class T>
void LaneGroup::learn_batches(const Examples<T>& examples, const LossCall& loss, bool scoring, unsigned threads) {
  if (!batch_) batch_ = std::make_unique<Batch>(setup.features);
  for (std::size_t begin = 0; begin < examples.count; begin += setup.batch) {
    learn_batch(examples.some(begin, std::min(begin + setup.batch, examples.count)), loss, scoring, threads);
  }
}

template <class T>
void LaneGroup::learn_batch(const Examples<T>& examples, const LossCall& loss, bool scoring, unsigned threads) {
  Batch& all = *batch_;
  const std::size_t rows = examples.count, cells = setup.cells(), lanes = setup.path ? setup.lanes() : 1;
  all.collect(examples);
  const std::span<const std::int32_t> features = all.features();
  all.weights.resize(features.size() * cells), all.sums.assign(features.size() * cells, 0.0);
  all.z.resize(rows * cells), all.slope.resize(rows * cells), all.loss.resize(rows * lanes);

  constexpr std::size_t worth_threads = 1 << 15;  // products; two threads start in the time of some thousands
  if (all.entries() * cells < worth_threads) threads = 1;
  const std::size_t parts = threads > 1 ? 4 * threads : 1;
  const auto weight_of_row = [&](std::size_t i) { return examples.weight ? examples.weight[i] : 1.0; };
  const auto row_of = [cells](std::vector<double>& numbers, std::size_t i) {
    return std::span(numbers).subspan(i * cells, cells);
  };

  const double step = *examples.step;
  std::fill(z_.begin(), z_.end(), 0.0);
  rule->margins({features, all.largest.data()}, step, z_.data());  // weights are brought up to date
  rule->seen({features, all.largest.data()}, cells, all.weights.data());
  const auto b = intercept.values();
  in_parallel(parts, threads, [&](std::size_t part) {
    by_cells(cells, [&](auto k) {
      for (std::size_t i = rows * part / parts; i < rows * (part + 1) / parts; ++i) {
        const std::size_t size = static_cast<std::size_t>(examples.ends[i] - examples.begins[i]);
        const T* x = examples.value + examples.begins[i];
        const std::uint32_t* at = all.places(i);
        const std::span<double> z = row_of(all.z, i), slope = row_of(all.slope, i);
        for (std::size_t c = 0; c < cells; ++c)
          z[c] = (b.empty() ? 0.0 : b[c]) + (examples.offset ? examples.offset[i] : 0.0);
        for (std::size_t n = 0; n < size; ++n) {
          const double* w = all.weights.data() + at[n] * k;
          double* to = z.data();
          side_by_side(k, [=, by = static_cast<double>(x[n])](std::size_t c) { to[c] += by * w[c]; });
        }
        const double* y = examples.y + i * examples.targets;
        if (setup.path) {
          loss(z, y, slope, std::span(all.loss).subspan(i * lanes, lanes));
        } else {
          all.loss[i] = loss(z, y, slope);
        }
      }
    });
  });

  for (std::size_t i = 0; i < rows; ++i) {
    const double weight = weight_of_row(i), by = std::max(1.0, weight) * std::max(1.0, step);
    const std::span<double> z = row_of(all.z, i), slope = row_of(all.slope, i);
    if (setup.path) {
      leave_out_lost(z, slope, std::span(all.loss).subspan(i * lanes, lanes), by);
    } else if (!learnable(z, slope, by * largest_size_)) {
      diverge(z[0], slope[0], weight, step);
    }
  }
  // Nothing below can fail.
  std::fill(slope_.begin(), slope_.end(), 0.0);
  counts[0] += 1;
  for (std::size_t i = 0; i < rows; ++i) {
    const double weight = weight_of_row(i);
    const std::span<double> slope = row_of(all.slope, i);
    counts[1] += weight;
    if (setup.path) {
      count_lanes(&all.loss[i * lanes], weight, scoring);
    } else {
      counts[2] += weight * all.loss[i];
    }
    const double by = weight / static_cast<double>(rows);
    for (std::size_t c = 0; c < cells; ++c) slope[c] *= by, slope_[c] += slope[c];
  }
  in_parallel(parts, threads, [&](std::size_t part) {
    const auto first = static_cast<std::uint32_t>(features.size() * part / parts);
    const auto last = static_cast<std::uint32_t>(features.size() * (part + 1) / parts);
    by_cells(cells, [&](auto k) {
      for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t size = static_cast<std::size_t>(examples.ends[i] - examples.begins[i]);
        const std::uint32_t* at = all.places(i);
        const std::uint32_t *from = std::lower_bound(at, at + size, first),
                            *to = std::lower_bound(from, at + size, last);
        const T* x = examples.value + examples.begins[i];
        const double* slope = &all.slope[i * cells];
        for (; from < to; ++from) {
          double* sum = all.sums.data() + *from * k;
          side_by_side(k, [=, by = static_cast<double>(x[from - at])](std::size_t c) { sum[c] += by * slope[c]; });
        }
      }
    });
  });
  rule->learn({features, all.ones.data()}, {all.sums.data(), cells});
  if (!b.empty()) intercept.update(slope_, loss.tame_slope());
  for (std::size_t c = 0; c < intercept_sum.size(); ++c) intercept_sum[c] += b[c];
}

template void LaneGroup::learn_batches(const Examples<double>&, const LossCall&, bool, unsigned);
template void LaneGroup::learn_batches(const Examples<float>&, const LossCall&, bool, unsigned);

}  // namespace gossamer
