// A penalty as the online learners call it: once per example, on a buffer of rows, behind a pointer.
//
// It is a sum over features: each row of W (one feature, all outputs) by itself, with the feature's weight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/state.hpp"
#include "catalogue/penalties.hpp"

namespace gossamer {

// A buffer of rows: row i is `width` numbers at w + i · stride, of feature[i / per]. (Lanes have `per` rows for each
// feature, one per lane.)
struct Rows {
  double* w;
  std::size_t count, width, stride;
  const std::int32_t* feature;
  std::size_t per = 1;

  std::span<double> operator[](std::size_t i) const { return {w + i * stride, width}; }
};

// What happens to a feature in the rounds of FOBOS that do not contain it: prox(w, s_t) in every round t. A feature
// that was away catches up when it is next needed, in one go wherever mathematics allows.
class Lazy {
 public:
  virtual ~Lazy() = default;
  virtual void advance(double s) = 0;  // one more round
  virtual double now() const = 0;      // a stamp for a feature that is up to date
  virtual Range stamps() const = 0;    // what a stamp may be
  virtual bool full() const = 0;       // the record has grown too long: all features catch up and it restarts
  virtual void restart() = 0;
  virtual void catch_up(Rows rows, const double* stamps) const = 0;  // all rounds since; one stamp per feature
  // sum += w after each of the last n rounds, for a row that was w (as of its stamp) before them
  virtual void add_path(std::span<const double> w, std::size_t j, double stamp, double n, double* sum) const = 0;
  virtual void visit(StateVisitor& f) = 0;
};

// The sum of the lengths that follow on a length x, for a feature of this weight.
struct Lengths {
  virtual ~Lengths() = default;
  virtual double operator()(double x, double weight) const = 0;
};

class RowPenalty {
 public:
  virtual ~RowPenalty() = default;
  virtual const PenaltyFacts& facts() const = 0;
  virtual bool of_blocks() const = 0;                      // a function of whole rows, not a sum over their numbers
  virtual const std::vector<double>& weights() const = 0;  // one per feature, or none
  // Each row ← prox(row, s_i)
  virtual void prox(Rows rows, const double* s) const = 0;
  // Each row ← n_j rounds of prox(·, s_i); one n per feature
  virtual void repeat(Rows rows, const double* n, const double* s) const = 0;
  // sum += w after each of n rounds of prox(·, s)
  virtual void add_repeats(std::span<const double> w, std::size_t j, double n, double s, double* sum) const = 0;
  // Each row ← row − s ξ, ξ ∈ ∂Ω(row); throws where the penalty constrains
  virtual void descend(Rows rows, double s) const = 0;
  // Adds to `sum` the row v with its lengths replaced; false where the penalty does not shorten rows
  virtual bool add_lengths(std::span<const double> v, std::size_t j, const Lengths& f, double* sum) const = 0;
  // Rounds with steps of their own, s_t times `strength`; `traced` keeps what paths need
  virtual std::unique_ptr<Lazy> rounds(double strength, std::size_t features, bool traced) const = 0;
};

// `weights` are one per feature, or none.
std::unique_ptr<RowPenalty> make_row_penalty(const RowPenalties::Variant& penalty, std::vector<double> weights);

// Truncated gradient (Langford et al. 2009): every `period` rounds a soft threshold by the period times s of what is at
// most `threshold` large.
std::unique_ptr<Lazy> make_truncation(std::size_t period, double threshold, std::vector<double> weights,
                                      std::size_t features, bool traced);

// The weights of the ℓ1 norm that the penalty is over rows of one number, if it is one: L1 itself, and norms of rows.
// (Empty weights stay empty where all of them are one.)
bool is_l1_of_one(const RowPenalties::Variant& penalty, std::vector<double>& weights);

inline double weight_of(const std::vector<double>& weights, std::size_t j) {
  return weights.empty() ? 1.0 : weights[j];
}

}  // namespace gossamer
