#include "boosting/booster.hpp"

#include <optional>

#include "base/threads.hpp"

namespace gossamer {

namespace {

// How an example pulls one output: by a slope, up where it is negative and down where it is positive; or both ways.
struct BothWays {
  double up, down;
};

inline void pull(double slope, double x, double& up, double& down) {
  const double t = slope * x, size = std::fabs(t);
  up += 0.5 * (size - t);  // [−t]₊, exactly, and without a branch that guesses signs
  down += 0.5 * (size + t);
}

inline void pull(BothWays f, double x, double& up, double& down) {
  const double size = std::fabs(x), above = 0.5 * (size + x), below = 0.5 * (size - x);
  up += f.up * above + f.down * below;
  down += f.down * above + f.up * below;
}

template <class L>
constexpr bool multiclass = std::is_same_v<L, Multinomial>;
template <class L>
using PullOf = std::conditional_t<std::is_same_v<L, LogEpsilonInsensitive>, BothWays, double>;

// One feature in use.
struct Kept {
  AnyColumn column;
  double a;       // its scale
  double lambda;  // λ ω_j
};

// A column of its own.
struct Copy {
  std::vector<std::int32_t> row;
  std::vector<double> value;
};

// Rows of numbers to work with, one set a thread.
struct Work {
  std::vector<double> up, down, next, delta, zero;
  RuleScratch rule;

  explicit Work(std::size_t k) : up(k), down(k), next(k), delta(k), zero(k) {}
  Pulls pulls() const { return {up, down}; }
};

template <class L>
class BoosterOf final : public Booster {
 public:
  BoosterOf(L loss, BoosterSetup setup, std::unique_ptr<Rule> rule, std::unique_ptr<Rule> newton,
            std::unique_ptr<WholeRule> whole)
      : loss_(loss),
        n_(setup.rows),
        k_(setup.outputs),
        y_(std::move(setup.y)),
        c_(std::move(setup.weights)),
        lambda_(setup.lambda),
        rule_(std::move(rule)),
        newton_(std::move(newton)),
        whole_(std::move(whole)),
        z_(n_ * k_),
        pull_(n_ * k_),
        b_(k_),
        work_(k_) {
    for (std::size_t i = 0; i < n_; ++i) refresh(i);
  }

  double loss() const override {
    if (model_) return model_value();
    double sum = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      double one = 0;
      if constexpr (multiclass<L>) {
        one = loss_.value({&z_[i * k_], k_}, static_cast<std::size_t>(y_[i]));
      } else {
        for (std::size_t r = 0; r < k_; ++r) one += loss_.value(z_[i * k_ + r], y_[i * k_ + r]);
      }
      sum += weight(i) * one;
    }
    return sum;
  }

  double penalty() const override {
    if (whole_) return lambda_ * whole_->value(w_);
    double sum = 0;
    for (std::size_t j = 0; j < kept_.size(); ++j) sum += kept_[j].lambda * rule_->value(row(j));
    return sum;
  }

  void scales(const Columns& columns, std::span<double> out) const override {
    std::visit(
        [&](const auto& m) {
          for (std::size_t j = 0; j < m.columns; ++j) out[j] = m.visit(j, [&](const auto& col) { return scale(col); });
        },
        columns);
  }

  void score(const Columns& columns, std::span<const double> scales, std::span<const double> weights,
             std::span<const double> factor, double slack, unsigned threads, std::span<double> scores) const override {
    std::visit(
        [&](const auto& m) {
          in_parts(m.columns, 512, threads, [&](std::size_t begin, std::size_t end) {
            Work work(k_);
            auto enter = [&](std::size_t j, const auto& col) {
              const double lambda = lambda_ * (weights.empty() ? 1.0 : weights[j]);
              measure(col, work.up, work.down);
              if (k_ == 1 && std::fabs(work.up[0] - work.down[0]) <= rule_->entry * lambda) {
                scores[j] = 0;
                return;
              }
              const double a = scales.empty() ? scale(col) : scales[j];
              scores[j] = gain(a, lambda, work.zero, slack, work);
            };
            for (std::size_t j = begin; j < end; ++j) {
              m.visit(j, [&](const auto& col) {
                using C = std::decay_t<decltype(col)>;
                factor.empty() ? enter(j, col) : enter(j, ProductColumn<C>{col, factor.data()});
              });
            }
          });
        },
        columns);
  }

