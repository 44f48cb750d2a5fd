#include "base/memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace gossamer {

void FreeZeros::operator()(void* data) const {
#if defined(__linux__)
  if (base) return void(munmap(base, size));
#endif
  std::free(data);
}

// Some megabytes come as large pages: the first FOBOS fit with 4 million features takes 6 ms, with small pages 22 ms.
// Less is left to calloc, which also keeps it for the next learner; more could waste memory on features that no example
// has.
ZeroedBytes zeroed_bytes(std::size_t count) {
#if defined(__linux__)
  constexpr std::size_t page = 1 << 21, least = 4 << 20, most = 64 << 20;
  if (count >= least && count <= most) {
    const std::size_t size = (count + page - 1) / page * page + page;
    void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    void* first = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(base) + page - 1) / page * page);
    madvise(first, size - page, MADV_HUGEPAGE);
    return {first, FreeZeros{base, size}};
  }
#endif
  void* bytes = std::calloc(count > 0 ? count : 1, 1);
  if (!bytes) throw std::bad_alloc();
  return {bytes, FreeZeros{}};
}

namespace {

constexpr std::size_t head = 64;                           // bytes before the data, which hold its size
constexpr std::size_t least = 1 << 16, largest = 8 << 20;  // others are left to malloc
constexpr std::size_t most = 16;                           // chunks kept

std::size_t& size_before(void* data) { return *reinterpret_cast<std::size_t*>(static_cast<char*>(data) - head); }

struct SpareChunks {
  std::mutex mutex;
  std::vector<void*> chunks;
  SpareChunks() { chunks.reserve(most + 1); }

  static SpareChunks& all() {
    static auto* all = new SpareChunks;  // outlives every array
    return *all;
  }
};

}  // namespace

// Chunks that are given back are taken again, because the first touch of a fresh page costs time: reading RCV1 ten
// times takes 130 ms of CPU time, and 144 ms with malloc alone.
void* Chunk::take(std::size_t bytes) {
  auto& [mutex, chunks] = SpareChunks::all();
  {
    std::lock_guard lock(mutex);
    auto best = chunks.end();
    for (auto at = chunks.begin(); at != chunks.end(); ++at) {
      const std::size_t here = size_before(*at);
      if (here >= bytes && here <= 2 * bytes && (best == chunks.end() || here < size_before(*best))) best = at;
    }
    if (best != chunks.end()) {
      void* data = *best;
      chunks.erase(best);
      return data;
    }
  }
  auto* memory = static_cast<char*>(std::malloc(head + bytes));
  if (!memory) throw std::bad_alloc();
  size_before(memory + head) = bytes;
  return memory + head;
}

void Chunk::give(void* data) noexcept {
  if (!data) return;
  if (size(data) >= least && size(data) <= largest) {
    auto& [mutex, chunks] = SpareChunks::all();
    std::lock_guard lock(mutex);
    chunks.push_back(data);
    if (chunks.size() <= most) return;
    data = chunks.front();  // the one that was not wanted for longest
    chunks.erase(chunks.begin());
  }
  std::free(static_cast<char*>(data) - head);
}

std::size_t Chunk::size(const void* data) { return size_before(const_cast<void*>(data)); }

}  // namespace gossamer
