// Hashes of names: of a whole one, and of many that begin alike.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace gossamer {

namespace hashing {

constexpr std::uint64_t step = 0x9e3779b97f4a7c15ull;

inline std::uint64_t mix(std::uint64_t h) {
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ull;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ull;
  return h ^ (h >> 32);
}

inline std::uint64_t begin(std::size_t size) { return mix(size * step); }
inline std::uint64_t add(std::uint64_t h, std::uint64_t eight) { return mix(h ^ eight) + step; }

}  // namespace hashing

// 64 bits from a string: multiply and fold, eight bytes at a time. Part of the model file: a change is a new version.
inline std::uint64_t hash_of(std::string_view s) {
  std::uint64_t h = hashing::begin(s.size());
  for (; s.size() >= 8; s.remove_prefix(8)) {
    std::uint64_t part;
    std::memcpy(&part, s.data(), 8);
    h = hashing::add(h, part);
  }
  std::uint64_t rest = 0;
  if (!s.empty()) std::memcpy(&rest, s.data(), s.size());
  return hashing::mix(h ^ rest);
}

// What names begin with, as "city=" does. Names are hashed where they are: to join them first, and to read what was
// just written, costs more than the hash.
class Prefix {
 public:
  // Bytes that can be read after the end of what follows, where it is `roomy`.
  static constexpr std::size_t room = 16;

  explicit Prefix(std::string_view text = {}) : text_(text), whole_(text.size() / 8 * 8) {
    std::memcpy(&rest_, text_.data() + whole_, text_.size() - whole_);
  }
  std::string_view text() const { return text_; }

  // hash_of(text() + name).
  std::uint64_t hash(std::string_view name, bool roomy) const {
    if constexpr (std::endian::native != std::endian::little) return hash_of(std::string(text_).append(name));
    if (roomy) return hash(name.data(), name.size());
    char copy[64];
    if (name.size() > sizeof copy - room) return hash_of(std::string(text_).append(name));
    if (!name.empty()) std::memcpy(copy, name.data(), name.size());
    return hash(copy, name.size());
  }

 private:
  std::string text_;
  std::size_t whole_;       // its bytes in whole eights
  std::uint64_t rest_ = 0;  // the others

  std::uint64_t hash(const char* at, std::size_t size) const {
    std::uint64_t h = hashing::begin(text_.size() + size), carry = rest_, next;
    for (std::size_t i = 0; i < whole_; i += 8) {
      std::memcpy(&next, text_.data() + i, 8);
      h = hashing::add(h, next);
    }
    const int shift = static_cast<int>(8 * (text_.size() - whole_));
    std::size_t left = text_.size() - whole_ + size;
    for (;; left -= 8, at += 8) {
      std::memcpy(&next, at, 8);
      const std::uint64_t eight = carry | next << shift;
      if (left < 8) return hashing::mix(h ^ (eight & ((std::uint64_t{1} << (8 * left)) - 1)));
      carry = (next >> 1) >> (63 - shift);
      h = hashing::add(h, eight);
    }
  }
};

}  // namespace gossamer
