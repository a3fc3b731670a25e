//===- Workspace.cpp - the steps of a debugging command, each in a process of its own ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/debug/Workspace.h"
#include "compiler/driver/LoadedModel.h"
#include "compiler/driver/Reference.h"
#include "compiler/pipeline/Supervise.h"
#include "tools/tenon-run/Inputs.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace tenon;
using namespace tenon::debug;

llvm::Expected<std::unique_ptr<Workspace>> Workspace::create() {
  llvm::SmallString<128> folder;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("tenon-debug", folder))
    return makeError(CompileStatus::resources, "cannot create a temporary folder: " + error.message());
  return std::unique_ptr<Workspace>(new Workspace(folder.str().str()));
}

/// Shows the current step on standard error, in a line that is overwritten, if that is a terminal. An empty text clears
/// it.
static void showStep(llvm::StringRef text) {
  constexpr size_t kWidth = 79;
  if (isatty(STDERR_FILENO))
    llvm::errs() << "\r\x1b[K" << text.take_front(kWidth) << '\r';
}

Workspace::~Workspace() {
  showStep("");
  (void)llvm::sys::fs::remove_directories(folder);
}

std::string Workspace::makePath(llvm::StringRef name) {
  return folder + "/" + std::to_string(count++) + "-" + name.str();
}

std::string Workspace::makeFolder(llvm::StringRef name) {
  std::string path = makePath(name);
  // A failure is seen by who writes there.
  (void)llvm::sys::fs::create_directory(path);
  return path;
}

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

StepEnd Workspace::finish(CompileStatus status, const std::string &messages) {
  showStep("");
  std::string message;
  if (auto text = llvm::MemoryBuffer::getFile(messages, /*IsText=*/true))
    message = (*text)->getBuffer().rtrim().str();
  (void)llvm::sys::fs::remove(messages);
  return {status, std::move(message)};
}

/// Calls `work` with a stream to a file, which also receives the messages of a child process.
template <typename Work> static std::optional<CompileStatus> withMessages(const std::string &path, Work work) {
  std::error_code error;
  llvm::raw_fd_ostream errors(path, error);
  if (error)
    return std::nullopt;
  errors.SetUnbuffered();
  return work(errors);
}

StepEnd Workspace::compile(CompileOptions options, const std::string &artifact) {
  options.output = artifact;
  // The comparison reports errors of the model, so the compilation need not.
  options.needsTolerance = false;
  showStep("compiling " + llvm::sys::path::filename(options.input).str());
  std::string messages = makePath("messages");
  auto status = withMessages(messages, [&](llvm::raw_ostream &errors) { return compileSupervised(options, errors); });
  return finish(status.value_or(CompileStatus::resources), messages);
}

