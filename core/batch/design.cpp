#include "batch/design.hpp"

#include <algorithm>
#include <cmath>

namespace gossamer {

const Lines& Design::other() const {
  std::call_once(made_once_, [this] { made_ = transposed(given_, {}, given_.length(), threads_); });
  return made_->lines;
}

void Design::margins(std::span<const double> W, std::size_t k, std::span<double> Z) const {
  product(row_lines(), W, k, Z, threads_);
}

void Design::gradient(std::span<const double> S, std::size_t k, std::span<double> G) const {
  product(column_lines(), S, k, G, threads_);
}

void Design::signed_sums(std::span<const double> p, std::span<double> above, std::span<double> below) const {
  std::fill(above.begin(), above.end(), 0.0), std::fill(below.begin(), below.end(), 0.0);
  StopWatch watch;
  const std::size_t per_line = given_.entries() / std::max<std::size_t>(1, given_.count()) + 1;
  for (std::size_t at = 0; at < given_.count(); ++at, watch.did(per_line)) {
    given_.each(at, [&](std::size_t i, double x) {
      const double px = p[by_rows_ ? at : i] * x;
      (px > 0 ? above : below)[by_rows_ ? i : at] += std::fabs(px);
    });
  }
}

void Design::weighted_squares(std::span<const double> h, std::span<double> out) const {
  const Lines& columns = column_lines();
  in_line_parts(columns, 1, threads_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      double sum = 0;
      columns.each(j, [&](std::size_t i, double x) { sum += h[i] * x * x; });
      out[j] = sum;
    }
  });
}

std::unique_ptr<Design> Design::reduced(std::span<const std::int32_t> kept, std::size_t count) const {
  std::unique_ptr<OwnedLines> owned;
  if (by_rows_) {
    owned = transposed(given_, kept, count, threads_);
  } else {
    std::vector<std::int64_t> which;
    for (std::size_t j = 0; j < kept.size(); ++j) {
      if (kept[j] >= 0) which.push_back(static_cast<std::int64_t>(j));
    }
    owned = copied(given_, which);
  }
  auto made = std::make_unique<Design>(owned->lines, false, threads_);
  made->owned_ = std::move(owned);
  return made;
}

}  // namespace gossamer
