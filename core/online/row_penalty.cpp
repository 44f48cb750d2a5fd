#include "online/row_penalty.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/side_by_side.hpp"
#include "online/trail.hpp"

namespace gossamer {

namespace {

// f(i, j, a) for every row i of feature j with weight a.
template <class F>
void each_row(const Rows& rows, const std::vector<double>& weights, F f) {
  for (std::size_t i = 0, n = 0; i < rows.count; ++n) {
    const auto j = static_cast<std::size_t>(rows.feature[n]);
    const double a = weight_of(weights, j);
    for (std::size_t lane = 0; lane < rows.per; ++lane, ++i) f(i, j, a);
  }
}

template <class P>
double prox_number(const P& p, double v, double s, [[maybe_unused]] std::size_t j) {
  if constexpr (one_for_all<P>) {
    return p.prox(v, s);
  } else {
    return p.prox(v, s, j);
  }
}

template <class P>
void prox_row(const P& p, std::span<double> w, double s, double weight, std::size_t j) {
  if constexpr (OfNumbers<P>) {
    for (double& x : w) x = prox_number(p, x, s * weight, j);
  } else {
    thread_local Scratch scratch;
    p.prox(std::span<const double>(w), w, s, weight, scratch);
  }
}

template <class P>
constexpr bool shortens = requires(const P& p, std::span<const double> v, double* sum) {
  p.lengths(1.0, [](double x) { return x; });
} || requires(const P& p, std::span<const double> v, double* sum) { p.lengths(v, sum, [](double x) { return x; }); };

template <class P, class F>
void add_lengths_of(const P& p, std::span<const double> v, double* sum, F f) {
  if constexpr (OfNumbers<P>) {
    for (std::size_t r = 0; r < v.size(); ++r) sum[r] += p.lengths(v[r], f);
  } else {
    p.lengths(v, sum, f);
  }
}

// T rounds equal one round with the sum (ℓ1 signed or not, ℓ2 and ℓ∞ of a row, bounds; FOBOS, Proposition 11).
template <class P>
class AddedRounds final : public Lazy {
 public:
  AddedRounds(P p, std::vector<double> weights, double strength, std::size_t features, bool traced)
      : p_(std::move(p)),
        weights_(std::move(weights)),
        strength_(strength),
        limit_(longest_record(features)),
        traced_(traced) {}
  void advance(double s) override {
    total_ += s;
    if (traced_) trail_.push(total_);
  }
  double now() const override { return total_; }
  Range stamps() const override { return total_.stamps(); }
  bool full() const override { return trail_.rounds() >= limit_; }
  void restart() override { total_.clear(), trail_.restart(); }
  void catch_up(Rows rows, const double* stamps) const override {
    if constexpr (one_for_all<P>) {
      if (weights_.empty() && rows.width == 1) {
        for_this_processor([=, p = p_, w = rows.w, total = double(total_), strength = strength_] {
          side_by_side(rows.count, [=](std::size_t i) {
            w[i * rows.stride] = p.prox(w[i * rows.stride], (total - stamps[i]) * strength);
          });
        });
        return;
      }
      // Dense rows: all features were up to date at the same time (BufferedRule::add_up says what it brings).
      const bool at_once =
          weights_.empty() && std::all_of(stamps, stamps + rows.count, [=](double t) { return t == *stamps; });
      if (at_once && rows.stride == rows.width && rows.per == 1 && rows.count > 0) {
        for_this_processor([=, p = p_, w = rows.w, s = (total_ - *stamps) * strength_] {
          side_by_side(rows.count * rows.width, [=](std::size_t n) { w[n] = p.prox(w[n], s); });
        });
        return;
      }
    }
    each_row(rows, weights_, [&](std::size_t i, std::size_t j, double a) {
      prox_row(p_, rows[i], (total_ - stamps[i]) * strength_, a, j);
    });
  }
  void add_path(std::span<const double> w, std::size_t j, double stamp, double n, double* sum) const override {
    const double a = weight_of(weights_, j) * strength_;
    if constexpr (shortens<P>) {
      add_lengths_of(p_, w, sum, [&](double x) { return trail_.line(x, a, stamp, n); });
    } else if constexpr (P::facts.is_set) {
      for (std::size_t r = 0; r < w.size(); ++r) sum[r] += n * prox_number(p_, w[r], 0.0, j);
    } else {
      std::size_t t = trail_.before(n);
      add_steps(w, n, sum, [&](std::span<double> row) { prox_row(p_, row, trail_.step(t++), a, j); });
    }
  }
  void visit(StateVisitor& f) override {
    total_.visit(f, "lazy_total", "lazy_rest");
    if (traced_) trail_.visit(f, total_);
  }

