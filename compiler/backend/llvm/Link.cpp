//===- Link.cpp - objects to a shared object, with lld as a library -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/llvm/Codegen.h"
#include "compiler/errors/CompileError.h"
#include "lld/Common/Driver.h"
#include "runtime/format/Kernel.h"
#include "runtime/format/Layout.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <deque>
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace tenon;

/// Writes a temporary file that is removed at the end of the scope. A failure has the category `resources`.
static llvm::Expected<std::string> writeTemporary(StringRef bytes, StringRef suffix,
                                                  std::deque<llvm::FileRemover> &files) {
  llvm::SmallString<128> path;
  int descriptor;
  if (std::error_code code = llvm::sys::fs::createTemporaryFile("tenon", suffix, descriptor, path)) {
    llvm::SmallString<128> folder;
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
    return makeError(CompileStatus::resources, "cannot create a temporary file in " + folder + ": " + code.message() +
                                                   "; set TMPDIR to a folder that can be written");
  }
  files.emplace_back(path);
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  os << bytes;
  os.close();
  if (os.has_error()) {
    std::string reason = os.error().message();
    os.clear_error();
    return makeError(CompileStatus::resources,
                     "cannot write " + path + ": " + reason + "; set TMPDIR to a folder with room");
  }
  return path.str().str();
}

/// The options for lld, output and objects apart.
static std::vector<std::string> getLinkOptions(LinkKind kind, const std::string &versionScript) {
  if (kind == LinkKind::relocatable)
    return {"ld.lld", "-r"};
  return {"ld.lld",
          "-shared",
          "--no-undefined",
          "--gc-sections",
          "--hash-style=sysv",
          "--build-id=none",
          "-z",
          "max-page-size=" + std::to_string(fmt::kPageSize),
          "-z",
          "separate-loadable-segments",
          "-z",
          "norelro",
          "-z",
          "nodynamic-undefined-weak",
          "--version-script=" + versionScript};
}

llvm::Expected<std::string> tenon::linkKernels(ArrayRef<std::string> objects, ArrayRef<std::string> entries,
                                               LinkKind kind) {
  // lld reads files, and has global state, so only one link runs at a time.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  std::deque<llvm::FileRemover> files;
  std::string list = "{\n  global:\n";
  for (const std::string &entry : entries)
    list.append("    ").append(entry).append(";\n    ").append(entry).append(TENON_FACTS_SUFFIX ";\n");
  list += "  local: *;\n};\n";
  llvm::Expected<std::string> script = writeTemporary(list, "ver", files);
  if (!script)
    return script.takeError();
  llvm::Expected<std::string> output = writeTemporary("", "so", files);
  if (!output)
    return output.takeError();
  std::vector<std::string> arguments = getLinkOptions(kind, *script);
  arguments.insert(arguments.end(), {"-o", *output});
  for (const std::string &object : objects) {
    llvm::Expected<std::string> path = writeTemporary(object, "o", files);
    if (!path)
      return path.takeError();
    arguments.push_back(*path);
  }
  std::vector<const char *> argv;
  for (const std::string &argument : arguments)
    argv.push_back(argument.c_str());
  std::string text;
  llvm::raw_string_ostream messages(text);
  lld::Result result = lld::lldMain(argv, messages, messages, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return makeError(CompileStatus::fault, "kernels do not link: " + text);
  auto buffer = llvm::MemoryBuffer::getFile(*output);
  if (!buffer)
    return makeError(CompileStatus::resources, "cannot read " + *output + ": " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}
