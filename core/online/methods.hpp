// The online methods, one struct each, and the one place where a method meets a penalty that is a sum over features.
//
// A method has a rule for any such penalty (`rule`), called behind a pointer, and a faster one for what is hot: the ℓ1
// norm with one output (`hot`), many strengths of it side by side (`hot_lanes`), and several outputs (`hot_outputs`).
//
// To add one: a struct here, its rules in a file of their own, and its name in the list.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "catalogue/list.hpp"
#include "online/learner.hpp"
#include "online/row_penalty.hpp"

namespace gossamer {

struct MethodFacts {
  const char* name;                          // of the class that Python sees
  std::array<const char*, 2> settings = {};  // the names of its numbers
  bool lanes = false;                        // whether it has rules for many strengths at once
  std::size_t together = 0;                  // how many lanes learn on one thread; 0: all
};

// So many lanes of the default method learn in registers (path/dual_lanes.cpp): they are on a thread of their own.
constexpr std::size_t lanes_in_registers = 8;

using AnyPenalty = std::shared_ptr<const RowPenalty>;
using Weights = std::vector<double>;  // one per feature, or none

// v = w − ηg, w ← prox(v, ηα) (fobos.cpp). What is hot does so little for a feature that to fetch it once for all lanes
// is faster than a second thread.
struct Fobos {
  static constexpr MethodFacts facts{.name = "Fobos", .lanes = true};
  std::unique_ptr<Rule> rule(AnyPenalty penalty, const Setup& setup) const;
  std::unique_ptr<Rule> hot(const Weights& weights, const Setup& setup) const;
  std::unique_ptr<Rule> hot_lanes(const Weights& weights, const Setup& setup) const;
};

// w = prox(−c G, c t α), c = 1/(γ√t) (dual.cpp)
struct Rda {
  double rho;
  static constexpr MethodFacts facts{.name = "Rda", .settings = {"rho"}, .lanes = true};
  std::unique_ptr<Rule> rule(AnyPenalty penalty, const Setup& setup) const;
  std::unique_ptr<Rule> hot(const Weights& weights, const Setup& setup) const;
  std::unique_ptr<Rule> hot_lanes(const Weights& weights, const Setup& setup) const;
};

// AdaGrad's dual form: c = η/(m_j√s_j) (adaptive.cpp)
struct AdaGradDual {
  static constexpr MethodFacts facts{.name = "AdaGradDual", .lanes = true, .together = lanes_in_registers};
  std::unique_ptr<Rule> rule(AnyPenalty penalty, const Setup& setup) const;
  std::unique_ptr<Rule> hot(const Weights& weights, const Setup& setup) const;
  std::unique_ptr<Rule> hot_lanes(const Weights& weights, const Setup& setup) const;
};

// AdaGrad's primal form (adaptive.cpp)
struct AdaGradPrimal {
  static constexpr MethodFacts facts{.name = "AdaGradPrimal", .lanes = true, .together = lanes_in_registers};
  std::unique_ptr<Rule> rule(AnyPenalty penalty, const Setup& setup) const;
  std::unique_ptr<Rule> hot_lanes(const Weights& weights, const Setup& setup) const;
};

// FTRL-Proximal: c = η/(β + √s_j), centred at the iterates (adaptive.cpp)
struct Ftrl {
  double beta;
  static constexpr MethodFacts facts{
      .name = "Ftrl", .settings = {"beta"}, .lanes = true, .together = lanes_in_registers};
  std::unique_ptr<Rule> rule(AnyPenalty penalty, const Setup& setup) const;
  std::unique_ptr<Rule> hot(const Weights& weights, const Setup& setup) const;
  std::unique_ptr<Rule> hot_lanes(const Weights& weights, const Setup& setup) const;
};

// The rule without a step (step_free.hpp)
struct StepFree {
  double rate, noise;
  static constexpr MethodFacts facts{
      .name = "StepFree", .settings = {"rate", "noise"}, .lanes = true, .together = lanes_in_registers};
  std::unique_ptr<Rule> rule(AnyPenalty penalty, const Setup& setup) const;
  std::unique_ptr<Rule> hot(const Weights& weights, const Setup& setup) const;
  std::unique_ptr<Rule> hot_lanes(const Weights& weights, const Setup& setup) const;
  std::unique_ptr<Rule> hot_outputs(const Weights& weights, const Setup& setup) const;
};

// w ← w − η (g + αξ), ξ ∈ ∂Ω(w) (subgradient.cpp)
struct Subgradient {
  static constexpr MethodFacts facts{.name = "Subgradient"};
  std::unique_ptr<Rule> rule(AnyPenalty penalty, const Setup& setup) const;
};

// Truncated gradient, for ℓ1 (fobos.cpp)
struct TruncatedGradient {
  double period, threshold;
  static constexpr MethodFacts facts{.name = "TruncatedGradient", .settings = {"period", "threshold"}};
  std::unique_ptr<Rule> rule(AnyPenalty penalty, const Setup& setup) const;
};

template <class M>
concept Method = requires(const M& method, AnyPenalty penalty, const Setup& setup) {
  requires std::same_as<decltype(M::facts), const MethodFacts>;
  { method.rule(penalty, setup) } -> std::same_as<std::unique_ptr<Rule>>;
};
template <Method... Ms>
using MethodList = List<Ms...>;

using Methods = MethodList<StepFree, Fobos, Rda, AdaGradDual, AdaGradPrimal, Ftrl, Subgradient, TruncatedGradient>;

// A learner with one strength, or with many (setup.path). `together` is how many lanes learn on one thread; 0 for what
// the method says.
std::unique_ptr<Learner> make_learner(const Methods::Variant& method, const RowPenalties::Variant& penalty,
                                      const Weights& weights, const Setup& setup, std::size_t together = 0);

// A learner of a rule that couples features (coupled.hpp); `again` if it can grow.
std::unique_ptr<Learner> make_learner(std::unique_ptr<Rule> rule, const Setup& setup, Learner::Make again);

}  // namespace gossamer