  void score(const Stumps& stumps, double slack, unsigned threads, std::span<double> scores) const override {
    const double a = scale(OnesColumn{n_});
    in_parts(stumps.columns, 1, threads, [&](std::size_t begin, std::size_t end) {
      Work work(k_);
      for (std::size_t j = begin; j < end; ++j) score_cuts(stumps, j, a, slack, work, scores);
    });
  }

  void add(const Columns& columns, std::span<const std::int64_t> which, std::span<const double> weights,
           bool copy) override {
    std::visit(
        [&](const auto& m) {
          kept_.reserve(kept_.size() + which.size());
          for (std::size_t e = 0; e < which.size(); ++e) {
            const auto j = static_cast<std::size_t>(which[e]);
            const double lambda = lambda_ * (weights.empty() ? 1.0 : weights[e]);
            m.visit(j, [&](const auto& col) {
              kept_.push_back({copy ? copied(col) : AnyColumn(col), scale(col), lambda});
              if (!copy) copies_.emplace_back();
            });
          }
        },
        columns);
    w_.resize(kept_.size() * k_);
    shares_.clear();
  }

  double update(std::span<const std::int64_t> which, double idle) override {
    double furthest = 0;
    for (std::int64_t e : which) {
      const auto j = static_cast<std::size_t>(e);
      const Kept& kept = kept_[j];
      const double a = model_ ? model_->a[j] : kept.a;
      if (a == 0) continue;
      furthest = std::max(
          furthest, std::visit([&](const auto& col) { return step(col, a, kept.lambda, row(j), idle); }, kept.column));
    }
    return furthest;
  }

  double update_together(unsigned threads) override {
    if (shares_.size() != kept_.size()) share_out();
    std::vector<double> next(w_.size()), up(whole_ ? w_.size() : 0), down(up.size());
    std::vector<double> far_off(kept_.size());
    in_parts(kept_.size(), 512, threads, [&](std::size_t begin, std::size_t end) {
      Work work(k_);
      for (std::size_t j = begin; j < end; ++j) {
        const std::span<double> to(&next[j * k_], k_);
        if (shares_[j] == 0) {
          std::copy_n(&w_[j * k_], k_, to.begin());
          continue;
        }
        std::visit([&](const auto& col) { measure(col, work.up, work.down); }, kept_[j].column);
        far_off[j] = rule_->curvature(work.pulls(), shares_[j]);
        if (whole_) {
          std::copy_n(work.up.begin(), k_, &up[j * k_]);
          std::copy_n(work.down.begin(), k_, &down[j * k_]);
        } else {
          rule_->minimise(work.pulls(), shares_[j], kept_[j].lambda, row(j), to, work.rule);
        }
      }
    });
    if (whole_) {
      std::vector<double> a(w_.size());
      for (std::size_t q = 0; q < a.size(); ++q) a[q] = shares_[q / k_];
      whole_->minimise({up, down}, a, lambda_, w_, next);
    }
    double furthest = 0;
    for (std::size_t j = 0; j < kept_.size(); ++j) {
      const double moved = move_to({&next[j * k_], k_}, row(j), work_);
      if (moved == 0) continue;
      furthest = std::max(furthest, far_off[j] * moved);
      std::visit([&](const auto& col) { shift(col, work_.delta); }, kept_[j].column);
    }
    for (std::size_t i = 0; i < n_; ++i) refresh(i);
    return furthest;
  }

