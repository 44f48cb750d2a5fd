// A list of types: the one place where the structs of a noun (losses, penalties, methods) are named. Variants,
// factories and bindings are derived from it.
//
//     using Losses = List<Logistic, Squared>;
//     Losses::Variant                                     std::variant<Logistic, Squared>
//     Losses::each([]<class L> { … });                    once per type, in order
//     Where<Losses, []<class L> { return L::facts.… ; }>  the list of those for which it is true
//     Joined<First, Second>                               one list after the other
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <variant>

namespace gossamer {

template <class... Ts>
struct List {
  using Variant = std::variant<Ts...>;
  static constexpr std::size_t size = sizeof...(Ts);
  template <class T>
  static constexpr bool has = (std::same_as<T, Ts> || ...);

  static constexpr void each(auto f) { (f.template operator()<Ts>(), ...); }

  template <class... Us>
  friend constexpr List<Ts..., Us...> operator+(List, List<Us...>) {
    return {};
  }
};

template <class First, class Second>
using Joined = decltype(First{} + Second{});

template <auto keep, class... Ts>
auto filtered(List<Ts...>) {
  return (List<>{} + ... + std::conditional_t<keep.template operator()<Ts>(), List<Ts>, List<>>{});
}
template <class L, auto keep>
using Where = decltype(filtered<keep>(L{}));

}  // namespace gossamer
