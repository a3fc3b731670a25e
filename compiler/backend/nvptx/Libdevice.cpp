//===- Libdevice.cpp - CUDA's mathematical functions ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/backend/nvptx/Libdevice.h"
#include "compiler/errors/CompileError.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace tenon;

/// Every function of libdevice has this prefix, and no other function does.
static constexpr llvm::StringRef kPrefix = "__nv_";

std::string tenon::findLibdevice() {
  llvm::SmallVector<std::string> roots;
  for (const char *variable : {"CUDA_ROOT", "CUDA_HOME", "CUDA_PATH"})
    if (std::optional<std::string> root = llvm::sys::Process::GetEnv(variable); root && !root->empty())
      roots.push_back(*root);
  // A toolkit in the environment takes precedence over the one on the PATH.
  if (roots.empty()) {
    if (llvm::ErrorOr<std::string> nvcc = llvm::sys::findProgramByName("nvcc")) {
      llvm::SmallString<256> path;
      if (!llvm::sys::fs::real_path(*nvcc, path))
        roots.push_back(llvm::sys::path::parent_path(llvm::sys::path::parent_path(path)).str());
    }
    roots.push_back("/usr/local/cuda");
  }
  for (const std::string &root : roots) {
    llvm::SmallString<256> path(root);
    llvm::sys::path::append(path, "nvvm", "libdevice", "libdevice.10.bc");
    if (llvm::sys::fs::exists(path))
      return std::string(path);
  }
  return {};
}

llvm::Error tenon::linkLibdevice(llvm::Module &module) {
  std::string needed;
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && function.getName().starts_with(kPrefix) && !function.use_empty())
      needed = function.getName();
  if (needed.empty())
    return llvm::Error::success();
  auto refuse = [](const llvm::Twine &message) { return makeError(CompileStatus::unsupported, message); };
  std::string path = findLibdevice();
  if (path.empty())
    return refuse("kernels call '" + needed +
                  "' of libdevice, which was not found: install the CUDA toolkit, or set "
                  "CUDA_HOME to the folder that holds nvvm/libdevice/libdevice.10.bc");
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return refuse(path + ": " + buffer.getError().message());
  llvm::Expected<std::unique_ptr<llvm::Module>> library =
      llvm::getOwningLazyBitcodeModule(std::move(*buffer), module.getContext());
  if (!library)
    return refuse(path + ": " + llvm::toString(library.takeError()));
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded))
    return refuse(path + ": cannot be linked with the kernels");
  return llvm::Error::success();
}
