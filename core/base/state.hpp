// The state of a learner, shown to whoever saves, restores or enlarges it. With its numbers a rule shows what they may
// be, and what must hold among them: whoever restores a state from outside keeps nothing that is not so.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/memory.hpp"

namespace gossamer {

// What a vector of numbers belongs to: the whole learner, each output, or each feature.
enum class Per { learner, output, feature };

// What a number may be.
struct Range {
  double least = -std::numeric_limits<double>::max(), most = std::numeric_limits<double>::max();
  bool whole = false;
  bool stamp = false;  // a round: at most the number of rounds so far
  bool now = false;    // the number of rounds so far, the same wherever it is shown
};
inline constexpr Range any_number{};  // finite, as all but losses are
inline constexpr Range at_least_zero{.least = 0};
inline constexpr Range loss_or_lost{.most = std::numeric_limits<double>::infinity()};  // infinite where a lane was lost
inline constexpr Range counted{.least = 0, .most = 0x1p53, .whole = true};
inline constexpr Range now{.least = 0, .most = 0x1p53, .whole = true, .now = true};
inline constexpr Range a_round{.least = 0, .most = 0x1p53, .whole = true, .stamp = true};
inline constexpr Range up_to(double most) { return {.least = 0, .most = most}; }
inline constexpr double largest_float = 1e38;  // kept as a float
inline constexpr Range a_float{.least = -largest_float, .most = largest_float};
inline constexpr Range float_from_zero = up_to(largest_float);
inline constexpr Range whole_up_to(double most) { return {.least = 0, .most = most, .whole = true}; }

// Numbers come in records: so many with this range, then so many with the next.
struct Field {
  Range range;
  std::size_t count = 1;
};
using Record = std::initializer_list<Field>;

// How a vector is shown. `grows` is the vector that holds the numbers, or null where their count is fixed.
struct Shown {
  Per per;
  Record record;
  std::vector<double>* grows = nullptr;
};

class StateVisitor {
 public:
  virtual ~StateVisitor() = default;
  virtual void see(const char* name, std::span<double> values, const Shown& how) = 0;
  // Whether demands are asked for, and what is done with one that does not hold.
  virtual bool checks() const { return false; }
  virtual void refuse(const char*, const char*) {}

  void operator()(const char* name, double& value, Range range) { see(name, {&value, 1}, {Per::learner, {{range}}}); }
  void operator()(const char* name, std::span<double> values, Per per, Record record) {
    see(name, values, {per, record});
  }
  void operator()(const char* name, Slots& slots, Record record) { see(name, slots.all(), {Per::feature, record}); }
  // Floats of each feature; visitors accept doubles only.
  void floats(const char* name, std::span<float> values, Record record) {
    std::vector<double> shown(values.begin(), values.end());
    see(name, shown, {Per::feature, record});
    std::transform(shown.begin(), shown.end(), values.begin(), [](double x) { return static_cast<float>(x); });
  }
  // A vector that may have any number of records.
  void growing(const char* name, std::vector<double>& values, Record record) {
    see(name, values, {Per::learner, record, &values});
  }
  // Whole numbers below `below`; visitors accept doubles only.
  void whole(const char* name, std::vector<std::size_t>& values, std::size_t below, bool grows) {
    std::vector<double> shown(values.begin(), values.end());
    const Field each{below == 0 ? counted : whole_up_to(static_cast<double>(below) - 1)};
    see(name, shown, {Per::learner, {each}, grows ? &shown : nullptr});
    values.resize(shown.size());
    std::transform(shown.begin(), shown.end(), values.begin(), [](double x) { return static_cast<std::size_t>(x); });
  }
  // What must hold among what was shown before; `holds` is called by whoever restores only.
  template <class F>
  void demand(const char* name, const char* words, F holds) {
    if (checks() && !holds()) refuse(name, words);
  }
};

// Whether a number that is derived from others is what they say.
inline bool about(double x, double expected) { return std::fabs(x - expected) <= 1e-9 * std::fabs(expected) + 1e-300; }

// Shows state to a visitor under names that end with a number.
class Numbered final : public StateVisitor {
 public:
  Numbered(StateVisitor& to, std::string word, std::size_t number) : to_(to), end_(std::move(word)) {
    end_ += std::to_string(number);
  }
  void see(const char* name, std::span<double> values, const Shown& how) override {
    to_.see((name + end_).c_str(), values, how);
  }
  bool checks() const override { return to_.checks(); }
  void refuse(const char* name, const char* words) override { to_.refuse((name + end_).c_str(), words); }

 private:
  StateVisitor& to_;
  std::string end_;
};

}  // namespace gossamer
