#include "base/lines.hpp"

#include <algorithm>

#include "base/pack.hpp"
#include "base/side_by_side.hpp"

namespace gossamer {

// In sixteen running sums, as an addition takes as long as four vectors take to come from a cache.
template <class T>
double dense_dot(const T* x, const double* v, std::size_t n) {
  return for_this_processor([=] {
    Quad a = {}, b = {}, c = {}, d = {};
    std::size_t i = 0;
    for (; i + 16 <= n; i += 16) {
      a += load_four(x + i) * load_four(v + i);
      b += load_four(x + i + 4) * load_four(v + i + 4);
      c += load_four(x + i + 8) * load_four(v + i + 8);
      d += load_four(x + i + 12) * load_four(v + i + 12);
    }
    for (; i + 4 <= n; i += 4) a += load_four(x + i) * load_four(v + i);
    double rest = 0;
    for (; i < n; ++i) rest += static_cast<double>(x[i]) * v[i];
    const Quad sum = (a + b) + (c + d);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]) + rest;
  });
}

template <class T>
void dense_add_products(const T* x, const double* h, double by, double* out, std::size_t n) {
  for_this_processor([=] { side_by_side(n, [=](std::size_t i) { out[i] += static_cast<double>(x[i]) * h[i] * by; }); });
}

template void dense_add_products(const float*, const double*, double, double*, std::size_t);
template void dense_add_products(const double*, const double*, double, double*, std::size_t);

template <class T>
void dense_add(const T* x, double by, double* out, std::size_t n) {
  for_this_processor([=] { side_by_side(n, [=](std::size_t i) { out[i] += static_cast<double>(x[i]) * by; }); });
}

template <class T>
void dense_add_four(const T* x, const double* by, double* out, std::size_t n) {
  for_this_processor([=, a = by[0], b = by[1], c = by[2], d = by[3]] {
    side_by_side(n, [=](std::size_t i) {
      out[i] += (a * static_cast<double>(x[i]) + b * static_cast<double>(x[i + n])) +
                (c * static_cast<double>(x[i + 2 * n]) + d * static_cast<double>(x[i + 3 * n]));
    });
  });
}

template void dense_add_four(const float*, const double*, double*, std::size_t);
template void dense_add_four(const double*, const double*, double*, std::size_t);

template <class T>
Moments dense_moments(const T* x, const double* h, std::size_t n) {
  return for_this_processor([=] {
    double first[8] = {}, second[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
      for (std::size_t r = 0; r < 8; ++r) {
        const double by = static_cast<double>(x[i + r]), hx = h[i + r] * by;
        first[r] += hx, second[r] += hx * by;
      }
    }
    for (; i < n; ++i) {
      const double by = static_cast<double>(x[i]), hx = h[i] * by;
      first[0] += hx, second[0] += hx * by;
    }
    const auto sum = [](const double* s) { return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])); };
    return Moments{sum(first), sum(second)};
  });
}

template Moments dense_moments(const float*, const double*, std::size_t);
template Moments dense_moments(const double*, const double*, std::size_t);
template double dense_dot(const float*, const double*, std::size_t);
template double dense_dot(const double*, const double*, std::size_t);
template void dense_add(const float*, double, double*, std::size_t);
template void dense_add(const double*, double, double*, std::size_t);

namespace {

template <class T>
void transpose(const SparseLines<T>& from, std::span<const std::int32_t> kept, std::size_t count, unsigned,
               OwnedLines& made) {
  auto& starts = made.starts;
  auto& values = made.values<T>();
  const auto place = [&](std::int64_t e) {
    return kept.empty() ? from.index[e] : kept[static_cast<std::size_t>(from.index[e])];
  };
  starts.assign(count + 1, 0);
  StopWatch watch;
  for (std::size_t l = 0; l < from.count; ++l) {
    for (std::int64_t e = from.starts[l]; e < from.starts[l + 1]; ++e) {
      const std::int32_t to = place(e);
      if (to >= 0) ++starts[static_cast<std::size_t>(to) + 1];
    }
    watch.did(static_cast<std::size_t>(from.starts[l + 1] - from.starts[l]));
  }
  for (std::size_t c = 0; c < count; ++c) starts[c + 1] += starts[c];
  made.index.resize(static_cast<std::size_t>(starts[count]));
  values.resize(made.index.size());
  std::vector<std::int64_t> next(starts.begin(), starts.end() - 1);
  for (std::size_t l = 0; l < from.count; ++l) {
    for (std::int64_t e = from.starts[l]; e < from.starts[l + 1]; ++e) {
      const std::int32_t to = place(e);
      if (to < 0) continue;
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(to)]++);
      made.index[at] = static_cast<std::int32_t>(l);
      values[at] = from.value[e];
    }
    watch.did(static_cast<std::size_t>(from.starts[l + 1] - from.starts[l]));
  }
  made.lines = SparseLines<T>{count, from.count, starts.data(), made.index.data(), values.data()};
}

