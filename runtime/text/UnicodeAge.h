//===- UnicodeAge.h - since when there is a character ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_UNICODEAGE_H
#define TENON_RUNTIME_TEXT_UNICODEAGE_H

namespace tenon::text {

/// True if Unicode added the character after all versions that begin with `version`. False for unassigned characters.
bool isYoungerThan(char32_t character, int version);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_UNICODEAGE_H
