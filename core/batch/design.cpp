#include "batch/design.hpp"

#include <algorithm>
#include <cmath>

namespace gossamer {

namespace {

constexpr std::size_t worth_a_thread = 1 << 17;  // multiplications that outweigh starting one

// Σ_i x_i in[i] in four running sums, for one output
template <class T>
double dot(const SparseLines<T>& lines, std::size_t l, const double* in) {
  const std::int64_t end = lines.starts[l + 1];
  std::int64_t e = lines.starts[l];
  double a = 0, b = 0;
  for (; e + 2 <= end; e += 2) {
    a += static_cast<double>(lines.value[e]) * in[lines.index[e]];
    b += static_cast<double>(lines.value[e + 1]) * in[lines.index[e + 1]];
  }
  if (e < end) a += static_cast<double>(lines.value[e]) * in[lines.index[e]];
  return a + b;
}

template <class T>
double dot(const DenseLines<T>& lines, std::size_t l, const double* in) {
  const T* x = lines.value + l * lines.length;
  constexpr std::size_t lanes = 8;
  double lane[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= lines.length; i += lanes) {
    for (std::size_t r = 0; r < lanes; ++r) lane[r] += static_cast<double>(x[i + r]) * in[i + r];
  }
  for (; i < lines.length; ++i) lane[0] += static_cast<double>(x[i]) * in[i];
  return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

template <class L>
using ValueOf = std::remove_cv_t<std::remove_pointer_t<decltype(L::value)>>;

template <class T>
std::unique_ptr<OwnedLines> transpose(const SparseLines<T>& from, std::span<const std::int32_t> kept, std::size_t count,
                                      unsigned) {
  auto made = std::make_unique<OwnedLines>();
  auto& starts = made->starts;
  starts.assign(count + 1, 0);
  const std::int64_t first = from.starts[0], last = from.starts[from.count];
  auto place = [&](std::int64_t e) {
    return kept.empty() ? from.index[e] : kept[static_cast<std::size_t>(from.index[e])];
  };
  for (std::int64_t e = first; e < last; ++e) {
    const std::int32_t to = place(e);
    if (to >= 0) ++starts[static_cast<std::size_t>(to) + 1];
  }
  for (std::size_t c = 0; c < count; ++c) starts[c + 1] += starts[c];
  made->index.resize(static_cast<std::size_t>(starts[count]));
  auto& values = made->values<T>();
  values.resize(static_cast<std::size_t>(starts[count]));
  std::vector<std::int64_t> next(starts.begin(), starts.end() - 1);
  for (std::size_t l = 0; l < from.count; ++l) {
    for (std::int64_t e = from.starts[l]; e < from.starts[l + 1]; ++e) {
      const std::int32_t to = place(e);
      if (to < 0) continue;
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(to)]++);
      made->index[at] = static_cast<std::int32_t>(l);
      values[at] = from.value[e];
    }
  }
  made->lines = SparseLines<T>{count, from.count, starts.data(), made->index.data(), values.data()};
  return made;
}

template <class T>
std::unique_ptr<OwnedLines> transpose(const DenseLines<T>& from, std::span<const std::int32_t> kept, std::size_t count,
                                      unsigned threads) {
  auto made = std::make_unique<OwnedLines>();
  auto& values = made->values<T>();
  values.resize(count * from.count);
  in_parts(from.count, 64, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = 0; j < from.length; ++j) {
      const std::int64_t to = kept.empty() ? static_cast<std::int64_t>(j) : kept[j];
      if (to < 0) continue;
      T* out = values.data() + static_cast<std::size_t>(to) * from.count;
      for (std::size_t i = begin; i < end; ++i) out[i] = from.value[i * from.length + j];
    }
  });
  made->lines = DenseLines<T>{count, from.count, values.data()};
  return made;
}

// Lines that make about 4,096 multiplications a task.
template <class L>
std::size_t grain_of(const L& lines, std::size_t k) {
  const std::size_t a_line = std::max<std::size_t>(1, k * lines.entries() / std::max<std::size_t>(1, lines.count));
  return std::max<std::size_t>(1, 16384 / a_line);
}

}  // namespace

std::unique_ptr<OwnedLines> transposed(const Lines& lines, std::span<const std::int32_t> kept, std::size_t count,
                                       unsigned threads) {
  return std::visit([&](const auto& l) { return transpose(l, kept, count, threads); }, lines);
}

