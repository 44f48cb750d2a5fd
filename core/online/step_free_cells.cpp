// The rule without a step for several outputs or lanes. (step_free.hpp has the formulas.) The units of the features lie
// apart from their sums: they are the same for all outputs and lanes.
#include <stdexcept>

#include "online/eights.hpp"
#include "online/hot.hpp"
#include "online/merging.hpp"
#include "online/step_free.hpp"
#include "online/step_free_merging.hpp"

namespace gossamer {

namespace {

class StepFreeCells : public Rule {
 public:
  static constexpr bool step_free = true;

  Gauge& gauge() { return gauge_; }
  const double* sums() const { return sums_.data(); }
  const double* sizes() const { return sizes_.data(); }

  void margins(const Row&, double, double*) final { throw std::logic_error("the loop looks and moves"); }
  void learn(const Row&, Slopes) final { throw std::logic_error("the loop looks and moves"); }
  void take_back() final { gauge_.take_back(); }
  double strength_unit() const final { return gauge_.strength_unit(); }
  bool judged_apart() const final { return gauge_.corrects(); }
  bool has_intercepts() const final { return true; }
  void read_intercepts(double* b) const final {
    std::vector<double> w(gauge_.cells);
    for (std::size_t c = 0; c < w.size(); ++c) b[c] = gauge_.intercept(c);
    for (std::size_t j = 0; j < means_.size(); ++j) {
      read(j, w.data());
      for (std::size_t c = 0; c < w.size(); ++c) b[c] -= w[c] * means_[j];
    }
  }
  void visit(StateVisitor& f) final {
    gauge_.visit(f);
    f("means", std::span(means_), Per::learner, {{a_float}});
    f.floats("units", units_.all().first(2 * features_), {{float_from_zero, 2}});
    f.floats("slots", slots_.all().first(stride_ * features_),
             {{float_from_zero, first_sum_}, {a_float, stride_ - first_sum_}});
  }
  void visit_lane(std::size_t lane, StateVisitor& f) final {
    gauge_.visit_lane(lane, f);
    f("means", std::span(means_), Per::learner, {});
    if (!hot_alone()) f.floats("units", units_.all().first(2 * features_), {});
  }
  void add(Rule& rule) final {
    auto& other = same_kind<StepFreeCells>(rule);
    const double rounds = gauge_.rounds(), others = other.gauge_.rounds();
    Gauge::Factors own, its;
    gauge_.add(other.gauge_, own, its);
    for (std::size_t j = 0; j < features_; ++j) {
      float *at = &units_[2 * j], *from = &other.units_[2 * j], *to = slot(j), *its_slot = other.slot(j);
      const MergedUnits units(at, from, j < means_.size() ? means_[j] - other.means_[j] : 0.0);
      for (std::size_t i = 0, c = first_sum_; i < gauge_.blocks; ++i, c += gauge_.width) {
        units.add(to + i, its_slot + i, to + c, its_slot + c, gauge_.width, i, own, its, gauge_.prior(i));
      }
      at[0] = static_cast<float>(units.q), at[1] = static_cast<float>(units.n);
    }
    merge_means(means_, other.means_, rounds, others);
  }
  void share(double parts, double rounds) final {
    gauge_.share(parts, rounds);
    const float by = static_cast<float>(1 / parts);
    for (std::size_t j = 0; j < features_; ++j) {
      units_[2 * j + 1] *= by;
      float* at = slot(j);
      for (std::size_t i = 0; i < gauge_.blocks; ++i) at[i] = MergedUnits::shared(at[i], gauge_.prior(i), parts);
      for (std::size_t c = first_sum_; c < stride_; ++c) at[c] *= by;
    }
  }
  // {q, n, S, Z} as the hot rule has them, or {S …, Z …}.
  const char* alone(std::size_t j, std::size_t lane, std::vector<double>& numbers) const final {
    const std::size_t blocks = gauge_.blocks / gauge_.lanes, outputs = gauge_.outputs;
    const auto add = [&](const float* from, std::size_t count) {
      numbers.insert(numbers.end(), from, from + count);
      numbers.resize(numbers.size() + (hot_alone() ? 0 : room(count) - count));
    };
    if (hot_alone()) add(&units_[2 * j], 2);
    add(slot(j) + lane * blocks, blocks), add(slot(j) + first_sum_ + lane * outputs, outputs);
    return "slots";
  }
  void prefetch(std::span<const std::int32_t> features) const final {
    for (const std::int32_t j : features) {
      __builtin_prefetch(&units_[2 * static_cast<std::size_t>(j)], 1);
      const auto* bytes = reinterpret_cast<const char*>(slot(static_cast<std::size_t>(j)));
      for (std::size_t at = 0; at < stride_ * sizeof(float); at += 64) __builtin_prefetch(bytes + at, 1);
    }
  }

