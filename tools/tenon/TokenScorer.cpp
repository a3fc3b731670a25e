//===- TokenScorer.cpp - a language model that tells how probable tokens are ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/TokenScorer.h"

#include <algorithm>
#include <cstring>

using namespace tenon;

static Status check(tenon_status status, const tenon_error &error) { return ModelSession::check(status, error); }

Status TokenScorer::load(const std::string &path, const ModelOptions &options) {
  TENON_TRY(handles.load(path, options));
  tenon_artifact_info info;
  tenon_artifact_describe(handles.artifact.get(), &info);
  model = info.model;
  if (info.state_count > 0) {
    handles.artifact.reset();
    generator = std::make_unique<Generator>();
    TENON_TRY(generator->load(path, options));
    maxLength = generator->getContext();
    vocabulary = generator->getVocabulary();
    return {};
  }
  TENON_TRY(findTensors());
  return handles.start(options);
}

Status TokenScorer::findTensors() {
  tenon_artifact_info info;
  tenon_artifact_describe(handles.artifact.get(), &info);
  tenon_error error;
  auto refuse = [&] {
    return Status::make(TENON_UNSUPPORTED,
                        "%s: is no language model: that takes input_ids, i64[batch, length], and maybe "
                        "attention_mask, and its one output is logits, f32[batch, length, vocabulary]",
                        model.c_str());
  };
  bool hasIds = false;
  for (uint32_t i = 0; i < info.input_count; ++i) {
    tenon_tensor_info tensor;
    TENON_TRY(check(tenon_artifact_input(handles.artifact.get(), i, &tensor, &error), error));
    bool isMask = strcmp(tensor.name, "attention_mask") == 0, isIds = strcmp(tensor.name, "input_ids") == 0;
    if (!(isMask || isIds) || tensor.dtype != TENON_I64 || tensor.rank != 2)
      return refuse();
    (isMask ? maskInput : idsInput) = i;
    hasIds |= isIds;
    tenon_dim_info batch, length;
    TENON_TRY(check(tenon_artifact_input_dim(handles.artifact.get(), i, 0, &batch, &error), error));
    TENON_TRY(check(tenon_artifact_input_dim(handles.artifact.get(), i, 1, &length, &error), error));
    if (batch.value > 1 || (batch.value < 0 && batch.min > 1))
      return Status::make(TENON_UNSUPPORTED, "%s: cannot run with a batch size of 1", model.c_str());
    if (length.value > 0)
      maxLength = fixedLength = static_cast<size_t>(length.value);
    else if (length.max != INT64_MAX)
      maxLength = std::min(maxLength, static_cast<size_t>(length.max));
  }
  tenon_tensor_info output;
  if (info.output_count != 1 || !hasIds)
    return refuse();
  TENON_TRY(check(tenon_artifact_output(handles.artifact.get(), 0, &output, &error), error));
  if (strcmp(output.name, "logits") != 0 || output.dtype != TENON_F32 || output.rank != 3)
    return refuse();
  tenon_dim_info words;
  TENON_TRY(check(tenon_artifact_output_dim(handles.artifact.get(), 0, 2, &words, &error), error));
  if (words.value < 1)
    return Status::make(TENON_UNSUPPORTED, "%s: has a vocabulary without a size", model.c_str());
  vocabulary = static_cast<size_t>(words.value);
  return {};
}

Status TokenScorer::checkTokens(const uint32_t *tokens, size_t count) const {
  if (count > maxLength)
    return Status::make(TENON_RESOURCES, "%s: a text of %zu tokens is longer than the %zu that it takes", model.c_str(),
                        count, maxLength);
  for (size_t i = 0; i < count; ++i)
    if (tokens[i] >= vocabulary)
      return Status::make(TENON_INVALID, "%s: has no token %u: its vocabulary has %zu", model.c_str(), tokens[i],
                          vocabulary);
  return {};
}

Status TokenScorer::run(const uint32_t *tokens, size_t count, std::vector<float> &logits) {
  TENON_TRY(checkTokens(tokens, count));
  return generator ? runSteps(tokens, count, logits) : runWhole(tokens, count, logits);
}

/// Each token is a run.
Status TokenScorer::runSteps(const uint32_t *tokens, size_t count, std::vector<float> &logits) {
  logits.clear();
  for (size_t i = 0; i < count; ++i) {
    // The first token starts a new text.
    TENON_TRY(i == 0 ? generator->follow({tokens[0]}, 1) : generator->push({tokens[i]}, 1));
    logits.insert(logits.end(), generator->getLogits(), generator->getLogits() + vocabulary);
  }
  return {};
}

/// With a fixed length, the text is padded at the end, which does not affect earlier positions of a causal model.
Status TokenScorer::runWhole(const uint32_t *tokens, size_t count, std::vector<float> &logits) {
  size_t length = std::max(fixedLength, count);
  std::vector<int64_t> ids(tokens, tokens + count), mask(length, 1);
  ids.resize(length);
  std::fill(mask.begin() + static_cast<ptrdiff_t>(count), mask.end(), 0);
  int64_t dims[] = {1, static_cast<int64_t>(length)};
  tenon_error error;
  tenon_tensor tensor = {TENON_I64, 2, dims, ids.data()};
  TENON_TRY(check(tenon_session_bind_input(handles.session.get(), idsInput, &tensor, &error), error));
  tenon_tensor masks = {TENON_I64, 2, dims, mask.data()};
  if (maskInput != UINT32_MAX)
    TENON_TRY(check(tenon_session_bind_input(handles.session.get(), maskInput, &masks, &error), error));
  TENON_TRY(check(tenon_session_run(handles.session.get(), &error), error));
  TENON_TRY(check(tenon_session_output(handles.session.get(), 0, &tensor, &error), error));
  if (tensor.dims[1] != static_cast<int64_t>(length))
    return Status::make(TENON_UNSUPPORTED, "%s: gives logits of %lld positions for %zu tokens", model.c_str(),
                        static_cast<long long>(tensor.dims[1]), length);
  const auto *values = static_cast<const float *>(tensor.data);
  logits.assign(values, values + count * vocabulary);
  return {};
}
