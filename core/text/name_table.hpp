// Names ↔ numbers: of features that have names rather than numbers, and of classes.
//
// Hashed, the number of a name is its hash in b bits, so memory is bounded for any input. The first name at each number
// is kept, and the first other name with the same number, so that weights can be shown by name and collisions reported.
// Exact, names are numbered in the order in which they come.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/memory.hpp"
#include "base/threads.hpp"
#include "text/hashing.hpp"

namespace gossamer {

class NameTable {
 public:
  // bits = 0: exact, at most `most` names. Without `keep`, hashed names are not kept, which takes no memory.
  NameTable(int bits, std::int32_t most, bool keep = true);

  int bits() const { return bits_; }
  // The number of numbers: all possible ones, or as many as there are names.
  std::int64_t size() const { return bits_ ? std::int64_t{1} << bits_ : static_cast<std::int64_t>(starts_.size()) - 1; }

  // Starts to fetch the table entry of a name with this hash.
  void prefetch(std::uint64_t hash) const {
    if (!bits_) return __builtin_prefetch(&slots_[place(hash)]);
    if (keep_) __builtin_prefetch(&marks_[place(hash)]);
  }
  // The number of prefix + name, which have this hash, or -1 if there are too many names. Call it within `hold`.
  std::int32_t number(std::string_view prefix, std::string_view name, std::uint64_t hash) {
    if (!bits_) return exact(hash, prefix, name);
    const std::size_t at = place(hash);
    if (keep_ && (marks_[at] | shared) != (mark(hash) | shared)) first_seen(at, mark(hash), prefix, name);
    return static_cast<std::int32_t>(at);
  }
  // Hashed, the number of a name with this hash is known before the table is looked at.
  bool knows_numbers() const { return bits_ > 0; }
  std::int32_t number_of_hash(std::uint64_t hash) const { return static_cast<std::int32_t>(place(hash)); }
  std::int32_t number(std::string_view prefix, std::string_view name) {
    return number(prefix, name, hash_of(prefix.empty() ? name : joined_.assign(prefix).append(name)));
  }
  // Throws in a forked process if a thread of its parent held the table: it would wait for ever.
  std::unique_lock<std::timed_mutex> hold();

  std::int32_t number_of(std::string_view name);
  // The name at a number; empty if there is none.
  std::string name(std::int32_t number);
  // A second name with the same number; empty if there is none.
  std::string other(std::int32_t number);
  std::size_t collisions();

  // All that is needed to continue: the names, each after its length, in the order in which they came; then the others,
  // in any order.
  std::vector<std::uint8_t> state();
  void restore(std::string_view bytes);

 private:
  struct Slot {
    std::uint64_t hash;   // of the name
    std::uint32_t place;  // its place among the kept names + 1, or 0
  };
  int bits_;
  std::int32_t most_;
  bool keep_;
  std::timed_mutex mutex_;
  const long process_ = process_id();
  Zeros<Slot> slots_;  // exact: an open table
  // Hashed, by number: 30 bits of the hash of the first name, and whether there is another one; the place of the first
  // name among the kept ones + 1. Marks alone are looked at for names that came before: a quarter of the memory of
  // slots, which mostly fits the cache of a core.
  Zeros<std::uint32_t> marks_, places_;
  std::string arena_;                                     // all kept names
  std::vector<std::uint64_t> starts_ = {0};               // where each begins, and the last one ends
  std::unordered_map<std::int32_t, std::string> others_;  // hashed: a second name
  std::string joined_;                                    // prefix and name

  // The slot where the search for a name begins.
  std::size_t place(std::uint64_t hash) const {
    return static_cast<std::size_t>(bits_ ? hash >> (64 - bits_) : hash & (slots_.size() - 1));
  }
  static constexpr std::uint32_t shared = 1, used = 2;
  static std::uint32_t mark(std::uint64_t hash) { return (static_cast<std::uint32_t>(hash) & ~shared) | used; }
  std::string_view kept(std::size_t i) const;
  bool is_kept(std::size_t i, std::string_view prefix, std::string_view name) const;
  std::uint32_t keep(std::string_view prefix, std::string_view name);
  void first_seen(std::size_t at, std::uint32_t mark, std::string_view prefix, std::string_view name);
  std::int32_t exact(std::uint64_t hash, std::string_view prefix, std::string_view name);
  void widen();
};

}  // namespace gossamer