 protected:
  // S of a feature, then Z from number `first_sum` on.
  StepFreeCells(Gauge gauge, const Setup& s, const StepFreeSettings& settings, std::size_t first_sum,
                std::size_t stride)
      : gauge_(std::move(gauge)),
        features_(s.features),
        first_sum_(first_sum),
        stride_(stride),
        units_(2 * (s.features + 1)),     // the last one is spare
        slots_(stride * s.features + 8),  // so that eight numbers can be read from any of them on
        means_(s.centred),
        noise_(static_cast<float>(settings.noise)),
        sums_((Gauge::bins + 1) * gauge_.cells),
        sizes_(gauge_.blocks),
        bins_((Gauge::bins + 1) * (stride - first_sum)) {}

  Gauge gauge_;
  std::size_t features_, first_sum_, stride_;
  Zeros<float> units_, slots_;
  std::vector<double> means_;
  float noise_;
  std::vector<double> sums_, sizes_;   // of the example
  std::vector<float> bins_;            // the sums as they add up
  std::vector<float> before_, after_;  // of each feature of the example: x̃ without and with it
  std::vector<std::int32_t> bin_of_;   // and its bin

  virtual bool hot_alone() const { return false; }                     // whether a lane alone has the hot rule
  virtual std::size_t room(std::size_t count) const { return count; }  // for so many numbers in a slot
  float* slot(std::size_t j) { return &slots_[j * stride_]; }
  const float* slot(std::size_t j) const { return &slots_[j * stride_]; }
  float* bin_for(std::size_t n) { return &bins_[static_cast<std::size_t>(bin_of_[n]) * (stride_ - first_sum_)]; }
  std::int32_t spare() const { return static_cast<std::int32_t>(features_); }
  float divisor(float square, std::size_t block) const {
    const float d = std::sqrt(square + gauge_.prior(block));
    return d > least_divisor ? d : least_divisor;
  }

