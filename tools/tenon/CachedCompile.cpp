//===- CachedCompile.cpp - compilations that the cache may save -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/CachedCompile.h"
#include "compiler/artifact/OutputFile.h"
#include "compiler/backend/registry/Backends.h"
#include "compiler/cache/CompilerId.h"
#include "compiler/driver/Depfile.h"
#include "compiler/profiles/ProfileStore.h"
#include "tools/tenon/CompileOptions.h"
#include "tools/tenon/ErrorStream.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

using namespace tenon;
namespace fs = llvm::sys::fs;

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// Adds the records of real runs to the key, or why they cannot be read: a compilation that needs them fails then, and
/// finds no artifact of one that does without.
static void addProfiles(const CompileOptions &options, Fingerprint &key) {
  if (options.profiles.empty())
    return;
  llvm::Expected<std::unique_ptr<ProfileStore>> store =
      ProfileStore::open(options.profiles, ProfileStore::Access::read);
  llvm::Error error = store ? (*store)->visit({},
                                              [&](const ProfileStore::Entry &entry) {
                                                key.add(std::to_string(entry.id)).add(toJsonLine(entry.record));
                                                key.add(entry.record.origin);
                                                return true;
                                              })
                            : store.takeError();
  if (error)
    key.add(options.profiles).add(llvm::toString(std::move(error))).add(options.needsProfiles ? "needed" : "optional");
}

/// The names of the options that decide what an artifact is: those of a compilation, whatever command it is part of.
static const llvm::StringSet<> &getArtifactOptions() {
  static const llvm::StringSet<> names = [] {
    CLI::App command;
    CompileArguments arguments;
    addCompileOptions(command, arguments);
    llvm::StringSet<> names({"--external-weights"});
    for (const CLI::Option *option : command.get_options())
      names.insert(option->get_name());
    for (const std::unique_ptr<Backend> &backend : getBackendRegistry().getBackends())
      for (const BackendOption &option : backend->getOptions())
        names.insert(option.name);
    // The model and the records are part of the key in another form.
    for (llvm::StringRef other : {"model", "--profiles", "--help"})
      names.erase(other);
    return names;
  }();
  return names;
}

/// Adds the options that were given, as they were written.
static std::string addOptions(const CLI::App &command, Fingerprint &key) {
  std::string text;
  for (const CLI::Option *option : command.get_options()) {
    if (option->count() == 0 || !getArtifactOptions().contains(option->get_name()))
      continue;
    key.add(option->get_name());
    text += (text.empty() ? "" : " ") + option->get_name();
    for (const std::string &value : option->results()) {
      key.add(value);
      // The value of a flag is that it is given.
      if (option->get_type_size_max() > 0)
        text += " " + value;
    }
  }
  return text;
}

static std::string addTargets(const CompileOptions &options, Fingerprint &key) {
  std::string text;
  for (const std::string &name : options.getTargets())
    if (std::optional<Target> target = getBackendRegistry().getTarget(name)) {
      // A field that is added has to be looked at here.
      const auto &[backend, itsName, triple, arch, cpu, features, needed, machine, tuneCpu, runsHere, roundsEachStep] =
          *target;
      for (const std::string *part : {&itsName, &triple, &arch, &cpu, &features, &needed, &tuneCpu})
        key.add(*part);
      for (auto [figure, value] : listFigures(machine))
        key.add(figure).add(std::to_string(value));
      // Errors are measured where the code runs.
      key.add(runsHere ? "runs here" : "").add(roundsEachStep ? "rounded" : "");
      text += (text.empty() ? "" : "; ") + itsName + " " + triple + " " + needed;
    }
  return text;
}

/// Adds the content of the model independently of its location: the bytes of a file, or the list of a folder's files.
/// Returns true if it can be read.
static bool addModelContents(const CompileOptions &options, Fingerprint &key) {
  key.add(llvm::sys::path::filename(options.input));
  if (!fs::is_directory(options.input)) {
    auto content = llvm::MemoryBuffer::getFile(options.input, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    key.add(content ? (*content)->getBuffer() : "");
    return static_cast<bool>(content);
  }
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(options.input, error), end; !error && it != end; it.increment(error))
    names.push_back(llvm::sys::path::filename(it->path()).str());
  llvm::sort(names);
  for (const std::string &name : names)
    key.add(name);
  return !error;
}

/// Returns the folder of the model's files; empty if it is unknown.
static std::string getModelFolder(const CompileOptions &options) {
  llvm::SmallString<128> model(options.input);
  if (fs::make_absolute(model))
    return "";
  return fs::is_directory(model) ? model.str().str() : llvm::sys::path::parent_path(model).str();
}

