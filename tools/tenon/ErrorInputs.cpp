//===- ErrorInputs.cpp - inputs from a folder -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/ErrorInputs.h"
#include "compiler/errors/CompileError.h"
#include "tools/tenon-run/Outputs.h"
#include "tools/tenon-run/Parts.h"
#include "tools/tenon-run/ValueFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace tenon;

/// Lists the folders of the sets, ordered by name.
static std::vector<std::string> findSets(const std::string &folder) {
  std::vector<std::string> sets;
  bool hasFiles = false;
  std::error_code failed;
  for (llvm::sys::fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    bool isFolder = llvm::sys::fs::is_directory(entry->path());
    hasFiles |= !isFolder;
    if (isFolder)
      sets.push_back(entry->path());
  }
  // If there are files, a folder is the value of a sequence.
  if (hasFiles || sets.empty())
    return {folder};
  llvm::sort(sets);
  return sets;
}

/// Returns the path of an input's value in a set; empty if it is missing.
static std::string findFile(const std::string &set, const run::Model::Value &input) {
  std::string path = set + "/" + run::fileName(input.name);
  for (const char *suffix : {".npy", ".pb"})
    if (llvm::sys::fs::exists(path + suffix))
      return path + suffix;
  return input.isSequence() && llvm::sys::fs::is_directory(path) ? path : "";
}

/// True if a tensor has the rank of its port, and its static dimensions.
static bool fits(const run::HostTensor &part, const run::Model::Port &port) {
  return llvm::equal(part.dims, port.dims,
                     [](int64_t size, const tenon_dim_info &dim) { return dim.value < 0 || dim.value == size; });
}

static llvm::Error refuse(const llvm::Twine &message) { return makeError(CompileStatus::invalid, message); }

static llvm::Error readInput(const std::string &set, const run::Model::Value &input, InputSet &tensors) {
  std::string path = findFile(set, input);
  if (path.empty() && !input.isOptional())
    return refuse(set + ": has no file for input '" + input.name + "' (" + run::valueText(input) + "); it would be " +
                  run::fileName(input.name) + ".npy");
  run::HostValue value;
  value.has = !path.empty();
  std::vector<run::HostTensor> parts;
  run::Status status = value.has ? run::readValue(path, input, &value) : run::Status();
  if (!status.failed())
    status = run::takeApart(input, std::move(value), &parts);
  if (status.failed())
    return refuse(llvm::StringRef(status.message()).starts_with(path) ? status.message()
                                                                      : path + ": " + status.message());
  for (auto [part, port] : llvm::zip(parts, input.ports)) {
    if (!fits(part, port))
      return refuse(path + ": is " + run::typeText(part.dtype, part.dims.data(), part.dims.size()) + ", but input '" +
                    input.name + "' is " + run::valueText(input));
    const char *data = reinterpret_cast<const char *>(part.data());
    tensors.push_back({part.dtype, part.dims, {data, data + part.bytes}});
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<InputSet>> tenon::readErrorInputs(const std::string &folder,
                                                             const tenon_artifact *artifact) {
  if (!llvm::sys::fs::is_directory(folder))
    return refuse("--error-inputs " + folder + ": is no folder");
  std::vector<InputSet> sets;
  for (const std::string &set : findSets(folder)) {
    sets.emplace_back();
    for (const run::Model::Value &input : run::describeInputs(artifact))
      if (llvm::Error error = readInput(set, input, sets.back()))
        return error;
  }
  return sets;
}