  template <class T>
  [[gnu::always_inline]] void look_at_units(const RowOf<T>& row) {
    if (before_.size() < row.size() + 8) {
      before_.resize(2 * row.size() + 8), after_.resize(before_.size()), bin_of_.resize(before_.size());
    }
    const auto look = [&](const std::int32_t* j, Oct x, OctBits there, std::size_t n) GOSSAMER_INLINE {
      const Pairs at = load_pairs(&units_[0], j);
      store_eight(&before_[n], pick(there, Units{at.a, at.b}.before(x), load_eight(&before_[n])));
      const OctBits bins =
          -((at.b >= Gauge::bin_ends[0]) + (at.b >= Gauge::bin_ends[1]) + (at.b >= Gauge::bin_ends[2]));
      std::memcpy(&bin_of_[n], &bins, sizeof bins);
    };
    std::fill_n(before_.begin(), row.size(), 0.0f);
    each_centred_eight(row, means_, spare(), look);
    each_eight(row, means_.size(), spare(), look);
    std::fill(bins_.begin(), bins_.end(), 0.0f);
    std::fill(sizes_.begin(), sizes_.end(), 0.0);
  }
  // Returns Σ x̃².
  template <class T>
  [[gnu::always_inline]] double move_units(const RowOf<T>& row) {
    Oct squares = {};
    const float dither = gauge_.dither();
    const auto move = [&]<bool centred>(const std::int32_t* j, Oct x, OctBits there, std::size_t n) GOSSAMER_INLINE {
      Pairs at = load_pairs(&units_[0], j);
      Units units{at.a, at.b};
      const Oct now = units.after<centred>(x, there, select(there, load_eight(&before_[n])), dither);
      store_pairs(&units_[0], j, {units.q, units.n});
      store_eight(&after_[n], pick(there, now, load_eight(&after_[n])));
      squares += now * now;
    };
    std::fill_n(after_.begin(), row.size(), 0.0f);
    each_centred_eight(row, means_, spare(),
                       [&](const std::int32_t* j, Oct x, OctBits there, std::size_t n)
                           GOSSAMER_INLINE { move.template operator()<true>(j, x, there, n); });
    each_eight(row, means_.size(), spare(),
               [&](const std::int32_t* j, Oct x, OctBits there, std::size_t n)
                   GOSSAMER_INLINE { move.template operator()<false>(j, x, there, n); });
    update_means(means_, row, gauge_.rounds());
    return total(squares);
  }
  void gather_sums() {
    const std::size_t cells = gauge_.cells, wide = stride_ - first_sum_;
    for (std::size_t b = 0; b <= Gauge::bins; ++b) std::copy_n(&bins_[b * wide], cells, &sums_[b * cells]);
    if (gauge_.cut() > 0) return;  // otherwise all are kept
    double* all = &sums_[Gauge::bins * cells];
    for (std::size_t c = 0; c < cells; ++c) {
      all[c] = (sums_[c] + sums_[cells + c]) + (sums_[2 * cells + c] + sums_[3 * cells + c]);
    }
  }
};

std::size_t eights(std::size_t n) { return (n + 7) / 8 * 8; }

// The ℓ1 norm where every cell has an S of its own: eight cells at a time.
class StepFreeLanes final : public Looped<StepFreeLanes, StepFreeCells> {
 public:
  StepFreeLanes(const Weights& weights, const Setup& s, const StepFreeSettings& settings)
      : Looped(Gauge(s, settings, false, true), s, settings, eights(s.cells()), 2 * eights(s.cells())),
        weights_(weights),
        priors_(first_sum_),
        levels_(first_sum_),
        slopes_(first_sum_),
        size_sums_(first_sum_) {}

  template <class T>
  [[gnu::always_inline]] void look(const RowOf<T>& row, double*, bool with_sizes) {
    look_at_units(row);
    for (std::size_t c = 0; c < gauge_.cells; ++c) {
      priors_[c] = gauge_.prior(c), levels_[c] = static_cast<float>(gauge_.level(c));
    }
    const bool weighted = !weights_.empty(), cuts = gauge_.cut() > 0;
    const Oct cut = spread_eight(gauge_.cut());
    for (std::size_t first = 0; first < first_sum_; first += 8) {
      const Oct prior = load_eight(&priors_[first]), level = load_eight(&levels_[first]);
      const Oct noise = spread_eight(noise_), least = spread_eight(least_divisor);
      const float *slots = slot(0) + first, *before = before_.data();
      const std::int32_t *index = row.index.data(), *bin = bin_of_.data();
      float* bins = &bins_[first];
      Oct sizes = {}, all = {};
      for (std::size_t n = 0, size = row.size(), gap = first_sum_, stride = stride_; n < size; ++n) {
        const float *at = slots + static_cast<std::size_t>(index[n]) * stride, x = before[n];
        const Oct d = larger(root(load_eight(at) + prior), least), by = x / d;
        const Oct threshold = noise * d + (weighted ? level * weight(row[n]) : level);
        const Oct excess = soft(load_eight(at + gap), threshold), f = by * excess;
        float* to = bins + static_cast<std::size_t>(bin[n]) * gap;
        store_eight(to, load_eight(to) + (cuts ? select(absolute(excess) > cut, f) : f));
        if (cuts) all += f;
        if (with_sizes) sizes += x * by;
      }
      if (with_sizes) store_eight(&size_sums_[first], sizes);
      if (cuts) store_eight(&bins_[Gauge::bins * first_sum_ + first], all);
    }
    gather_sums();
    if (with_sizes) std::copy_n(size_sums_.begin(), gauge_.blocks, sizes_.begin());
  }
  template <class T>
  [[gnu::always_inline]] double move(const RowOf<T>& row, const double* slope) {
    const double squares = move_units(row);
    std::copy_n(slope, gauge_.cells, slopes_.begin());
    const float dither = gauge_.dither();
    const bool weighted = !weights_.empty();
    for (std::size_t first = 0; first < first_sum_; first += 8) {
      const Oct s = load_eight(&slopes_[first]);
      const Oct prior = load_eight(&priors_[first]), level = load_eight(&levels_[first]);
      const Oct noise = spread_eight(noise_), least = spread_eight(least_divisor);
      float* slots = slot(0) + first;
      const float* after = after_.data();
      const std::int32_t* index = row.index.data();
      for (std::size_t n = 0, size = row.size(), gap = first_sum_, stride = stride_; n < size; ++n) {
        float *at = slots + static_cast<std::size_t>(index[n]) * stride, x = after[n];
        const Oct v = s * x, old = load_eight(at), now = grown(old, v * v, dither), z = load_eight(at + gap);
        const Oct d = larger(root(old + prior), least), gained = larger(root(now + prior), least) - d;
        const Oct threshold = noise * d + (weighted ? level * weight(row[n]) : level);
        store_eight(at, now);
        store_eight(at + gap, z + (gained * soft(z, threshold) / d + v));
      }
    }
    return squares;
  }
  void read(std::size_t j, double* w) const override {
    const float *at = slot(j), *sums = at + first_sum_, q = units_[2 * j], n = units_[2 * j + 1];
    for (std::size_t c = 0; c < gauge_.cells; ++c) {
      const float d = divisor(at[c], c);
      const double excess = soft<double>(sums[c], static_cast<double>(noise_) * d + gauge_.level(c) * weight(j));
      w[c] = std::fabs(excess) > gauge_.cut() && q > 0 ? -gauge_.factor(c, n) * excess / (static_cast<double>(d) * q)
                                                       : 0.0;
    }
  }

