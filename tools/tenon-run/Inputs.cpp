//===- Inputs.cpp - values for a model's inputs --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Inputs.h"

#include "tools/tenon-run/Element.h"
#include "tools/tenon-run/ValueFiles.h"

namespace tenon::run {

/// SplitMix64 (Steele, Lea, Flood 2014).
static uint64_t nextRandom(uint64_t &state) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

void fillRandom(HostTensor &tensor, uint64_t seed) {
  uint64_t state = seed, count = tensor.count() * partsOf(tensor.dtype);
  bool real = isFloat(tensor.dtype);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t bits = nextRandom(state);
    // 24 bits, so that a value is exact as f32, too.
    setElement(tensor.dtype, tensor.data(), i, real ? double(bits >> 40) / double(1 << 23) - 1 : double(bits >> 63));
  }
}

namespace {
class InputMaker {
public:
  InputMaker(const Options &options, const Model &model) : options(options), model(model) {}
  Status run(std::vector<HostValue> *result);
  Status bindShapes(Model &target);

private:
  Status readArguments();
  Status assign(const std::vector<std::string> &arguments, const char *option, std::vector<std::string> *values);
  Status readSizes();
  Status makeOne(uint32_t index, HostValue &result);
  Status fillOne(uint32_t index, const std::string &how, HostTensor &tensor);
  Status shapeOf(uint32_t index, const Model::Port &port, std::vector<int64_t> *dims);

  const Options &options;
  const Model &model;
  std::vector<std::string> values, shapes; // one an input; empty where nothing was said
  std::vector<std::pair<std::string, int64_t>> sizes;
};
} // namespace

/// Distributes NAME=VALUE arguments to the inputs.
Status InputMaker::assign(const std::vector<std::string> &arguments, const char *option,
                          std::vector<std::string> *result) {
  result->resize(model.inputs.size());
  for (const std::string &argument : arguments) {
    size_t index;
    std::string value;
    if (!splitNamed(argument, namesOf(model.inputs), &index, &value))
      return Status::make(TENON_MISUSE, "%s '%s': no such input; the inputs are %s", option, argument.c_str(),
                          listNames(model.inputs).c_str());
    if (value.empty())
      return Status::make(TENON_MISUSE, "%s '%s': a value is missing", option, argument.c_str());
    if (!(*result)[index].empty())
      return Status::make(TENON_MISUSE, "%s: input '%s' is given twice", option, model.inputs[index].name.c_str());
    (*result)[index] = value;
  }
  return {};
}

Status InputMaker::readSizes() {
  for (const std::string &argument : options.sizes) {
    size_t equals = argument.rfind('=');
    uint64_t value;
    if (equals == argument.npos || !parseNumber(argument.substr(equals + 1), &value) || value > INT64_MAX)
      return Status::make(TENON_MISUSE, "--size: expected SYMBOL=N, got '%s'", argument.c_str());
    std::string symbol = argument.substr(0, equals);
    bool known = false;
    for (const Model::Value &input : model.inputs)
      for (const Model::Port &port : input.ports)
        for (const tenon_dim_info &dim : port.dims)
          known |= dim.value < 0 && symbol == dim.text;
    if (!known)
      return Status::make(TENON_MISUSE, "--size '%s': no input has the open dimension '%s'", argument.c_str(),
                          symbol.c_str());
    sizes.emplace_back(symbol, int64_t(value));
  }
  return {};
}

/// Returns the shape of an input, or of one of its tensors.
Status InputMaker::shapeOf(uint32_t index, const Model::Port &port, std::vector<int64_t> *dims) {
  const Model::Value &input = model.inputs[index];
  if (!shapes[index].empty() && &port == input.content()) {
    if (!parseShape(shapes[index], dims))
      return Status::make(TENON_MISUSE,
                          "--input-shape: expected a shape like 1x3x32 or scalar, got '%s' for input '%s'",
                          shapes[index].c_str(), input.name.c_str());
    return {};
  }
  dims->clear();
  for (const tenon_dim_info &dim : port.dims) {
    int64_t value = dim.value;
    for (const auto &[symbol, size] : sizes)
      if (dim.value < 0 && symbol == dim.text)
        value = size;
    // A range of one value leaves no choice.
    if (value < 0 && dim.min == dim.max)
      value = dim.min;
    if (value < 0)
      return Status::make(TENON_MISUSE,
                          "dimension %s of input '%s' (%s) is open: pass --size '%s=1', for example, or --input-shape",
                          dim.text, input.name.c_str(), valueText(input).c_str(), dim.text);
    dims->push_back(value);
  }
  return {};
}

