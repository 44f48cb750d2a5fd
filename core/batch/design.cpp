#include "batch/design.hpp"

#include <algorithm>
#include <cmath>

#include "base/side_by_side.hpp"

namespace gossamer {

const Lines& Design::other() const {
  std::call_once(made_once_, [this] { made_ = transposed(given_, {}, given_.length(), threads_); });
  return made_->lines;
}

void Design::margins(std::span<const double> W, std::size_t k, std::span<double> Z) const {
  if (std::all_of(W.begin(), W.end(), [](double w) { return w == 0; })) return std::fill(Z.begin(), Z.end(), 0.0);
  if (!by_rows_ && add_columns(W, k, Z)) return;
  product(row_lines(), W, k, Z, threads_);
}

// Z = Σ_j x_j W_j over the columns with weights, where that is less work than rows are: nothing is transposed.
bool Design::add_columns(std::span<const double> W, std::size_t k, std::span<double> Z) const {
  std::vector<std::size_t> some;
  for (std::size_t j = 0; j < features(); ++j) {
    const double* w = &W[j * k];
    if (std::any_of(w, w + k, [](double v) { return v != 0; })) some.push_back(j);
  }
  return std::visit(
      [&]<class L>(const L& columns) {
        constexpr bool dense = requires { DenseLines{columns}; };
        if (!(dense && k == 1) && 8 * some.size() > columns.count) return false;
        std::fill(Z.begin(), Z.end(), 0.0);
        if constexpr (dense) {
          if (k == 1) {
            in_parts(columns.length, 4096, threads_, [&](std::size_t begin, std::size_t end) {
              for (const std::size_t j : some)
                dense_add(columns.value + j * columns.length + begin, W[j], &Z[begin], end - begin);
            });
            return true;
          }
        }
        for (const std::size_t j : some) given_.scatter(j, &W[j * k], k, Z.data());
        return true;
      },
      given_);
}

// out = Σ_i of what `add` makes of dense rows, four at a time, in parts of fixed length that are added in their order:
// nothing is transposed.
template <class F>
bool Design::add_rows(std::span<double> out, F add) const {
  if (!by_rows_) return false;
  return std::visit(
      [&]<class L>(const L& rows) {
        if constexpr (requires { DenseLines{rows}; }) {
          const std::size_t parts = std::min<std::size_t>(16, rows.count / 256 + 1), d = rows.length;
          const std::size_t grain = (rows.count + parts - 1) / parts;
          std::vector<double> sums(parts * d);
          in_parts(rows.count, grain, threads_, [&](std::size_t begin, std::size_t end) {
            double* sum = &sums[begin / grain * d];
            for (std::size_t i = begin; i < end; i += 4) {
              add(i, rows.value + i * d, d, std::min<std::size_t>(4, end - i), sum);
            }
          });
          std::fill(out.begin(), out.end(), 0.0);
          for (std::size_t q = 0; q < parts; ++q) dense_add(&sums[q * d], 1.0, out.data(), d);
          return true;
        }
        return false;
      },
      row_lines());
}

void Design::gradient(std::span<const double> S, std::size_t k, std::span<double> G) const {
  if (k == 1 && add_rows(G, [&](std::size_t i, const auto* x, std::size_t d, std::size_t rows, double* sum) {
        if (rows == 4) return dense_add_four(x, &S[i], sum, d);
        for (std::size_t r = 0; r < rows; ++r) dense_add(x + r * d, S[i + r], sum, d);
      }))
    return;
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
  if (add_rows(out, [&](std::size_t i, const auto* x, std::size_t d, std::size_t rows, double* sum) {
        for_this_processor([&] {
          for (std::size_t r = 0; r < rows; ++r) {
            side_by_side(d, [=, by = h[i + r], x = x + r * d](std::size_t j) {
              sum[j] += by * static_cast<double>(x[j]) * static_cast<double>(x[j]);
            });
          }
        });
      }))
    return;
  const Lines& columns = column_lines();
  in_line_parts(columns, 1, threads_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      out[j] = columns.moments(j, h.data()).second;
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
