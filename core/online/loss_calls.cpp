#include "online/loss_call.hpp"
#include "path/lane_losses.hpp"

namespace gossamer {

namespace {

// The losses and slopes of one output in many lanes, which have one y.
template <class L>
void over_lanes(const L& loss, std::span<const double> z, double y, double* slope, double* losses) {
  for (std::size_t i = 0; i < z.size(); ++i) {
    losses[i] = loss.value(z[i], y);
    slope[i] = loss.slope(z[i], y);
  }
}
void over_lanes(const Logistic&, std::span<const double> z, double y, double* slope, double* losses) {
  logistic_lanes(z.data(), y, slope, losses, z.size());
}

// The loss of every output, added up: one output, or many tasks.
template <class L>
class ScalarCall final : public LossCall {
 public:
  explicit ScalarCall(L loss) : loss_(loss) {}
  double operator()(std::span<const double> z, const double* y, std::span<double> slope) const override {
    double sum = 0;
    for (std::size_t r = 0; r < z.size(); ++r) sum += value_and_slope(loss_, z[r], y[r], slope[r]);
    return sum;
  }
  void operator()(std::span<const double> z, const double* y, std::span<double> slope,
                  std::span<double> losses) const override {
    if (z.size() > losses.size()) return LossCall::operator()(z, y, slope, losses);
    over_lanes(loss_, z, *y, slope.data(), losses.data());
  }
  double tame_slope() const override { return L::facts.steep ? 1.0 : LossCall::tame_slope(); }
  bool unbounded() const override { return !L::facts.bounded; }

 private:
  L loss_;
};

template <class L>
class MulticlassCall final : public LossCall {
 public:
  using LossCall::operator();
  explicit MulticlassCall(L loss) : loss_(loss) {}
  double operator()(std::span<const double> z, const double* y, std::span<double> slope) const override {
    const std::size_t label = static_cast<std::size_t>(*y);
    loss_.slope(z, label, slope);
    return loss_.value(z, label);
  }

 private:
  L loss_;
};

}  // namespace

std::unique_ptr<LossCall> make_loss_call(const ScalarLoss& loss) {
  return std::visit(
      [](const auto& l) -> std::unique_ptr<LossCall> {
        return std::make_unique<ScalarCall<std::decay_t<decltype(l)>>>(l);
      },
      loss);
}

std::unique_ptr<LossCall> make_loss_call(const MulticlassLoss& loss) {
  return std::visit(
      [](const auto& l) -> std::unique_ptr<LossCall> {
        return std::make_unique<MulticlassCall<std::decay_t<decltype(l)>>>(l);
      },
      loss);
}

}  // namespace gossamer
