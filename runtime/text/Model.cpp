//===- Model.cpp - from a piece of text to tokens -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Model.h"

using namespace tenon::text;

Status Model::findRequired(const std::string &token, const char *field, uint32_t &id) const {
  std::optional<uint32_t> found = vocabulary.find(token);
  if (!found)
    return Status::make(TENON_INVALID, "'%s' is '%s', which the vocabulary does not have", field, token.c_str());
  id = *found;
  return {};
}

/// Infers the type of models in old files, which do not specify it.
static std::string guessType(const Json &json) {
  if (json.contains("merges"))
    return "BPE";
  if (json.contains("vocab") && json["vocab"].is_array())
    return "Unigram";
  return json.contains("max_input_chars_per_word") ? "WordPiece" : "WordLevel";
}

Status tenon::text::makeModel(const Json &json, std::unique_ptr<Model> &model) {
  static constexpr struct {
    const char *type;
    Status (*make)(Fields &, std::unique_ptr<Model> &);
  } kModels[] = {
      {"BPE", makeBpe}, {"Unigram", makeUnigram}, {"WordLevel", makeWordLevel}, {"WordPiece", makeWordPiece}};
  Fields fields(json, "model");
  TENON_TRY(fields.takeStatus());
  std::string type = fields.getString("type", guessType(json));
  for (const auto &[name, make] : kModels)
    if (type == name)
      return make(fields, model);
  fields.failUnknown("type", type, "BPE, Unigram, WordLevel and WordPiece");
  return fields.takeStatus();
}

//===----------------------------------------------------------------------===//
// Whole words
//===----------------------------------------------------------------------===//

namespace {
class WordLevel : public Model {
public:
  Status read(Fields &fields) {
    unknown = fields.getString("unk_token");
    const Json &words = fields.getObject("vocab");
    TENON_TRY(fields.takeStatus());
    return vocabulary.read(words);
  }

  Status tokenize(std::string_view piece, std::vector<Token> &tokens) const override {
    if (std::optional<uint32_t> id = vocabulary.find(piece)) {
      tokens.push_back({*id, std::string(piece), 0, piece.size()});
      return {};
    }
    uint32_t id = 0;
    TENON_TRY(findRequired(unknown, "model.unk_token", id));
    tokens.push_back({id, unknown, 0, piece.size()});
    return {};
  }

private:
  std::string unknown;
};
} // namespace

Status tenon::text::makeWordLevel(Fields &fields, std::unique_ptr<Model> &model) {
  auto words = std::make_unique<WordLevel>();
  TENON_TRY(words->read(fields));
  model = std::move(words);
  return {};
}
