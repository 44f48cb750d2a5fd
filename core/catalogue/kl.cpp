#include "catalogue/kl.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/stop.hpp"

namespace gossamer {

namespace {

// The Wright omega function: the root y > 0 of y + log y = x.
double wright_omega(double x) {
  if (x < -50.0) return std::exp(x);
  if (x > 1e15) return x - std::log(x);
  double y = x > 1.0 ? x - std::log(x) : 1.0 / (1.0 + std::exp(-x));
  for (int round = 0; round < 8; ++round) {
    const double next = y * (1.0 + x - std::log(y)) / (1.0 + y);
    if (std::fabs(next - y) <= 1e-16 * y) return next;
    y = next;
  }
  return y;
}

}  // namespace

// Stationarity gives w_j = s·ω(log(p_j/s) + (v_j − ν)/s − 1) with one multiplier ν for
// Σ w = 1; the sum is convex and decreasing in ν, so Newton's method from the left climbs to it.
template <class T>
void prox_kl(std::span<const T> v, std::span<T> out, double s, std::span<const double> prior) {
  double peak = -std::numeric_limits<double>::infinity(), nu = peak;
  for (std::size_t j = 0; j < v.size(); ++j) {
    if (prior[j] > 0) peak = std::max(peak, static_cast<double>(v[j]));
  }
  auto from_peak = [&](std::size_t j) { return static_cast<double>(v[j]) - peak; };  // keeps the digits of huge v
  for (std::size_t j = 0; j < v.size(); ++j) {                                       // at this ν one w_j is 1 already
    if (prior[j] > 0) nu = std::max(nu, from_peak(j) + s * std::log(prior[j]) - s - 1.0);
  }
  StopWatch watch;
  auto omega = [&](std::size_t j) {
    watch.did(64);
    return prior[j] > 0 ? wright_omega((std::log(prior[j]) - std::log(s)) + (from_peak(j) - nu) / s - 1.0) : 0.0;
  };
  for (int round = 0; round < 100; ++round) {
    double sum = 0, slope = 0;
    for (std::size_t j = 0; j < v.size(); ++j) {
      const double y = omega(j);
      sum += s * y;
      slope += y / (1.0 + y);
    }
    const double step = (sum - 1.0) / slope;
    if (!(nu + step > nu)) break;
    nu += step;
  }
  for (std::size_t j = 0; j < v.size(); ++j) out[j] = static_cast<T>(s * omega(j));
}

template void prox_kl(std::span<const float>, std::span<float>, double, std::span<const double>);
template void prox_kl(std::span<const double>, std::span<double>, double, std::span<const double>);

}  // namespace gossamer
