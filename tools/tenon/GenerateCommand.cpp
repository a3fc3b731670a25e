//===- GenerateCommand.cpp - tenon generate -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Clock.h"
#include "runtime/text/DecodeStream.h"
#include "runtime/text/GenerationSettings.h"
#include "runtime/text/Tokenizer.h"
#include "tools/tenon/Commands.h"
#include "tools/tenon/Conversation.h"
#include "tools/tenon/ErrorStream.h"
#include "tools/tenon/FirstInputs.h"
#include "tools/tenon/Generator.h"
#include "tools/tenon/ModelArtifact.h"
#include "tools/tenon/ParallelGeneration.h"
#include "tools/tenon/Usage.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <deque>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>

using namespace tenon;

namespace {
struct GenerateArguments {
  CompileArguments compile;
  ModelOptions model;
  std::string tokenizer, prompt, system;
  std::vector<uint32_t> tokens;
  std::vector<std::string> inputs;
  std::string audio;
  uint64_t most = 256, chunk = 512, seed = 0;
  text::SamplingOptions sampling;
  uint32_t parallel = 0;
  bool ignoresEnd = false, isUncached = false, isQuiet = false, chats = false, hasIds = false;
  /// Options whose defaults are the folder's settings.
  CLI::Option *promptOption, *tokensOption, *seedOption, *temperature, *topK, *topP, *minP, *penalty, *context,
      *sequences;

  /// Whether the prompt is what the folder says that the text of a recording begins with.
  bool isSpeech() const {
    return (!inputs.empty() || !audio.empty()) && !promptOption->count() && !tokensOption->count();
  }
};

} // namespace

static int report(const Status &status) {
  errors() << "tenon: error: " << status.message() << '\n';
  return status.code();
}

//===----------------------------------------------------------------------===//
// Prompts
//===----------------------------------------------------------------------===//

/// Reads the prompt from the command line, or else from standard input.
static int readPrompt(GenerateArguments &arguments) {
  if (arguments.chats || arguments.parallel || arguments.isSpeech() || arguments.promptOption->count() ||
      arguments.tokensOption->count())
    return 0;
  auto input = llvm::MemoryBuffer::getSTDIN();
  if (!input) {
    errors() << "tenon: error: cannot read standard input: " << input.getError().message() << '\n';
    return 4;
  }
  arguments.prompt = (*input)->getBuffer().rtrim('\n').str();
  return 0;
}

static Status encode(const std::string &prompt, const text::Tokenizer &tokenizer, std::vector<uint32_t> &tokens) {
  std::vector<text::Encoding> encodings;
  TENON_TRY(tokenizer.encode({{prompt, std::nullopt}}, {}, encodings));
  tokens = encodings.front().ids;
  return tokens.empty() ? Status::make(TENON_INVALID, "the prompt has no tokens") : Status();
}

static Status encodePrompt(const GenerateArguments &arguments, const text::Tokenizer *tokenizer,
                           std::vector<uint32_t> &tokens) {
  tokens = arguments.tokens;
  if (arguments.chats || arguments.parallel || arguments.isSpeech() || arguments.tokensOption->count())
    return {};
  return encode(arguments.prompt, *tokenizer, tokens);
}

/// Merges the sampling settings of the folder with the given options.
static text::SamplingOptions chooseSampling(const GenerateArguments &arguments, text::SamplingOptions options) {
  const text::SamplingOptions &given = arguments.sampling;
  if (arguments.temperature->count())
    options.temperature = given.temperature;
  if (arguments.topK->count())
    options.topK = given.topK;
  if (arguments.topP->count())
    options.topP = given.topP;
  if (arguments.minP->count())
    options.minP = given.minP;
  if (arguments.penalty->count())
    options.repetitionPenalty = given.repetitionPenalty;
  return options;
}

//===----------------------------------------------------------------------===//
// Generation
//===----------------------------------------------------------------------===//

/// Prints text as it is generated; token numbers if there is no tokenizer.
class TokenPrinter {
public:
  explicit TokenPrinter(const text::Tokenizer *tokenizer) {
    if (tokenizer)
      stream.emplace(*tokenizer, /*skipsSpecialTokens=*/true);
  }
  Status print(uint32_t token) {
    if (!stream) {
      llvm::outs() << (isFirst ? "" : ",") << token;
      isFirst = false;
      llvm::outs().flush();
      return {};
    }
    std::string text;
    TENON_TRY(stream->push(token, text));
    write(text);
    return {};
  }
  Status finish() {
    std::string text;
    if (stream)
      TENON_TRY(stream->finish(text));
    write(text);
    llvm::outs() << '\n';
    llvm::outs().flush();
    return {};
  }
  /// All that was printed of a text.
  const std::string &getText() const { return printed; }

private:
  void write(const std::string &text) {
    printed += text;
    llvm::outs() << text;
    llvm::outs().flush();
  }

