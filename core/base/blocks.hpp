// Blocks of a row-major matrix: its rows, or unions of whole rows given by the user's groups.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gossamer {

// With no `starts`, block b is row b. Otherwise block b is the rows members[starts[b]] … members[starts[b + 1] − 1].
struct Blocks {
  std::size_t rows = 0, width = 0;
  std::span<const std::int64_t> members, starts;

  std::size_t count() const { return starts.empty() ? rows : starts.size() - 1; }
};

// f(b, block) for every block of w.
template <class T, class F>
void for_each_block(const T* w, const Blocks& blocks, F f) {
  std::vector<T> gathered;
  for (std::size_t b = 0; b < blocks.count(); ++b) {
    if (blocks.starts.empty()) {
      f(b, std::span<const T>(w + b * blocks.width, blocks.width));
      continue;
    }
    gathered.clear();
    for (auto m = blocks.starts[b]; m < blocks.starts[b + 1]; ++m) {
      const T* row = w + static_cast<std::size_t>(blocks.members[m]) * blocks.width;
      gathered.insert(gathered.end(), row, row + blocks.width);
    }
    f(b, std::span<const T>(gathered));
  }
}

// f(b, block of v, block of out) for every block; `out` may be `v`.
template <class T, class F>
void transform_blocks(const T* v, T* out, const Blocks& blocks, F f) {
  std::vector<T> changed;
  for_each_block(v, blocks, [&](std::size_t b, std::span<const T> block) {
    if (blocks.starts.empty()) {
      f(b, block, std::span<T>(out + b * blocks.width, blocks.width));
      return;
    }
    changed.resize(block.size());
    f(b, block, std::span<T>(changed));
    auto from = changed.begin();
    for (auto m = blocks.starts[b]; m < blocks.starts[b + 1]; ++m, from += static_cast<std::ptrdiff_t>(blocks.width)) {
      std::copy_n(from, blocks.width, out + static_cast<std::size_t>(blocks.members[m]) * blocks.width);
    }
  });
}

}  // namespace gossamer
