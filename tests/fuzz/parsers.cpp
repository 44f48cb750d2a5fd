// The text parsers on hostile inputs, without Python: about a hundred thousand inputs per second under the sanitizers.
//
// `make fuzz` compiles it and runs it for a minute; `build/sanitize/parsers SECONDS SEED` repeats a run. An input is
// one text given to one parser with one choice of settings. Texts that reach code for the first time are kept and
// changed again: core/text is compiled with -fsanitize-coverage=trace-pc, which calls us at every branch.
//
// With clang, -fsanitize=fuzzer -DLIBFUZZER does the same with libFuzzer's changes.
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "text/csv.hpp"
#include "text/svmlight.hpp"
#include "text/vw.hpp"

namespace {

using namespace gossamer;

constexpr std::size_t longest = 400;  // bytes of a text
std::string_view at_work;             // the text that is being parsed

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// Rows must be CSR as the learners need it, and bad lines must lie within the text.
void check(const TextRows& rows, std::string_view text) {
  require(rows.starts.front() == 0 && rows.starts.back() == static_cast<std::int64_t>(rows.entries), "starts");
  require(rows.label.size() == rows.rows() && (rows.weight.empty() || rows.weight.size() == rows.rows()), "sizes");
  require(rows.tags.empty() || rows.tags.size() == 2 * rows.rows(), "tags");
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (auto n = rows.starts[i]; n < rows.starts[i + 1]; ++n) {
      const auto at = static_cast<std::size_t>(n);
      require(rows.index[at] >= 0 && rows.index[at] < rows.width, "a feature beyond the width");
      require(n == rows.starts[i] || rows.index[at - 1] < rows.index[at], "features out of order");
      require(std::isfinite(rows.value[at]), "a value that is not finite");
    }
  }
  for (const double w : rows.weight) require(w >= 0, "a negative weight");
  for (const BadLine& bad : rows.bad) {
    require(bad.begin <= bad.end && bad.end <= text.size() && bad.line >= 1 && bad.column >= 1, "a bad line");
  }
  for (std::size_t i = 0; i < rows.tags.size(); i += 2) {
    require(rows.tags[i] <= rows.tags[i + 1] && rows.tags[i + 1] <= static_cast<std::int64_t>(text.size()), "a tag");
  }
}

// Names survive saving.
void check_names(NameTable& names, int bits) {
  NameTable again(bits, 100);
  const auto state = names.state();
  again.restore({reinterpret_cast<const char*>(state.data()), state.size()});
  require(again.size() == names.size(), "names that do not come back");
  for (std::int32_t j = 0; j < names.size(); ++j) {
    require(again.name(j) == names.name(j) && again.other(j) == names.other(j), "names that come back otherwise");
  }
}

// Parsers and tables are kept for many inputs, as a reader keeps them.
class Parsers {
 public:
  static constexpr std::uint64_t kinds = 13;

  Parsers() {
    // As new models read tables, and as old ones do.
    TablePlan plain{MissingWords({"NA", "?", "-", "-99"}), true, 4, 2};
    plain.add({.role = Column::number, .name = "x", .feature = 0, .indicator = 2, .mean = 0.5});
    plain.add({.role = Column::category, .name = "color"}), plain.add({.role = Column::target, .name = "y"});
    TablePlan rich{MissingWords({"NA"}), true, 2, 2};
    rich.add({.role = Column::text, .name = "words"});
    rich.add({.role = Column::date, .name = "when", .feature = 0, .indicator = 1, .first_day = 100, .timed = true});
    rich.add({.role = Column::offset, .name = "o"}), rich.add({.role = Column::category, .name = "color"});
    rich.crossed = {{0, 3}, {1, 3}, {0, 0}};
    TablePlan odd{MissingWords({}), false, 0, 1};
    for (const auto role : {Column::target_class, Column::weight, Column::ignored}) odd.add({.role = role});
    odd.add({.role = Column::category, .name = "kind"});
    for (std::size_t h = 0; h < 2; ++h) {
      names_[h].emplace(h ? 4 : 0, 100);
      classes_[h].emplace(0, 5);
      for (std::size_t p = 0; p < 2; ++p) {
        const Limits limits{p ? std::size_t{1} << 60 : 1, h == p, 1 << 26};
        vw_[h][p].emplace(*names_[h], limits,
                          std::vector<std::pair<std::string, std::string>>{{"u", "item"}, {"a", "a"}});
        csv_[h][p].emplace(plain, ',', *names_[h], *classes_[h], limits);
        odd_[h][p].emplace(odd, ';', *names_[h], *classes_[h], limits);
        rich_[h][p].emplace(rich, '\t', *names_[h], *classes_[h], limits);
      }
    }
  }

