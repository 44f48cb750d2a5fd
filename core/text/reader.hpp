// Reading ahead: a file is cut into pieces at line ends, and these are parsed, by a thread that knows nothing of Python
// and by the caller that waits for the next piece.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>

#include "base/threads.hpp"
#include "text/rows.hpp"

namespace gossamer {

// Bytes whose room is kept, and not filled before it is written.
struct Buffer {
  std::unique_ptr<char[]> data;
  std::size_t size = 0, room = 0;

  std::string_view view() const { return {data.get(), size}; }
  void reserve(std::size_t n);
  void append(std::string_view bytes);
};

struct Piece {
  Buffer text;                     // kept only if the rows point into it, or if there are none
  std::unique_ptr<TextRows> rows;  // none for a line that is too long: then the text is its beginning
  std::size_t length = 0;          // bytes of the file
  bool unended = false;            // the file ends without a line end
};

class Reader {
 public:
  struct Sizes {
    std::size_t first, block;  // bytes of the first piece and of the others, more where a line is longer
    std::size_t longest;       // bytes of a line
    std::size_t ahead;         // pieces parsed and not yet returned by `next`
  };

  // Reads on from `head` and then the descriptor, which stays open longer than the reader. `helps`: a caller that waits
  // may read too, because reading does not wait for another process. On two idle cores reading RCV1 three times
  // then takes 30 ms instead of 43 ms.
  Reader(TextParser& parser, int descriptor, std::string_view head, Sizes sizes, bool helps);
  ~Reader() { close(); }  // only where it is `ours`
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Whether its thread is one of this process: a forked process has a copy of the reader, and no thread that reads.
  bool ours() const { return process_ == process_id(); }
  // Sets `out` to the next piece, or to none at the end. Returns false if none came for a while.
  bool next(std::unique_ptr<Piece>& out);
  // Whether the whole file is parsed, though `next` has not returned all of it.
  bool done();
  void close();

 private:
  TextParser& parser_;
  const int descriptor_;
  const Sizes sizes_;
  bool helps_;
  const long process_ = process_id();

  std::mutex input_;      // guards what reading needs
  Buffer rest_;           // bytes that were read before they were needed
  std::size_t used_ = 0;  // how many of them are part of a piece
  Buffer other_;          // to put the rest together anew
  std::size_t room_;      // bytes of the next piece
  bool over_ = false;

  std::mutex mutex_;                            // guards what follows; locked after the other one
  std::deque<std::unique_ptr<Piece>> waiting_;  // in the order of the file; null while a piece is parsed
  std::size_t taken_ = 0;                       // pieces that `next` has returned
  bool ended_ = false, stopped_ = false;
  std::exception_ptr failure_;
  std::condition_variable came_, free_;
  std::thread thread_;

  bool can_go_on() const { return waiting_.empty() ? ended_ : waiting_.front() != nullptr; }
  void run() noexcept;
  bool step(bool wait) noexcept;
  bool stop();
  std::size_t cut(Piece& piece);
  void pass_over(Piece& piece);
  bool fill(Buffer& buffer, std::size_t n);
  void put_back(std::string_view bytes);
  std::size_t read_some(char* to, std::size_t n);
};

}  // namespace gossamer
