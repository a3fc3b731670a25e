//===- PerplexityCommand.cpp - tenon perplexity ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/GenerationSettings.h"
#include "runtime/text/Tokenizer.h"
#include "tools/tenon/Commands.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/ModelArtifact.h"
#include "tools/tenon/Perplexity.h"
#include "tools/tenon/TokenScorer.h"
#include "tools/tenon/Usage.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

using namespace tenon;

namespace {
struct PerplexityArguments {
  CompileArguments compile;
  std::string tokenizer, text, compared;
  size_t window = 0, stride = 0; ///< 0: the default
  ModelOptions model;
  bool isUncached = false, json = false;
};

/// What was measured.
struct Scores {
  size_t windows = 0;
  Perplexity model, reference;
  Divergence divergence;
};
} // namespace

static int report(const Status &status) {
  errors() << "tenon: error: " << status.message() << '\n';
  return status.code();
}

//===----------------------------------------------------------------------===//
// Models and texts
//===----------------------------------------------------------------------===//

/// Compiles the model to compare with: it has the same options, except for the formats of weights. The cache is
/// bypassed, because a lookup by options would find the other artifact.
static CompiledFile findCompared(const PerplexityArguments &arguments, CompileArguments compared) {
  CompiledFile compiled;
  if (isArtifact(arguments.compared)) {
    compiled.artifact = arguments.compared;
    return compiled;
  }
  compared.options.input = arguments.compared;
  compared.options.weights.clear();
  compared.options.calibration.clear();
  compared.options.calibratesAtOnce = false;
  if (!resolveCompileOptions(compared)) {
    compiled.status = 2;
    return compiled;
  }
  std::string cache = arguments.isUncached ? "" : CacheStore::getDefaultFolder();
  return compileToCache(compared.options, nullptr, cache);
}

static Status readTokens(const PerplexityArguments &arguments, const std::string &folder,
                         std::vector<uint32_t> &tokens) {
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(arguments.text);
  if (!file)
    return Status::make(TENON_INVALID, "%s: %s", arguments.text.c_str(), file.getError().message().c_str());
  std::unique_ptr<text::Tokenizer> tokenizer;
  TENON_TRY(text::loadTokenizer(folder, tokenizer));
  std::vector<text::Encoding> encodings;
  TENON_TRY(tokenizer->encode({{(*file)->getBuffer().str(), std::nullopt}}, {}, encodings));
  tokens = encodings.front().ids;
  if (tokens.size() < 2)
    return Status::make(TENON_INVALID, "%s: has %zu tokens; the first one that is predicted is the second",
                        arguments.text.c_str(), tokens.size());
  return {};
}

/// Sets the window length: the requested one, or a reasonable one that the model supports.
static Status chooseWindow(PerplexityArguments &arguments, size_t positions, const TokenScorer &model,
                           const TokenScorer *reference) {
  constexpr size_t kUsual = 512; // default: a page of text, whose logits fit in memory
  size_t most = std::min({positions, model.getMaxLength(), reference ? reference->getMaxLength() : SIZE_MAX});
  if (arguments.window == 0)
    arguments.window = std::min(kUsual, most);
  if (arguments.window > most || most < 2)
    return Status::make(TENON_MISUSE, "--window: the model takes texts of at most %zu tokens", most);
  if (arguments.stride == 0)
    arguments.stride = arguments.window;
  if (arguments.stride > arguments.window)
    return Status::make(TENON_MISUSE, "--stride: %zu tokens are more than a window has, %zu", arguments.stride,
                        arguments.window);
  return {};
}

//===----------------------------------------------------------------------===//
// Measurement
//===----------------------------------------------------------------------===//

static Status measure(const PerplexityArguments &arguments, const std::vector<uint32_t> &tokens, TokenScorer &model,
                      TokenScorer *reference, Scores &scores) {
  std::vector<float> own, other;
  size_t vocabulary = model.getVocabulary();
  for (const TextWindow &window : makeWindows(tokens.size(), arguments.window, arguments.stride)) {
    // Nobody asks what follows the last token.
    size_t count = window.end - window.begin - 1;
    TENON_TRY(model.run(tokens.data() + window.begin, count, own));
    if (reference)
      TENON_TRY(reference->run(tokens.data() + window.begin, count, other));
    for (size_t i = window.first; i < window.end; ++i) {
      size_t place = (i - 1 - window.begin) * vocabulary;
      std::vector<double> predicted = getLogProbabilities(own.data() + place, vocabulary);
      scores.model.add(predicted[tokens[i]]);
      if (!reference)
        continue;
      std::vector<double> wanted = getLogProbabilities(other.data() + place, vocabulary);
      scores.reference.add(wanted[tokens[i]]);
      scores.divergence.add(wanted, predicted);
    }
    ++scores.windows;
  }
  return {};
}

static double getChange(const Scores &scores) { return 100 * (scores.model.get() / scores.reference.get() - 1); }

static double getAgreement(const Scores &scores) {
  return 100 * static_cast<double>(scores.divergence.agreed) / static_cast<double>(scores.divergence.count);
}

static void print(const PerplexityArguments &arguments, const Scores &scores) {
  llvm::outs() << llvm::format("perplexity %.4f +- %.4f", scores.model.get(), scores.model.getStandardError()) << " of "
               << scores.model.getCount() << " tokens in " << scores.windows
               << (scores.windows == 1 ? " window of " : " windows of ") << arguments.window << '\n';
  if (arguments.compared.empty())
    return;
  llvm::outs() << llvm::format("compared   %.4f +- %.4f", scores.reference.get(), scores.reference.getStandardError())
               << " of " << arguments.compared << llvm::format(", a change of %+.2f %%\n", getChange(scores))
               << llvm::format("divergence %.3g nats a token, at most %.3g", scores.divergence.getMean(),
                               scores.divergence.largest)
               << llvm::format("; the same most probable token for %.2f %%\n", getAgreement(scores));
}

