//===- Model.h - from a piece of text to tokens ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_MODEL_H
#define TENON_RUNTIME_TEXT_MODEL_H

#include "runtime/text/Pieces.h"
#include "runtime/text/Vocabulary.h"

#include <memory>

namespace tenon::text {

/// Splits pieces into tokens of a vocabulary. Thread-safe.
class Model {
public:
  virtual ~Model() = default;

  /// Appends the tokens of `piece`, which is nonempty UTF-8.
  virtual Status tokenize(std::string_view piece, std::vector<Token> &tokens) const = 0;

  const Vocabulary &getVocabulary() const { return vocabulary; }

protected:
  /// Returns the number of `token`, which the field `field` names. Fails if there is none.
  Status findRequired(const std::string &token, const char *field, uint32_t &id) const;

  Vocabulary vocabulary;
};

/// Creates the model for the field "model" of a tokenizer.json. Fails with TENON_UNSUPPORTED, and the name, if its type
/// is not supported.
Status makeModel(const Json &json, std::unique_ptr<Model> &model);

// The models, each from its fields.
Status makeBpe(Fields &fields, std::unique_ptr<Model> &model);
Status makeUnigram(Fields &fields, std::unique_ptr<Model> &model);
Status makeWordLevel(Fields &fields, std::unique_ptr<Model> &model);
Status makeWordPiece(Fields &fields, std::unique_ptr<Model> &model);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_MODEL_H