  std::string printed;
  std::optional<text::DecodeStream> stream;
  bool isFirst = true;
};

/// Generates tokens until an end token, the requested number of tokens, or the end of the context.
static Status generate(const GenerateArguments &arguments, const std::vector<uint32_t> &prompt,
                       const std::vector<uint32_t> &endTokens, Generator &generator, TokenPrinter &printer,
                       GenerationFigures &figures) {
  int64_t begin = rt::now();
  size_t known = generator.getLength();
  TENON_TRY(generator.follow(prompt, arguments.chunk));
  figures.prompt += prompt.size() > known ? prompt.size() - known : prompt.size();
  figures.prefill += rt::now() - begin;
  for (uint64_t made = 0; made < arguments.most; ++made) {
    uint32_t token = generator.getNext();
    if (!arguments.ignoresEnd && std::find(endTokens.begin(), endTokens.end(), token) != endTokens.end())
      break;
    TENON_TRY(printer.print(token));
    // The last token needs no run, because its successor is not needed.
    if (made + 1 == arguments.most || generator.getLength() == generator.getContext())
      break;
    begin = rt::now();
    TENON_TRY(generator.push({token}, 1));
    figures.decode += rt::now() - begin;
    ++figures.steps;
  }
  return {};
}

static void printFigures(const GenerationFigures &figures) {
  auto rate = [](size_t tokens, int64_t time) { return static_cast<double>(tokens) / std::max(1e-9 * time, 1e-9); };
  llvm::errs() << llvm::format("prefill %zu tokens, %.1f tokens/s", figures.prompt,
                               rate(figures.prompt, figures.prefill));
  if (figures.steps)
    llvm::errs() << llvm::format("; decode %zu tokens, %.1f tokens/s", figures.steps,
                                 rate(figures.steps, figures.decode));
  llvm::errs() << '\n';
}

/// Answers each line of standard input, with all earlier messages as context.
static Status chat(const GenerateArguments &arguments, Conversation &conversation, const text::Tokenizer &tokenizer,
                   const std::vector<uint32_t> &endTokens, Generator &generator, GenerationFigures &figures) {
  std::vector<uint32_t> tokens;
  if (!arguments.system.empty())
    conversation.setSystem(arguments.system);
  for (std::string line; std::getline(std::cin, line);) {
    if (line.empty())
      continue;
    TENON_TRY(conversation.add(line, tokens));
    TokenPrinter printer(&tokenizer);
    TENON_TRY(generate(arguments, tokens, endTokens, generator, printer, figures));
    TENON_TRY(printer.finish());
    conversation.addAnswer(printer.getText());
  }
  return {};
}

static bool hasTokenizer(const std::string &model) {
  std::string folder = getModelFolder(model);
  return llvm::sys::fs::exists(folder + "/tokenizer.json") || llvm::sys::fs::exists(folder + "/tokenizer.model");
}

/// What a folder says, beside the model.
struct TextFiles {
  std::unique_ptr<text::Tokenizer> tokenizer; ///< null where nobody needs one
  text::GenerationSettings settings;
  text::ChatTemplate chat;
  text::SpeechPrompt speech;

  Status read(const GenerateArguments &arguments) {
    const std::string &model = arguments.compile.options.input;
    std::string folder = arguments.tokenizer.empty() ? getModelFolder(model) : arguments.tokenizer;
    // Token numbers need no tokenizer; the generated text is shown if one was requested.
    bool hasIds = arguments.hasIds || arguments.tokensOption->count();
    if (arguments.isSpeech()) {
      TENON_TRY(speech.read(getModelFolder(folder)));
      hasIds = arguments.tokenizer.empty() && !hasTokenizer(folder);
    }
    if (!hasIds || (!arguments.hasIds && !arguments.tokenizer.empty()))
      TENON_TRY(text::loadTokenizer(folder, tokenizer));
    if (arguments.chats)
      TENON_TRY(chat.load(getModelFolder(folder)));
    return settings.read(getModelFolder(folder));
  }
};

static uint64_t chooseSeed(const GenerateArguments &arguments) {
  return arguments.seedOption->count() ? arguments.seed : std::random_device()();
}

