// All memory that is not left to std::vector: zeros for learners and name tables, chunks for blocks of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

namespace gossamer {

// Bytes that are all zero at first; memory.cpp says where they come from.
struct FreeZeros {
  void* base = nullptr;  // what was mapped, none if the memory came from calloc
  std::size_t size = 0;
  void operator()(void* data) const;
};
using ZeroedBytes = std::unique_ptr<void, FreeZeros>;
ZeroedBytes zeroed_bytes(std::size_t count);

// A fixed count of numbers or plain structs, all zero at first. The memory comes zeroed from the system, page by page
// as it is touched, so features that no example has cost nothing.
template <class T>
class Zeros {
 public:
  explicit Zeros(std::size_t count) : bytes_(zeroed_bytes(count * sizeof(T))), count_(count) {}

  T& operator[](std::size_t i) { return static_cast<T*>(bytes_.get())[i]; }
  const T& operator[](std::size_t i) const { return static_cast<const T*>(bytes_.get())[i]; }
  std::size_t size() const { return count_; }
  std::span<T> all() { return {static_cast<T*>(bytes_.get()), count_}; }

 private:
  ZeroedBytes bytes_;
  std::size_t count_;
};

using Slots = Zeros<double>;  // what a learner keeps for its features

// Memory for blocks of rows.
class Chunk {
 public:
  // At least so many bytes, aligned for vectors, not filled.
  static void* take(std::size_t bytes);
  static void give(void* data) noexcept;
  static std::size_t size(const void* data);
};

// A growing array that is not filled before it is written; its memory is a chunk.
template <class T>
class Raw {
 public:
  explicit Raw(std::size_t room) : data_(static_cast<T*>(Chunk::take(room * sizeof(T)))) {}
  T* data() const { return data_.get(); }
  // The new owner returns it by Chunk::give.
  T* release() { return data_.release(); }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }
  std::size_t room() const { return Chunk::size(data_.get()) / sizeof(T); }
  // Makes room for at least m numbers; the first n are kept.
  void grow(std::size_t n, std::size_t m) {
    Raw larger(2 * m);
    std::memcpy(larger.data(), data(), n * sizeof(T));
    std::swap(*this, larger);
  }

 private:
  struct Give {
    void operator()(T* p) const { Chunk::give(p); }
  };
  std::unique_ptr<T, Give> data_;
};

}  // namespace gossamer