template <class T>
void transpose(const DenseLines<T>& from, std::span<const std::int32_t> kept, std::size_t count, unsigned threads,
               OwnedLines& made) {
  auto& values = made.values<T>();
  values.resize(count * from.count);
  in_parts(from.count, 64, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = 0; j < from.length; ++j) {
      const std::int64_t to = kept.empty() ? static_cast<std::int64_t>(j) : kept[j];
      if (to < 0) continue;
      T* out = values.data() + static_cast<std::size_t>(to) * from.count;
      for (std::size_t i = begin; i < end; ++i) out[i] = from.value[i * from.length + j];
    }
  });
  made.lines = DenseLines<T>{count, from.count, values.data()};
}

template <class T>
void copy(const SparseLines<T>& from, std::span<const std::int64_t> which, OwnedLines& made) {
  auto& values = made.values<T>();
  made.starts.push_back(0);
  for (const std::int64_t l : which) {
    const std::int64_t begin = from.starts[l], end = from.starts[l + 1];
    made.index.insert(made.index.end(), from.index + begin, from.index + end);
    values.insert(values.end(), from.value + begin, from.value + end);
    made.starts.push_back(static_cast<std::int64_t>(values.size()));
  }
  made.lines = SparseLines<T>{which.size(), from.length, made.starts.data(), made.index.data(), values.data()};
}

template <class T>
void copy(const DenseLines<T>& from, std::span<const std::int64_t> which, OwnedLines& made) {
  auto& values = made.values<T>();
  for (const std::int64_t l : which) {
    const T* line = from.value + static_cast<std::size_t>(l) * from.length;
    values.insert(values.end(), line, line + from.length);
  }
  made.lines = DenseLines<T>{which.size(), from.length, values.data()};
}

}  // namespace

std::unique_ptr<OwnedLines> transposed(const Lines& lines, std::span<const std::int32_t> kept, std::size_t count,
                                       unsigned threads) {
  auto made = std::make_unique<OwnedLines>();
  std::visit([&](const auto& l) { transpose(l, kept, count, threads, *made); }, lines);
  return made;
}

std::unique_ptr<OwnedLines> copied(const Lines& lines, std::span<const std::int64_t> which) {
  auto made = std::make_unique<OwnedLines>();
  std::visit([&](const auto& l) { copy(l, which, *made); }, lines);
  return made;
}

void Lines::gather(std::size_t line, const double* V, std::size_t k, double* out) const {
  if (k == 1) {
    *out = dot(line, V);
    return;
  }
  std::fill_n(out, k, 0.0);
  each(line, [=](std::size_t i, double x) {
    if (x == 0) return;
    for (std::size_t r = 0; r < k; ++r) out[r] += x * V[i * k + r];
  });
}

void Lines::add_products(std::size_t line, const double* h, double by, double* out) const {
  std::visit(
      [&]<class L>(const L& l) {
        if constexpr (requires { DenseLines{l}; })
          dense_add_products(l.value + line * l.length, h, by, out, l.length);
        else
          l.each(line, [=](std::size_t i, double x) { out[i] += x * h[i] * by; });
      },
      *this);
}

void Lines::scatter(std::size_t line, const double* w, std::size_t k, double* out) const {
  if (k == 1) {
    return std::visit(
        [&]<class L>(const L& l) {
          if constexpr (requires { DenseLines{l}; })
            dense_add(l.value + line * l.length, *w, out, l.length);
          else
            l.each(line, [=, by = *w](std::size_t i, double x) { out[i] += x * by; });
        },
        *this);
  }
  each(line, [=](std::size_t i, double x) {
    if (x == 0) return;
    for (std::size_t r = 0; r < k; ++r) out[i * k + r] += x * w[r];
  });
}

void product(const Lines& lines, std::span<const double> in, std::size_t k, std::span<double> out, unsigned threads) {
  std::visit(
      [&](const auto& of_one) {  // looked up once: lines may be short
        in_line_parts(lines, k, threads, [&](std::size_t begin, std::size_t end) {
          for (std::size_t l = begin; l < end; ++l) {
            if (k == 1)
              out[l] = of_one.dot(l, in.data());
            else
              lines.gather(l, in.data(), k, out.data() + l * k);
          }
        });
      },
      lines);
}

}  // namespace gossamer
