//===- numbers.c - numbers as text ----------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Read as ONNX's Cast says: plain or scientific, and INF and NaN in any case. Written with the fewest digits
// that tell the number from others of its type, in Python's layout, but INF, -INF and NaN.
//
//===----------------------------------------------------------------------===//

#include "decimal.h"
#include "text.h"

/// The bytes reserved for each number, and the most that it takes.
#define SLOT 32

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static bool isDigit(struct Text text) { return text.size && *text.at >= '0' && *text.at <= '9'; }

static bool take(struct Text *text, char c) {
  if (!text->size || *text->at != (uint8_t)c)
    return false;
  ++text->at;
  --text->size;
  return true;
}

/// True if the rest of the text equals `word`, ignoring case; `word` is in lower case.
static bool isWord(struct Text text, const char *word) {
  for (; text.size && *word; ++text.at, --text.size, ++word)
    if ((*text.at | 0x20) != (uint8_t)*word)
      return false;
  return !text.size && !*word;
}

/// Reads the digits of a number, and counts those before the point. Returns false if there are none.
static bool takeDigits(struct Text *text, struct Decimal *decimal) {
  bool any = false, afterPoint = false;
  decimal->count = 0;
  decimal->exponent = -1;
  while (isDigit(*text) || (!afterPoint && text->size && *text->at == '.')) {
    if (take(text, '.')) {
      afterPoint = true;
      continue;
    }
    uint8_t digit = *text->at - '0';
    any = true;
    take(text, (char)*text->at);
    bool leads = decimal->count == 0 && digit == 0;
    if (!leads && decimal->count < MAX_DIGITS)
      decimal->digits[decimal->count++] = digit;
    else if (!leads && digit)
      decimal->digits[decimal->count - 1] |= 1;
    // Leading zeros after the point decrease the exponent; other digits before the point increase it.
    if (leads == afterPoint && decimal->exponent < 1000000 && decimal->exponent > -1000000)
      decimal->exponent += leads ? -1 : 1;
  }
  return any;
}

static bool takeExponent(struct Text *text, struct Decimal *decimal) {
  if (!take(text, 'e') && !take(text, 'E'))
    return true;
  bool isNegative = take(text, '-');
  if (!isNegative)
    take(text, '+');
  if (!isDigit(*text))
    return false;
  int exponent = 0;
  for (; isDigit(*text); take(text, (char)*text->at))
    exponent = exponent < 1000000 ? exponent * 10 + *text->at - '0' : exponent;
  decimal->exponent += isNegative ? -exponent : exponent;
  return true;
}

static bool readNumber(struct Text text, double *value) {
  bool isNegative = take(&text, '-');
  if (!isNegative)
    take(&text, '+');
  struct Decimal decimal;
  if (isWord(text, "inf") || isWord(text, "infinity"))
    *value = __builtin_inf();
  else if (isWord(text, "nan"))
    *value = __builtin_nan("");
  else if (takeDigits(&text, &decimal) && takeExponent(&text, &decimal) && !text.size)
    *value = decimalToDouble(&decimal);
  else
    return false;
  *value = isNegative ? -*value : *value;
  return true;
}

/// Reads a signed 64-bit integer; a fraction or an exponent is truncated.
static bool readInteger(struct Text text, int64_t *value) {
  struct Text all = text;
  bool isNegative = take(&text, '-'), fits = true;
  if (!isNegative)
    take(&text, '+');
  uint64_t size = 0;
  bool any = isDigit(text);
  for (; isDigit(text); take(&text, (char)*text.at))
    fits &=
        !__builtin_mul_overflow(size, 10, &size) && !__builtin_add_overflow(size, (uint64_t)(*text.at - '0'), &size);
  if (any && !text.size) {
    *value = (int64_t)(isNegative ? -size : size);
    return fits && (!isNegative || size <= (uint64_t)INT64_MAX + 1);
  }
  double number;
  if (!readNumber(all, &number) || !(number > -9223372036854775808.0 && number < 9223372036854775808.0))
    return false;
  *value = (int64_t)number;
  return true;
}

KERNEL(tenon_read_numbers) {
  struct Strings strings = stringsIn(buffers, sizes, 0);
  struct Text text;
  for (int64_t i = 0; i < strings.count; ++i)
    if (!takeText(&strings, i, &text) || !readNumber(text, (double *)buffers[2] + i))
      return TENON_KERNEL_BAD_VALUE;
  return TENON_KERNEL_OK;
}
FACTS(tenon_read_numbers, 3, READS_STRINGS(0), TENON_WRITES(TENON_ELEMENTS(1, 8)));

