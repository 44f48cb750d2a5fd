// Names ↔ numbers: of features that have names rather than numbers, and of classes.
//
// Hashed, a name's number is its hash in b bits: memory is bounded whatever comes. The first name at each number is
// kept, and the first other one that falls on the same number, so that weights can be called by their names and
// collisions be told. Exact, names are numbered in the order in which they come.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gossamer {

// 64 bits from a string: multiply and fold, eight bytes at a time. Part of the model file: a change is a new version.
// `roomy` says that eight bytes can be read from each of its bytes on, which spares a copy of the last few.
inline std::uint64_t hash_of(std::string_view s, bool roomy = false) {
  auto mix = [](std::uint64_t h) {
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93ull;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93ull;
    return h ^ (h >> 32);
  };
  std::uint64_t h = mix(s.size() * 0x9e3779b97f4a7c15ull);
  std::size_t i = 0;
  for (; i + 8 <= s.size(); i += 8) {
    std::uint64_t part;
    std::memcpy(&part, s.data() + i, 8);
    h = mix(h ^ part) + 0x9e3779b97f4a7c15ull;
  }
  std::uint64_t rest = 0;
  const std::size_t left = s.size() - i;
  if (roomy && std::endian::native == std::endian::little && left > 0) {
    std::memcpy(&rest, s.data() + i, 8);
    rest &= ~std::uint64_t{0} >> (64 - 8 * left);
  } else if (left > 0) {
    std::memcpy(&rest, s.data() + i, left);
  }
  return mix(h ^ rest);
}

class Names {
 public:
  // bits = 0: exact, at most `most` names.
  Names(int bits, std::int32_t most)
      : bits_(checked(bits)), most_(most), slots_(std::size_t{1} << (bits ? bits : 10)) {}

  int bits() const { return bits_; }
  // How many numbers there are: all that are possible, or as many as there are names.
  std::int64_t size() const { return bits_ ? std::int64_t{1} << bits_ : static_cast<std::int64_t>(starts_.size()) - 1; }

