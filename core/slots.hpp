// The numbers a learner keeps for its features: a fixed count, all zero at first.
//
// The memory comes zeroed from the system, page by page as it is touched, so that features that no example has cost
// nothing however many there are.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace gossamer {

class Slots {
 public:
  explicit Slots(std::size_t count) : numbers_(zeros(count * sizeof(double))), count_(count) {
    if (!numbers_) throw std::bad_alloc();
  }

  double& operator[](std::size_t i) { return numbers_.get()[i]; }
  const double& operator[](std::size_t i) const { return numbers_.get()[i]; }
  std::size_t size() const { return count_; }
  // Asks for large pages, in which it takes less time to find the numbers of a feature; not where that would cost much
  // memory for features that no example has.
  void prefer_large_pages() {
#if defined(__linux__)
    constexpr std::uintptr_t page = 1 << 21, most = 64 << 20;
    const auto begin = reinterpret_cast<std::uintptr_t>(numbers_.get()), end = begin + count_ * sizeof(double);
    const std::uintptr_t first = (begin + page - 1) / page * page, last = end / page * page;
    if (first < last && end - begin <= most) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
  }
  std::span<double> all() { return {numbers_.get(), count_}; }

 private:
  struct Free {
    void operator()(double* p) const { std::free(p); }
  };
  // What is more than a few pages and less than a large one gets one to itself: the learners jump about in it.
  static double* zeros(std::size_t bytes) {
#if defined(__linux__)
    constexpr std::size_t page = 1 << 21;
    if (bytes >= page / 16 && bytes <= page) {
      void* p = std::aligned_alloc(page, page);
      if (!p) return nullptr;
      madvise(p, page, MADV_HUGEPAGE);
      return static_cast<double*>(std::memset(p, 0, bytes));
    }
#endif
    return static_cast<double*>(std::calloc(bytes > 0 ? bytes : 1, 1));
  }
  std::unique_ptr<double, Free> numbers_;
  std::size_t count_;
};

// A number of a rule that all features share. It is kept as bits, so that the compiler sees that writing to slots does
// not change it and holds it in a register all along a row.
class Shared {
 public:
  Shared(double x = 0) : bits_(std::bit_cast<std::uint64_t>(x)) {}
  operator double() const { return std::bit_cast<double>(bits_); }
  Shared& operator+=(double x) { return *this = *this + x; }

 private:
  std::uint64_t bits_;
};

}  // namespace gossamer