 private:
  Weights weights_;
  std::vector<float> priors_, levels_, slopes_, size_sums_;

  bool hot_alone() const override { return gauge_.outputs == 1; }
  std::size_t room(std::size_t count) const override { return eights(count); }

  float weight(std::size_t j) const { return weights_.empty() ? 1.0f : static_cast<float>(weights_[j]); }
};

// Cells whose outputs share an S in each lane, eight outputs at a time. (One output at a time, dense rows of ten
// classes take 1.8 times as long.) −û of the cells of a feature comes from `P`, which knows the penalty.
template <class P>
class StepFreeRows : public Looped<P, StepFreeCells> {
 public:
  template <class T>
  [[gnu::always_inline]] double move(const RowOf<T>& row, const double* slope) {
    const double squares = this->move_units(row);
    std::copy_n(slope, gauge_.cells, slopes_.begin());
    const std::size_t width = gauge_.width, size = row.size(), stride = this->stride_;
    for (std::size_t i = 0; i < gauge_.blocks; ++i) {
      grow(row.index, i);
      for (std::size_t p = 0; p < width; p += 8) {
        const OctBits ours = ~last_lanes(p + 8 > width ? p + 8 - width : 0);
        const Oct s = load_eight(&slopes_[i * width + p]);
        const float* after = this->after_.data();
        float* sums = this->slot(0) + first_sum_ + i * width + p;
        const std::int32_t* index = row.index.data();
        const auto gain = static_cast<P&>(*this).gain(i, p);
        for (std::size_t n = 0; n < size; ++n) {
          float* at = sums + static_cast<std::size_t>(index[n]) * stride;
          const Oct z = load_eight(at);
          store_eight(at, pick(ours, z + gain(n, z) + s * after[n], z));
        }
      }
    }
    return squares;
  }

 protected:
  StepFreeRows(const Setup& s, const StepFreeSettings& settings, bool shared, bool corrects)
      : Looped<P, StepFreeCells>(Gauge(s, settings, shared, corrects), s, settings, blocks_of(s, shared),
                                 blocks_of(s, shared) + s.cells()),
        slopes_(s.cells() + 8) {}
  using StepFreeCells::first_sum_;
  using StepFreeCells::gauge_;

