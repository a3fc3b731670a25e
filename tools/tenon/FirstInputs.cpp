//===- FirstInputs.cpp - what a text begins with beside its tokens --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/FirstInputs.h"
#include "tools/tenon-run/ValueFiles.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>

using namespace tenon;

Status tenon::checkInputArguments(const std::vector<std::string> &arguments) {
  for (const std::string &argument : arguments) {
    auto [name, path] = llvm::StringRef(argument).split('=');
    if (name.empty() || path.empty())
      return Status::make(TENON_MISUSE, "--input '%s' has to look like NAME=FILE.npy", argument.c_str());
    if (!llvm::sys::fs::exists(path))
      return Status::make(TENON_INVALID, "%s: No such file or directory", path.str().c_str());
  }
  return {};
}

/// The inputs of the model beside the tokens.
static std::vector<run::Model::Value> listInputs(Generator &generator) {
  std::vector<run::Model::Value> inputs = run::describeInputs(generator.getArtifact());
  inputs.erase(inputs.begin());
  return inputs;
}

static Status readInput(llvm::StringRef argument, const std::vector<run::Model::Value> &inputs, Generator &generator) {
  auto [name, path] = argument.split('=');
  auto found =
      std::find_if(inputs.begin(), inputs.end(), [&](const run::Model::Value &one) { return name == one.name; });
  if (found == inputs.end())
    return Status::make(TENON_MISUSE, "--input: no text begins with an input '%s'%s%s", name.str().c_str(),
                        inputs.empty() ? "" : "; there is ", run::listNames(inputs).c_str());
  run::HostValue value;
  TENON_TRY(run::readValue(path.str(), *found, &value));
  run::HostTensor &tensor = value.tensors[0];
  if (tensor.dims.empty())
    return Status::make(TENON_INVALID, "%s: is a single number, expected %s", path.str().c_str(),
                        run::valueText(*found).c_str());
  Generator::OtherInput &input = generator.getOtherInputs()[static_cast<size_t>(found - inputs.begin())];
  input.dims = std::move(tensor.dims);
  input.memory = std::move(tensor.memory);
  return {};
}

Status tenon::readInputs(const std::vector<std::string> &arguments, Generator &generator) {
  std::vector<run::Model::Value> inputs = listInputs(generator);
  for (const std::string &argument : arguments)
    TENON_TRY(readInput(argument, inputs, generator));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (generator.getOtherInputs()[i].dims.empty())
      return Status::make(TENON_MISUSE, "%s: a text begins with '%s' (%s): pass --input '%s=FILE.npy'",
                          generator.getModel().c_str(), inputs[i].name.c_str(), run::valueText(inputs[i]).c_str(),
                          inputs[i].name.c_str());
  return {};
}