StepEnd Workspace::runStep(llvm::StringRef what, llvm::function_ref<CompileStatus(llvm::raw_ostream &errors)> work) {
  showStep(what);
  std::string messages = makePath("messages");
  auto status = withMessages(messages, [&](llvm::raw_ostream &errors) {
    WorkEnd end = supervise([&](auto) { return static_cast<int>(work(errors)); });
    if (!end.reason.empty())
      errors << "tenon: error: " << what << ": ended by " << end.reason << '\n';
    return static_cast<CompileStatus>(end.exitCode);
  });
  return finish(status.value_or(CompileStatus::resources), messages);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

static llvm::Error takeStatus(tenon_status status, const tenon_error &why) {
  if (status == TENON_OK)
    return llvm::Error::success();
  return makeError(static_cast<CompileStatus>(status), LoadedModel::getText(why));
}

CompileStatus debug::reportError(llvm::Error error, llvm::raw_ostream &errors) {
  std::string message;
  CompileStatus status = takeError(std::move(error), message);
  if (!message.empty())
    errors << "tenon: error: " << message << '\n';
  return status;
}

namespace {
/// A session whose inputs are bound to captured tensors. Other inputs must be bound already; otherwise the runtime
/// reports them.
class BoundRun {
public:
  BoundRun(const tenon_artifact *artifact, tenon_session *session) : artifact(artifact), session(session) {}

  llvm::Error bind(llvm::ArrayRef<CapturedTensor> inputs) {
    tenon_artifact_info info;
    tenon_artifact_describe(artifact, &info);
    for (uint32_t i = 0; i < info.input_count; ++i) {
      tenon_tensor_info input;
      tenon_error why;
      if (llvm::Error error = takeStatus(tenon_artifact_input(artifact, i, &input, &why), why))
        return error;
      const CapturedTensor *captured = findTensor(inputs, input.name, input.role);
      if (!captured)
        continue;
      auto elements = captured->readElements();
      if (!elements)
        return elements.takeError();
      // The runtime never writes to inputs.
      tenon_tensor tensor{captured->dtype, static_cast<uint32_t>(captured->dims.size()), captured->dims.data(),
                          const_cast<char *>((*elements)->getBufferStart())};
      if (llvm::Error error = takeStatus(tenon_session_bind_input(session, i, &tensor, &why), why))
        return error;
      buffers.push_back(std::move(*elements));
    }
    return llvm::Error::success();
  }

  llvm::Error run(uint64_t maxBytes) {
    tenon_memory memory;
    tenon_error why;
    if (llvm::Error error = takeStatus(tenon_session_measure(session, &memory, &why), why))
      return error;
    if (memory.outputs > maxBytes)
      return makeError(CompileStatus::resources, kTooLarge);
    // What is random is the same in all runs.
    tenon_session_set_seed(session, 1);
    return takeStatus(tenon_session_run(session, &why), why);
  }

  llvm::Error capture(const std::string &folder) {
    tenon_artifact_info info;
    tenon_artifact_describe(artifact, &info);
    CaptureWriter writer(folder);
    for (uint32_t i = 0; i < info.output_count; ++i) {
      tenon_tensor_info output;
      tenon_tensor tensor;
      tenon_error why;
      if (llvm::Error error = takeStatus(tenon_artifact_output(artifact, i, &output, &why), why))
        return error;
      if (llvm::Error error = takeStatus(tenon_session_output(session, i, &tensor, &why), why))
        return error;
      if (llvm::Error error = writer.add(output.name, output.role, tensor))
        return error;
    }
    return writer.finish();
  }

private:
  const tenon_artifact *artifact;
  tenon_session *session;
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> buffers;
};
} // namespace

static llvm::Error runCaptured(const tenon_artifact *artifact, tenon_session *session,
                               llvm::ArrayRef<CapturedTensor> inputs, const std::string &folder, uint64_t maxBytes) {
  BoundRun run(artifact, session);
  if (llvm::Error error = run.bind(inputs))
    return error;
  if (llvm::Error error = run.run(maxBytes))
    return error;
  return run.capture(folder);
}

/// Inputs without a value in the options get random numbers.
static void completeInputs(run::Options &options, const run::Model &model) {
  std::vector<std::string> names = run::namesOf(model.inputs);
  std::vector<bool> isGiven(names.size());
  for (const std::string &argument : options.inputs) {
    size_t index;
    std::string value;
    if (run::splitNamed(argument, names, &index, &value))
      isGiven[index] = true;
  }
  for (auto [name, given] : llvm::zip(names, isGiven))
    if (!given)
      options.inputs.push_back(name + "=random:" + std::to_string(options.seed));
}

/// Symbols in the shapes of inputs without a value in the options get a size, as when the compiler measures errors: 1
/// for the first dimension, which is usually a batch. None is assumed if an input comes from a file, which may bind a
/// symbol.
static void completeSizes(run::Options &options, const run::Model &model) {
  constexpr int64_t kUsual = 64;
  if (llvm::any_of(options.inputs, [](llvm::StringRef input) { return input.contains('.') || input.contains('/'); }))
    return;
  llvm::StringSet<> known;
  for (const std::string &size : options.sizes)
    known.insert(llvm::StringRef(size).rsplit('=').first);
  for (const run::Model::Value &input : model.inputs)
    for (const run::Model::Port &port : input.ports)
      for (auto [i, dim] : llvm::enumerate(port.dims))
        if (dim.value < 0 && known.insert(dim.text).second)
          options.sizes.push_back(dim.text + ("=" + std::to_string(std::clamp(i ? kUsual : 1, dim.min, dim.max))));
}

static llvm::Error makeAndCapture(run::Options options, const std::string &folder) {
  run::Model model;
  if (llvm::Error error = takeStatus(model.load(options)))
    return error;
  completeSizes(options, model);
  completeInputs(options, model);
  std::vector<run::HostValue> values;
  if (llvm::Error error = takeStatus(run::makeInputs(options, model, &values)))
    return error;
  CaptureWriter writer(folder);
  for (auto [input, value] : llvm::zip(model.inputs, values))
    if (llvm::Error error = writer.add(input, std::move(value)))
      return error;
  return writer.finish();
}

StepEnd Workspace::captureInputs(const run::Options &options, const std::string &folder) {
  return runStep("the inputs",
                 [&](llvm::raw_ostream &errors) { return reportError(makeAndCapture(options, folder), errors); });
}

StepEnd Workspace::runArtifact(const run::Options &options, llvm::ArrayRef<CapturedTensor> inputs,
                               const std::string &folder, uint64_t maxBytes) {
  auto work = [&]() -> llvm::Error {
    run::Model model;
    if (llvm::Error error = takeStatus(model.load(options)))
      return error;
    return runCaptured(model.artifact, model.session, inputs, folder, maxBytes);
  };
  return runStep("the run of the compiled model",
                 [&](llvm::raw_ostream &errors) { return reportError(work(), errors); });
}

StepEnd Workspace::runReference(const CompileOptions &options, llvm::ArrayRef<CapturedTensor> inputs,
                                const std::string &folder, uint64_t maxBytes) {
  auto use = [&](LoadedModel &model) {
    return prefixError(runCaptured(model.getArtifact(), model.getSession(), inputs, folder, maxBytes),
                       "the reference in f64: ");
  };
  return runStep("the reference in f64", [&](llvm::raw_ostream &errors) { return useReference(options, errors, use); });
}
