#include "catalogue/summed_loss.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "base/solve.hpp"
#include "catalogue/smoothed.hpp"

namespace gossamer {

namespace {

// Scalar losses, one or more outputs added up: the search for the intercept, which sees the loss as a few sums.
class SumOfOutputs : public SummedLoss {
 public:
  using SummedLoss::SummedLoss;
  bool is_multiclass() const override { return false; }

  // The root of φ(b) = Σ p slope(z + b), which does not decrease: Newton's method, kept inside a bracket that halves
  // when it does not help.
  BestIntercept best_intercept(const double* z, const double* start) const override {
    BestIntercept best{std::vector<double>(start, start + k_), std::vector<double>(k_), std::vector<double>(k_)};
    for (std::size_t r = 0; r < k_; ++r) root(z, r, best.b[r], best.other[r], best.mix[r]);
    return best;
  }

 protected:
  struct Sums {
    double slope = 0, size = 0, curvature = 0;
  };
  virtual Sums sums(std::size_t begin, std::size_t end, const double* z, std::size_t r, double b) const = 0;
  // A length in units of z, at which the search for the intercept begins.
  virtual double unit(const double* z, std::size_t r, double b) const = 0;

 private:
  Sums sums_at(const double* z, std::size_t r, double b) const {
    check_stop();
    std::vector<Sums> parts((n_ + grain - 1) / grain);
    in_parallel(parts.size(), threads_,
                [&](std::size_t part) { parts[part] = sums(part * grain, std::min(n_, (part + 1) * grain), z, r, b); });
    Sums total;
    for (const Sums& s : parts) total.slope += s.slope, total.size += s.size, total.curvature += s.curvature;
    return total;
  }

  void root(const double* z, std::size_t r, double& b, double& other, double& mix) const {
    double low = -unbounded, high = unbounded, low_slope = 0, high_slope = 0;
    Sums here = sums_at(z, r, b);
    const double length = is_quadratic() ? here.size : unit(z, r, b);  // the slope of squared loss is the residual
    double most = here.size, reach = length;
    bool tight = false;
    for (int round = 0; round < 200; ++round) {
      most = std::max(most, here.size);
      const bool between = low_slope < 0 && high_slope > 0;  // otherwise the minimum may be at ±∞
      if (std::fabs(here.slope) <= 1e-15 * (between ? here.size : most)) break;
      (here.slope < 0 ? low : high) = b;
      (here.slope < 0 ? low_slope : high_slope) = here.slope;
      const double middle = low / 2 + high / 2;
      const double width = high - low;
      tight = std::isfinite(width) &&
              width <= std::max(0x1p-70 * length, 4e-16 * std::max(std::fabs(low), std::fabs(high)));
      if (tight) break;
      double next = here.curvature > 0 ? b - here.slope / here.curvature : unbounded;
      if (next == b) break;
      if (!std::isfinite(middle)) {  // no bracket yet: go further and further, but not where curvature means nothing
        if (!(std::fabs(next - b) <= reach) && !is_quadratic()) next = here.slope < 0 ? b + reach : b - reach;
        reach *= 8;
        if (std::fabs(next) > 1e15 * length) break;
      } else if (!(next > low && next < high) || round > 20) {
        next = middle;
      }
      b = next;
      here = sums_at(z, r, b);
    }
    other = b, mix = 0;
    if (tight && std::fabs(here.slope) > 1e-12 * here.size && low_slope < 0 && high_slope > 0) {  // a kink
      b = low, other = high;
      mix = low_slope / (low_slope - high_slope);
    }
  }
};

template <class L>
class ScalarSum final : public SumOfOutputs {
 public:
  ScalarSum(L loss, std::size_t n, std::size_t k, const double* y, const double* p, unsigned threads)
      : SumOfOutputs(n, k, y, p, threads), loss_(loss) {}

  bool has_curvature() const override { return Smooth<L>; }
  bool has_majorant() const override { return with_majorant; }
  bool is_quadratic() const override { return L::facts.quadratic; }
  bool pulls_both_ways() const override { return two_ways; }
  double steepness() const override {
    if constexpr (requires { loss_.steepness(); }) return loss_.steepness();
    return 1;
  }