  // The text ends with a line end. `choice` says which parser, and what it does with bad lines.
  void parse(std::string_view text, std::uint64_t choice) {
    const std::size_t p = choice / kinds % 2;
    switch (choice % kinds) {
      case 0:
      case 1:
      case 2: {
        const Limits limits{p ? std::size_t{1} << 60 : 1, text.size() % 2 == 0, 1 << 26};
        check(*SvmlightParser(static_cast<int>(choice % kinds) - 1, limits).parse(text), text);
        break;
      }
      case 3:
      case 4:
        check(*vw_[choice % kinds - 3][p]->parse(text), text);
        break;
      case 5:
      case 6:
        require(csv_[choice % kinds - 5][p]->cut(text, 0) <= text.size(), "the cut of a table");
        check(*csv_[choice % kinds - 5][p]->parse(text), text);
        break;
      case 7:
      case 8:
        check(*odd_[choice % kinds - 7][p]->parse(text), text);
        break;
      case 9:
      case 10:
        check(*rich_[choice % kinds - 9][p]->parse(text), text);
        break;
      case 11:
        for (int form = 0; form < date_forms; ++form) {
          Moment when{};
          if (!read_date(text.substr(0, text.size() - 1), static_cast<DateForm>(form), when)) continue;
          require(when.hour() >= 0 && when.hour() < 24 && when.month() >= 1 && when.month() <= 12, "a date");
          Moment again{};
          const bool far = when.day() < -719162 || when.day() > 2932896;  // the years 1 to 9999
          require(far || (read_date(when.shown(), DateForm::year_first, again) && again.seconds == when.seconds),
                  "a date that does not come back");
        }
        break;
      default:
        NameTable names(4, 100);
        try {
          names.restore(text.substr(0, text.size() - 1));
        } catch (const std::exception&) {  // refused in words
        }
    }
  }
  void check_all_names() {
    for (std::size_t h = 0; h < 2; ++h) check_names(*names_[h], h ? 4 : 0);
  }

 private:
  std::array<std::optional<NameTable>, 2> names_, classes_;  // exact, and hashed
  std::array<std::array<std::optional<VwParser>, 2>, 2> vw_;
  std::array<std::array<std::optional<CsvParser>, 2>, 2> csv_, odd_, rich_;
};

}  // namespace

#ifdef LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static Parsers parsers;
  std::string text(reinterpret_cast<const char*>(data), size);
  text += '\n';
  parsers.parse(text, size ? data[0] : 0);
  return 0;
}
#else

// Coverage: a bit for each pair of branches that followed each other.
namespace {
std::array<bool, 1 << 16> seen_pairs;
std::uintptr_t last_branch;
bool is_new;
}  // namespace
extern "C" __attribute__((no_sanitize("address", "undefined"), no_sanitize_coverage)) void __sanitizer_cov_trace_pc() {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) * 0x9e3779b97f4a7c15ull >> 48;
  bool& seen = seen_pairs[(here ^ last_branch) & 0xffff];
  if (!seen) seen = is_new = true;
  last_branch = here >> 1;
}
extern "C" void __sanitizer_set_death_callback(void (*)());

