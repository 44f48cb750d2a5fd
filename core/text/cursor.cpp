#include "text/cursor.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

namespace gossamer {

// The quotient of m and 10^k, both shifted so that their first bits are ones, has at least 63 bits. Its last one also
// says whether there is a rest, so rounding it to 53 bits rounds the exact quotient.
bool Cursor::quotient(std::uint64_t m, int k, double& out) {
#ifdef __SIZEOF_INT128__
  __extension__ using Wide = unsigned __int128;
  std::uint64_t d = 1;
  for (int i = 0; i < k; ++i) d *= 10;
  const int up = std::countl_zero(m), down = std::countl_zero(d);
  const Wide n = Wide{m << up} << 63;
  d <<= down;
  const auto q = static_cast<std::uint64_t>(n / d);
  const bool rest = n != Wide{q} * d;
  const auto scale = std::bit_cast<double>(static_cast<std::uint64_t>(1023 - (63 + up - down)) << 52);
  out = static_cast<double>(q | rest) * scale;
  return true;
#else
  static_cast<void>(m), static_cast<void>(k), static_cast<void>(out);
  return false;
#endif
}

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
