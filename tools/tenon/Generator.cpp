//===- Generator.cpp - a decoder that goes on with a text -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/Generator.h"

#include <algorithm>
#include <cstring>

using namespace tenon;

static Status check(tenon_status status, const tenon_error &error) {
  return status == TENON_OK ? Status() : Status::make(status, "%s", error.message);
}

Status Generator::load(const std::string &path, uint32_t threads, uint64_t weightBudget,
                       const std::string &weightsFolder) {
  tenon_error error;
  tenon_artifact *loaded = nullptr;
  tenon_load_options loadOptions{};
  loadOptions.weights_dir = weightsFolder.empty() ? nullptr : weightsFolder.c_str();
  TENON_TRY(check(tenon_artifact_load_file(path.c_str(), &loadOptions, &loaded, &error), error));
  artifact.reset(loaded);
  TENON_TRY(checkModel());
  tenon_session_options options{};
  options.threads = threads;
  options.weight_budget = weightBudget;
  tenon_session *created = nullptr;
  TENON_TRY(check(tenon_session_create(artifact.get(), &options, &created, &error), error));
  session.reset(created);
  return {};
}

Status Generator::checkModel() {
  tenon_artifact_info info;
  tenon_artifact_describe(artifact.get(), &info);
  model = info.model;
  tenon_error error;
  auto refuse = [&](const char *text) { return Status::make(TENON_UNSUPPORTED, "%s: %s", info.model, text); };
  tenon_tensor_info input, output;
  if (info.input_count != 1 || info.output_count != 1)
    return refuse("is not a language model: that takes one input, input_ids, and one output, logits");
  TENON_TRY(check(tenon_artifact_input(artifact.get(), 0, &input, &error), error));
  TENON_TRY(check(tenon_artifact_output(artifact.get(), 0, &output, &error), error));
  bool isModel = strcmp(input.name, "input_ids") == 0 && input.dtype == TENON_I64 && input.rank == 2 &&
                 strcmp(output.name, "logits") == 0 && output.dtype == TENON_F32;
  if (!isModel)
    return refuse("is not a language model: that takes an input input_ids of i64 and an output logits of f32");
  if (info.state_count == 0 || output.rank != 2)
    return refuse("keeps no keys and values from run to run; compile it with --context TOKENS");
  context = SIZE_MAX;
  for (uint32_t i = 0; i < info.state_count; ++i) {
    tenon_state_info state;
    TENON_TRY(check(tenon_artifact_state(artifact.get(), i, &state, &error), error));
    if (state.kind != TENON_STATE_GROWING)
      return refuse("keeps states that do not grow with a text");
    context = std::min(context, static_cast<size_t>(state.dims[0]));
  }
  tenon_dim_info dim;
  TENON_TRY(check(tenon_artifact_output_dim(artifact.get(), 0, 1, &dim, &error), error));
  if (dim.value < 1)
    return refuse("has a vocabulary without a size");
  vocabulary = static_cast<size_t>(dim.value);
  return {};
}

Status Generator::run(const uint32_t *tokens, size_t count) {
  std::vector<int64_t> ids(tokens, tokens + count);
  int64_t dims[] = {1, static_cast<int64_t>(count)};
  tenon_tensor tensor = {TENON_I64, 2, dims, ids.data()};
  tenon_error error;
  TENON_TRY(check(tenon_session_bind_input(session.get(), 0, &tensor, &error), error));
  TENON_TRY(check(tenon_session_run(session.get(), &error), error));
  TENON_TRY(check(tenon_session_output(session.get(), 0, &tensor, &error), error));
  const auto *values = static_cast<const float *>(tensor.data);
  logits.assign(values, values + vocabulary);
  text.insert(text.end(), tokens, tokens + count);
  return {};
}

Status Generator::push(const std::vector<uint32_t> &tokens, size_t chunk) {
  if (tokens.size() > context - text.size())
    return Status::make(TENON_RESOURCES, "%s: a text of %zu tokens is longer than the context of %zu", model.c_str(),
                        text.size() + tokens.size(), context);
  for (uint32_t token : tokens)
    if (token >= vocabulary)
      return Status::make(TENON_INVALID, "%s: has no token %u: its vocabulary has %zu", model.c_str(), token,
                          vocabulary);
  for (size_t begin = 0; begin < tokens.size(); begin += chunk)
    TENON_TRY(run(tokens.data() + begin, std::min(chunk, tokens.size() - begin)));
  return {};
}

Status Generator::follow(const std::vector<uint32_t> &tokens, size_t chunk) {
  // At least one token has to be run for its logits.
  bool goesOn = tokens.size() > text.size() && std::equal(text.begin(), text.end(), tokens.begin());
  if (!goesOn) {
    tenon_error error;
    TENON_TRY(check(tenon_session_reset_slot(session.get(), 0, &error), error));
    text.clear();
  }
  return push({tokens.begin() + static_cast<ptrdiff_t>(text.size()), tokens.end()}, chunk);
}