 private:
  P p_;
  std::vector<double> weights_;
  double strength_;
  std::size_t limit_;
  bool traced_;
  Total total_;  // Σ s
  Trail trail_;  // of total_, if traced
};

// Elementwise, with a record of its own (catalogue/rounds.hpp).
template <class P>
class RecordedRounds final : public Lazy {
 public:
  RecordedRounds(P p, double strength, std::size_t features, bool traced)
      : p_(p), strength_(strength), limit_(longest_record(features)), record_(p.rounds(traced)) {}
  void advance(double s) override { record_.push(s * strength_); }
  double now() const override { return static_cast<double>(record_.size()); }
  Range stamps() const override { return whole_up_to(now()); }
  bool full() const override { return record_.size() >= limit_ || record_.full(); }
  void restart() override { record_.clear(); }
  void catch_up(Rows rows, const double* stamps) const override {
    for (std::size_t i = 0; i < rows.count; ++i) {
      const auto then = static_cast<std::size_t>(stamps[i]);
      if (then == record_.size()) continue;
      for (double& x : rows[i]) x = record_.now(x, then);
    }
  }
  void add_path(std::span<const double> w, std::size_t, double, double n, double* sum) const override {
    n = std::min(n, now());  // a feature that came after the record began, by growing, was zero before it
    const std::size_t then = record_.size() - static_cast<std::size_t>(n);
    if constexpr (requires { record_.path(1.0, then); }) {
      for (std::size_t r = 0; r < w.size(); ++r) sum[r] += w[r] == 0 ? 0.0 : record_.path(w[r], then);
    } else {
      std::size_t t = then;
      add_steps(w, n, sum, [&](std::span<double> row) { prox_row(p_, row, record_.round(t++), 1.0, 0); });
    }
  }
  void visit(StateVisitor& f) override { record_.visit(f); }

 private:
  P p_;
  double strength_;
  std::size_t limit_;
  typename P::Rounds record_;
};

// Repeats the missed rounds one by one, for the rows that are not zero.
template <class P>
class RepeatedRounds final : public Lazy {
 public:
  RepeatedRounds(P p, std::vector<double> weights, double strength, std::size_t features)
      : p_(std::move(p)), weights_(std::move(weights)), strength_(strength), limit_(longest_record(features)) {}
  void advance(double s) override { s_.push_back(s * strength_); }
  double now() const override { return static_cast<double>(s_.size()); }
  Range stamps() const override { return whole_up_to(now()); }
  bool full() const override { return s_.size() >= limit_; }
  void restart() override { s_.clear(); }
  void catch_up(Rows rows, const double* stamps) const override {
    each_row(rows, weights_, [&](std::size_t i, std::size_t j, double a) {
      const std::span<double> w = rows[i];
      for (auto t = static_cast<std::size_t>(stamps[i]); t < s_.size() && !all_zero(w); ++t) {
        prox_row(p_, w, s_[t], a, j);
      }
    });
  }
  void add_path(std::span<const double> w, std::size_t j, double, double n, double* sum) const override {
    n = std::min(n, now());  // as in RecordedRounds
    std::size_t t = s_.size() - static_cast<std::size_t>(n);
    const double a = weight_of(weights_, j);
    add_steps(w, n, sum, [&](std::span<double> row) { prox_row(p_, row, s_[t++], a, j); });
  }
  void visit(StateVisitor& f) override { f.growing("lazy_steps", s_, {{at_least_zero}}); }

 private:
  P p_;
  std::vector<double> weights_;
  double strength_;
  std::size_t limit_;
  std::vector<double> s_;  // of each round
};

class Truncation final : public Lazy {
 public:
  Truncation(std::size_t period, double threshold, std::vector<double> weights, std::size_t features, bool traced)
      : period_(period),
        threshold_(threshold),
        weights_(std::move(weights)),
        limit_(longest_record(features)),
        traced_(traced) {}
  void advance(double s) override {
    rounds_ += 1;
    if (static_cast<std::size_t>(rounds_) % period_ == 0) total_ += s * static_cast<double>(period_);
    if (traced_) trail_.push(total_);
  }
  double now() const override { return total_; }
  Range stamps() const override { return total_.stamps(); }
  bool full() const override { return trail_.rounds() >= limit_; }
  void restart() override { total_.clear(), trail_.restart(); }
  void catch_up(Rows rows, const double* stamps) const override {
    each_row(rows, weights_, [&](std::size_t i, std::size_t, double a) {
      const double s = (total_ - stamps[i]) * a;
      for (double& x : rows[i]) x = std::fabs(x) <= threshold_ ? soft(x, s) : x;
    });
  }
  // Up to the threshold a weight follows a line, beyond it stays what it is.
  void add_path(std::span<const double> w, std::size_t j, double stamp, double n, double* sum) const override {
    for (std::size_t r = 0; r < w.size(); ++r) {
      const double size = std::fabs(w[r]);
      const double path = size <= threshold_ ? trail_.line(size, weight_of(weights_, j), stamp, n) : n * size;
      sum[r] += std::copysign(path, w[r]);
    }
  }
  void visit(StateVisitor& f) override {
    total_.visit(f, "lazy_total", "lazy_rest"), f("lazy_rounds", rounds_, gossamer::now);
    if (traced_) trail_.visit(f, total_);
  }

