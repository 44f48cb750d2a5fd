#include "catalogue/losses.hpp"

namespace gossamer {

namespace {

double linked(Link link, double z) {
  switch (link) {
    case Link::sigmoid:
      return sigmoid(z);
    case Link::sigmoid2:
      return sigmoid(2.0 * z);
    case Link::exp:
      return guarded_exp_slope(z);
    case Link::identity:
    case Link::softmax:
      return z;
  }
  return z;
}

// f(loss, i) for n examples; which loss it is, is looked up once.
template <class Loss, class F>
void each_example(const Loss& loss, std::size_t n, F f) {
  std::visit(
      [&](const auto& l) {
        for (std::size_t i = 0; i < n; ++i) f(l, i);
      },
      loss);
}

}  // namespace

void loss_value(const ScalarLoss& loss, std::span<const double> z, std::span<const double> y, std::span<double> out) {
  each_example(loss, z.size(), [=](const auto& l, std::size_t i) { out[i] = l.value(z[i], y[i]); });
}

void loss_slope(const ScalarLoss& loss, std::span<const double> z, std::span<const double> y, std::span<double> out) {
  each_example(loss, z.size(), [=](const auto& l, std::size_t i) { out[i] = l.slope(z[i], y[i]); });
}

void loss_link(const ScalarLoss& loss, std::span<const double> z, std::span<double> out) {
  const Link link = std::visit([](const auto& l) { return l.facts.link; }, loss);
  for (std::size_t i = 0; i < z.size(); ++i) out[i] = linked(link, z[i]);
}

void loss_value(const MulticlassLoss& loss, std::span<const double> z, std::span<const std::int64_t> y,
                std::span<double> out) {
  const std::size_t k = y.empty() ? 0 : z.size() / y.size();
  each_example(loss, y.size(), [=](const auto& l, std::size_t i) {
    out[i] = l.value(z.subspan(i * k, k), static_cast<std::size_t>(y[i]));
  });
}

void loss_slope(const MulticlassLoss& loss, std::span<const double> z, std::span<const std::int64_t> y,
                std::span<double> out) {
  const std::size_t k = y.empty() ? 0 : z.size() / y.size();
  each_example(loss, y.size(), [=](const auto& l, std::size_t i) {
    l.slope(z.subspan(i * k, k), static_cast<std::size_t>(y[i]), out.subspan(i * k, k));
  });
}

void loss_link(const MulticlassLoss& loss, std::span<const double> z, std::size_t outputs, std::span<double> out) {
  std::copy(z.begin(), z.end(), out.begin());
  if (std::visit([](const auto& l) { return l.facts.link; }, loss) != Link::softmax) return;
  for (std::size_t i = 0; i + outputs <= z.size(); i += outputs) {
    softmax(z.subspan(i, outputs), out.subspan(i, outputs));
  }
}

}  // namespace gossamer
