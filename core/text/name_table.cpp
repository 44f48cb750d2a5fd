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

NameTable::NameTable(int bits, std::int32_t most, bool keep)
    : bits_(checked(bits)),
      most_(most),
      keep_(keep || !bits),
      slots_(bits ? std::size_t{0} : std::size_t{1} << 10),
      marks_(bits && keep_ ? std::size_t{1} << bits : std::size_t{0}),
      places_(marks_.size()) {}

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
  const std::uint32_t place = places_[static_cast<std::size_t>(number)];
  return place ? std::string(kept(place - 1)) : std::string();
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

// Returns the place of the name + 1.
std::uint32_t NameTable::keep(std::string_view prefix, std::string_view name) {
  arena_.append(prefix).append(name);
  starts_.push_back(arena_.size());
  return static_cast<std::uint32_t>(starts_.size() - 1);
}

// A name that is not the first one at its number.
void NameTable::first_seen(std::size_t at, std::uint32_t mark, std::string_view prefix, std::string_view name) {
  if (marks_[at] == 0) {
    marks_[at] = mark, places_[at] = keep(prefix, name);
  } else if (!(marks_[at] & shared)) {
    others_.emplace(static_cast<std::int32_t>(at), std::string(prefix).append(name));
    marks_[at] |= shared;
  }
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
  slots_[at] = {hash, keep(prefix, name)};
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
