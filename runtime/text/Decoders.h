//===- Decoders.h - from tokens back to text ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_DECODERS_H
#define TENON_RUNTIME_TEXT_DECODERS_H

#include "runtime/text/Json.h"

#include <functional>
#include <string>
#include <vector>

namespace tenon::text {

/// Transforms tokens, whose concatenation is the text. Thread-safe.
using Decoder = std::function<Status(std::vector<std::string> &)>;

/// Creates the decoder for `json`, the field "decoder" of a tokenizer.json; for null, one that inserts spaces between
/// tokens. Fails with TENON_UNSUPPORTED, and the name, if a decoder is not supported.
Status makeDecoder(const Json &json, Decoder &decoder);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_DECODERS_H
