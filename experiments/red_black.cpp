// The projection onto the ℓ1 ball after sparse changes, with a red-black tree (std::set) of all magnitudes, as in Duchi
// et al. 2008, §6, without their descent: what became zero is taken from the front of the tree. Times it for F9.
//
// Arguments: the number of steps, then d:s for every cell; prints the mean CPU seconds of a step for each.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

// A weight is kept as sign(w)·(|w| + Θ): one Θ stands for what all projections so far have taken away.
class Ball {
 public:
  explicit Ball(const std::vector<double>& w) : raw_(w) {
    for (int j = 0; j < static_cast<int>(w.size()); ++j) {
      sum_ += std::fabs(w[j]);
      order_.emplace_hint(order_.end(), std::fabs(w[j]), j);
    }
    radius_ = sum_;
  }
  void update(const std::vector<int>& at, const std::vector<double>& by) {
    for (std::size_t i = 0; i < at.size(); ++i) {
      double& raw = raw_[at[i]];
      const double before = std::fabs(raw);
      if (before > 0) order_.erase({before, at[i]}), sum_ -= before;
      const double w = (before > 0 ? std::copysign(before - shift_, raw) : 0.0) + by[i];
      raw = w == 0 ? 0.0 : w + std::copysign(shift_, w);
      if (raw != 0) order_.emplace(std::fabs(raw), at[i]), sum_ += std::fabs(raw);
    }
    if (sum_ - static_cast<double>(order_.size()) * shift_ <= radius_) return;
    while (true) {
      const double shift = (sum_ - radius_) / static_cast<double>(order_.size());
      if (order_.begin()->first > shift) {
        shift_ = shift;
        return;
      }
      sum_ -= order_.begin()->first;
      raw_[order_.begin()->second] = 0;
      order_.erase(order_.begin());
    }
  }

 private:
  std::vector<double> raw_;
  std::set<std::pair<double, int>> order_;
  double sum_ = 0, shift_ = 0, radius_ = 0;
};

int main(int count, char** words) {
  const int steps = std::atoi(words[1]);
  for (int i = 2; i < count; ++i) {
    const std::string cell = words[i];
    const int d = std::stoi(cell), s = std::stoi(cell.substr(cell.find(':') + 1));
    std::mt19937_64 random(d + s);
    std::normal_distribution<double> normal;
    std::vector<double> w(d), by(s);
    for (double& value : w) value = normal(random);
    Ball ball(w);
    std::clock_t spent = 0;
    for (int step = 0; step < steps; ++step) {
      std::set<int> places;
      while (static_cast<int>(places.size()) < s) places.insert(static_cast<int>(random() % d));
      const std::vector<int> at(places.begin(), places.end());
      for (double& value : by) value = 0.7 * normal(random);
      const std::clock_t start = std::clock();
      ball.update(at, by);
      spent += std::clock() - start;
    }
    std::printf("%.9g\n", static_cast<double>(spent) / CLOCKS_PER_SEC / steps);
  }
}