const Lines& Design::other() const {
  std::call_once(made_once_, [this] { made_ = transposed(given_, {}, length(), threads_); });
  return made_->lines;
}

void product(const Lines& lines, std::span<const double> in, std::size_t k, std::span<double> out, unsigned threads) {
  std::visit(
      [&](const auto& l) {
        if (l.entries() * k < worth_a_thread) threads = 1;
        in_parts(l.count, grain_of(l, k), threads, [&](std::size_t begin, std::size_t end) {
          for (std::size_t at = begin; at < end; ++at) {
            if (k == 1) {
              out[at] = dot(l, at, in.data());
              continue;
            }
            double* o = out.data() + at * k;
            std::fill_n(o, k, 0.0);
            l.each(at, [&](std::size_t i, double x) {
              if (x == 0) return;
              const double* from = in.data() + i * k;
              for (std::size_t r = 0; r < k; ++r) o[r] += x * from[r];
            });
          }
        });
      },
      lines);
}

void Design::margins(std::span<const double> W, std::size_t k, std::span<double> Z) const {
  product(row_lines(), W, k, Z, threads_);
}

void Design::gradient(std::span<const double> S, std::size_t k, std::span<double> G) const {
  product(column_lines(), S, k, G, threads_);
}

void Design::signed_sums(std::span<const double> p, std::span<double> above, std::span<double> below) const {
  std::fill(above.begin(), above.end(), 0.0), std::fill(below.begin(), below.end(), 0.0);
  std::visit(
      [&](const auto& l) {
        for (std::size_t at = 0; at < l.count; ++at) {
          l.each(at, [&](std::size_t i, double x) {
            const std::size_t j = by_rows_ ? i : at;
            const double px = p[by_rows_ ? at : i] * x;
            (px > 0 ? above : below)[j] += std::fabs(px);
          });
        }
      },
      given_);
}

void Design::weighted_squares(std::span<const double> h, std::span<double> out) const {
  std::visit(
      [&](const auto& l) {
        in_parts(l.count, grain_of(l, 1), l.entries() < worth_a_thread ? 1 : threads_,
                 [&](std::size_t begin, std::size_t end) {
                   for (std::size_t j = begin; j < end; ++j) {
                     double sum = 0;
                     l.each(j, [&](std::size_t i, double x) { sum += h[i] * x * x; });
                     out[j] = sum;
                   }
                 });
      },
      column_lines());
}

namespace {

template <class T>
std::unique_ptr<OwnedLines> chosen(const SparseLines<T>& from, std::span<const std::int32_t> kept, std::size_t count) {
  auto made = std::make_unique<OwnedLines>();
  made->starts.push_back(0);
  auto& values = made->values<T>();
  for (std::size_t l = 0; l < from.count; ++l) {
    if (kept[l] < 0) continue;
    made->index.insert(made->index.end(), from.index + from.starts[l], from.index + from.starts[l + 1]);
    values.insert(values.end(), from.value + from.starts[l], from.value + from.starts[l + 1]);
    made->starts.push_back(static_cast<std::int64_t>(values.size()));
  }
  made->lines = SparseLines<T>{count, from.length, made->starts.data(), made->index.data(), values.data()};
  return made;
}

template <class T>
std::unique_ptr<OwnedLines> chosen(const DenseLines<T>& from, std::span<const std::int32_t> kept, std::size_t count) {
  auto made = std::make_unique<OwnedLines>();
  auto& values = made->values<T>();
  for (std::size_t l = 0; l < from.count; ++l) {
    if (kept[l] >= 0) values.insert(values.end(), from.value + l * from.length, from.value + (l + 1) * from.length);
  }
  made->lines = DenseLines<T>{count, from.length, values.data()};
  return made;
}

}  // namespace

std::unique_ptr<Design> Design::reduced(std::span<const std::int32_t> kept, std::size_t count) const {
  auto owned = by_rows_ ? transposed(given_, kept, count, threads_)
                        : std::visit([&](const auto& l) { return chosen(l, kept, count); }, given_);
  auto made = std::make_unique<Design>(owned->lines, false, threads_);
  made->owned_ = std::move(owned);
  return made;
}

}  // namespace gossamer
