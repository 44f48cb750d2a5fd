"""Export of a model as one C function."""

from __future__ import annotations

import json
from typing import assert_never

from gossamer.losses import Link, Loss
from gossamer.model.model import Model, is_code, refuse_offset
from gossamer.validation import Array

KEYWORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class
    co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype
    default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline
    int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
    register reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast
    struct switch template this thread_local throw true try typedef typeid typename typeof typeof_unqual union
    unsigned using virtual void volatile wchar_t while xor xor_eq
"""  # of C23 and C++20
FUNCTIONS = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1 fabs fdim
    floor fma fmax fmaximum fmin fminimum fmod frexp hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10
    log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow pow10 remainder remquo rint round
    roundeven scalb scalbln scalbn sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn
"""  # of math.h, each also with f and l at its end
OTHERS = """
    drem finite float_t double_t fpclassify gamma isfinite isgreater isgreaterequal isinf isless islessequal
    islessgreater isnan isnormal issubnormal isunordered iszero signbit signgam significand matherr abort abs
    asctime assert atexit atof atoi atol atoll bcmp bcopy bsearch bzero cabs calloc clock close conj creal ctime
    difftime div errno exit fclose feof ferror fflush fgetc fgets fopen fork fprintf fputc fputs fread free
    freopen fscanf fseek ftell fwrite getc getchar getenv gets gmtime index isalnum isalpha isascii isblank
    iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit kill labs ldiv link llabs lldiv
    localtime longjmp main malloc mblen mbstowcs memchr memcmp memcpy memmove memset mktime offsetof open perror
    pipe printf putc putchar puts qsort raise rand read realloc remove rename rewind rindex scanf select setbuf
    setjmp setlocale setvbuf signal sleep snprintf socket sprintf srand sscanf stat stderr stdin stdout strcat
    strchr strcmp strcoll strcpy strcspn strdup strerror strftime strlen strncat strncmp strncpy strpbrk strrchr
    strspn strstr strtod strtof strtok strtol strtold strtoll strtoul strtoull strxfrm system time tmpfile
    tmpnam toascii tolower toupper ungetc unlink va_arg va_copy va_end va_list va_start vfork vfprintf vprintf
    vsnprintf vsprintf wait wcslen wcstombs write linux unix i386
"""  # macros and types of math.h; functions of the C library, which compilers know; macros of compilers
OWN = "n feature value out features starts output weight z sum i m low high mid r best"  # of the function itself


def _check_name(name: str) -> None:
    """Raise unless this can be the name of a function in C and in C++, beside what the file has and includes."""
    if not name.isidentifier() or not name.isascii():
        raise ValueError(f"name must be the name of a C function: letters, digits and _; {name!r} was given.")
    maths = {f"{function}{kind}" for function in FUNCTIONS.split() for kind in ("", "f", "l")}
    why = (
        "is a keyword of C or C++"
        if name in KEYWORDS.split()
        else "belongs to the C library"
        if name in maths or name in OTHERS.split() or name.isupper()  # capitals: macros such as NAN
        else "is used in the function"
        if name in OWN.split()
        else "begins with _, which is for compilers"
        if name.startswith("_")
        else None
    )
    if why is not None:
        better = "model" if name.startswith("_") else f"{name.lower()}_model"
        raise ValueError(f"A C function cannot be called {name!r}: it {why}. {better!r} would do.")


def to_c(model: Model, name: str = "model") -> str:
    """Return one C function, `long NAME(n, feature, value, out)`, that needs nothing but libm.

    It takes a sparse row, features in any order, and fills `out` with the probabilities if the loss has them, otherwise
    with the scores, or with the predictions of regression. It returns the index of the class, 0 for regression.
    """
    _check_name(name)
    refuse_offset(model, "a function of C")
    k = len(model.intercept)
    outs = 2 if model.kind == "binary" and model.probabilistic else k
    comment = ", ".join(json.dumps(c, ensure_ascii=True) for c in model.labels).replace(
        "/", r"\u002f"
    )  # ends no comment
    body = _linked(model.loss, k)
    if outs == 2 and model.kind == "binary":
        body += "    out[1] = out[0]; out[0] = 1.0 - out[1];\n"
    if model.kind == "one_vs_rest" and model.probabilistic:
        body += (
            f"    for (r = 0, sum = 0.0; r < {k}; ++r) sum += out[r];\n"
            f"    for (r = 0; r < {k}; ++r) out[r] = sum > 0 ? out[r] / sum : 1.0 / {k};\n"
        )
    answer = {"binary": "z[0] > 0", "regression": "0", "multilabel": "0"}.get(model.kind, "best")
    return f"""/* A linear model written by gossamer. Answers: {comment or "numbers"}.
   long {name}(long n, const long long *feature, const double *value, double *out)
   A row has n entries: features (from 0) and their values. Fills {outs} numbers; returns the place of the answer. */
#include <math.h>

long {name}(long n, const long long *feature, const double *value, double *out) {{
    static const long long features[] = {{{_c_numbers(model.features) or "0"}}};
    static const long starts[] = {{{_c_numbers(model.starts)}}};
    static const int output[] = {{{_c_numbers(model.output) or "0"}}};
    static const double weight[] = {{{_c_numbers(model.value) or "0"}}};
    double z[] = {{{_c_numbers(model.intercept)}}}, sum = 0.0;
    long i, m, low, high, mid, r, best = 0;
    for (i = 0; i < n; ++i) {{
        for (low = 0, high = {len(model.features)}; low < high;) {{
            mid = low + (high - low) / 2;
            if (features[mid] < feature[i]) low = mid + 1; else high = mid;
        }}
        if (low == {len(model.features)} || features[low] != feature[i]) continue;
        for (m = starts[low]; m < starts[low + 1]; ++m) z[output[m]] += value[i] * weight[m];
    }}
    for (r = 1; r < {k}; ++r) if (z[r] > z[best]) best = r;
{body}    (void)sum; (void)best;
    return {answer};
}}
"""


def _c_numbers(values: Array) -> str:
    return ", ".join(repr(v) + ("LL" if abs(v) > 2**31 - 1 and isinstance(v, int) else "") for v in values.tolist())


def _linked(loss: Loss, k: int) -> str:
    """Return the lines that fill `out` with what the loss predicts from `z`."""
    each = f"    for (r = 0; r < {k}; ++r) out[r] ="
    match loss.predicts:
        case Link.IDENTITY:
            return f"{each} z[r];\n"
        case Link.EXP:
            return f"{each} exp(z[r]);\n"
        case Link.SIGMOID:
            return f"{each} 1.0 / (1.0 + exp(-z[r]));\n"
        case Link.SIGMOID_OF_TWICE:
            return f"{each} 1.0 / (1.0 + exp(-2.0 * z[r]));\n"
        case Link.SOFTMAX:
            return (
                f"    for (r = 0, sum = 0.0; r < {k}; ++r) sum += out[r] = exp(z[r] - z[best]);\n"
                f"    for (r = 0; r < {k}; ++r) out[r] /= sum;\n"
            )
        case Link.OWN:
            raise is_code(loss)
        case unknown:
            assert_never(unknown)
