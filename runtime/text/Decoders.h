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

/// Changes tokens, of which the concatenation is the text. Many threads may call it at the same time.
using Decoder = std::function<Status(std::vector<std::string> &)>;

/// Makes the decoder that `json`, the field "decoder" of a tokenizer.json, describes; for null one that puts spaces
/// between tokens. Fails with TENON_UNSUPPORTED where one is not known here, and names it.
Status makeDecoder(const Json &json, Decoder &decoder);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_DECODERS_H