  // Asks for the memory that the number of a name with this hash needs.
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[place(hash)]); }
  // The number of prefix + name, which have this hash, or -1 if there are too many names. Call it within `hold`.
  std::int32_t number(std::string_view prefix, std::string_view name, std::uint64_t hash) {
    return bits_ ? hashed(hash, prefix, name) : exact(hash, prefix, name);
  }
  std::int32_t number(std::string_view prefix, std::string_view name) {
    return number(prefix, name, hash_of(prefix.empty() ? name : joined_.assign(prefix).append(name)));
  }
  std::unique_lock<std::mutex> hold() { return std::unique_lock(mutex_); }

  std::int32_t number_of(std::string_view name) {
    auto lock = hold();
    return number({}, name);
  }
  // The name at a number; empty if none came.
  std::string name(std::int32_t number) {
    auto lock = hold();
    if (!bits_) return std::string(kept(static_cast<std::size_t>(number)));
    const Slot& slot = slots_[static_cast<std::size_t>(number)];
    return slot.place ? std::string(kept(slot.place - 1)) : std::string();
  }
  // A second name with the same number; empty if there is none.
  std::string other(std::int32_t number) {
    auto lock = hold();
    const auto found = others_.find(number);
    return found == others_.end() ? std::string() : found->second;
  }
  std::size_t collisions() {
    auto lock = hold();
    return others_.size();
  }

  // All that is needed to go on: the names one after the other, each after its length, in the order in which they came;
  // then the others, in any order.
  std::vector<std::uint8_t> state() {
    auto lock = hold();
    std::vector<std::uint8_t> bytes;
    put(bytes, starts_.size() - 1);
    for (std::size_t i = 0; i + 1 < starts_.size(); ++i) put(bytes, kept(i));
    put(bytes, others_.size());
    for (const auto& [number, name] : others_) put(bytes, name);
    return bytes;
  }
  void restore(std::string_view bytes) {
    auto lock = hold();
    for (int part = 0; part < 2; ++part) {
      for (std::uint64_t left = take(bytes, 8); left > 0; --left) {
        const std::uint64_t size = take(bytes, 8);
        if (size > bytes.size()) throw std::invalid_argument("the saved names are cut short");
        if (number({}, bytes.substr(0, size)) < 0) throw std::invalid_argument("there are too many saved names");
        bytes.remove_prefix(size);
      }
    }
    if (!bytes.empty()) throw std::invalid_argument("the saved names are too long");
  }

 private:
  struct Slot {
    std::uint64_t hash;   // of the name
    std::uint32_t place;  // its place among the kept names + 1, or 0
    bool shared;          // hashed: whether there is another name
  };
  // Slots that begin as zeros: many of them cost no memory before they are written.
  class Slots {
   public:
    explicit Slots(std::size_t size) : size_(size), data_(static_cast<Slot*>(std::calloc(size, sizeof(Slot)))) {
      if (!data_) throw std::bad_alloc();
    }
    std::size_t size() const { return size_; }
    Slot& operator[](std::size_t i) { return data_.get()[i]; }
    const Slot& operator[](std::size_t i) const { return data_.get()[i]; }

   private:
    struct Free {
      void operator()(Slot* p) const { std::free(p); }
    };
    std::size_t size_;
    std::unique_ptr<Slot, Free> data_;
  };
  int bits_;
  std::int32_t most_;
  std::mutex mutex_;
  Slots slots_;                                           // hashed: by number; exact: an open table
  std::string arena_;                                     // all kept names
  std::vector<std::uint64_t> starts_ = {0};               // where each begins, and the last one ends
  std::unordered_map<std::int32_t, std::string> others_;  // hashed: a second name
  std::string joined_;                                    // prefix and name

  static int checked(int bits) {
    if (bits < 0 || bits > 30) throw std::invalid_argument("bits must be 1 to 30, or 0 for exact names");
    return bits;
  }
  std::string_view kept(std::size_t i) const {
    return std::string_view(arena_).substr(starts_[i], starts_[i + 1] - starts_[i]);
  }
  bool is_kept(std::size_t i, std::string_view prefix, std::string_view name) const {
    const std::string_view whole = kept(i);
    return whole.size() == prefix.size() + name.size() && whole.starts_with(prefix) && whole.ends_with(name);
  }
  Slot keep(std::uint64_t hash, std::string_view prefix, std::string_view name) {
    arena_.append(prefix).append(name);
    starts_.push_back(arena_.size());
    return {hash, static_cast<std::uint32_t>(starts_.size() - 1), false};
  }
  // The slot where the search for a name begins.
  std::size_t place(std::uint64_t hash) const {
    return static_cast<std::size_t>(bits_ ? hash >> (64 - bits_) : hash & (slots_.size() - 1));
  }
  std::int32_t hashed(std::uint64_t hash, std::string_view prefix, std::string_view name) {
    Slot& slot = slots_[place(hash)];
    const auto number = static_cast<std::int32_t>(place(hash));
    if (slot.place == 0) {
      slot = keep(hash, prefix, name);
    } else if (slot.hash != hash && !slot.shared) {
      others_.emplace(number, std::string(prefix).append(name));
      slot.shared = true;
    }
    return number;
  }
  std::int32_t exact(std::uint64_t hash, std::string_view prefix, std::string_view name) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = place(hash);
    for (; slots_[at].place; at = (at + 1) & mask) {
      if (slots_[at].hash == hash && is_kept(slots_[at].place - 1, prefix, name)) {
        return static_cast<std::int32_t>(slots_[at].place - 1);
      }
    }
    if (size() >= most_) return -1;
    slots_[at] = keep(hash, prefix, name);
    if (starts_.size() * 2 > slots_.size()) widen();
    return static_cast<std::int32_t>(size() - 1);
  }
  void widen() {
    Slots old(slots_.size() * 2);
    std::swap(old, slots_);
    for (std::size_t i = 0; i < old.size(); ++i) {
      const Slot& slot = old[i];
      if (!slot.place) continue;
      std::size_t at = slot.hash & (slots_.size() - 1);
      while (slots_[at].place) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  static void put(std::vector<std::uint8_t>& bytes, std::uint64_t n) {
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<std::uint8_t>(n >> (8 * i)));
  }
  static void put(std::vector<std::uint8_t>& bytes, std::string_view s) {
    put(bytes, std::uint64_t{s.size()});
    bytes.insert(bytes.end(), s.begin(), s.end());
  }
  static std::uint64_t take(std::string_view& bytes, std::size_t count) {
    if (bytes.size() < count) throw std::invalid_argument("the saved names are cut short");
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < count; ++i) n |= std::uint64_t{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
    bytes.remove_prefix(count);
    return n;
  }
};

}  // namespace gossamer
