//===- Normalizers.h - what a text becomes before it is split -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_NORMALIZERS_H
#define TENON_RUNTIME_TEXT_NORMALIZERS_H

#include "runtime/text/AlignedText.h"
#include "runtime/text/Json.h"

#include <functional>

namespace tenon::text {

/// A transformation of a text. Thread-safe.
using Normalizer = std::function<Status(AlignedText &)>;

/// Creates the normalizer for `json`, the field "normalizer" of a tokenizer.json; null means none. The growth of a text
/// is limited to a factor of about 64: a sequence of replacements could double it each time. Fails with
/// TENON_UNSUPPORTED, and the name, if a normalizer is not supported.
Status makeNormalizer(const Json &json, Normalizer &normalizer);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_NORMALIZERS_H
