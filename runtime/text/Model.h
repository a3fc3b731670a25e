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

/// Splits pieces into tokens of a vocabulary. Many threads may use one at the same time.
class Model {
public:
  virtual ~Model() = default;

  /// Appends the tokens of `piece`, UTF-8 that is not empty.
  virtual Status tokenize(std::string_view piece, std::vector<Token> &tokens) const = 0;

  const Vocabulary &getVocabulary() const { return vocabulary; }

protected:
  /// The number of `token`, which the field `field` names. Fails where there is none.
  Status findRequired(const std::string &token, const char *field, uint32_t &id) const;

  Vocabulary vocabulary;
};

/// Makes the model that the field "model" of a tokenizer.json describes. Fails with TENON_UNSUPPORTED where its type is
/// not known here, and names it.
Status makeModel(const Json &json, std::unique_ptr<Model> &model);

// The models, each from its fields.
Status makeBpe(Fields &fields, std::unique_ptr<Model> &model);
Status makeUnigram(Fields &fields, std::unique_ptr<Model> &model);
Status makeWordLevel(Fields &fields, std::unique_ptr<Model> &model);
Status makeWordPiece(Fields &fields, std::unique_ptr<Model> &model);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_MODEL_H
