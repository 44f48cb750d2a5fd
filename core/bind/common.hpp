// What the bindings share: NumPy arrays as spans, and back. The Python side has checked the arguments; a binding
// releases the GIL, and calls the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/blocks.hpp"
#include "base/memory.hpp"
#include "base/stop.hpp"

// A span is all numbers of a C-contiguous array, whatever its shape; it is empty for None.
template <class T>
struct nanobind::detail::type_caster<std::span<T>> {
  using Array = ndarray<T, c_contig, device::cpu>;
  NB_TYPE_CASTER(std::span<T>, make_caster<Array>::Name)

  bool from_python(handle src, std::uint8_t flags, cleanup_list* cleanup) noexcept {
    if (src.is_none()) return true;
    if (!array_.from_python(src, flags, cleanup)) return false;
    value = {array_.value.data(), array_.value.size()};
    return true;
  }

 private:
  make_caster<Array> array_;  // holds the numbers during the call
};

namespace gossamer {

namespace nb = nanobind;
using namespace nb::literals;

// Runs the handlers of signals that have arrived, in Python's main thread; returns whether one of them raised.
bool signals_raise();

// Without the GIL, and ended early by an exception that a signal raises, such as KeyboardInterrupt.
struct Unlocked {
  nb::gil_scoped_release release;
  Listening listening{signals_raise};
};
using Free = nb::call_guard<Unlocked>;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Array>
auto span_of(const Array& a) {
  return std::span(a.data(), a.size());
}

template <class M>
Blocks blocks_of(const M& w, std::span<const std::int64_t> members = {}, std::span<const std::int64_t> starts = {}) {
  return {w.shape(0), w.shape(1), members, starts};
}

// A NumPy array that owns n numbers in the memory of a chunk.
template <class T>
nb::object owned(T* chunk, std::size_t n) {
  nb::capsule owner(chunk, [](void* p) noexcept { Chunk::give(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(chunk, {n}, owner));
}

// A NumPy array that owns a copy of `values`.
inline nb::object copied(std::span<const double> values) {
  auto* copy = static_cast<double*>(Chunk::take(values.size_bytes()));
  std::copy(values.begin(), values.end(), copy);
  return owned(copy, values.size());
}

template <class T, std::size_t>
using One = T;

// Binds a part of the catalogue as its facts say: its name, and a constructor with its settings, which are numbers
// unless it says otherwise.
template <class P>
nb::class_<P> bind_part(nb::module_& m) {
  constexpr auto names = P::facts.settings;
  constexpr auto count = static_cast<std::size_t>(std::find(names.begin(), names.end(), nullptr) - names.begin());
  nb::class_<P> bound(m, P::facts.name);
  auto settings = [&]<class S, std::size_t... I>(S, std::index_sequence<I...>) {
    bound.def(nb::init<One<S, I>...>(), nb::arg(names[I])...);
  };
  if constexpr (requires { typename P::Setting; }) {
    settings(typename P::Setting{}, std::make_index_sequence<count>());
  } else {
    settings(double{}, std::make_index_sequence<count>());
  }
  bound.attr("name") = P::facts.name;
  return bound;
}

inline std::vector<double> numbers(std::span<const double> a) { return {a.begin(), a.end()}; }

}  // namespace gossamer
