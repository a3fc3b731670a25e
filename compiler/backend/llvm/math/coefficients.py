#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Fits the polynomials and quotients of the CPU math library and prints coefficients.h. Needs mpmath.

Each is the interpolant of a smooth function at the Chebyshev nodes of its interval, computed with 60 digits:
within a small factor of the best polynomial of its degree. The comment of each says how far it is off before
its coefficients are rounded. A quotient of polynomials is the interpolant of its own number of nodes, which lie closer where the
function changes fast.
"""

from mpmath import asin, atan, atanh, cbrt, cos, erf, erfc, exp, fabs, log, lu_solve, matrix, mp, mpf, nstr, pi, polyval, sin, sqrt, tanh

mp.dps = 60


def fit(f, low, high, degree):
    """Coefficients in powers of the argument, constant first."""
    nodes = [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * degree + 2)) for i in range(degree + 1)]
    rows = matrix([[node**j for j in range(degree + 1)] for node in nodes])
    return list(lu_solve(rows, matrix([f(node) for node in nodes])))


def error(f, c, low, high, scale):
    """The largest |difference| * scale(x) over a grid."""
    grid = [low + (high - low) * mpf(i) / 400 for i in range(401)]
    return max(fabs(polyval(c[::-1], x) - f(x)) * scale(x) for x in grid)


def hexFloat(value, bits):
    """`value` rounded to `bits` of precision, as C writes it."""
    sign = "-" if value < 0 else ""
    mantissa, exponent = mp.frexp(fabs(value))
    digits = 13 if bits == 53 else 6
    scaled = int(mp.nint(mantissa * mpf(2) ** bits))
    if scaled == 2**bits:
        scaled, exponent = scaled // 2, exponent + 1
    scaled <<= 4 * digits + 1 - bits
    fraction = scaled - (1 << 4 * digits)
    text = f"{fraction:0{digits}x}".rstrip("0") or "0"
    return f"{sign}0x1.{text}p{int(exponent) - 1:+d}" + ("f" if bits == 24 else "")


def fitQuotient(f, high, upper, lower):
    """Coefficients of both polynomials, of degrees `upper` and `lower`, on 0..high. The lower one begins with 1."""
    count = upper + lower + 1
    nodes = [high * ((1 - cos(pi * (2 * i + 1) / (2 * count))) / 2) ** mpf("1.75") for i in range(count)]
    rows = matrix([[z**j for j in range(upper + 1)] + [-f(z) * z**j for j in range(1, lower + 1)] for z in nodes])
    c = list(lu_solve(rows, matrix([f(z) for z in nodes])))
    return c[: upper + 1], [mpf(1)] + c[upper + 1 :]


def showCoefficients(name, c, bits):
    print(f"#define {name}_DEGREE {len(c) - 1}")
    body = ",\n".join("    " + ", ".join(hexFloat(v, bits) for v in c[i : i + 4]) for i in range(0, len(c), 4))
    print(f"static const {'double' if bits == 53 else 'float'} {name}[{len(c)}] = {{\n{body}}};\n")


def showQuotient(name, what, f, high, upper, lower, bits):
    """Both as NAME_UPPER and NAME_LOWER. All coefficients are positive, so that no sum cancels."""
    p, q = fitQuotient(f, high, upper, lower)
    assert min(p + q) > 0
    grid = [high * (mpf(i) / 400) ** 2 for i in range(1, 401)]
    off = max(fabs(polyval(p[::-1], z) / polyval(q[::-1], z) / f(z) - 1) for z in grid)
    print(f"/// {what}; off by 2^{nstr(log(off, 2), 3)}.")
    showCoefficients(f"{name}_UPPER", p, bits)
    showCoefficients(f"{name}_LOWER", q, bits)


def show(name, what, f, low, high, degree, bits=53, scale=lambda x: 1):
    low, high = mpf(low), mpf(high)
    c = fit(f, low, high, degree)
    off = error(f, c, low, high, scale)
    print(f"/// {what}; off by 2^{nstr(log(off, 2), 3)}.")
    showCoefficients(name, c, bits)


def quotient(f, subtract, power, argument=lambda z: z):
    """(f(x) - subtract(x)) / power(x) at x = argument(z), with digits to spare for the cancellation."""

    def value(z):
        with mp.workdps(140):
            x = argument(mpf(z) if z else mpf(10) ** -60)
            return (f(x) - subtract(x)) / power(x)

    return value


def root(z):
    return sqrt(z)


def main():
    print("""\
