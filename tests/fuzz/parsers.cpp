// The text parsers on hostile inputs, without Python: thousands of inputs per second under the sanitizers.
//
// `make fuzz` compiles it and runs it for a minute; `build/sanitize/parsers SECONDS SEED` repeats a run.
//
// With clang, -fsanitize=fuzzer -DLIBFUZZER lets coverage guide the changes instead.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "text/csv.hpp"
#include "text/svmlight.hpp"
#include "text/vw.hpp"

namespace {

using namespace gossamer;

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

void one_input(std::string text) {
  if (text.empty() || text.back() != '\n') text += '\n';
  const std::string kept(text);  // of the exact size, so that reading beyond it is noticed
  const std::string_view view(kept);
  for (const std::size_t patience : {std::size_t{1}, std::size_t{1} << 60}) {
    const Limits limits{patience, text.size() % 2 == 0, 1 << 26};
    for (const int base : {-1, 0, 1}) check(*SvmlightParser(base, limits).parse(view), view);
    for (const int bits : {0, 4}) {
      NameTable names(bits, 100), classes(0, 5);
      check(*VwParser(names, limits).parse(view), view);
      using Column = CsvColumn;
      std::vector<Column> columns{{Column::number, 0, {}}, {Column::category, 1, "color="}, {Column::target, 0, {}}};
      check(*CsvParser(columns, ',', names, classes, limits).parse(view), view);
      columns = {{Column::target_class, 0, {}}, {Column::weight, 0, {}}, {Column::skipped, 0, {}}};
      CsvParser table(columns, ';', names, classes, limits);
      check(*table.parse(view), view);
      require(table.cut(view, 0) <= view.size(), "the cut of a table");
      NameTable again(bits, 100);
      const auto state = names.state();
      again.restore({reinterpret_cast<const char*>(state.data()), state.size()});
      require(again.size() == names.size(), "names that do not come back");
      for (std::int32_t j = 0; j < names.size(); ++j) {
        require(again.name(j) == names.name(j) && again.other(j) == names.other(j), "names that come back otherwise");
      }
    }
  }
  NameTable names(4, 100);
  try {
    names.restore(kept);
  } catch (const std::exception&) {  // refused in words
  }
}

}  // namespace

#ifdef LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  one_input({reinterpret_cast<const char*>(data), size});
  return 0;
}
#else
namespace {

const std::vector<std::string> seeds = {
    "1 1:0.5 7:2e-3 # words\n-1 qid:3 4:1 2:3 2:4\r\n+1.5 2147483646:1\n",
    "1 2.0 'tag|user:2 age:3 male |item price:0.5 |\n-1 second| plain :4\n| a:1e1\n",
    "1 19:1 18:2 17:3 2000000:4 15:5 14:6 70000:7 12:8 11:9 10:1 9:2 8:3 7:4 6:5 5:6 4:7 3:8 2:9 2:1\n",
    "1 |a:2 t s r q p o n m l k j i h g f e d c b a |longer a_name_of_sixteen:3 eight_ch seven_c nine_char a a a\n",
    "1.5,red,1\n,\"a \"\"b\"\", c\nd\",0\n-3e5,,1\n",
    "yes;1.0;x\nno;2;\"y\"\nyes;0;\n",
};
const std::vector<std::string> tokens = {
    "\n",     "\r\n",        "\"",   "|",   ":", ",", ";",    " ",  std::string(1, '\0'), "1e999", "nan", "-", "+",
    "1e-400", "99999999999", "\xff", "0:1", "#", "'", "qid:", "0.1"};

std::string changed(std::mt19937_64& rng, std::string text) {
  auto below = [&](std::size_t n) { return static_cast<std::size_t>(rng() % (n + 1)); };
  for (std::size_t changes = 1 + below(7); changes > 0; --changes) {
    const std::size_t at = below(text.size());
    switch (below(4)) {
      case 0:
        text.insert(at, tokens[below(tokens.size() - 1)]);
        break;
      case 1:
        text.erase(at, 1 + below(7));
        break;
      case 2:
        text.insert(at, text.substr(at, 1 + below(40)));
        break;
      case 3:
        text.insert(at, 1, static_cast<char>(rng()));
        break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(rng());
    }
  }
  return text;
}

}  // namespace

int main(int count, char** words) {
  const double seconds = count > 1 ? std::atof(words[1]) : 10;
  std::mt19937_64 rng(count > 2 ? std::strtoull(words[2], nullptr, 10) : std::random_device{}());
  std::vector<std::string> pool = seeds;
  for (const std::string& seed : seeds) one_input(seed);
  const auto start = std::chrono::steady_clock::now();
  long inputs = 0;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds) {
    const std::string text = changed(rng, pool[rng() % pool.size()]);
    one_input(text);
    ++inputs;
    if (rng() % 50 == 0 && text.size() < 4000 && pool.size() < 10000) pool.push_back(text);  // changes of changes
  }
  std::printf("%ld inputs, none of them did harm\n", inputs);
}
#endif