/// Parses token IDs that commas separate.
static Status parseIds(llvm::StringRef line, std::vector<uint32_t> &tokens) {
  llvm::SmallVector<llvm::StringRef> parts;
  line.split(parts, ',');
  for (llvm::StringRef part : parts)
    if (part.trim().getAsInteger(10, tokens.emplace_back()))
      return Status::make(TENON_INVALID, "'%s' is no list of token IDs, such as 1,15,7", line.str().c_str());
  return {};
}

/// Reads the next line of standard input that is not empty, as a prompt; no tokens at the end. Without a tokenizer, it
/// holds token IDs.
static Status readLine(const text::Tokenizer *tokenizer, std::string &line, std::vector<uint32_t> &tokens) {
  tokens.clear();
  while (std::getline(std::cin, line))
    if (!line.empty())
      return tokenizer ? encode(line, *tokenizer, tokens) : parseIds(line, tokens);
  return {};
}

/// Prints the generated tokens of a prompt on a line.
static Status printText(const text::Tokenizer *tokenizer, std::string prompt, const std::vector<uint32_t> &tokens) {
  if (!tokenizer) {
    llvm::interleave(tokens, llvm::outs(), ",");
    llvm::outs() << '\n';
  } else {
    nlohmann::ordered_json object;
    std::string text;
    TENON_TRY(tokenizer->decode(tokens, /*skipsSpecialTokens=*/true, text));
    object["prompt"] = std::move(prompt);
    object["text"] = std::move(text);
    llvm::outs() << object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  }
  llvm::outs().flush();
  return {};
}

/// Goes on with each line of standard input, and prints a line for each.
static Status goOnWithLines(const GenerateArguments &arguments, const TextFiles &files, Generator &generator,
                            GenerationFigures &figures) {
  GenerationLimits limits{
      arguments.most, arguments.chunk, {}, chooseSampling(arguments, files.settings.sampling), chooseSeed(arguments)};
  if (!arguments.ignoresEnd)
    limits.endTokens = files.settings.endTokens;
  std::deque<std::string> prompts; // whose texts are not printed yet
  ParallelGeneration::Read read = [&](std::vector<uint32_t> &tokens) {
    std::string line;
    TENON_TRY(readLine(files.tokenizer.get(), line, tokens));
    prompts.push_back(std::move(line));
    return Status();
  };
  ParallelGeneration::Write write = [&](const std::vector<uint32_t> &tokens) {
    std::string prompt = std::move(prompts.front());
    prompts.pop_front();
    return printText(files.tokenizer.get(), std::move(prompt), tokens);
  };
  ParallelGeneration generation(generator, limits, read, write);
  TENON_TRY(generation.run(arguments.parallel));
  figures = generation.getFigures();
  return {};
}

/// Makes the prompt of a recording. The model itself chooses the language if the folder does not.
static Status makeSpeechPrompt(const GenerateArguments &arguments, const text::SpeechPrompt &speech,
                               Generator &generator, std::vector<uint32_t> &prompt, GenerationFigures &figures) {
  prompt = speech.begin;
  if (!speech.languages.empty()) {
    int64_t begin = rt::now();
    TENON_TRY(generator.follow(prompt, arguments.chunk));
    figures.prefill += rt::now() - begin;
    figures.prompt += prompt.size();
    auto score = [&](uint32_t token) {
      return token < generator.getVocabulary() ? generator.getLogits()[token] : -INFINITY;
    };
    prompt.push_back(*std::max_element(speech.languages.begin(), speech.languages.end(),
                                       [&](uint32_t a, uint32_t b) { return score(a) < score(b); }));
  }
  prompt.insert(prompt.end(), speech.end.begin(), speech.end.end());
  return {};
}

/// Reads what a text begins with beside its tokens.
static Status readOtherInputs(const GenerateArguments &arguments, Generator &generator) {
  if (!arguments.audio.empty()) {
    double secondsLeft;
    TENON_TRY(readRecording(arguments.audio, generator, secondsLeft));
    if (secondsLeft > 0)
      llvm::errs() << "tenon: note: " << arguments.audio << ": the model does not hear the last "
                   << llvm::format("%.1f", secondsLeft) << " s\n";
  }
  return readInputs(arguments.inputs, generator);
}

