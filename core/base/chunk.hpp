// Memory for blocks of rows, which come and go by the hundred: what is given back is taken again, as fresh memory costs
// the system time whenever a page of it is touched first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace gossamer {

class Chunk {
 public:
  // At least so many bytes, aligned for vectors; not filled.
  static void* take(std::size_t bytes) {
    Spare& spare = Chunk::spare();
    {
      std::lock_guard lock(spare.mutex);
      auto best = spare.chunks.end();
      for (auto at = spare.chunks.begin(); at != spare.chunks.end(); ++at) {
        const std::size_t size = (*at)->size_;
        if (size >= bytes && size <= 2 * bytes && (best == spare.chunks.end() || size < (*best)->size_)) best = at;
      }
      if (best != spare.chunks.end()) {
        void* data = (*best)->data();
        spare.chunks.erase(best);
        return data;
      }
    }
    void* memory = std::malloc(head + bytes);
    if (!memory) throw std::bad_alloc();
    return (new (memory) Chunk(bytes))->data();
  }
  static void give(void* data) noexcept {
    if (!data) return;
    Chunk* chunk = of(data);
    if (chunk->size_ >= least && chunk->size_ <= largest) {
      Spare& spare = Chunk::spare();
      std::lock_guard lock(spare.mutex);
      spare.chunks.push_back(chunk);
      if (spare.chunks.size() <= most) return;
      chunk = spare.chunks.front();  // the one that nobody wanted for longest
      spare.chunks.erase(spare.chunks.begin());
    }
    std::free(chunk);
  }
  static std::size_t size(const void* data) { return of(const_cast<void*>(data))->size_; }

 private:
  static constexpr std::size_t head = 64;                           // bytes before the data
  static constexpr std::size_t least = 1 << 16, largest = 8 << 20;  // others are malloc's business
  static constexpr std::size_t most = 16;                           // chunks kept

  struct Spare {
    std::mutex mutex;
    std::vector<Chunk*> chunks;
    Spare() { chunks.reserve(most + 1); }
  };
  static Spare& spare() {
    static auto* all = new Spare;  // outlives every array
    return *all;
  }
  static Chunk* of(void* data) { return reinterpret_cast<Chunk*>(static_cast<char*>(data) - head); }

  explicit Chunk(std::size_t size) : size_(size) {}
  void* data() { return reinterpret_cast<char*>(this) + head; }
  std::size_t size_;
};

}  // namespace gossamer
