# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""What casts give, by looking for the nearest of all values that a type has."""

import bisect
import functools
import math
import struct
from fractions import Fraction

# Bits of exponent and mantissa, bias, code of the largest number, of infinity, of NaN; all without a sign.
FLOATS = {
    "bf16": (8, 7, 127, 0x7F7F, 0x7F80, 0x7FC0),
    "f8e4m3fn": (4, 3, 7, 0x7E, None, 0x7F),
    "f8e4m3fnuz": (4, 3, 8, 0x7F, None, 0x80),
    "f8e5m2": (5, 2, 15, 0x7B, 0x7C, 0x7E),
    "f8e5m2fnuz": (5, 2, 16, 0x7F, None, 0x80),
    "f4e2m1": (2, 1, 1, 0x7, None, None),
}
INTEGERS = {"u2": (0, 4), "i2": (-2, 2), "u4": (0, 16), "i4": (-8, 8), "u8": (0, 256), "i8": (-128, 128), "i32": (-(2**31), 2**31)}


def codesOf(dtype):
    """All elements that a small type has."""
    if dtype in INTEGERS:
        return list(range(*INTEGERS[dtype]))
    return list(range(16 if dtype == "f4e2m1" else 256))


def decode(dtype, code):
    """The number that an element stands for."""
    if dtype == "f8e8m0":
        return math.nan if code == 255 else math.ldexp(1.0, code - 127)
    if dtype not in FLOATS:
        return code
    exponentBits, mantissaBits, bias, largest, infinity, nan = FLOATS[dtype]
    if code == nan and dtype.endswith("fnuz"):
        return math.nan
    magnitude = code & (1 << exponentBits + mantissaBits) - 1
    sign = 1.0 if code == magnitude else -1.0
    if magnitude > largest:
        return math.copysign(math.inf if magnitude == infinity else math.nan, sign)
    exponent, mantissa = magnitude >> mantissaBits, magnitude & (1 << mantissaBits) - 1
    if exponent:
        mantissa |= 1 << mantissaBits
    return sign * math.ldexp(mantissa, max(exponent, 1) - bias - mantissaBits)


@functools.cache
def ladder(dtype):
    """The numbers of a type from zero on, exactly, and the one that would follow the largest."""
    largest = FLOATS[dtype][3]
    values = [Fraction(decode(dtype, code)) for code in range(largest + 1)]
    return values + [2 * values[-1] - values[-2]]


def nearest(dtype, magnitude):
    """The code of the nearest number, the even one of two; the one after the largest stands for all that is beyond."""
    values = ladder(dtype)
    above = bisect.bisect_left(values, magnitude)
    if above == len(values):
        return above - 1
    if values[above] == magnitude:
        return above
    low, high = magnitude - values[above - 1], values[above] - magnitude
    return above if high < low or (high == low and above % 2 == 0) else above - 1


def encode(dtype, number, saturate=True, rounding="nearest"):
    if dtype == "f8e8m0":
        return encodePower(number, saturate, rounding)
    exponentBits, mantissaBits, _, largest, infinity, nan = FLOATS[dtype]
    hasNegativeZero = not dtype.endswith("fnuz")
    sign = (math.copysign(1.0, number) < 0) << exponentBits + mantissaBits
    if number != number:
        return (nan or 0) | sign
    code = largest + 1 if math.isinf(number) else nearest(dtype, abs(Fraction(number)))
    if code > largest:
        code = largest if saturate or nan is None else infinity or nan
    return code | sign if code or hasNegativeZero else 0


def encodePower(number, saturate, rounding):
    """Powers of two from 2^-127 to 2^127; 255 is NaN, which a sign gives, too."""
    if number != number or math.copysign(1.0, number) < 0:
        return 255
    if number < 2.0**-127:
        return 0 if saturate else 255
    if number > 2.0**127:
        return 254 if saturate else 255
    power = math.frexp(number)[1] - 1 if isinstance(number, float) else number.bit_length() - 1
    rest = Fraction(number) / Fraction(2) ** power
    return power + 127 + (rest > 1 if rounding == "up" else rest >= Fraction(3, 2) if rounding == "nearest" else 0)


def rounded(character, number):
    """As struct has it, but for numbers out of range."""
    try:
        return struct.unpack(f"<{character}", struct.pack(f"<{character}", number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)


def cast(source, element, target, saturate=True, rounding="nearest"):
    number = decode(source, element)
    if target in INTEGERS:
        low, end = INTEGERS[target]
        return (int(number) - low) % (end - low) + low
    if target == "bool":
        return number != 0
    if target in ("f16", "f32"):
        return rounded("e" if target == "f16" else "f", float(number))
    if target == "f64":
        return float(number)
    return encode(target, number, target != "bf16" and saturate, rounding)
