// The data matrix X, n rows (examples) × d columns (features), as rows and as columns, sparse or dense, float or
// double.
//
//     margins     Z = X W     reads rows
//     gradient    G = Xᵀ S    reads columns
//
// W and G are d × k, Z and S n × k, row-major. Every number of a result is summed by one thread in a fixed order. The
// form that was not given is made when first needed.
#pragma once

#include <memory>
#include <mutex>
#include <span>

#include "base/lines.hpp"

namespace gossamer {

class Design {
 public:
  // One of the two forms is given; it must outlive the design.
  Design(Lines given, bool by_rows, unsigned threads) : by_rows_(by_rows), threads_(threads), given_(given) {}

  std::size_t rows() const { return by_rows_ ? given_.count() : given_.length(); }
  std::size_t features() const { return by_rows_ ? given_.length() : given_.count(); }
  unsigned threads() const { return threads_; }
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
  const Lines& other() const;
  bool add_columns(std::span<const double> W, std::size_t k, std::span<double> Z) const;
  template <class F>
  bool add_rows(std::span<double> out, F add) const;

  bool by_rows_;
  unsigned threads_;
  Lines given_;
  std::unique_ptr<OwnedLines> owned_;  // where `given_` is, if it is the design's own
  mutable std::once_flag made_once_;
  mutable std::unique_ptr<OwnedLines> made_;
};

}  // namespace gossamer
