// The numbers a learner keeps for its features: a fixed count, all zero at first.
//
// The memory comes zeroed from the system, page by page as it is touched, so that features that no example has cost
// nothing however many there are.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace gossamer {

class Slots {
 public:
  explicit Slots(std::size_t count) : numbers_(zeros(count * sizeof(double))), count_(count) {}

  double& operator[](std::size_t i) { return numbers_.get()[i]; }
  const double& operator[](std::size_t i) const { return numbers_.get()[i]; }
  std::size_t size() const { return count_; }
  std::span<double> all() { return {numbers_.get(), count_}; }

 private:
  struct Free {
    void* base = nullptr;  // what was mapped, or nothing if it came from calloc
    std::size_t size = 0;

    void operator()(double* p) const {
#if defined(__linux__)
      if (base) return static_cast<void>(munmap(base, size));
#endif
      std::free(p);
    }
  };
  using Numbers = std::unique_ptr<double, Free>;

  Numbers numbers_;
  std::size_t count_;

  // More than a few pages come as large ones, in which it takes less time to find the numbers of a feature; unless that
  // could cost much memory for features that no example has.
  static Numbers zeros(std::size_t bytes) {
#if defined(__linux__)
    constexpr std::size_t page = 1 << 21, least = 1 << 17, most = 64 << 20;
    if (bytes >= least && bytes <= most) {
      const std::size_t size = (bytes + page - 1) / page * page + page;
      void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (base == MAP_FAILED) throw std::bad_alloc();
      const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(base) + page - 1) / page * page;
      madvise(reinterpret_cast<void*>(first), size - page, MADV_HUGEPAGE);
      return Numbers(reinterpret_cast<double*>(first), Free{base, size});
    }
#endif
    auto* numbers = static_cast<double*>(std::calloc(bytes > 0 ? bytes : 1, 1));
    if (!numbers) throw std::bad_alloc();
    return Numbers(numbers, Free{});
  }
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