static Status goOn(const GenerateArguments &arguments, const std::string &artifact, const TextFiles &files,
                   std::vector<uint32_t> prompt) {
  Generator generator;
  TENON_TRY(generator.load(artifact, arguments.model, std::max(arguments.parallel, 1U)));
  if (arguments.parallel && !generator.getOtherInputs().empty())
    return Status::make(TENON_UNSUPPORTED, "--parallel: %s goes on with one text at a time, which begins with --input",
                        arguments.compile.options.input.c_str());
  TENON_TRY(readOtherInputs(arguments, generator));
  GenerationFigures figures;
  if (arguments.parallel) {
    if (arguments.parallel > 1 && generator.getMostSequences() == 1)
      llvm::errs() << "tenon: note: the artifact has no program for several texts at once; compile it with --sequences "
                   << arguments.parallel << '\n';
    TENON_TRY(goOnWithLines(arguments, files, generator, figures));
    if (!arguments.isQuiet)
      printFigures(figures);
    return {};
  }
  TENON_TRY(generator.setSampling(chooseSampling(arguments, files.settings.sampling), chooseSeed(arguments)));
  const std::vector<uint32_t> &endTokens = files.settings.endTokens;
  if (arguments.chats) {
    Conversation conversation(*files.tokenizer, files.chat);
    TENON_TRY(chat(arguments, conversation, *files.tokenizer, endTokens, generator, figures));
  } else {
    if (arguments.isSpeech())
      TENON_TRY(makeSpeechPrompt(arguments, files.speech, generator, prompt, figures));
    TokenPrinter printer(files.tokenizer.get());
    TENON_TRY(generate(arguments, prompt, endTokens, generator, printer, figures));
    TENON_TRY(printer.finish());
  }
  if (arguments.isQuiet)
    return {};
  printFigures(figures);
  if (generator.getLength() == generator.getContext())
    llvm::errs() << "tenon: note: the context of " << generator.getContext()
                 << " tokens is full; --context makes it larger\n";
  return {};
}

