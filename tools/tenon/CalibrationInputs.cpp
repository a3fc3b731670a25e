//===- CalibrationInputs.cpp - what weights are calibrated with -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/CalibrationInputs.h"
#include "compiler/errors/CompileError.h"
#include "runtime/text/GenerationSettings.h"
#include "runtime/text/Tokenizer.h"
#include "tools/tenon/ErrorInputs.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <cstring>

using namespace tenon;
using rt::Status;

namespace {
/// An input of a model that takes tokens.
struct TokenInput {
  enum class Role { ids, mask, types };
  Role role;
  size_t fixedLength = 0, maxLength = SIZE_MAX; ///< 0: any
};
} // namespace

static llvm::Error toError(const Status &status) {
  return makeError(static_cast<CompileStatus>(status.code()), status.message());
}

static std::optional<TokenInput::Role> findRole(llvm::StringRef name) {
  if (name == "input_ids")
    return TokenInput::Role::ids;
  if (name == "attention_mask")
    return TokenInput::Role::mask;
  return name == "token_type_ids" ? std::optional(TokenInput::Role::types) : std::nullopt;
}

static llvm::Expected<TokenInput> describeInput(const tenon_artifact *artifact, uint32_t number) {
  tenon_tensor_info info;
  tenon_error error;
  if (tenon_status status = tenon_artifact_input(artifact, number, &info, &error))
    return makeError(static_cast<CompileStatus>(status), error.message);
  std::optional<TokenInput::Role> role = findRole(info.name);
  if (!role || info.dtype != TENON_I64 || info.rank != 2)
    return makeError(CompileStatus::unsupported,
                     llvm::Twine("the model takes no text, which would be input_ids, i64[batch, length], with "
                                 "attention_mask or token_type_ids; its input '") +
                         info.name + "' needs a folder with a file of that name");
  tenon_dim_info batch, length;
  for (auto [dim, place] : {std::pair(0, &batch), {1, &length}})
    if (tenon_status status = tenon_artifact_input_dim(artifact, number, dim, place, &error))
      return makeError(static_cast<CompileStatus>(status), error.message);
  if (batch.value > 1 || (batch.value < 0 && batch.min > 1))
    return makeError(CompileStatus::unsupported, "the model runs several texts at a time, which need a folder");
  TokenInput input{*role};
  if (length.value > 0)
    input.fixedLength = input.maxLength = static_cast<size_t>(length.value);
  else if (length.max != INT64_MAX)
    input.maxLength = static_cast<size_t>(length.max);
  return input;
}

static llvm::Expected<std::vector<TokenInput>> describeInputs(const tenon_artifact *artifact) {
  tenon_artifact_info info;
  tenon_artifact_describe(artifact, &info);
  std::vector<TokenInput> inputs;
  for (uint32_t i = 0; i < info.input_count; ++i) {
    llvm::Expected<TokenInput> input = describeInput(artifact, i);
    if (!input)
      return input.takeError();
    inputs.push_back(*input);
  }
  return inputs;
}

static llvm::Expected<std::vector<uint32_t>> readTokens(const std::string &path, const text::Tokenizer &tokenizer) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return makeError(CompileStatus::invalid, path + ": " + file.getError().message());
  std::vector<text::Encoding> encodings;
  if (Status status = tokenizer.encode({{(*file)->getBuffer().str(), std::nullopt}}, {}, encodings); status.failed())
    return makeError(static_cast<CompileStatus>(status.code()), path + ": " + status.message());
  return encodings.front().ids;
}

/// The inputs of a run with `count` tokens. What a model of a fixed length has behind them is none of the text.
static InputSet makeInputs(llvm::ArrayRef<TokenInput> inputs, const uint32_t *tokens, size_t count) {
  InputSet set;
  for (const TokenInput &input : inputs) {
    std::vector<int64_t> values(std::max(count, input.fixedLength));
    if (input.role == TokenInput::Role::ids)
      std::copy_n(tokens, count, values.begin());
    else if (input.role == TokenInput::Role::mask)
      std::fill_n(values.begin(), count, 1);
    std::vector<char> bytes(values.size() * sizeof(int64_t));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    set.push_back({TENON_I64, {1, static_cast<int64_t>(values.size())}, std::move(bytes)});
  }
  return set;
}

static llvm::Error readText(const std::string &path, const std::string &modelFolder, const tenon_artifact *artifact,
                            std::vector<InputSet> &sets) {
  constexpr size_t kUsual = 512; // default: as many tokens as perplexity is measured with
  llvm::Expected<std::vector<TokenInput>> inputs = describeInputs(artifact);
  if (!inputs)
    return prefixError(inputs.takeError(), path + ": ");
  std::unique_ptr<text::Tokenizer> tokenizer;
  if (Status status = text::loadTokenizer(modelFolder, tokenizer); status.failed())
    return toError(status);
  text::GenerationSettings settings;
  if (llvm::sys::fs::exists(modelFolder + "/config.json"))
    if (Status status = settings.read(modelFolder); status.failed())
      return toError(status);
  llvm::Expected<std::vector<uint32_t>> tokens = readTokens(path, *tokenizer);
  if (!tokens)
    return tokens.takeError();
  if (tokens->size() < 2)
    return makeError(CompileStatus::invalid, path + ": has " + llvm::Twine(tokens->size()) +
                                                 " tokens, of which a model computes next to nothing");
  size_t window = std::min(kUsual, settings.positions);
  for (const TokenInput &input : *inputs)
    window = std::min(window, input.fixedLength ? input.fixedLength : input.maxLength);
  for (size_t begin = 0; begin + 1 < tokens->size(); begin += window)
    sets.push_back(makeInputs(*inputs, tokens->data() + begin, std::min(window, tokens->size() - begin)));
  return llvm::Error::success();
}

llvm::Expected<std::vector<InputSet>> tenon::readCalibration(llvm::ArrayRef<std::string> paths,
                                                             const std::string &modelFolder,
                                                             const tenon_artifact *artifact) {
  std::vector<InputSet> sets;
  for (const std::string &path : paths) {
    if (!llvm::sys::fs::exists(path))
      return makeError(CompileStatus::invalid, path + ": No such file or directory");
    if (!llvm::sys::fs::is_directory(path)) {
      if (llvm::Error error = readText(path, modelFolder, artifact, sets))
        return error;
      continue;
    }
    llvm::Expected<std::vector<InputSet>> read = readErrorInputs(path, artifact);
    if (!read)
      return read.takeError();
    std::move(read->begin(), read->end(), std::back_inserter(sets));
  }
  return sets;
}
