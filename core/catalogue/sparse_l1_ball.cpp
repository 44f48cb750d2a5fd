#include "catalogue/sparse_l1_ball.hpp"

#include "catalogue/projections.hpp"

namespace gossamer {

namespace {

constexpr std::size_t arity = 4;  // of the heap

}  // namespace

void SparseL1Ball::read(std::span<const std::int64_t> indices, std::span<double> out) const {
  for (std::size_t i = 0; i < indices.size(); ++i) out[i] = (*this)[static_cast<std::size_t>(indices[i])];
}

void SparseL1Ball::visit(StateVisitor& f) {
  std::vector<double> keys;
  std::vector<std::size_t> indices, changes{changes_};
  for (const Entry& e : heap_) keys.push_back(e.key), indices.push_back(e.index);
  f("ball_raw", std::span(raw_), Per::learner, {{any_number}});
  f("ball_shift", shift_, at_least_zero), f("ball_sum", sum_, at_least_zero);
  f.growing("ball_keys", keys, {{at_least_zero}}), f.whole("ball_indices", indices, raw_.size(), true);
  f.whole("ball_changes", changes, 0, false);
  f.demand("ball_keys", "there is not one for each of 'ball_indices'", [&] { return keys.size() == indices.size(); });
  heap_.resize(keys.size());
  for (std::size_t i = 0; i < heap_.size(); ++i) heap_[i] = {keys[i], indices[i]};
  nonzeros_ = static_cast<std::size_t>(std::count_if(raw_.begin(), raw_.end(), [](double x) { return x != 0; }));
  changes_ = changes[0];
  f.demand("ball_keys", "it is not a heap of the weights", [&] { return is_in_order(); });
  f.demand("ball_sum", "the weights are not in the ball", [&] {
    double sum = 0;
    for (const double raw : raw_) sum += std::fabs(raw);
    return std::fabs(sum - sum_) <= 1e-6 * (sum + radius_) && norm1() <= (1 + 1e-6) * radius_ + 1e-6 * sum;
  });
}

// Keys rise from the top of the heap, and every weight has one that is not above it; there may be older ones.
bool SparseL1Ball::is_in_order() const {
  std::vector<bool> has_key(raw_.size());
  for (std::size_t at = 0; at < heap_.size(); ++at) {
    const Entry& e = heap_[at];
    if (heap_[at > 0 ? (at - 1) / arity : 0].key > e.key) return false;
    if (e.key <= std::fabs(raw_[e.index])) has_key[e.index] = true;
  }
  for (std::size_t j = 0; j < raw_.size(); ++j) {
    if (raw_[j] != 0 && (!has_key[j] || std::fabs(raw_[j]) < shift_)) return false;
  }
  return true;
}

void SparseL1Ball::update(std::span<const std::int64_t> indices, std::span<const double> deltas) {
  if (indices.empty()) return;
  if (indices.size() > raw_.size() / 4) return update_densely(indices, deltas);
  constexpr std::size_t ahead = 16;
  double largest = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (i + ahead < indices.size()) __builtin_prefetch(&raw_[static_cast<std::size_t>(indices[i + ahead])], 1);
    largest = std::max(largest, add(static_cast<std::size_t>(indices[i]), deltas[i]));
  }
  if (largest > 2 * radius_) return leap(indices);
  shrink();
  changes_ += indices.size();
  if (shift_ > radius_ || heap_.size() > 2 * nonzeros_ + 1024 || changes_ > 16 * nonzeros_ + (1u << 20)) rebase();
}

// Adds delta to weight j and returns its new magnitude.
double SparseL1Ball::add(std::size_t j, double delta) {
  const double old = raw_[j], w = (*this)[j] + delta;
  if (old != 0) sum_ -= std::fabs(old), --nonzeros_;
  raw_[j] = w == 0 ? 0.0 : w + std::copysign(shift_, w);
  const double size = std::fabs(raw_[j]);
  if (w != 0) {
    sum_ += size, ++nonzeros_;
    if (old == 0 || size < std::fabs(old)) push({size, j});
  }
  return std::fabs(w);
}

