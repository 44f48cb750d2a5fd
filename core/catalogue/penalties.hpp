// Penalties Ω and sets, one struct each. A struct says what it is (`facts`) and what it can do:
//
//     value      Ω(w)
//     prox       argmin_w ½‖w − v‖² + s Ω(w); for a set, the projection
//     dual       the least λ ≥ 0 with v ∈ λ ∂Ω(0): the dual norm when Ω is a norm
//     subdifferential, piece
//                of a number: what coordinate descent asks for besides the prox
//     slope      a subgradient, zero at zero (of a block: `descend`, w ← w − s ξ); not for what constrains
//     repeat     n rounds of the prox with the same s, where there is a closed form
//     Rounds     a record of rounds with different s (rounds.hpp), where there is one
//     lengths    where a row loses length only, in a way that depends on its length alone: puts other lengths in
//     of_one     where Ω of one number w is a multiple of |w|: the factor
//
// An elementwise penalty is a sum over single numbers and is written as functions of one number; a blockwise one needs
// a whole block (a row, a group, or the whole vector). Weights are the caller's: an elementwise penalty sees a·s for s,
// a blockwise one is handed its block's weight. The value of a set follows from the norm it bounds.
//
// To add one: a struct in of_numbers.hpp or of_blocks.hpp, and its name in the list at the end of that file.
#pragma once

#include <concepts>

#include "catalogue/list.hpp"
#include "catalogue/of_blocks.hpp"
#include "catalogue/of_numbers.hpp"

namespace gossamer {

// A function of single numbers, the same for all or one for each feature.
template <class P>
concept OfNumbers = requires(const P& p) { p.prox(1.0, 1.0); } || requires(const P& p) { p.prox(1.0, 1.0, 0); };

// A function of a block of numbers and its weight.
template <class P>
concept OfBlocks = requires(const P& p, std::span<const double> v, std::span<double> out, Scratch& scratch) {
  p.value(v, 1.0), p.dual(v, 1.0), p.prox(v, out, 1.0, 1.0, scratch);
};

// A set that all numbers are in together.
template <class P>
concept SetOfAll = requires(const P& p, std::span<const double> v, std::span<double> out, Scratch& scratch) {
  p.prox(v, out, scratch);
};

// A struct that lacks what its facts promise does not compile where it is listed.
template <class P>
concept Penalty = std::same_as<decltype(P::facts), const PenaltyFacts> && (OfNumbers<P> || OfBlocks<P> || SetOfAll<P>) &&
                  (P::facts.constrains || requires(const P& p) { p.slope(1.0); } ||
                   requires(const P& p, std::span<double> w) { p.descend(w, 1.0, 1.0); }) &&
                  (!P::facts.is_set || P::facts.constrains) &&
                  (!requires(const P& p) { p.prox(1.0, 1.0); } ||
                   requires(const P& p) { p.value(1.0), p.subdifferential(1.0), p.piece(1.0); });
template <Penalty... Ps>
List<Ps...> checked(List<Ps...> all) {
  return all;
}

using Penalties = decltype(checked(Joined<OfNumbersList, OfBlocksList>{}));

template <class P>
constexpr bool one_for_all = requires(const P& p) { p.prox(1.0, 1.0); };
// Sums over single numbers, sets among them, for one output of batch learning; and whatever is a norm of a block or a
// sum over it, for several.
using NumberPenalties = Where<Penalties, []<class P> { return one_for_all<P>; }>;
using BlockPenalties = Where<Penalties, []<class P> { return OfBlocks<P> || (one_for_all<P> && !P::facts.is_set); }>;
using Set = Where<Penalties, []<class P> { return SetOfAll<P>; }>::Variant;
// Sums over features, as the online learners take them: each row of W by itself.
using RowPenalties = Where<Penalties, []<class P> { return OfNumbers<P> || OfBlocks<P>; }>;

}  // namespace gossamer