static int run(GenerateArguments &arguments, const CLI::App &command) {
  // Cheap checks come before the model is compiled.
  const std::string &model = arguments.compile.options.input;
  if (!llvm::sys::fs::exists(model)) {
    errors() << "tenon: error: " << model << ": No such file or directory\n";
    return 1;
  }
  if (Status status = checkInputArguments(arguments.inputs); status.failed())
    return report(status);
  if (!arguments.audio.empty() && !llvm::sys::fs::exists(arguments.audio)) {
    errors() << "tenon: error: " << arguments.audio << ": No such file or directory\n";
    return 1;
  }
  TextFiles files;
  if (Status status = files.read(arguments); status.failed())
    return report(status);
  if (int status = readPrompt(arguments))
    return status;
  std::vector<uint32_t> prompt;
  if (Status status = encodePrompt(arguments, files.tokenizer.get(), prompt); status.failed())
    return report(status);
  if (!isArtifact(model) && !arguments.context->count()) {
    constexpr size_t kPages = 2048; // default: a few pages of text
    arguments.context->add_result(std::to_string(std::min(kPages, files.settings.positions)));
    arguments.context->run_callback();
  }
  if (!isArtifact(model) && arguments.parallel > 1 && !arguments.sequences->count()) {
    arguments.sequences->add_result(std::to_string(arguments.parallel));
    arguments.sequences->run_callback();
  }
  CompiledFile compiled = findArtifact(arguments.compile, arguments.isUncached, command);
  if (compiled.status != 0)
    return compiled.status;
  Status status = goOn(arguments, compiled.artifact, files, prompt);
  return status.failed() ? report(status) : 0;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static void addSamplingOptions(CLI::App &command, GenerateArguments &arguments) {
  constexpr char kGroup[] = "Sampling";
  auto add = [&](const char *name, auto &value, const char *description, const CLI::Validator &check) {
    return command.add_option(name, value, description)->check(check)->group(kGroup);
  };
  arguments.temperature =
      add("--temperature", arguments.sampling.temperature,
          "divide logits by this number: above 1 makes the choice more random; 0: always the most probable token; "
          "default of all these: as "
          "generation_config.json says, else 0",
          CLI::Range(0.0, 1e6))
          ->type_name("T");
  arguments.topK = add("--top-k", arguments.sampling.topK, "choose among the K most probable tokens; 0: among all",
                       CLI::Range(uint64_t(0), uint64_t(UINT32_MAX)))
                       ->type_name("K");
  arguments.topP = add("--top-p", arguments.sampling.topP,
                       "choose among the fewest tokens that have this probability together", CLI::Range(1e-9, 1.0))
                       ->type_name("P");
  arguments.minP =
      add("--min-p", arguments.sampling.minP,
          "choose among tokens at least so probable, as a part of the most probable one", CLI::Range(0.0, 1.0))
          ->type_name("P");
  arguments.penalty =
      add("--repetition-penalty", arguments.sampling.repetitionPenalty,
          "penalty above 1, which makes tokens that the text contains already less probable", CLI::Range(1e-3, 1e3))
          ->type_name("R");
  arguments.seedOption = add("--seed", arguments.seed, "seed of the random choices, to get the same text each time",
                             CLI::Range(UINT64_MAX))
                             ->type_name("N");
}

void tenon::addGenerateCommand(CLI::App &app, int &status) {
  auto arguments = std::make_shared<GenerateArguments>();
  CLI::App *command = app.add_subcommand("generate", "go on with a text, token by token");
  addCompileOptions(*command, arguments->compile);
  addRemoteOptions(*command, arguments->compile.remotes);
  arguments->context = command->get_option("--context");
  arguments->sequences = command->get_option("--sequences");
  arguments->promptOption =
      command->add_option("-p,--prompt", arguments->prompt, "the text to go on with; default: standard input")
          ->type_name("TEXT");
  arguments->tokensOption =
      command->add_option("--tokens", arguments->tokens, "the same as token IDs, without a tokenizer; prints token IDs")
          ->delimiter(',')
          ->excludes(arguments->promptOption)
          ->type_name("N,N,...");
  CLI::Option *chat =
      command
          ->add_flag("--chat", arguments->chats,
                     "answer each line of standard input, with the folder's chat template and all lines before")
          ->excludes(arguments->promptOption)
          ->excludes(arguments->tokensOption);
  CLI::Option *parallel =
      command
          ->add_option(
              "--parallel", arguments->parallel,
              "go on with each line of standard input, COUNT of them at the same time, and print a JSON object for "
              "each, in their order; the weights are read once for all of them")
          ->check(CLI::Range(1U, 256U))
          ->excludes(arguments->promptOption)
          ->excludes(arguments->tokensOption)
          ->excludes(chat)
          ->type_name("COUNT");
  command
      ->add_option(
          "--audio", arguments->audio,
          "the recording that the text begins with, for Whisper: a WAV file of 16,000 samples per second, of which "
          "30 s are heard; instead of --input input_features=FILE")
      ->excludes(chat)
      ->excludes(parallel)
      ->type_name("FILE.wav");
  command
      ->add_option(
          "--input", arguments->inputs,
          "an input that the text begins with, such as input_features=FILE.npy, the spectrogram of a recording "
          "for Whisper; without a prompt, the folder's files say how its text begins")
      ->allow_extra_args(false)
      ->excludes(chat)
      ->excludes(parallel)
      ->type_name("NAME=FILE");
  command
      ->add_flag("--ids", arguments->hasIds,
                 "with --parallel: lines are token IDs, such as 1,15,7, and so is the output")
      ->needs(parallel);
  command->add_option("--system", arguments->system, "the first message of --chat, which says how to answer")
      ->needs(chat)
      ->type_name("TEXT");
  command
      ->add_option("--tokenizer", arguments->tokenizer,
                   "folder with tokenizer.json or tokenizer.model, or such a file; default: the model's folder")
      ->type_name("FOLDER|FILE");
  command->add_option("-n,--max-tokens", arguments->most, "tokens to generate at most")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t(1), uint64_t(UINT32_MAX)))
      ->type_name("N");
  command->add_flag("--ignore-eos", arguments->ignoresEnd, "go on behind tokens that end a text");
  command->add_option("--chunk", arguments->chunk, "tokens of the prompt in one run")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t(1), uint64_t(UINT32_MAX)))
      ->type_name("N");
  addModelOptions(*command, arguments->model);
  command->add_flag("-q,--quiet", arguments->isQuiet, "print only the text");
  command->add_flag("--no-cache", arguments->isUncached, "compile again, and keep nothing; see tenon cache");
  addSamplingOptions(*command, *arguments);
  addExamples(*command,
              {"tenon generate llama/ --prompt \"Once upon a time\"",
               "tenon generate llama/ --temperature 0.8 --top-p 0.95 --seed 1 < story.txt",
               "tenon generate llama/ --chat --system \"Answer briefly.\"",
               "tenon generate llama/ --parallel 8 < prompts.txt", "tenon generate whisper/ --audio speech.wav",
               "tenon generate llama.tenon --tokenizer llama/ -p \"Hello\" -n 20"},
              "The model is a folder of Hugging Face's, or an artifact that was compiled with --context. The text goes "
              "to standard output, times to standard error.");
  command->callback([arguments, command, &status] { status = run(*arguments, *command); });
}
