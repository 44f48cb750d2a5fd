// The state of a learner, shown to whoever saves, restores or enlarges it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/memory.hpp"

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

// Shows state to a visitor under names that end with a number.
class Numbered final : public StateVisitor {
 public:
  Numbered(StateVisitor& to, std::string word, std::size_t number) : to_(to), end_(std::move(word)) {
    end_ += std::to_string(number);
  }
  void see(const char* name, std::span<double> values, Per per, std::vector<double>* grows) override {
    to_.see((name + end_).c_str(), values, per, grows);
  }

 private:
  StateVisitor& to_;
  std::string end_;
};

}  // namespace gossamer
