//===- PostProcessors.h - what is added around the tokens of a text -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_POSTPROCESSORS_H
#define TENON_RUNTIME_TEXT_POSTPROCESSORS_H

#include "runtime/text/Encoding.h"
#include "runtime/text/Json.h"

#include <memory>

namespace tenon::text {

/// Adds special tokens to one or two encodings, sets type ids and trims offsets.
class PostProcessor {
public:
  virtual ~PostProcessor() = default;

  /// Tokens that are added to one text or to two.
  virtual size_t countAdded(bool isPair) const { return 0; }

  /// Replaces `encodings` by those that are to be concatenated.
  virtual Status process(std::vector<Encoding> &encodings, bool addsSpecialTokens) const = 0;
};

/// Creates the processor for `json`, the field "post_processor" of a tokenizer.json; for null, one that does nothing.
/// Fails with TENON_UNSUPPORTED, and the name, if a processor is not supported.
Status makePostProcessor(const Json &json, std::unique_ptr<PostProcessor> &processor);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_POSTPROCESSORS_H