 private:
  std::size_t period_;
  double threshold_;
  std::vector<double> weights_;
  std::size_t limit_;
  bool traced_;
  Total total_;  // Σ of the truncations
  double rounds_ = 0;
  Trail trail_;
};

template <class P>
class RowPenaltyOf final : public RowPenalty {
 public:
  RowPenaltyOf(P p, std::vector<double> weights) : p_(std::move(p)), weights_(std::move(weights)) {}

  const PenaltyFacts& facts() const override { return P::facts; }
  bool of_blocks() const override { return OfBlocks<P>; }
  const std::vector<double>& weights() const override { return weights_; }
  void prox(Rows rows, const double* s) const override {
    if constexpr (one_for_all<P>) {
      if (weights_.empty() && rows.width == 1 && rows.stride == 1) {
        for_this_processor([p = p_, w = rows.w, n = rows.count, s] {
          side_by_side(n, [=](std::size_t i) { w[i] = p.prox(w[i], s[i]); });
        });
        return;
      }
    }
    each_row(rows, weights_, [&](std::size_t i, std::size_t j, double a) { prox_row(p_, rows[i], s[i], a, j); });
  }
  void repeat(Rows rows, const double* n, const double* s) const override {
    if constexpr (one_for_all<P> && P::facts.adds_up) {
      if (weights_.empty() && rows.width == 1 && rows.stride == 1 && rows.per == 1) {
        for_this_processor([=, p = p_, w = rows.w] {
          side_by_side(rows.count, [=](std::size_t i) { w[i] = p.prox(w[i], n[i] * s[i]); });
        });
        return;
      }
    }
    each_row(rows, weights_,
             [&](std::size_t i, std::size_t j, double a) { repeat_row(rows[i], n[i / rows.per], s[i], a, j); });
  }
  void add_repeats(std::span<const double> w, std::size_t j, double n, double s, double* sum) const override {
    const double a = weight_of(weights_, j);
    if constexpr (shortens<P>) {
      add_lengths_of(p_, w, sum, [&](double x) { return arithmetic_sum(x, s * a, n); });
    } else if constexpr (P::facts.is_set) {
      for (std::size_t r = 0; r < w.size(); ++r) sum[r] += n * prox_number(p_, w[r], 0.0, j);
    } else {
      add_steps(w, n, sum, [&](std::span<double> row) { prox_row(p_, row, s, a, j); });
    }
  }
  void descend(Rows rows, double s) const override {
    if constexpr (P::facts.constrains) {
      throw std::invalid_argument("a constraint has no useful subgradient");
    } else {
      each_row(rows, weights_, [&](std::size_t i, std::size_t, double a) {
        if constexpr (OfNumbers<P>) {
          for (double& x : rows[i]) x -= s * a * p_.slope(x);
        } else {
          p_.descend(rows[i], s, a);
        }
      });
    }
  }
  bool add_lengths(std::span<const double> v, std::size_t j, const Lengths& f, double* sum) const override {
    if constexpr (shortens<P>) {
      add_lengths_of(p_, v, sum, [&, a = weight_of(weights_, j)](double x) { return f(x, a); });
      return true;
    }
    return false;
  }
  std::unique_ptr<Lazy> rounds(double strength, std::size_t features, bool traced) const override {
    if constexpr (P::facts.adds_up) {
      return std::make_unique<AddedRounds<P>>(p_, weights_, strength, features, traced);
    } else {
      if constexpr (requires { typename P::Rounds; }) {
        if (weights_.empty()) return std::make_unique<RecordedRounds<P>>(p_, strength, features, traced);
      }
      return std::make_unique<RepeatedRounds<P>>(p_, weights_, strength, features);
    }
  }

 private:
  P p_;
  std::vector<double> weights_;  // one per feature, or none

  void repeat_row(std::span<double> w, double n, double s, double a, std::size_t j) const {
    if constexpr (P::facts.adds_up) {
      prox_row(p_, w, n * s, a, j);
    } else if (n > 0 && s > 0) {
      if constexpr (requires { p_.repeat(1.0, n, s); }) {
        for (double& x : w) x = p_.repeat(x, n, s * a);
      } else {
        for (; n > 0 && !all_zero(w); --n) prox_row(p_, w, s, a, j);
      }
    }
  }
};

}  // namespace

std::unique_ptr<RowPenalty> make_row_penalty(const RowPenalties::Variant& penalty, std::vector<double> weights) {
  return std::visit(
      [&]<class P>(const P& p) -> std::unique_ptr<RowPenalty> {
        return std::make_unique<RowPenaltyOf<P>>(p, std::move(weights));
      },
      penalty);
}

std::unique_ptr<Lazy> make_truncation(std::size_t period, double threshold, std::vector<double> weights,
                                      std::size_t features, bool traced) {
  return std::make_unique<Truncation>(period, threshold, std::move(weights), features, traced);
}

bool is_l1_of_one(const RowPenalties::Variant& penalty, std::vector<double>& weights) {
  return std::visit(
      [&]<class P>(const P& p) {
        if constexpr (requires { p.of_one(1.0); }) {
          for (double& a : weights) a = p.of_one(a);
          return true;
        }
        return false;
      },
      penalty);
}

}  // namespace gossamer
