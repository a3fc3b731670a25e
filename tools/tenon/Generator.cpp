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

static Status check(tenon_status status, const tenon_error &error) { return ModelSession::check(status, error); }

Status Generator::load(const std::string &path, const ModelOptions &options, uint32_t numTexts) {
  TENON_TRY(handles.load(path, options));
  TENON_TRY(checkModel());
  TENON_TRY(readPrograms());
  TENON_TRY(handles.start(options, numTexts));
  texts.resize(numTexts);
  return {};
}

/// Lists the numbers of sequences for which there are programs.
Status Generator::readPrograms() {
  for (uint32_t i = 0; i < tenon_artifact_program_count(handles.artifact.get()); ++i) {
    tenon_program_info program;
    tenon_error error;
    TENON_TRY(check(tenon_artifact_program(handles.artifact.get(), i, &program, &error), error));
    if (program.sequences > 1)
      batches.push_back(program.sequences);
  }
  std::sort(batches.begin(), batches.end());
  return {};
}

Status Generator::checkModel() {
  tenon_artifact_info info;
  tenon_artifact_describe(handles.artifact.get(), &info);
  model = info.model;
  tenon_error error;
  auto refuse = [&](const char *text) { return Status::make(TENON_UNSUPPORTED, "%s: %s", info.model, text); };
  tenon_tensor_info input, output;
  if (info.input_count != 1 || info.output_count != 1)
    return refuse("is not a language model: that takes one input, input_ids, and one output, logits");
  TENON_TRY(check(tenon_artifact_input(handles.artifact.get(), 0, &input, &error), error));
  TENON_TRY(check(tenon_artifact_output(handles.artifact.get(), 0, &output, &error), error));
  bool isModel = strcmp(input.name, "input_ids") == 0 && input.dtype == TENON_I64 && input.rank == 2 &&
                 strcmp(output.name, "logits") == 0 && output.dtype == TENON_F32;
  if (!isModel)
    return refuse("is not a language model: that takes an input input_ids of i64 and an output logits of f32");
  if (info.state_count == 0 || output.rank != 2)
    return refuse("keeps no keys and values from run to run; compile it with --context TOKENS");
  context = SIZE_MAX;
  for (uint32_t i = 0; i < info.state_count; ++i) {
    tenon_state_info state;
    TENON_TRY(check(tenon_artifact_state(handles.artifact.get(), i, &state, &error), error));
    if (state.kind != TENON_STATE_GROWING)
      return refuse("keeps states that do not grow with a text");
    context = std::min(context, static_cast<size_t>(state.dims[0]));
  }
  tenon_dim_info dim;
  TENON_TRY(check(tenon_artifact_output_dim(handles.artifact.get(), 0, 1, &dim, &error), error));
  if (dim.value < 1)
    return refuse("has a vocabulary without a size");
  vocabulary = static_cast<size_t>(dim.value);
  return {};
}

Status Generator::run(const std::vector<int64_t> &ids, int64_t batch, tenon_tensor *logits) {
  int64_t dims[] = {batch, static_cast<int64_t>(ids.size()) / batch};
  tenon_tensor tensor = {TENON_I64, 2, dims, const_cast<int64_t *>(ids.data())};
  tenon_error error;
  TENON_TRY(check(tenon_session_bind_input(handles.session.get(), 0, &tensor, &error), error));
  TENON_TRY(check(tenon_session_run(handles.session.get(), &error), error));
  return check(tenon_session_output(handles.session.get(), 0, logits, &error), error);
}

/// Appends tokens to a text in one run.
Status Generator::append(const uint32_t *tokens, size_t count, uint32_t text) {
  tenon_error error;
  TENON_TRY(check(tenon_session_use_slot(handles.session.get(), text, &error), error));
  tenon_tensor logits;
  TENON_TRY(run({tokens, tokens + count}, 1, &logits));
  const auto *values = static_cast<const float *>(logits.data);
  texts[text].logits.assign(values, values + vocabulary);
  texts[text].tokens.insert(texts[text].tokens.end(), tokens, tokens + count);
  return {};
}

Status Generator::checkTokens(const uint32_t *tokens, size_t count, uint32_t text) const {
  size_t length = getLength(text);
  if (count > context - length)
    return Status::make(TENON_RESOURCES, "%s: a text of %zu tokens is longer than the context of %zu", model.c_str(),
                        length + count, context);
  for (size_t i = 0; i < count; ++i)
    if (tokens[i] >= vocabulary)
      return Status::make(TENON_INVALID, "%s: has no token %u: its vocabulary has %zu", model.c_str(), tokens[i],
                          vocabulary);
  return {};
}

Status Generator::push(const std::vector<uint32_t> &tokens, size_t chunk, uint32_t text) {
  TENON_TRY(checkTokens(tokens.data(), tokens.size(), text));
  for (size_t begin = 0; begin < tokens.size(); begin += chunk)
    TENON_TRY(append(tokens.data() + begin, std::min(chunk, tokens.size() - begin), text));
  return {};
}

Status Generator::follow(const std::vector<uint32_t> &tokens, size_t chunk, uint32_t text) {
  std::vector<uint32_t> &known = texts[text].tokens;
  // At least one token has to be run for its logits.
  bool goesOn = tokens.size() > known.size() && std::equal(known.begin(), known.end(), tokens.begin());
  if (!goesOn) {
    tenon_error error;
    TENON_TRY(check(tenon_session_reset_slot(handles.session.get(), text, &error), error));
    known.clear();
  }
  return push({tokens.begin() + static_cast<ptrdiff_t>(known.size()), tokens.end()}, chunk, text);
}

Status Generator::step(const std::vector<Next> &next) {
  for (const Next &one : next)
    TENON_TRY(checkTokens(&one.token, 1, one.text));
  size_t most = getMostSequences();
  for (size_t begin = 0; begin < next.size(); begin += most)
    TENON_TRY(stepTogether(next.data() + begin, std::min(most, next.size() - begin)));
  return {};
}

/// Appends tokens in one run, of the smallest program for so many sequences. The others of its sequences have no slot.
Status Generator::stepTogether(const Next *next, size_t count) {
  if (count == 1)
    return append(&next->token, 1, next->text);
  uint32_t batch = *std::lower_bound(batches.begin(), batches.end(), count);
  std::vector<uint32_t> slots(batch, TENON_NO_SLOT);
  std::vector<int64_t> ids(batch);
  for (size_t i = 0; i < count; ++i) {
    slots[i] = next[i].text;
    ids[i] = next[i].token;
  }
  tenon_error error;
  TENON_TRY(check(tenon_session_use_slots(handles.session.get(), slots.data(), batch, &error), error));
  tenon_tensor logits;
  TENON_TRY(run(ids, batch, &logits));
  const auto *values = static_cast<const float *>(logits.data);
  for (size_t i = 0; i < count; ++i, values += vocabulary) {
    texts[next[i].text].logits.assign(values, values + vocabulary);
    texts[next[i].text].tokens.push_back(next[i].token);
  }
  return {};
}
