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
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace gossamer {

// Memory from the system.
struct Mapped {
  void* base = nullptr;
  std::size_t size = 0;
};

#if defined(__linux__)
// A few megabytes that are kept for the next learner: a search for steps makes many of them one after the other, and to
// clear memory takes less time than to get new one.
class SpareMemory {
 public:
  static SpareMemory& of_this_thread() {
    static thread_local SpareMemory spare;
    return spare;
  }
  ~SpareMemory() {
    for (const Mapped& kept : kept_) {
      if (kept.base) munmap(kept.base, kept.size);
    }
  }
  void give(Mapped mapped) {
    if (mapped.size <= most) std::swap(mapped, kept_[next_]), next_ = (next_ + 1) % count;
    if (mapped.base) munmap(mapped.base, mapped.size);
  }
  // At least so much memory, and not much more, not cleared; or none.
  Mapped take(std::size_t size) {
    Mapped* best = nullptr;
    for (Mapped& kept : kept_) {
      if (kept.size >= size && kept.size / 2 <= size && (!best || kept.size < best->size)) best = &kept;
    }
    return best ? std::exchange(*best, Mapped{}) : Mapped{};
  }

 private:
  static constexpr std::size_t most = 16 << 20, count = 2;
  Mapped kept_[count];
  std::size_t next_ = 0;
};
#endif

class Slots {
 public:
  explicit Slots(std::size_t count) : numbers_(zeros(count * sizeof(double))), count_(count) {}

  double& operator[](std::size_t i) { return numbers_.get()[i]; }
  const double& operator[](std::size_t i) const { return numbers_.get()[i]; }
  std::size_t size() const { return count_; }
  std::span<double> all() { return {numbers_.get(), count_}; }

 private:
  struct Free {
    Mapped mapped;  // nothing if it came from calloc

    void operator()(double* p) const {
#if defined(__linux__)
      if (mapped.base) return SpareMemory::of_this_thread().give(mapped);
#endif
      std::free(p);
    }
  };
  using Numbers = std::unique_ptr<double, Free>;

  Numbers numbers_;
  std::size_t count_;

  // Many pages come as large ones, in which it takes less time to find the numbers of a feature; unless that could cost
  // much memory for features that no example has. (Fewer are found as fast, and a large page may take long to get: in a
  // virtual machine that gives what it does not use back to its host, as long as some megabytes of small ones.)
  static Numbers zeros(std::size_t bytes) {
#if defined(__linux__)
    constexpr std::size_t page = 1 << 21, least = 1 << 17, many = 4 << 20, most = 64 << 20;
    if (bytes >= least && bytes <= most) {
      const std::size_t size = (bytes + page - 1) / page * page + page;
      Mapped mapped = SpareMemory::of_this_thread().take(size);
      const bool fresh = mapped.base == nullptr;
      if (fresh) mapped = {mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), size};
      if (mapped.base == MAP_FAILED) throw std::bad_alloc();
      auto* first = reinterpret_cast<double*>((reinterpret_cast<std::uintptr_t>(mapped.base) + page - 1) / page * page);
      if (!fresh) {
        std::memset(first, 0, bytes);
      } else if (bytes >= many) {
        madvise(first, size - page, MADV_HUGEPAGE);
      }
      return Numbers(first, Free{mapped});
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