  void gains(double slack, unsigned threads, std::span<double> out) const override {
    in_parts(kept_.size(), 512, threads, [&](std::size_t begin, std::size_t end) {
      Work work(k_);
      for (std::size_t j = begin; j < end; ++j) {
        std::visit([&](const auto& col) { measure(col, work.up, work.down); }, kept_[j].column);
        out[j] = gain(kept_[j].a, kept_[j].lambda, row(j), slack, work);
      }
    });
  }

  std::vector<std::int64_t> prune() override {
    std::vector<std::int64_t> stay;
    for (std::size_t j = 0; j < kept_.size(); ++j) {
      const auto w = row(j);
      if (std::all_of(w.begin(), w.end(), [](double x) { return x == 0; })) continue;
      const std::size_t to = stay.size();
      stay.push_back(static_cast<std::int64_t>(j));
      if (to == j) continue;
      kept_[to] = kept_[j];
      copies_[to] = std::move(copies_[j]);  // a moved vector keeps its place in memory, so the view holds
      std::copy_n(&w_[j * k_], k_, &w_[to * k_]);
    }
    kept_.resize(stay.size());
    copies_.resize(stay.size());
    w_.resize(stay.size() * k_);
    shares_.clear();
    return stay;
  }

  double update_intercept() override {
    const OnesColumn ones{n_};
    return step(ones, model_ ? model_scale(ones) : scale(ones), 0.0, b_, 0.0);
  }

  void set_intercept(std::span<const double> b) override { set(std::vector<double>(w_), b); }

  void set(std::span<const double> weights, std::span<const double> b) override {
    std::copy(weights.begin(), weights.end(), w_.begin());
    std::copy(b.begin(), b.end(), b_.begin());
    for (std::size_t i = 0; i < n_; ++i) std::copy(b.begin(), b.end(), &z_[i * k_]);
    for (std::size_t j = 0; j < kept_.size(); ++j) {
      const auto w = row(j);
      work_.delta.assign(w.begin(), w.end());
      std::visit([&](const auto& col) { shift(col, work_.delta); }, kept_[j].column);
    }
    refresh_all();
  }

  void use_model(bool on) override {
    model_.reset();
    refresh_all();
    if (!on) return;
    Model model{loss(), z_, std::vector<double>(n_ * k_), std::vector<double>(n_ * k_), {}};
    for (std::size_t i = 0; i < n_; ++i) {
      const std::span<double> h(&model.h[i * k_], k_);
      if constexpr (multiclass<L>) {
        loss_.probabilities({&z_[i * k_], k_}, h);
      } else {
        for (std::size_t r = 0; r < k_; ++r) h[r] = weight(i) * loss_.curvature(z_[i * k_ + r], y_[i * k_ + r]);
      }
    }
    model_ = std::move(model);
    refresh_all();
    for (const Kept& kept : kept_) {
      model_->a.push_back(std::visit([&](const auto& col) { return model_scale(col); }, kept.column));
    }
  }

  std::size_t used() const override { return kept_.size(); }
  std::span<const double> weights() const override { return w_; }
  std::span<const double> intercept() const override { return b_; }
  std::span<const double> margins() const override { return z_; }

 private:
  double weight(std::size_t i) const { return c_.empty() ? 1.0 : c_[i]; }
  std::span<double> row(std::size_t j) { return {&w_[j * k_], k_}; }
  std::span<const double> row(std::size_t j) const { return {&w_[j * k_], k_}; }

  // The quadratic model of the loss. H_i = diag(h_i), or c_i (diag h_i − h_i h_iᵀ) with probabilities h_i.
  struct Model {
    double value;               // at Z⁰
    std::vector<double> z, h;   // Z⁰, n × k; curvatures or probabilities
    std::vector<double> slope;  // S + H (Z − Z⁰)
    std::vector<double> a;      // the scale of every feature in use
  };

