// Restoring a learner: what comes from outside (a pickle, a checkpoint) is kept only if a learner may have it.
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "online/learner.hpp"

namespace gossamer {

namespace {

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return text;
}

std::string words_for(const Range& range) {
  constexpr double largest = std::numeric_limits<double>::max();
  std::string words = range.whole ? "a whole number" : range.most > largest ? "a number" : "a finite number";
  if (range.least > -largest) words += " from " + number(range.least);
  if (range.most < largest) words += " to " + number(range.most);
  return words;
}

class Restoring final : public StateVisitor {
 public:
  explicit Restoring(const Learner::Saved& saved) : saved_(saved) {}

  void see(const char* name, std::span<double> values, const Shown& how) override {
    const std::span<const double> given = saved_(name);
    if (how.grows) {
      how.grows->assign(given.begin(), given.end()), values = *how.grows;
    } else if (given.size() != values.size()) {
      throw refusal(name, "holds " + std::to_string(given.size()) + " numbers, and " + std::to_string(values.size()) +
                              " are needed");
    } else {
      std::copy(given.begin(), given.end(), values.begin());
    }
    check(name, values, how.record);
  }
  bool checks() const override { return true; }
  void refuse(const char* name, const char* words) override {
    throw refusal(name, std::string("is not sound: ") + words);
  }

 private:
  const Learner::Saved& saved_;
  double rounds_ = -1;  // once they were shown

  static std::invalid_argument refusal(const char* name, const std::string& why) {
    return std::invalid_argument("The saved state does not belong to this learner: '" + std::string(name) + "' " + why +
                                 ".");
  }
  void check(const char* name, std::span<const double> values, Record record) {
    std::size_t at = 0;
    while (at < values.size()) {
      if (record.size() == 0) refuse(name, "it must be empty");
      for (const Field& field : record) {
        if (field.count > values.size() - at) refuse(name, "its last record is not complete");
        const Range range = resolved(field.range, values[at]);
        for (const double x : values.subspan(at, field.count)) {
          if (x >= range.least && x <= range.most && (!range.whole || x == std::floor(x))) continue;
          throw refusal(name, "holds " + number(x) + ", and " + words_for(range) + " is needed");
        }
        at += field.count;
      }
    }
  }
  // All numbers of rounds are the one that is shown first, and no round is later.
  Range resolved(Range range, double first) {
    if (range.now && rounds_ < 0) rounds_ = first;
    if (range.now) range.least = std::max(range.least, rounds_);
    if (range.now || range.stamp) range.most = std::min(range.most, rounds_);
    return range;
  }
};

// The state as it is, to put it back; of what is zero only its size, as most of a new learner is.
class Kept final : public StateVisitor {
 public:
  bool putting_back = false;

  void see(const char*, std::span<double> values, const Shown& how) override {
    if (!putting_back) {
      const bool zero = std::all_of(values.begin(), values.end(), [](double x) { return x == 0; });
      all_.push_back({values.size(), zero ? std::vector<double>() : std::vector(values.begin(), values.end())});
      return;
    }
    auto& [size, numbers] = all_[next_++];
    if (how.grows) how.grows->resize(size), values = *how.grows;
    numbers.empty() ? std::fill(values.begin(), values.end(), 0.0) : (void)std::ranges::copy(numbers, values.begin());
  }

 private:
  std::vector<std::pair<std::size_t, std::vector<double>>> all_;
  std::size_t next_ = 0;
};

}  // namespace

void Learner::restore(const Saved& saved) {
  Kept before;
  visit(before);
  try {
    Restoring restoring(saved);
    visit(restoring);
  } catch (...) {
    before.putting_back = true;
    visit(before);
    throw;
  }
}

}  // namespace gossamer
