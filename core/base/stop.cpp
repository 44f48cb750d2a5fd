#include "base/stop.hpp"

#include <chrono>

namespace gossamer {

namespace {

using Clock = std::chrono::steady_clock;

struct Listener {
  const StopFlag* flag = nullptr;
  bool (*ask)() = nullptr;
  Clock::time_point next;  // when to ask again
};

thread_local Listener listener;

constexpr auto pause = std::chrono::milliseconds(50);

}  // namespace

void listen_to(const StopFlag* flag) { listener.flag = flag; }

Listening::Listening(bool (*ask)()) : before_(listener.ask) { listener.ask = ask; }

Listening::~Listening() { listener.ask = before_; }

Undisturbed::Undisturbed() : flag_(listener.flag), ask_(listener.ask) {
  listener.flag = nullptr, listener.ask = nullptr;
}

Undisturbed::~Undisturbed() { listener.flag = flag_, listener.ask = ask_; }

void check_stop() {
  if (listener.flag) {
    if (listener.flag->load(std::memory_order_relaxed)) throw Stopped();
  } else if (listener.ask) {
    const auto now = Clock::now();
    if (now < listener.next) return;
    listener.next = now + pause;
    if (listener.ask()) throw Stopped();
  }
}

}  // namespace gossamer
