//===- FirstInputs.cpp - what a text begins with beside its tokens --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/FirstInputs.h"
#include "runtime/audio/LogMel.h"
#include "runtime/audio/Wave.h"
#include "tools/tenon-run/ValueFiles.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <cstring>

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

/// Returns the number of the model's input of a spectrogram, f32[1, bands, columns].
static Status findSpectrogram(const std::vector<run::Model::Value> &inputs, const std::string &model, size_t &number) {
  for (number = 0; number < inputs.size(); ++number) {
    const run::Model::Port &port = inputs[number].ports[0];
    bool isSpectrogram = inputs[number].name == "input_features" && port.dtype == TENON_F32 && port.dims.size() == 3 &&
                         port.dims[1].value > 0 && port.dims[2].value > 1;
    if (isSpectrogram)
      return {};
  }
  return Status::make(TENON_UNSUPPORTED,
                      "--audio: %s takes no spectrogram, which would be input_features, f32[1, bands, columns]",
                      model.c_str());
}

Status tenon::readRecording(const std::string &path, Generator &generator, double &secondsLeft) {
  std::vector<run::Model::Value> inputs = listInputs(generator);
  size_t number;
  TENON_TRY(findSpectrogram(inputs, generator.getModel(), number));
  audio::Wave wave;
  TENON_TRY(audio::readWave(path, wave));
  if (wave.rate != audio::kSpeechRate)
    return Status::make(TENON_UNSUPPORTED,
                        "%s: has %u samples per second, and the model hears %u; convert it, such as by "
                        "'ffmpeg -i FILE -ar %u speech.wav'",
                        path.c_str(), wave.rate, audio::kSpeechRate, audio::kSpeechRate);
  Generator::OtherInput &input = generator.getOtherInputs()[number];
  int64_t bands = inputs[number].ports[0].dims[1].value, columns = inputs[number].ports[0].dims[2].value;
  std::vector<float> features =
      audio::computeLogMel(wave.samples, static_cast<size_t>(bands), static_cast<size_t>(columns));
  size_t bytes = features.size() * sizeof(float), heard = static_cast<size_t>(columns) * audio::kHop;
  TENON_TRY(input.memory.reserve(bytes, /*keep=*/false, "the spectrogram"));
  std::memcpy(input.memory.bytes(), features.data(), bytes);
  input.dims = {1, bands, columns};
  secondsLeft = static_cast<double>(wave.samples.size() - std::min(wave.samples.size(), heard)) / wave.rate;
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
