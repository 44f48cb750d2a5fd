// The data matrix X, n rows (examples) × d columns (features), as rows and as columns, sparse or dense, float or
// double.
//
//     margins     Z = X W     reads rows
//     gradient    G = Xᵀ S    reads columns
//
// W and G are d × k, Z and S n × k, row-major. Every number of a result is summed by one thread in a fixed order. The
// form that was not given is made when first needed.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <variant>
#include <vector>

#include "base/threads.hpp"

namespace gossamer {

// Lines of a sparse matrix (its rows or its columns): line l holds value[e] at index[e] for e = starts[l] …
// starts[l+1].
template <class T>
struct SparseLines {
  std::size_t count = 0, length = 0;
  const std::int64_t* starts = nullptr;
  const std::int32_t* index = nullptr;
  const T* value = nullptr;

  std::size_t entries() const { return static_cast<std::size_t>(starts[count] - starts[0]); }
  std::size_t size(std::size_t line) const { return static_cast<std::size_t>(starts[line + 1] - starts[line]); }
  // f(i, x) for the entries of a line
  template <class F>
  void each(std::size_t line, F f) const {
    const std::int64_t end = starts[line + 1];
    for (std::int64_t e = starts[line]; e < end; ++e) {
      f(static_cast<std::size_t>(index[e]), static_cast<double>(value[e]));
    }
  }
};

// Lines of a dense matrix, one after the other.
template <class T>
struct DenseLines {
  std::size_t count = 0, length = 0;
  const T* value = nullptr;

  std::size_t entries() const { return count * length; }
  std::size_t size(std::size_t) const { return length; }
  template <class F>
  void each(std::size_t line, F f) const {
    const T* x = value + line * length;
    for (std::size_t i = 0; i < length; ++i) f(i, static_cast<double>(x[i]));
  }
};

using Lines = std::variant<SparseLines<float>, SparseLines<double>, DenseLines<float>, DenseLines<double>>;

// Lines with the memory they are in.
struct OwnedLines {
  Lines lines;
  std::vector<std::int64_t> starts;
  std::vector<std::int32_t> index;
  std::vector<float> floats;
  std::vector<double> doubles;

  template <class T>
  std::vector<T>& values() {
    if constexpr (std::is_same_v<T, float>)
      return floats;
    else
      return doubles;
  }
};

// The same matrix by its other lines, those that `kept` has a new number ≥ 0 for; −1 leaves one out.
std::unique_ptr<OwnedLines> transposed(const Lines& lines, std::span<const std::int32_t> kept, std::size_t count,
                                       unsigned threads);

class Design {
 public:
  // One of the two forms is given; it must outlive the design.
  Design(Lines given, bool by_rows, unsigned threads) : by_rows_(by_rows), threads_(threads), given_(given) {}

  std::size_t rows() const { return by_rows_ ? count() : length(); }
  std::size_t features() const { return by_rows_ ? length() : count(); }
  unsigned threads() const { return threads_; }
  bool by_rows() const { return by_rows_; }
  const Lines& given() const { return given_; }
  const Lines& row_lines() const { return by_rows_ ? given_ : other(); }
  const Lines& column_lines() const { return by_rows_ ? other() : given_; }

  void margins(std::span<const double> W, std::size_t k, std::span<double> Z) const;
  void gradient(std::span<const double> S, std::size_t k, std::span<double> G) const;
  // Σ_i [p_i x_ij]₊ and Σ_i [−p_i x_ij]₊ of every column
  void signed_sums(std::span<const double> p, std::span<double> above, std::span<double> below) const;
  // Σ_i h_i x_ij² of every column
  void weighted_squares(std::span<const double> h, std::span<double> out) const;
  // The columns j that have a new number kept[j] ≥ 0, as a design that owns them.
  std::unique_ptr<Design> reduced(std::span<const std::int32_t> kept, std::size_t count) const;

 private:
  std::size_t count() const {
    return std::visit([](const auto& l) { return l.count; }, given_);
  }
  std::size_t length() const {
    return std::visit([](const auto& l) { return l.length; }, given_);
  }
  const Lines& other() const;

  bool by_rows_;
  unsigned threads_;
  Lines given_;
  std::unique_ptr<OwnedLines> owned_;  // where `given_` is, if it is the design's own
  mutable std::once_flag made_once_;
  mutable std::unique_ptr<OwnedLines> made_;
};

// out = lines · in: out[l] = Σ_i x_li in[i], each of them k numbers.
void product(const Lines& lines, std::span<const double> in, std::size_t k, std::span<double> out, unsigned threads);

}  // namespace gossamer
