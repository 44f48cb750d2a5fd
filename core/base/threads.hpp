// Threads: how work is shared, and how it fails. Tasks are cut without regard to the number of threads, and each writes
// its own results, so results are the same for any number of threads. An exception of a task is thrown in the caller
// once all threads have ended; if a thread cannot be started, the caller does its work. Work in parts ends early where
// the caller is asked to stop (stop.hpp); tasks of in_parallel are never left half done by that.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "base/stop.hpp"

namespace gossamer {

// The number of threads that the machine runs at once.
unsigned all_threads();

// The number of this process. What a thread of another process would do is never done: fork copies the memory of a
// process and none of its other threads.
long process_id();

// A thread that runs f, which does not throw; or none if the system has no more threads.
template <class F>
std::thread started(F f) {
  try {
    return std::thread(std::move(f));
  } catch (const std::exception&) {
    return {};
  }
}

// task(context, i) for i = 0 … tasks − 1, in any order.
void run_tasks(std::size_t tasks, unsigned threads, void (*task)(const void* context, std::size_t i),
               const void* context);

// f(i) for i = 0 … tasks − 1, in any order.
template <class F>
void in_parallel(std::size_t tasks, unsigned threads, const F& f) {
  run_tasks(tasks, threads, [](const void* context, std::size_t i) { (*static_cast<const F*>(context))(i); }, &f);
}

// f(begin, end) over 0 … n − 1 in parts of `grain`.
template <class F>
void in_parts(std::size_t n, std::size_t grain, unsigned threads, const F& f) {
  in_parallel((n + grain - 1) / grain, threads,
              [&](std::size_t part) { f(part * grain, std::min(n, (part + 1) * grain)), check_stop(); });
}

// Σ f(begin, end) over the same parts, added in their order.
template <class F>
double sum_of_parts(std::size_t n, std::size_t grain, unsigned threads, const F& f) {
  std::vector<double> sums((n + grain - 1) / grain);
  in_parallel(sums.size(), threads, [&](std::size_t part) {
    sums[part] = f(part * grain, std::min(n, (part + 1) * grain));
    check_stop();
  });
  double total = 0;
  for (double sum : sums) total += sum;
  return total;
}

}  // namespace gossamer
