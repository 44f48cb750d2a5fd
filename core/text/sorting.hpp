// Sorts the features of a row: entries with a number `feature`, in a stable way.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gossamer {

template <class Entry>
class FeatureSort {
 public:
  std::vector<Entry> entries;

  void operator()() {
    std::uint32_t all = 0;
    for (const Entry& entry : entries) all |= static_cast<std::uint32_t>(entry.feature);
    const int bits = std::bit_width(all);
    if (entries.size() > few) spread_.resize(entries.size());
    if (entries.size() > many) {
      const int passes = (bits + 7) / 8, digit = passes ? (bits + passes - 1) / passes : 0;
      for (int pass = 0; pass < passes; ++pass) spread(pass * digit, digit);
      return;
    }
    if (entries.size() > few) spread(std::max(bits - 6, 0), 6);
    if (entries.size() > few || !rank()) insert();
  }

 private:
  // Up to so many an insertion sort alone is fastest: rows of ten shuffled features take 5.4 ms to parse, and 8.6 ms
  // with a radix sort. Up to `many`, numbers that are spread evenly, as hashes are, are nearly sorted by their first
  // six bits.
  static constexpr std::size_t few = 16, many = 128;
  std::vector<Entry> spread_;

  // Counts how many are below each, without branches. False if two are equal, where nothing is done.
  bool rank() {
    constexpr std::int32_t none = 2147483647;  // above all features
    const std::size_t size = entries.size();
    std::int32_t feature[few], place[few] = {}, sum = 0;
    std::fill_n(feature, few, none);
    Entry before[few];
    for (std::size_t i = 0; i < size; ++i)
      before[i] = entries[i], feature[i] = static_cast<std::int32_t>(before[i].feature);
    for (std::size_t i = 0; i < few; ++i) {
      for (std::size_t j = 0; j < few; ++j) place[j] += feature[i] < feature[j];
    }
    for (std::size_t i = 0; i < size; ++i) sum += place[i];
    if (2 * sum != static_cast<std::int32_t>(size * (size - 1))) return false;
    for (std::size_t i = 0; i < size; ++i) entries[static_cast<std::size_t>(place[i])] = before[i];
    return true;
  }

  void insert() {
    for (std::size_t i = 1; i < entries.size(); ++i) {
      const Entry entry = entries[i];
      std::size_t at = i;
      for (; at > 0 && entries[at - 1].feature > entry.feature; --at) entries[at] = entries[at - 1];
      entries[at] = entry;
    }
  }

  // By one digit of the numbers, as a radix sort does.
  void spread(int shift, int digit) {
    const std::uint32_t mask = (1u << digit) - 1;
    const auto key = [&](const Entry& entry) { return (static_cast<std::uint32_t>(entry.feature) >> shift) & mask; };
    std::uint32_t place[256];  // how many have a digit, then where the next one of them goes
    std::fill_n(place, mask + 1, 0u);
    for (const Entry& entry : entries) ++place[key(entry)];
    for (std::uint32_t k = 0, sum = 0; k <= mask; ++k) sum += std::exchange(place[k], sum);
    for (const Entry& entry : entries) spread_[place[key(entry)]++] = entry;
    entries.swap(spread_);
  }
};

}  // namespace gossamer
