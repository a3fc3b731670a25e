//===- EmbedCommand.cpp - tenon embed -------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/SentenceSettings.h"
#include "runtime/text/Tokenizer.h"
#include "tools/tenon-run/Npy.h"
#include "tools/tenon/Commands.h"
#include "tools/tenon/CompileOptions.h"
#include "tools/tenon/Embedder.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/ModelArtifact.h"
#include "tools/tenon/TextInput.h"
#include "tools/tenon/Usage.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

using namespace tenon;

namespace {
struct EmbedArguments {
  CompileArguments compile;
  TextArguments input;
  std::string tokenizer, pooling, prompt, output;
  uint64_t batch = 32, maxLength = 0;
  ModelOptions model;
  bool isUncached = false, json = false, normalizes = false, hasPrompt = false;
};

using Vectors = std::vector<std::vector<float>>;
} // namespace

static int report(const Status &status) {
  errors() << "tenon: error: " << status.message() << '\n';
  return status.code();
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

static Status embedTexts(const EmbedArguments &arguments, const text::Tokenizer &tokenizer,
                         const text::SentenceSettings &settings, Embedder &embedder, Vectors &vectors) {
  text::EncodeOptions options;
  options.truncates = true;
  options.pad = text::EncodeOptions::Pad::toLongest;
  options.minPadded = embedder.getFixedLength();
  if (arguments.maxLength != 0)
    options.maxLength = arguments.maxLength;
  else if (settings.maxLength)
    options.maxLength = settings.maxLength;
  if (embedder.getMaxLength() < options.maxLength.value_or(SIZE_MAX))
    options.maxLength = embedder.getMaxLength();
  size_t most = embedder.getFixedBatch() != 0 ? embedder.getFixedBatch() : arguments.batch;
  const std::string &prompt = arguments.hasPrompt ? arguments.prompt : settings.prompt;
  const std::vector<std::string> &texts = arguments.input.texts;
  for (size_t begin = 0; begin < texts.size(); begin += most) {
    std::vector<std::string> stripped;
    for (size_t i = begin; i < std::min(begin + most, texts.size()); ++i)
      stripped.push_back(text::stripText(prompt + texts[i]));
    std::vector<text::TextInput> inputs;
    for (const std::string &text : stripped)
      inputs.push_back({text, std::nullopt});
    std::vector<text::Encoding> encodings;
    TENON_TRY(tokenizer.encode(inputs, options, encodings));
    TENON_TRY(embedder.run(encodings, vectors));
  }
  for (std::vector<float> &vector : vectors)
    if (arguments.normalizes)
      normalizeVector(vector);
  return {};
}

static Status writeVectors(const std::string &path, const Vectors &vectors) {
  std::vector<float> all;
  for (const std::vector<float> &vector : vectors)
    all.insert(all.end(), vector.begin(), vector.end());
  int64_t dims[] = {static_cast<int64_t>(vectors.size()),
                    static_cast<int64_t>(vectors.empty() ? 0 : vectors.front().size())};
  return run::writeNpy(path.c_str(), {TENON_F32, 2, dims, all.data()});
}

/// Numbers with the digits that tell f32 apart.
static nlohmann::ordered_json toJson(const std::vector<float> &vector) {
  nlohmann::ordered_json numbers = nlohmann::ordered_json::array();
  for (float value : vector) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.9g", static_cast<double>(value));
    numbers.push_back(strtod(digits, nullptr));
  }
  return numbers;
}

