//===- Link.cpp - objects to a shared object, with lld as a library -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/llvm/Codegen.h"
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

/// Writes a file that is removed at the end of the scope. A failure is the machine's.
static FailureOr<std::string> writeTemporary(StringRef bytes, StringRef suffix, std::deque<llvm::FileRemover> &files,
                                             LinkError &error) {
  llvm::SmallString<128> path;
  int descriptor;
  if (std::error_code code = llvm::sys::fs::createTemporaryFile("tenon", suffix, descriptor, path)) {
    llvm::SmallString<128> folder;
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
    error = {"cannot create a temporary file in " + folder.str().str() + ": " + code.message() +
                 "; set TMPDIR to a folder that can be written",
             true};
    return failure();
  }
  files.emplace_back(path);
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  os << bytes;
  os.close();
  if (os.has_error()) {
    error = {"cannot write " + path.str().str() + ": " + os.error().message() + "; set TMPDIR to a folder with room",
             true};
    os.clear_error();
    return failure();
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

FailureOr<std::string> tenon::linkKernels(ArrayRef<std::string> objects, ArrayRef<std::string> entries, LinkKind kind,
                                          LinkError &error) {
  // lld takes files, and has state of its own for one link at a time.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  std::deque<llvm::FileRemover> files;
  std::string list = "{\n  global:\n";
  for (const std::string &entry : entries)
    list += "    " + entry + ";\n    " + entry + TENON_FACTS_SUFFIX ";\n";
  list += "  local: *;\n};\n";
  FailureOr<std::string> script = writeTemporary(list, "ver", files, error);
  FailureOr<std::string> output = writeTemporary("", "so", files, error);
  if (failed(script) || failed(output))
    return failure();
  std::vector<std::string> arguments = getLinkOptions(kind, *script);
  arguments.insert(arguments.end(), {"-o", *output});
  for (const std::string &object : objects) {
    FailureOr<std::string> path = writeTemporary(object, "o", files, error);
    if (failed(path))
      return failure();
    arguments.push_back(*path);
  }
  std::vector<const char *> argv;
  for (const std::string &argument : arguments)
    argv.push_back(argument.c_str());
  llvm::raw_string_ostream messages(error.text);
  lld::Result result = lld::lldMain(argv, messages, messages, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return failure();
  auto buffer = llvm::MemoryBuffer::getFile(*output);
  if (!buffer) {
    error = {"cannot read " + *output + ": " + buffer.getError().message(), true};
    return failure();
  }
  return (*buffer)->getBuffer().str();
}
