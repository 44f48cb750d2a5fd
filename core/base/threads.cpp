#include "base/threads.hpp"

#include <atomic>

#ifdef _WIN32
#include <process.h>
#else
#include <unistd.h>
#endif

namespace gossamer {

unsigned all_threads() {
  static const unsigned count = std::max(std::thread::hardware_concurrency(), 1u);
  return count;
}

long process_id() {
#ifdef _WIN32
  return _getpid();
#else
  return getpid();
#endif
}

void run_tasks(std::size_t tasks, unsigned threads, void (*task)(const void* context, std::size_t i),
               const void* context) {
  std::atomic<std::size_t> next = 0;
  std::atomic_flag failed;
  std::exception_ptr failure;  // the first one
  auto work = [&]() noexcept {
    try {
      for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) task(context, i);
    } catch (...) {
      if (!failed.test_and_set()) failure = std::current_exception();
      next = tasks;  // nobody begins another one
    }
  };
  std::vector<std::thread> others(tasks > 1 && threads > 1 ? std::min<std::size_t>(threads, tasks) - 1 : 0);
  for (std::thread& other : others) {
    other = started(work);
    if (!other.joinable()) break;
  }
  work();
  for (std::thread& other : others) {
    if (other.joinable()) other.join();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace gossamer
