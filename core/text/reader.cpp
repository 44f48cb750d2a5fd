#include "text/reader.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#ifdef _WIN32
#include <io.h>
#else
#include <poll.h>
#include <unistd.h>
#endif

namespace gossamer {

namespace {

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

}  // namespace

void Buffer::reserve(std::size_t n) {
  if (n <= room) return;
  auto larger = std::make_unique_for_overwrite<char[]>(n);
  if (size) std::memcpy(larger.get(), data.get(), size);
  data = std::move(larger), room = n;
}

void Buffer::append(std::string_view bytes) {
  reserve(size + bytes.size());
  if (!bytes.empty()) std::memcpy(data.get() + size, bytes.data(), bytes.size());
  size += bytes.size();
}

Reader::Reader(TextParser& parser, int descriptor, std::string_view head, Sizes sizes, bool helps)
    : parser_(parser), descriptor_(descriptor), sizes_(sizes), helps_(helps), room_(sizes.first) {
  rest_.append(head);
  thread_ = started([this] { run(); });
  if (!thread_.joinable()) helps_ = true;  // the caller reads alone
}

bool Reader::next(std::unique_ptr<Piece>& out) {
  if (!ours()) throw std::runtime_error("this file is being read by another process, of which this one is a fork");
  std::unique_lock lock(mutex_);
  while (!can_go_on()) {
    lock.unlock();
    const bool helped = helps_ && step(false);
    lock.lock();
    if (!helped && !came_.wait_for(lock, std::chrono::milliseconds(50), [this] { return can_go_on(); })) return false;
  }
  if (waiting_.empty()) {
    if (failure_) std::rethrow_exception(failure_);
    out = nullptr;
    return true;
  }
  out = std::move(waiting_.front());
  waiting_.pop_front(), ++taken_;
  free_.notify_one();
  return true;
}

bool Reader::done() {
  std::unique_lock lock(mutex_);
  return ended_ && std::all_of(waiting_.begin(), waiting_.end(), [](const auto& piece) { return piece != nullptr; });
}

void Reader::close() {
  {
    std::unique_lock lock(mutex_);
    stopped_ = true;
  }
  free_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Reader::run() noexcept {
  for (bool more = true; more; more = step(true)) {
    std::unique_lock lock(mutex_);
    free_.wait(lock, [this] { return stopped_ || ended_ || waiting_.size() < sizes_.ahead; });
    if (stopped_) return;
  }
}

// Reads and parses one more piece. False if there is none, or if another thread reads and this one does not wait. It
// does not throw: `next` throws what went wrong once it has returned what came before.
bool Reader::step(bool wait) noexcept {
  std::unique_lock input(input_, std::defer_lock);
  if (wait) {
    input.lock();
  } else if (!input.try_lock()) {
    return false;
  }
  if (over_) return false;
  std::size_t place = nowhere;
  try {
    auto piece = std::make_unique<Piece>();
    const std::size_t end = cut(*piece);
    {
      std::unique_lock lock(mutex_);
      over_ = end == 0;
      if (over_) return stop();
      waiting_.push_back(nullptr);
      place = taken_ + waiting_.size() - 1;
    }
    if (!parser_.in_order()) input.unlock();
    if (end != nowhere) piece->rows = parser_.parse(piece->text.view());
    if (piece->rows && piece->rows->bad.empty() && piece->rows->tags.empty()) piece->text = {};
    std::unique_lock lock(mutex_);
    if (place - taken_ >= waiting_.size()) return false;  // an earlier piece failed
    waiting_[place - taken_] = std::move(piece);
    came_.notify_all();
    return true;
  } catch (...) {
    if (!input.owns_lock()) input.lock();
    std::unique_lock lock(mutex_);
    if (place != nowhere && place - taken_ >= waiting_.size()) return false;  // an earlier piece failed
    over_ = true, failure_ = std::current_exception();
    while (place != nowhere && taken_ + waiting_.size() > place) waiting_.pop_back();  // what came before stays
    return stop();
  }
}

bool Reader::stop() {
  ended_ = true;
  came_.notify_all(), free_.notify_all();
  return false;
}

// Reads the text of the next piece. Returns where it ends: 0 at the end of the file, `nowhere` for a line that is too
// long. Where a piece ends depends only on where it begins.
std::size_t Reader::cut(Piece& piece) {
  Buffer& text = piece.text;
  for (std::size_t known = 0;; known = text.size) {  // up to there no line ends
    const std::size_t left = sizes_.longest > known ? sizes_.longest - known : 0;
    if (!fill(text, known < room_ ? room_ - known : std::min(known, left + 1))) break;
    if (const std::size_t end = parser_.cut(text.view(), known)) {
      put_back(text.view().substr(end));
      text.size = piece.length = end, room_ = sizes_.block;
      return end;
    }
    if (text.size > sizes_.longest) {
      pass_over(piece);
      return nowhere;
    }
  }
  if (text.size == 0) return 0;
  piece.length = text.size, piece.unended = true;
  text.append("\n");
  return text.size;
}

// Reads to the end of a line and keeps only its beginning.
void Reader::pass_over(Piece& piece) {
  piece.length = piece.text.size, room_ = sizes_.block;
  piece.text.size = std::min<std::size_t>(piece.text.size, 80);
  for (Buffer more; fill(more, sizes_.block); more.size = 0) {
    const std::size_t end = more.view().find('\n') + 1;
    piece.length += end ? end : more.size;
    if (end) return put_back(more.view().substr(end));
  }
}

// Appends the next n bytes, fewer at the end of the file. Returns whether there were any.
bool Reader::fill(Buffer& buffer, std::size_t n) {
  buffer.reserve(buffer.size + n);
  const std::size_t before = buffer.size, wanted = before + n;
  const std::string_view known = rest_.view().substr(used_, n);
  buffer.append(known), used_ += known.size();
  while (buffer.size < wanted) {
    const std::size_t got = read_some(buffer.data.get() + buffer.size, wanted - buffer.size);
    if (got == 0) break;
    buffer.size += got;
  }
  return buffer.size > before;
}

void Reader::put_back(std::string_view bytes) {
  other_.size = 0;
  other_.append(bytes), other_.append(rest_.view().substr(used_));
  std::swap(rest_, other_);
  used_ = 0;
}

std::size_t Reader::read_some(char* to, std::size_t n) {
  n = std::min<std::size_t>(n, 1 << 30);
#ifdef _WIN32
  const auto got = _read(descriptor_, to, static_cast<unsigned>(n));
#else
  for (;;) {  // a pipe may stay silent for long: check now and then whether the reader was closed
    pollfd waits{descriptor_, POLLIN, 0};
    if (poll(&waits, 1, 50) != 0) break;
    std::unique_lock lock(mutex_);
    if (stopped_) return 0;
  }
  ssize_t got;
  do {
    got = ::read(descriptor_, to, n);
  } while (got < 0 && errno == EINTR);
#endif
  if (got < 0) throw std::system_error(errno, std::generic_category(), "the file cannot be read");
  return static_cast<std::size_t>(got);
}

}  // namespace gossamer
