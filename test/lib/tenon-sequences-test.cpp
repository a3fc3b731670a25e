//===- tenon-sequences-test.cpp - several sequences beside single ones ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tenon-sequences-test ARTIFACT COUNT STEPS INPUT=DIMS[:MOST]...
//
// Goes on with COUNT texts of different lengths, all of them in one run of the program for so many sequences, and each
// by itself in other slots of the same session, with the same random inputs. A dimension is a number, or `total` for
// the rows of the first state after the run; in a run of several sequences this is that of the longest one, and what is
// behind a shorter one's is never to be read. Integers are from 0 to MOST, the first one of each input MOST. Prints the
// largest difference of an output, relative to its largest value, and fails above 1e-5.
//
//===----------------------------------------------------------------------===//

#include "tenon/runtime.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

struct Input {
  uint32_t index = 0;
  tenon_dtype dtype = TENON_F32;
  std::vector<std::string> dims;
  int64_t most = 1;
};

tenon_error message;

void check(tenon_status status) {
  if (status == TENON_OK)
    return;
  fprintf(stderr, "%s\n", message.message);
  exit(int(status));
}

[[noreturn]] void fail(const std::string &text) {
  fprintf(stderr, "%s\n", text.c_str());
  exit(2);
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts{""};
  for (char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

Input parseInput(const tenon_artifact *artifact, uint32_t numInputs, const std::string &text) {
  std::vector<std::string> sides = split(text, '='), right = split(sides.back(), ':');
  if (sides.size() != 2)
    fail("expected INPUT=DIMS, got " + text);
  Input input;
  input.dims = split(right.front(), ',');
  input.most = right.size() > 1 ? std::atoll(right[1].c_str()) : 1;
  for (; input.index < numInputs; ++input.index) {
    tenon_tensor_info info;
    check(tenon_artifact_input(artifact, input.index, &info, &message));
    input.dtype = info.dtype;
    if (sides.front() == info.name)
      return input;
  }
  fail("no input " + sides.front());
}

class Texts {
public:
  Texts(const tenon_artifact *artifact, uint32_t count, std::vector<Input> inputs)
      : count(count), inputs(std::move(inputs)) {
    tenon_artifact_info info;
    tenon_artifact_describe(artifact, &info);
    numOutputs = info.output_count;
    // The slots of one run, and then those of single ones.
    tenon_session_options options{};
    options.size = sizeof options;
    options.threads = 2;
    options.slots = 2 * count;
    check(tenon_session_create(artifact, &options, &session, &message));
  }
  ~Texts() { tenon_session_release(session); }

  int64_t countRows(uint32_t slot) {
    int64_t rows;
    check(tenon_session_state_rows(session, slot, 0, &rows, &message));
    return rows;
  }

  /// Draws the inputs of the next step of a text.
  std::vector<std::vector<char>> draw(uint32_t slot) {
    std::vector<std::vector<char>> all;
    for (const Input &input : inputs) {
      std::vector<int64_t> dims = dimsOf(input, countRows(slot) + 1);
      std::vector<char> bytes(tenon_tensor_bytes(input.dtype, uint32_t(dims.size()), dims.data()));
      fill(input, bytes);
      all.push_back(std::move(bytes));
    }
    return all;
  }

  /// Runs one text by itself.
  std::vector<std::vector<float>> runOne(uint32_t slot, std::vector<std::vector<char>> &values) {
    check(tenon_session_use_slot(session, slot, &message));
    for (size_t i = 0; i < inputs.size(); ++i)
      bind(inputs[i], dimsOf(inputs[i], countRows(slot) + 1), values[i]);
    check(tenon_session_run(session, &message));
    return takeOutputs();
  }

  std::vector<std::vector<float>> runAll(const std::vector<std::vector<std::vector<char>>> &values) {
    std::vector<uint32_t> slots;
    int64_t longest = 0;
    for (uint32_t i = 0; i < count; ++i) {
      slots.push_back(i);
      longest = std::max(longest, countRows(i) + 1);
    }
    check(tenon_session_use_slots(session, slots.data(), count, &message));
    std::vector<std::vector<char>> joined(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::vector<int64_t> dims = dimsOf(inputs[i], longest);
      uint64_t bytes = tenon_tensor_bytes(inputs[i].dtype, uint32_t(dims.size()), dims.data());
      for (uint32_t text = 0; text < count; ++text) {
        std::vector<char> part = values[text][i];
        part.resize(bytes, 77);
        joined[i].insert(joined[i].end(), part.begin(), part.end());
      }
      dims.front() *= count;
      bind(inputs[i], dims, joined[i]);
    }
    check(tenon_session_run(session, &message));
    return takeOutputs();
  }

private:
  static std::vector<int64_t> dimsOf(const Input &input, int64_t total) {
    std::vector<int64_t> dims;
    for (const std::string &dim : input.dims)
      dims.push_back(dim == "total" ? total : std::atoll(dim.c_str()));
    return dims;
  }
  void fill(const Input &input, std::vector<char> &bytes) {
    if (input.dtype == TENON_F32) {
      std::uniform_real_distribution<float> distribution(-1, 1);
      auto *values = reinterpret_cast<float *>(bytes.data());
      std::generate(values, values + bytes.size() / sizeof *values, [&] { return distribution(random); });
      return;
    }
    if (input.dtype != TENON_I64)
      fail("an input is neither f32 nor i64");
    std::uniform_int_distribution<int64_t> distribution(0, input.most);
    auto *values = reinterpret_cast<int64_t *>(bytes.data());
    std::generate(values, values + bytes.size() / sizeof *values, [&] { return distribution(random); });
    values[0] = input.most;
  }
  void bind(const Input &input, const std::vector<int64_t> &dims, std::vector<char> &bytes) {
    tenon_tensor tensor{input.dtype, uint32_t(dims.size()), dims.data(), bytes.data()};
    check(tenon_session_bind_input(session, input.index, &tensor, &message));
  }
  std::vector<std::vector<float>> takeOutputs() {
    std::vector<std::vector<float>> outputs;
    for (uint32_t i = 0; i < numOutputs; ++i) {
      tenon_tensor tensor;
      check(tenon_session_output(session, i, &tensor, &message));
      if (tensor.dtype != TENON_F32)
        fail("an output is not f32");
      const auto *data = static_cast<const float *>(tensor.data);
      outputs.emplace_back(data, data + tenon_tensor_bytes(tensor.dtype, tensor.rank, tensor.dims) / sizeof *data);
    }
    return outputs;
  }

  uint32_t count, numOutputs = 0;
  std::vector<Input> inputs;
  tenon_session *session = nullptr;
  std::mt19937 random{1};
};

} // namespace

int main(int argc, char **argv) {
  if (argc < 5)
    fail("usage: tenon-sequences-test ARTIFACT COUNT STEPS INPUT=DIMS[:MOST]...");
  tenon_artifact *artifact;
  check(tenon_artifact_load_file(argv[1], nullptr, &artifact, &message));
  uint32_t count = uint32_t(std::atoi(argv[2]));
  tenon_artifact_info info;
  tenon_artifact_describe(artifact, &info);
  std::vector<Input> inputs;
  for (int i = 4; i < argc; ++i)
    inputs.push_back(parseInput(artifact, info.input_count, argv[i]));
  double worst = 0;
  {
    Texts texts(artifact, count, inputs);
    // Each text has another length at first.
    for (uint32_t i = 0; i < count; ++i)
      for (uint32_t step = 0; step < 2 * i; ++step) {
        std::vector<std::vector<char>> values = texts.draw(i);
        texts.runOne(i, values);
        texts.runOne(count + i, values);
      }
    for (int step = 0; step < std::atoi(argv[3]); ++step) {
      std::vector<std::vector<std::vector<char>>> values;
      for (uint32_t i = 0; i < count; ++i)
        values.push_back(texts.draw(i));
      std::vector<std::vector<float>> together = texts.runAll(values);
      for (uint32_t i = 0; i < count; ++i) {
        std::vector<std::vector<float>> apart = texts.runOne(count + i, values[i]);
        for (size_t output = 0; output < apart.size(); ++output) {
          size_t size = apart[output].size();
          if (together[output].size() != count * size)
            fail("an output has another size");
          double most = 0, difference = 0;
          for (size_t k = 0; k < size; ++k) {
            most = std::max(most, std::fabs(double(apart[output][k])));
            double own = std::fabs(double(apart[output][k]) - double(together[output][i * size + k]));
            difference = std::isfinite(own) ? std::max(difference, own) : INFINITY;
          }
          worst = std::max(worst, most > 0 ? difference / most : difference);
        }
      }
    }
  }
  tenon_artifact_release(artifact);
  printf("differs by %g\n", worst);
  return worst <= 1e-5 ? 0 : 1;
}
