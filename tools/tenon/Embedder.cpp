//===- Embedder.cpp - an encoder that makes vectors of texts --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/Embedder.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace tenon;

static Status check(tenon_status status, const tenon_error &error) { return ModelSession::check(status, error); }

Status Embedder::load(const std::string &path, const ModelOptions &options, std::optional<TokenPooling> pooling) {
  TENON_TRY(handles.load(path, options));
  TENON_TRY(findInputs());
  TENON_TRY(findOutput(pooling));
  return handles.start(options);
}

Status Embedder::findInputs() {
  static constexpr struct {
    const char *name;
    Role role;
  } kRoles[] = {{"input_ids", Role::ids}, {"attention_mask", Role::mask}, {"token_type_ids", Role::types}};
  tenon_artifact_info info;
  tenon_artifact_describe(handles.artifact.get(), &info);
  tenon_error error;
  for (uint32_t i = 0; i < info.input_count; ++i) {
    tenon_tensor_info tensor;
    TENON_TRY(check(tenon_artifact_input(handles.artifact.get(), i, &tensor, &error), error));
    auto role = std::find_if(std::begin(kRoles), std::end(kRoles),
                             [&](const auto &known) { return strcmp(known.name, tensor.name) == 0; });
    bool isInteger = tensor.dtype == TENON_I64 || tensor.dtype == TENON_I32;
    if (role == std::end(kRoles) || tensor.rank != 2 || !isInteger)
      return Status::make(TENON_UNSUPPORTED,
                          "%s: the input '%s' is not one of an encoder; known are input_ids, attention_mask "
                          "and token_type_ids, integers of [batch, length]",
                          info.model, tensor.name);
    inputs.push_back({role->role, tensor.dtype, {}});
    tenon_dim_info batch, length;
    TENON_TRY(check(tenon_artifact_input_dim(handles.artifact.get(), i, 0, &batch, &error), error));
    TENON_TRY(check(tenon_artifact_input_dim(handles.artifact.get(), i, 1, &length, &error), error));
    fixedBatch = static_cast<size_t>(std::max<int64_t>(batch.value, 0));
    fixedLength = static_cast<size_t>(std::max<int64_t>(length.value, 0));
    if (length.value < 0 && length.max != INT64_MAX)
      maxLength = std::min(maxLength, static_cast<size_t>(length.max));
    if (fixedLength != 0)
      maxLength = fixedLength;
  }
  bool hasIds = std::any_of(inputs.begin(), inputs.end(), [](const Input &input) { return input.role == Role::ids; });
  return hasIds ? Status() : Status::make(TENON_UNSUPPORTED, "%s: has no input 'input_ids'", info.model);
}

Status Embedder::findOutput(std::optional<TokenPooling> pooling) {
  tenon_artifact_info info;
  tenon_artifact_describe(handles.artifact.get(), &info);
  tenon_error error;
  bool hasTokens = false;
  for (uint32_t i = 0; i < info.output_count; ++i) {
    tenon_tensor_info tensor;
    TENON_TRY(check(tenon_artifact_output(handles.artifact.get(), i, &tensor, &error), error));
    bool isSentence = strcmp(tensor.name, "sentence_embedding") == 0 && tensor.rank == 2;
    bool isTokens = strcmp(tensor.name, "last_hidden_state") == 0 && tensor.rank == 3;
    if (tensor.dtype != TENON_F32 || !(isSentence || isTokens))
      continue;
    hasTokens |= isTokens;
    if (pooling ? isTokens : isSentence) {
      output = i;
      tokenPooling = pooling;
      return {};
    }
  }
  if (pooling || !hasTokens)
    return Status::make(TENON_UNSUPPORTED, "%s: has no output '%s' of f32", info.model,
                        pooling ? "last_hidden_state" : "sentence_embedding");
  return Status::make(TENON_MISUSE,
                      "%s: has no output 'sentence_embedding': the model's folder does not say in modules.json "
                      "how vectors of tokens become one; say --pooling mean or --pooling first",
                      info.model);
}

/// Writes the values of a batch; the remaining rows of a fixed batch repeat the first one.
void Embedder::fill(const std::vector<text::Encoding> &batch, size_t rows, size_t length, Input &input) const {
  input.values.assign(rows * length, 0);
  for (size_t i = 0; i < rows * length; ++i) {
    const text::Encoding &encoding = batch[i / length < batch.size() ? i / length : 0];
    size_t at = i % length;
    int64_t value = input.role == Role::ids    ? encoding.ids[at]
                    : input.role == Role::mask ? encoding.attentionMask[at]
                                               : encoding.typeIds[at];
    if (input.dtype == TENON_I64) {
      input.values[i] = value;
      continue;
    }
    auto narrow = static_cast<int32_t>(value);
    memcpy(reinterpret_cast<char *>(input.values.data()) + i * sizeof narrow, &narrow, sizeof narrow);
  }
}

Status Embedder::run(const std::vector<text::Encoding> &batch, std::vector<std::vector<float>> &vectors) {
  if (batch.empty())
    return {};
  size_t rows = fixedBatch != 0 ? fixedBatch : batch.size(), length = batch.front().size();
  if (length == 0)
    return Status::make(TENON_INVALID, "a text without tokens has no vector");
  int64_t dims[] = {static_cast<int64_t>(rows), static_cast<int64_t>(length)};
  tenon_error error;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    fill(batch, rows, length, inputs[i]);
    tenon_tensor tensor = {inputs[i].dtype, 2, dims, inputs[i].values.data()};
    TENON_TRY(check(tenon_session_bind_input(handles.session.get(), i, &tensor, &error), error));
  }
  TENON_TRY(check(tenon_session_run(handles.session.get(), &error), error));
  tenon_tensor tensor;
  TENON_TRY(check(tenon_session_output(handles.session.get(), output, &tensor, &error), error));
  return pool(batch, tensor, vectors);
}

Status Embedder::pool(const std::vector<text::Encoding> &batch, const tenon_tensor &tensor,
                      std::vector<std::vector<float>> &vectors) const {
  if (static_cast<size_t>(tensor.dims[0]) < batch.size())
    return Status::make(TENON_INVALID, "the model has made %lld vectors of %zu texts",
                        static_cast<long long>(tensor.dims[0]), batch.size());
  size_t tokens = tokenPooling ? static_cast<size_t>(tensor.dims[1]) : 1;
  auto size = static_cast<size_t>(tensor.dims[tensor.rank - 1]);
  const auto *values = static_cast<const float *>(tensor.data);
  for (size_t row = 0; row < batch.size(); ++row) {
    std::vector<double> sums(size);
    double count = 0;
    for (size_t token = 0; token < tokens; ++token) {
      bool isCounted = !tokenPooling || (*tokenPooling == TokenPooling::first
                                             ? token == 0
                                             : token < batch[row].size() && batch[row].attentionMask[token] != 0);
      count += isCounted;
      for (size_t i = 0; isCounted && i < size; ++i)
        sums[i] += values[(row * tokens + token) * size + i];
    }
    std::vector<float> &vector = vectors.emplace_back(size);
    for (size_t i = 0; i < size; ++i)
      vector[i] = static_cast<float>(sums[i] / std::max(count, 1.0));
  }
  return {};
}

void tenon::normalizeVector(std::vector<float> &vector) {
  double square = 0;
  for (float value : vector)
    square += static_cast<double>(value) * value;
  for (float &value : vector)
    value = static_cast<float>(value / (square > 0 ? std::sqrt(square) : 1));
}
