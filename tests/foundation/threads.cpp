// Threads that fail: what they throw arrives in the caller, and the process goes on. Memory runs out and threads cannot
// be started where the tests say so.
#include "base/threads.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "text/reader.hpp"
#include "text/svmlight.hpp"

namespace {

std::atomic<long> threads_left = 1000;    // that can be started
std::atomic<long> allocations_left = -1;  // until one fails; negative: none does
std::atomic<bool> only_other_threads = false;
const pthread_t caller = pthread_self();

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return threads_left-- > 0 ? create(thread, attributes, run, argument) : EAGAIN;
}

void* operator new(std::size_t size) {
  const bool counts = allocations_left >= 0 && !(only_other_threads && pthread_equal(pthread_self(), caller));
  if (counts && allocations_left-- == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace gossamer;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

// The task of every thread but the caller's throws; all of them run at the same time.
template <class Failure>
void test_failure_of_a_worker(Failure failure) {
  constexpr std::size_t count = 4;
  std::atomic<std::size_t> begun = 0, ended = 0;
  bool caught = false;
  try {
    in_parallel(count, count, [&](std::size_t) {
      ++begun;
      while (begun < count) std::this_thread::yield();
      if (!pthread_equal(pthread_self(), caller)) throw failure;
      ++ended;
    });
  } catch (const Failure&) {
    caught = true;
  }
  require(caught, "the failure of a worker did not arrive in the caller");
  require(begun == count && ended == 1, "not every thread had its task");
}

void test_failure_ends_the_work() {
  std::atomic<int> done = 0;
  try {
    in_parallel(1000, 2, [&](std::size_t i) {
      if (i == 0) throw std::runtime_error("first");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ++done;
    });
    require(false, "nothing was thrown");
  } catch (const std::runtime_error&) {
  }
  require(done < 900, "tasks began after one had failed");
}

void test_threads_that_do_not_start(long startable) {
  threads_left = startable;
  std::vector<int> times(1000);
  in_parallel(times.size(), 8, [&](std::size_t i) { ++times[i]; });
  threads_left = 1000;
  for (const int n : times) require(n == 1, "a task was left out, or done twice");
}

struct Failing final : TextParser {
  std::unique_ptr<TextRows> parse(std::string_view) override { throw std::bad_alloc(); }
};

// Reads the file to its end and returns the rows; `failed` says whether it could not.
std::size_t read_all(TextParser& parser, const char* path, bool& failed) {
  const int file = open(path, O_RDONLY);
  require(file >= 0, "the file cannot be opened");
  std::size_t rows = 0;
  failed = false;
  try {
    Reader reader(parser, file, {}, {16, 16, 1 << 20, 4}, false);
    for (std::unique_ptr<Piece> piece;;) {
      if (!reader.next(piece)) continue;
      if (!piece) break;
      rows += piece->rows->rows();
    }
  } catch (const std::bad_alloc&) {
    failed = true;
  }
  close(file);
  return rows;
}

void test_reader(const char* path, std::size_t rows) {
  const Limits limits{1, true, 1 << 20};
  bool failed;
  Failing failing;
  for (const long startable : {1000, 0}) {
    threads_left = startable;
    SvmlightParser parser(1, limits);
    require(read_all(parser, path, failed) == rows && !failed, "rows are missing");
    require(read_all(failing, path, failed) == 0 && failed, "the failure of the parser did not arrive in the caller");
  }
  threads_left = 1000;
  only_other_threads = true;  // memory runs out at each allocation of the reading thread, one after the other
  long allocations = 0, failures = 0;
  for (; allocations < 10'000; ++allocations) {
    SvmlightParser parser(1, limits);
    allocations_left = allocations;
    const std::size_t read = read_all(parser, path, failed);
    const bool enough = allocations_left >= 0;
    allocations_left = -1;
    require(failed || read == rows, "rows are missing, and nobody was told");
    failures += failed;
    if (enough && !failed) break;
  }
  require(failures > 10, "memory never ran out");
}

}  // namespace

int main(int, char** words) {
  test_failure_of_a_worker(std::runtime_error("worker"));
  test_failure_of_a_worker(std::bad_alloc());
  test_failure_ends_the_work();
  for (const long startable : {0, 1, 3}) test_threads_that_do_not_start(startable);
  test_reader(words[1], std::strtoull(words[2], nullptr, 10));
  std::puts("all threads failed well");
}
