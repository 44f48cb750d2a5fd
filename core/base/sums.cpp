#include "base/sums.hpp"

namespace gossamer {

template <class T>
double norm2(std::span<const T> v) {
  const double squares = sum_of_squares(v);
  if (squares > 1e-280 && squares < 1e300) return std::sqrt(squares);
  const double largest = norm_inf(v);
  if (largest == 0.0 || !std::isfinite(largest)) return largest;
  const double scaled = sum_over(v, [largest](double x) { return (x / largest) * (x / largest); });
  return largest * std::sqrt(scaled);
}

template double norm2(std::span<const float>);
template double norm2(std::span<const double>);

}  // namespace gossamer