  std::vector<float> squares_, divisors_, growth_;  // of each feature of the example: S, D, and (D' − D) / D
  std::size_t room_ = 0;                            // for so many features, and as many for the next block

  void find_divisors(std::span<const std::int32_t> features) {
    room_ = this->before_.size();
    if (squares_.size() < room_ * gauge_.blocks) {
      squares_.resize(room_ * gauge_.blocks), divisors_.resize(squares_.size()), growth_.resize(room_);
    }
    for (std::size_t i = 0; i < gauge_.blocks; ++i) {
      const float *slots = this->slot(0) + i, prior = gauge_.prior(i);
      float *s = &squares_[i * room_], *d = &divisors_[i * room_];
      for (std::size_t n = 0; n < features.size(); ++n)
        s[n] = slots[static_cast<std::size_t>(features[n]) * this->stride_];
      for (std::size_t n = 0; n < features.size(); n += 8) store_eight(d + n, divisors(load_eight(s + n), prior));
    }
  }
  // S gains what the slopes of block i bring.
  void grow(std::span<const std::int32_t> features, std::size_t i) {
    const float taken = gauge_.taken(i), prior = gauge_.prior(i), dither = gauge_.dither();
    float *s = &squares_[i * room_], *slots = this->slot(0) + i;
    for (std::size_t n = 0; n < features.size(); n += 8) {
      const Oct x = load_eight(&this->after_[n]), by = taken * x * x, old = load_eight(s + n);
      const Oct d = load_eight(&divisors_[i * room_ + n]);
      store_eight(&growth_[n], (divisors(old + by, prior) - d) / d);
      store_eight(s + n, grown(old, by, dither));
    }
    for (std::size_t n = 0; n < features.size(); ++n)
      slots[static_cast<std::size_t>(features[n]) * this->stride_] = s[n];
  }

 private:
  std::vector<float> slopes_;

  [[gnu::always_inline]] static Oct divisors(Oct squares, float prior) {
    return larger(root(squares + prior), spread_eight(least_divisor));
  }
  static std::size_t blocks_of(const Setup& s, bool shared) { return shared || s.joint ? s.lanes() : s.cells(); }
};

[[gnu::always_inline]] inline float soft_float(float z, float threshold) {
  const float high = z < threshold ? z : threshold;
  return z - (high > -threshold ? high : -threshold);
}

class StepFreeL1Rows final : public StepFreeRows<StepFreeL1Rows> {
 public:
  StepFreeL1Rows(const Weights& weights, const Setup& s, const StepFreeSettings& settings)
      : StepFreeRows(s, settings, false, true), weights_(weights) {}