// A step that carries a weight past twice the radius: whatever it did not touch ends at zero, because no untouched
// weight is larger than the radius, and the touched ones are projected by themselves, where no digit is lost.
void SparseL1Ball::leap(std::span<const std::int64_t> indices) {
  std::vector<std::size_t> touched(indices.begin(), indices.end());
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  std::vector<double> w(touched.size()), projected(touched.size());
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = (*this)[touched[i]];
  Scratch scratch;
  project_l1_ball(std::span<const double>(w), std::span(projected), radius_, scratch);
  for (const Entry& e : heap_) raw_[e.index] = 0;
  heap_.clear();
  for (std::size_t i = 0; i < w.size(); ++i) {
    raw_[touched[i]] = projected[i];
    if (projected[i] != 0) heap_.push_back({0.0, touched[i]});
  }
  shift_ = 0;
  restart();
}

// A step that touches much of the vector: the dense projection, then a fresh start.
void SparseL1Ball::update_densely(std::span<const std::int64_t> indices, std::span<const double> deltas) {
  std::vector<double> w(raw_.size());
  for (std::size_t j = 0; j < w.size(); ++j) w[j] = (*this)[j];
  for (std::size_t i = 0; i < indices.size(); ++i) w[static_cast<std::size_t>(indices[i])] += deltas[i];
  Scratch scratch;
  project_l1_ball(std::span<const double>(w), std::span(raw_), radius_, scratch);
  heap_.clear();
  for (std::size_t j = 0; j < w.size(); ++j) {
    if (raw_[j] != 0) heap_.push_back({0.0, j});
  }
  shift_ = 0;
  restart();
}

// Raises the shift until the norm is at most the radius, dropping what it passes.
void SparseL1Ball::shrink() {
  while (!heap_.empty()) {
    if (nonzeros_ > 0) shift_ = std::max(shift_, (sum_ - radius_) / static_cast<double>(nonzeros_));
    const Entry top = heap_.front();
    if (top.key > shift_) return;
    const double size = std::fabs(raw_[top.index]);
    if (size > shift_) {
      sift_down(0, {size, top.index});
      continue;
    }
    if (size > 0) {
      raw_[top.index] = 0;
      sum_ = --nonzeros_ == 0 ? 0.0 : sum_ - size;
    }
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sift_down(0, last);
  }
}

// One key per weight, so that neither stale keys nor rounding pile up.
void SparseL1Ball::rebase() {
  visited_.resize(raw_.size());
  std::size_t kept = 0;
  for (const Entry& e : heap_) {
    if (raw_[e.index] == 0 || visited_[e.index]) continue;
    visited_[e.index] = true;
    heap_[kept++] = e;
  }
  heap_.resize(kept);
  for (const Entry& e : heap_) visited_[e.index] = false;
  restart();
}

// A shift of zero, an exact sum and fresh keys, from a heap_ that names every weight once.
void SparseL1Ball::restart() {
  sum_ = 0;
  for (Entry& e : heap_) {
    raw_[e.index] = (*this)[e.index];
    e.key = std::fabs(raw_[e.index]);
    sum_ += e.key;
  }
  shift_ = 0;
  nonzeros_ = heap_.size();
  changes_ = 0;
  for (std::size_t at = heap_.size() / arity + 1; at-- > 0;) {
    if (at < heap_.size()) sift_down(at, heap_[at]);
  }
}

void SparseL1Ball::push(Entry e) {
  std::size_t at = heap_.size();
  heap_.push_back(e);
  while (at > 0) {
    const std::size_t parent = (at - 1) / arity;
    if (heap_[parent].key <= e.key) break;
    heap_[at] = heap_[parent];
    at = parent;
  }
  heap_[at] = e;
}

// Puts e in place of the entry at `at`, whose children are in order.
void SparseL1Ball::sift_down(std::size_t at, Entry e) {
  const std::size_t n = heap_.size();
  for (;;) {
    const std::size_t first = at * arity + 1;
    if (first >= n) break;
    std::size_t least = first;
    for (std::size_t c = first + 1; c < std::min(first + arity, n); ++c) {
      if (heap_[c].key < heap_[least].key) least = c;
    }
    if (heap_[least].key >= e.key) break;
    heap_[at] = heap_[least];
    at = least;
  }
  heap_[at] = e;
}

}  // namespace gossamer
