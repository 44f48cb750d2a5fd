// Work shared between threads. Tasks are cut without regard to how many threads there are, and each writes what is its
// own, so results are the same for any number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace gossamer {

// f(task) for task = 0 … tasks − 1, in any order.
template <class F>
void in_parallel(std::size_t tasks, unsigned threads, F f) {
  std::atomic<std::size_t> next = 0;
  auto work = [&] {
    for (std::size_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) f(task);
  };
  std::vector<std::thread> others;
  const std::size_t count = std::min<std::size_t>(std::max(threads, 1u), tasks);
  for (std::size_t t = 1; t < count; ++t) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}

// f(begin, end) over 0 … n − 1 in parts of `grain`.
template <class F>
void in_parts(std::size_t n, std::size_t grain, unsigned threads, F f) {
  in_parallel((n + grain - 1) / grain, threads,
              [&](std::size_t part) { f(part * grain, std::min(n, (part + 1) * grain)); });
}

// Σ f(begin, end) over the same parts, added in their order.
template <class F>
double sum_of_parts(std::size_t n, std::size_t grain, unsigned threads, F f) {
  std::vector<double> sums((n + grain - 1) / grain);
  in_parallel(sums.size(), threads,
              [&](std::size_t part) { sums[part] = f(part * grain, std::min(n, (part + 1) * grain)); });
  double total = 0;
  for (double sum : sums) total += sum;
  return total;
}

}  // namespace gossamer