  // slope_i += x H_i d
  void bend(std::size_t i, double x, const double* d) {
    const double* h = &model_->h[i * k_];
    double* slope = &model_->slope[i * k_];
    double mean = 0;
    if constexpr (multiclass<L>) {
      for (std::size_t r = 0; r < k_; ++r) mean += h[r] * d[r];
      x *= weight(i);
    }
    for (std::size_t r = 0; r < k_; ++r) slope[r] += x * h[r] * (d[r] - mean);
  }

  static double slope_of(double slope) { return slope; }
  static double slope_of(BothWays f) { return f.down - f.up; }

  double model_value() const {
    double sum = 0;  // <S + ½ H (Z − Z⁰), Z − Z⁰>
    for (std::size_t q = 0; q < z_.size(); ++q) {
      sum += 0.5 * (slope_of(pull_[q]) + model_->slope[q]) * (z_[q] - model_->z[q]);
    }
    return model_->value + sum;
  }

  // At most one over the largest curvature of the model along a column: of diag h − hhᵀ by Gershgorin.
  template <class C>
  double model_scale(const C& col) {
    std::vector<double>& sum = work_.up;
    std::fill(sum.begin(), sum.end(), 0.0);
    each(col, [&](std::size_t i, double x) {
      const double* h = &model_->h[i * k_];
      for (std::size_t r = 0; r < k_; ++r) {
        sum[r] += x * x * (multiclass<L> ? 2 * weight(i) * h[r] * (1 - h[r]) : h[r]);
      }
    });
    return newton_->scale(1.0, *std::max_element(sum.begin(), sum.end()));
  }

  void refresh_all() {
    for (std::size_t i = 0; i < n_; ++i) refresh(i);
  }

  // How example i pulls, from its margins.
  void refresh(std::size_t i) {
    const double c = weight(i);
    if (model_) {
      for (std::size_t q = i * k_; q < (i + 1) * k_; ++q) {
        model_->slope[q] = slope_of(pull_[q]);
        work_.delta[q - i * k_] = z_[q] - model_->z[q];
      }
      return bend(i, 1.0, work_.delta.data());
    }
    if constexpr (multiclass<L>) {
      const std::span<double> slope(&pull_[i * k_], k_);
      loss_.slope({&z_[i * k_], k_}, static_cast<std::size_t>(y_[i]), slope);
      for (double& s : slope) s *= c;
    } else {
      for (std::size_t q = i * k_; q < (i + 1) * k_; ++q) {
        if constexpr (std::is_same_v<PullOf<L>, BothWays>) {
          pull_[q] = {c * sigmoid(y_[q] - z_[q] - loss_.epsilon), c * sigmoid(z_[q] - y_[q] - loss_.epsilon)};
        } else {
          pull_[q] = c * loss_.slope(z_[q], y_[q]);
        }
      }
    }
  }

  // μ⁺ and μ⁻ of a column
  template <class C>
  void measure(const C& col, std::vector<double>& up, std::vector<double>& down) const {
    if (model_) {
      std::fill(up.begin(), up.end(), 0.0);
      std::fill(down.begin(), down.end(), 0.0);
      double* sum = down.data();
      return each(col, [&](std::size_t i, double x) {
        const double* slope = &model_->slope[i * k_];
        for (std::size_t r = 0; r < k_; ++r) sum[r] += x * slope[r];
      });
    }
    if (k_ == 1) {
      double u = 0, d = 0;
      each(col, [&](std::size_t i, double x) { pull(pull_[i], x, u, d); });
      up[0] = u, down[0] = d;
      return;
    }
    std::fill(up.begin(), up.end(), 0.0);
    std::fill(down.begin(), down.end(), 0.0);
    double *u = up.data(), *d = down.data();
    each(col, [&](std::size_t i, double x) {
      const PullOf<L>* from = &pull_[i * k_];
      for (std::size_t r = 0; r < k_; ++r) pull(from[r], x, u[r], d[r]);
    });
  }

