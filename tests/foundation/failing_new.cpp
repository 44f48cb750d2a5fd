// A library to be loaded before all others: operator new fails where the tests say so, in any
// thread but the one that says it.
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> left = -1;  // allocations until one fails; negative: none does
std::atomic<bool> once_failed = false;
pthread_t caller;

void* allocated(std::size_t size) {
  if (left >= 0 && !pthread_equal(pthread_self(), caller) && left-- == 0) {
    once_failed = true;
    throw std::bad_alloc();
  }
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// From now on the allocation after the next n fails; none if n < 0. Returns whether one has failed since the last call.
extern "C" int fail_after(long n) {
  const bool failed = once_failed.exchange(false);
  caller = pthread_self();
  left = n;
  return failed;
}

void* operator new(std::size_t size) { return allocated(size); }
void* operator new[](std::size_t size) { return allocated(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