//===- coefficients.h - polynomials of the CPU math library --------*- C -*-===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Printed by coefficients.py, constant terms first. Kept as a file since the
// build need not have mpmath. The error is relative to the function's result.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_MATH_COEFFICIENTS_H
#define TENON_MATH_COEFFICIENTS_H
""")
    half = log(2) / 2 * mpf("1.002")
    expRest = quotient(exp, lambda r: 1 + r, lambda r: r * r)
    show("EXP", "(e^r - 1 - r) / r^2 for |r| <= ln(2)/2", expRest, -half, half, 10, scale=lambda r: r * r)
    show("EXPF", "The same for float", expRest, -half, half, 4, 24, lambda r: r * r)
    exp2Rest = quotient(lambda r: mpf(2) ** r, lambda r: 1, lambda r: r)
    show("EXP2", "(2^r - 1) / r for |r| <= 1/2", exp2Rest, -0.5, 0.5, 11, scale=fabs)
    show("EXP2F", "The same for float", exp2Rest, -0.5, 0.5, 5, 24, fabs)
    tenth = log(2) / log(10) / 2 * mpf("1.002")
    exp10Rest = quotient(lambda r: mpf(10) ** r, lambda r: 1, lambda r: r)
    show("EXP10", "(10^r - 1) / r for |r| <= log10(2)/2", exp10Rest, -tenth, tenth, 11, scale=fabs)

    edge = ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2 * mpf("1.002")
    logRest = quotient(lambda s: 2 * atanh(s), lambda s: 2 * s, lambda s: s**3, root)
    show("LOG", "(log((1+s)/(1-s)) - 2s) / s^3 in s^2, for 1+f = (1+s)/(1-s) in sqrt(1/2)..sqrt(2)", logRest, 0, edge, 7, scale=lambda z: z / 2)
    show("LOGF", "The same for float", logRest, 0, edge, 2, 24, lambda z: z / 2)
    show("POWLOG", "(atanh(s) - s - s^3/3) / s^5 in s^2, on the same interval",
         quotient(atanh, lambda s: s + s**3 / 3, lambda s: s**5, root), 0, edge, 7, scale=lambda z: z * z)

    quarter = (pi / 4) ** 2 * mpf("1.002")
    show("SIN", "(sin(x) - x) / x^3 in x^2 for |x| <= pi/4", quotient(sin, lambda x: x, lambda x: x**3, root), 0, quarter, 6, scale=lambda z: z)
    show("COS", "(cos(x) - 1 + x^2/2) / x^4 in x^2, on the same interval",
         quotient(cos, lambda x: 1 - x * x / 2, lambda x: x**4, root), 0, quarter, 6, scale=lambda z: z * z)
    show("SINF", "Both for float results, evaluated in double", quotient(sin, lambda x: x, lambda x: x**3, root), 0, quarter, 3, 53, lambda z: z)
    show("COSF", "The cosine of these", quotient(cos, lambda x: 1 - x * x / 2, lambda x: x**4, root), 0, quarter, 3, 53, lambda z: z * z)

    show("ASIN", "(asin(x) - x) / x^3 in x^2 for |x| <= 1/2", quotient(asin, lambda x: x, lambda x: x**3, root), 0, 0.25, 13, scale=lambda z: z)
    show("ATAN", "(atan(x) - x) / x^3 in x^2 for |x| <= 7/16", quotient(atan, lambda x: x, lambda x: x**3, root), 0, 0.1915, 11, scale=lambda z: z)
    showQuotient("TANHF", "tanh(x)/x in x^2 for |x| <= 9.02, float", quotient(tanh, lambda x: 0, lambda x: x, root), mpf("9.02") ** 2, 5, 5, 24)

    erfRest = quotient(erf, lambda x: x, lambda x: x, root)
    show("ERF", "erf(x)/x - 1 in x^2 for |x| <= 1", erfRest, 0, 1, 11)
    showQuotient("ERFF", "erf(x)/x in x^2 for |x| <= 3.92, float", quotient(erf, lambda x: 0, lambda x: x, root), mpf("3.92") ** 2, 5, 6, 24)

    def scaledErfc(t):
        x = mpf(4) * (1 + t) / (1 - t)
        with mp.workdps(140):
            return (1 + 2 * x) * exp(x * x) * erfc(x)

    show("ERFC", "(1+2x) e^(x^2) erfc(x) in t = (x-4)/(x+4) for 0 <= x <= 28", scaledErfc, -1, 0.75, 23)
    show("CBRT", "cbrt(m) for 1 <= m <= 2: a first guess", cbrt, 1, 2, 4)
    print("#endif // TENON_MATH_COEFFICIENTS_H")


if __name__ == "__main__":
    main()