  template <class C>
  double scale(const C& col) const {
    double largest = 0, squares = 0;
    each(col, [&](std::size_t i, double x) {
      largest = std::max(largest, std::fabs(x));
      squares += weight(i) * x * x;
    });
    return rule_->scale(largest, squares);
  }

  // The gain of a row, given its pulls; 0 within the slack.
  double gain(double a, double lambda, std::span<const double> w, double slack, Work& work) const {
    if (a == 0) return 0.0;
    rule_->minimise(work.pulls(), a, lambda, w, work.next, work.rule);
    double moved = 0;
    for (std::size_t r = 0; r < k_; ++r) moved = std::max(moved, std::fabs(work.next[r] - w[r]));
    if (moved == 0 || moved * rule_->curvature(work.pulls(), a) <= slack) return 0.0;
    return std::max(rule_->gain(work.pulls(), a, lambda, w, work.next), 0.0);
  }

  // Set w to next; the move is in work.delta, and its largest entry is returned.
  double move_to(std::span<const double> next, std::span<double> w, Work& work) {
    double moved = 0;
    for (std::size_t r = 0; r < k_; ++r) {
      work.delta[r] = next[r] - w[r];
      moved = std::max(moved, std::fabs(work.delta[r]));
      w[r] = next[r];
    }
    return moved;
  }

  // z += x δ over a column
  template <class C>
  void shift(const C& col, const std::vector<double>& delta) {
    if (k_ == 1) {
      const double d = delta[0];
      return each(col, [&](std::size_t i, double x) { z_[i] += x * d; });
    }
    each(col, [&](std::size_t i, double x) {
      for (std::size_t r = 0; r < k_; ++r) z_[i * k_ + r] += x * delta[r];
    });
  }

  // One update of one row.
  template <class C>
  double step(const C& col, double a, double lambda, std::span<double> w, double idle) {
    const Rule& rule = model_ ? *newton_ : *rule_;
    measure(col, work_.up, work_.down);
    rule.minimise(work_.pulls(), a, lambda, w, work_.next, work_.rule);
    double moves = 0, size = 0;
    for (std::size_t r = 0; r < k_; ++r) {
      moves = std::max(moves, std::fabs(work_.next[r] - w[r]));
      size = std::max(size, std::fabs(work_.next[r]));
    }
    const double away = moves == 0 ? 0.0 : moves * rule.curvature(work_.pulls(), a);
    if (moves == 0 || (away <= idle && size > 0)) return away;
    move_to(work_.next, w, work_);
    shift(col, work_.delta);
    each(col, [&](std::size_t i, double x) {
      if (x != 0) model_ ? bend(i, x, work_.delta.data()) : refresh(i);
    });
    return away;
  }

  // The largest template a_j ∝ 1 / max|x_j| with Σ_j a_j |x_ij| ≤ room for every example. The quadratic bound of all
  // moves is by Cauchy and Schwarz: (Σ_j x_ij δ_j)² ≤ load_i Σ_j |x_ij| largest_j δ_j².
  void share_out() {
    std::vector<double> load(n_), largest(kept_.size());
    for (std::size_t j = 0; j < kept_.size(); ++j) {
      std::visit(
          [&](const auto& col) {
            each(col, [&](std::size_t, double x) { largest[j] = std::max(largest[j], std::fabs(x)); });
            if (largest[j] > 0) each(col, [&](std::size_t i, double x) { load[i] += std::fabs(x) / largest[j]; });
          },
          kept_[j].column);
    }
    const double most = n_ == 0 ? 0.0 : *std::max_element(load.begin(), load.end());
    shares_.resize(kept_.size());
    for (std::size_t j = 0; j < kept_.size(); ++j) {
      double sum = 0;
      std::visit(
          [&](const auto& col) {
            each(col, [&](std::size_t i, double x) { sum += weight(i) * load[i] * std::fabs(x); });
          },
          kept_[j].column);
      shares_[j] = rule_->scale(largest[j] * most, largest[j] * sum);
    }
  }