/// Creates the tensor of an input, or of an optional's content, from zeros, ones or random numbers.
Status InputMaker::fillOne(uint32_t index, const std::string &how, HostTensor &tensor) {
  const Model::Value &input = model.inputs[index];
  if (!input.content() || input.isSequence() || input.dtype() == TENON_STRING)
    return Status::make(TENON_MISUSE, "input '%s' (%s) cannot be made by '%s': pass --input '%s=FILE'",
                        input.name.c_str(), valueText(input).c_str(), how.c_str(), input.name.c_str());
  bool random = how != "zeros" && how != "ones";
  uint64_t seed = 0;
  if (random && !parseNumber(how.substr(7), &seed))
    return Status::make(TENON_MISUSE, "--input: expected a whole number as SEED of random:SEED, got '%s'", how.c_str());
  tensor.dtype = input.dtype();
  TENON_TRY(shapeOf(index, *input.content(), &tensor.dims));
  TENON_TRY(tensor.allocate());
  // Inputs of one shape and seed must not be equal.
  if (random)
    fillRandom(tensor, seed * 1'000'003 + index);
  else if (how == "ones")
    for (uint64_t i = 0, e = tensor.count(), parts = partsOf(tensor.dtype); i < e; ++i)
      setElement(tensor.dtype, tensor.data(), i * parts, 1);
  return {};
}

/// True if a value is generated, and not read from a file.
static bool isMade(const std::string &value) {
  return value == "zeros" || value == "ones" || value.compare(0, 7, "random:") == 0;
}

Status InputMaker::makeOne(uint32_t index, HostValue &result) {
  const Model::Value &input = model.inputs[index];
  std::string value = values[index];
  if (value.empty() && (options.benchmark || options.layers))
    value = "random:0";
  if (value.empty())
    return Status::make(TENON_MISUSE,
                        "input '%s' (%s) is missing: pass --input '%s=FILE.npy', or zeros, ones or random:1 in "
                        "place of the file",
                        input.name.c_str(), valueText(input).c_str(), input.name.c_str());
  if (value == "none") {
    result.has = false;
    return {};
  }
  if (!isMade(value))
    return readValue(value, input, &result);
  HostTensor tensor;
  TENON_TRY(fillOne(index, value, tensor));
  result = toValue(std::move(tensor));
  return {};
}

Status InputMaker::readArguments() {
  TENON_TRY(assign(options.inputs, "--input", &values));
  TENON_TRY(assign(options.inputShapes, "--input-shape", &shapes));
  return readSizes();
}

Status InputMaker::bindShapes(Model &target) {
  TENON_TRY(readArguments());
  for (uint32_t i = 0; i < model.inputs.size(); ++i) {
    const std::string &value = values[i];
    if (!value.empty() && !isMade(value)) {
      HostValue read;
      TENON_TRY(makeOne(i, read));
      TENON_TRY(target.bind(i, std::move(read)));
      continue;
    }
    const std::vector<Model::Port> &ports = model.inputs[i].ports;
    for (uint32_t p = 0; p < ports.size(); ++p) {
      std::vector<int64_t> dims;
      TENON_TRY(shapeOf(i, ports[p], &dims));
      TENON_TRY(target.bindShape(i, p, dims));
    }
  }
  return {};
}

Status InputMaker::run(std::vector<HostValue> *result) {
  TENON_TRY(readArguments());
  result->clear();
  result->resize(model.inputs.size());
  for (uint32_t i = 0; i < model.inputs.size(); ++i)
    TENON_TRY(makeOne(i, (*result)[i]));
  return {};
}

Status bindShapes(const Options &options, Model &model) { return InputMaker(options, model).bindShapes(model); }

Status makeInputs(const Options &options, const Model &model, std::vector<HostValue> *values) {
  return InputMaker(options, model).run(values);
}

} // namespace tenon::run