  void pulls(std::span<const std::int32_t> rows, const double* z, double* S, BothWays* ways) const override {
    for (const std::int32_t row : rows) {
      const auto i = static_cast<std::size_t>(row);
      for (std::size_t q = i * k_; q < (i + 1) * k_; ++q) {
        if constexpr (two_ways) {
          const BothWays at = loss_.ways(moved(z, q), y_[q]);
          ways[q] = {p_[i] * at.up, p_[i] * at.down};
          S[q] = ways[q].down - ways[q].up;
        } else {
          S[q] = p_[i] * loss_.slope(moved(z, q), y_[q]);
        }
      }
    }
  }

 private:
  static constexpr bool two_ways = requires(const L& l) { l.ways(1.0, 1.0); };
  static constexpr bool with_majorant = requires(const L& l) { l.majorant(1.0, 1.0); };

  // Σ_i p_i Σ_r f(i, r, i·k + r)
  template <class F>
  double sum(std::size_t begin, std::size_t end, F f) const {
    double total = 0;
    for (std::size_t i = begin; i < end; ++i) {
      double one = 0;
      for (std::size_t r = 0; r < k_; ++r) one += f(i, r, i * k_ + r);
      total += p_[i] * one;
    }
    return total;
  }
  double values(std::size_t begin, std::size_t end, const double* z, const double* b) const override {
    return sum(begin, end,
               [&](std::size_t, std::size_t r, std::size_t q) { return loss_.value(moved(z, q) + b[r], y_[q]); });
  }
  double slopes(std::size_t begin, std::size_t end, const double* z, const double* b, double* S) const override {
    return sum(begin, end, [&](std::size_t i, std::size_t r, std::size_t q) {
      double slope;
      const double value = value_and_slope(loss_, moved(z, q) + b[r], y_[q], slope);
      S[q] = p_[i] * slope;
      return value;
    });
  }
  void curvatures([[maybe_unused]] std::size_t begin, [[maybe_unused]] std::size_t end,
                  [[maybe_unused]] const double* z, [[maybe_unused]] const double* b, [[maybe_unused]] double damping,
                  [[maybe_unused]] double* h) const override {
    if constexpr (Smooth<L>) {
      for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t r = 0; r < k_; ++r) {
          const double at = moved(z, i * k_ + r) + b[r], y = y_[i * k_ + r];
          double bent = loss_.curvature(at, y);
          if constexpr (with_majorant) bent = std::max(bent, damping * loss_.majorant(at, y));
          h[i * k_ + r] = p_[i] * bent;
        }
      }
    }
  }
  double conjugates(std::size_t begin, std::size_t end, const double* S) const override {
    return sum(begin, end, [&]([[maybe_unused]] std::size_t i, std::size_t, [[maybe_unused]] std::size_t q) {
      if constexpr (requires { loss_.conjugate(1.0, 1.0); }) {
        const double u = S[q] / p_[i];
        return offset_ ? loss_.conjugate(u, y_[q]) - u * offset_[q] : loss_.conjugate(u, y_[q]);
      } else {
        return unbounded;
      }
    });
  }
  Sums sums(std::size_t begin, std::size_t end, const double* z, std::size_t r, double b) const override {
    Sums s;
    for (std::size_t i = begin; i < end; ++i) {
      const double zi = moved(z, i * k_ + r) + b, yi = y_[i * k_ + r], slope = loss_.slope(zi, yi);
      s.slope += p_[i] * slope, s.size += p_[i] * std::fabs(slope);
      if constexpr (requires { loss_.curvature_of_slope(slope); }) {
        s.curvature += p_[i] * loss_.curvature_of_slope(slope);
      } else if constexpr (Smooth<L>) {
        s.curvature += p_[i] * loss_.curvature(zi, yi);
      }
    }
    return s;
  }
  double unit([[maybe_unused]] const double* z, [[maybe_unused]] std::size_t r,
              [[maybe_unused]] double b) const override {
    if constexpr (L::facts.of_residual) {  // the mean of |z + b − y|: scales with y
      return sum_of_parts(n_, grain, threads_, [&](std::size_t begin, std::size_t end) {
        double total = 0;
        for (std::size_t i = begin; i < end; ++i) total += p_[i] * std::fabs(moved(z, i * k_ + r) + b - y_[i * k_ + r]);
        return total;
      });
    } else {
      return 8.0;
    }
  }

  L loss_;
};

