// How long work ends early. Loops that may take long call check_stop() now and then: after a block of rows, or after as
// much work as takes some microseconds (StopWatch). It throws Stopped if the thread that called the core is asked to
// stop.
//
// Who asks is set for a thread by whoever calls the core: a flag that another thread sets, or a function
// that is called every 50 ms. The core knows no Python; bind/common.hpp asks Python for signals. Other threads listen
// to nobody: their tasks are short, and none is begun after one has thrown (threads.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>

namespace gossamer {

class Stopped final : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

using StopFlag = std::atomic<bool>;

// From now on this thread stops when the flag is set; null for none.
void listen_to(const StopFlag* flag);

// While it lives, this thread stops when `ask` returns true, unless it listens to a flag.
class Listening {
 public:
  explicit Listening(bool (*ask)());
  Listening(const Listening&) = delete;
  ~Listening();

 private:
  bool (*before_)();
};

// While it lives, this thread does not stop: what must not be left half done.
class Undisturbed {
 public:
  Undisturbed();
  Undisturbed(const Undisturbed&) = delete;
  ~Undisturbed();

 private:
  const StopFlag* flag_;
  bool (*ask_)();
};

// Throws Stopped if this thread is to stop; some nanoseconds otherwise.
void check_stop();

// Checks after every 32,768 units of work.
class StopWatch {
 public:
  void did(std::size_t work) {
    if ((since_ += work) < (1 << 15)) return;
    since_ = 0;
    check_stop();
  }

 private:
  std::size_t since_ = 0;
};

}  // namespace gossamer