static void printJson(const PerplexityArguments &arguments, const Scores &scores) {
  nlohmann::ordered_json json = {
      {"perplexity", scores.model.get()},  {"standard_error", scores.model.getStandardError()},
      {"tokens", scores.model.getCount()}, {"windows", scores.windows},
      {"window", arguments.window},        {"stride", arguments.stride}};
  if (!arguments.compared.empty())
    json["compared"] = {{"model", arguments.compared},
                        {"perplexity", scores.reference.get()},
                        {"standard_error", scores.reference.getStandardError()},
                        {"change_percent", getChange(scores)},
                        {"mean_divergence", scores.divergence.getMean()},
                        {"largest_divergence", scores.divergence.largest},
                        {"agreement_percent", getAgreement(scores)}};
  llvm::outs() << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

static Status score(PerplexityArguments &arguments, const std::vector<uint32_t> &tokens, size_t positions,
                    const std::string &artifact, const std::string &compared, Scores &scores) {
  TokenScorer model, reference;
  TENON_TRY(model.load(artifact, arguments.model));
  TokenScorer *second = compared.empty() ? nullptr : &reference;
  if (second) {
    TENON_TRY(reference.load(compared, arguments.model));
    if (reference.getVocabulary() != model.getVocabulary())
      return Status::make(TENON_INVALID, "--compare: %s has a vocabulary of %zu tokens, and the model one of %zu",
                          arguments.compared.c_str(), reference.getVocabulary(), model.getVocabulary());
  }
  TENON_TRY(chooseWindow(arguments, positions, model, second));
  return measure(arguments, tokens, model, second, scores);
}

static int run(PerplexityArguments &arguments, const CLI::App &command) {
  // Cheap checks come before the model is compiled.
  const std::string &model = arguments.compile.options.input;
  if (model.empty()) {
    errors() << "tenon: error: expected a model; see 'tenon perplexity --help'\n";
    return 2;
  }
  for (const std::string &file : {model, arguments.compared})
    if (!file.empty() && !llvm::sys::fs::exists(file)) {
      errors() << "tenon: error: " << file << ": No such file or directory\n";
      return 1;
    }
  std::string folder = arguments.tokenizer.empty() ? getModelFolder(model) : arguments.tokenizer;
  std::vector<uint32_t> tokens;
  if (Status status = readTokens(arguments, folder, tokens); status.failed())
    return report(status);
  text::GenerationSettings settings;
  if (llvm::sys::fs::is_directory(model))
    if (Status status = settings.read(model); status.failed())
      return report(status);
  CompileArguments compile = arguments.compile;
  CompiledFile compiled = findArtifact(arguments.compile, arguments.isUncached, command);
  if (compiled.status != 0)
    return compiled.status;
  // A temporary file is removed by its owner, so it must not be copied.
  CompiledFile compared = arguments.compared.empty() ? CompiledFile() : findCompared(arguments, std::move(compile));
  if (compared.status != 0)
    return compared.status;
  Scores scores;
  if (Status status = score(arguments, tokens, settings.positions, compiled.artifact, compared.artifact, scores);
      status.failed())
    return report(status);
  (arguments.json ? printJson : print)(arguments, scores);
  return 0;
}

void tenon::addPerplexityCommand(CLI::App &app, int &status) {
  auto arguments = std::make_shared<PerplexityArguments>();
  CLI::App *command = app.add_subcommand("perplexity", "measure how well a language model predicts a text");
  addCompileOptions(*command, arguments->compile);
  addRemoteOptions(*command, arguments->compile.remotes);
  command->add_option("--text", arguments->text, "the text; - is standard input")->required()->type_name("FILE");
  command
      ->add_option("--compare", arguments->compared,
                   "also measure this model, and how the predictions differ: a folder or file, which is compiled with "
                   "the same options but --weights and --calibrate, or an artifact")
      ->type_name("MODEL");
  command
      ->add_option("--tokenizer", arguments->tokenizer,
                   "folder with tokenizer.json or tokenizer.model, or such a file; default: the model's folder")
      ->type_name("FOLDER|FILE");
  command
      ->add_option("--window", arguments->window,
                   "tokens that the model sees at a time; default: 512, or as many as it takes")
      ->check(CLI::Range(uint64_t(2), uint64_t(UINT32_MAX)))
      ->type_name("N");
  command
      ->add_option("--stride", arguments->stride,
                   "tokens from the beginning of a window to that of the next one, so that windows overlap and each "
                   "predicts its last tokens; default: as many as a window has")
      ->check(CLI::Range(uint64_t(1), uint64_t(UINT32_MAX)))
      ->type_name("N");
  addModelOptions(*command, arguments->model);
  command->add_flag("--json", arguments->json, "print JSON");
  command->add_flag("--no-cache", arguments->isUncached, "compile again, and keep nothing; see tenon cache");
  addExamples(
      *command,
      {"tenon perplexity llama/ --text wiki.test.txt",
       "tenon perplexity llama/ --weights int4 --text wiki.test.txt --compare llama/",
       "tenon perplexity llama.tenon --tokenizer llama/ --text book.txt --window 1024 --stride 512"},
      "The model is a folder of Hugging Face's, an ONNX file or an artifact. One that was compiled with --context "
      "runs a token at a time.");
  command->callback([arguments, command, &status] { status = run(*arguments, *command); });
}
