// What the rules for any penalty share: a buffer with the rows of an example's features, which the penalty is called on
// once, and loops over its cells. A row of the buffer is [lane][output].
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "base/pack.hpp"
#include "base/side_by_side.hpp"
#include "online/methods.hpp"

namespace gossamer {

class BufferedRule : public Rule {
 public:
  void prefetch(std::span<const std::int32_t> features) const override {
    for (const std::int32_t j : features) {
      const auto* bytes = reinterpret_cast<const char*>(slot(static_cast<std::size_t>(j)));
      for (std::size_t at = 0; at < stride_ * sizeof(double); at += 64) __builtin_prefetch(bytes + at, 1);
    }
  }

  void seen(const Row& row, std::size_t cells, double* w) const override {
    std::copy_n(here_.w.data(), row.size() * cells, w);
  }

 protected:
  BufferedRule(AnyPenalty penalty, const Setup& setup, std::size_t stride)
      : penalty_(std::move(penalty)),
        features_(setup.features),
        m_(setup.lanes()),
        k_(setup.outputs),
        cells_(setup.cells()),
        stride_(stride),
        alphas_(setup.alphas),
        step_factors_(setup.step_factors),
        slots_(setup.features * stride) {}

  AnyPenalty penalty_;
  std::size_t features_, m_, k_, cells_, stride_;
  std::vector<double> alphas_, step_factors_;
  Slots slots_;

  // The rows of some features: their weights, the s of each row, two numbers per feature, some per lane.
  struct Buffer {
    std::vector<double> w, s, per, also, lane;
  };
  Buffer here_;                   // of the example at hand
  std::vector<double> scores_;    // of its cells
  static Buffer& for_reading() {  // several threads may read a learner
    thread_local Buffer buffer;
    return buffer;
  }

  double* slot(std::size_t j) { return &slots_[j * stride_]; }
  const double* slot(std::size_t j) const { return &slots_[j * stride_]; }

  void make_room(Buffer& b, std::size_t n) const {
    if (b.per.size() < n) b.per.resize(2 * n), b.also.resize(2 * n);
    if (b.s.size() < n * m_) b.s.resize(2 * n * m_);
    if (b.w.size() < n * cells_) b.w.resize(2 * n * cells_);
  }
  // All rows of a buffer, and those of one lane.
  Rows rows(Buffer& b, std::span<const std::int32_t> features) const {
    return {b.w.data(), features.size() * m_, k_, k_, features.data(), m_};
  }
  Rows lane(Buffer& b, std::span<const std::int32_t> features, std::size_t i) const {
    return {b.w.data() + i * k_, features.size(), k_, cells_, features.data()};
  }
  // z += Σ x W; one output is summed in several registers, so that no addition waits for the one before.
  void add_up(const Row& row, double* z) {
    const double *x = row.x, *w = here_.w.data();
    if (cells_ == 1) {
      double sums[4] = {};
      std::size_t n = 0;
      for (; n + 4 <= row.size(); n += 4) {
        for (std::size_t r = 0; r < 4; ++r) sums[r] += x[n + r] * w[n + r];
      }
      for (; n < row.size(); ++n) sums[0] += x[n] * w[n];
      *z += (sums[0] + sums[2]) + (sums[1] + sums[3]);
      return;
    }
    if (cells_ < 4) {
      for (std::size_t n = 0; n < row.size(); ++n, w += cells_) {
        for (std::size_t c = 0; c < cells_; ++c) z[c] += x[n] * w[c];
      }
      return;
    }
    // Sixteen cells at a time, in registers: the last fours overlap. (One row after the other, in memory, and features
    // that catch up one by one, FOBOS takes 1.6 times as long on dense rows of ten classes.)
    scores_.resize(cells_);
    for_this_processor([&, cells = cells_, size = row.size(), to = scores_.data()] {
      for (std::size_t c = 0; c < cells; c += 16) {
        const std::size_t last = cells - 4, at[] = {std::min(c, last), std::min(c + 4, last), std::min(c + 8, last),
                                                    std::min(c + 12, last)};
        Quad a = load_four(z + at[0]), b = load_four(z + at[1]), d = load_four(z + at[2]), e = load_four(z + at[3]);
        const double* from = w;
        for (std::size_t n = 0; n < size; ++n, from += cells) {
          const Quad by = spread_four(x[n]);
          a += by * load_four(from + at[0]), b += by * load_four(from + at[1]);
          d += by * load_four(from + at[2]), e += by * load_four(from + at[3]);
        }
        store_four(to + at[0], a), store_four(to + at[1], b), store_four(to + at[2], d), store_four(to + at[3], e);
      }
    });
    std::copy_n(scores_.begin(), cells_, z);
  }
  // f(lanes, outputs), compiled for one of them or of both too: loops over one number take longer than what they do.
  template <class F>
  void by_size(F f) const {
    constexpr std::integral_constant<std::size_t, 1> one;
    for_this_processor([&] { cells_ == 1 ? f(one, one) : k_ == 1 ? f(m_, one) : f(m_, k_); });
  }
  // Where zero is not allowed the weights start at the nearest that is.
  bool starts_at_zero() const {
    std::vector<double> w(1);
    const double s = 0;
    for (std::size_t j = 0; j < features_ && penalty_->facts().constrains; ++j) {
      const auto feature = static_cast<std::int32_t>(j);
      w[0] = 0;
      penalty_->prox({w.data(), 1, 1, 1, &feature}, &s);
      if (w[0] != 0) return false;
    }
    return true;
  }
};

}  // namespace gossamer
