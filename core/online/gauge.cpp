#include "online/gauge.hpp"

#include "online/eights.hpp"

namespace gossamer {

namespace {

constexpr double prior_slopes = 0.1;       // β
constexpr double shared_slopes = 1.0 / 7;  // of Σ s² over outputs that share S, so that η and λ are those of one output
constexpr double caution = 10;             // Σ (s f)² that corrections start with
constexpr double least_damping = 0.1, largest_bin = 8;
constexpr double largest_taken = 1e14;    // slope in its unit: the sum of squares is a float
constexpr double largest_target = 1e150;  // its square is finite

// A step of Newton's method on the logarithm of each factor, with squared gradients for the curvature; `seen` adds
// them up.
void step(double* factors, double* seen, const double* gradients, std::size_t n, double weight, double least,
          double most) {
  side_by_side(n, [=](std::size_t i) {
    seen[i] += weight * gradients[i] * gradients[i];
    const double by = weight * gradients[i] / (caution + seen[i]);
    const double next = factors[i] * (1 - (by > 0.5 ? 0.5 : by < -0.5 ? -0.5 : by));
    factors[i] = next < least ? least : next > most ? most : next;
  });
}

// s = ℓ'(z − κ s): where the score z' = z − κ s has no more to lose. It is bracketed by steps that double, of `scale`
// at first, and found by false position.
double implicit(const LossCall& loss, double z, const double* y, double slope, double moved, double scale) {
  const auto excess = [&](double by) {  // by of the score − κ times the slope there, both in the direction of the slope
    double at = z - std::copysign(by, slope), found = 0;
    loss({&at, 1}, y, {&found, 1});
    return by - moved * std::copysign(1.0, slope) * found;
  };
  const double most = moved * std::fabs(slope);
  if (!(most > 0) || !std::isfinite(most)) return most > 0 ? 0.0 : slope;
  double near = 0, below = -most, far = std::min(most, scale > 0 ? scale : most), above = excess(far);
  while (above < 0 && far < most) near = far, below = above, far = std::min(2 * far, most), above = excess(far);
  double by = far;
  for (int i = 0; i < 40 && far - near > 1e-9 * far; ++i) {
    by = above > below ? near - below * (far - near) / (above - below) : 0.5 * (near + far);
    const double found = excess(by);
    if (std::fabs(found) <= 1e-9 * by) break;
    if (found < 0) {
      near = by, below = found, above *= 0.5;  // Illinois: the other end must not stay for ever
    } else {
      far = by, above = found, below *= 0.5;
    }
  }
  return std::copysign(by / moved, slope);
}

double exposure(double offset) { return std::exp(std::clamp(offset, -500.0, 500.0)); }

}  // namespace

Gauge::Gauge(const Setup& s, const StepFreeSettings& settings, bool shared, bool corrects)
    : lanes(s.lanes()),
      outputs(s.outputs),
      cells(s.cells()),
      width(shared || s.joint ? s.outputs : 1),
      blocks(cells / width),
      target_(s.target),
      fit_intercept_(s.fit_intercept),
      corrects_(corrects && s.target == Target::labels),
      relative_(s.relative),
      rate_(settings.rate),
      noise_(settings.noise),
      share_(width > 1 ? shared_slopes : 1.0),
      cut_(corrects_ ? s.cut : 0.0),
      alphas_(s.alphas),
      units_(blocks),
      slopes_(target_ == Target::labels ? blocks : 0),
      damping_(2 * blocks),
      bins_(2 * bins * blocks),
      sums_(fit_intercept_ ? cells : 0),
      sum_squares_(fit_intercept_ ? blocks : 0),
      constant_(target_ == Target::labels ? 0 : outputs),
      targets_(target_ == Target::labels ? 0 : 4 * outputs),
      gradients_((1 + bins) * blocks),
      taken_(blocks),
      priors_(blocks),
      levels_(blocks),
      divisors_(blocks),
      bases_(cells),
      scales_(cells),
      corrections_(bins * cells) {
  std::fill_n(damping_.begin(), blocks, 1.0);
  std::fill_n(bins_.begin(), bins * blocks, 1.0);
  derive();
}

double Gauge::location(std::size_t output) const {
  if (target_ == Target::labels || !fit_intercept_) return 0.0;
  const double* about = &targets_[4 * output];
  if (target_ == Target::numbers) return about[1];
  return about[1] > 0 ? std::log(about[1] * about[0] / about[3]) : 0.0;
}

double Gauge::spread(std::size_t output) const {
  return target_ == Target::numbers ? std::sqrt(targets_[4 * output + 2]) : 1.0;
}

double Gauge::constant_squares(std::size_t block) const {
  double sum = 0;
  const std::size_t first = block % (blocks / lanes) * width;
  for (std::size_t r = first; r < first + width; ++r) sum += constant_[r];
  return share_ * sum;
}

double Gauge::typical(std::size_t block) const {
  if (target_ == Target::labels) return slopes_[block];
  return units_[block] > 0 ? constant_squares(block) / (units_[block] * units_[block]) : 0.0;
}

double Gauge::strength_unit() const {
  return relative_ ? std::sqrt(*std::max_element(constant_.begin(), constant_.end())) : 1.0;
}

void Gauge::derive() {
  pace_ = rounds_ > 0 ? rate_ * std::sqrt(rounds_ / squares_) : 0.0;
  const std::size_t per_lane = blocks / lanes;
  const double fresh = rounds_ > 0 ? fresh_ / rounds_ : 1.0;
  for (std::size_t lane = 0, i = 0; lane < lanes; ++lane) {
    for (std::size_t own = 0; own < per_lane; ++own, ++i) {
      const double prior = prior_slopes * typical(i);
      priors_[i] = static_cast<float>(prior);
      levels_[i] = units_[i] > 0 ? rounds_ * alphas_[lane] * strength_unit() / units_[i] : 0.0;
      if (fit_intercept_) divisors_[i] = std::max<double>(std::sqrt(sum_squares_[i] + prior), least_divisor);
      for (std::size_t w = 0, c = i * width; w < width; ++w, ++c) {
        const std::size_t output = own * width + w;
        const double by = spread(output) * pace_;
        bases_[c] = location(output) - (fit_intercept_ ? by * sums_[c] / divisors_[i] : 0.0);
        scales_[c] = by * damping_[i];
        for (std::size_t b = 0; b < bins; ++b) {
          corrections_[b * cells + c] = scales_[c] * (1 + fresh * (bins_[b * blocks + i] - 1));
        }
      }
    }
  }
}

void Gauge::begin(const double* y, double offset, double weight) {
  if (rounds_ > 0) return;
  if (target_ == Target::labels) std::fill(units_.begin(), units_.end(), weight);
  for (std::size_t r = 0; r < outputs && target_ != Target::labels; ++r) {
    const double first = target_ == Target::rates ? y[r] : fit_intercept_ ? y[r] - offset : 0.0;
    const double about[] = {weight, first, 0.0, weight * exposure(offset)};
    std::copy_n(about, 4, &targets_[4 * r]);
  }
  derive();
}

void Gauge::take_back() {
  if (rounds_ > 0) return;
  std::fill(targets_.begin(), targets_.end(), 0.0);
  std::fill(constant_.begin(), constant_.end(), 0.0);
  std::fill(units_.begin(), units_.end(), 0.0);
  derive();
}

void Gauge::correct(const double* sums, const double* slope, const double* at_corrected, double weight) {
  fresh_ += 1;
  for_this_processor([&, k = cells, m = blocks, width = width] {
    double* gradient = gradients_.data();
    const double *scale = scales_.data(), *by = corrections_.data();
    std::fill(gradients_.begin(), gradients_.end(), 0.0);
    const auto add = [=](std::size_t c, std::size_t i) {
      gradient[i] -= slope[c] * (scale[c] * sums[bins * k + c]);
      for (std::size_t b = 0; b < bins; ++b) {
        gradient[(1 + b) * m + i] -= at_corrected[c] * (by[b * k + c] * sums[b * k + c]);
      }
    };
    if (width == 1) {
      side_by_side(k, [=](std::size_t c) { add(c, c); });
    } else {
      for (std::size_t c = 0; c < k; ++c) add(c, c / width);
    }
    step(damping_.data(), &damping_[m], gradient, m, weight, least_damping, 1.0);
    step(bins_.data(), &bins_[bins * m], gradient + m, bins * m, weight, 1 / largest_bin, largest_bin);
  });
}

void Gauge::compare(const LossCall& loss, const double* y, double offset, double weight) {
  if (target_ == Target::labels) return;
  for (std::size_t r = 0; r < outputs; ++r) {
    const double z = location(r) + offset;
    double slope = 0;
    loss({&z, 1}, y + r, {&slope, 1});
    slope *= weight;
    constant_[r] += (slope * slope - constant_[r]) / (rounds_ + 1);
  }
  for (std::size_t i = 0; i < blocks; ++i) {
    if (units_[i] == 0) units_[i] = weight * slopes_around(loss, y, offset, i);
  }
}

// The size of the slopes a spread of the targets away from the constant model, so that rounding is no slope.
double Gauge::slopes_around(const LossCall& loss, const double* y, double offset, std::size_t block) const {
  double largest = 0;
  for (std::size_t w = 0, r = block % (blocks / lanes) * width; w < width; ++w, ++r) {
    const bool some = spread(r) > 1e-15 * std::fabs(location(r));  // more than rounding
    for (const double side : {-spread(r), spread(r)}) {
      const double z = location(r) + offset + side;
      double slope = 0;
      if (some) loss({&z, 1}, y + r, {&slope, 1});
      largest = std::max(largest, std::fabs(slope));
    }
  }
  return largest;
}

double Gauge::size(const double* slope, std::size_t block) const {
  double sum = 0;
  for (std::size_t c = block * width; c < (block + 1) * width; ++c) sum += slope[c] * slope[c];
  return share_ * sum;
}

void Gauge::temper(const LossCall& loss, const double* z, const double* y, double* slope, const double* sizes,
                   double weight) const {
  for (std::size_t i = 0; i < blocks; ++i) {
    const double own = fit_intercept_ ? 1 / divisors_[i] : 0.0, unit = units_[i] > 0 ? units_[i] : 1.0;
    for (std::size_t c = i * width; c < (i + 1) * width; ++c) {
      const std::size_t output = c % outputs;
      const double scale = spread(output), moved = scale * pace_ * (own + damping_[i] * sizes[i]) / unit;
      slope[c] = implicit(loss, z[c], y + output, slope[c], weight * moved, scale);
    }
  }
}

bool Gauge::moderate(const double* slope, const double* y, double offset, double weight) const {
  bool holds = true;
  for (std::size_t r = 0; r < outputs && target_ != Target::labels; ++r) {
    holds &= std::fabs(y[r] - (target_ == Target::numbers ? offset : 0.0)) <= largest_target;
  }
  for (std::size_t i = 0; i < blocks; ++i) {
    const double by = units_[i] > 0 ? weight / units_[i] : weight;
    for (std::size_t c = i * width; c < (i + 1) * width; ++c) holds &= std::fabs(slope[c] * by) <= largest_taken;
  }
  return holds;
}

void Gauge::take(double* slope) {
  for (std::size_t i = 0; i < blocks; ++i) {
    const double unit = units_[i];  // as long as it is not known nothing is learned
    if (unit != 1) {
      for (std::size_t c = i * width; c < (i + 1) * width; ++c) slope[c] = unit > 0 ? slope[c] / unit : 0.0;
    }
    taken_[i] = size(slope, i);
  }
}

void Gauge::end(const double* slope, double squares, const double* y, double offset, double weight) {
  if (fit_intercept_) {
    for (std::size_t i = 0; i < blocks; ++i) {
      sum_squares_[i] += taken_[i];
      const double after = std::sqrt(sum_squares_[i] + priors_[i]), gained = after / divisors_[i] - 1;
      const double share = sum_squares_[i] > taken_[i] ? std::max(gained, 0.0) : 0.0;
      for (std::size_t c = i * width; c < (i + 1) * width; ++c) sums_[c] += slope[c] + share * sums_[c];
    }
  }
  rounds_ += 1;
  squares_ += 1 + squares;
  for (std::size_t i = 0; i < slopes_.size(); ++i) slopes_[i] += (taken_[i] - slopes_[i]) / rounds_;
  for (std::size_t r = 0; r < outputs && target_ != Target::labels && rounds_ > 1; ++r) {
    double* about = &targets_[4 * r];
    about[0] += weight;
    about[3] += weight * exposure(offset);
    const double part = weight / about[0], found = target_ == Target::rates ? y[r] : y[r] - offset;
    const double off = found - about[1];
    if (fit_intercept_) about[1] += part * off;
    about[2] += part * (off * (found - about[1]) - about[2]);
  }
  derive();
}

void Gauge::visit(StateVisitor& f) {
  constexpr double most = 1e75;  // what slopes are below (learner.hpp)
  constexpr Range sum{-most, most}, squares = up_to(most * most);
  f("rounds", rounds_, now), f("squares", squares_, up_to(most)), f("fresh", fresh_, a_round);
  f("constant_squares", std::span(constant_), Per::learner, {{squares}});
  f("slope_units", std::span(units_), Per::learner, {{at_least_zero}});
  f("slope_squares", std::span(slopes_), Per::learner, {{up_to(largest_float)}});
  f("damping", std::span(damping_), Per::learner, {{{.least = least_damping, .most = 1}, blocks}, {squares, blocks}});
  f("bins", std::span(bins_), Per::learner,
    {{{.least = 1 / largest_bin, .most = largest_bin}, bins * blocks}, {squares, bins * blocks}});
  f("base_sums", std::span(sums_), Per::learner, {{sum}});
  f("base_squares", std::span(sum_squares_), Per::learner, {{squares}});
  f("targets", std::span(targets_), Per::learner,
    {{at_least_zero}, {{-largest_target, largest_target}}, {up_to(1e301)}, {at_least_zero}});
  derive();
  f.demand("slope_units", "what follows from it and from 'targets' is not finite", [&] { return derived_is_finite(); });
}

bool Gauge::derived_is_finite() const {
  const auto finite = [](const auto& all) {
    return std::all_of(all.begin(), all.end(), [](auto x) { return std::isfinite(x); });
  };
  return std::isfinite(pace_) && finite(priors_) && finite(levels_) && finite(divisors_) && finite(bases_) &&
         finite(scales_) && finite(corrections_);
}

void Gauge::visit_lane(std::size_t lane, StateVisitor& f) {
  const std::size_t own = blocks / lanes;
  // The part of the lane, of vectors that have one number per block, several times over.
  const auto show = [&](const char* name, const std::vector<double>& all, std::size_t each) {
    std::vector<double> part;
    for (std::size_t at = lane * each; at < all.size(); at += lanes * each) {
      part.insert(part.end(), &all[at], &all[at] + each);
    }
    f(name, std::span(part), Per::learner, {});
  };
  f("rounds", rounds_, now), f("squares", squares_, at_least_zero), f("fresh", fresh_, a_round);
  show("slope_units", units_, own), show("slope_squares", slopes_, own);
  show("damping", damping_, own), show("bins", bins_, own);
  show("base_sums", sums_, outputs), show("base_squares", sum_squares_, own);
  f("constant_squares", std::span(constant_), Per::learner, {});
  f("targets", std::span(targets_), Per::learner, {});
}

}  // namespace gossamer