static void printVectors(const EmbedArguments &arguments, const Vectors &vectors) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (size_t i = 0; i < vectors.size(); ++i) {
    if (arguments.json) {
      all.push_back({{"text", arguments.input.texts[i]}, {"embedding", toJson(vectors[i])}});
      continue;
    }
    for (size_t j = 0; j < vectors[i].size(); ++j)
      llvm::outs() << (j == 0 ? "" : " ") << llvm::format("%.9g", static_cast<double>(vectors[i][j]));
    llvm::outs() << '\n';
  }
  if (arguments.json)
    llvm::outs() << all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static int embed(EmbedArguments &arguments, const CLI::App &command) {
  if (arguments.compile.options.input.empty()) {
    errors() << "tenon: error: expected a model; see 'tenon embed --help'\n";
    return 2;
  }
  // Cheap checks come before the model is compiled.
  if (!llvm::sys::fs::exists(arguments.compile.options.input)) {
    errors() << "tenon: error: " << arguments.compile.options.input << ": No such file or directory\n";
    return 1;
  }
  std::string folder =
      arguments.tokenizer.empty() ? getModelFolder(arguments.compile.options.input) : arguments.tokenizer;
  std::unique_ptr<text::Tokenizer> tokenizer;
  text::SentenceSettings settings;
  if (Status status = text::loadTokenizer(folder, tokenizer); status.failed())
    return report(status);
  if (Status status = settings.read(getModelFolder(folder)); status.failed())
    return report(status);
  if (int status = arguments.input.read(command))
    return status;
  CompiledFile compiled = findArtifact(arguments.compile, arguments.isUncached, command);
  if (compiled.status != 0)
    return compiled.status;
  std::optional<TokenPooling> pooling;
  if (!arguments.pooling.empty())
    pooling = arguments.pooling == "mean" ? TokenPooling::mean : TokenPooling::first;
  Embedder embedder;
  if (Status status = embedder.load(compiled.artifact, arguments.model, pooling); status.failed())
    return report(status);
  Vectors vectors;
  if (Status status = embedTexts(arguments, *tokenizer, settings, embedder, vectors); status.failed())
    return report(status);
  if (arguments.output.empty()) {
    printVectors(arguments, vectors);
    return 0;
  }
  Status status = writeVectors(arguments.output, vectors);
  return status.failed() ? report(status) : 0;
}

void tenon::addEmbedCommand(CLI::App &app, int &status) {
  auto arguments = std::make_shared<EmbedArguments>();
  CLI::App *command = app.add_subcommand("embed", "compute vectors of texts with an encoder");
  addCompileOptions(*command, arguments->compile);
  addRemoteOptions(*command, arguments->compile.remotes);
  arguments->input.addTo(*command, "texts", "texts; without any, each line of standard input is one", "TEXT...");
  command
      ->add_option("--tokenizer", arguments->tokenizer,
                   "folder with tokenizer.json or tokenizer.model, or such a file; default: the model's folder")
      ->type_name("FOLDER|FILE");
  CLI::Option *output =
      command->add_option("-o,--output", arguments->output, "write the vectors as an f32 array to a NumPy file")
          ->type_name("FILE.npy");
  command->add_flag("--json", arguments->json, "print JSON")->excludes(output);
  command
      ->add_option("--pooling", arguments->pooling,
                   "how to pool last_hidden_state into one vector: mean of the tokens, or the first token")
      ->check(CLI::IsMember({"mean", "first"}))
      ->type_name("mean|first");
  command->add_flag("--normalize", arguments->normalizes, "scale vectors to a length of 1, even if the model does not");
  CLI::Option *prompt = command
                            ->add_option("--prompt", arguments->prompt,
                                         "put this before each text, instead of the model's default prompt")
                            ->type_name("TEXT");
  command->add_option("--max-length", arguments->maxLength, "cut texts off after this many tokens, added ones included")
      ->check(CLI::Range(uint64_t(1), uint64_t(UINT32_MAX)))
      ->type_name("N");
  command->add_option("--batch", arguments->batch, "texts in one run")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t(1), uint64_t(1) << 20))
      ->type_name("N");
  addModelOptions(*command, arguments->model);
  command->add_flag("--no-cache", arguments->isUncached, "compile again, and keep nothing; see tenon cache");
  addExamples(*command,
              {"tenon embed minilm/ \"How do I reset my password?\"", "tenon embed minilm/ -o vectors.npy < lines.txt",
               "tenon embed minilm.tenon --tokenizer minilm/ --json \"a text\""},
              "The model is a folder of Hugging Face's, an ONNX file or an artifact. A folder's modules.json says how "
              "vectors of tokens become one.");
  command->callback([arguments, command, prompt, &status] {
    arguments->hasPrompt = prompt->count() > 0;
    status = embed(*arguments, *command);
  });
}