  template <class T>
  [[gnu::always_inline]] void look(const RowOf<T>& row, double*, bool with_sizes) {
    look_at_units(row);
    find_divisors(row.index);
    if (limits_.size() < squares_.size()) limits_.resize(squares_.size()), by_.resize(room_);
    const std::size_t width = gauge_.width, size = row.size(), stride = stride_;
    const Oct cut = spread_eight(gauge_.cut());
    const bool cuts = gauge_.cut() > 0;
    for (std::size_t i = 0; i < gauge_.blocks; ++i) {
      const float *d = &divisors_[i * room_], *x = before_.data();
      float *limits = &limits_[i * room_], *by = by_.data();
      if (weights_.empty()) {
        side_by_side(size, [=, noise = noise_, level = static_cast<float>(gauge_.level(i))](std::size_t n) {
          limits[n] = noise * d[n] + level;
        });
      } else {
        for (std::size_t n = 0; n < size; ++n) limits[n] = limit(row[n], i, d[n]);
      }
      side_by_side(size, [=](std::size_t n) { by[n] = x[n] / d[n]; });
      for (std::size_t n = 0; n < size && with_sizes; ++n) sizes_[i] += x[n] * by[n];
      for (std::size_t p = 0; p < width; p += 8) {
        const float* sums = slot(0) + first_sum_ + i * width + p;
        const std::int32_t *index = row.index.data(), *bin = bin_of_.data();
        Oct bins[Gauge::bins] = {}, kept = {}, all = {};
        std::int32_t last = 0;
        for (std::size_t n = 0; n < size; ++n) {
          const Oct z = load_eight(sums + static_cast<std::size_t>(index[n]) * stride);
          const Oct excess = soft(z, spread_eight(limits[n])), f = by[n] * excess;
          if (bin[n] != last) bins[last] = kept, last = bin[n], kept = bins[last];
          kept += cuts ? select(absolute(excess) > cut, f) : f;
          if (cuts) all += f;
        }
        bins[last] = kept;
        for (std::size_t c = p; c < std::min(p + 8, width); ++c) {
          const int lane = static_cast<int>(c - p);
          for (std::size_t b = 0; b < Gauge::bins; ++b) bins_[b * gauge_.cells + i * width + c] = bins[b][lane];
          bins_[Gauge::bins * gauge_.cells + i * width + c] = all[lane];
        }
      }
    }
    gather_sums();
  }
  // What eight sums of a feature gain with S.
  auto gain(std::size_t i, std::size_t) const {
    return [growth = growth_.data(), limits = &limits_[i * room_]](std::size_t n, Oct sums)
               GOSSAMER_INLINE { return growth[n] * soft(sums, spread_eight(limits[n])); };
  }
  void read(std::size_t j, double* w) const override {
    const float *at = slot(j), *sums = at + first_sum_, q = units_[2 * j], n = units_[2 * j + 1];
    for (std::size_t c = 0; c < gauge_.cells; ++c) {
      const std::size_t i = c / gauge_.width;
      const float d = divisor(at[i], i);
      const double excess = soft_float(sums[c], limit(j, i, d));
      w[c] = std::fabs(excess) > gauge_.cut() && q > 0 ? -gauge_.factor(c, n) * excess / (static_cast<double>(d) * q)
                                                       : 0.0;
    }
  }

 private:
  Weights weights_;
  std::vector<float> limits_, by_;  // of each feature of the example: what Z must exceed, and x̃ / D

  float limit(std::size_t j, std::size_t i, float d) const {
    return noise_ * d + static_cast<float>(gauge_.level(i) * (weights_.empty() ? 1.0 : weights_[j]));
  }
};

// Any penalty, called once per example on a buffer of weights: g û, or of a set the weights in the units of the
// features, which nothing corrects.
class StepFreeAny final : public StepFreeRows<StepFreeAny> {
 public:
  StepFreeAny(AnyPenalty penalty, const Setup& s, const StepFreeSettings& settings)
      : StepFreeRows(uncut(s), settings, penalty->of_blocks(), !penalty->facts().is_set),
        of_blocks_(penalty->of_blocks()),
        penalty_(std::move(penalty)) {}

  template <class T>
  [[gnu::always_inline]] void look(const RowOf<T>& row, double* z, bool with_sizes) {
    look_at_units(row);
    find_divisors(row.index);
    load(here_, row.index);
    const std::size_t cells = gauge_.cells;
    const double g = gauge_.pace();
    for (std::size_t n = 0; n < row.size(); ++n) {
      const double *w = &here_.w[n * cells], x = before_[n];
      if (is_set()) {
        const double off = static_cast<double>(row.x[n]) - (n < means_.size() ? means_[n] : 0.0);
        for (std::size_t c = 0; c < cells; ++c) z[c] += w[c] * off;
      } else if (g > 0) {
        float* to = bin_for(n);
        for (std::size_t c = 0; c < cells; ++c) to[c] -= static_cast<float>(w[c] * x / g);
      }
      for (std::size_t i = 0; i < gauge_.blocks && with_sizes; ++i) sizes_[i] += x * x / divisor(slot(row[n])[i], i);
    }
    gather_sums();
  }
  auto gain(std::size_t i, std::size_t p) const {
    return [this, i, p, g = gauge_.pace()](std::size_t n, Oct) GOSSAMER_INLINE {
      const float by = growth_[n] * divisors_[i * room_ + n];
      Oct gains = {};
      for (std::size_t c = i * gauge_.width + p, lane = 0; lane < 8 && p + lane < gauge_.width; ++lane, ++c) {
        const double unit = is_set() ? g * gauge_.spread(c % gauge_.outputs) / here_.q[n] : g;
        if (unit > 0 && std::isfinite(unit))
          gains[static_cast<int>(lane)] = by * static_cast<float>(-here_.w[n * gauge_.cells + c] / unit);
      }
      return gains;
    };
  }
  void read(std::size_t j, double* w) const override {
    thread_local Buffer buffer;
    const auto feature = static_cast<std::int32_t>(j);
    load(buffer, {&feature, 1});
    const float q = units_[2 * j], n = units_[2 * j + 1];
    const double g = gauge_.pace();
    for (std::size_t c = 0; c < gauge_.cells; ++c) {
      const double by = is_set() ? 1.0 : q > 0 && g > 0 ? gauge_.factor(c, n) / (g * q) : 0.0;
      w[c] = by * buffer.w[c];
    }
  }

