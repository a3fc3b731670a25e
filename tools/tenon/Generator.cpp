//===- Generator.cpp - a decoder that goes on with a text -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/Generator.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <iterator>

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

/// Checks that inputs other than the tokens are those of a text's first run.
Status Generator::checkInputs(uint32_t count) {
  for (uint32_t i = 1; i < count; ++i) {
    tenon_tensor_info input;
    tenon_error error;
    TENON_TRY(check(tenon_artifact_input(handles.artifact.get(), i, &input, &error), error));
    tenon_dim_info dim{};
    if (input.rank > 0)
      TENON_TRY(check(tenon_artifact_input_dim(handles.artifact.get(), i, 0, &dim, &error), error));
    if (dim.value != 1 || input.role != TENON_ROLE_VALUE)
      return Status::make(
          TENON_UNSUPPORTED,
          "%s: is not a language model: beside input_ids, that takes inputs of a text's first run alone, "
          "[1, ...], and '%s' is another one",
          model.c_str(), input.name);
    others.push_back({{}, input.dtype, {}});
  }
  return {};
}

Status Generator::checkModel() {
  tenon_artifact_info info;
  tenon_artifact_describe(handles.artifact.get(), &info);
  model = info.model;
  tenon_error error;
  auto refuse = [&](const char *text) { return Status::make(TENON_UNSUPPORTED, "%s: %s", info.model, text); };
  tenon_tensor_info input, logitsInfo, tokenInfo;
  if (info.input_count < 1 || info.output_count < 1)
    return refuse("is not a language model: that takes an input input_ids, and has the outputs logits and token");
  TENON_TRY(check(tenon_artifact_input(handles.artifact.get(), 0, &input, &error), error));
  TENON_TRY(check(tenon_artifact_output(handles.artifact.get(), 0, &logitsInfo, &error), error));
  bool isModel = strcmp(input.name, "input_ids") == 0 && input.dtype == TENON_I64 && input.rank == 2 &&
                 strcmp(logitsInfo.name, "logits") == 0 && logitsInfo.dtype == TENON_F32;
  if (!isModel)
    return refuse("is not a language model: that takes an input input_ids of i64 and has an output logits of f32");
  if (info.state_count == 0 || logitsInfo.rank != 2)
    return refuse("keeps no keys and values from run to run; compile it with --context TOKENS");
  if (info.output_count != 2)
    return refuse("has no output token, the next one of a text; compile it again with --context TOKENS");
  TENON_TRY(check(tenon_artifact_output(handles.artifact.get(), 1, &tokenInfo, &error), error));
  if (strcmp(tokenInfo.name, "token") != 0 || tokenInfo.dtype != TENON_I64 || tokenInfo.rank != 1)
    return refuse("has a second output other than token of i64, the next one of a text");
  TENON_TRY(checkInputs(info.input_count));
  TENON_TRY(checkStates(info.state_count));
  if (context == SIZE_MAX)
    return refuse("has no state that grows with a text");
  tenon_dim_info dim;
  TENON_TRY(check(tenon_artifact_output_dim(handles.artifact.get(), 0, 1, &dim, &error), error));
  if (dim.value < 1)
    return refuse("has a vocabulary without a size");
  vocabulary = static_cast<size_t>(dim.value);
  return {};
}