/// Adds the model's name. For a folder, the list of its files determines which of them are read.
static void addModel(const CompileOptions &options, Fingerprint &key) {
  llvm::SmallString<128> model(options.input);
  std::error_code error = fs::make_absolute(model);
  key.add(model);
  std::vector<std::string> names;
  for (fs::directory_iterator it(options.input, error), end; !error && it != end; it.increment(error))
    names.push_back(it->path());
  llvm::sort(names);
  for (const std::string &name : names)
    key.add(name);
}

/// Adds the plug-ins that the import may find itself (runtime/plugin), because it depends on their shape functions.
/// Those of --plugin are among the files of the artifact. On other machines their paths differ.
static void addPlugins(Fingerprint &key, bool isRemote) {
  llvm::SmallVector<llvm::StringRef> folders;
  if (const char *list = std::getenv("TENON_PLUGIN_PATH"))
    llvm::StringRef(list).split(folders, ':', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  std::string self = fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&addPlugins));
  std::string own = (llvm::sys::path::parent_path(self) + "/../lib/tenon").str();
  folders.push_back(own);
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::StringRef folder : folders)
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
      if (llvm::sys::path::filename(it->path()).starts_with("libtenon-plugin-"))
        files.push_back(it->path());
  llvm::sort(files);
  for (const std::string &file : files) {
    auto content = llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    key.add(isRemote ? llvm::sys::path::filename(file) : file).add(content ? (*content)->getBuffer() : "");
  }
}

std::optional<ArtifactRequest> tenon::makeArtifactRequest(const CompileOptions &options, const CLI::App &command) {
  // A user who observes the compilation, or measures, needs one. The list of files does not cover a folder of inputs.
  bool isLookedAt = options.emit != kArtifactOutput || options.output == "-" || !options.report.empty() ||
                    !options.dumpDir.empty() || !options.dumpAfter.empty() || !options.depfile.empty() ||
                    options.timing || options.bisect || options.tuneSeconds > 0 || !options.profilesLock.empty();
  bool hasFolders = options.readInputs ||
                    llvm::any_of(options.calibration, [](const std::string &path) { return fs::is_directory(path); });
  // Tests look at compilations: those that have a cache in common have kernels alone in it.
  const char *tested = std::getenv("TENON_TEST_KERNEL_CACHE");
  bool isTested = tested && CacheStore::getDefaultFolder() == tested;
  if (isLookedAt || hasFolders || isTested)
    return std::nullopt;
  ArtifactRequest request;
  request.model = llvm::sys::path::filename(options.input).str();
  request.base = getModelFolder(options);
  auto addRest = [&options, &command](Fingerprint &key, bool isRemote, ArtifactRequest &request) {
    addPlugins(key, isRemote);
    request.title = addOptions(command, key);
    request.hardware = addTargets(options, key);
    addProfiles(options, key);
  };
  Fingerprint key;
  key.add(getCompilerId());
  addModel(options, key);
  addRest(key, /*isRemote=*/false, request);
  request.key = key.get();
  if (options.exchange && !request.base.empty())
    request.makeRemoteKey = [&options, addRest] {
      Fingerprint key;
      key.add("remote").add(getCompilerId());
      bool isRead = addModelContents(options, key);
      ArtifactRequest ignored;
      addRest(key, /*isRemote=*/true, ignored);
      return isRead ? key.get() : "";
    };
  return request;
}

//===----------------------------------------------------------------------===//
// Compilations
//===----------------------------------------------------------------------===//

namespace {
/// Forwards the messages of a compilation, and keeps them, including those of its child process.
class Messages : public llvm::raw_ostream {
public:
  Messages() : raw_ostream(/*unbuffered=*/true), copy(memfd_create("messages", MFD_CLOEXEC)) {}
  ~Messages() override {
    if (copy >= 0)
      close(copy);
  }

  /// Nothing where they could not be kept.
  std::optional<std::string> getText() const {
    off_t size = copy < 0 ? -1 : lseek(copy, 0, SEEK_CUR);
    if (size <= 0)
      return size < 0 ? std::nullopt : std::optional<std::string>("");
    auto buffer = llvm::MemoryBuffer::getOpenFileSlice(copy, "messages", size, 0);
    return buffer ? std::optional((*buffer)->getBuffer().str()) : std::nullopt;
  }

private:
  void write_impl(const char *text, size_t size) override {
    errors().write(text, size);
    written += size;
    while (copy >= 0 && size) {
      ssize_t count = ::write(copy, text, size);
      if (count <= 0) {
        close(copy);
        copy = -1;
        return;
      }
      text += count;
      size -= static_cast<size_t>(count);
    }
  }
  uint64_t current_pos() const override { return written; }

  int copy;
  uint64_t written = 0;
};
} // namespace

