#include "text/name_table.hpp"

#include <bit>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace gossamer {

namespace {

int checked(int bits) {
  if (bits < 0 || bits > 30) throw std::invalid_argument("bits must be 1 to 30, or 0 for exact names");
  return bits;
}

void put(std::vector<std::uint8_t>& bytes, std::uint64_t n) {
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<std::uint8_t>(n >> (8 * i)));
}

void put(std::vector<std::uint8_t>& bytes, std::string_view s) {
  put(bytes, std::uint64_t{s.size()});
  bytes.insert(bytes.end(), s.begin(), s.end());
}

std::uint64_t take(std::string_view& bytes) {
  if (bytes.size() < 8) throw std::invalid_argument("the saved names are cut short");
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < 8; ++i) n |= std::uint64_t{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
  bytes.remove_prefix(8);
  return n;
}

}  // namespace

std::uint64_t hash_of(std::string_view s, bool roomy) {
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

NameTable::NameTable(int bits, std::int32_t most, bool keep)
    : bits_(checked(bits)),
      most_(most),
      keep_(keep || !bits),
      slots_(keep_ ? std::size_t{1} << (bits ? bits : 10) : std::size_t{0}) {}

std::unique_lock<std::timed_mutex> NameTable::hold() {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (process_ == process_id()) {
    lock.lock();
  } else if (!lock.try_lock_for(std::chrono::seconds(5))) {  // threads of this process hold it for milliseconds
    throw std::runtime_error("another process, of which this one is a fork, was reading into this table of names");
  }
  return lock;
}

std::int32_t NameTable::number_of(std::string_view name) {
  auto lock = hold();
  return number({}, name);
}

std::string NameTable::name(std::int32_t number) {
  auto lock = hold();
  if (!bits_) return std::string(kept(static_cast<std::size_t>(number)));
  if (!keep_) return {};
  const Slot& slot = slots_[static_cast<std::size_t>(number)];
  return slot.place ? std::string(kept(slot.place - 1)) : std::string();
}

std::string NameTable::other(std::int32_t number) {
  auto lock = hold();
  const auto found = others_.find(number);
  return found == others_.end() ? std::string() : found->second;
}

std::size_t NameTable::collisions() {
  auto lock = hold();
  return others_.size();
}

std::vector<std::uint8_t> NameTable::state() {
  auto lock = hold();
  std::vector<std::uint8_t> bytes;
  put(bytes, starts_.size() - 1);
  for (std::size_t i = 0; i + 1 < starts_.size(); ++i) put(bytes, kept(i));
  put(bytes, others_.size());
  for (const auto& [number, name] : others_) put(bytes, name);
  return bytes;
}

void NameTable::restore(std::string_view bytes) {
  auto lock = hold();
  for (int part = 0; part < 2; ++part) {
    for (std::uint64_t left = take(bytes); left > 0; --left) {
      const std::uint64_t size = take(bytes);
      if (size > bytes.size()) throw std::invalid_argument("the saved names are cut short");
      if (number({}, bytes.substr(0, size)) < 0) throw std::invalid_argument("there are too many saved names");
      bytes.remove_prefix(size);
    }
  }
  if (!bytes.empty()) throw std::invalid_argument("the saved names are too long");
}

std::string_view NameTable::kept(std::size_t i) const {
  return std::string_view(arena_).substr(starts_[i], starts_[i + 1] - starts_[i]);
}

bool NameTable::is_kept(std::size_t i, std::string_view prefix, std::string_view name) const {
  const std::string_view whole = kept(i);
  return whole.size() == prefix.size() + name.size() && whole.starts_with(prefix) && whole.ends_with(name);
}

NameTable::Slot NameTable::keep(std::uint64_t hash, std::string_view prefix, std::string_view name) {
  arena_.append(prefix).append(name);
  starts_.push_back(arena_.size());
  return {hash, static_cast<std::uint32_t>(starts_.size() - 1), false};
}

std::int32_t NameTable::hashed(std::uint64_t hash, std::string_view prefix, std::string_view name) {
  const auto number = static_cast<std::int32_t>(place(hash));
  if (!keep_) return number;
  Slot& slot = slots_[place(hash)];
  if (slot.place == 0) {
    slot = keep(hash, prefix, name);
  } else if (slot.hash != hash && !slot.shared) {
    others_.emplace(number, std::string(prefix).append(name));
    slot.shared = true;
  }
  return number;
}

std::int32_t NameTable::exact(std::uint64_t hash, std::string_view prefix, std::string_view name) {
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

void NameTable::widen() {
  Zeros<Slot> old(slots_.size() * 2);
  std::swap(old, slots_);
  for (std::size_t i = 0; i < old.size(); ++i) {
    const Slot& slot = old[i];
    if (!slot.place) continue;
    std::size_t at = slot.hash & (slots_.size() - 1);
    while (slots_[at].place) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
}

}  // namespace gossamer
