//===- decimal.h - decimal numbers to doubles and back, exactly -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A number is a quotient of two integers of any size, of which binary or decimal digits are taken by
// subtraction: slow, short, and correctly rounded.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_LLVM_LIBRARY_DECIMAL_H
#define TENON_COMPILER_BACKEND_LLVM_LIBRARY_DECIMAL_H

#include <stdint.h>

/// The maximum number of digits that are read; the rest count as one nonzero digit.
#define MAX_DIGITS 800

/// digits[0].digits[1]... * 10^exponent, digits from 0 to 9.
struct Decimal {
  uint8_t digits[MAX_DIGITS + 1];
  int count, exponent;
};

/// The double that is nearest, ties to even.
double decimalToDouble(const struct Decimal *decimal);

/// Computes the shortest decimal that rounds to `value` as a double or, if `isSingle`, as a float. `value` must be
/// finite and positive.
void doubleToDecimal(double value, int isSingle, struct Decimal *decimal);

#endif // TENON_COMPILER_BACKEND_LLVM_LIBRARY_DECIMAL_H