/// A single warning suffices, since kernels have the same cache.
static void warn(const ArtifactCache &cache, const CompileOutcome &outcome = {}) {
  if (!cache.getNote().empty() && !outcome.origin.kernels.notes)
    errors() << "tenon: warning: " << cache.getNote() << '\n';
}

/// Compiles to `options.output`. Returns how it was made; none if the cache cannot store it.
static std::optional<ArtifactCache::Making> compileAndWatch(CompileOptions &options, const std::string &folder,
                                                            bool isKept, CompileOutcome &outcome) {
  Progress progress(options);
  options.cacheFolder = folder;
  options.onKernels = [&](const KernelCounts &counts) { outcome.origin.kernels = counts; };
  llvm::SmallString<128> rule;
  if (isKept && fs::createTemporaryFile("tenon", "d", rule))
    isKept = false;
  llvm::FileRemover remover(rule);
  if (isKept)
    options.depfile = rule.str().str();
  // A warning that is printed now is not repeated by the child process; the artifact is cached even if a remote cache
  // is unavailable.
  if (options.exchange && !options.exchange->getNote().empty()) {
    errors() << "tenon: warning: " << options.exchange->getNote() << '\n';
    options.exchange->dropNote();
  }
  Messages messages;
  ArtifactCache::Making making;
  making.begin = std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
  outcome.status = static_cast<int>(compileSupervised(options, messages));
  if (!isKept)
    return std::nullopt;
  options.depfile.clear();
  auto text = llvm::MemoryBuffer::getFile(rule);
  std::optional<std::string> said = messages.getText();
  // A warning about the cache does not concern the model, and is not stored with the artifact.
  if (outcome.status != 0 || outcome.origin.kernels.notes || !text || !said)
    return std::nullopt;
  making.files = parseDepfile((*text)->getBuffer());
  making.messages = std::move(*said);
  return making;
}

/// Writes an artifact of the cache to `output`. Returns false on failure; the compilation then reports the reason.
static bool writeHit(const CacheStore::Hit &hit, const std::string &output) {
  llvm::Error error = writeOutputFile(output, [&](llvm::raw_pwrite_stream &os) { os << hit.content->getBuffer(); });
  bool isWritten = !error;
  llvm::consumeError(std::move(error));
  return isWritten;
}

CompileOutcome tenon::compileToFile(CompileOptions &options, const ArtifactRequest *request,
                                    const std::string &folder) {
  auto getSeconds = [begin = std::chrono::steady_clock::now()] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  CompileOutcome outcome;
  ArtifactCache cache(request ? folder : "", options.exchange);
  if (std::optional<CacheStore::Hit> hit = request ? cache.find(*request) : std::nullopt;
      hit && writeHit(*hit, options.output)) {
    errors() << hit->entry.messages;
    outcome.origin.isArtifactCached = true;
    outcome.seconds = getSeconds();
    warn(cache);
    return outcome;
  }
  std::optional<ArtifactCache::Making> making = compileAndWatch(options, folder, request && !folder.empty(), outcome);
  if (making)
    cache.copy(*request, options.output, *making);
  outcome.seconds = getSeconds();
  warn(cache, outcome);
  return outcome;
}

static CompileOutcome compileTemporary(CompileOptions &options, const std::string &folder, CompiledFile &compiled) {
  llvm::SmallString<128> file;
  if (std::error_code error = fs::createTemporaryFile("tenon", "tenon", file)) {
    errors() << "tenon: error: cannot create a temporary file: " << error.message() << '\n';
    compiled.status = 4;
    return {4, {}, 0};
  }
  compiled.remover.emplace(file);
  compiled.artifact = options.output = file.str().str();
  CompileOutcome outcome = compileToFile(options, nullptr, folder);
  compiled.status = outcome.status;
  return outcome;
}

CompiledFile tenon::compileToCache(CompileOptions &options, const ArtifactRequest *request, const std::string &folder) {
  CompiledFile compiled;
  ArtifactCache cache(request ? folder : "", options.exchange);
  if (std::optional<CacheStore::Hit> hit = request ? cache.find(*request) : std::nullopt) {
    errors() << hit->entry.messages;
    compiled.artifact = hit->path;
    warn(cache);
    return compiled;
  }
  std::string made = request ? cache.reserve() : "";
  if (made.empty()) {
    warn(cache, compileTemporary(options, folder, compiled));
    return compiled;
  }
  compiled.remover.emplace(made);
  compiled.artifact = options.output = made;
  CompileOutcome outcome;
  std::optional<ArtifactCache::Making> making = compileAndWatch(options, folder, /*isKept=*/true, outcome);
  compiled.status = outcome.status;
  if (making)
    if (std::string place = cache.move(*request, made, *making); !place.empty())
      compiled.artifact = place;
  warn(cache, outcome);
  return compiled;
}