template <class L>
class MulticlassSum final : public SummedLoss {
 public:
  MulticlassSum(L loss, std::size_t n, std::size_t k, const double* y, const double* p, unsigned threads)
      : SummedLoss(n, k, y, p, threads), loss_(loss) {}

  bool is_multiclass() const override { return true; }
  bool has_curvature() const override { return Smooth<L>; }

  void pulls(std::span<const std::int32_t> rows, const double* z, double* S, BothWays*) const override {
    std::vector<double> at(k_);
    for (const std::int32_t row : rows) {
      const auto i = static_cast<std::size_t>(row);
      std::copy_n(z + i * k_, k_, at.begin());
      if (offset_) std::transform(at.begin(), at.end(), offset_ + i * k_, at.begin(), std::plus<>());
      slope(at, i, S);
    }
  }

  // Newton's method over the k intercepts, damped by halving; their sum stays what it is.
  BestIntercept best_intercept(const double* z, const double* start) const override {
    BestIntercept best{std::vector<double>(start, start + k_), {}, std::vector<double>(k_)};
    std::vector<double>& b = best.b;
    if constexpr (!Smooth<L>) {
      throw std::logic_error("this loss has no smooth intercept");
    } else {
      std::vector<double> slope(k_), hessian(k_ * k_), next(k_);
      double size = 0, here = derivatives(z, b.data(), slope, hessian, size);
      for (int round = 0; round < 100; ++round) {
        double off = 0, trace = 0, longest = 0, promised = 0;
        for (std::size_t r = 0; r < k_; ++r) off += std::fabs(slope[r]), trace += hessian[r * k_ + r];
        if (off <= 1e-14 * size) break;
        std::vector<double> step = slope;
        for (std::size_t r = 0; r < k_; ++r) {
          for (std::size_t c = 0; c < k_; ++c) hessian[r * k_ + c] += trace / static_cast<double>(k_ * k_);  // H 1 = 0
          hessian[r * k_ + r] += 1e-14 * trace + 1e-300;
        }
        if (!solve(hessian, step)) break;
        for (const double d : step) longest = std::max(longest, std::fabs(d));
        double share = std::min(1.0, 8.0 / longest), there = unbounded;  // beyond that the model says nothing
        if (!(longest > 0) || !std::isfinite(longest)) break;
        for (std::size_t r = 0; r < k_; ++r) promised += slope[r] * step[r];
        const bool rounding = promised < 1e-13 * (1e-3 + std::fabs(here));
        bool found = false;
        for (int half = 0; half < 40 && !found; ++half, share /= 2) {
          for (std::size_t r = 0; r < k_; ++r) next[r] = b[r] - share * step[r];
          there = derivatives(z, next.data(), slope, hessian, size);
          found = there <= here - 1e-4 * share * promised || (rounding && std::isfinite(there));
        }
        if (!found || next == b) break;
        b = next;
        here = there;
        if (rounding && promised < 1e-30) break;
      }
      best.other = b;
    }
    return best;
  }

 private:
  // f, Σ p (π − e_y), Σ p (diag π − ππᵀ), and the size Σ p |π − e_y| of the slopes
  double derivatives(const double* z, const double* b, std::vector<double>& slope, std::vector<double>& hessian,
                     double& size) const {
    check_stop();
    const std::size_t parts = (n_ + grain - 1) / grain, each = 2 + k_ + k_ * k_;
    std::vector<double> sums(parts * each);
    in_parallel(parts, threads_, [&](std::size_t part) {
      double *value = &sums[part * each], *sizes = value + 1, *g = value + 2, *H = g + k_;
      std::vector<double> at(k_), pi(k_);
      for (std::size_t i = part * grain; i < std::min(n_, (part + 1) * grain); ++i) {
        const auto y = static_cast<std::size_t>(y_[i]);
        for (std::size_t r = 0; r < k_; ++r) at[r] = moved(z, i * k_ + r) + b[r];
        *value += p_[i] * loss_.value(at, y);
        loss_.slope(at, y, pi);
        for (std::size_t r = 0; r < k_; ++r) g[r] += p_[i] * pi[r], *sizes += std::fabs(p_[i] * pi[r]);
        pi[y] += 1;
        for (std::size_t r = 0; r < k_; ++r) {
          const double weighted = p_[i] * pi[r];
          H[r * k_ + r] += weighted;
          for (std::size_t c = 0; c < k_; ++c) H[r * k_ + c] -= weighted * pi[c];
        }
      }
    });
    double value = 0;
    size = 0;
    std::fill(slope.begin(), slope.end(), 0.0), std::fill(hessian.begin(), hessian.end(), 0.0);
    for (std::size_t part = 0; part < parts; ++part) {
      const double* from = &sums[part * each];
      value += *from++, size += *from++;
      for (double& x : slope) x += *from++;
      for (double& x : hessian) x += *from++;
    }
    return value;
  }