namespace {

struct Text {
  std::uint64_t choice;  // of the parser
  std::size_t size;
  char bytes[longest];
};

const std::vector<std::string> seeds = {
    "1 1:0.5 7:2e-3 # words\n-1 qid:3 4:1 2:3 2:4\r\n+1.5 2147483646:1\n",
    "1 2.0 'tag|user:2 age:3 male |item price:0.5 |\n-1 second| plain :4\n| a:1e1\n",
    "1 19:1 18:2 17:3 2000000:4 15:5 14:6 70000:7 12:8 11:9 10:1 9:2 8:3 7:4 6:5 5:6 4:7 3:8 2:9 2:1\n",
    "1 |a:2 t s r q p o n m l k j i h g f e d c b a |longer a_name_of_sixteen:3 eight_ch seven_c nine_char a a a\n",
    "1.5,red,1\n,\"a \"\"b\"\", c\nd\",0\n-3e5,,1\n",
    "yes;1.0;x;red\nno;2;\"y\";blue\nyes;0;;\n",
    "Not good, not GOOD at all\t2014-10-21 05:00:00.5+02:00\t1.5\tred\nÀ “la” carte\tNA\t0\t?\n",
    "21 October 2014 5:00 PM",
    std::string("\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0a\1\0\0\0\0\0\0\0b\0\0\0\0\0\0\0\0", 34),
};
const std::vector<std::string> tokens = {"\n",
                                         "\r\n",
                                         "\"",
                                         "|",
                                         ":",
                                         ",",
                                         ";",
                                         " ",
                                         std::string(1, '\0'),
                                         "1e999",
                                         "nan",
                                         "-",
                                         "+",
                                         "\xff",
                                         "0:1",
                                         "#",
                                         "'",
                                         "qid:",
                                         "0.1",
                                         "99999999999",
                                         "1e-4",
                                         "12345678901234567890",
                                         "123456.789",
                                         "2020-02-29",
                                         "12:30",
                                         "14102105",
                                         "NA",
                                         "-99",
                                         "É"};

// The changes are made in place: nothing is allocated.
class Changer {
 public:
  explicit Changer(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::uint64_t draw() {  // xorshift
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return state_;
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>((draw() >> 11) % n); }

  void change(Text& text) {
    for (std::size_t changes = 1 + below(6); changes > 0; --changes) {
      const std::size_t at = below(text.size + 1);
      switch (below(6)) {
        case 0: {
          const std::string& token = tokens[below(tokens.size())];
          insert(text, at, token.data(), token.size());
          break;
        }
        case 1: {
          const std::size_t n = std::min(text.size - at, 1 + below(8));
          std::memmove(text.bytes + at, text.bytes + at + n, text.size - at - n);
          text.size -= n;
          break;
        }
        case 2: {
          char some[40];
          const std::size_t from = below(text.size + 1), n = std::min(text.size - from, 1 + below(40));
          std::memcpy(some, text.bytes + from, n);
          insert(text, at, some, n);
          break;
        }
        case 3: {
          const char byte = static_cast<char>(draw() >> 20);
          insert(text, at, &byte, 1);
          break;
        }
        case 4: {
          const char digit = static_cast<char>('0' + below(10));
          insert(text, at, &digit, 1);
          break;
        }
        default:
          if (at < text.size) text.bytes[at] = static_cast<char>(draw() >> 20);
      }
    }
  }

 private:
  std::uint64_t state_;

  static void insert(Text& text, std::size_t at, const char* bytes, std::size_t n) {
    if (text.size + n > longest) return;
    std::memmove(text.bytes + at + n, text.bytes + at, text.size - at);
    std::memcpy(text.bytes + at, bytes, n);
    text.size += n;
  }
};

void tell_the_text() {
  std::fprintf(stderr, "failed on the %zu bytes: ", at_work.size());
  for (const char c : at_work) std::fprintf(stderr, "\\x%02x", static_cast<unsigned char>(c));
  std::fprintf(stderr, "\n");
}

}  // namespace

int main(int count, char** words) {
  const double seconds = count > 1 ? std::atof(words[1]) : 10;
  const std::uint64_t seed = count > 2 ? std::strtoull(words[2], nullptr, 10) : std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  __sanitizer_set_death_callback(tell_the_text);
  Changer changer(seed);
  std::vector<Text> pool;
  pool.reserve(20'000);
  for (std::uint64_t kind = 0; kind < 2 * Parsers::kinds; ++kind) {
    for (const std::string& seed : seeds) {
      pool.push_back({kind, seed.size(), {}});
      std::memcpy(pool.back().bytes, seed.data(), seed.size());
    }
  }
  // Each text stands at the very end of its memory, so that reading beyond it is noticed.
  const auto memory = std::make_unique<char[]>(longest + 1);
  auto parsers = std::make_unique<Parsers>();
  const auto start = std::chrono::steady_clock::now();
  auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  long inputs = 0, bytes = 0;
  const std::size_t first = pool.size();
  Text text;
  while (inputs % 1024 != 0 || passed() < seconds) {
    if (inputs % 256 == 0) {
      if (inputs % 4096 == 0) parsers->check_all_names();
      parsers = std::make_unique<Parsers>();
    }
    const Text& from = pool[changer.below(changer.below(2) ? pool.size() : first)];
    text.choice = from.choice, text.size = from.size;
    std::memcpy(text.bytes, from.bytes, from.size);
    changer.change(text);
    if (changer.below(8) == 0) text.choice = changer.below(2 * Parsers::kinds);
    char* begin = memory.get() + longest - text.size;
    std::memcpy(begin, text.bytes, text.size);
    begin[text.size] = '\n';
    at_work = {begin, text.size + 1};
    is_new = false;
    parsers->parse(at_work, text.choice);
    if (is_new && pool.size() < pool.capacity()) pool.push_back(text);
    ++inputs, bytes += static_cast<long>(at_work.size());
  }
  std::printf("%ld inputs of %ld bytes on average in %.0f s (%.0f per second), %zu of them reached new code; no harm\n",
              inputs, bytes / inputs, passed(), static_cast<double>(inputs) / passed(), pool.size() - first);
}
#endif
