#include "text/cursor.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

namespace gossamer {

// from_chars does not accept a leading '+'.
bool Cursor::uncommon_number(const char* from, bool negative, double& out) {
  at = from + (negative || *from == '+');
  const char* digits = at;
  const auto [stop, error] = std::from_chars(at, end, out);
  if (error == std::errc::invalid_argument || !(digit(*digits) || *digits == '.')) {
    const bool words = error == std::errc() && *digits != '-';  // "inf", "nan"
    at = from;
    return fail(words ? "the number is not finite" : "a number is needed here");
  }
  at = stop;
  if (error == std::errc::result_out_of_range) out = std::strtod(std::string(digits, stop).c_str(), nullptr);
  if (!std::isfinite(out)) {
    at = from;
    return fail("the number is too large for double precision");
  }
  if (negative) out = -out;
  return true;
}

}  // namespace gossamer
