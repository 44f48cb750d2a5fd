// Projections of huge numbers.
#pragma once

#include <span>
#include <vector>

#include "base/sums.hpp"

namespace gossamer {

// Projects huge numbers scaled down, so that sums and norms stay finite; false if there is no need. A power of two
// changes no digit.
template <class T, class Project>
bool project_scaled_down(std::span<const T> v, std::span<T> out, double radius, Project project) {
  constexpr double huge = 1e290, down = 0x1p-100;
  if (radius < huge && norm_inf(v) < huge) return false;
  std::vector<double> small(v.size()), result(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) small[i] = static_cast<double>(v[i]) * down;
  project(std::span<const double>(small), std::span(result), radius * down);
  for (std::size_t i = 0; i < v.size(); ++i) out[i] = static_cast<T>(result[i] / down);
  return true;
}

}  // namespace gossamer