  std::size_t label(std::size_t i) const { return static_cast<std::size_t>(y_[i]); }
  // S_i = p_i ∂ℓ/∂z
  void slope(std::span<const double> z, std::size_t i, double* S) const {
    const std::span<double> out(S + i * k_, k_);
    loss_.slope(z, label(i), out);
    for (double& s : out) s *= p_[i];
  }
  // f(i, z_i + b)
  template <class F>
  void each(std::size_t begin, std::size_t end, const double* z, const double* b, F f) const {
    std::vector<double> at(k_);
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t r = 0; r < k_; ++r) at[r] = moved(z, i * k_ + r) + b[r];
      f(i, std::span<const double>(at));
    }
  }
  double values(std::size_t begin, std::size_t end, const double* z, const double* b) const override {
    double total = 0;
    each(begin, end, z, b, [&](std::size_t i, auto at) { total += p_[i] * loss_.value(at, label(i)); });
    return total;
  }
  double slopes(std::size_t begin, std::size_t end, const double* z, const double* b, double* S) const override {
    double total = 0;
    each(begin, end, z, b, [&](std::size_t i, auto at) {
      total += p_[i] * loss_.value(at, label(i));
      slope(at, i, S);
    });
    return total;
  }
  void curvatures(std::size_t begin, std::size_t end, const double* z, const double* b, double,
                  double* h) const override {
    each(begin, end, z, b, [&](std::size_t i, auto at) {
      if constexpr (Smooth<L>) loss_.probabilities(at, std::span<double>(h + i * k_, k_));
    });
  }
  double conjugates(std::size_t begin, std::size_t end, const double* S) const override {
    std::vector<double> u(k_);
    double total = 0;
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t r = 0; r < k_; ++r) u[r] = S[i * k_ + r] / p_[i];
      total += p_[i] * loss_.conjugate(std::span<const double>(u), label(i));
      for (std::size_t r = 0; offset_ && r < k_; ++r) total -= S[i * k_ + r] * offset_[i * k_ + r];
    }
    return total;
  }

  L loss_;
};

}  // namespace

double SummedLoss::slopes(const double* z, const BestIntercept& best, double* S) const {
  const double here = slopes(z, best.b.data(), S);
  if (std::all_of(best.mix.begin(), best.mix.end(), [](double m) { return m == 0; })) return here;
  std::vector<double> there(n_ * k_);
  slopes(z, best.other.data(), there.data());
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t r = 0; r < k_; ++r) {
      S[i * k_ + r] += best.mix[r] * (there[i * k_ + r] - S[i * k_ + r]);
    }
  }
  return here;
}

std::unique_ptr<SummedLoss> make_summed_loss(const AnyLoss& loss, std::size_t n, std::size_t k, const double* y,
                                             const double* p, unsigned threads) {
  return std::visit(
      [&]<class L>(const L& l) -> std::unique_ptr<SummedLoss> {
        using Sum = std::conditional_t<LossOfNumbers<L>, ScalarSum<L>, MulticlassSum<L>>;
        return std::make_unique<Sum>(l, n, k, y, p, threads);
      },
      loss);
}

std::unique_ptr<SummedLoss> make_smoothed_loss(const AnyLoss& loss, double mu, std::size_t n, std::size_t k,
                                               const double* y, const double* p, unsigned threads) {
  return std::visit(
      [&]<class L>(const L& l) -> std::unique_ptr<SummedLoss> {
        if constexpr (Kinked<L>) {
          return std::make_unique<ScalarSum<Smoothed<L>>>(Smoothed<L>{l, mu}, n, k, y, p, threads);
        } else if constexpr (KinkedRows<L>) {
          return std::make_unique<MulticlassSum<SmoothedRows<L>>>(SmoothedRows<L>{l, mu}, n, k, y, p, threads);
        } else {
          return nullptr;
        }
      },
      loss);
}

}  // namespace gossamer
