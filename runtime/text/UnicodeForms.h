//===- UnicodeForms.h - NFC, NFD, NFKC and NFKD ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_UNICODEFORMS_H
#define TENON_RUNTIME_TEXT_UNICODEFORMS_H

#include "runtime/text/AlignedText.h"

namespace tenon::text {

enum class UnicodeForm { nfc, nfd, nfkc, nfkd };

/// Converts a text to a normal form of Unicode 9 (UAX #15); characters that were added later are unchanged. The time is
/// O(n log m) for length n and the longest run m of marks.
void normalize(AlignedText &text, UnicodeForm form);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_UNICODEFORMS_H
