#include "catalogue/sparse_simplex.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/sums.hpp"
#include "catalogue/projections.hpp"

namespace gossamer {

namespace {

// The order of a heap with the smallest raw weight on top.
auto later(const std::vector<double>& raw) {
  return [&raw](std::size_t a, std::size_t b) { return raw[a] > raw[b]; };
}

}  // namespace

SparseSimplex::SparseSimplex(std::size_t n_features, double radius) : radius_(radius), class_of_(n_features, 0) {
  if (n_features == 0) return;
  add_class(radius / static_cast<double>(n_features), n_features);
  add_to(sum_, n_features, raw_[0]);
}

void SparseSimplex::visit(StateVisitor& f) {
  f("simplex_shift", shift_, any_number);
  f("simplex_sum", sum_[0], any_number), f("simplex_rest", sum_[1], any_number);
  f.growing("simplex_raw", raw_, {{any_number}});
  const std::size_t classes = raw_.size();
  f.demand("simplex_raw", "there are weights and no class", [&] { return classes > 0 || size() == 0; });
  f.whole("simplex_class", class_of_, classes, false), f.whole("simplex_parent", parent_, classes, true);
  f.whole("simplex_count", count_, size() + 1, true), f.whole("simplex_rank", rank_, 64, true);
  f.whole("simplex_heap", heap_, classes, true);
  f.demand("simplex_parent", "the classes are not trees with the weights under their roots",
           [&] { return is_forest(); });
  f.demand("simplex_heap", "it is not a heap of the classes", [&] { return is_in_order(); });
  f.demand("simplex_sum", "the weights are not in the simplex", [&] { return is_in_the_simplex(); });
}

// Ranks rise towards the roots, so that no class is above itself, and a root counts the weights under it.
bool SparseSimplex::is_forest() const {
  const std::size_t classes = raw_.size();
  if (parent_.size() != classes || count_.size() != classes || rank_.size() != classes) return false;
  for (std::size_t c = 0; c < classes; ++c) {
    if (parent_[c] != c && rank_[parent_[c]] <= rank_[c]) return false;
  }
  std::vector<std::size_t> under(classes);
  for (const std::size_t c : class_of_) ++under[root(c)];
  for (std::size_t c = 0; c < classes; ++c) {
    if (parent_[c] == c && count_[c] != under[c]) return false;
  }
  return true;
}

// A heap with every root that has weights, no class twice, and no class that is not a root.
bool SparseSimplex::is_in_order() const {
  std::vector<bool> found(raw_.size());
  for (const std::size_t c : heap_) {
    if (found[c] || parent_[c] != c) return false;
    found[c] = true;
  }
  for (std::size_t c = 0; c < raw_.size(); ++c) {
    if (parent_[c] == c && count_[c] > 0 && !found[c]) return false;
  }
  return std::is_heap(heap_.begin(), heap_.end(), later(raw_));
}

bool SparseSimplex::is_in_the_simplex() const {
  double weights = 0, raw = 0, size = 0;
  for (std::size_t c = 0; c < raw_.size(); ++c) {
    if (parent_[c] != c) continue;
    const auto count = static_cast<double>(count_[c]);
    weights += count * std::max(raw_[c] - shift_, 0.0), raw += count * raw_[c], size += count * std::fabs(raw_[c]);
  }
  return std::fabs(weights - radius_) <= 1e-6 * (radius_ + size) &&
         std::fabs(sum_[0] + sum_[1] - raw) <= 1e-6 * (radius_ + size);
}

void SparseSimplex::update(std::span<const std::int64_t> indices, std::span<const double> deltas) {
  if (indices.empty()) return;
  const auto huge = [&](double delta) { return std::fabs(delta) > 100 * radius_; };  // Θ would lose its digits
  if (indices.size() > size() / 4 || std::any_of(deltas.begin(), deltas.end(), huge)) {
    return update_densely(indices, deltas);
  }
  for (std::size_t i = 0; i < indices.size(); ++i) add(static_cast<std::size_t>(indices[i]), deltas[i]);
  shrink();
  if (std::fabs(shift_) > radius_ || raw_.size() > 2 * size() + 1024) rebase();
}

void SparseSimplex::push(std::size_t c) {
  heap_.push_back(c);
  std::push_heap(heap_.begin(), heap_.end(), later(raw_));
}

void SparseSimplex::pop() {
  std::pop_heap(heap_.begin(), heap_.end(), later(raw_));
  heap_.pop_back();
}

// sum += count · raw, to the last digit
void SparseSimplex::add_to(Sum& sum, std::size_t count, double raw, double sign) {
  const double n = sign * static_cast<double>(count), product = n * raw;
  add_exactly(sum.data(), product);
  if (count != 1) add_exactly(sum.data(), std::fma(n, raw, -product));
}

std::size_t SparseSimplex::add_class(double raw, std::size_t count) {
  const std::size_t c = raw_.size();
  raw_.push_back(raw), parent_.push_back(c), count_.push_back(count), rank_.push_back(0);
  push(c);
  return c;
}

std::size_t SparseSimplex::merge(std::size_t a, std::size_t b) {
  if (rank_[a] < rank_[b]) std::swap(a, b);
  if (rank_[a] == rank_[b]) ++rank_[a];
  parent_[b] = a;
  count_[a] += count_[b];
  return a;
}

// Moves the weight from its class to one of its own.
void SparseSimplex::add(std::size_t j, double delta) {
  const std::size_t old = root(class_of_[j]);
  const double raw = raw_[old] + delta;
  --count_[old];
  add_to(sum_, 1, raw), add_to(sum_, 1, raw_[old], -1);
  class_of_[j] = add_class(raw, 1);
}

void SparseSimplex::shrink() {
  const double least_weight = 4 * std::numeric_limits<double>::epsilon() * radius_;
  std::size_t left = size(), zeros = raw_.size();  // zeros: the class of what is at zero, none yet
  const auto cut = [&] { return ((sum_[0] - radius_) + sum_[1]) / static_cast<double>(left); };
  shift_ = cut();
  while (!heap_.empty()) {
    const std::size_t least = heap_.front();
    if (count_[least] > 0) {
      if (raw_[least] > shift_ + least_weight || count_[least] == left) break;
      left -= count_[least];
      add_to(sum_, count_[least], raw_[least], -1);
      shift_ = cut();
      zeros = zeros == raw_.size() ? least : merge(zeros, least);
    }
    pop();
  }
  if (zeros == raw_.size()) return;
  raw_[zeros] = shift_;
  add_to(sum_, count_[zeros], shift_);
  push(zeros);
}

void SparseSimplex::update_densely(std::span<const std::int64_t> indices, std::span<const double> deltas) {
  std::vector<double> w(size());
  for (std::size_t j = 0; j < w.size(); ++j) w[j] = (*this)[j];
  for (std::size_t i = 0; i < indices.size(); ++i) w[static_cast<std::size_t>(indices[i])] += deltas[i];
  Scratch scratch;
  project_simplex(std::span<const double>(w), std::span(w), radius_, scratch);
  raw_.clear(), parent_.clear(), count_.clear(), rank_.clear(), heap_.clear();
  shift_ = 0, sum_ = {};
  std::size_t zeros = w.size();
  for (std::size_t j = 0; j < w.size(); ++j) {
    if (w[j] == 0 && zeros < w.size()) {
      class_of_[j] = zeros;
      ++count_[zeros];
    } else {
      class_of_[j] = add_class(w[j], 1);
      if (w[j] == 0) zeros = class_of_[j];
    }
    add_to(sum_, 1, w[j]);
  }
}

// A shift of zero, an exact sum, and only classes that have weights.
void SparseSimplex::rebase() {
  const std::size_t none = raw_.size();
  std::vector<std::size_t> number(raw_.size(), none);
  std::vector<double> raw;
  std::vector<std::size_t> count;
  sum_ = {};
  for (std::size_t& c : class_of_) {
    const std::size_t r = root(c);
    if (number[r] == none) {
      number[r] = raw.size();
      raw.push_back(std::max(raw_[r] - shift_, 0.0)), count.push_back(0);
    }
    c = number[r];
    ++count[c];
    add_to(sum_, 1, raw[c]);
  }
  shift_ = 0;
  raw_ = std::move(raw), count_ = std::move(count);
  rank_.assign(raw_.size(), 0);
  parent_.resize(raw_.size()), heap_.resize(raw_.size());
  std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  std::iota(heap_.begin(), heap_.end(), std::size_t{0});
  std::make_heap(heap_.begin(), heap_.end(), later(raw_));
}

}  // namespace gossamer