 private:
  struct Buffer {
    std::vector<double> w, s, q;
  };
  bool of_blocks_;
  AnyPenalty penalty_;
  Buffer here_;

  static Setup uncut(Setup s) {
    s.cut = 0;
    return s;
  }
  bool is_set() const { return penalty_->facts().is_set; }
  // Of a penalty on blocks a block is above its noise or not as a whole: the part of it that is.
  float above_noise(const float* sums, float d) const {
    double squares = 0;
    for (std::size_t c = 0; c < gauge_.width; ++c) squares += static_cast<double>(sums[c]) * sums[c];
    const double noise = gauge_.noise() * d / std::sqrt(gauge_.share());
    return squares > noise * noise ? static_cast<float>(1 - noise / std::sqrt(squares)) : 0.0f;
  }
  double unit_of(std::size_t j, std::size_t cell) const {
    return units_[2 * j] > 0 ? gauge_.spread(cell % gauge_.outputs) / units_[2 * j] : 0.0;
  }
  void load(Buffer& b, std::span<const std::int32_t> features) const {
    const std::size_t cells = gauge_.cells, blocks = gauge_.blocks, width = gauge_.width;
    if (b.w.size() < features.size() * cells) b.w.resize(2 * features.size() * cells);
    if (b.s.size() < features.size() * blocks) b.s.resize(2 * features.size() * blocks);
    if (b.q.size() < features.size()) b.q.resize(2 * features.size());
    const double g = gauge_.pace();
    for (std::size_t n = 0; n < features.size(); ++n) {
      const auto j = static_cast<std::size_t>(features[n]);
      const float *at = slot(j), *sums = at + first_sum_;
      b.q[n] = units_[2 * j];
      for (std::size_t i = 0; i < blocks; ++i) {
        const float d = divisor(at[i], i);
        b.s[n * blocks + i] = is_set() ? 0.0 : gauge_.level(i) * g / d;
        const float noise = noise_ * d, kept = of_blocks_ && width > 1 ? above_noise(sums + i * width, d) : 1.0f;
        for (std::size_t c = i * width; c < (i + 1) * width; ++c) {
          const float excess = of_blocks_ && width > 1 ? kept * sums[c] : soft_float(sums[c], noise);
          b.w[n * cells + c] = -(is_set() ? unit_of(j, c) : 1.0) * g * (excess / d);
        }
      }
    }
    penalty_->prox({b.w.data(), features.size() * blocks, width, width, features.data(), blocks}, b.s.data());
  }
};

}  // namespace

std::unique_ptr<Rule> StepFree::hot_lanes(const Weights& weights, const Setup& setup) const {
  return hot_outputs(weights, setup);
}

std::unique_ptr<Rule> StepFree::hot_outputs(const Weights& weights, const Setup& setup) const {
  const StepFreeSettings settings{rate, noise};
  if (setup.joint) return std::make_unique<StepFreeL1Rows>(weights, setup, settings);
  return std::make_unique<StepFreeLanes>(weights, setup, settings);
}

std::unique_ptr<Rule> StepFree::rule(AnyPenalty penalty, const Setup& setup) const {
  return std::make_unique<StepFreeAny>(std::move(penalty), setup, StepFreeSettings{rate, noise});
}

}  // namespace gossamer
