//===- decimal.c - decimal numbers to doubles and back, exactly -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "decimal.h"

#include <stdbool.h>

// 10^1131 has 3758 bits, and is shifted by at most the number of bits of the other number.
#define LIMBS 208

/// An integer, the lowest 32 bits first; no limb beyond `count` is read.
struct Big {
  uint32_t limbs[LIMBS];
  int count;
};

static void multiply(struct Big *big, uint32_t factor, uint32_t carry) {
  for (int i = 0; i < big->count; ++i) {
    uint64_t product = (uint64_t)big->limbs[i] * factor + carry;
    big->limbs[i] = (uint32_t)product;
    carry = (uint32_t)(product >> 32);
  }
  if (carry && big->count < LIMBS)
    big->limbs[big->count++] = carry;
}

static void multiplyByPowerOfTen(struct Big *big, int power) {
  for (; power >= 9; power -= 9)
    multiply(big, 1000000000, 0);
  for (; power > 0; --power)
    multiply(big, 10, 0);
}

static void shiftLeft(struct Big *big, int bits) {
  for (; bits >= 31; bits -= 31)
    multiply(big, 1u << 31, 0);
  multiply(big, 1u << bits, 0);
}

static int bitLength(const struct Big *big) {
  return big->count ? 32 * big->count - __builtin_clz(big->limbs[big->count - 1]) : 0;
}

static int compare(const struct Big *left, const struct Big *right) {
  if (left->count != right->count)
    return left->count < right->count ? -1 : 1;
  for (int i = left->count; i-- > 0;)
    if (left->limbs[i] != right->limbs[i])
      return left->limbs[i] < right->limbs[i] ? -1 : 1;
  return 0;
}

static void subtract(struct Big *left, const struct Big *right) {
  int64_t borrow = 0;
  for (int i = 0; i < left->count; ++i) {
    int64_t limb = (int64_t)left->limbs[i] - (i < right->count ? right->limbs[i] : 0) + borrow;
    left->limbs[i] = (uint32_t)limb;
    borrow = limb < 0 ? -1 : 0;
  }
  while (left->count && left->limbs[left->count - 1] == 0)
    --left->count;
}

static struct Big bigOf(uint64_t value) {
  struct Big big = {{(uint32_t)value, (uint32_t)(value >> 32)}, 2};
  while (big.count && big.limbs[big.count - 1] == 0)
    --big.count;
  return big;
}

/// 2^exponent, from -1022 to 1023.
static double powerOfTwo(int exponent) {
  union {
    uint64_t bits;
    double value;
  } u = {(uint64_t)(exponent + 1023) << 52};
  return u.value;
}

/// The double nearest to n / m, which are above 0.
static double divide(struct Big *n, struct Big *m) {
  int exponent = bitLength(n) - bitLength(m);
  shiftLeft(exponent < 0 ? n : m, exponent < 0 ? -exponent : exponent);
  if (compare(n, m) < 0) {
    shiftLeft(n, 1);
    --exponent;
  }
  // Now n / m is in [1, 2). A subnormal number has fewer bits.
  int bits = exponent < -1022 ? 53 + exponent + 1022 : 53;
  if (bits < 0 || exponent > 1023)
    return bits < 0 ? 0 : __builtin_inf();
  uint64_t quotient = 0;
  for (int i = 0; i < bits; ++i) {
    quotient <<= 1;
    if (compare(n, m) >= 0) {
      subtract(n, m);
      quotient |= 1;
    }
    shiftLeft(n, 1);
  }
  int half = compare(n, m);
  quotient += half > 0 || (half == 0 && (quotient & 1));
  int power = exponent - bits + 1;
  double value = (double)quotient;
  if (power < -1000) {
    value *= powerOfTwo(-500);
    power += 500;
  }
  return value * powerOfTwo(power);
}

double decimalToDouble(const struct Decimal *decimal) {
  struct Big n = {{0}, 0}, m = bigOf(1);
  for (int i = 0; i < decimal->count; ++i)
    multiply(&n, 10, decimal->digits[i]);
  if (n.count == 0 || decimal->exponent < -330)
    return 0;
  if (decimal->exponent > 310)
    return __builtin_inf();
  int power = decimal->exponent - decimal->count + 1;
  multiplyByPowerOfTen(power < 0 ? &m : &n, power < 0 ? -power : power);
  return divide(&n, &m);
}

/// value = n / m
static void split(double value, struct Big *n, struct Big *m) {
  union {
    double value;
    uint64_t bits;
  } u = {value};
  int exponent = (int)(u.bits >> 52 & 0x7ff);
  uint64_t mantissa = u.bits & 0xfffffffffffff;
  if (exponent)
    mantissa |= 1ull << 52;
  exponent = (exponent ? exponent : 1) - 1075;
  *n = bigOf(mantissa);
  *m = bigOf(1);
  shiftLeft(exponent < 0 ? m : n, exponent < 0 ? -exponent : exponent);
}

/// The first `count` digits, rounded.
static void takeDigits(double value, int count, struct Decimal *decimal) {
  struct Big n, m;
  split(value, &n, &m);
  // log10(2), rounded down; the loops correct the estimate.
  int exponent = (bitLength(&n) - bitLength(&m) - 1) * 1233 / 4096;
  multiplyByPowerOfTen(exponent < 0 ? &n : &m, exponent < 0 ? -exponent : exponent);
  for (; compare(&n, &m) < 0; --exponent)
    multiply(&n, 10, 0);
  for (;; ++exponent) {
    struct Big next = m;
    multiply(&next, 10, 0);
    if (compare(&n, &next) < 0)
      break;
    m = next;
  }
  decimal->count = count;
  decimal->exponent = exponent;
  for (int i = 0; i < count; ++i) {
    uint8_t digit = 0;
    for (; compare(&n, &m) >= 0; ++digit)
      subtract(&n, &m);
    decimal->digits[i] = digit;
    multiply(&n, 10, 0);
  }
  multiply(&m, 5, 0);
  int half = compare(&n, &m), i = count;
  bool up = half > 0 || (half == 0 && (decimal->digits[count - 1] & 1));
  for (; up && i > 0; --i) {
    up = decimal->digits[i - 1] == 9;
    decimal->digits[i - 1] = up ? 0 : decimal->digits[i - 1] + 1;
  }
  if (up) {
    decimal->digits[0] = 1;
    ++decimal->exponent;
  }
}

void doubleToDecimal(double value, int isSingle, struct Decimal *decimal) {
  for (int count = 1; count <= 17; ++count) {
    takeDigits(value, count, decimal);
    double back = decimalToDouble(decimal);
    if (isSingle ? (float)back == (float)value : back == value)
      break;
  }
}