KERNEL(tenon_read_integers) {
  struct Strings strings = stringsIn(buffers, sizes, 0);
  struct Text text;
  for (int64_t i = 0; i < strings.count; ++i)
    if (!takeText(&strings, i, &text) || !readInteger(text, (int64_t *)buffers[2] + i))
      return TENON_KERNEL_BAD_VALUE;
  return TENON_KERNEL_OK;
}
FACTS(tenon_read_integers, 3, READS_STRINGS(0), TENON_WRITES(TENON_ELEMENTS(1, 8)));

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static uint8_t *putWord(uint8_t *to, const char *word) {
  while (*word)
    *to++ = (uint8_t)*word++;
  return to;
}

static uint8_t *putInteger(uint8_t *to, uint64_t value) {
  uint8_t digits[20];
  int count = 0;
  do
    digits[count++] = (uint8_t)('0' + value % 10);
  while (value /= 10);
  while (count)
    *to++ = digits[--count];
  return to;
}

/// Writes digits `from` to `to` of a decimal, with zeros after the last one.
static uint8_t *putDigits(uint8_t *at, const struct Decimal *decimal, int from, int to) {
  for (int i = from; i < to; ++i)
    *at++ = (uint8_t)('0' + (i >= 0 && i < decimal->count ? decimal->digits[i] : 0));
  return at;
}

static uint8_t *putDecimal(uint8_t *to, const struct Decimal *decimal) {
  int point = decimal->exponent + 1, count = decimal->count;
  bool isPlain = decimal->exponent >= -4 && decimal->exponent < 16;
  if (isPlain && point > 0) {
    to = putDigits(to, decimal, 0, point);
    *to++ = '.';
    return putDigits(to, decimal, point, count > point ? count : point + 1);
  }
  if (isPlain) {
    to = putWord(to, "0.");
    return putDigits(to, decimal, point, count);
  }
  to = putDigits(to, decimal, 0, 1);
  if (count > 1) {
    *to++ = '.';
    to = putDigits(to, decimal, 1, count);
  }
  *to++ = 'e';
  *to++ = decimal->exponent < 0 ? '-' : '+';
  int size = decimal->exponent < 0 ? -decimal->exponent : decimal->exponent;
  if (size < 10)
    *to++ = '0';
  return putInteger(to, (uint64_t)size);
}

static uint8_t *putNumber(uint8_t *to, double value, bool isSingle) {
  if (value != value)
    return putWord(to, "NaN");
  if (__builtin_signbit(value))
    *to++ = '-';
  value = __builtin_fabs(value);
  if (__builtin_isinf(value))
    return putWord(to, "INF");
  if (value == 0)
    return putWord(to, "0.0");
  struct Decimal decimal;
  doubleToDecimal(value, isSingle, &decimal);
  return putDecimal(to, &decimal);
}

/// Inputs are numbers, and whether they were 32-bit floats; results are a slot of bytes for each, and the number of
/// bytes used.
KERNEL(tenon_write_numbers) {
  const double *values = buffers[0];
  bool isSingle = *(const int64_t *)buffers[1];
  for (int64_t i = 0; i < sizes[0]; ++i) {
    uint8_t *slot = (uint8_t *)buffers[2] + i * SLOT;
    ((int64_t *)buffers[3])[i] = putNumber(slot, values[i], isSingle) - slot;
  }
  return TENON_KERNEL_OK;
}
FACTS(tenon_write_numbers, 4, TENON_READS(TENON_ELEMENTS(0, 8)), TENON_READS(TENON_NUMBER(8)),
      TENON_WRITES(TENON_ELEMENTS(0, SLOT)), TENON_WRITES(TENON_ELEMENTS(0, 8)));

/// The same for integers, and whether they are unsigned.
KERNEL(tenon_write_integers) {
  const int64_t *values = buffers[0];
  bool isUnsigned = *(const int64_t *)buffers[1];
  for (int64_t i = 0; i < sizes[0]; ++i) {
    uint8_t *slot = (uint8_t *)buffers[2] + i * SLOT, *at = slot;
    bool isNegative = !isUnsigned && values[i] < 0;
    if (isNegative)
      *at++ = '-';
    at = putInteger(at, isNegative ? -(uint64_t)values[i] : (uint64_t)values[i]);
    ((int64_t *)buffers[3])[i] = at - slot;
  }
  return TENON_KERNEL_OK;
}
FACTS(tenon_write_integers, 4, TENON_READS(TENON_ELEMENTS(0, 8)), TENON_READS(TENON_NUMBER(8)),
      TENON_WRITES(TENON_ELEMENTS(0, SLOT)), TENON_WRITES(TENON_ELEMENTS(0, 8)));
