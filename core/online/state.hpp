// The state of a learner, shown to whoever saves, restores or enlarges it.
#pragma once

#include <span>
#include <vector>

#include "base/slots.hpp"

namespace gossamer {

// What a vector of numbers belongs to: the whole learner, each output, or each feature.
enum class Per { learner, output, feature };

class StateVisitor {
 public:
  virtual ~StateVisitor() = default;
  // `grows` is the vector that holds the values, or null where their count is fixed.
  virtual void see(const char* name, std::span<double> values, Per per, std::vector<double>* grows) = 0;

  void operator()(const char* name, std::vector<double>& values) { see(name, values, Per::learner, &values); }
  void operator()(const char* name, std::span<double> values, Per per = Per::learner) {
    see(name, values, per, nullptr);
  }
  void operator()(const char* name, Slots& slots) { see(name, slots.all(), Per::feature, nullptr); }
  void operator()(const char* name, double& value) { see(name, {&value, 1}, Per::learner, nullptr); }
  void operator()(const char* name, Shared& shared) {
    double value = shared;
    see(name, {&value, 1}, Per::learner, nullptr);
    shared = value;
  }
};

}  // namespace gossamer
