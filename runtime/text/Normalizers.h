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

/// A change of a text. Many threads may call it at the same time.
using Normalizer = std::function<Status(AlignedText &)>;

/// Makes the normalizer that `json`, the field "normalizer" of a tokenizer.json, describes; null describes none. A
/// text may become 64 times as long, and then some, but no longer: a sequence of replacements could double it each
/// time. Fails with TENON_UNSUPPORTED where a normalizer is not known here, and names it.
Status makeNormalizer(const Json &json, Normalizer &normalizer);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_NORMALIZERS_H