/// Finds the capacity for a text, and the states that say how its tokens are sampled.
Status Generator::checkStates(uint32_t count) {
  constexpr int64_t kSettings = std::size(Sampling{}.settings);
  context = SIZE_MAX;
  for (uint32_t i = 0; i < count; ++i) {
    tenon_state_info state;
    tenon_error error;
    TENON_TRY(check(tenon_artifact_state(handles.artifact.get(), i, &state, &error), error));
    bool isWhole = state.kind == TENON_STATE_WHOLE;
    if (state.kind == TENON_STATE_RING)
      return Status::make(TENON_UNSUPPORTED, "%s: keeps states that do not grow with a text", model.c_str());
    if (state.kind == TENON_STATE_GROWING)
      context = std::min(context, static_cast<size_t>(state.dims[0]));
    else if (isWhole && strcmp(state.name, "sampling") == 0 && state.dtype == TENON_F32 && state.rank == 2 &&
             state.dims[0] == 1 && state.dims[1] == kSettings)
      samplingState = i;
    else if (isWhole && strcmp(state.name, "seed") == 0 && state.dtype == TENON_I64 && state.rank == 1 &&
             state.dims[0] == 1)
      seedState = i;
    else if (isWhole && strcmp(state.name, "begin") == 0 && state.dtype == TENON_I64 && state.rank == 1 &&
             state.dims[0] == 1)
      beginState = i;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Sampling
//===----------------------------------------------------------------------===//

Status Generator::setSampling(const text::SamplingOptions &options, uint64_t seed, uint32_t text) {
  if (!samplingState || !seedState) {
    if (options.temperature > 0 || options.repetitionPenalty != 1)
      return Status::make(TENON_UNSUPPORTED, "%s: takes no temperature or penalty: it has no states sampling and seed",
                          model.c_str());
    return {};
  }
  texts[text].sampling = {{static_cast<float>(options.temperature), static_cast<float>(options.repetitionPenalty),
                           static_cast<float>(options.topK), static_cast<float>(options.topP),
                           static_cast<float>(options.minP)},
                          static_cast<int64_t>(seed)};
  return applySampling(text);
}

/// Writes the settings of a text to its slot.
Status Generator::applySampling(uint32_t text) {
  std::optional<Sampling> &sampling = texts[text].sampling;
  if (!sampling)
    return {};
  tenon_error error;
  int64_t dims[] = {1, static_cast<int64_t>(std::size(sampling->settings))};
  tenon_tensor settings = {TENON_F32, 2, dims, sampling->settings}, seed = {TENON_I64, 1, dims, &sampling->seed};
  TENON_TRY(check(tenon_session_set_state(handles.session.get(), text, *samplingState, &settings, &error), error));
  return check(tenon_session_set_state(handles.session.get(), text, *seedState, &seed, &error), error);
}

/// Tells a model that suppresses tokens at the beginning where that is.
Status Generator::setPromptLength(size_t length, uint32_t text) {
  if (!beginState)
    return {};
  tenon_error error;
  int64_t dims[] = {1}, value = static_cast<int64_t>(length);
  tenon_tensor tensor = {TENON_I64, 1, dims, &value};
  return check(tenon_session_set_state(handles.session.get(), text, *beginState, &tensor, &error), error);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Binds the other inputs of a text's first run, or none of their elements in later runs.
Status Generator::bindOthers(bool isFirstRun) {
  for (size_t i = 0; i < others.size(); ++i) {
    if (others[i].dims.empty())
      return Status::make(TENON_UNSUPPORTED, "%s: a text begins with more than tokens, which is not given",
                          model.c_str());
    std::vector<int64_t> dims = others[i].dims;
    dims[0] = isFirstRun ? dims[0] : 0;
    tenon_tensor tensor = {others[i].dtype, static_cast<uint32_t>(dims.size()), dims.data(),
                           isFirstRun ? others[i].memory.bytes() : nullptr};
    tenon_error error;
    TENON_TRY(
        check(tenon_session_bind_input(handles.session.get(), static_cast<uint32_t>(i) + 1, &tensor, &error), error));
  }
  return {};
}

Status Generator::run(const std::vector<int64_t> &ids, int64_t batch, bool isFirstRun) {
  int64_t dims[] = {batch, static_cast<int64_t>(ids.size()) / batch};
  tenon_tensor tensor = {TENON_I64, 2, dims, const_cast<int64_t *>(ids.data())}, scores, tokens;
  tenon_error error;
  TENON_TRY(check(tenon_session_bind_input(handles.session.get(), 0, &tensor, &error), error));
  TENON_TRY(bindOthers(isFirstRun));
  TENON_TRY(check(tenon_session_run(handles.session.get(), &error), error));
  TENON_TRY(check(tenon_session_output(handles.session.get(), 0, &scores, &error), error));
  TENON_TRY(check(tenon_session_output(handles.session.get(), 1, &tokens, &error), error));
  logits = static_cast<const float *>(scores.data);
  nextTokens = static_cast<const int64_t *>(tokens.data);
  return {};
}

/// Returns the token that follows a sequence of the last run.
uint32_t Generator::readNext(size_t sequence) const {
  int64_t token = nextTokens[sequence];
  assert(token >= 0 && static_cast<size_t>(token) < vocabulary && "a model samples a token that it has");
  return static_cast<uint32_t>(token);
}

/// Appends tokens to a text in one run.
Status Generator::append(const uint32_t *tokens, size_t count, uint32_t text) {
  tenon_error error;
  TENON_TRY(check(tenon_session_use_slot(handles.session.get(), text, &error), error));
  TENON_TRY(run({tokens, tokens + count}, 1, texts[text].tokens.empty()));
  texts[text].next = readNext(0);
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
    TENON_TRY(applySampling(text));
  }
  TENON_TRY(setPromptLength(tokens.size(), text));
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
  TENON_TRY(run(ids, batch, /*isFirstRun=*/false));
  for (size_t i = 0; i < count; ++i) {
    texts[next[i].text].next = readNext(i);
    texts[next[i].text].tokens.push_back(next[i].token);
  }
  return {};
}