  template <class C>
  AnyColumn copied(const C& col) {
    Copy& copy = copies_.emplace_back();
    copy.value.reserve(col.count);
    each(col, [&](std::size_t i, double x) {
      if constexpr (requires { col.rows; }) copy.row.push_back(static_cast<std::int32_t>(i));
      copy.value.push_back(x);
    });
    if constexpr (requires { col.rows; }) {
      return SparseColumn<double>{copy.row.data(), copy.value.data(), copy.value.size()};
    } else {
      return DenseColumn<double>{copy.value.data(), copy.value.size()};
    }
  }

  // All stumps of one column: the pulls of the examples by code, summed from both ends.
  void score_cuts(const Stumps& stumps, std::size_t j, double a, double slack, Work& work,
                  std::span<double> scores) const {
    const auto first = static_cast<std::size_t>(stumps.start[j]);
    const std::size_t cuts = static_cast<std::size_t>(stumps.start[j + 1]) - first;
    std::vector<double> up((cuts + 1) * k_), down((cuts + 1) * k_);
    const std::int32_t* code = &stumps.code[j * n_];
    for (std::size_t i = 0; i < n_; ++i) {
      const std::size_t to = static_cast<std::size_t>(code[i]) * k_;
      for (std::size_t r = 0; r < k_; ++r) pull(pull_[i * k_ + r], 1.0, up[to + r], down[to + r]);
    }
    std::vector<double> below_up(k_), below_down(k_);
    std::vector<double> above_up(cuts * k_), above_down(cuts * k_);  // of the codes above each cut
    for (std::size_t t = cuts; t-- > 0;) {
      for (std::size_t r = 0; r < k_; ++r) {
        const std::size_t q = t * k_ + r;
        above_up[q] = up[q + k_] + (t + 1 < cuts ? above_up[q + k_] : 0.0);
        above_down[q] = down[q + k_] + (t + 1 < cuts ? above_down[q + k_] : 0.0);
      }
    }
    for (std::size_t t = 0; t < cuts; ++t) {
      for (std::size_t r = 0; r < k_; ++r) {
        const std::size_t q = t * k_ + r;
        below_up[r] += up[q], below_down[r] += down[q];
        work.up[r] = above_up[q] + below_down[r];
        work.down[r] = above_down[q] + below_up[r];
      }
      scores[first + t] = gain(a, lambda_, work.zero, slack, work);
    }
  }

  L loss_;
  std::size_t n_, k_;
  std::vector<double> y_, c_;
  double lambda_;
  std::unique_ptr<Rule> rule_, newton_;
  std::unique_ptr<WholeRule> whole_;
  std::vector<double> z_;        // margins
  std::vector<PullOf<L>> pull_;  // how every example pulls
  std::vector<double> b_, w_;    // intercept, weights of the kept
  std::vector<Kept> kept_;       // the features in use
  std::deque<Copy> copies_;      // what those own that are copies
  std::vector<double> shares_;   // the a of updates together
  std::optional<Model> model_;   // what stands for the loss now, if anything
  Work work_;
};

}  // namespace

std::unique_ptr<Booster> make_booster(const BoostingLoss& loss, BoosterSetup setup, std::unique_ptr<Rule> rule,
                                      std::unique_ptr<Rule> newton, std::unique_ptr<WholeRule> whole) {
  return std::visit(
      [&](const auto& l) -> std::unique_ptr<Booster> {
        return std::make_unique<BoosterOf<std::decay_t<decltype(l)>>>(l, std::move(setup), std::move(rule),
                                                                      std::move(newton), std::move(whole));
      },
      loss);
}

}  // namespace gossamer
